//! `draft-ietf-rmcat-gcc-02`.

use proptest::prelude::*;

use super::delay::{Delay, Groups, Signal, Variation};
use super::state::{Control, Convergence};
use super::*;
use crate::decision::Phase;
use crate::event::{EcnCe, IdleRestart, OneWay, PacketsAcked, PacketsLost, WindowSet};
use crate::testkit::{self, PATH, acked, assert_close, cases, trace};
use crate::{Parameters, Span, Time};

const MS: u64 = 1_000_000;

fn at(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Gcc>(params, state, Time(ms * MS), kind)
}

fn decide(params: &Params, state: &State) -> Decision {
    Gcc::decide(params, state, View::solo(&()))
}

/// A frame at `ms` for `packets` packets, the newest of which left `rtt_ms` before.
fn ack(ms: u64, packets: u32, rtt_ms: u64) -> PacketsAcked {
    let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
    PacketsAcked { rtt, ..acked(packets, Time((ms - rtt_ms) * MS)) }
}

fn acks(ms: u64, packets: u32) -> EventKind {
    EventKind::PacketsAcked(ack(ms, packets, 100))
}

/// The same without a sample of the RTT.
fn acks_without_rtt(ms: u64, packets: u32) -> EventKind {
    EventKind::PacketsAcked(PacketsAcked { rtt: None, ..ack(ms, packets, 100) })
}

fn lost(sent_ms: u64, packets: u32) -> EventKind {
    EventKind::PacketsLost(PacketsLost { packets, ..testkit::lost(Time(sent_ms * MS)) })
}

/// A flow at 2 s, out of its fast start, that has received 4 Mbit/s for a second at an RTT of 100 ms, with this delay-based rate.
fn flow(params: &Params, mbps: f64) -> State {
    let mut state = Gcc::start(params, &PATH);
    for ms in (1000..=2000).step_by(100) {
        state = at(params, state, ms, acks(ms, 50));
    }
    State { a_hat: Some(1e6 * mbps), in_fast_start: false, ..state }
}

fn mbps(state: &State) -> f64 {
    1e-6 * state.a_hat.unwrap()
}

fn target(state: &State) -> f64 {
    1e-6 * state.target().unwrap()
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<State>() <= 608, "{}", size_of::<State>());
}

#[test]
fn the_first_rate() {
    let params = Params::default();
    let start = Gcc::start(&params, &PATH);
    assert_eq!((decide(&params, &start).cwnd, decide(&params, &start).pacing_rate), (10_000, None));
    let decision = decide(&params, &at(&params, start, 100, acks(100, 0)));
    assert_eq!((decision.pacing_rate, decision.target_rate, decision.cwnd), (Some(800_000), Some(800_000), 15_000));
    assert_eq!(decision.phase, Phase::SlowStart);
}

/// §5.1, §5.2: what leaves within 5 ms is a group, and what comes within 5 ms and catches up with it. d is the difference of the last packets' delays.
#[test]
fn groups_of_packets() {
    let mut groups = Groups::default();
    let mut on_packet = |sent_ms: u64, delay_ms: i64| groups.on_packet(5.0, Time(sent_ms * MS), delay_ms * MS as i64);
    assert_eq!((on_packet(100, 50), on_packet(102, 50), on_packet(105, 52)), (None, None, None));
    assert_eq!(on_packet(106, 53), None, "the first group has none before it");
    assert_eq!(on_packet(104, 90), None, "out of order");
    assert_eq!(on_packet(111, 60), None);
    // From 105 to 111 ms, and 8 ms later each.
    let first = Variation { departure: 6 * MS as i64, arrival: 14.0, d: 8.0 };
    assert_eq!(on_packet(117, 60), Some(first));
    // 6 ms after the group's, it arrives 4 ms later.
    assert_eq!(on_packet(123, 58), None);
    // Not if that is 5 ms.
    assert_eq!(on_packet(129, 57), Some(Variation { departure: 12 * MS as i64, arrival: 10.0, d: -2.0 }));
    // A burst of 100 ms is long enough.
    let mut sent_ms = 129;
    for delay_ms in (-30..57).rev() {
        sent_ms += 4;
        if on_packet(sent_ms, delay_ms).is_some() {
            assert_eq!((sent_ms, delay_ms), (129 + 4 * 34, 57 - 34), "34 · (4 − 1) ms");
            return;
        }
    }
    panic!("no second group");
}

