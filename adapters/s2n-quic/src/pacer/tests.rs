use windlass_controllers::fixed_window::{FixedWindow, Params};
use windlass_controllers::{ConfiguredController, Path, Phase, Static, View};

use super::*;

const MS: u64 = 1_000_000;

fn decided(rate: f64, window: u32) -> Decision {
    let controller = Static::<FixedWindow>(Params { rate, window, ..Params::default() });
    let state = controller.start(&Path::new(Time::ZERO, 1250, 1));
    controller.decide(&state, View::solo(&()))
}

fn pacer(decision: &Decision, smoothed: Span) -> Pacer {
    let mut pacer = Pacer { due: Time(100 * MS), ..Pacer::default() };
    pacer.apply(decision, smoothed, 1250);
    pacer
}

#[test]
fn a_packet_takes_its_size_over_the_rate() {
    let mut pacer = pacer(&decided(10.0, 100), Span::ZERO);
    pacer.sent(Time(100 * MS), 1250);
    pacer.sent(Time(100 * MS), 1250);
    assert_eq!(pacer.due(), Time(102 * MS));
}

/// A packet's time is right to a nanosecond from the slowest path to the fastest.
#[test]
fn the_price_of_a_byte_holds_from_64_kbit_to_a_tbit() {
    for (mbps, packets, took) in
        [(0.064, 6, 937_500_000), (1000.0, 1000, 10 * MS), (100_000.0, 100_000, 10 * MS), (1e6, 1_000_000, 10 * MS)]
    {
        let mut pacer = pacer(&decided(mbps, 100), Span::ZERO);
        (0..packets).for_each(|_| pacer.sent(Time(100 * MS), 1250));
        let off = pacer.due().since(Time(100 * MS)).0.abs_diff(took);
        assert!(off <= packets, "{mbps} Mbit/s: {off} ns in {packets} packets");
    }
}

#[test]
fn what_was_missed_is_made_up_for_by_two_milliseconds_at_most() {
    let mut late = pacer(&decided(10.0, 100), Span::ZERO);
    late.sent(Time(101 * MS), 1250);
    assert_eq!(late.due(), Time(101 * MS));
    let mut idle = pacer(&decided(10.0, 100), Span::ZERO);
    idle.sent(Time(1000 * MS), 1250);
    assert_eq!(idle.due(), Time(999 * MS));
}

#[test]
fn without_a_rate_a_window_goes_out_in_less_than_an_rtt() {
    let mut decision = decided(0.0, 100);
    let took = |decision: &Decision, smoothed| {
        let mut pacer = pacer(decision, smoothed);
        (0..100).for_each(|_| pacer.sent(Time(100 * MS), 1250));
        pacer.due.since(Time(100 * MS)).0.div_ceil(1000)
    };
    decision.phase = Phase::SlowStart;
    assert_eq!(took(&decision, Span(50 * MS)), 25_000);
    decision.phase = Phase::CongestionAvoidance;
    assert_eq!(took(&decision, Span(50 * MS)), 40_000);
    assert_eq!(took(&decision, Span(MS)), 0, "shorter than a timer");
    assert_eq!(took(&decision, Span::ZERO), 0, "nothing was measured");
    assert!(took(&decided(100.0, 100), Span(MS)) > 0, "a decided rate always counts");
}

#[test]
fn without_a_rate_ten_datagrams_leave_at_once_after_a_pause() {
    let mut decision = decided(0.0, 100);
    decision.phase = Phase::CongestionAvoidance;
    let mut pacer = pacer(&decision, Span(50 * MS));
    let now = Time(1000 * MS);
    (0..10).for_each(|_| pacer.sent(now, 1250));
    assert!(pacer.due() <= now);
    pacer.sent(now, 1250);
    assert_eq!(pacer.due(), now + Span::from_micros(400));
}

#[test]
fn no_rate_holds_a_packet_for_more_than_a_second() {
    let mut decision = decided(0.0, 1);
    decision.pacing_rate = Some(0);
    let mut pacer = pacer(&decision, Span::ZERO);
    pacer.sent(Time(100 * MS), u64::MAX);
    assert_eq!(pacer.due, Time(1100 * MS));
}
