//! Arun and Balakrishnan, NSDI 2018.

use proptest::prelude::*;

use super::*;
use crate::event::PacketsAcked;
use crate::testkit::pipe::Pipe;
use crate::testkit::{self, MTU, PATH, acked, cases, lost, state_variable, trace};

const MS: u64 = 1_000_000;

fn step(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Copa>(params, state, Time(ms * MS), kind)
}

/// The ACK of a packet sent one RTT of `rtt_ms` before.
fn ack(params: &Params, state: State, ms: u64, rtt_ms: u64) -> State {
    let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
    step(params, state, ms, EventKind::PacketsAcked(PacketsAcked { rtt, ..acked(1, Time((ms - rtt_ms) * MS)) }))
}

/// A flow of `cwnd` packets past slow start that knows 100 ms.
fn steering(params: &Params, cwnd: f64) -> State {
    let mut state = ack(params, Copa::start(params, &PATH), 1000, 100);
    state.window.cwnd = cwnd;
    state.velocity.cwnd = cwnd;
    state.slow_start = false;
    state.velocity.since = Some(Time(u64::MAX));
    state
}

/// §2.1: `v/(δ·cwnd)` per packet.
#[test]
fn a_packet_moves_the_window_by_v_over_delta_cwnd() {
    let params = Params::default();
    let start = steering(&params, 100.0);
    let up = ack(&params, start, 1010, 100);
    testkit::assert_close(up.window.cwnd, 100.0 + 2.0 / 100.0, 1e-12);
    // λ = 100/0.11 against λt = 1/(0.5·0.01): far too fast.
    let mut start = start;
    start.delays.standing.reset();
    let down = ack(&params, start, 1010, 110);
    testkit::assert_close(down.window.cwnd, 100.0 - 2.0 / 100.0, 1e-12);
    let mut fast = steering(&params, 100.0);
    fast.velocity.value = 8.0;
    testkit::assert_close(ack(&params, fast, 1010, 100).window.cwnd, 100.0 + 16.0 / 100.0, 1e-12);
    fast.velocity.value = 65_536.0;
    testkit::assert_close(ack(&Params { most_step: 1.0, ..params }, fast, 1010, 100).window.cwnd, 101.0, 1e-12);
    testkit::assert_close(ack(&params, fast, 1010, 100).window.cwnd, 100.25, 1e-12);
}

/// A window that fills the path by itself, whose queue never empties, gets the link's rate however large
/// it is: no flow is there to compete with.
#[test]
fn a_flow_whose_rate_stays_while_its_window_moves_does_not_compete() {
    let compete = |params: &Params, rtt_of: fn(u64) -> u64| {
        let mut state = steering(params, 4.0);
        let mut now = 1000;
        for round in 0..60 {
            let packets = 2 + 2 * (round % 2);
            state.window.cwnd = packets as f64;
            now += rtt_of(packets);
            let frame = acked(packets as u32, Time((now - rtt_of(packets)) * MS));
            let sample = RttSample::new(Span(rtt_of(packets) * MS), Span(200 * MS), Span(0), Span(50 * MS));
            state.delays.min.update(Time(now * MS), None, 50 * MS as i64);
            state.velocity.since = Some(Time((now - rtt_of(packets)) * MS));
            state = step(params, state, now, EventKind::PacketsAcked(frame.with_rtt(Some(sample))));
        }
        (state.company.alone, state.competing)
    };
    let params = Params { min_rtt_window: 1000.0, ..Params::default() };
    assert_eq!(
        compete(&params, |packets| 50 * packets),
        (true, false),
        "20 packets a second, however many are in flight"
    );
    assert_eq!(compete(&params, |_| 150), (false, true), "the rate follows the window");
    assert_eq!(compete(&Params { alone: false, ..params }, |packets| 50 * packets), (true, true));
}

/// The smallest RTT falls to a twentieth: the rate stays, so a twentieth of the window does.
#[test]
fn on_a_path_that_became_shorter_the_rate_stays() {
    let params = Params::default();
    let mut state = steering(&params, 100.0);
    state = ack(&params, state, 1010, 5);
    testkit::assert_close(state.window.cwnd, 5.0 + 0.4, 1e-9);
    assert_eq!(state.velocity.value, 1.0);
    let mut state = steering(&params, 100.0);
    state = ack(&params, state, 1010, 60);
    assert!(state.window.cwnd > 100.0, "less than half of it may be a queue that empties");
}

