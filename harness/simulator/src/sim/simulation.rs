//! The run: network, flows and time.

use windlass_adapter::{NamedController, Recorder};
use windlass_controllers::{Algorithm, ConfiguredController, Time};

use super::counts::{FlowCounts, PacketCounts};
use super::flow::FlowRun;
use super::observer::FlowObserver;
use super::part::Part;
use super::part::Stretch;
use super::parts::{Beginning, Parts, Run};
use crate::measure::{NetworkMeter, gather};
use crate::outcome::{FlowSeries, Outcome, QueueSeries};
use crate::scenario::{
    FRAMES, FlowSet, FlowSpec, OBJECTS, RECEIVER, Runaway, Scenario, VIDEO, WRITES, WeightChanges, set_weight,
};
use windlass_network::{LinkId, LinkStats, Network, TopologyError};

/// Why a scenario cannot be simulated.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum SimError {
    /// The topology is inconsistent.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A controller is a real stack's own.
    #[error("flow {flow:?}: {controller} is a real stack's own controller, which the simulator has not")]
    Native {
        /// Name of the flow.
        flow: String,
        /// Name of the controller.
        controller: String,
    },
    /// A flow has a key that only real stacks know.
    #[error("flow {flow:?}: the simulator has no {key}: its flows have neither windows of flow control nor writes")]
    Key {
        /// Name of the flow.
        flow: String,
        /// The key.
        key: &'static str,
    },
    /// Too many packets were under way.
    #[error(transparent)]
    Runaway(#[from] Runaway),
    /// A flow has a fault of its ends, which only real stacks have.
    #[error("flow {flow:?}: the simulator has no {fault}: its ends have neither addresses nor clocks that jump")]
    EndFault {
        /// Name of the flow.
        flow: String,
        /// Kind of the fault.
        fault: &'static str,
    },
}

impl std::fmt::Debug for SimError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Runs a scenario from beginning to end.
///
/// # Errors
/// Its topology is inconsistent, which that of a scenario read from a file never is; or too many packets were
/// [under way](Scenario::max_packets_under_way).
pub fn run(scenario: &Scenario) -> Result<Outcome, SimError> {
    let mut simulation = Simulation::new(scenario)?;
    simulation.run_until(scenario.end());
    simulation.check()?;
    Ok(simulation.finish())
}

/// A scenario being run. Equal scenarios, seeds and engines give equal outcomes to the bit.
pub struct Simulation {
    scenario: Scenario,
    parts: Box<dyn Run>,
    now: Time,
    samples: u64,
    meter: NetworkMeter,
}

impl Simulation {
    /// The scenario at its beginning, with the controllers it names.
    ///
    /// # Errors
    /// Its topology is inconsistent, or it names a controller of a real stack.
    pub fn new(scenario: &Scenario) -> Result<Self, SimError> {
        let mut natives = scenario.flow_set().flows.into_iter().filter(|flow| flow.control.algorithm().is_none());
        if let Some(flow) = natives.next() {
            return Err(SimError::Native { flow: flow.name, controller: flow.controller });
        }
        let faults = scenario.flow_set().flows.into_iter();
        if let Some((flow, fault)) = faults.filter_map(|flow| Some((flow.name, *flow.faults.first()?))).next() {
            return Err(SimError::EndFault { flow, fault: fault.kind.name() });
        }
        let mut flows = scenario.flow_set().flows.into_iter();
        if let Some((flow, key)) = flows.find_map(|flow| {
            flow.key_beyond(&["resume", "requests", RECEIVER, WRITES, FRAMES, OBJECTS, VIDEO])
                .map(|key| (flow.name, key))
        }) {
            return Err(SimError::Key { flow, key });
        }
        // There are no others.
        let other = NamedController::Catalogue(Algorithm::Reno(Default::default()));
        let mut parts = parts(scenario, |flow| *flow.control.algorithm().unwrap_or(&other))?;
        parts.change_weights(WeightChanges::new(&scenario.weight_changes, set_weight));
        parts.divide(scenario, scenario.threads)?;
        Ok(Simulation::of(scenario, parts))
    }

    /// The scenario at its beginning, with an engine of the caller's for each flow. Flows
    /// of one group need equal engines, and their shared facts stay as they are.
    ///
    /// # Errors
    /// Its topology is inconsistent.
    pub fn with<E: ConfiguredController>(
        scenario: &Scenario,
        engine: impl FnMut(&FlowSpec) -> E,
    ) -> Result<Self, TopologyError> {
        Ok(Simulation::of(scenario, parts(scenario, engine)?))
    }

    fn of<E: ConfiguredController>(scenario: &Scenario, parts: Parts<E>) -> Simulation {
        Simulation {
            meter: NetworkMeter::new(scenario),
            parts: Box::new(parts),
            now: Time::ZERO,
            samples: 0,
            scenario: scenario.clone(),
        }
    }

