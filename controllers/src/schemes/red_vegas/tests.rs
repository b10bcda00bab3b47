//! `spec: chan §7.4–§7.6` and the invariants P1, P16, P17 of `§12`.

use proptest::prelude::*;
use std::vec::Vec;

use super::*;
use crate::schemes::vegas;
use crate::testkit::driven::{Driven, MS, TestEvent, outcome, profiles, test_events, trip};
use crate::testkit::{acked, cases, lost, marked, unbounded};
use crate::{Controller, EventKind, Parameters, Time, View};

/// The same parameters, for Vegas.
fn as_vegas(Params { base, thresholds, .. }: Params) -> vegas::Params {
    vegas::Params { base, thresholds }
}

type Flow = Driven<Choices>;
type Plain = Driven<vegas::Choices>;

const BASE: u64 = 100 * MS;

fn of(pn: u64) -> PacketsLost {
    PacketsLost { newest_pn: Some(pn), ..lost(Time(0)) }
}

/// An ACK up to packet `pn` over a path that marks.
fn echo(pn: u64, marked: bool) -> PacketsAcked {
    PacketsAcked { newest_pn: Some(pn), congestion_indication: Some(marked), ..acked(1, Time(0)) }
}

fn knowing(ncseq: Option<u64>) -> Memory {
    Memory { ncseq, marking: true, ..Memory::default() }
}

/// `spec: chan §7.6`, and the text's example (Fig. 6.1): i−3 to i−1, i+1 to i+3.
#[test]
fn vectors() {
    let congestion = |ncseq| Red::lost(&Params::paper(), &mut knowing(ncseq), &of(100), None);
    assert!(congestion(Some(97)) && congestion(Some(103)));
    assert!(!congestion(Some(96)) && !congestion(None));
    for ncseq in (97..100).chain(101..104) {
        assert!(congestion(Some(ncseq)));
    }
    assert!(congestion(Some(u64::MAX)) && !congestion(Some(0)));
}

/// D1, whichever way the mark comes.
#[test]
fn the_newest_marked_ack_counts() {
    let params = Params::paper();
    let mut memory = Memory::default();
    Red::acked(&params, &mut memory, &echo(50, false));
    assert_eq!(memory.ncseq, None, "no mark");
    Red::acked(&params, &mut memory, &echo(60, true));
    Red::acked(&params, &mut memory, &echo(55, true));
    assert_eq!(memory.ncseq, Some(60), "not an older one");
    Red::marked(&params, &mut memory, &EcnCe { newest_pn: Some(70), ..marked(Time(0)) });
    assert_eq!(memory.ncseq, Some(70));
    Red::marked(&params, &mut memory, &marked(Time(0)));
    Red::acked(&params, &mut memory, &PacketsAcked { newest_pn: None, ..echo(0, true) });
    assert_eq!(memory.ncseq, Some(70), "nor one without a number");
}

/// `spec: chan §7.5`: what is not known to be random is congestion.
#[test]
fn what_cannot_be_told_is_congestion() {
    let paper = Params::paper();
    assert!(Red::lost(&paper, &mut knowing(None), &lost(Time(0)), None), "no packet number");
    assert!(Red::lost(&paper, &mut Memory::default(), &of(100), None), "before the first ACK");
    let mut memory = knowing(None);
    Red::acked(&paper, &mut memory, &acked(1, Time(0)));
    assert!(Red::lost(&paper, &mut memory, &of(100), None), "a path without marks");
    Red::acked(&paper, &mut memory, &echo(3, false));
    assert!(!Red::lost(&paper, &mut memory, &of(100), None));
    assert_eq!((memory.congested, memory.random), (1, 1));
}

#[test]
fn a_loss_at_a_large_backlog_is_congestion() {
    let lost = |params: Params, delta| Red::lost(&params, &mut knowing(None), &of(100), delta);
    let quic = Params::default();
    assert!(lost(quic, Some(3.01)));
    assert!(!lost(quic, Some(3.0)) && !lost(quic, None));
    assert!(!lost(Params { guard: false, ..quic }, Some(30.0)));
    assert!(!lost(Params::paper(), Some(30.0)), "the document has no such guard");
}

