//! The time series of a run: its flows and its bottleneck at equal distances in time.

use super::quantity::Curve;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{Arrivals, LossClassification};

/// The time series of a run. Every column has a value for each of `time`; counts are totals
/// since the beginning. The first point is at 0 s.
#[derive(Clone, Debug)]
pub struct TimeSeries {
    /// Time between points, s.
    pub step: f64,
    /// Times of the points, s.
    pub time: Vec<f64>,
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowTimeSeries>,
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
    /// Rate of the bottleneck, bit/s.
    pub rate: f64,
    /// The result of the run as a whole.
    pub outcome: Outcome,
}

/// What is recorded of a flow, a value per point.
#[derive(Clone, Debug, Default)]
pub struct FlowTimeSeries {
    /// Name of the flow, unique in the scenario.
    pub name: String,
    /// Its window, packets; 0 while it is not active.
    pub cwnd: Vec<f64>,
    /// Packets and bytes that arrived at its receiver.
    pub arrivals: Vec<Arrivals>,
    /// Application bytes there, each once.
    pub goodput: Vec<u64>,
    /// Packets sent up to the point.
    pub sent: Vec<u64>,
    /// Packets declared lost up to the point.
    pub lost: Vec<u64>,
    /// Packets sent that queues dropped and links lost, over the whole run; `None` where the run does not report them
    /// (`FlowCounts::dropped`, real stacks).
    pub dropped: Option<u64>,
    /// State variables of its controller that were asked for; NaN where it has no value.
    pub state_variables: Vec<(&'static str, Vec<f64>)>,
    /// What its losses were taken for, over the whole run.
    pub loss_classification: LossClassification,
}

impl FlowTimeSeries {
    /// A state variable of its controller over time; empty unless it was asked for.
    #[must_use]
    pub fn state_variable(&self, name: &str) -> &[f64] {
        self.state_variables.iter().find(|(other, _)| *other == name).map_or(&[], |(_, values)| values)
    }

