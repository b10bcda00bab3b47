//! The run: network, flows and time.

use windlass_adapter::{Groups, Recorder};
use windlass_controllers::{Algorithm, Engine, Span, Time};

use super::flow::FlowRun;
use super::observer::FlowObserver;
use crate::net::{Agenda, Limit, LinkId, LinkStats, Network, TopologyError};
use crate::outcome::{FlowOutcome, FlowSeries, Outcome, QueueOutcome, QueueSeries};
use crate::scenario::{FlowSpec, Scenario};

/// Runs a scenario from beginning to end.
///
/// # Errors
/// Its topology is inconsistent, which that of a scenario read from a file never is.
pub fn run(scenario: &Scenario) -> Result<Outcome, TopologyError> {
    Ok(Simulation::new(scenario)?.finish())
}

/// A scenario being run. Equal scenarios, seeds and engines give equal outcomes to the bit.
pub struct Simulation<E: Engine = Algorithm> {
    scenario: Scenario,
    network: Network,
    flows: Vec<FlowRun<E>>,
    /// The earliest timer of each flow.
    agenda: Agenda,
    groups: Groups<E, String>,
    now: Time,
    samples: u64,
    queues: Vec<QueueSeries>,
    traffic: Vec<TrafficMeter>,
}

/// Series of a cross-traffic source.
#[derive(Default)]
struct TrafficMeter {
    delivered: u64,
    series: FlowSeries,
}

impl Simulation<Algorithm> {
    /// The scenario at its beginning, with the controllers it names.
    ///
    /// # Errors
    /// Its topology is inconsistent.
    pub fn new(scenario: &Scenario) -> Result<Self, TopologyError> {
        Simulation::with(scenario, |flow| flow.algorithm)
    }
}

impl<E: Engine> Simulation<E> {
    /// The scenario at its beginning, with an engine of the caller's for each flow. Flows
    /// of one group need equal engines.
    ///
    /// # Errors
    /// Its topology is inconsistent.
    pub fn with(scenario: &Scenario, mut engine: impl FnMut(&FlowSpec) -> E) -> Result<Self, TopologyError> {
        let network = Network::new(&scenario.topology, scenario.seed)?;
        let topology = &scenario.topology;
        let flows: Vec<FlowRun<E>> = (0u32..)
            .zip(&scenario.flows)
            .map(|(number, spec)| {
                let route = &topology.routes[spec.forward.0 as usize];
                let ci_path = route.iter().any(|link| topology.links[link.0 as usize].ci_marking);
                FlowRun::new(spec, number, engine(spec), scenario.seed, ci_path)
            })
            .collect();
        let mut simulation = Simulation {
            agenda: Agenda::new(flows.len()),
            queues: vec![QueueSeries::default(); scenario.queues.len()],
            traffic: topology.traffic.iter().map(|_| TrafficMeter::default()).collect(),
            network,
            flows,
            groups: Groups::default(),
            now: Time::ZERO,
            samples: 0,
            scenario: scenario.clone(),
        };
        for number in 0..simulation.flows.len() {
            simulation.arm(number);
        }
        Ok(simulation)
    }

    /// Has `observer` see the packets of flow `number` and `recorder` its controller's
    /// steps. Only before the run has begun.
    pub fn watch(
        &mut self,
        number: usize,
        observer: Option<Box<dyn FlowObserver>>,
        recorder: Option<Box<dyn Recorder>>,
    ) {
        self.flows[number].observer = observer;
        self.flows[number].recorder = recorder;
    }

    pub(super) fn flow(&self, number: usize) -> &FlowRun<E> {
        &self.flows[number]
    }

    /// What is run.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How far the run is.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The network, to look into.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    #[inline]
    fn arm(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let soonest = flow.timers.soonest();
        if soonest < flow.armed {
            flow.armed = soonest;
            self.agenda.set(number, soonest);
        }
    }

    /// Runs until `end` or the end of the scenario, events at that instant included.
    pub fn run_until(&mut self, end: Time) {
        let end = end.min(Time(self.scenario.duration.0));
        loop {
            let point = self.next_sample();
            let stop = point.min(end);
            self.advance(stop);
            self.now = stop;
            if point > end {
                return;
            }
            self.sample();
        }
    }