/// §5.3 with q = 10⁻³, e(0) = 0.1 and chi = 0.01: groups 100 ms apart have alpha = 0.99^(30 · 100/1000).
#[test]
fn vectors_of_the_kalman_filter() {
    let params = Params::default();
    let seen = |ds: &[f64]| {
        let mut delay = Delay::new(&params);
        for d in ds {
            delay.filter(&params, &Variation { departure: 100 * MS as i64, arrival: 100.0 + d, d: *d });
        }
        (delay.m_hat, delay.e, delay.var_v_hat)
    };
    let alpha = 0.99 * 0.99 * 0.99;
    // z = 2, var_v = alpha + 4 (1 − alpha), k = 0.101/(var_v + 0.101).
    let var_v = alpha + 4.0 * (1.0 - alpha);
    let k = 0.101 / (var_v + 0.101);
    let (m_hat, e, seen_var_v) = seen(&[2.0]);
    assert_close(seen_var_v, 1.089103, 1e-9);
    assert_close(seen_var_v, var_v, 1e-12);
    assert_close(m_hat, 2.0 * k, 1e-12);
    assert_close(m_hat, 0.169733, 1e-5);
    assert_close(e, (1.0 - k) * 0.101, 1e-12);
    // Then z = 2 − 0.169733.
    let (m_hat, e, seen_var_v) = seen(&[2.0, 2.0]);
    assert_close(seen_var_v, 1.156250, 1e-5);
    assert_close(m_hat, 0.306568, 1e-5);
    assert_close(e, 0.086444, 1e-4);
    // An outlier is 3 √1, and the variance 1 at least.
    let (m_hat, _, seen_var_v) = seen(&[-100.0]);
    assert_close(seen_var_v, alpha + 9.0 * (1.0 - alpha), 1e-12);
    assert_close(m_hat, -3.0 * 0.0754515, 1e-5);
    assert_eq!(seen(&[0.0, 0.0]).2, 1.0);
}

/// A detector whose m(i) is `m` ms, with this threshold.
fn detector(m: f64, threshold: f64) -> Delay {
    let mut delay = Delay::new(&Params::default());
    (delay.m_hat, delay.count, delay.threshold) = (m / 60.0, 60, threshold);
    delay
}

/// §5.4: K_u and K_d times the milliseconds and the difference; nothing beyond 15 ms; 6 to 600 ms.
#[test]
fn vectors_of_the_threshold() {
    let params = Params::default();
    let after = |m: f64, threshold: f64, arrival: f64| {
        let mut delay = detector(m, threshold);
        delay.detect(&params, arrival, true);
        delay.threshold
    };
    assert_close(after(20.0, 12.5, 10.0), 12.5 + 10.0 * 0.01 * 7.5, 1e-9);
    assert_close(after(-20.0, 12.5, 10.0), 13.25, 1e-9);
    assert_close(after(2.0, 12.5, 10.0), 12.5 - 10.0 * 0.00018 * 10.5, 1e-9);
    assert_close(after(27.4, 12.5, 10.0), 12.5 + 0.1 * 14.9, 1e-9);
    assert_eq!(after(27.6, 12.5, 10.0), 12.5);
    assert_eq!((after(0.0, 6.0, 100.0), after(610.0, 599.0, 100.0)), (6.0, 600.0));
    assert_close(after(20.0, 12.5, 3000.0), 20.0, 1e-9);
}

/// §5.4: over-use needs 10 ms and a variation that does not fall; under-use is seen at once.
#[test]
fn over_use_takes_its_time() {
    let params = Params::default();
    let mut delay = detector(50.0, 12.5);
    assert_eq!(delay.detect(&params, 7.0, true), None);
    assert_eq!(delay.detect(&params, 9.0, true), None, "9 ms");
    assert_eq!(delay.detect(&params, 1.0, false), None, "it falls");
    assert_eq!(delay.detect(&params, 5.0, true), Some(Signal::OverUse));
    delay.m_hat = 12.0 / 60.0;
    assert_eq!(delay.detect(&params, 5.0, true), Some(Signal::Normal));
    delay.m_hat = 50.0 / 60.0;
    assert_eq!(delay.detect(&params, 20.0, true), None, "from the start again");
    delay.m_hat = -13.0 / 60.0;
    assert_eq!(delay.detect(&params, 5.0, true), Some(Signal::UnderUse));
    // Four groups count fourfold, and once by the draft's letter.
    (delay.count, delay.m_hat) = (4, 3.2);
    assert_close(delay.m(60.0), 12.8, 1e-9);
    assert_close(delay.m(Params::paper().gain), 3.2, 1e-9);
}