/// D4: nothing changes, not even the time of the last reduction.
#[test]
fn a_random_loss_leaves_everything_alone() {
    let mut flow = Flow::avoiding(unbounded(Params::default()), 40.0, BASE);
    flow.decide();
    flow.apply(EventKind::PacketsAcked(PacketsAcked { newest_sent_at: Time(1), app_limited: true, ..echo(90, true) }));
    let before = flow.state;
    assert!(before.incr > 0.0);
    flow.apply(EventKind::PacketsLost(PacketsLost { newest_sent_at: Time(flow.now), ..of(100) }));
    assert_eq!(flow.state.loss.random, 1);
    flow.state.loss = before.loss;
    assert_eq!(flow.state, before);
    flow.apply(EventKind::PacketsLost(PacketsLost { newest_sent_at: Time(flow.now), ..of(93) }));
    assert_eq!((flow.cwnd(), flow.state.loss.congested), (30.0, 1));
}

/// D5.
#[test]
fn a_timeout_is_never_classified() {
    let mut flow = Flow::avoiding(Params::default(), 40.0, BASE);
    flow.state.loss = knowing(None);
    flow.apply(EventKind::PersistentCongestion(of(100)));
    assert_eq!((flow.cwnd(), flow.state.window.ssthresh), (2.0, 20.0));
    assert_eq!(flow.state.loss, knowing(None));
}

/// A mark shrinks the window only as `EventKind::EcnCe`, and only where it is let.
#[test]
fn marks() {
    for (params, left) in [(Params::default(), 30.0), (Params::paper(), 40.0)] {
        let mut flow = Flow::avoiding(params, 40.0, BASE);
        flow.apply(EventKind::PacketsAcked(PacketsAcked {
            app_limited: true,
            newest_sent_at: Time(1),
            ..echo(7, true)
        }));
        assert_eq!(flow.cwnd(), 40.0);
        flow.apply(EventKind::EcnCe(EcnCe { newest_pn: Some(9), ..marked(Time(flow.now)) }));
        assert_eq!((flow.cwnd(), flow.state.loss.ncseq), (left, Some(9)));
    }
}

#[test]
fn it_needs_marks_unless_told_otherwise_and_asks_for_them() {
    let needs = |fallback| RedVegas::needs(&Params { fallback, ..Params::default() });
    assert!(needs(false).contains(Signals::CONGESTION_INDICATION | Signals::PACKET_NUMBERS | Signals::RTT));
    assert_eq!(needs(true), vegas::Vegas::needs(&vegas::Params::default()));
    assert!(RedVegas::INFO.fallback.is_some());
    let flow = Flow::new(Params::default());
    assert_eq!(RedVegas::decide(&flow.params, &flow.state, View::solo(&())).ecn, Ecn::Ect0);
}

#[test]
fn it_shows_how_losses_were_taken() {
    let mut shown = Vec::new();
    let memory = Memory { congested: 4, random: 2, ..knowing(Some(7)) };
    Red::inspect(&memory, &mut |name, value| shown.push((name, value)));
    assert_eq!(shown, [("ncseq", 7.0), ("losses_congestion", 4.0), ("losses_random", 2.0)]);
}

/// What a round of ACKs and the losses after it look like on a path that marks.
#[derive(Clone, Debug)]
struct Stretch {
    queued: u64,
    /// The last ACK of the round echoes a mark.
    mark: bool,
    /// Packets lost after it: how far on, how often transmitted.
    losses: Vec<(u64, u32)>,
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let losses = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec((0u64..30, 1u32..3), 1..4)];
    let stretch = (0..60 * MS, prop::bool::ANY, losses);
    prop::collection::vec(stretch.prop_map(|(queued, mark, losses)| Stretch { queued, mark, losses }), 1..30)
}