    /// When the next point of the series is due.
    fn next_sample(&self) -> Time {
        Time((self.samples + 1).saturating_mul(self.scenario.sample.0))
    }

    /// Handles everything until `end`. At one instant the network comes first, then the
    /// flows in order.
    fn advance(&mut self, end: Time) {
        loop {
            let in_network = self.network.next().map_or(u64::MAX, |at| at.0);
            let (in_flows, number) = self.agenda.first();
            let now = in_network.min(in_flows);
            if now > end.0 || now == u64::MAX {
                return;
            }
            if in_network <= in_flows {
                while let Some(delivery) = self.network.poll(Time(now)) {
                    let number = delivery.packet.flow as usize;
                    self.flows[number].delivered(now, &delivery.packet, &mut self.network);
                    self.arm(number);
                }
            } else {
                let flow = &mut self.flows[number];
                flow.armed = u64::MAX;
                flow.due(now, &mut self.network, &self.groups);
                // Whatever comes next has not been on the agenda.
                self.agenda.set(number, u64::MAX);
                self.arm(number);
            }
        }
    }

    fn sample(&mut self) {
        self.samples += 1;
        let now = self.now;
        for flow in &mut self.flows {
            flow.sample(now.0);
        }
        for (link, series) in self.scenario.queues.iter().zip(&mut self.queues) {
            series.time_s.push(now.0 as f64 / 1e9);
            series.packets.push(self.network.waiting(*link, now).0 as f64);
        }
        for (number, meter) in self.traffic.iter_mut().enumerate() {
            let bytes = u64::from(self.scenario.topology.traffic[number].bytes);
            let (_, delivered) = self.network.traffic(number);
            let mbps = ((delivered - meter.delivered) * bytes) as f64 * 8e3 / self.scenario.sample.0 as f64;
            meter.delivered = delivered;
            meter.series.time_s.push(now.0 as f64 / 1e9);
            meter.series.cwnd_packets.push(0.0);
            meter.series.rtt_ms.push(None);
            meter.series.goodput_mbps.push(mbps);
        }
    }

    /// Runs to the end of the scenario; the result.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        self.run_until(Time(self.scenario.duration.0));
        let end = self.now;
        let mut queues = Vec::new();
        for (link, series) in self.scenario.queues.iter().zip(std::mem::take(&mut self.queues)) {
            queues.push(self.queue(*link, end, series));
        }
        let traffic: Vec<FlowOutcome> = (0..self.traffic.len()).map(|number| self.traffic(number)).collect();
        Outcome {
            scenario: self.scenario.name,
            stack: "sim".to_owned(),
            seed: self.scenario.seed,
            duration_s: self.scenario.duration.secs(),
            flows: self.flows.into_iter().map(|flow| flow.outcome(end.0)).chain(traffic).collect(),
            queues,
        }
    }

    fn queue(&self, link: LinkId, end: Time, series: QueueSeries) -> QueueOutcome {
        let spec = &self.scenario.topology.links[link.0 as usize];
        let stats = self.network.stats(link, end);
        QueueOutcome::new(&spec.name, spec.limit, &stats, Span(end.0), self.scenario.wire_bytes, series)
    }

    fn traffic(&mut self, number: usize) -> FlowOutcome {
        let spec = &self.scenario.topology.traffic[number];
        let (sent, delivered) = self.network.traffic(number);
        let end = self.now.0.min(spec.stop.0);
        let active = end.saturating_sub(spec.start.0);
        let bits = delivered as f64 * f64::from(spec.bytes) * 8.0;
        FlowOutcome {
            name: spec.name.clone(),
            start_s: spec.start.0.min(end) as f64 / 1e9,
            stop_s: end as f64 / 1e9,
            goodput_mbps: if active == 0 { 0.0 } else { bits * 1e3 / active as f64 },
            packets_sent: sent,
            series: std::mem::take(&mut self.traffic[number].series),
            ..FlowOutcome::default()
        }
    }
}

impl QueueOutcome {
    /// The result of the queue called `name` from what its link counted in `duration`.
    /// Limits are told in packets of `wire_bytes`.
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
