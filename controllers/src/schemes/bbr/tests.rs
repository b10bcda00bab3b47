//! `draft-ietf-ccwg-bbr-06`.

mod losses;
mod path;
mod samples;

use super::state::{AckPhase, BbrState};
use super::*;
use crate::event::{Delivery, IdleRestart, PacketsAcked, SpuriousLoss};
use crate::testkit::{self, MTU, PATH, acked, cases, lost, runs, trace};
use path::Path as Link;
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const PACKET: f64 = MTU as f64;

fn step(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Bbr>(params, state, Time(ms * MS), kind)
}

/// An ACK of one packet whose departure had `prior` bytes delivered, 100 ms before, at
/// 1 Mbyte/s: 100 packets of 1000 bytes.
fn ack(ms: u64, prior: u64) -> PacketsAcked {
    let delivery = Delivery {
        delivered: prior,
        delivered_at: Time((ms - 100) * MS),
        first_sent_at: Time((ms - 200) * MS),
        lost: 0,
        app_limited: false,
    };
    PacketsAcked {
        delivered: prior + 100 * u64::from(MTU),
        newest_in_flight: Some(100 * u64::from(MTU)),
        in_flight_before: 100 * u64::from(MTU),
        in_flight: 99 * u64::from(MTU),
        rtt: Some(testkit::rtt(Span::from_millis(100))),
        delivery: Some(delivery),
        ..acked(1, Time((ms - 100) * MS))
    }
}

/// A flow in `mode` that knows 1 Mbyte/s and 100 ms: 100 packets.
fn cruising(params: &Params, mode: BbrState) -> State {
    let mut state = Bbr::start(params, &PATH);
    state.has_rtt_sample = true;
    state.full_bw_reached = true;
    state.max_bw = state.max_bw_filter.update(0, 2, 1_000_000) as f64;
    state.bw = state.max_bw;
    state.min_rtt = Span::from_millis(100);
    state.min_rtt_stamp = Time(1000 * MS);
    state.probe_rtt_min_delay = state.min_rtt;
    state.probe_rtt_min_stamp = Time(1000 * MS);
    state.cwnd = 200.0 * PACKET;
    state.delivered = 1_000_000;
    state.next_round_delivered = 1_000_000;
    state.loss_round_delivered = 1_000_000;
    state.cycle_stamp = Time(1000 * MS);
    state.bw_probe_wait = Span::from_millis(2500);
    state.state = mode;
    state
}

fn acks(params: &Params, state: State, ms: u64, change: impl FnOnce(&mut PacketsAcked)) -> State {
    let mut frame = ack(ms, state.delivered);
    change(&mut frame);
    step(params, state, ms, EventKind::PacketsAcked(frame))
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<State>() <= 512, "{}", size_of::<State>());
}

/// §5.6.2 `InitPacingRate`.
#[test]
fn the_initial_rate_is_the_initial_window_per_rtt_with_startups_gain() {
    let params = Params::default();
    let state = Bbr::start(&params, &PATH);
    assert_eq!(state.decision(&params).pacing_rate, Some((8.0 * 2.77 * 10.0 * PACKET / 1e-3) as u64));
    let state = step(&params, state, 50, EventKind::RttSampled(testkit::rtt(Span::from_millis(50))));
    assert_eq!(state.decision(&params).pacing_rate, Some((8.0 * 2.77 * 10.0 * PACKET / 0.05) as u64));
}

/// §5.3.1.2: three rounds without a quarter more.
#[test]
fn startup_ends_on_a_plateau() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::Startup);
    state.full_bw_reached = false;
    for round in 0..3u64 {
        state = acks(&params, state, 1300 + 100 * round, |_| {});
        assert_eq!(state.state, BbrState::Startup, "round {round}");
    }
    state = acks(&params, state, 1700, |frame| frame.in_flight = 150 * u64::from(MTU));
    assert_eq!(state.state, BbrState::Drain);
}

/// §5.3.1.2: a round that brings a quarter more starts the count anew.
#[test]
fn growth_keeps_startup_going() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::Startup);
    state.full_bw_reached = false;
    let mut packets = 100.0;
    for round in 0..8u64 {
        state = acks(&params, state, 1300 + 100 * round, |frame| {
            frame.delivered = frame.delivery.unwrap().delivered + (packets * PACKET) as u64;
        });
        packets *= 1.26;
    }
    assert_eq!((state.state, state.full_bw_reached), (BbrState::Startup, false));
}

