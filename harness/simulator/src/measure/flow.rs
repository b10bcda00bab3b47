//! Measuring a flow while it runs, in constant memory.

use windlass_controllers::{Decision, Event, EventKind};

use crate::outcome::FlowSeries;

/// Buckets per doubling: values are kept to 0.8 %.
const PER_OCTAVE: u64 = 128;
const OCTAVE: usize = PER_OCTAVE as usize;

/// A histogram of times with buckets that grow with the value.
#[derive(Clone, Debug)]
pub struct Histogram {
    count: u64,
    sum: u128,
    min: u64,
    /// The buckets of consecutive octaves, from the lowest with values to the highest.
    buckets: Vec<u64>,
    /// The octave of the first of them.
    lowest: usize,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl Histogram {
    /// A histogram without values.
    #[must_use]
    pub fn new() -> Histogram {
        Histogram { count: 0, sum: 0, min: u64::MAX, buckets: Vec::new(), lowest: 0 }
    }

    /// Counts `value`, in the unit of the histogram's owner.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        let (octave, bucket) = place(value);
        let at = octave.wrapping_sub(self.lowest).wrapping_mul(OCTAVE).wrapping_add(bucket);
        match self.buckets.get_mut(at) {
            Some(count) => *count += 1,
            None => self.widen(octave)[bucket] += 1,
        }
    }

    /// Makes buckets for an octave that has none, and returns them.
    #[cold]
    fn widen(&mut self, octave: usize) -> &mut [u64] {
        if self.buckets.is_empty() {
            self.lowest = octave;
        }
        let lower = self.lowest.saturating_sub(octave);
        self.buckets.splice(0..0, std::iter::repeat_n(0, lower * OCTAVE));
        self.lowest -= lower;
        let from = (octave - self.lowest) * OCTAVE;
        self.buckets.resize(self.buckets.len().max(from + OCTAVE), 0);
        &mut self.buckets[from..from + OCTAVE]
    }

    /// The mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The smallest value; `None` if there is none.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The value below which `share` of all lie, to 0.8 %.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (i, &count) in self.buckets.iter().enumerate() {
            if seen + count >= rank {
                let (low, width) = bounds(self.lowest + i / OCTAVE, i % OCTAVE);
                let inside = (rank - seen) as f64 / count as f64;
                return Some((low + width * inside).max(self.min as f64));
            }
            seen += count;
        }
        None
    }

    /// Number of values and their sum.
    #[must_use]
    pub fn totals(&self) -> (u64, u128) {
        (self.count, self.sum)
    }
}

#[inline]
fn place(value: u64) -> (usize, usize) {
    if value < PER_OCTAVE {
        return (0, value as usize);
    }
    let octave = value.ilog2() - PER_OCTAVE.ilog2() + 1;
    ((octave as usize), ((value >> (octave - 1)) - PER_OCTAVE) as usize)
}

/// Lower bound and width of a bucket.
fn bounds(octave: usize, bucket: usize) -> (f64, f64) {
    if octave == 0 {
        return (bucket as f64, 0.0);
    }
    let width = (1u64 << (octave - 1)) as f64;
    ((PER_OCTAVE + bucket as u64) as f64 * width, width)
}

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
    series: FlowSeries,
    sampled_at: u64,
    sampled_rtt: (u64, u128),
    sampled_bytes: u64,
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
            series: FlowSeries::default(),
            sampled_at: 0,
            sampled_rtt: (0, 0),
            sampled_bytes: 0,
        }
    }

    /// The flow starts at `now`.
    pub fn start(&mut self, now: u64, cwnd: u64) {
        (self.cwnd, self.cwnd_since, self.sampled_at) = (cwnd, now, now);
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

    /// A point of the series at `now`, with `bytes` delivered so far.
    pub fn sample(&mut self, now: u64, bytes: u64) {
        if now <= self.sampled_at {
            return;
        }
        let (count, sum) = self.rtt.totals();
        let (old_count, old_sum) = self.sampled_rtt;
        let rtt = (count > old_count).then(|| (sum - old_sum) as f64 / (count - old_count) as f64 / 1e6);
        let mbps = (bytes - self.sampled_bytes) as f64 * 8e3 / (now - self.sampled_at) as f64;
        self.series.time_s.push(now as f64 / 1e9);
        self.series.cwnd_packets.push(self.cwnd as f64 / self.packet_bytes);
        self.series.rtt_ms.push(rtt);
        self.series.goodput_mbps.push(mbps);
        (self.sampled_at, self.sampled_rtt, self.sampled_bytes) = (now, (count, sum), bytes);
    }

    /// The series up to the last point.
    #[must_use]
    pub fn series(&self) -> &FlowSeries {
        &self.series
    }

    /// The series; none is left.
    pub fn take_series(&mut self) -> FlowSeries {
        std::mem::take(&mut self.series)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_right_to_a_hundredth(mut values in proptest::collection::vec(1u64..10_000_000_000, 1..200), share in 0.01f64..=1.0) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.add(*value));
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let seen = histogram.quantile(share).unwrap();
            prop_assert!((seen / exact - 1.0).abs() < 0.01, "{seen} {exact}");
            prop_assert_eq!(histogram.min(), values.first().copied());
        }
    }

    #[test]
    fn an_empty_histogram_has_nothing_to_tell() {
        let histogram = Histogram::new();
        assert_eq!((histogram.mean(), histogram.min(), histogram.quantile(0.5)), (None, None, None));
        assert_eq!(place(u64::MAX).0, 57);
    }

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
