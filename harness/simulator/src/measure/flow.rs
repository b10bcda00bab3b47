//! Measuring a flow while it runs, in constant memory, and from what was counted of it to its result.

use super::{FrameMeter, Histogram};
use crate::application::Player;
use crate::outcome::{FlowOutcome, FlowSeries, FrameOutcome, VideoOutcome};
use crate::scenario::FlowSpec;

use windlass_adapter::{SendRate, SendRateMeter};
use windlass_controllers::{Decision, Event, EventKind, Time};

/// Measures of one flow.
// In this order, so that what a packet needs lies together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Meter {
    /// Packets the sender sent.
    pub packets_sent: u64,
    /// Integral of the window over time, byte·ns.
    cwnd_time: f64,
    cwnd: u64,
    cwnd_since: u64,
    /// RTT samples of the sender, ns.
    pub rtt: Histogram,
    /// Packets the sender declared lost.
    pub packets_lost: u64,
    /// Congestion events that reduced the window.
    pub congestion_events: u64,
    packet_bytes: f64,
    /// Apart, since most packets do not need it.
    points: Box<Points>,
    frames: Option<Box<FrameMeter>>,
    /// The client of a video in chunks.
    pub player: Option<Box<Player>>,
}

/// The series up to now, and what it takes to go on with it.
#[derive(Clone, Debug, Default)]
struct Points {
    series: FlowSeries,
    sampled_at: u64,
    sampled_rtt: (u64, u128),
    sampled_bytes: u64,
    send_rate_meter: SendRateMeter,
    /// What the adapter estimates.
    send_rate: Option<SendRate>,
}

impl Meter {
    /// The meter of a flow that has not started, of packets of `packet_bytes`.
    #[must_use]
    pub fn new(packet_bytes: u32) -> Meter {
        Meter {
            rtt: Histogram::new(),
            packets_sent: 0,
            packets_lost: 0,
            congestion_events: 0,
            packet_bytes: f64::from(packet_bytes),
            cwnd_time: 0.0,
            cwnd: 0,
            cwnd_since: 0,
            points: Box::default(),
            frames: None,
            player: None,
        }
    }

    /// The meter of the flow `spec`, with its frames if it has some.
    #[must_use]
    pub fn of(spec: &FlowSpec) -> Meter {
        Meter {
            frames: FrameMeter::new(spec.writes).map(Box::new),
            player: spec.video.clone().map(|video| Box::new(Player::new(video))),
            ..Meter::new(spec.packet_bytes)
        }
    }

    /// The application has written at `now`, and so many bytes in all.
    pub fn wrote(&mut self, now: Time, bytes: u64) {
        if let Some(frames) = &mut self.frames {
            frames.wrote(now, bytes);
        }
    }

    /// The receiver has the first so many bytes at `now`.
    pub fn received(&mut self, now: Time, in_order: u64) {
        if let Some(frames) = &mut self.frames {
            frames.received(now, in_order);
        }
        if let Some(player) = &mut self.player {
            player.received(now, in_order);
        }
    }

    /// The receiver has the first so many bytes of a group of objects at `now`.
    pub fn received_of_group(&mut self, now: Time, group: u64, in_order: u64) {
        if let Some(frames) = &mut self.frames {
            frames.received_of_group(now, group, in_order);
        }
    }

    /// The sender has reset the stream of a group of objects.
    pub fn dropped(&mut self, group: u64) {
        if let Some(frames) = &mut self.frames {
            frames.dropped(group);
        }
    }

    /// Outcome of its frames until `end`; `None` if it has none.
    #[must_use]
    pub fn frames(&self, end: Time) -> Option<FrameOutcome> {
        self.frames.as_ref().map(|frames| frames.outcome(end))
    }

    /// What its client of a video saw until `end`; `None` if it has none.
    #[must_use]
    pub fn video(&self, end: Time) -> Option<VideoOutcome> {
        self.player.as_ref().map(|player| player.outcome(end))
    }

    /// The flow starts at `now`.
    pub fn start(&mut self, now: u64, cwnd: u64) {
        (self.cwnd, self.cwnd_since, self.points.sampled_at) = (cwnd, now, now);
    }

    /// The window is `cwnd` bytes from `now` on.
    #[inline]
    pub fn window(&mut self, now: u64, cwnd: u64) {
        if cwnd != self.cwnd {
            self.pass(now);
            self.cwnd = cwnd;
        }
    }

    /// The window as of now, packets.
    #[must_use]
    pub fn cwnd_packets(&self) -> f64 {
        self.cwnd as f64 / self.packet_bytes
    }

    /// A controller got `event` and decided `decision`, after `before`.
    pub fn on_event(&mut self, event: &Event, decision: &Decision, before: &Decision) {
        if let Some(rtt) = event.rtt() {
            self.rtt.add(rtt.latest.0);
        }
        let began = decision.recovery_start.is_some() && decision.recovery_start != before.recovery_start;
        let timeout = matches!(event.kind, EventKind::PersistentCongestion(_));
        self.congestion_events += u64::from(began || timeout);
        self.window(event.now.0, decision.cwnd);
        self.points.send_rate_meter.on_event(event);
        self.points.send_rate = self.points.send_rate_meter.estimate(decision);
    }

