//! `RFC 8698`.

use proptest::prelude::*;

use super::*;
use crate::decision::Phase;
use crate::event::{EcnCe, PacketsAcked, PacketsLost, WindowSet};
use crate::testkit::{self, PATH, acked, assert_close, cases, trace};
use crate::{Parameters, Span, Time};

const MS: u64 = 1_000_000;

fn at(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Nada>(params, state, Time(ms * MS), kind)
}

fn decide(params: &Params, state: &State) -> Decision {
    Nada::decide(params, state, View::solo(&()))
}

/// A frame at `ms` for `packets` packets that left 100 ms before, with a round trip of `rtt_ms`.
fn ack(ms: u64, packets: u32, rtt_ms: u64) -> EventKind {
    let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
    EventKind::PacketsAcked(PacketsAcked { rtt, ..acked(packets, Time(ms.saturating_sub(100) * MS)) })
}

/// The same without a sample of the RTT.
fn ack_without_rtt(ms: u64, packets: u32) -> EventKind {
    EventKind::PacketsAcked(acked(packets, Time(ms.saturating_sub(100) * MS)))
}

fn lost(sent_ms: u64) -> EventKind {
    EventKind::PacketsLost(PacketsLost { bytes: 1000, ..testkit::lost(Time(sent_ms * MS)) })
}

/// A flow at 1 s with an RTT and a base delay of 100 ms, and this rate.
fn flow(params: &Params, mbps: f64) -> State {
    let state = at(params, Nada::start(params, &PATH), 1000, ack(1000, 0, 100));
    State { r_ref: 1e6 * mbps, ..state }
}

fn mbps(state: &State) -> f64 {
    1e-6 * state.r_ref
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<State>() <= 720, "{}", size_of::<State>());
}

/// Figure 3: RMIN is the first rate, or RFC 9002's window over the RTT.
#[test]
fn the_first_rate() {
    let (params, paper) = (Params::default(), Params::paper());
    let start = Nada::start(&params, &PATH);
    assert_eq!((decide(&params, &start).cwnd, decide(&params, &start).pacing_rate), (10_000, None));
    let state = at(&params, start, 100, ack(100, 0, 100));
    let decision = decide(&params, &state);
    assert_eq!((decision.pacing_rate, decision.target_rate, decision.cwnd), (Some(800_000), Some(800_000), 15_000));
    let state = at(&paper, Nada::start(&paper, &PATH), 200, ack(200, 0, 200));
    assert_eq!(decide(&paper, &state).target_rate, Some(150_000));
}

/// §4.2 equation 1: d_tilde is d_queue up to 50 ms, and 50 · exp(−½ (d_queue − 50)/50) from there while losses are recent.
#[test]
fn vectors_of_the_warped_delay() {
    let params = Params::default();
    let x_curr = |d_queue: f64, events: u8, passed: u32| {
        let mut signal = flow(&params, 1.0).signal;
        (signal.d_queue, signal.events) = (d_queue, events);
        signal.intervals = [passed, 100, 100, 100, 100, 100, 100, 100, 100];
        signal.x_curr(&params)
    };
    assert_eq!((x_curr(30.0, 8, 0), x_curr(100.0, 0, 0)), (30.0, 100.0), "short, or without a loss");
    let warped = 50.0 * libm::exp(-0.5);
    assert_close(x_curr(100.0, 8, 0), warped, 1e-9);
    assert_close(x_curr(100.0, 1, 699), warped, 1e-9);
    assert_close(x_curr(200.0, 8, 100), 50.0 * libm::exp(-1.5), 1e-9);
    // After seven average intervals the one gives way to the other within one more.
    assert_close(x_curr(100.0, 8, 750), (warped + 100.0) / 2.0, 1e-9);
    assert_eq!(x_curr(100.0, 8, 800), 100.0);
}

/// RFC 5348 §5.4: 1, 1, 1, 1, 0.8, 0.6, 0.4 and 0.2.
#[test]
fn vectors_of_the_average_loss_interval() {
    let mut signal = flow(&Params::default(), 1.0).signal;
    signal.intervals = [2000, 100, 200, 300, 400, 0, 0, 0, 500];
    signal.events = 8;
    assert_close(signal.average_interval(), (1000.0 + 0.2 * 500.0) / 6.0, 1e-9);
    signal.on_loss_event();
    assert_eq!(signal.intervals[..3], [0, 2000, 100]);
    assert_close(signal.average_interval(), (2600.0 + 0.8 * 400.0) / 6.0, 1e-9);
    signal.events = 2;
    assert_close(signal.average_interval(), 2100.0 / 2.0, 1e-9);
}