/// §5.5: the table of states and signals.
#[test]
fn the_states_follow_the_signals() {
    let params = Params::default();
    let after = |control, signalled| {
        let state = State { control, signalled, ..flow(&params, 4.0) };
        at(&params, state, 2100, acks_without_rtt(2100, 50)).control
    };
    let (over, normal, under) = (Some(Signal::OverUse), Some(Signal::Normal), Some(Signal::UnderUse));
    for (signal, hold, increase, decrease) in [
        (over, Control::Decrease, Control::Decrease, Control::Decrease),
        (normal, Control::Increase, Control::Increase, Control::Hold),
        (under, Control::Hold, Control::Hold, Control::Hold),
        (None, Control::Hold, Control::Increase, Control::Decrease),
    ] {
        let seen = (after(Control::Hold, signal), after(Control::Increase, signal), after(Control::Decrease, signal));
        assert_eq!(seen, (hold, increase, decrease), "{signal:?}");
    }
}

/// §5.5: L(j) over T, half a second.
#[test]
fn vectors_of_the_received_rate() {
    let params = Params::default();
    let state = flow(&params, 4.0);
    assert_close(state.r_hat.unwrap(), 4e6, 1e-9);
    // Nothing in one of five tenths.
    let state = at(&params, state, 2100, acks(2100, 0));
    assert_close(state.r_hat.unwrap(), 3.2e6, 1e-9);
    let resting = at(&params, state, 2200, EventKind::IdleRestart(IdleRestart::new(Span::ZERO, Span::ZERO)));
    let resting = at(&params, resting, 2200, acks(2200, 50));
    assert_eq!((resting.r_hat, mbps(&resting)), (None, mbps(&state)), "after an idle period it is not known");
    assert_close(at(&params, resting, 2300, acks(2300, 50)).r_hat.unwrap(), 4e6, 1e-9);
}

/// §5.5: 1.08 to the seconds since the latest update, one at most; 1.5 times what is received at most.
#[test]
fn vectors_of_the_multiplicative_increase() {
    let params = Params::default();
    let state = flow(&params, 3.0);
    assert_close(mbps(&at(&params, state, 2100, acks(2100, 50))), 3.0 * libm::pow(1.08, 0.1), 1e-9);
    assert_eq!(mbps(&at(&params, state, 2099, acks(2099, 50))), 3.0, "once in an interval");
    assert_close(mbps(&at(&params, state, 5000, acks(5000, 1500))), 3.0 * 1.08, 1e-9);
    let near = flow(&params, 5.99);
    assert_close(mbps(&at(&params, near, 2100, acks(2100, 50))), 6.0, 1e-9);
    // One that is above stays above only while the application has nothing to send.
    let above = flow(&params, 8.0);
    assert_close(mbps(&at(&params, above, 2100, acks(2100, 50))), 6.0, 1e-9);
    let limited = EventKind::PacketsAcked(ack(2100, 50, 100).with_app_limited(true));
    assert_close(mbps(&at(&params, above, 2100, limited)), 8.0, 1e-9);
}

/// §5.5: packets of 1000 bytes, an RTT of 100 ms and as much for a response, of which 100 ms are half: a quarter of a packet, 1000 bits at least.
#[test]
fn vectors_of_the_additive_increase() {
    let params = Params::default();
    let grown = |mbps: f64| {
        let convergence = Convergence { average: Some(4e6), variance: 0.0 };
        let state = State { convergence, ..flow(&params, mbps) };
        at(&params, state, 2100, acks(2100, 50)).a_hat.unwrap() - 1e6 * mbps
    };
    // 133,333 bits of a frame are 17 packets.
    assert_close(grown(4.0), 0.25 * 4e6 / 30.0 / 17.0, 1e-6);
    assert_close(grown(0.3), 0.25 * 5000.0, 1e-6);
    assert_close(grown(0.16), 0.25 * 0.16e6 / 30.0, 1e-6);
}

/// §5.5: an average with weights of 0.95 and 0.05; 4 Mbit/s with the least variance is close within 3 · √(400 · 4·10⁶) = 120 kbit/s.
#[test]
fn vectors_of_convergence() {
    let mut convergence = Convergence::default();
    assert!(!convergence.is_close(4e6), "nothing is known");
    convergence.on_over_use(4e6);
    for (r_hat, is_close) in [(3.881e6, true), (4.119e6, true), (3.879e6, false)] {
        assert_eq!(convergence.is_close(r_hat), is_close, "{r_hat}");
    }
    let mut above = convergence;
    assert!(!above.is_close(4.121e6) && above.average.is_none(), "the level has changed");
    convergence.on_over_use(4.1e6);
    assert_close(convergence.average.unwrap(), 4.005e6, 1e-9);
    assert_close(convergence.variance, 0.05 * 1e10, 1e-9);
    convergence.on_over_use(4e6);
    assert_close(convergence.variance, 0.95 * 0.05 * 1e10 + 0.05 * 25e6, 1e-9);
    convergence.on_over_use(1e6);
    assert_eq!(convergence.average, Some(1e6));
}