    /// Time-weighted mean of the window over `active` ns until `now`, packets.
    pub fn mean_window(&mut self, now: u64, active: u64) -> f64 {
        self.pass(now);
        if active == 0 { 0.0 } else { self.cwnd_time / active as f64 / self.packet_bytes }
    }

    /// The window held until `now`. Where threads tell the time, one may be a moment behind
    /// another.
    #[inline(always)]
    fn pass(&mut self, now: u64) {
        self.cwnd_time += self.cwnd as f64 * now.saturating_sub(self.cwnd_since) as f64;
        self.cwnd_since = self.cwnd_since.max(now);
    }

    /// The adapter estimates `send_rate` from now on.
    pub fn set_send_rate(&mut self, send_rate: Option<SendRate>) {
        self.points.send_rate = send_rate;
    }

    /// What the adapter estimates.
    #[must_use]
    pub fn send_rate(&self) -> Option<SendRate> {
        self.points.send_rate
    }

    /// A point of the series at `now`, with `bytes` delivered so far.
    pub fn sample(&mut self, now: u64, bytes: u64) {
        let points = &mut *self.points;
        if now <= points.sampled_at {
            return;
        }
        let (count, sum) = self.rtt.totals();
        let (old_count, old_sum) = points.sampled_rtt;
        let rtt = (count > old_count).then(|| (sum - old_sum) as f64 / (count - old_count) as f64 / 1e6);
        let mbps = (bytes - points.sampled_bytes) as f64 * 8e3 / (now - points.sampled_at) as f64;
        points.series.time_s.push(now as f64 / 1e9);
        points.series.cwnd_packets.push(self.cwnd as f64 / self.packet_bytes);
        points.series.rtt_ms.push(rtt);
        points.series.goodput_mbps.push(mbps);
        points.series.send_rate_mbps.push(points.send_rate.map(|rate| rate.bits_per_s as f64 / 1e6));
        (points.sampled_at, points.sampled_rtt, points.sampled_bytes) = (now, (count, sum), bytes);
    }

    /// The series up to the last point.
    #[must_use]
    pub fn series(&self) -> &FlowSeries {
        &self.points.series
    }

    /// The series; none is left.
    pub fn take_series(&mut self) -> FlowSeries {
        std::mem::take(&mut self.points.series)
    }
}

/// What a transfer's bytes are identified by.
pub type Hash = [u8; 32];

/// What a real stack's flow came to.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Time of the flow's first packet.
    pub start: Time,
    /// Time the flow was over, or the end of the run.
    pub stop: Time,
    /// Application bytes the receiver had then.
    pub received: u64,
    /// Packets the sender's stack counted as sent.
    pub sent: u64,
    /// Packets the sender declared lost.
    pub lost: u64,
    /// Packets the receiver saw with a CE mark.
    pub marked: u64,
    /// Hash of the bytes delivered.
    pub hash: Hash,
}

/// The result of the flow `spec`, of which `meter` measured the rest.
#[must_use]
pub fn tally(spec: &FlowSpec, numbers: &Tally, meter: &mut Meter) -> FlowOutcome {
    let active = numbers.stop.since(numbers.start).0;
    let received = numbers.received;
    let ms = |ns: f64| ns / 1e6;
    FlowOutcome {
        name: spec.name.clone(),
        controller: spec.controller.clone(),
        start_s: numbers.start.0 as f64 / 1e9,
        stop_s: numbers.stop.0 as f64 / 1e9,
        goodput_mbps: if active == 0 { 0.0 } else { received as f64 * 8e3 / active as f64 },
        packets_sent: numbers.sent,
        packets_lost: numbers.lost,
        packets_marked: numbers.marked,
        congestion_events: meter.congestion_events,
        rtt_mean_ms: meter.rtt.mean().map(ms),
        rtt_p95_ms: meter.rtt.quantile(0.95).map(ms),
        rtt_min_ms: meter.rtt.min().map(|ns| ns as f64 / 1e6),
        cwnd_mean_packets: meter.mean_window(numbers.stop.0, active),
        sha256: Some(hex(&numbers.hash)),
        completed: spec.transfer_bytes.is_some_and(|bytes| received >= bytes),
        transfers: None,
        frames: meter.frames(numbers.stop),
        video: meter.video(numbers.stop),
        series: meter.take_series(),
    }
}

/// The hash in hexadecimal.
#[must_use]
pub fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_window_is_weighted_by_time() {
        let mut meter = Meter::new(1000);
        meter.start(100, 10_000);
        meter.window(200, 20_000);
        meter.window(500, 40_000);
        assert_eq!(meter.mean_window(1100, 1000), (1.0 * 10.0 + 3.0 * 20.0 + 6.0 * 40.0) / 10.0);
    }

    #[test]
    fn points_tell_what_happened_since_the_one_before() {
        let mut meter = Meter::new(1000);
        meter.start(0, 10_000);
        meter.rtt.add(20_000_000);
        meter.rtt.add(30_000_000);
        meter.sample(1_000_000_000, 125_000);
        meter.sample(2_000_000_000, 375_000);
        let series = meter.take_series();
        assert_eq!((series.time_s, series.goodput_mbps), (vec![1.0, 2.0], vec![1.0, 2.0]));
        assert_eq!((series.rtt_ms, series.cwnd_packets), (vec![Some(25.0), None], vec![10.0, 10.0]));
    }
}