/// §2.1: the velocity doubles from the third round of a direction on, and starts over
/// when the target is crossed.
#[test]
fn velocity_doubles_while_the_direction_holds() {
    let params = Params::default();
    let mut state = steering(&params, 100.0);
    let mut seen = std::vec::Vec::new();
    for round in 0..6u64 {
        state.velocity.since = Some(Time((1000 + 100 * round) * MS));
        state = ack(&params, state, 1110 + 100 * round, 100);
        seen.push(state.velocity.value);
        state = ack(&params, state, 1111 + 100 * round, 100);
    }
    assert_eq!(seen, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
    state.delays.standing.reset();
    state = ack(&params, state, 1800, 150);
    assert_eq!((state.velocity.value, state.velocity.direction), (1.0, Direction::Down));
}

/// §2.1: slow start doubles until the rate exceeds its target.
#[test]
fn slow_start_ends_when_the_rate_exceeds_the_target() {
    let params = Params::default();
    let mut state = Copa::start(&params, &PATH);
    for i in 0..10 {
        state = ack(&params, state, 200 + i, 100);
    }
    assert_eq!((state.window.cwnd, state.slow_start), (20.0, true));
    // 20 packets in 104 ms against 1/(0.5·4 ms): below. In 125 ms against 80/s: above.
    state.delays.standing.reset();
    assert!(ack(&params, state, 300, 104).slow_start);
    state.delays.standing.reset();
    let over = ack(&params, state, 300, 125);
    assert!(!over.slow_start && over.window.cwnd < 20.0);
}

#[test]
fn paces_at_twice_the_rate() {
    let params = Params::default();
    let state = steering(&params, 100.0);
    let decision = Copa::decide(&params, &state, View::solo(&()));
    assert_eq!(decision.pacing_rate, Some(2 * 100 * 8 * u64::from(MTU) * 10));
}

/// A flow whose queue has not drained for a second at an RTT of 150 ms.
fn beset(params: &Params) -> State {
    let mut state = steering(params, 100.0);
    for i in 0..200 {
        state = ack(params, state, 1200 + 5 * i, 150 + 30 * (i % 2));
    }
    state
}

/// §2.2.
#[test]
fn a_queue_that_never_drains_makes_it_compete() {
    let params = Params::default();
    let state = beset(&params);
    assert_eq!(state_variable::<Copa>(&params, &state, "competitive"), 1.0);
    let mut raised = state;
    raised.velocity.since = Some(Time(0));
    raised = ack(&params, raised, 2300, 150);
    assert_eq!(raised.inverse_delta, state.inverse_delta + 1.0, "one per round");
    raised.inverse_delta = 10.0;
    let cut = step(&params, raised, 2310, EventKind::PacketsLost(lost(Time(2305 * MS))));
    assert_eq!(cut.inverse_delta, 5.0);
    let again = step(&params, cut, 2320, EventKind::PacketsLost(lost(Time(2306 * MS))));
    assert_eq!(again.inverse_delta, 5.0, "once per flight");
    let drained = ack(&params, cut, 2400, 100);
    assert_eq!((drained.competing, drained.inverse_delta), (false, 2.0));
    let friendly = Params { competitive: false, ..params };
    assert!(!beset(&friendly).competing);
}

#[test]
fn loss_moves_nothing_in_the_default_mode() {
    let params = testkit::unbounded(Params::default());
    let state = steering(&params, 100.0);
    assert_eq!(step(&params, state, 1010, EventKind::PacketsLost(lost(Time(1005 * MS)))), state);
}

#[test]
fn persistent_congestion_starts_over() {
    let params = Params::default();
    let state = beset(&params);
    let after = step(&params, state, 3000, EventKind::PersistentCongestion(lost(Time(2900 * MS))));
    assert_eq!((after.window.cwnd, after.slow_start, after.inverse_delta), (2.0, true, 2.0));
}

/// §2.1: in equilibrium 1/δ packets wait in the queue, give or take the search.
#[test]
fn about_one_over_delta_packets_wait() {
    for delta in [0.5, 0.25, 0.1] {
        let params = Params { delta, competitive: false, ..Params::default() };
        let pipe = Pipe { service: MS, base: 50 * MS, every: 1 };
        let (mut sum, mut count, mut moments) = (0.0, 0, 0);
        pipe.run::<Copa>(&params, Copa::start(&params, &PATH), 20_000, |moment| {
            moments += 1;
            if moments > 10_000 {
                sum += moment.in_flight - pipe.capacity();
                count += 1;
            }
        });
        let queue = sum / f64::from(count);
        assert!(queue > 0.5 / delta && queue < 2.0 / delta, "{queue} packets wait with δ = {delta}");
    }
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_window_stays_within_its_limits(script in trace::scripts(50)) {
        let params = Params::default();
        let mut wrong = None;
        trace::run::<Copa>(&params, 1, &script, |_, event, after| {
            let fits = (2.0..=params.max_window).contains(&after.window.cwnd);
            let bold = after.inverse_delta >= 1.0 / params.delta && after.velocity.value >= 1.0;
            if !(fits && bold) && wrong.is_none() {
                wrong = Some(*event);
            }
        });
        prop_assert!(wrong.is_none(), "{wrong:?}");
    }
}
