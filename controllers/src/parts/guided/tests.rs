//! `spec: arumaithurai §3.5, §10`; invariants I1 to I8.

use proptest::prelude::*;

use super::*;
use crate::event::{IdleRestart, PacketsAcked, RttSample};
use crate::parts::compose::{Measured, PathParams};
use crate::testkit::{MTU, PATH, acked, assert_close, cases, lost, one_of, rtt};
use crate::{Event, Phase, Time};

/// A flow whose events, findings of congestion and estimates the test makes up.
#[derive(Clone, Copy)]
struct Bench {
    params: Params,
    state: window_controller::State<State<Backstop>>,
    path: Measured,
    now: Time,
}

impl Bench {
    /// In congestion avoidance at `cwnd` packets, base RTT 100 ms.
    fn at(params: Params, cwnd: f64) -> Bench {
        let mut bench = Bench::new(params);
        (bench.state.window.cwnd, bench.state.window.ssthresh) = (cwnd, cwnd);
        bench
    }

    fn new(params: Params) -> Bench {
        let mut path = Measured::default();
        let sample: RttSample = rtt(Span::from_millis(100));
        path.sampled(&PathParams::default(), Time::ZERO, &sample);
        Bench { params, state: Guided::start(&params, &PATH), path, now: Time(1) }
    }

    fn report(&mut self, kind: EventKind, signal: Signal, available: Option<f64>) -> f64 {
        self.now += Span::from_millis(1);
        let event = Event { now: self.now, kind };
        let estimate = available.map(|available| Estimate { available, share: 0.5 });
        let input = Input { event: &event, path: &self.path, is_bounded: false };
        Guided::update(&self.params, &mut self.state, input, signal, estimate);
        self.state.window.cwnd
    }

    /// `packets` sent just now are acknowledged.
    fn ack(&mut self, packets: u32) -> f64 {
        self.report(EventKind::PacketsAcked(acked(packets, self.now + Span(1))), Signal::Clear, None)
    }

    fn congest(&mut self) -> f64 {
        self.report(EventKind::PacketsLost(lost(self.now)), Signal::Strong, None)
    }

    fn estimate(&mut self, available: f64) {
        self.report(EventKind::TimerExpired, Signal::Clear, Some(available));
    }
}

#[test]
fn growth_vectors() {
    for (cwnd, bw, expected) in [(100.0, 300e6, 18.75), (10.0, 1.2e6, 0.75), (1000.0, 0.0, 0.001)] {
        let mut bench = Bench::at(Params::paper(), cwnd);
        bench.estimate(bw);
        assert_close(bench.ack(1) - cwnd, expected, 1e-12);
    }
    assert_close(Bench::at(Params::paper(), 10.0).ack(1), 10.1, 1e-15);
}

#[test]
fn cut_vectors() {
    assert_eq!(Bench::at(Params::paper(), 7436.0).congest(), 6506.5);
    assert_eq!(Bench::at(Params::paper(), 2.1).congest(), 2.0);
}

/// F3: a cut voids the estimate.
#[test]
fn congestion_voids_the_estimate() {
    let mut bench = Bench::at(Params::paper(), 100.0);
    bench.estimate(300e6);
    assert_eq!(bench.congest(), 87.5);
    assert_eq!((bench.state.scheme.guide.available(), bench.state.scheme.guide.reference), (Some(0.0), 87.5));
    assert_eq!(bench.ack(1), 87.5, "the ACK that ends recovery does not grow the window");
    assert_eq!(bench.ack(1), 87.5 + 1.0 / 87.5);
}

/// F5.
#[test]
fn a_timeout_starts_over() {
    let mut bench = Bench::at(Params::paper(), 100.0);
    bench.estimate(300e6);
    assert_eq!(bench.report(EventKind::PersistentCongestion(lost(bench.now)), Signal::TimedOut, None), 1.0);
    assert_eq!((bench.state.window.ssthresh, bench.state.scheme.guide.available()), (87.5, None));
    assert_eq!(bench.ack(1), 2.0, "slow start");
    let quic = Params::default();
    assert_eq!(
        Bench::at(quic, 100.0).report(EventKind::PersistentCongestion(lost(Time(1))), Signal::TimedOut, None),
        2.0
    );
}

/// F6: whatever the first estimate says, it ends slow start.
#[test]
fn an_estimate_ends_slow_start() {
    for available in [0.0, 8e6] {
        let mut bench = Bench::new(Params::default());
        bench.ack(10);
        assert_eq!(bench.state.window.phase(), Phase::SlowStart);
        bench.estimate(available);
        assert_eq!(bench.state.window.phase(), Phase::CongestionAvoidance);
        assert_eq!((bench.state.window.cwnd, bench.state.window.ssthresh), (20.0, 20.0));
        assert_eq!(bench.state.scheme.guide.available(), Some(available));
    }
}

