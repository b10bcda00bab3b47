//! `spec: sharma §6`, ambiguities.

use proptest::prelude::*;

use super::*;
use crate::Time;
use crate::event::{IdleRestart, PacketsAcked, SpuriousLoss};
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, state_variable};
use crate::{Controller, EventKind, Parameters};

type Cubic2005 = WindowController<super::Cubic2005>;

type State = <Cubic2005 as Controller>::State;

const MS: u64 = 1_000_000;

fn state(params: &Params, cwnd: f64, ssthresh: f64) -> State {
    let mut state = Cubic2005::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = ssthresh;
    state
}

fn at(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Cubic2005>(params, state, Time(ms * MS), kind)
}

fn one(ms: u64, rtt_ms: u64) -> PacketsAcked {
    PacketsAcked { rtt: Some(testkit::rtt(Span::from_millis(rtt_ms))), ..acked(1, Time((ms - 100) * MS)) }
}

/// One packet acknowledged, RTT 100 ms.
fn ack(params: &Params, state: State, ms: u64) -> State {
    at(params, state, ms, EventKind::PacketsAcked(one(ms, 100)))
}

fn lose(params: &Params, state: State, ms: u64) -> State {
    at(params, state, ms, EventKind::PacketsLost(lost(Time((ms - 1) * MS))))
}

fn clocked(params: &Params, state: State, from_ms: u64, until_ms: u64, rtt_ms: u64) -> State {
    let rtt = Span::from_millis(rtt_ms);
    testkit::clocked::<super::Cubic2005>(params, state, Time(from_ms * MS), Time(until_ms * MS), rtt)
}

fn shows(params: &Params, state: &State, name: &str) -> f64 {
    state_variable::<Cubic2005>(params, state, name)
}

/// Lost at 1000 packets at 1 s; the first ACK in avoidance comes at 2 s.
fn after_loss(params: &Params) -> State {
    let mut flow = lose(params, state(params, 1000.0, 100.0), 1000);
    // The ACK that ends recovery does not grow the window in the document.
    flow = ack(params, flow, 1200);
    flow.scheme.variables.current.epoch.end();
    flow.window.cwnd = 800.0;
    ack(params, flow, 2000)
}

#[test]
fn profiles_are_those_of_the_document() {
    let paper = Params::paper();
    assert_eq!(
        (paper.base.limits.iw, paper.base.limits.ssthresh, paper.base.limits.max_window),
        (2.0, 100.0, 67_000.0)
    );
    assert!(!paper.base.start_up.first_halving && paper.base.start_up.lss == 0.0, "spec: sharma §1.6, §1.7");
    assert_eq!((paper.c, paper.beta, paper.smax, paper.limited), (0.4, 0.8, 160.0, Limited::AfterLoss));
    let quic = Params::default();
    assert_eq!((quic.base.limits.iw, quic.limited, quic.forget), (10.0, Limited::Always, false));
}

/// `spec: sharma §6`, check values; T-10.
#[test]
fn a_loss_keeps_eight_tenths_and_plans_the_way_back() {
    let params = Params::paper();
    let cut = lose(&params, state(&params, 1000.0, 100.0), 1000);
    assert_eq!((cut.window.cwnd, cut.window.ssthresh), (800.0, 800.0));
    let flow = after_loss(&params);
    assert_close(shows(&params, &flow, "k_s"), 7.937_005, 1e-7);
    assert_eq!((shows(&params, &flow, "plateau"), shows(&params, &flow, "w_max")), (1000.0, 1000.0));
    // One minimum RTT ahead: W(0.1) − 800 = 7.465 packets, less than the limit of 16.
    let ahead = 1000.0 + 0.4 * libm::pow(0.1 - 7.937_005_259_840_998, 3.0);
    assert_close(flow.window.cwnd, 800.0 + (ahead - 800.0) / 800.0, 1e-9);
}