/// §5.3.1.2: rounds limited by the application do not count.
#[test]
fn an_idle_application_does_not_end_startup() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::Startup);
    state.full_bw_reached = false;
    for round in 0..9u64 {
        state = acks(&params, state, 1300 + 100 * round, |frame| {
            frame.delivery.as_mut().unwrap().app_limited = true;
        });
    }
    assert_eq!(state.state, BbrState::Startup);
}

fn lose(params: &Params, state: State, ms: u64) -> State {
    step(params, state, ms, EventKind::PacketsLost(lost(Time((ms - 100) * MS))))
}

/// A flow that probes, with what would make the next ACK show three per cent lost.
fn probing(params: &Params, mode: BbrState) -> State {
    let mut state = cruising(params, mode);
    state.is_bw_probe_sample = true;
    lose(params, state, 1250)
}

fn three_lost(frame: &mut PacketsAcked) {
    frame.delivery.as_mut().unwrap().lost = 3 * u64::from(MTU);
}

/// §5.3.1.3: six places and more than two per cent in a full round.
#[test]
fn startup_ends_on_high_loss() {
    let params = Params::default();
    let startup = || {
        let mut state = cruising(&params, BbrState::Startup);
        state.full_bw_reached = false;
        state
    };
    let after = |losses: u64, packets: u64| {
        let mut state = startup();
        for i in 0..losses {
            state = lose(&params, state, 1300 + i);
        }
        acks(&params, state, 1400, |frame| {
            frame.in_flight = 150 * u64::from(MTU);
            frame.delivery.as_mut().unwrap().lost = packets * u64::from(MTU);
        })
    };
    assert_eq!(after(5, 10).state, BbrState::Startup, "five places");
    assert_eq!(after(6, 2).state, BbrState::Startup, "two per cent are not more than two");
    let ended = after(6, 3);
    assert_eq!((ended.state, ended.undo_state), (BbrState::Drain, Some(BbrState::Startup)));
    assert_eq!(ended.inflight_longterm, 100.0 * PACKET, "what the latest round delivered");
    // §5.5.11.2: it was not so.
    let newest_sent_at = Time(1300 * MS);
    let back = step(&params, ended, 1500, EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at }));
    assert_eq!((back.state, back.full_bw_reached), (BbrState::Startup, false));
    assert_eq!(back.inflight_longterm, f64::INFINITY);
}

/// §5.3.2.
#[test]
fn drain_ends_when_the_flight_fits_or_after_three_rounds() {
    let params = Params::default();
    let full = |frame: &mut PacketsAcked| frame.in_flight = 150 * u64::from(MTU);
    let mut state = acks(&params, cruising(&params, BbrState::Drain), 1200, full);
    assert_eq!(state.state, BbrState::Drain);
    // ProbeBW_DOWN has nothing left to do then.
    assert_eq!(acks(&params, state, 1300, |_| {}).state, BbrState::ProbeBwCruise, "99 packets fit");
    for round in 0..3u64 {
        state = acks(&params, state, 1300 + 100 * round, full);
    }
    assert_eq!(state.state, BbrState::ProbeBwDown);
}

/// §5.3.3.9: DOWN → CRUISE → REFILL → UP → DOWN.
#[test]
fn a_cycle_visits_every_phase() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwDown);
    state = acks(&params, state, 1200, |_| {});
    assert_eq!(state.state, BbrState::ProbeBwCruise);
    state = acks(&params, state, 1300, |_| {});
    assert_eq!(state.state, BbrState::ProbeBwCruise);
    state = acks(&params, state, 3501, |_| {});
    assert_eq!((state.state, state.ack_phase), (BbrState::ProbeBwRefill, AckPhase::Refilling));
    state = acks(&params, state, 3601, |_| {});
    assert_eq!((state.state, state.is_bw_probe_sample), (BbrState::ProbeBwUp, true));
    for round in 0..3u64 {
        assert_eq!(state.state, BbrState::ProbeBwUp, "round {round}");
        state = acks(&params, state, 3701 + 100 * round, |_| {});
    }
    assert_eq!((state.state, state.ack_phase), (BbrState::ProbeBwDown, AckPhase::ProbeStopping));
    assert!((2.0..3.0).contains(&state.bw_probe_wait.secs()) && state.rounds_since_probe_up <= 1);
    let cycles = state.cycle_count;
    state = acks(&params, state, 4101, |_| {});
    assert_eq!((state.cycle_count, state.is_bw_probe_sample), (cycles + 1, false), "a round later its samples are in");
}