/// §4.2 equation 2: losses of 2 % are (2)² · 10 ms, marks of 3 % (3)² · 2 ms.
#[test]
fn losses_and_marks_count_as_delay() {
    let params = Params::default();
    let mut signal = flow(&params, 1.0).signal;
    (signal.d_queue, signal.p_loss, signal.p_mark) = (5.0, 0.02, 0.03);
    assert_close(signal.x_curr(&params), 5.0 + 40.0 + 18.0, 1e-9);
    signal.p_loss = 1.0;
    assert_eq!(signal.x_curr(&params), 500.0);
    // §5.1.2: a tenth of the latest ratio. One of ten is lost, two of ten marked.
    let state = at(&params, flow(&params, 1.0), 1050, lost(1001));
    let state = at(&params, state, 1100, EventKind::EcnCe(EcnCe::new(2, Time(1000 * MS), 0)));
    let state = at(&params, state, 1100, ack_without_rtt(1100, 9));
    assert_close(state.signal.p_loss, 0.01, 1e-6);
    assert_close(state.signal.p_mark, 0.02, 1e-6);
    assert_close(state.x_curr, 10.0 + 8.0, 1e-5);
}

/// §4.3 equations 3 and 4: γ is 50/(100 + 100 + 120), of what was received in half a second.
#[test]
fn vectors_of_accelerated_ramp_up() {
    let params = Params::default();
    let mut state = flow(&params, 1.0);
    // 100 packets in 0.1 s are 8 Mbit/s.
    state = at(&params, state, 1100, ack_without_rtt(1100, 100));
    assert_close(mbps(&state), 8.0 * (1.0 + 50.0 / 320.0), 1e-6);
    // No packet in the next: 4 Mbit/s on average, and the rate stays.
    state = at(&params, state, 1200, ack_without_rtt(1200, 0));
    assert_close(1e-6 * state.r_recv, 4.0, 1e-6);
    assert_close(mbps(&state), 8.0 * (1.0 + 50.0 / 320.0), 1e-6);
    assert_eq!(decide(&params, &state).phase, Phase::SlowStart);
    let early = at(&params, state, 1299, ack_without_rtt(1299, 1000));
    assert_eq!(early.r_ref, state.r_ref, "once in DELTA");
    // A tenth of γ_max where the RTT is short: 50/220 is less than a half, and QBOUND of 200 ms more.
    let wide = Params { qbound: 200.0, ..params };
    let state = at(&wide, flow(&wide, 1.0), 1100, ack_without_rtt(1100, 100));
    assert_close(mbps(&state), 8.0 * 1.5, 1e-6);
    let paper = Params::paper();
    let state = at(&paper, flow(&paper, 1.0), 1100, ack_without_rtt(1100, 100));
    assert_eq!(mbps(&state), 1.5, "RMAX");
}

/// §4.3 equations 5 to 7: at 1.5 Mbit/s and 20 ms, 10 ms more than before and than at rest, ½ · 100/500 · 10/500 and ½ · 2 · 10/500 less.
#[test]
fn vectors_of_a_gradual_update() {
    let params = Params::default();
    let updated = |rate: f64, before: f64, d_queue: f64| {
        let mut state = flow(&params, rate);
        (state.x_curr, state.signal.d_queue, state.congested_until) = (before, d_queue, Time(1500 * MS));
        mbps(&at(&params, state, 1100, ack_without_rtt(1100, 10)))
    };
    assert_close(updated(1.5, 10.0, 20.0), 1.5 * (1.0 - 0.002 - 0.02), 1e-9);
    // At rest: 10 ms at the reference, 20 ms at half of it, 5 ms at twice.
    for (rate, x) in [(1.5, 10.0), (0.75, 20.0), (3.0, 5.0)] {
        assert_close(updated(rate, x, x), rate, 1e-9);
    }
    // Without a queue it grows by ½ · 100/500 · 10/500 of 1.5 Mbit/s: 30 kbit/s in a second, whatever the rate.
    assert_close(updated(10.0, 0.0, 0.0) - 10.0, 0.003, 1e-9);
}

