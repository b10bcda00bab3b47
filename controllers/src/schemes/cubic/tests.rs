//! `RFC 9438`; `spec: arumaithurai §6.5, §8 I35, §10`.

use proptest::prelude::*;

use super::*;
use crate::event::{IdleRestart, PacketsAcked, PacketsLost, SpuriousLoss};
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, state_variable};
use crate::{Controller, EventKind};

type Cubic = WindowController<super::Cubic>;

type State = <Cubic as Controller>::State;

const MS: u64 = 1_000_000;

fn state(params: &Params, cwnd: f64, ssthresh: f64) -> State {
    let mut state = Cubic::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = ssthresh;
    state
}

fn at(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Cubic>(params, state, Time(ms * MS), kind)
}

/// One packet, sent 100 ms before, acknowledged with an RTT of 100 ms.
fn one(ms: u64) -> PacketsAcked {
    PacketsAcked { rtt: Some(testkit::rtt(Span::from_millis(100))), ..acked(1, Time((ms - 100) * MS)) }
}

fn ack(params: &Params, state: State, ms: u64) -> State {
    at(params, state, ms, EventKind::PacketsAcked(one(ms)))
}

fn lose(params: &Params, state: State, ms: u64) -> State {
    at(params, state, ms, EventKind::PacketsLost(lost(Time((ms - 1) * MS))))
}

fn clocked(params: &Params, state: State, from_ms: u64, until_ms: u64, rtt_ms: u64) -> State {
    let rtt = Span::from_millis(rtt_ms);
    testkit::clocked::<super::Cubic>(params, state, Time(from_ms * MS), Time(until_ms * MS), rtt)
}

fn shows(params: &Params, state: &State, name: &str) -> f64 {
    state_variable::<Cubic>(params, state, name)
}

/// A flow that lost at 1000 packets at 1 s and whose first ACK in avoidance comes at 2 s.
fn after_loss(params: &Params) -> State {
    ack(params, lose(params, state(params, 1000.0, 500.0), 1000), 2000)
}

/// `spec: arumaithurai §10`: K 9.0856030 s; `RFC 9438 §4.6`: 0.7 of the window.
#[test]
fn a_loss_keeps_seven_tenths_and_plans_the_way_back() {
    let params = Params::default();
    let cut = lose(&params, state(&params, 1000.0, 500.0), 1000);
    assert_eq!((cut.window.cwnd, cut.window.ssthresh), (700.0, 700.0));
    let first = ack(&params, cut, 2000);
    assert_close(shows(&params, &first, "k_s"), 9.085_603_0, 1e-8);
    assert_eq!(shows(&params, &first, "w_max"), 1000.0);
    assert_eq!(shows(&params, &first, "cwnd_prior"), 1000.0);
    // The stage begins with this ACK, on which the estimate is all there is to follow.
    assert_close(first.window.cwnd, 700.0 + 9.0 / 17.0 / 700.0, 1e-12);
}

/// `RFC 8312 §4.1 eq. 2`: `K = cbrt(W_max·(1−β)/C)`, also after fast convergence, and the window
/// waits for the curve.
#[test]
fn the_curve_may_start_below_the_window() {
    let params = Params { k_from_w_max: true, ..Params::default() };
    let plain = after_loss(&params);
    assert_eq!(plain, after_loss(&Params::default()), "without fast convergence the two are one");
    // 850 are remembered of 1000 that fell short; the window is 700, the curve starts at 595.
    let mut short = state(&params, 1000.0, 500.0);
    short.scheme.variables.current.w_max = 1001.0;
    let stage = ack(&params, lose(&params, short, 1000), 2000);
    assert_close(shows(&params, &stage, "k_s"), libm::cbrt(850.0 * 0.3 / 0.4), 1e-9);
    assert_eq!(shows(&params, &stage, "w_est"), 595.0 + 9.0 / 17.0 / 700.0);
    assert_eq!(clocked(&params, stage, 2100, 3000, 100).window.cwnd, 700.0, "it waits");
    assert!(clocked(&params, stage, 2100, 10_000, 100).window.cwnd > 800.0);
    // Nothing to start below of, and no plateau lost, after a slow start without a loss.
    let open = ack(&params, state(&params, 1000.0, 500.0), 2000);
    assert_eq!(open, ack(&Params::default(), state(&params, 1000.0, 500.0), 2000));
}