/// §5.5: 0.85 of what is received, at once; in the decrease state once in an interval, and with a new signal alone.
#[test]
fn vectors_of_the_decrease() {
    let params = Params::default();
    let over = State { signalled: Some(Signal::OverUse), ..flow(&params, 5.0) };
    let cut = at(&params, over, 2001, acks_without_rtt(2001, 0));
    assert_close(mbps(&cut), 0.85 * cut.r_hat.unwrap() * 1e-6, 1e-9);
    assert!((3.3..3.45).contains(&mbps(&cut)), "of 4 Mbit/s: {}", mbps(&cut));
    assert_eq!((cut.control, cut.convergence.average), (Control::Decrease, cut.r_hat));
    let again = State { signalled: Some(Signal::OverUse), a_hat: Some(9e6), ..cut };
    assert_eq!(mbps(&at(&params, again, 2050, acks_without_rtt(2050, 0))), 9.0);
    assert!(mbps(&at(&params, again, 2101, acks_without_rtt(2101, 0))) < 3.4);
    assert_eq!(mbps(&at(&params, cut, 2101, acks_without_rtt(2101, 50))), mbps(&cut), "without a signal");
    let low = State { signalled: Some(Signal::OverUse), ..flow(&params, 2.0) };
    assert_eq!(mbps(&at(&params, low, 2100, acks_without_rtt(2100, 50))), 2.0, "it does not rise");
}

/// A queue that grows by 5 ms in each 20 is over-use, and an RTT five times as long is none.
#[test]
fn delays_that_grow_are_over_use_and_long_ones_are_not() {
    let params = Params::default();
    let run = |rtt: fn(u64) -> u64| {
        let mut state = flow(&params, 4.0);
        for number in 1..=50 {
            let ms = 2000 + 20 * number;
            let frame = EventKind::PacketsAcked(PacketsAcked {
                newest_sent_at: Time((ms - 100) * MS),
                ..ack(ms, 10, rtt(number))
            });
            state = at(&params, state, ms, frame);
            if state.control == Control::Decrease {
                return Some(number);
            }
        }
        None
    };
    let seen = run(|number| 100 + 5 * number);
    assert!(seen.is_some_and(|number| number <= 10), "{seen:?}");
    assert_eq!((run(|_| 100), run(|_| 500)), (None, None));
}

/// One-way delays count where events carry them, and round trips no more.
#[test]
fn one_way_delays_take_over() {
    let params = Params::default();
    let mut state = flow(&params, 4.0);
    for number in 1..=50 {
        let ms = 2000 + 20 * number;
        let forward = OneWay::new(-7 * MS as i64, 0);
        let rtt = Some(testkit::rtt(Span::from_millis(100 + 5 * number)));
        let frame = PacketsAcked { rtt, ..ack(ms, 10, 100).with_one_way(Some(forward)) };
        state = at(&params, state, ms, EventKind::PacketsAcked(frame));
        assert_eq!(state.control, Control::Increase);
    }
}

/// §6: below 2 % the loss-based rate grows by 5 %, to 10 % the rate stays, beyond that half of the share is lost. Marks count.
#[test]
fn vectors_of_the_loss_based_rate() {
    let params = testkit::unbounded(Params::default());
    let base = State { report: (0.0, 0.0), report_start: Time(2000 * MS), as_hat: 3e6, ..flow(&params, 4.0) };
    let after = |arrived: u32, packets: u32| {
        let state = if packets > 0 { at(&params, base, 2050, lost(2001, packets)) } else { base };
        at(&params, state, 2100, acks(2100, arrived))
    };
    assert_close(1e-6 * after(99, 1).as_hat, 3.15, 1e-9);
    assert_close(1e-6 * after(1, 0).as_hat, 3.15, 1e-9);
    assert_close(1e-6 * after(95, 5).as_hat, 3.0, 1e-9);
    assert_close(target(&after(80, 20)), 3.0 * 0.9, 1e-9);
    assert_eq!(after(10, 5).as_hat, 3e6, "fifteen packets are too few");
    assert_eq!(mbps(&after(80, 20)), 4.0, "the delay-based rate does not grow meanwhile");
    let marked = at(&params, base, 2050, EventKind::EcnCe(EcnCe::new(20, Time(2001 * MS), 0)));
    assert_close(target(&at(&params, marked, 2100, acks(2100, 80))), 2.7, 1e-9);
    // What left before the answer is answered.
    let cut = after(80, 20);
    let late = at(&params, cut, 2150, lost(2099, 50));
    assert_close(target(&at(&params, late, 2250, acks(2250, 100))), 2.7 * 1.05, 1e-9);
    // Losses are of the rate in use, whatever the loss-based one was.
    let free = State { as_hat: 1e9, ..base };
    let state = at(&params, at(&params, free, 2050, lost(2001, 20)), 2100, acks(2100, 80));
    assert_close(state.as_hat, 0.9 * state.a_hat.unwrap(), 1e-9);
}