/// `spec: sharma §6`, response function: from a loss to the plateau the mean window is
/// `1.174·(RTT/p)^0.75`, where one in the packets of that time is lost.
#[test]
fn the_mean_window_up_to_the_plateau_follows_the_response_function() {
    let params = Params { smax: 1e6, ..Params::paper() };
    let mut flow = after_loss(&params);
    let (mut sum, steps) = (0.0, 159);
    for i in 0..steps {
        flow = clocked(&params, flow, 2000 + 50 * i, 2050 + 50 * i, 100);
        sum += flow.window.cwnd;
    }
    let mean = sum / steps as f64;
    let packets = mean * shows(&params, &flow, "k_s") / 0.1;
    assert_close(mean, 1.174 * libm::pow(0.1 * packets, 0.75), 0.01);
}

/// `spec: sharma §6 rule 2`: the comparison is with the maximum remembered before.
#[test]
fn a_shrinking_maximum_is_given_up_faster() {
    let mut params = Params::paper();
    for (remembered, w_max) in [(1100.0, 900.0), (900.0, 1000.0), (1000.0, 1000.0)] {
        let mut flow = state(&params, 1000.0, 100.0);
        flow.scheme.variables.current.last_max = remembered;
        assert_eq!(shows(&params, &lose(&params, flow, 1000), "w_max"), w_max);
    }
    params.fast_convergence = false;
    let mut flow = state(&params, 1000.0, 100.0);
    flow.scheme.variables.current.last_max = 1100.0;
    assert_eq!(shows(&params, &lose(&params, flow, 1000), "w_max"), 1000.0);
}

/// from the end of slow start a cubic with K = 0.
#[test]
fn avoidance_without_a_loss_before_begins_on_its_plateau() {
    let params = Params::paper();
    let flow = ack(&params, state(&params, 100.0, 100.0), 1000);
    assert_eq!((shows(&params, &flow, "k_s"), shows(&params, &flow, "plateau")), (0.0, 100.0));
}

/// `spec: sharma §6 rule 1.3`: beyond its target the window creeps.
#[test]
fn a_window_above_its_target_creeps() {
    let params = Params { friendly: false, ..Params::paper() };
    let mut flow = after_loss(&params);
    flow.window.cwnd = 900.0;
    assert_close(ack(&params, flow, 2010).window.cwnd - 900.0, 0.01 / 900.0, 1e-12);
}

/// `spec: sharma §6 rule 1.4`, A-6, A-7.
#[test]
fn growth_is_limited_from_the_first_loss_on_or_always() {
    let added = |limited: Limited, after: bool| {
        let params = Params { limited, ..Params::paper() };
        let mut flow = ack(&params, state(&params, 1000.0, 100.0), 1000);
        flow.scheme.variables.current.loss_ever = after;
        let before = flow.window.cwnd;
        before * (ack(&params, flow, 31_000).window.cwnd - before)
    };
    // 160 packets/s at 100 ms are 16 packets per window.
    assert_close(added(Limited::AfterLoss, true), 16.0, 1e-9);
    assert_close(added(Limited::Always, false), 16.0, 1e-9);
    // Unlimited, 30 s into the convex part: as much as one packet per ACK.
    assert_close(added(Limited::AfterLoss, false), 1000.0, 1e-3);
}

/// `spec: sharma §6 rule 1.5`: a third of a packet per round trip at the least.
#[test]
fn a_small_pipe_is_filled_as_an_aimd_with_that_decrease_would() {
    let params = Params::paper();
    let cut = lose(&params, state(&params, 30.0, 10.0), 1000);
    let flow = clocked(&params, cut, 1010, 1250, 5);
    // The window approaches the estimate by its own increments: a round trip behind.
    assert!((shows(&params, &flow, "w_est") - flow.window.cwnd - 1.0 / 3.0).abs() < 0.02);
    let next = clocked(&params, flow, 1250, 1255, 5);
    assert!((next.window.cwnd - flow.window.cwnd - 1.0 / 3.0).abs() < 0.02);
    let plain = Params { friendly: false, ..params };
    assert!(clocked(&plain, cut, 1010, 1250, 5).window.cwnd < flow.window.cwnd);
}