/// From 0.7 of a window back to it past a plateau of 0.85, both lengths of `K` (`RFC 9438 §4.2`;
/// `RFC 8312 §4.1 eq. 2`) lead through means that follow from the curve alone: 0.85 of the window, since it is
/// as long below the plateau as above, and, waiting first for the curve, 0.8368.
#[test]
fn after_fast_convergence_the_mean_window_is_the_curve_s() {
    let wait = libm::cbrt(0.255 / 0.15) - 1.0;
    let waiting = (0.7 * wait + 0.85 * 2.0) / (wait + 2.0);
    for (k_from_w_max, expected) in [(false, 0.85), (true, waiting)] {
        let params = Params { k_from_w_max, ..Params::default() };
        let mut short = state(&params, 10_000.0, 5000.0);
        short.scheme.variables.current.w_max = 10_001.0;
        let mut flow = ack(&params, lose(&params, short, 1000), 2000);
        let (mut sum, mut samples) = (0.0, 0);
        while flow.window.cwnd < 10_000.0 {
            sum += flow.window.cwnd;
            samples += 1;
            let now = 2000 + 100 * samples;
            flow = clocked(&params, flow, now, now + 100, 100);
        }
        assert_close(sum / samples as f64 / 10_000.0, expected, 0.002);
    }
}

#[test]
fn a_mark_is_answered_like_a_loss() {
    let params = Params::default();
    let start = state(&params, 1000.0, 500.0);
    let marked = at(&params, start, 1000, EventKind::EcnCe(testkit::marked(Time(1))));
    let mut lost = lose(&params, start, 1000);
    lost.window.discard_undo();
    assert_eq!(marked, lost);
}

/// `RFC 9438 §4.2`: `(target − cwnd)/cwnd` per packet, `target = W(t + RTT)`.
#[test]
fn each_packet_takes_its_share_of_the_way_to_the_target() {
    let params = Params::default();
    let before = after_loss(&params);
    let grown = |packets: u32| {
        let kind = EventKind::PacketsAcked(PacketsAcked {
            packets,
            bytes: u64::from(packets * MTU),
            fresh_bytes: u64::from(packets * MTU),
            ..one(4000)
        });
        at(&params, before, 4000, kind).window.cwnd - before.window.cwnd
    };
    let k = shows(&params, &before, "k_s");
    let target = 1000.0 + 0.4 * libm::pow(2.1 - k, 3.0);
    assert_close(grown(1), (target - before.window.cwnd) / before.window.cwnd, 1e-12);
    assert_close(grown(3), 3.0 * grown(1), 1e-12);
    // No ACK takes more than the whole way.
    assert_close(grown(10_000), target - before.window.cwnd, 1e-12);
}

/// `RFC 9438 §4.2`: the target is at most half a window away.
#[test]
fn growth_is_less_than_slow_starts() {
    let params = Params::default();
    let mut late = after_loss(&params);
    late = ack(&params, late, 100_000);
    let before = late.window.cwnd;
    late = ack(&params, late, 100_001);
    assert_close(late.window.cwnd, before + 0.5, 1e-12);
}

/// `RFC 9438 §4.3`: with few packets and a short RTT, Reno's estimate governs: 9/17 of a
/// packet per window, and one from the window before the loss on.
#[test]
fn a_small_pipe_is_filled_as_reno_would() {
    let params = Params::default();
    let rtt_ms = 10;
    let mut flow = lose(&params, state(&params, 10.0, 5.0), 1000);
    flow = clocked(&params, flow, 1000, 1030, rtt_ms);
    assert_eq!(flow.window.cwnd, shows(&params, &flow, "w_est"));
    let estimate = flow.window.cwnd;
    let slow = clocked(&params, flow, 1030, 1030 + rtt_ms, rtt_ms).window.cwnd - estimate;
    assert!((slow - 9.0 / 17.0).abs() < 0.06, "{slow} packets in a round trip");
    flow = clocked(&params, flow, 1030, 1400, rtt_ms);
    let estimate = flow.window.cwnd;
    assert!(estimate > 10.0 && estimate == shows(&params, &flow, "w_est"), "{estimate}");
    let fast = clocked(&params, flow, 1400, 1400 + rtt_ms, rtt_ms).window.cwnd - estimate;
    assert!((fast - 1.0).abs() < 0.1, "{fast} packets in a round trip");
}

