//! Rules of recovery metrics.

use super::Checker;
use super::value::Object;
use crate::lint::{Place, Rule};

/// From here on a slow start threshold stands for infinity, bytes.
const INFINITE: u64 = 1 << 62;
/// No stack begins with an RTT as long as this, ms.
const BEYOND: f64 = 5000.0;
/// Samples of one kind that settle the unit of RTTs.
const CONCLUSIVE: u32 = 3;

/// Finds out in which unit RTTs are.
#[derive(Debug, Default)]
pub(super) struct RttWatch {
    /// The RTT seen between a packet and its latest ACK, ms, and when.
    seen: Option<(f64, f64)>,
    /// The first RTT written: before a sample, that is the initial one.
    initial: Option<(Place, f64)>,
    /// RTTs written that agree with those seen.
    right: u32,
    /// A thousand times too small.
    seconds: u32,
    /// A thousand times too large, or longer than the trace.
    micros: u32,
    /// Place and value of the first value out of range.
    wrong: Option<(Place, f64)>,
}

impl RttWatch {
    /// An ACK that came at `now`, ms, showed an RTT.
    pub fn observe(&mut self, rtt: Option<f64>, now: f64) {
        if let Some(rtt) = rtt.filter(|rtt| *rtt > 0.0) {
            self.seen = Some((rtt, now));
        }
    }

    fn written(&mut self, rtt: f64, now: f64, elapsed: f64, place: Place) {
        let (_, first) = *self.initial.get_or_insert((place, rtt));
        if rtt <= 0.0 || rtt == first && rtt < BEYOND {
            return;
        }
        let vote = match self.seen.take() {
            Some((seen, at)) if now - at <= 1.0 => match seen / rtt {
                ratio if ratio > 300.0 => &mut self.seconds,
                ratio if ratio < 1.0 / 300.0 => &mut self.micros,
                _ => &mut self.right,
            },
            _ if rtt > elapsed + 1.0 => &mut self.micros,
            _ => return,
        };
        *vote += 1;
        if self.seconds + self.micros == 1 {
            self.wrong.get_or_insert((place, rtt));
        }
    }
}

impl Checker {
    /// Checks `recovery:metrics_updated`.
    pub(super) fn metrics(&mut self, data: &Object) {
        for name in ["congestion_window", "cwnd", "bytes_in_flight", "packets_in_flight", "pacing_rate", "pto_count"] {
            self.integer(data, name);
        }
        if self.ietf() && data.contains_key("cwnd") {
            self.add(Rule::CwndName, || "the congestion window is called cwnd".to_owned());
        }
        if !self.ietf() && data.contains_key("congestion_window") && !data.contains_key("cwnd") {
            self.add(Rule::CwndName, || "the congestion window is called congestion_window".to_owned());
        }
        if let Some(bytes) = self.integer(data, "ssthresh").filter(|&bytes| bytes >= INFINITE) {
            self.add(Rule::SsthreshInfinite, || format!("ssthresh is {bytes}"));
        }
        let min = self.number(data, "min_rtt");
        let smoothed = self.number(data, "smoothed_rtt");
        let latest = self.number(data, "latest_rtt");
        self.number(data, "rtt_variance");
        if let (Some(min), Some(latest)) = (min, latest)
            && min > latest * (1.0 + 1e-6) + 1e-3
        {
            self.add(Rule::RttOrder, || format!("min_rtt is {min} and latest_rtt {latest}"));
        }
        if let Some(rtt) = latest.or(smoothed) {
            let trace = &mut self.trace;
            let now = trace.latest.unwrap_or(0.0);
            let elapsed = now - trace.first.unwrap_or(now);
            let unit = if trace.unit > 0.0 { trace.unit } else { 1.0 };
            trace.rtt.written(rtt * unit, now, elapsed, self.at);
        }
    }

    /// Reports faults that only all metrics of a trace together show.
    pub(super) fn end_of_metrics(&mut self) {
        let watch = std::mem::take(&mut self.trace.rtt);
        let (unit, count) =
            if watch.seconds > watch.micros { ("seconds", watch.seconds) } else { ("microseconds", watch.micros) };
        if let Some((place, rtt)) = watch.wrong.filter(|_| count >= CONCLUSIVE && count > watch.right) {
            let message = || format!("an RTT is written as {rtt}, {count} of them look like {unit}");
            self.report.add(Rule::RttUnit, place, message);
        } else if let Some((place, 0.333)) = watch.initial {
            // RFC 9002 §6.2.2.
            let message = || "the first RTT is 0.333: the initial RTT of 333 ms, in seconds".to_owned();
            self.report.add(Rule::RttUnit, place, message);
        }
    }
}