/// beyond the plateau the limit is lifted while the path looks little used.
#[test]
fn low_utilisation_lifts_the_limit_beyond_the_plateau() {
    let added = |threshold: f64, late_rtt: u64, after: u64| {
        let params = Params { low_utilization: threshold, ..Params::paper() };
        let mut flow = at(
            &params,
            state(&params, 1000.0, 100.0),
            900,
            EventKind::RttSampled(testkit::rtt(Span::from_millis(200))),
        );
        flow = ack(&params, lose(&params, flow, 1000), 1200);
        // Two periods of 2 s of their own samples.
        for ms in [1300, 2950, 3100, 5200] {
            flow = at(&params, flow, ms, EventKind::RttSampled(testkit::rtt(Span::from_millis(late_rtt))));
        }
        flow.scheme.d_min = Some(Span::from_millis(100));
        let end = 5300 + after;
        // The first stage after the loss, to its plateau at 1000 packets.
        let variables = &mut flow.scheme.variables.current;
        variables.epoch.start(0.4, Time(5300 * MS), 800.0, variables.last_max);
        let before = flow.window.cwnd;
        let grown = at(&params, flow, end, EventKind::PacketsAcked(acked(1, Time((end - 100) * MS))));
        before * (grown.window.cwnd - before)
    };
    let beyond = 30_000;
    assert!(added(0.1, 105, beyond) > 100.0);
    assert_close(added(0.1, 115, beyond), 16.0, 1e-9);
    assert_close(added(0.0, 105, beyond), 16.0, 1e-9);
    // Still on the way up the limit holds.
    let up = added(0.1, 105, 1000);
    assert!(up <= 16.0 + 1e-9, "{up}");
}

/// `spec: sharma §6 rule 3`, `B-RTO`, A-37.
#[test]
fn a_timeout_forgets_the_search_or_keeps_the_maximum() {
    let timeout =
        |params: &Params| at(params, after_loss(params), 3000, EventKind::PersistentCongestion(lost(Time(2999 * MS))));
    let paper = Params::paper();
    let before = after_loss(&paper).window.cwnd;
    let flow = timeout(&paper);
    assert_eq!((flow.window.cwnd, flow.window.ssthresh), (1.0, 0.5 * before));
    assert_eq!((flow.scheme.variables.current.last_max, flow.scheme.variables.current.loss_ever), (0.0, false));

    let quic = Params::default();
    let before = after_loss(&quic).window.cwnd;
    let mut flow = timeout(&quic);
    assert_eq!(
        (flow.window.cwnd, flow.scheme.variables.current.last_max, flow.scheme.variables.current.loss_ever),
        (2.0, before, true)
    );
    flow.window.cwnd = flow.window.ssthresh;
    flow = ack(&quic, flow, 4000);
    assert_eq!((shows(&quic, &flow, "k_s"), shows(&quic, &flow, "w_max")), (0.0, before));
    flow = ack(&quic, lose(&quic, flow, 5000), 6000);
    assert!(shows(&quic, &flow, "k_s") > 4.0, "only the first stage after it");
}

/// `spec: sharma §6`, corner cases: the smallest sample, zero ones aside; none at all.
#[test]
fn the_minimum_rtt_is_that_of_the_samples() {
    let params = Params::paper();
    let mut flow = state(&params, 200.0, 100.0);
    assert!(
        ack(&params, at(&params, flow, 1000, EventKind::PacketsAcked(acked(1, Time(1)))), 1100).window.cwnd > 200.0
    );
    for rtt in [30, 20, 0, 25] {
        flow = at(&params, flow, 1000, EventKind::RttSampled(testkit::rtt(Span::from_millis(rtt))));
    }
    assert_eq!(shows(&params, &flow, "d_min_ms"), 20.0);
    assert_eq!(shows(&params, &at(&params, flow, 1100, EventKind::PacketsAcked(acked(1, Time(1)))), "d_min_ms"), 20.0);
}