/// F7: only an idle period longer than the probe timeout ages what is known.
#[test]
fn a_long_idle_period_ages_the_estimate() {
    let idle = |ms| EventKind::IdleRestart(IdleRestart { idle: Span::from_millis(ms), pto: Span::from_millis(300) });
    let mut bench = Bench::at(Params::paper(), 100.0);
    bench.estimate(8e6);
    assert_eq!(bench.report(idle(300), Signal::Clear, None), 100.0);
    assert_eq!(bench.state.scheme.guide.available(), Some(8e6));
    assert_eq!(bench.report(idle(301), Signal::Clear, None), 1.0);
    assert_eq!(bench.state.scheme.guide.available(), None);
}

/// Corner case 2: one round trip of Eq. 4.10 takes w to `√(w² + 2·a·w₀…)`, not to w + a.
#[test]
fn growth_limits_itself() {
    let mut bench = Bench::at(Params { cap_to_target: false, ..Params::paper() }, 10.0);
    bench.estimate(80e6);
    let spare = 80e6 * 0.1 / 8000.0;
    for _ in 0..10 {
        bench.ack(1);
    }
    let fluid = libm::sqrt(10.0 * 10.0 + 2.0 * 0.5 * spare * 10.0);
    assert!(bench.state.window.cwnd > fluid && bench.state.window.cwnd < 10.0 + 0.5 * spare, "above {fluid}");
    assert_close(bench.state.window.cwnd, fluid, 0.25);
}

/// F2.5b: an estimate of next to nothing is no worse than none.
#[test]
fn a_small_estimate_leaves_growth_linear() {
    let mut bench = Bench::at(Params::paper(), 100.0);
    bench.estimate(80_000.0); // one packet per base RTT
    assert_eq!(bench.ack(1), 100.01);
}

/// A11: growth stops being guided at the window of the estimate plus the estimate.
#[test]
fn growth_is_guided_up_to_the_target() {
    let mut bench = Bench::at(Params::paper(), 10.0);
    bench.estimate(1.6e6); // 20 packets per base RTT
    assert_eq!(bench.ack(5), 15.0);
    let before = bench.ack(40);
    assert_eq!(before, 30.0, "clamped to the target");
    assert_eq!(bench.ack(3), 30.1, "linear beyond");
    let mut free = Bench::at(Params { cap_to_target: false, ..Params::paper() }, 10.0);
    free.estimate(1.6e6);
    free.ack(5);
    assert_close(free.ack(40), 15.0 + 400.0 / 15.0, 1e-12);
}

/// Corner case 7.
#[test]
fn another_datagram_size_keeps_bytes_and_rates() {
    let mut bench = Bench::at(Params::paper(), 100.0);
    bench.estimate(8e6);
    bench.report(EventKind::MtuUpdated(2 * MTU), Signal::Clear, None);
    assert_eq!((bench.state.window.cwnd, bench.state.scheme.guide.reference), (50.0, 50.0));
    // 50 packets of 2000 bytes per base RTT, half of them in a window of 50.
    assert_eq!(bench.ack(2), 50.5);
}

/// Corner case 3: without a base RTT an estimate cannot be turned into packets.
#[test]
fn without_a_base_rtt_growth_is_linear() {
    let mut bench = Bench::at(Params::paper(), 100.0);
    bench.path = Measured::default();
    bench.estimate(300e6);
    assert_eq!(bench.ack(1), 100.01);
}

/// A finding of congestion that rides on an ACK stops its growth (I4).
#[test]
fn an_ack_that_reduces_does_not_grow() {
    let mut bench = Bench::at(Params::paper(), 80.0);
    assert_eq!(bench.report(EventKind::PacketsAcked(acked(8, bench.now)), Signal::Mild, None), 70.0);
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Ack { packets: u32, app_limited: bool, old: bool },
    Congest,
    Timeout,
    Estimate(f64),
}