/// `RFC 8312 §4.2 eq. 4`: the estimate grows by 9/17 of a packet per window, wherever it is.
#[test]
fn the_estimate_may_grow_slowly_for_ever() {
    let rtt_ms = 10;
    let grown = |params: &Params| {
        let flow = lose(params, state(params, 10.0, 5.0), 1000);
        let flow = clocked(params, flow, 1000, 1400, rtt_ms);
        let before = shows(params, &flow, "w_est");
        assert!(before > 10.0, "{before}: beyond the window before the loss");
        shows(params, &clocked(params, flow, 1400, 1400 + rtt_ms, rtt_ms), "w_est") - before
    };
    assert!((grown(&Params::default()) - 1.0).abs() < 0.1);
    let slow = grown(&Params { alpha_rises: false, ..Params::default() });
    assert!((slow - 9.0 / 17.0).abs() < 0.06, "{slow} packets in a round trip");
}

/// `RFC 9438 §4.7`.
#[test]
fn a_shrinking_maximum_is_given_up_faster() {
    let mut params = Params::default();
    let lost_at = |params: &Params| {
        let mut flow = lose(params, state(params, 1000.0, 500.0), 1000);
        flow.window.cwnd = 900.0;
        shows(params, &lose(params, flow, 2000), "w_max")
    };
    assert_eq!(lost_at(&params), 765.0);
    params.fast_convergence = false;
    assert_eq!(lost_at(&params), 900.0);
}

/// `RFC 9438 §4.8`: the threshold keeps β; the first stage after slow start begins on its
/// plateau, with `W_max` the window there.
#[test]
fn a_timeout_starts_over_with_beta() {
    let params = Params::default();
    let mut flow = at(&params, after_loss(&params), 3000, EventKind::PersistentCongestion(lost(Time(2999 * MS))));
    let before = after_loss(&params).window.cwnd;
    assert_eq!(flow.window.cwnd, 2.0);
    assert_close(flow.window.ssthresh, 0.7 * before, 1e-12);
    assert_eq!(shows(&params, &flow, "cwnd_prior"), before);
    flow.window.cwnd = flow.window.ssthresh;
    let threshold = flow.window.ssthresh;
    flow = ack(&params, flow, 4000);
    assert_eq!(shows(&params, &flow, "k_s"), 0.0);
    assert_eq!(shows(&params, &flow, "w_max"), threshold);
    // Only that one: after the next loss the way back has a concave part again.
    flow = ack(&params, lose(&params, flow, 5000), 6000);
    assert!(shows(&params, &flow, "k_s") > 5.0);
}

/// `RFC 9438 §4.10`: slow start left without congestion.
#[test]
fn avoidance_without_a_loss_before_begins_on_its_plateau() {
    let params = Params::default();
    let flow = ack(&params, state(&params, 100.0, 100.0), 1000);
    assert_eq!(shows(&params, &flow, "k_s"), 0.0);
    assert_eq!(shows(&params, &flow, "w_max"), 100.0);
    assert_eq!(shows(&params, &flow, "cwnd_prior"), 100.0);
    // The estimate has reached the window before already: it grows as Reno does.
    assert_close(shows(&params, &flow, "w_est"), 100.01, 1e-12);
}

