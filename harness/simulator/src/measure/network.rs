//! Measuring what is not a flow's: queues and cross traffic.

use windlass_controllers::{Span, Time};

use crate::outcome::{FlowOutcome, FlowSeries, QueueOutcome, QueueSeries};
use crate::scenario::Scenario;
use windlass_network::{Limit, LinkId, LinkStats, Network};

/// What is measured of a network, which may be carried in parts.
pub trait MeteredNetwork {
    /// Packets and bytes waiting at a link at `now`.
    fn waiting(&mut self, link: LinkId, now: Time) -> (u64, u64);

    /// Counters of a link until `now`.
    fn stats(&self, link: LinkId, now: Time) -> LinkStats;

    /// Packets that a traffic source, by its number in the topology, sent and got delivered so far.
    fn traffic(&self, number: usize) -> (u64, u64);
}

impl MeteredNetwork for Network {
    fn waiting(&mut self, link: LinkId, now: Time) -> (u64, u64) {
        self.waiting(link, now)
    }

    fn stats(&self, link: LinkId, now: Time) -> LinkStats {
        self.stats(link, now)
    }

    fn traffic(&self, number: usize) -> (u64, u64) {
        self.traffic(number)
    }
}

/// Series of a scenario's queues and cross traffic while it runs.
#[derive(Clone, Debug)]
pub struct NetworkMeter {
    queues: Vec<QueueSeries>,
    traffic: Vec<TrafficMeter>,
}

/// Series of a cross-traffic source.
#[derive(Clone, Debug, Default)]
struct TrafficMeter {
    delivered: u64,
    series: FlowSeries,
}

impl NetworkMeter {
    /// Meter of `scenario` before its first event.
    #[must_use]
    pub fn new(scenario: &Scenario) -> NetworkMeter {
        NetworkMeter {
            queues: vec![QueueSeries::default(); scenario.queues.len()],
            traffic: scenario.topology.traffic.iter().map(|_| TrafficMeter::default()).collect(),
        }
    }

    /// The queues' series up to the last point, in the scenario's order.
    #[must_use]
    pub fn queues(&self) -> &[QueueSeries] {
        &self.queues
    }

    /// A point of all series at `now`.
    pub fn sample(&mut self, now: Time, scenario: &Scenario, network: &mut dyn MeteredNetwork) {
        for (link, series) in scenario.queues.iter().zip(&mut self.queues) {
            series.time_s.push(now.0 as f64 / 1e9);
            series.packets.push(network.waiting(*link, now).0 as f64);
        }
        for (number, meter) in self.traffic.iter_mut().enumerate() {
            let bytes = u64::from(scenario.topology.traffic[number].bytes);
            let (_, delivered) = network.traffic(number);
            let mbps = ((delivered - meter.delivered) * bytes) as f64 * 8e3 / scenario.sample.0 as f64;
            meter.delivered = delivered;
            meter.series.time_s.push(now.0 as f64 / 1e9);
            meter.series.cwnd_packets.push(0.0);
            meter.series.rtt_ms.push(None);
            meter.series.goodput_mbps.push(mbps);
        }
    }

    /// The results at `end`: cross traffic as uncontrolled flows, and queues.
    #[must_use]
    pub fn finish(
        self,
        end: Time,
        scenario: &Scenario,
        network: &dyn MeteredNetwork,
    ) -> (Vec<FlowOutcome>, Vec<QueueOutcome>) {
        let traffic = self.traffic.into_iter().enumerate().map(|(number, meter)| {
            let spec = &scenario.topology.traffic[number];
            let (sent, delivered) = network.traffic(number);
            let end = end.0.min(spec.stop.0);
            let active = end.saturating_sub(spec.start.0);
            let bits = delivered as f64 * f64::from(spec.bytes) * 8.0;
            FlowOutcome {
                name: spec.name.clone(),
                start_s: spec.start.0.min(end) as f64 / 1e9,
                stop_s: end as f64 / 1e9,
                goodput_mbps: if active == 0 { 0.0 } else { bits * 1e3 / active as f64 },
                packets_sent: sent,
                series: meter.series,
                ..FlowOutcome::default()
            }
        });
        let queues = scenario.queues.iter().zip(self.queues).map(|(link, series)| {
            let spec = &scenario.topology.links[link.0 as usize];
            let stats = network.stats(*link, end);
            QueueOutcome::new(&spec.name, spec.limit, &stats, Span(end.0), scenario.wire_bytes, series)
        });
        (traffic.collect(), queues.collect())
    }
}

impl QueueOutcome {
    /// The result of the queue called `name` from what its link counted in `duration`.
    /// Limits are in packets of `wire_bytes`.
    #[must_use]
    pub fn new(
        name: &str,
        limit: Limit,
        stats: &LinkStats,
        duration: Span,
        wire_bytes: u32,
        series: QueueSeries,
    ) -> QueueOutcome {
        QueueOutcome {
            name: name.to_owned(),
            limit_packets: match limit {
                Limit::Unlimited => 0.0,
                Limit::Packets(packets) => packets as f64,
                Limit::Bytes(bytes) => bytes as f64 / f64::from(wire_bytes.max(1)),
            },
            packets_forwarded: stats.forwarded,
            packets_dropped: stats.dropped(),
            packets_lost_at_random: stats.lost,
            packets_marked: stats.marked,
            utilisation: stats.utilisation(),
            mean_packets: if duration == Span::ZERO { 0.0 } else { stats.waiting_packet_seconds / duration.secs() },
            max_packets: stats.max_waiting as f64,
            series,
        }
    }
}