/// §4.3: a queue of QEPS or a loss of the latest 500 ms ends ramp-up.
#[test]
fn a_queue_or_a_loss_ends_ramp_up() {
    let params = Params::default();
    let ramps_up = |state: State| at(&params, state, 1300, ack_without_rtt(1300, 10)).is_ramping_up;
    let state = flow(&params, 1.0);
    assert!(ramps_up(at(&params, state, 1050, ack(1050, 1, 109))));
    assert!(!ramps_up(at(&params, state, 1050, ack(1050, 1, 110))));
    let lossy = at(&params, state, 1050, lost(1000));
    assert!(!ramps_up(lossy));
    assert!(at(&params, lossy, 1550, ack_without_rtt(1550, 10)).is_ramping_up, "half a second later");
}

/// §5.1.1: the least of 15 samples.
#[test]
fn the_queueing_delay_is_filtered() {
    let params = Params::default();
    let mut state = flow(&params, 1.0);
    for number in 0..14 {
        state = at(&params, state, 1001 + number, ack(1001 + number, 1, 130));
        assert_eq!(state.signal.d_queue, 0.0);
    }
    state = at(&params, state, 1020, ack(1020, 1, 130));
    assert_close(state.signal.d_queue, 30.0, 1e-9);
    assert_eq!(at(&params, state, 1021, ack(1021, 1, 105)).signal.d_queue, 5.0);
}

/// RFC 9002 §7.8: what the application does not use grows to twice that.
#[test]
fn an_unused_rate_does_not_grow() {
    let params = Params::default();
    let grown = |packets: u32| {
        let mut state = flow(&params, 1.0);
        state.congested_until = Time(1500 * MS);
        let EventKind::PacketsAcked(frame) = ack_without_rtt(1100, packets) else { unreachable!() };
        mbps(&at(&params, state, 1100, EventKind::PacketsAcked(frame.with_app_limited(true)))) - 1.0
    };
    assert_eq!(grown(6), 0.0, "0.48 Mbit/s");
    assert!(grown(7) > 0.0, "0.56 Mbit/s");
}

/// `RFC 9002 §7.6.2`, and the bound that losses set.
#[test]
fn persistent_congestion_and_many_losses_leave_little() {
    let params = Params::default();
    let kind = EventKind::PersistentCongestion(testkit::lost(Time(900 * MS)));
    let state = at(&params, flow(&params, 8.0), 1000, kind);
    assert_close(mbps(&state), 0.16, 1e-9);
    let mut state = flow(&params, 8.0);
    for round in 0..20 {
        let ms = 1100 + 110 * round;
        for _ in 0..20 {
            state = at(&params, state, ms, lost(ms - 50));
        }
        state = at(&params, state, ms + 100, ack_without_rtt(ms + 100, 20));
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
        trace::run::<Nada>(&params, seed, &script, |_, event, after| {
            let decision = decide(&params, after);
            let fits = decision.cwnd as f64 >= (2.0 * after.mtu).floor() && decision.pacing_rate != Some(0);
            #[allow(clippy::eq_op)]
            let sound = after == after && after.r_ref <= 1e6 * params.rmax;
            if !(fits && sound) && wrong.is_none() {
                wrong = Some((*event, decision));
            }
        });
        prop_assert!(wrong.is_none(), "{wrong:?}");
    }
}

/// RFC 9959: a window that is set is a round trip at a rate; of what is received only what follows counts, and ramp-up
/// rests where the path was full.
#[test]
fn a_flow_goes_on_with_a_window_that_is_set() {
    let params = Params::default();
    let received =
        (1050..=1200).step_by(50).fold(flow(&params, 1.0), |state, ms| at(&params, state, ms, ack(ms, 500, 100)));
    let set = at(&params, received, 1210, EventKind::WindowSet(WindowSet::new(100_000)));
    let decision = decide(&params, &set);
    assert_eq!((decision.cwnd, decision.pacing_rate), (100_000, Some(8_000_040)));
    let unread = at(&params, set, 1310, ack(1310, 50, 100));
    assert_close(mbps(&unread), 8.0, 1e-4);
    let read = at(&params, set, 1310, ack(1310, 100, 100));
    assert!(mbps(&read) > 9.0 && mbps(&read) < 12.0, "{}", mbps(&read));
    let told = at(&params, set, 1220, EventKind::WindowSet(WindowSet::new(100_000).with_ssthresh(Some(110_000))));
    let full = at(&params, told, 1320, ack(1320, 100, 100));
    assert_close(mbps(&full), 8.8, 1e-6);
    assert!(full.congested_until > Time(1320 * MS) && full.known_bdp.bytes().is_infinite());
}