/// `RFC 9438 §4.9.2`: everything the response changed comes back, the age of the stage
/// included.
#[test]
fn an_unfounded_response_leaves_no_trace() {
    let params = Params::default();
    let before = clocked(&params, after_loss(&params), 2000, 6000, 100);
    let cut = lose(&params, before, 6001);
    assert_close(cut.window.cwnd, 0.7 * before.window.cwnd, 1e-12);
    let spurious = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(6000 * MS) });
    let mut back = at(&params, ack(&params, cut, 6200), 6250, spurious);
    assert_eq!(back.scheme.variables.current, before.scheme.variables.current);
    assert_eq!((back.window.cwnd, back.window.ssthresh), (before.window.cwnd, before.window.ssthresh));
    back = ack(&params, back, 6300);
    assert_close(shows(&params, &back, "epoch_s"), 4.3, 1e-12);
}

/// `RFC 9438 §4.2`: nor does it count what was paused before it was found unfounded.
#[test]
fn a_pause_counts_for_a_stage_that_comes_back() {
    let params = Params::default();
    let mut flow = lose(&params, after_loss(&params), 2500);
    let idle = IdleRestart { idle: Span::from_millis(300), pto: Span::from_millis(1000) };
    flow = at(&params, flow, 3000, EventKind::IdleRestart(idle));
    flow = at(&params, flow, 3100, EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(2499 * MS) }));
    assert_close(shows(&params, &ack(&params, flow, 3200), "epoch_s"), 0.9, 1e-12);
}

/// `RFC 9438 §4.9.2`: a window that has outgrown the one before keeps what it has now.
#[test]
fn an_outgrown_response_stands() {
    let params = Params::default();
    let mut flow = clocked(&params, lose(&params, state(&params, 10.0, 5.0), 1000), 1000, 1500, 10);
    assert!(flow.window.cwnd > 10.0);
    let variables = flow.scheme.variables.current;
    flow = at(&params, flow, 1500, EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(0) }));
    assert_eq!((flow.scheme.variables.current, flow.window.ssthresh), (variables, 7.0));
}

/// A flow in avoidance at 100 packets that loses `lost` at 1 s and, sent before, `later` in the next
/// frame; then the ACK that ends recovery.
fn recovered(params: &Params, ssthresh: f64, lost_packets: u32, later: u32) -> State {
    let lost_at = |state, ms, packets| {
        at(params, state, ms, EventKind::PacketsLost(PacketsLost { packets, ..lost(Time(999 * MS)) }))
    };
    let mut flow = state(params, 100.0, ssthresh);
    flow = lost_at(flow, 1000, lost_packets);
    if later > 0 {
        flow = lost_at(flow, 1050, later);
    }
    // What was sent before the response says nothing yet.
    flow = ack(params, flow, 1090);
    assert_eq!(flow.window.cwnd, 70.0);
    ack(params, flow, 1200)
}

/// As in quiche: less than a fifth of the window, 14 packets of 70, and the response is gone.
#[test]
fn a_response_to_few_losses_can_be_taken_back() {
    let params = Params { rollback: 0.2, ..Params::default() };
    for (packets, later) in [(1, 0), (13, 0), (10, 3)] {
        let back = recovered(&params, 50.0, packets, later);
        assert_eq!((back.window.cwnd, back.window.ssthresh), (100.0, 50.0), "{packets} and {later}");
        assert_eq!(shows(&params, &back, "w_max"), 0.0, "nor is the plateau remembered");
        assert!(ack(&params, back, 1300).window.cwnd > 100.0, "and it grows on");
    }
    for (packets, later) in [(14, 0), (13, 1)] {
        assert_eq!(recovered(&params, 50.0, packets, later).window.ssthresh, 70.0, "{packets} and {later}");
    }
    // A window that has grown back far enough is reason enough.
    let mut flow = recovered(&params, 50.0, 14, 0);
    for (cwnd, then) in [(74.0, 70.0), (75.0, 50.0)] {
        flow.window.cwnd = cwnd;
        flow = ack(&params, flow, 1300);
        assert_eq!(flow.window.ssthresh, then, "at {cwnd}");
    }
    // One that has outgrown the window before stays, and a later response has losses of its own.
    flow = recovered(&params, 50.0, 14, 0);
    flow.window.cwnd = 101.0;
    let outgrown = ack(&params, flow, 1300).window;
    assert!(outgrown.cwnd >= 101.0 && outgrown.ssthresh == 70.0);
    flow.window.cwnd = 70.0;
    flow = ack(&params, lose(&params, flow, 1300), 1450);
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (70.0, 70.0));
    assert_eq!(recovered(&params, 200.0, 1, 0).window.ssthresh, 70.0, "slow start is over for good");
    assert_eq!(recovered(&Params::default(), 50.0, 1, 0).window.ssthresh, 70.0, "unless asked for, none is");
}