    /// Curves of the recorded state variables, each of its own kind, at about `points` of
    /// `time`.
    #[must_use]
    pub fn state_variables(&self, time: &[f64], points: usize, of: &str) -> Vec<Curve> {
        let stride = (time.len() / points.max(1)).max(1);
        let curve = |(name, values): &(&str, Vec<f64>)| {
            let known = time.iter().zip(values).step_by(stride).filter(|(_, value)| value.is_finite());
            let (x, y): (Vec<f64>, Vec<f64>) = known.map(|(time, value)| (*time, *value)).unzip();
            (!x.is_empty()).then(|| Curve { kind: (*name).to_owned(), of: of.to_owned(), x, y })
        };
        self.state_variables.iter().filter_map(curve).collect()
    }
}

impl TimeSeries {
    /// The time series of a run on a real stack: totals at the points of its result. Delays of
    /// packets, overflows of queues and state variables are not known.
    #[must_use]
    pub fn of_outcome(outcome: Outcome, scenario: &Scenario, bottleneck: &str) -> TimeSeries {
        let step = scenario.sample.secs();
        let points = (scenario.duration.secs() / step).round() as usize;
        let place = |at: f64| ((at / step).round() as usize).min(points);
        let mut forwarded = vec![0.0; points + 1];
        let mut flows = Vec::new();
        for (number, flow) in outcome.flows.iter().enumerate() {
            let mut bytes = vec![0.0; points + 1];
            let mut cwnd = vec![0.0; points + 1];
            let mut last = flow.start_s;
            for (i, at) in flow.series.time_s.iter().enumerate() {
                bytes[place(*at)] += flow.series.goodput_mbps[i] * 1e6 / 8.0 * (at - last).max(0.0);
                cwnd[place(*at)] = flow.series.cwnd_packets.get(i).copied().unwrap_or(0.0);
                last = *at;
            }
            let payload =
                scenario.flows.get(number).map_or(1.0, |spec| f64::from(spec.packet_bytes - spec.header_bytes));
            let wire = scenario.flows.get(number).map_or(1.0, |spec| f64::from(spec.wire_bytes()));
            let mut total = 0.0;
            let mut series = FlowTimeSeries { name: flow.name.clone(), cwnd, ..FlowTimeSeries::default() };
            for (point, bytes) in bytes.iter().enumerate() {
                total += bytes;
                forwarded[point] += total * wire / payload;
                let packets = total / payload;
                series.goodput.push(total as u64);
                series.arrivals.push(Arrivals {
                    packets: packets as u64,
                    wire_bytes: (packets * wire) as u64,
                    delay: f64::NAN,
                    delay_square: f64::NAN,
                });
            }
            series.sent = vec![flow.packets_sent; points + 1];
            series.lost = vec![flow.packets_lost; points + 1];
            if number < scenario.flows.len() {
                flows.push(series);
            }
        }
        let found = outcome.queues.iter().find(|queue| queue.name == bottleneck);
        let link = scenario.topology.links.iter().find(|link| link.name == bottleneck);
        let rate = link.map_or(f64::INFINITY, |link| link.rate);
        // Headers are not known for each packet, but the total of the bottleneck is.
        let sent = found.map_or(0.0, |queue| queue.utilisation * rate * scenario.duration.secs() / 8.0);
        let known = forwarded.last().copied().unwrap_or(0.0);
        if sent.is_finite() && known > 0.0 {
            let more = sent / known;
            forwarded.iter_mut().for_each(|bytes| *bytes *= more);
            for arrivals in flows.iter_mut().flat_map(|flow: &mut FlowTimeSeries| &mut flow.arrivals) {
                arrivals.wire_bytes = (arrivals.wire_bytes as f64 * more) as u64;
            }
        }
        let mut queue = vec![0.0; points + 1];
        for (at, packets) in found.iter().flat_map(|queue| queue.series.time_s.iter().zip(&queue.series.packets)) {
            queue[place(*at)] = *packets;
        }
        let integral = queue.iter().scan(0.0, |sum, packets| {
            *sum += packets * step;
            Some(*sum)
        });
        TimeSeries {
            step,
            time: (0..=points).map(|point| point as f64 * step).collect(),
            flows,
            queue_integral: integral.collect(),
            queue,
            forwarded: forwarded.into_iter().map(|bytes| bytes as u64).collect(),
            overflowed: vec![0; points + 1],
            max_queue: found.map_or(0.0, |queue| queue.max_packets),
            rate,
            outcome,
        }
    }

    /// Time of the last point, s.
    #[must_use]
    pub fn end(&self) -> f64 {
        self.time.last().copied().unwrap_or(0.0)
    }

    /// Index of the point at `seconds`, or of the last one.
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

    /// Share of the points between two times at which a packet waits at the bottleneck, 0 to 1.
    #[must_use]
    pub fn busy(&self, from: f64, to: f64) -> f64 {
        let points = &self.queue[self.at(from)..=self.at(to)];
        points.iter().filter(|waiting| **waiting > 0.0).count() as f64 / points.len().max(1) as f64
    }

    /// Times at which the bottleneck began to overflow, s. Drops at most two round trips after
    /// the one before belong to one overflow: one until the sender learns of it, one until it has
    /// responded. A round trip is `base` s and what packets of `wire` bytes wait at the moment.
    #[must_use]
    pub fn overflows(&self, base: f64, wire: f64) -> Vec<f64> {
        let mut starts = Vec::new();
        let mut last = f64::NEG_INFINITY;
        for (i, pair) in self.overflowed.windows(2).enumerate() {
            if pair[1] > pair[0] {
                let at = self.time[i + 1];
                let waits = 8.0 * wire * self.queue[i + 1] / self.rate;
                if at - last > 2.0 * (base + waits) {
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
