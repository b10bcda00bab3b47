//! What was seen of a run, at equal distances in time.

use crate::outcome::Outcome;
use crate::sim::Arrivals;

/// What was seen of a run. Every column has a value for each of `time`; counts are totals
/// since the beginning. Points start at 0.
#[derive(Clone, Debug)]
pub struct Trail {
    /// Distance between points, s.
    pub step: f64,
    /// The points, s.
    pub time: Vec<f64>,
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowTrail>,
    /// Packets waiting at the bottleneck.
    pub queue: Vec<f64>,
    /// Integral of the packets waiting there, packet·s.
    pub queue_integral: Vec<f64>,
    /// Bytes the bottleneck has sent.
    pub forwarded: Vec<u64>,
    /// Packets it has dropped for lack of room.
    pub overflowed: Vec<u64>,
    /// Most packets that ever waited there.
    pub max_queue: f64,
    /// Its rate, bit/s.
    pub rate: f64,
    /// The run's own result.
    pub outcome: Outcome,
}

/// What was seen of a flow.
#[derive(Clone, Debug, Default)]
pub struct FlowTrail {
    /// Its name.
    pub name: String,
    /// Its window, packets; 0 while it is not active.
    pub cwnd: Vec<f64>,
    /// What arrived at its receiver.
    pub arrivals: Vec<Arrivals>,
    /// Application bytes there, each once.
    pub goodput: Vec<u64>,
    /// Packets it sent.
    pub sent: Vec<u64>,
    /// Packets it declared lost.
    pub lost: Vec<u64>,
}

impl Trail {
    /// The end, s.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.time.last().copied().unwrap_or(0.0)
    }

    /// The point at `seconds`, or the last one.
    #[must_use]
    pub fn at(&self, seconds: f64) -> usize {
        ((seconds / self.step).round() as usize).min(self.time.len().saturating_sub(1))
    }

    /// Utilisation of the bottleneck between two times, 0 to 1: the bits it sent over
    /// those it could have sent.
    #[must_use]
    pub fn utilisation(&self, from: f64, to: f64) -> f64 {
        let (a, b) = (self.at(from), self.at(to));
        rate(&self.forwarded, &self.time, a, b) / self.rate
    }

    /// Utilisation of stretches of `width` s: the end of each and its utilisation.
    #[must_use]
    pub fn utilisation_series(&self, width: f64) -> Vec<(f64, f64)> {
        self.series(&self.forwarded, width).into_iter().map(|(time, rate)| (time, rate / self.rate)).collect()
    }

    /// Throughput of flow `flow` in stretches of `width` s, wire bytes, bit/s.
    #[must_use]
    pub fn throughput_series(&self, flow: usize, width: f64) -> Vec<(f64, f64)> {
        let bytes: Vec<u64> = self.flows[flow].arrivals.iter().map(|arrivals| arrivals.wire_bytes).collect();
        self.series(&bytes, width)
    }

    /// Throughput of flow `flow` between two times, wire bytes, bit/s.
    #[must_use]
    pub fn throughput(&self, flow: usize, from: f64, to: f64) -> f64 {
        let bytes = |i: usize| self.flows[flow].arrivals[i].wire_bytes;
        let (a, b) = (self.at(from), self.at(to));
        if b > a { (bytes(b) - bytes(a)) as f64 * 8.0 / (self.time[b] - self.time[a]) } else { 0.0 }
    }

    /// Goodput of flow `flow` between two times, application bytes each once, bit/s.
    #[must_use]
    pub fn goodput(&self, flow: usize, from: f64, to: f64) -> f64 {
        rate(&self.flows[flow].goodput, &self.time, self.at(from), self.at(to))
    }

    /// Mean number of packets waiting at the bottleneck between two times, by time.
    #[must_use]
    pub fn mean_queue(&self, from: f64, to: f64) -> f64 {
        let (a, b) = (self.at(from), self.at(to));
        if b > a { (self.queue_integral[b] - self.queue_integral[a]) / (self.time[b] - self.time[a]) } else { 0.0 }
    }

    /// When the bottleneck overflowed, s: the first point of each run of drops. Drops no
    /// more than `apart` s from the last belong to one run.
    #[must_use]
    pub fn overflows(&self, apart: f64) -> Vec<f64> {
        let mut starts = Vec::new();
        let mut last = f64::NEG_INFINITY;
        for (i, pair) in self.overflowed.windows(2).enumerate() {
            if pair[1] > pair[0] {
                let at = self.time[i + 1];
                if at - last > apart {
                    starts.push(at);
                }
                last = at;
            }
        }
        starts
    }

    fn series(&self, bytes: &[u64], width: f64) -> Vec<(f64, f64)> {
        let stride = ((width / self.step).round() as usize).max(1);
        let ends = (stride..self.time.len()).step_by(stride);
        ends.map(|end| (self.time[end], rate(bytes, &self.time, end - stride, end))).collect()
    }
}

/// Mean rate of a total of bytes between two points, bit/s.
fn rate(bytes: &[u64], time: &[f64], a: usize, b: usize) -> f64 {
    if b > a { (bytes[b] - bytes[a]) as f64 * 8.0 / (time[b] - time[a]) } else { 0.0 }
}