/// One packet may be lost of any window.
#[test]
fn of_a_small_window_one_loss_is_few() {
    let params = Params { rollback: 0.2, ..Params::default() };
    for (packets, kept) in [(1, 8.0), (2, 0.7 * 8.0)] {
        let cut = at(
            &params,
            state(&params, 8.0, 4.0),
            1000,
            EventKind::PacketsLost(PacketsLost { packets, ..lost(Time(999 * MS)) }),
        );
        assert_eq!(ack(&params, cut, 1200).window.cwnd.floor(), f64::floor(kept), "{packets}");
    }
}

/// A mark is no loss, and what answers one stays.
#[test]
fn a_response_to_marks_is_not_taken_back() {
    let params = Params { rollback: 0.2, ..Params::default() };
    let start = state(&params, 100.0, 50.0);
    let marked = at(&params, start, 1000, EventKind::EcnCe(testkit::marked(Time(999 * MS))));
    assert_eq!(ack(&params, marked, 1200).window.ssthresh, 70.0);
    let both = at(&params, lose(&params, start, 1000), 1050, EventKind::EcnCe(testkit::marked(Time(999 * MS))));
    assert_eq!(ack(&params, both, 1200).window.ssthresh, 70.0);
}

/// `RFC 9438 §4.6`: the flight size, where asked for, limits the response but not what is
/// remembered.
#[test]
fn the_response_can_start_from_the_flight_size() {
    let mut params = Params { flight_size: true, ..Params::default() };
    let losing = |params: &Params, packets: u64, wrap: fn(PacketsLost) -> EventKind| {
        let kind = wrap(PacketsLost { in_flight_before: packets * u64::from(MTU), ..lost(Time(999 * MS)) });
        at(params, state(params, 1000.0, 500.0), 1000, kind)
    };
    let half = losing(&params, 500, EventKind::PacketsLost);
    assert_eq!((half.window.cwnd, shows(&params, &half, "w_max")), (350.0, 1000.0));
    assert_eq!(losing(&params, 1010, EventKind::PacketsLost).window.cwnd, 700.0);
    assert_eq!(losing(&params, 0, EventKind::PacketsLost).window.cwnd, 2.0);
    assert_close(losing(&params, 500, EventKind::PersistentCongestion).window.ssthresh, 350.0, 1e-12);
    params.flight_size = false;
    assert_eq!(losing(&params, 500, EventKind::PacketsLost).window.cwnd, 700.0);
}

/// A window that fell back to the initial one has no stage to jump back into.
#[test]
fn a_restart_after_idling_begins_a_new_stage() {
    let params = Params::default();
    // A threshold so low that the restarted window is in avoidance at once.
    let mut flow = lose(&params, state(&params, 12.0, 5.0), 1000);
    flow = clocked(&params, flow, 1000, 9000, 10);
    assert!(flow.window.cwnd > 50.0);
    let idle = IdleRestart { idle: Span::from_millis(2000), pto: Span::from_millis(100) };
    flow = at(&params, flow, 11_000, EventKind::IdleRestart(idle));
    assert_eq!(flow.window.cwnd, 10.0);
    flow = ack(&params, flow, 11_100);
    assert!(flow.window.cwnd < 11.0, "{}", flow.window.cwnd);
    assert_eq!(shows(&params, &flow, "epoch_s"), 0.0);
}

#[test]
fn a_new_datagram_size_keeps_the_bytes_of_what_is_remembered() {
    let params = Params::default();
    let flow = at(&params, after_loss(&params), 3000, EventKind::MtuUpdated(2 * MTU));
    assert_eq!((shows(&params, &flow, "w_max"), shows(&params, &flow, "cwnd_prior")), (500.0, 500.0));
    let flow = ack(&params, flow, 3100);
    let k = libm::cbrt((500.0 - 0.5 * after_loss(&params).window.cwnd) / 0.4);
    assert_close(shows(&params, &flow, "k_s"), k, 1e-12);
}