/// Lives through `stretches`, with marks as `mark` has it.
fn live<S: Scheme>(flow: &mut Driven<S>, stretches: &[Stretch], mark: Option<bool>, lossy: bool) {
    let mut pn = 0;
    for stretch in stretches {
        let sent_at = Time(flow.now + 5);
        for _ in 0..4 {
            pn += 1;
            let marked = mark.unwrap_or(stretch.mark);
            let ack = PacketsAcked {
                newest_sent_at: sent_at,
                newest_pn: Some(pn),
                congestion_indication: Some(marked),
                ..flow.ack(trip(BASE + stretch.queued))
            };
            flow.apply(EventKind::PacketsAcked(ack));
        }
        for (ahead, transmissions) in stretch.losses.iter().filter(|_| lossy) {
            let lost_pn = pn + 1 + ahead;
            if mark == Some(true) {
                // Of the frame by which the loss is found, which only a later packet's ACK can be.
                let frame = EcnCe { newest_pn: Some(lost_pn + 3), ..marked(sent_at) };
                flow.apply(EventKind::EcnCe(frame));
            }
            let newest_sent_at = Time(flow.now.saturating_sub(3));
            flow.apply(EventKind::PacketsLost(PacketsLost {
                newest_sent_at,
                transmissions: *transmissions,
                ..of(lost_pn)
            }));
        }
        pn += 40;
    }
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn p1_survives_anything_twice_alike(params in profiles(), test_events in test_events()) {
        Flow::new(params).survives(&test_events)?;
    }

    /// P16, first half; the guard is ours.
    #[test]
    fn p16_without_marks_no_loss_is_congestion(params in profiles(), stretches in stretches()) {
        let params = unbounded(Params { guard: false, ..params });
        let mut flow = Flow::new(params);
        live(&mut flow, &stretches, Some(false), true);
        let losses: usize = stretches.iter().map(|stretch| stretch.losses.len()).sum();
        prop_assert_eq!((flow.state.loss.congested, flow.state.loss.random), (0, losses as u32));
        prop_assert_eq!(flow.state.window.recovery.start(), None, "nor answered");
    }

    /// P16, second half.
    #[test]
    fn p16_with_a_mark_on_every_ack_it_is_vegas(params in profiles(), stretches in stretches()) {
        let mut flow = Flow::new(params);
        live(&mut flow, &stretches, Some(true), true);
        prop_assert_eq!(flow.state.loss.random, 0);
        // Vegas answers marks, so one that must not gets none.
        let mut plain = Plain::new(as_vegas(params));
        if params.react_to_ce {
            live(&mut plain, &stretches, Some(true), true);
            prop_assert_eq!(outcome(&flow), outcome(&plain));
        } else {
            let mut deaf = Flow::new(params);
            deaf.state.loss.ncseq = Some(u64::MAX);
            live(&mut deaf, &stretches, Some(false), true);
            live(&mut plain, &stretches, Some(false), true);
            prop_assert_eq!(outcome(&deaf), outcome(&plain));
        }
    }

    /// P17: without any loss it is Vegas, marks or not.
    #[test]
    fn p17_without_loss_it_is_vegas(params in profiles(), stretches in stretches()) {
        let mut flow = Flow::new(params);
        let mut plain = Plain::new(as_vegas(params));
        live(&mut flow, &stretches, None, false);
        live(&mut plain, &stretches, None, false);
        prop_assert_eq!(outcome(&flow), outcome(&plain));
    }

    /// `spec: chan §7.5`: on a path that has no such marks, whatever happens.
    #[test]
    fn without_a_marking_path_it_is_vegas(params in profiles(), test_events in test_events()) {
        let mut flow = Flow::new(params);
        let mut plain = Plain::new(as_vegas(params));
        for kind in test_events {
            if !params.react_to_ce && matches!(kind, TestEvent::Mark(_)) {
                continue;
            }
            flow.on_test_event(&kind);
            plain.on_test_event(&kind);
            prop_assert_eq!(outcome(&flow), outcome(&plain));
        }
    }

    /// P17: with losses, it differs from Vegas by those it took for random alone.
    #[test]
    fn a_loss_is_answered_as_vegas_does_or_not_at_all(params in profiles(), ncseq in prop::option::of(0u64..200), pn in 0u64..200, delta in prop::option::of(0.0..8.0f64)) {
        let mut memory = knowing(ncseq);
        let congestion = Red::lost(&params, &mut memory, &of(pn), delta);
        let near = ncseq.is_some_and(|ncseq| pn as i64 - ncseq as i64 <= 3);
        prop_assert_eq!(congestion, near || params.guard && delta.is_some_and(|delta| delta > 3.0));
        prop_assert_eq!((memory.congested, memory.random), (u32::from(congestion), u32::from(!congestion)));
    }
}
