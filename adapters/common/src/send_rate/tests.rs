use windlass_controllers::event::RttSample;

use super::*;

const PACKET: u64 = 1250;

/// A path that delivers packets one after the other, each `gap` after the one before at least; the RTT is 40 ms and what they wait.
struct Pipe {
    meter: SendRateMeter,
    gap: Span,
    free: Time,
}

impl Pipe {
    /// A bottleneck of so many Mbit/s.
    fn of(mbps: u64) -> Pipe {
        Pipe { meter: SendRateMeter::default(), gap: Pipe::gap(mbps), free: Time::ZERO }
    }

    fn gap(mbps: u64) -> Span {
        Span(8000 * PACKET / mbps)
    }

    /// A packet leaves at `at`, and is acknowledged.
    fn send(&mut self, at: Time, app_limited: bool) {
        self.free = self.free.max(at) + self.gap;
        let rtt = Span::from_millis(40) + self.free.since(at);
        let sample = RttSample::new(rtt, rtt, Span(0), Span::from_millis(40));
        let acked = PacketsAcked::new(PACKET, 1, at, 0, 0).with_rtt(Some(sample)).with_app_limited(app_limited);
        self.meter.on_event(&Event::new(at + rtt, EventKind::PacketsAcked(acked)));
    }

    /// Frames of `packets`, one every 33 ms, each leaving at `mbps`; the first at `from` ms.
    fn frames(&mut self, from: u64, count: u64, packets: u64, mbps: u64) {
        for number in 0..count * packets {
            let (frame, packet) = (number / packets, number % packets);
            let at = Time(Span::from_millis(from + 33 * frame).0 + packet * Pipe::gap(mbps).0);
            self.send(at, packet + 1 == packets);
        }
    }

    fn mbps(&self, decision: &Decision) -> f64 {
        self.meter.estimate(decision).expect("there are samples").bits_per_s as f64 / 1e6
    }
}

/// A window that limits nothing.
fn wide() -> Decision {
    Decision::new(1 << 30).with_phase(Phase::CongestionAvoidance)
}

fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.03, "{value} for {expected}");
}

#[test]
fn before_a_sample_there_is_none_and_then_the_window_is_all_that_is_known() {
    let mut pipe = Pipe::of(1000);
    assert_eq!(pipe.meter.estimate(&wide()), None);
    pipe.send(Time::ZERO, true);
    let estimate = pipe.meter.estimate(&Decision::new(40_000)).unwrap();
    near(estimate.bits_per_s as f64, 8e6);
    assert_eq!((estimate.confidence, estimate.limited_by), (Confidence::Low, Limit::Application));
}

#[test]
fn a_flow_that_always_has_data_is_measured_by_what_is_delivered() {
    let mut pipe = Pipe::of(10);
    for number in 0..200 {
        pipe.send(Time(number * Pipe::gap(20).0), false);
    }
    let estimate = pipe.meter.estimate(&wide()).unwrap();
    near(estimate.bits_per_s as f64, 10e6);
    assert_eq!((estimate.confidence, estimate.limited_by), (Confidence::High, Limit::Window));
    assert_eq!(pipe.meter.estimate(&wide().with_pacing_rate(Some(1))).unwrap().limited_by, Limit::Pacing);
    let target = |rate| wide().with_target_rate(Some(rate));
    assert_eq!(pipe.meter.estimate(&target(3_000_000)).unwrap().bits_per_s, 3_000_000);
    let bounded = Decision::new(1250).with_target_rate(Some(3_000_000)).with_pacing_rate(Some(2_000_000));
    assert_eq!(pipe.meter.estimate(&bounded).unwrap().bits_per_s, 2_000_000, "no more than what may leave");
    let starting = wide().with_phase(Phase::SlowStart);
    assert_eq!(pipe.meter.estimate(&starting).unwrap().limited_by, Limit::StartUp);
}

#[test]
fn bursts_of_a_limited_flow_show_the_bottleneck() {
    let mut pipe = Pipe::of(10);
    // 13 packets of 1250 bytes, 30 times a second: 4 Mbit/s, in bursts at 16.
    pipe.frames(0, 5, 13, 16);
    let estimate = pipe.meter.estimate(&wide()).unwrap();
    near(estimate.bits_per_s as f64, 10e6);
    assert_eq!((estimate.confidence, estimate.limited_by), (Confidence::High, Limit::Application));
    // Its rate halves: the next frames arrive further apart.
    pipe.gap = Pipe::gap(5);
    pipe.frames(200, 3, 13, 16);
    near(pipe.mbps(&wide()), 5e6 / 1e6);
    // It is faster than the bursts: they show that it is no less than theirs.
    pipe.gap = Pipe::gap(100);
    pipe.frames(400, 3, 13, 16);
    near(pipe.mbps(&wide()), 16.0);
}

#[test]
fn small_bursts_and_slow_ones_leave_what_is_known() {
    let mut pipe = Pipe::of(10);
    pipe.frames(0, 5, 13, 16);
    pipe.frames(200, 5, 3, 16);
    pipe.frames(400, 5, 13, 4);
    near(pipe.mbps(&wide()), 10.0);
}

/// What the decision lets leave bounds it: a window per RTT, a quarter more by the pacer.
#[test]
fn an_estimate_is_no_more_than_may_leave() {
    let mut pipe = Pipe::of(10);
    pipe.frames(0, 5, 13, 16);
    let rtt = pipe.meter.smoothed.secs();
    let window = |mbps: f64| (mbps * 1e6 / 8.0 * rtt) as u64;
    let narrow = Decision::new(window(4.0)).with_phase(Phase::CongestionAvoidance);
    near(pipe.mbps(&narrow), 5.0);
    near(pipe.mbps(&narrow.with_pacing_rate(Some(8_000_000))), 8.0);
}

#[test]
fn what_was_measured_long_ago_is_less_sure() {
    let mut pipe = Pipe::of(10);
    pipe.frames(0, 5, 13, 16);
    let confidence = |pipe: &Pipe| pipe.meter.estimate(&wide()).unwrap().confidence;
    assert_eq!(confidence(&pipe), Confidence::High);
    pipe.send(Time(Span::from_millis(1000).0), true);
    assert_eq!(confidence(&pipe), Confidence::Medium);
    pipe.send(Time(Span::from_millis(20_000).0), true);
    assert_eq!(confidence(&pipe), Confidence::Low);
    near(pipe.mbps(&wide()), 10.0);
}

#[test]
fn nonsense_gives_a_number() {
    let mut meter = SendRateMeter::default();
    let rtt = RttSample::new(Span(u64::MAX), Span(u64::MAX), Span(u64::MAX), Span(u64::MAX));
    for now in [5, 0, u64::MAX, 1, u64::MAX] {
        let acked = PacketsAcked::new(u64::MAX, u32::MAX, Time(u64::MAX), u64::MAX, u64::MAX).with_rtt(Some(rtt));
        meter.on_event(&Event::new(Time(now), EventKind::PacketsAcked(acked)));
        assert!(meter.estimate(&Decision::new(u64::MAX)).is_some());
    }
}
