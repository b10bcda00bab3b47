//! `draft-kazuho-ccwg-rapid-start`.

use proptest::prelude::*;

use super::*;
use crate::event::{EcnCe, PacketsLost, SpuriousLoss, WindowSet};
use crate::parts::base::Base;
use crate::parts::start_up::{Params, SlowStart, StartUp};
use crate::parts::window_controller::{State, WindowController};
use crate::schemes::{cubic, reno};
use crate::testkit::{self, MTU, PATH, assert_close, cases};
use crate::{Controller, Phase, View};

type Cubic = WindowController<cubic::Cubic>;

const MS: u64 = 1_000_000;
const BYTES: u64 = MTU as u64;

fn params() -> cubic::Params {
    let start_up = Params { slow_start: SlowStart::Rapid, ..Params::default() };
    cubic::Params { base: Base { start_up, ..Base::default() }, ..cubic::Params::default() }
}

fn start(cwnd: f64) -> State<cubic::State> {
    let mut state = Cubic::start(&params(), &PATH);
    state.window.cwnd = cwnd;
    state
}

fn at(state: State<cubic::State>, ms: u64, kind: EventKind) -> State<cubic::State> {
    testkit::step::<Cubic>(&params(), state, Time(ms * MS), kind)
}

/// `packets` acknowledged, sent at `sent_ms`, none of them in a recovery period.
fn acked(packets: u32, sent_ms: u64) -> PacketsAcked {
    testkit::acked(packets, Time(sent_ms * MS))
}

/// One packet acknowledged with an RTT of `latest_us` on a path of `min_us`.
fn sampled(sent_ms: u64, latest_us: u64, min_us: u64) -> PacketsAcked {
    let min = Span::from_micros(min_us);
    PacketsAcked { rtt: Some(RttSample { min, ..testkit::rtt(Span::from_micros(latest_us)) }), ..acked(1, sent_ms) }
}

fn lost(packets: u32) -> EventKind {
    EventKind::PacketsLost(PacketsLost { bytes: u64::from(packets) * BYTES, packets, ..testkit::lost(Time(900 * MS)) })
}

fn old(packets: u32) -> EventKind {
    EventKind::PacketsAcked(PacketsAcked { fresh_bytes: 0, ..acked(packets, 900) })
}

/// A packet that was sent after the response at 1 s.
fn fresh(packets: u32) -> EventKind {
    EventKind::PacketsAcked(acked(packets, 1050))
}

/// A flow with a window of `cwnd` packets, of which `packets` are lost at 1 s.
fn after_loss(cwnd: f64, packets: u32) -> State<cubic::State> {
    at(start(cwnd), 1000, lost(packets))
}

/// §Deriving the Reduction Factors, the values for β of 0.5 and 0.7.
#[test]
fn vectors_of_the_factors() {
    for (beta, silence, ack) in [(0.5, 29.0 / 36.0, 11.0 / 36.0), (0.7, 53.0 / 60.0, 11.0 / 60.0)] {
        let factors = Factors { beta };
        for (found, wanted) in [(factors.silence(), silence), (factors.ack(), ack), (factors.loss(), silence)] {
            assert_close(found, wanted, 1e-15);
        }
        // At a loss ratio of 2/3 what was delivered is a third, of which β is left.
        assert_close(factors.least(), beta / 3.0, 1e-15);
    }
}

/// §Rapid Start Phase.
#[test]
fn the_window_triples_per_round_trip_without_a_queue() {
    let mut state = start(10.0);
    for (round, wanted) in (1..).zip([30.0, 90.0, 270.0]) {
        for _ in 0..state.window.cwnd as u32 {
            state = at(state, 100 * round, EventKind::PacketsAcked(sampled(100 * (round - 1), 100_000, 100_000)));
        }
        assert_eq!(state.window.cwnd, wanted);
    }
}

/// What one ACK with an RTT of `latest_us` adds to a window on a path of `min_us`.
fn added(latest_us: u64, min_us: u64) -> f64 {
    at(start(10.0), 1000, EventKind::PacketsAcked(sampled(500, latest_us, min_us))).window.cwnd - 10.0
}

/// §Rapid Start Phase: `min(min_rtt + 4 ms, min_rtt * 1.10)`; no greater than it is no queue.
#[test]
fn a_floor_above_both_tolerances_is_a_queue() {
    for (min_us, most_us) in [(20_000, 22_000), (40_000, 44_000), (100_000, 104_000), (600_000, 604_000)] {
        assert_eq!((added(most_us, min_us), added(most_us + 1, min_us)), (2.0, 1.0), "{min_us} µs");
    }
}