#[test]
fn an_unfounded_response_leaves_no_trace() {
    let params = Params::default();
    let before = clocked(&params, after_loss(&params), 2000, 6000, 100);
    let spurious = EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at: Time(6000 * MS) });
    let back = at(&params, ack(&params, lose(&params, before, 6001), 6200), 6250, spurious);
    assert_eq!(back.scheme.variables.current, before.scheme.variables.current);
    assert_eq!(back.window.cwnd, before.window.cwnd);
    // Nor does a pause count that came before it was found out.
    let idle = IdleRestart { idle: Span::from_millis(50), pto: Span::from_millis(1000) };
    let paused = at(&params, lose(&params, before, 6001), 6100, EventKind::IdleRestart(idle));
    let back = ack(&params, at(&params, paused, 6250, spurious), 6300);
    assert_close(shows(&params, &back, "epoch_s"), 4.25, 1e-12);
}

#[test]
fn a_restart_or_a_new_datagram_size_begins_a_new_stage() {
    let params = Params::default();
    let idle = IdleRestart { idle: Span::from_millis(5000), pto: Span::from_millis(100) };
    let flow = at(&params, after_loss(&params), 8000, EventKind::IdleRestart(idle));
    assert_eq!((flow.window.cwnd, flow.scheme.variables.current.epoch.get()), (10.0, None));
    let flow = at(&params, after_loss(&params), 8000, EventKind::MtuUpdated(2 * MTU));
    assert_eq!((shows(&params, &flow, "w_max"), flow.scheme.variables.current.epoch.get()), (500.0, None));
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// `spec: sharma §6`, invariants: real time alone decides, whatever the RTT, to
    /// within the round trips the window lags behind.
    #[test]
    fn the_window_does_not_depend_on_the_rtt(
        w_max in 500.0..2000.0f64, rtt_ms in 40..160u64, share in 0.3..1.2f64,
    ) {
        let params = Params { smax: 1e6, friendly: false, ..Params::default() };
        let k = libm::cbrt(0.2 * w_max / 0.4);
        let end = 1000.0 + 1e3 * share * k;
        let window_with = |rtt_ms: u64| {
            let mut flow = lose(&params, state(&params, w_max, 100.0), 1000);
            let mut now = 1000.0;
            while now < end {
                now += rtt_ms as f64 / 6.0;
                let bytes = (flow.window.cwnd / 6.0 * f64::from(MTU)) as u64;
                let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
                let sent_at = Time(((now - 0.5) * 1e6) as u64);
                let kind = EventKind::PacketsAcked(PacketsAcked { bytes, fresh_bytes: bytes, rtt, ..acked(1, sent_at) });
                flow = testkit::step::<Cubic2005>(&params, flow, Time((now * 1e6) as u64), kind);
            }
            flow.window.cwnd
        };
        let curve = |t: f64| w_max + 0.4 * libm::pow(t - k, 3.0);
        let (t, lag) = (share * k, 2e-3 * rtt_ms as f64);
        let window = window_with(rtt_ms);
        prop_assert!((curve((t - lag).max(0.0)) - 1.0..=curve(t + lag) + 1.0).contains(&window), "{window} at {t}");
    }

    /// `spec: sharma §6`, invariants: after the first loss at most `smax` packets/s, as
    /// long as the friendly floor (a third of a packet per round trip) asks for less.
    #[test]
    fn growth_keeps_to_the_limit(w in 50.0..500.0f64, age in 0..20_000u64, rtt_ms in 5..100u64, half: bool) {
        let params = Params { smax: if half { 80.0 } else { 160.0 }, ..Params::paper() };
        let mut flow = lose(&params, state(&params, w, 10.0), 1000);
        flow = at(&params, flow, 1200, EventKind::PacketsAcked(one(1201, rtt_ms)));
        flow = at(&params, flow, 1201, EventKind::PacketsAcked(one(1202, rtt_ms)));
        let from = 1201 + age;
        let after = clocked(&params, flow, from, from + 4 * rtt_ms, rtt_ms);
        let seconds = 4e-3 * rtt_ms as f64;
        // The last packet of the period may be one more than its share.
        let allowed = params.smax * seconds * (1.0 + 1e-6) + 1.0;
        prop_assert!(after.window.cwnd - flow.window.cwnd <= allowed);
    }

    /// `spec: sharma §6`, invariants.
    #[test]
    fn a_response_keeps_beta(w in 1.0..67_000.0f64, remembered in 0.0..67_000.0f64, paper: bool) {
        let params = if paper { Params::paper() } else { Params::default() };
        let mut flow = state(&params, w, 1.0);
        flow.scheme.variables.current.last_max = remembered;
        let cut = lose(&params, flow, 1000);
        prop_assert_eq!(cut.window.cwnd, (0.8 * w).max(params.base.limits.min_window));
        prop_assert!(shows(&params, &cut, "w_max") <= w);
    }

    /// `spec: sharma §6 rule 1.6`, A-36: at most a packet per packet, never a step back.
    #[test]
    fn a_packet_adds_at_most_a_packet(
        w in 1.0..67_000.0f64, above in 0.0..67_000.0f64, elapsed in 0..u64::MAX, paper: bool,
    ) {
        let params = if paper { Params::paper() } else { Params::default() };
        let mut flow = lose(&params, state(&params, w + above, 1.0), 1000);
        flow = ack(&params, ack(&params, flow, 2000), 2000);
        (flow.window.cwnd, flow.window.ssthresh) = (w, 1.0);
        let now = Time((2000 * MS).saturating_add(elapsed));
        let after = testkit::step::<Cubic2005>(&params, flow, now, EventKind::PacketsAcked(acked(1, Time(1001 * MS))));
        prop_assert!((0.0..=1.0 + 1e-9).contains(&(after.window.cwnd - w)));
    }

    /// `spec: sharma §6 rule 4`: a pause changes nothing but the date.
    #[test]
    fn a_pause_only_shifts_the_trajectory(
        w in 20.0..2000.0f64, before in 0..3000u64, pause in 1..10_000u64, after in 1..1000u64, idle: bool,
    ) {
        let params = Params { base: Limits { idle_restart: false, ..Limits::default() }.into(), ..Params::default() };
        let flow = lose(&params, state(&params, w, 10.0), 1000);
        let here = ack(&params, ack(&params, flow, 2000), 2000 + before);
        let end = 2000 + before + pause;
        let kind = if idle {
            EventKind::IdleRestart(IdleRestart { idle: Span::from_millis(pause), pto: Span::from_millis(10) })
        } else {
            EventKind::PacketsAcked(PacketsAcked { app_limited: true, ..one(end, 100) })
        };
        let resumed = at(&params, here, end, kind);
        prop_assert_eq!(resumed.window.cwnd, here.window.cwnd);
        let late = ack(&params, resumed, end + after).window.cwnd;
        assert_close(late, ack(&params, here, 2000 + before + after).window.cwnd, 1e-9);
    }
}

/// RTTs of ns with a period of 100 ns.
fn fed(threshold: f64, samples: &[(u64, u64)]) -> bool {
    let mut utilization = Utilization::start(Time::ZERO);
    for &(at, rtt) in samples {
        utilization.sample(Time(at), Span(rtt), Span(1000), Span(100), threshold);
    }
    utilization.is_low()
}

#[test]
fn the_average_of_a_period_decides_at_its_end() {
    let samples = [(10, 1000), (50, 2000), (100, 1050)];
    assert!(!fed(0.5, &samples[..2]), "not before the end");
    assert!(fed(0.5, &samples), "350 of 1000 on average");
    assert!(!fed(0.3, &samples));
    // The next period is judged by its own samples, against the largest of all.
    assert!(fed(0.1, &[(10, 2000), (100, 2000), (150, 1099), (200, 1099)]));
    assert!(!fed(0.1, &[(10, 2000), (100, 2000), (150, 1101), (200, 1101)]));
}

#[test]
fn a_threshold_of_zero_is_never_met() {
    assert!(!fed(0.0, &[(10, 1000), (100, 1000), (200, 1000)]));
}