/// `RFC 9438 §4.2`: samples count in recovery too, and an ACK without one changes nothing.
#[test]
fn looks_one_smoothed_rtt_ahead() {
    let params = Params::default();
    let mut flow = lose(&params, state(&params, 1000.0, 500.0), 1000);
    let sample = testkit::rtt(Span::from_millis(70));
    flow = at(&params, flow, 1050, EventKind::RttSampled(crate::event::RttSample { latest: Span(1), ..sample }));
    assert_eq!(shows(&params, &flow, "srtt_ms"), 70.0);
    flow = at(&params, flow, 1100, EventKind::PacketsAcked(acked(1, Time(1))));
    assert_eq!(shows(&params, &flow, "srtt_ms"), 70.0);
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `spec: arumaithurai §8 I35` and `RFC 9438 §4.2`: in a large pipe the window is the
    /// curve's, late by two round trips at most, and passes `W_max` at K.
    #[test]
    fn the_window_follows_the_curve(w_max in 500.0..2000.0f64, rtt_ms in 60..150u64, share in 0.05..1.3f64) {
        let params = Params::default();
        let mut flow = lose(&params, state(&params, w_max, 100.0), 1000);
        let k = libm::cbrt(0.3 * w_max / 0.4);
        let end = 1000.0 + 1e3 * share * k;
        // Six ACKs per round trip.
        let mut now = 1000.0;
        let mut began = None;
        while now < end {
            now += rtt_ms as f64 / 6.0;
            let bytes = (flow.window.cwnd / 6.0 * f64::from(MTU)) as u64;
            let sent_at = Time(((now - 0.5) * 1e6) as u64);
            let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
            let acked = PacketsAcked { bytes, fresh_bytes: bytes, rtt, ..acked(1, sent_at) };
            flow = testkit::step::<Cubic>(&params, flow, Time((now * 1e6) as u64), EventKind::PacketsAcked(acked));
            began.get_or_insert(now);
        }
        let t = 1e-3 * (now - began.unwrap_or(now));
        let curve = |t: f64| w_max + 0.4 * libm::pow(t - k, 3.0);
        let reno = state_variable::<Cubic>(&params, &flow, "w_est");
        let rtt = 1e-3 * rtt_ms as f64;
        // cwnd chases W(t + RTT) with a time constant of one RTT.
        let (low, high) = (curve((t - 2.0 * rtt).max(0.0)), curve(t + rtt).max(reno));
        prop_assert!(low - 1e-6 <= flow.window.cwnd && flow.window.cwnd <= high + 1e-6,
            "{} is not between {low} and {high} at {t} of {k}", flow.window.cwnd);
    }

    /// `RFC 9438 §4.2, §5.8`: a pause changes nothing but the date.
    #[test]
    fn a_pause_only_shifts_the_trajectory(
        w in 20.0..2000.0f64, before in 0..3000u64, pause in 1..10_000u64, after in 1..1000u64, idle: bool,
    ) {
        let params = Params { base: Limits { idle_restart: false, ..Limits::default() }.into(), ..Params::default() };
        let flow = lose(&params, state(&params, w, 10.0), 1000);
        let begin = ack(&params, flow, 2000);
        let here = ack(&params, begin, 2000 + before);
        let end = 2000 + before + pause;
        let resumed = if idle {
            let idle = IdleRestart { idle: Span::from_millis(pause), pto: Span::from_millis(10) };
            at(&params, here, end, EventKind::IdleRestart(idle))
        } else {
            // ACKs all along, but the window is not used.
            let limited = |ms| EventKind::PacketsAcked(PacketsAcked { app_limited: true, ..one(ms) });
            let half = at(&params, here, 2000 + before + pause / 2, limited(2000 + before + pause / 2));
            at(&params, half, end, limited(end))
        };
        prop_assert_eq!(resumed.window.cwnd, here.window.cwnd);
        let late = ack(&params, resumed, end + after);
        let straight = ack(&params, here, 2000 + before + after);
        assert_close(late.window.cwnd, straight.window.cwnd, 1e-9);
        assert_close(shows(&params, &late, "epoch_s"), shows(&params, &straight, "epoch_s"), 1e-9);
    }

    /// The response is β exactly, down to the floor, and W_max is no more than the window.
    #[test]
    fn a_response_keeps_beta(w in 1.0..1e6f64, beta in 0.1..0.99f64, earlier in 0.0..1e6f64) {
        let params = Params { beta, ..Params::default() };
        let mut flow = state(&params, w, 1.0);
        flow.scheme.variables.current.w_max = earlier;
        let cut = lose(&params, flow, 1000);
        prop_assert_eq!(cut.window.cwnd, (beta * w).max(2.0));
        prop_assert_eq!(cut.window.ssthresh, (beta * w).max(2.0));
        prop_assert!(shows(&params, &cut, "w_max") <= w);
    }

    /// Growth is never negative, and one window's worth of ACKs adds at most half a window
    /// to the cubic or catches up with the estimate.
    #[test]
    fn growth_stays_within_its_bounds(
        w in 2.0..1e5f64, above in 0.0..1e5f64, elapsed in 0..u64::MAX, packets in 1..100_000u32,
    ) {
        let params = Params::default();
        let mut flow = ack(&params, lose(&params, state(&params, w + above, 1.0), 1000), 2000);
        (flow.window.cwnd, flow.window.ssthresh) = (w, 2.0);
        let now = Time((2000 * MS).saturating_add(elapsed));
        let grown = testkit::step::<Cubic>(&params, flow, now, EventKind::PacketsAcked(acked(packets, Time(1001 * MS))));
        let estimate = grown.scheme.variables.current.epoch.get().map_or(0.0, |epoch| epoch.w_est);
        prop_assert!(grown.window.cwnd >= w);
        prop_assert!(grown.window.cwnd <= (1.5 * w).max(estimate) * (1.0 + 1e-12));
    }
}