/// §Rapid Start Phase: the least of the most recent interval of `min_rtt`, not the latest sample.
#[test]
fn the_floor_is_that_of_the_latest_round_trip() {
    let mut state = at(start(10.0), 1000, EventKind::PacketsAcked(sampled(900, 100_000, 100_000)));
    let mut steps = std::vec::Vec::new();
    for ms in [1020, 1060, 1099, 1101, 1140] {
        let before = state.window.cwnd;
        state = at(state, ms, EventKind::PacketsAcked(sampled(900, 120_000, 100_000)));
        steps.push(state.window.cwnd - before);
    }
    assert_eq!(steps, [2.0, 2.0, 2.0, 1.0, 1.0]);
    // One sample without a queue, and growth is what it was.
    let before = state.window.cwnd;
    state = at(state, 1150, EventKind::PacketsAcked(sampled(1050, 100_000, 100_000)));
    assert_eq!(state.window.cwnd, before + 2.0);
}

/// A sample comes before the ACK where a frame brings marks or losses, and while the sender does not use its window.
#[test]
fn samples_count_wherever_they_ride() {
    let slow = sampled(900, 120_000, 100_000);
    for kind in
        [EventKind::RttSampled(slow.rtt.unwrap()), EventKind::PacketsAcked(PacketsAcked { app_limited: true, ..slow })]
    {
        let state = at(start(10.0), 1000, kind);
        assert_eq!(state.window.cwnd, 10.0);
        assert_eq!(at(state, 1000, EventKind::PacketsAcked(acked(1, 900))).window.cwnd, 11.0);
    }
}

#[test]
fn other_slow_starts_are_the_schemes() {
    let state = at(after_loss(100.0, 1), 1100, fresh(1));
    let timeout = EventKind::PersistentCongestion(testkit::lost(Time(1150 * MS)));
    let state = at(state, 1200, timeout);
    assert!(state.window.in_slow_start());
    assert_eq!(at(state, 1300, EventKind::PacketsAcked(sampled(1250, 100_000, 100_000))).window.cwnd, 3.0);
}

/// §Congestion Handling.
#[test]
fn recovery_scales_the_window_by_what_passes() {
    let silence = 53.0 / 60.0;
    let state = after_loss(600.0, 10);
    assert_close(state.window.cwnd, silence * (600.0 - 10.0), 1e-9);
    let state = at(state, 1010, old(100));
    assert_close(state.window.cwnd, silence * 590.0 - 11.0 / 60.0 * 100.0, 1e-9);
    let state = at(state, 1020, lost(100));
    let wanted = silence * 490.0 - 11.0 / 60.0 * 100.0;
    assert_close(state.window.cwnd, wanted, 1e-9);
    assert_eq!(Cubic::decide(&params(), &state, View::solo(&())).phase, Phase::Recovery);
    // What was sent in the period ends it, and is no part of what is scaled.
    let state = at(state, 1100, fresh(1));
    assert_close(state.window.cwnd, wanted, 1e-9);
    assert_eq!(state.window.ssthresh, state.window.cwnd);
    assert_eq!(Cubic::decide(&params(), &state, View::solo(&())).phase, Phase::CongestionAvoidance);
}

/// §Congestion Handling: an explicit signal begins it, too, and nothing is lost.
#[test]
fn a_mark_begins_recovery() {
    let state = at(start(600.0), 1000, EventKind::EcnCe(EcnCe::new(1, Time(900 * MS), 0)));
    assert_close(state.window.cwnd, 53.0 / 60.0 * 600.0, 1e-9);
    assert_close(at(state, 1010, old(600)).window.cwnd, 0.7 * 600.0, 1e-9);
}

/// The frame that ends the period acknowledges packets of before it, too.
#[test]
fn of_the_last_frame_what_was_sent_before_counts() {
    let both = PacketsAcked { fresh_bytes: 2 * BYTES, ..acked(12, 1050) };
    let state = at(after_loss(600.0, 1), 1100, EventKind::PacketsAcked(both));
    assert_close(state.window.cwnd, 53.0 / 60.0 * 599.0 - 11.0 / 60.0 * 10.0, 1e-9);
    assert_eq!(state.window.ssthresh, state.window.cwnd);
}

/// §Congestion Handling: not below `silence_factor - 1/3 * ack_factor - 2/3 * loss_factor` of the window, nor the initial
/// window times β.
#[test]
fn the_window_has_a_floor() {
    let state = at(after_loss(600.0, 300), 1010, lost(300));
    assert_close(state.window.cwnd, 0.7 / 3.0 * 600.0, 1e-9);
    let state = at(after_loss(20.0, 10), 1010, lost(10));
    assert_close(state.window.cwnd, 0.7 * 10.0, 1e-9);
    // A window that is smaller already is not raised.
    assert_close(after_loss(6.0, 3).window.cwnd, 53.0 / 60.0 * 6.0, 1e-9);
    assert_eq!(after_loss(2.0, 1).window.cwnd, 2.0, "RFC 9002 §7.2");
}

#[test]
fn a_spurious_loss_goes_on_with_slow_start() {
    let state = at(after_loss(600.0, 10), 1010, old(100));
    let state = at(state, 1020, EventKind::SpuriousLoss(SpuriousLoss::new(Time(900 * MS))));
    assert_eq!((state.window.cwnd, state.window.ssthresh), (600.0, f64::INFINITY));
    assert_eq!(at(state, 1100, fresh(1)).window.cwnd, 602.0);
}