/// §5.3.3.8: as Reno would, after as many rounds as packets fit, 63 at most.
#[test]
fn small_pipes_are_probed_as_often_as_reno_would() {
    let params = Params::default();
    for (window, rounds) in [(20.0, 20), (200.0, 63)] {
        let mut state = cruising(&params, BbrState::ProbeBwCruise);
        state.cwnd = window * PACKET;
        state.rounds_since_probe_up = rounds - 2;
        // The window follows the ACK; the rule looks at the one before.
        let same = |frame: &mut PacketsAcked| (frame.bytes, frame.fresh_bytes) = (0, 0);
        state = acks(&params, state, 1300, same);
        assert_eq!(state.state, BbrState::ProbeBwCruise, "{rounds}");
        state = acks(&params, state, 1400, same);
        assert_eq!(state.state, BbrState::ProbeBwRefill, "{rounds}");
    }
}

/// §5.6.1: the gains of each state.
#[test]
fn each_state_has_its_gains() {
    let params = Params::default();
    for (mode, pacing) in [
        (BbrState::Drain, 0.5),
        (BbrState::ProbeBwDown, 0.9),
        (BbrState::ProbeBwCruise, 1.0),
        (BbrState::ProbeBwUp, 1.25),
    ] {
        let mut state = cruising(&params, mode);
        state.set_pacing_rate(&params);
        testkit::assert_close(state.pacing_rate, pacing * 0.99 * 1e6, 1e-12);
    }
    let mut state = cruising(&params, BbrState::Startup);
    state.set_pacing_rate(&params);
    testkit::assert_close(state.pacing_rate, 2.77 * 0.99 * 1e6, 1e-12);
}

/// §5.2.1 `C.cwnd = C.InitialCwnd`: the floor of four packets is `SetCwnd()`'s, which an ACK brings (§5.6.4.6).
#[test]
fn a_first_window_of_one_packet_is_one() {
    let params = Params { iw: 1.0, ..Params::default() };
    let state = Bbr::start(&params, &PATH);
    assert_eq!(state.decision(&params).cwnd, u64::from(MTU));
    assert_eq!(acks(&params, state, 1100, |_| {}).decision(&params).cwnd, 4 * u64::from(MTU));
}

/// §5.4.1: one ACK a round trip that empties the flight of a sender with data is no restart from idle, so that ProbeRTT
/// comes every five seconds; where each were one, it would not.
#[test]
fn a_flight_that_every_ack_empties_does_not_keep_probe_rtt_away() {
    let params = Params::default();
    let probes = |idle: bool| {
        let mut state = cruising(&params, BbrState::ProbeBwCruise);
        let mut probes = 0;
        for round in 0..200 {
            let now = 1100 + 101 * round;
            if idle {
                let restart = IdleRestart { idle: Span::from_millis(1), pto: Span::ZERO };
                state = step(&params, state, now, EventKind::IdleRestart(restart));
            }
            let before = state.state;
            state = acks(&params, state, now, |frame| {
                frame.in_flight = 0;
                frame.rtt = Some(testkit::rtt(Span::from_millis(101 + round % 2)));
            });
            probes += u32::from(before != BbrState::ProbeRtt && state.state == BbrState::ProbeRtt);
        }
        probes
    };
    assert_eq!((probes(false), probes(true)), (3, 0));
}

/// §5.4.1.
#[test]
fn restarting_from_idle_paces_at_the_bandwidth_and_skips_probe_rtt() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwUp);
    state.set_pacing_rate(&params);
    let idle = IdleRestart { idle: Span::from_millis(9000), pto: Span::from_millis(300) };
    state = step(&params, state, 10_000, EventKind::IdleRestart(idle));
    testkit::assert_close(state.pacing_rate, 0.99e6, 1e-12);
    state = acks(&params, state, 10_100, |_| {});
    assert_ne!(state.state, BbrState::ProbeRtt);
    assert!(!state.idle_restart);
}

/// §5.5.9.
#[test]
fn bunched_acks_widen_the_window() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwCruise);
    state.next_round_delivered = u64::MAX;
    let bunch = |frame: &mut PacketsAcked| frame.bytes = 20 * u64::from(MTU);
    state = acks(&params, state, 1300, bunch);
    assert_eq!(state.extra_acked, 20.0 * PACKET);
    state = acks(&params, state, 1310, bunch);
    testkit::assert_close(state.extra_acked, 30.0 * PACKET, 1e-9);
    state.cwnd = 1e9;
    state = acks(&params, state, 1310, |_| {});
    testkit::assert_close(state.cwnd, (200.0 + 31.0) * PACKET, 1e-9);
}