fn acts() -> impl Strategy<Value = std::vec::Vec<Act>> {
    let ack = (1u32..200, prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let act = one_of([
        (6, ack.prop_map(|(packets, app_limited, old)| Act::Ack { packets, app_limited, old }).boxed()),
        (1, Just(Act::Congest).boxed()),
        (1, prop::bool::weighted(0.2).prop_map(|hard| if hard { Act::Timeout } else { Act::Congest }).boxed()),
        (2, one_of([(1, Just(0.0).boxed()), (1, (0.0..1e10f64).boxed())]).prop_map(Act::Estimate).boxed()),
    ]);
    prop::collection::vec(act, 1..40)
}

fn any_params() -> impl Strategy<Value = Params> {
    let b = one_of([(1, Just(0.125).boxed()), (1, (0.0..0.99f64).boxed())]);
    (any::<bool>(), any::<bool>(), b).prop_map(|(paper, cap_to_target, b)| {
        let params = if paper { Params::paper() } else { Params::default() };
        // Of the document's rules, which know no bound by loss.
        Params { cap_to_target, b, bound: backstop::Settings::paper(), ..params }
    })
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// I1, I3, I4, I5, I8, step by step.
    #[test]
    fn every_step_keeps_the_rules(params in any_params(), cwnd in 2.0..5000.0f64, acts in acts()) {
        let mut bench = Bench::at(params, cwnd);
        let mut timed_out = false;
        for act in acts {
            let before = bench.state;
            let was = before.window.cwnd;
            match act {
                Act::Ack { packets, app_limited, old } => {
                    let recovery = before.window.recovery.start();
                    let sent_at = if old { recovery.unwrap_or(Time::ZERO) } else { bench.now + Span(1) };
                    let may_grow = !app_limited && before.window.recovery.accepts(sent_at);
                    let acked = acked(packets, sent_at);
                    let fresh_bytes = if before.window.recovery.accepts(sent_at) { acked.bytes } else { 0 };
                    let acked = PacketsAcked { app_limited, fresh_bytes, ..acked };
                    let now = bench.report(EventKind::PacketsAcked(acked), Signal::Clear, None);
                    prop_assert!(now >= was);
                    if !may_grow {
                        prop_assert_eq!(now, was, "I4");
                    }
                    if !before.window.in_slow_start() {
                        let spare = before.scheme.guide.available().unwrap_or(0.0) * 0.1 / 8000.0;
                        let windows = f64::from(packets) / was;
                        let rounding = 1e-9 * now;
                        prop_assert!(now - was <= (0.5 * spare).max(1.0) * windows + rounding, "I5");
                        let target = before.scheme.guide.reference + spare;
                        prop_assert!(!params.cap_to_target || now <= target.max(was + windows) + rounding, "I8");
                    }
                }
                Act::Congest => {
                    let now = bench.congest();
                    prop_assert_eq!(now, ((1.0 - params.b) * was).max(2.0), "I3");
                    prop_assert_eq!(bench.state.scheme.guide.available(), Some(0.0));
                }
                Act::Timeout => {
                    let lost = lost(bench.now);
                    let now = bench.report(EventKind::PersistentCongestion(lost), Signal::TimedOut, None);
                    prop_assert_eq!(now, params.base.limits.timeout_window);
                    let answered = !params.base.limits.timeout_reduces_again && !before.window.recovery.accepts(lost.newest_sent_at);
                    let ssthresh = if answered { before.window.ssthresh } else { (1.0 - params.b) * was };
                    prop_assert_eq!(bench.state.window.ssthresh, ssthresh.max(2.0));
                    timed_out = true;
                }
                Act::Estimate(available) => {
                    bench.estimate(available);
                    prop_assert_eq!(bench.state.window.cwnd, was, "an estimate alone moves no window");
                }
            }
            let floor = if timed_out { params.base.limits.timeout_window } else { params.base.limits.min_window };
            prop_assert!(bench.state.window.cwnd.is_finite() && bench.state.window.cwnd >= floor.min(cwnd), "I1");
        }
    }

    /// I6: without an estimate, or with one of zero, a window of ACKs adds a packet at most.
    #[test]
    fn a_window_of_acks_adds_one_packet(cwnd in 2.0..5000.0f64, zero: bool, chunk in 1u32..50) {
        let mut bench = Bench::at(Params::default(), cwnd);
        if zero {
            bench.estimate(0.0);
        }
        let mut left = cwnd as u32;
        while left > 0 {
            let packets = chunk.min(left);
            bench.ack(packets);
            left -= packets;
        }
        prop_assert!(bench.state.window.cwnd <= cwnd + 1.0 + 1e-9);
    }

    /// I7.
    #[test]
    fn more_bandwidth_never_means_less_growth(
        params in any_params(), cwnd in 2.0..5000.0f64, grown in 0u32..300, packets in 1u32..300,
        (low, high) in (0.0..1e9f64, 0.0..1e9f64),
    ) {
        let grow = |available: f64| {
            let mut bench = Bench::at(params, cwnd);
            bench.estimate(low.min(high));
            bench.ack(grown);
            let (was, reference) = (bench.state.window.cwnd, bench.state.scheme.guide.reference);
            bench.estimate(available);
            bench.state.scheme.guide.reference = reference;
            bench.ack(packets) - was
        };
        prop_assert!(grow(low.min(high)) <= grow(low.max(high)));
    }
}