/// CUBIC's `W_max` by its name in the log.
fn of(state: &State<cubic::State>, name: &str) -> Option<f64> {
    let mut found = None;
    Cubic::inspect(&params(), state, View::solo(&()), &mut |known, value| {
        if known == name {
            found = Some(value);
        }
    });
    found
}

/// §Deriving the Reduction Factors: the end of the period is the full BDP times β, as after any other response; `RFC 9438
/// §4.1.2, §4.2`: the curve starts there and aims at the full BDP.
#[test]
fn the_curve_aims_at_what_was_delivered() {
    let events = [(1010, old(400)), (1020, lost(199)), (1100, fresh(1))];
    let state = events.iter().fold(after_loss(600.0, 1), |state, (ms, kind)| at(state, *ms, *kind));
    assert_close(state.window.cwnd, 0.7 * 400.0, 1e-9);
    for name in ["w_max", "cwnd_prior"] {
        assert_close(of(&state, name).unwrap(), 400.0, 1e-9);
    }
    let state = at(state, 1200, fresh(1));
    assert_close(of(&state, "plateau").unwrap(), 400.0, 1e-9);
    assert_close(of(&state, "k_s").unwrap(), libm::cbrt(0.3 * 400.0 / 0.4), 1e-9);
    // The losses were none: nothing is left of it.
    let state = at(state, 1210, EventKind::SpuriousLoss(SpuriousLoss::new(Time(900 * MS))));
    assert_eq!((state.window.cwnd, of(&state, "w_max")), (600.0, Some(0.0)));
}

#[test]
fn the_curve_aims_no_higher_than_before_the_loss() {
    let state = at(after_loss(600.0, 1), 1100, fresh(1));
    assert_close(state.window.cwnd, 53.0 / 60.0 * 599.0, 1e-9);
    assert_eq!(of(&state, "w_max"), Some(600.0));
}

/// A loss of a packet that was sent in the period is another congestion event, with the scheme's own response.
#[test]
fn a_loss_of_later_packets_is_the_schemes() {
    let state = after_loss(600.0, 10);
    let before = state.window.cwnd;
    let state = at(state, 1100, EventKind::PacketsLost(testkit::lost(Time(1050 * MS))));
    assert_eq!((state.window.cwnd, state.window.ssthresh), (0.7 * before, 0.7 * before));
    assert_eq!(state.start_up, StartUp::Rapid(RapidStart::default()));
}

/// Whatever ends the period, slow start does not begin anew towards the window of before the loss.
#[test]
fn the_threshold_falls_to_the_window_of_the_period() {
    let state = at(after_loss(600.0, 10), 1010, old(100));
    let cwnd = state.window.cwnd;
    let timeout = EventKind::PersistentCongestion(testkit::lost(Time(900 * MS)));
    assert_close(at(state, 1020, timeout).window.ssthresh, cwnd, 1e-9);
    assert_close(at(state, 1020, EventKind::MtuUpdated(MTU / 2)).window.ssthresh, 2.0 * cwnd, 1e-9);
    let set = at(state, 1020, EventKind::WindowSet(WindowSet::new(50 * BYTES)));
    assert_eq!((set.window.cwnd, set.window.ssthresh <= cwnd), (50.0, true));
}

#[test]
fn the_state_is_no_larger_than_of_another_start_up() {
    assert!(size_of::<RapidStart>() <= size_of::<super::super::Search>());
}

/// The window after a recovery period in which of a window of `cwnd` packets `lost` are lost and the others delivered.
fn recovered<S: crate::WindowScheme<Group = ()>>(params: &S::Params, cwnd: u32, lost_packets: u32) -> f64 {
    let mut state = WindowController::<S>::start(params, &PATH);
    state.window.cwnd = f64::from(cwnd);
    let events = [lost(1), old(cwnd - lost_packets), lost(lost_packets - 1), fresh(1)];
    for (ms, kind) in (1000..).step_by(20).zip(events) {
        state = testkit::step::<WindowController<S>>(params, state, Time(ms * MS), kind);
    }
    assert!(state.window.cwnd >= state.window.ssthresh);
    state.window.ssthresh
}

proptest! {
    #![proptest_config(cases(500))]

    /// §Deriving the Reduction Factors: at the end the window is the full BDP, which is what was delivered, times β.
    #[test]
    fn a_period_ends_at_beta_of_what_was_delivered(cwnd in 40u32..100_000, share in 0.0..0.66) {
        let lost = ((f64::from(cwnd) * share) as u32).max(1);
        let delivered = f64::from(cwnd - lost);
        let of_cubic = recovered::<cubic::Cubic>(&params(), cwnd, lost);
        prop_assert!((of_cubic - 0.7 * delivered).abs() < 1e-6 * delivered, "{of_cubic} of {delivered}");
        let reno = reno::Params { base: params().base };
        let of_reno = recovered::<reno::Reno>(&reno, cwnd, lost);
        prop_assert!((of_reno - 0.5 * delivered).abs() < 1e-6 * delivered, "{of_reno} of {delivered}");
    }
}