/// Until there is congestion, 1.5 times what is received.
#[test]
fn the_start_is_fast() {
    let params = Params::default();
    let state = State { in_fast_start: true, ..flow(&params, 4.0) };
    assert_close(mbps(&at(&params, state, 2100, acks(2100, 50))), 6.0, 1e-9);
    let lossy = at(&params, at(&params, state, 2050, lost(2001, 5)), 2100, acks(2100, 50));
    assert!(!lossy.in_fast_start);
    assert!(!Gcc::start(&Params::paper(), &PATH).in_fast_start);
}

/// `RFC 9002 §7.6.2`, and the bound that losses set.
#[test]
fn persistent_congestion_and_many_losses_leave_little() {
    let params = Params::default();
    let kind = EventKind::PersistentCongestion(testkit::lost(Time(1900 * MS)));
    let state = at(&params, flow(&params, 8.0), 2000, kind);
    assert_close(mbps(&state), 0.16, 1e-9);
    assert!(state.in_fast_start);
    let mut state = flow(&params, 8.0);
    for round in 0..20 {
        let ms = 2100 + 110 * round;
        state = at(&params, state, ms, lost(ms - 50, 20));
        state = at(&params, state, ms + 100, acks(ms + 100, 20));
    }
    assert!(state.backstop.is_bounding() && mbps(&state) < 2.0, "{}", mbps(&state));
}

proptest! {
    #![proptest_config(cases(256))]

    /// Window and rate stay within their bounds.
    #[test]
    fn the_rate_stays_within_its_bounds(script in trace::scripts(50), seed in any::<u64>()) {
        let params = Params::default();
        let mut wrong = None;
        trace::run::<Gcc>(&params, seed, &script, |_, event, after| {
            let decision = decide(&params, after);
            let fits = decision.cwnd as f64 >= (2.0 * after.mtu).floor() && decision.pacing_rate != Some(0);
            #[allow(clippy::eq_op)]
            let sound = after == after && after.target().is_none_or(|rate| rate <= 1e6 * params.rate_max);
            if !(fits && sound) && wrong.is_none() {
                wrong = Some((*event, decision));
            }
        });
        prop_assert!(wrong.is_none(), "{wrong:?}");
    }
}

/// RFC 9959: a window that is set is a round trip at a rate; of what is received only what follows counts, and fast
/// start ends where the path was full.
#[test]
fn a_flow_goes_on_with_a_window_that_is_set() {
    let params = Params::default();
    let slow = State { as_hat: 1e6, in_fast_start: true, ..flow(&params, 1.0) };
    let set = at(&params, slow, 2010, EventKind::WindowSet(WindowSet::new(100_000)));
    let decision = decide(&params, &set);
    assert_eq!((decision.cwnd, decision.pacing_rate, set.r_hat), (100_000, Some(8_000_040), None));
    let told = EventKind::WindowSet(WindowSet::new(100_000).with_ssthresh(Some(110_000)));
    let received = |state| (2050..=2350).step_by(50).fold(state, |state, ms| at(&params, state, ms, acks(ms, 50)));
    let full = received(at(&params, set, 2020, told));
    assert_close(mbps(&full), 8.8, 1e-6);
    assert!(!full.in_fast_start && received(set).in_fast_start);
    assert!(mbps(&received(set)) > 10.0, "{}", mbps(&received(set)));
    // After a retreat up to 0.85 of what the path carried (§3.5).
    let left = WindowSet::new(50_000).with_ssthresh(Some(60_000)).with_pipe_size(Some(120_000));
    let back = received(at(&params, set, 2020, EventKind::WindowSet(left)));
    // With 8 % in a second after that.
    assert!(!back.in_fast_start && (8.16..8.3).contains(&mbps(&back)), "{}", mbps(&back));
}