    /// Has `observer` see the packets of flow `number` and `recorder` its controller's
    /// steps. Only before the run has begun.
    pub fn watch(
        &mut self,
        number: usize,
        observer: Option<Box<dyn FlowObserver>>,
        recorder: Option<Box<dyn Recorder>>,
    ) {
        self.parts.watch(number, observer, recorder);
    }

    pub(super) fn beginning(&self, number: usize) -> Beginning {
        self.parts.beginning(number)
    }

    /// What flow `number`, by its place in the scenario, has done so far.
    ///
    /// # Panics
    /// There is no such flow.
    #[must_use]
    pub fn counts(&self, number: usize) -> FlowCounts {
        self.parts.counts(number)
    }

    /// Window, goodput and RTT of flow `number`, by its place in the scenario, up to now.
    ///
    /// # Panics
    /// There is no such flow.
    #[must_use]
    pub fn series(&self, number: usize) -> &FlowSeries {
        self.parts.series(number)
    }

    /// The lengths of the scenario's queues up to now, in its order.
    #[must_use]
    pub fn queue_series(&self) -> &[QueueSeries] {
        self.meter.queues()
    }

    /// Names the private facts of the controller of flow `number`, by its place in the scenario,
    /// while the flow is active.
    ///
    /// # Panics
    /// There is no such flow.
    pub fn inspect(&self, number: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        self.parts.inspect(number, visit);
    }

    /// Packets and bytes waiting at a link as of now.
    pub fn waiting(&mut self, link: LinkId) -> (u64, u64) {
        self.parts.waiting(link, self.now)
    }

    /// The scenario that is run.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How far the run is.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The link of that name; `None` if there is none.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.scenario.topology.links.iter().position(|link| link.name == name).map(|number| LinkId(number as u32))
    }

    /// Counters of a link until `now`, which is not before the last event.
    #[must_use]
    pub fn link_stats(&self, link: LinkId, now: Time) -> LinkStats {
        self.parts.stats(link, now)
    }

    /// Fates of packets so far.
    #[must_use]
    pub fn packet_counts(&self) -> PacketCounts {
        self.parts.packet_counts()
    }

    /// Threads that it runs on.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.parts.threads()
    }

    /// Whether it goes on as it should.
    ///
    /// # Errors
    /// Too many packets were [under way](Scenario::max_packets_under_way); it stands still since then.
    pub fn check(&self) -> Result<(), Runaway> {
        self.parts.check()
    }

    /// Runs until `end` or the end of the scenario, events at that instant included.
    pub fn run_until(&mut self, end: Time) {
        let end = end.min(self.scenario.end());
        loop {
            let point = self.next_sample();
            let stop = point.min(end);
            let is_sampled = point <= end;
            self.parts.advance(Stretch { from: self.now, end: stop, is_sampled });
            self.now = stop;
            if !is_sampled {
                return;
            }
            self.sample();
        }
    }

    /// When the next point of the series is due.
    fn next_sample(&self) -> Time {
        Time((self.samples + 1).saturating_mul(self.scenario.sample.0))
    }

    fn sample(&mut self) {
        self.samples += 1;
        self.meter.sample(self.now, &self.scenario, &mut *self.parts);
    }

    /// Runs to the end of the scenario; the result.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        self.run_until(self.scenario.end());
        self.break_off()
    }

    /// The result of what was run so far, as of a scenario that ends here.
    #[must_use]
    pub fn break_off(self) -> Outcome {
        let end = self.now;
        let (traffic, queues) = self.meter.finish(end, &self.scenario, &*self.parts);
        let (flows, start_schedule) = self.parts.finish(end);
        Outcome {
            flows: gather(flows, &self.scenario, &start_schedule).into_iter().chain(traffic).collect(),
            scenario: self.scenario.name,
            stack: "sim".to_owned(),
            seed: self.scenario.seed,
            duration_s: end.since(Time(0)).secs(),
            queues,
        }
    }
}

/// All of a scenario's network and flows, with an engine for each flow.
fn parts<E: ConfiguredController>(
    scenario: &Scenario,
    mut engine: impl FnMut(&FlowSpec) -> E,
) -> Result<Parts<E>, TopologyError> {
    let mut network = Network::new(&scenario.topology, scenario.seed)?;
    network.report_losses(scenario.flows.iter().any(|flow| flow.recovery.classifies_losses()));
    let (topology, saved_paths) = (&scenario.topology, scenario.saved_paths());
    let FlowSet { flows, start_schedule } = scenario.flow_set();
    let flows: Vec<FlowRun<E>> = (0u32..)
        .zip(&flows)
        .map(|(number, spec)| {
            let route = &topology.routes[spec.forward.0 as usize];
            let ci_path = route.iter().any(|link| topology.links[link.0 as usize].ci_marking);
            FlowRun::new(spec, number, engine(spec), scenario.seed, ci_path, &saved_paths)
        })
        .collect();
    let part = Part::new(network, flows, start_schedule, scenario.max_packets_under_way);
    Ok(Parts::one(part, scenario.max_packets_under_way))
}