/// §5.4.1, §5.5.9: by the draft's letter a write after a pause adds to all that was acknowledged before it.
#[test]
fn what_was_acknowledged_before_a_pause_is_no_aggregation_after_it() {
    let widest = |params: &Params| {
        let mut state = cruising(params, BbrState::ProbeBwCruise);
        state.next_round_delivered = u64::MAX;
        let idle = IdleRestart { idle: Span::from_millis(900), pto: Span::from_millis(300) };
        for ms in [2000, 3000, 4000] {
            state = step(params, state, ms, EventKind::IdleRestart(idle));
            state = acks(params, state, ms, |frame| frame.bytes = 20 * u64::from(MTU));
        }
        state.extra_acked
    };
    assert_eq!(widest(&Params::default()), 20.0 * PACKET);
    assert_eq!(widest(&Params { aggregation_over_idle: true, ..Params::default() }), 60.0 * PACKET);
}

#[test]
fn a_stack_without_pacing_is_refused_unless_asked() {
    let needs = Bbr::needs(&Params::default());
    assert!(needs.contains(Signals::PACING) && needs.contains(Signals::DELIVERY_RATE));
    assert!(!Bbr::needs(&Params { fallback: true, ..Params::default() }).contains(Signals::PACING));
}

/// The whole machine on a link: it finds rate and delay, keeps the queue short, and looks
/// for the delay every five seconds.
#[test]
fn a_link_is_filled_without_a_standing_queue() {
    let params = Params::default();
    let link = Link { rate: 10e6 / 8.0, base: Span::from_millis(40), buffer: 400.0 * PACKET };
    let run = link.run(&params, 30.0);
    assert!(
        run.seen(BbrState::Startup)
            && run.seen(BbrState::Drain)
            && run.seen(BbrState::ProbeBwRefill)
            && run.seen(BbrState::ProbeBwUp)
    );
    assert!(run.goodput > 0.95 * link.rate, "{} of {}", run.goodput, link.rate);
    assert!(run.mean_queue < 0.35 * link.bdp(), "{} of {}", run.mean_queue, link.bdp());
    assert!((4..=6).contains(&run.probe_rtts), "{} looks for the delay in 30 s", run.probe_rtts);
}

#[test]
fn a_shallow_buffer_is_not_overrun_for_long() {
    let params = Params::default();
    let link = Link { rate: 10e6 / 8.0, base: Span::from_millis(40), buffer: 8.0 * PACKET };
    let run = link.run(&params, 30.0);
    assert!(run.goodput > 0.85 * link.rate, "{} of {}", run.goodput, link.rate);
    assert!(run.lost < 0.03, "{} lost", run.lost);
}

proptest! {
    #![proptest_config(cases(256))]

    /// §5.6.4.3: four packets at least, once anything was delivered; the pacing rate is never zero;
    /// a bound not reached is infinite, never a NaN.
    #[test]
    fn the_floor_holds_and_pacing_goes_on(script in trace::scripts(50), seed in any::<u64>()) {
        let params = Params::default();
        let mut wrong = None;
        trace::run::<Bbr>(&params, seed, &script, |_, event, after| {
            let decision = after.decision(&params);
            let least = if after.delivered > 0 { 4.0 * after.mtu } else { after.mtu };
            let fits = decision.cwnd as f64 >= least.floor() && decision.pacing_rate > Some(0);
            #[allow(clippy::eq_op)]
            let sound = after == after && after.bw <= after.max_bw;
            if !(fits && sound) && wrong.is_none() {
                wrong = Some((*event, decision));
            }
        });
        prop_assert!(wrong.is_none(), "{wrong:?}");
    }
}

/// Links of all kinds are filled, and every state is reached.
#[test]
fn links_are_filled_and_every_state_is_reached() {
    runs(24, (5.0..60.0f64, 5..120u64, 0.5..6.0f64), |(mbps, ms, buffer)| {
        let mut link = Link { rate: mbps * 1e6 / 8.0, base: Span::from_millis(ms), buffer: 0.0 };
        link.buffer = (buffer * link.bdp()).max(20.0 * PACKET);
        let run = link.run(&Params::default(), 12.0);
        for mode in [
            BbrState::Startup,
            BbrState::Drain,
            BbrState::ProbeBwDown,
            BbrState::ProbeBwCruise,
            BbrState::ProbeBwRefill,
            BbrState::ProbeBwUp,
            BbrState::ProbeRtt,
        ] {
            prop_assert!(run.seen(mode), "{mode:?}");
        }
        prop_assert!(run.goodput > 0.8 * link.rate, "{} of {}", run.goodput, link.rate);
        Ok(())
    });
}