/// Rounds of `rtt_ms` in which the whole window is acknowledged packet by packet, from `ms` on; the
/// windows at their ends.
fn rounds(params: &Params, state: &mut State, ms: u64, rtt_ms: u64, count: u64) -> std::vec::Vec<f64> {
    let mut windows = std::vec::Vec::new();
    for round in 1..=count {
        let now = ms + round * rtt_ms;
        let sent_at = Time((now - rtt_ms) * MS + 1);
        for _ in 0..state.window.cwnd as u32 {
            let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
            *state = at(params, *state, now, EventKind::PacketsAcked(PacketsAcked { rtt, ..acked(1, sent_at) }));
        }
        windows.push(state.window.cwnd);
    }
    windows
}

/// `RFC 9406 §4.2, §4.3`: the window after an idle period starts up anew. Rounds of before are no
/// reference for those after it, and conservative slow start is over.
#[test]
fn hystart_begins_anew_after_an_idle_period() {
    let params = Params::default();
    let idle = EventKind::IdleRestart(IdleRestart::new(Span::from_millis(5000), Span::from_millis(200)));
    for conservative in [false, true] {
        let mut flow = state(&params, 10.0, f64::INFINITY);
        assert_eq!(rounds(&params, &mut flow, 0, 50, 4), [20.0, 40.0, 80.0, 160.0]);
        if conservative {
            assert_eq!(rounds(&params, &mut flow, 200, 60, 1), [160.0 + 8.0 + 152.0 / 4.0]);
        }
        flow = at(&params, flow, 5300, idle);
        assert_eq!(rounds(&params, &mut flow, 5300, 60, 4), [20.0, 40.0, 80.0, 160.0]);
    }
    // A short pause is none.
    let mut flow = state(&params, 10.0, f64::INFINITY);
    rounds(&params, &mut flow, 0, 50, 4);
    let pause = EventKind::IdleRestart(IdleRestart::new(Span::from_millis(100), Span::from_millis(200)));
    flow = at(&params, flow, 300, pause);
    assert!(rounds(&params, &mut flow, 300, 60, 1)[0] < 210.0);
}
