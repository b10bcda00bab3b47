//! The run: network, flows and time.

use windlass_adapter::{Groups, NamedController, Recorder};
use windlass_controllers::{Algorithm, ConfiguredController, Time};

use super::counts::FlowCounts;
use super::flow::FlowRun;
use super::observer::FlowObserver;
use crate::measure::{NetworkMeter, gather};
use crate::outcome::{FlowSeries, Outcome, QueueSeries};
use crate::scenario::{
    FRAMES, FlowSet, FlowSpec, OBJECTS, RECEIVER, Runaway, Scenario, StartSchedule, VIDEO, WRITES, WeightChanges,
    set_weight,
};
use windlass_network::{Delivery, EventQueue, Fate, LinkId, Network, TopologyError};

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

/// Events between two counts of the packets under way.
const EVENTS_BETWEEN_CHECKS: u32 = 1 << 16;
/// Events between two counts of one flow's.
const EVENTS_BETWEEN_FLOW_CHECKS: u32 = 1 << 8;

/// A scenario being run. Equal scenarios, seeds and engines give equal outcomes to the bit.
pub struct Simulation<E: ConfiguredController = NamedController> {
    scenario: Scenario,
    network: Network,
    flows: Vec<FlowRun<E>>,
    /// The earliest timer of each flow.
    event_queue: EventQueue,
    groups: Groups<E, String>,
    weight_changes: WeightChanges<E>,
    start_schedule: StartSchedule,
    /// No flow waits for another.
    is_set: bool,
    now: Time,
    samples: u64,
    meter: NetworkMeter,
    /// Events until the next look at how many packets are under way.
    until_check: u32,
    runaway: Option<Runaway>,
}

impl Simulation<NamedController> {
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
        let mut simulation = Simulation::with(scenario, |flow| *flow.control.algorithm().unwrap_or(&other))?;
        simulation.weight_changes = WeightChanges::new(&scenario.weight_changes, set_weight);
        let changes = simulation.flows.len();
        simulation.event_queue.set(changes, simulation.weight_changes.next(Time::ZERO));
        Ok(simulation)
    }
}

impl<E: ConfiguredController> Simulation<E> {
    /// The scenario at its beginning, with an engine of the caller's for each flow. Flows
    /// of one group need equal engines, and their shared facts stay as they are.
    ///
    /// # Errors
    /// Its topology is inconsistent.
    pub fn with(scenario: &Scenario, mut engine: impl FnMut(&FlowSpec) -> E) -> Result<Self, TopologyError> {
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
        let mut simulation = Simulation {
            // After the flows' timers, the changes of groups.
            event_queue: EventQueue::new(flows.len() + 1),
            meter: NetworkMeter::new(scenario),
            network,
            flows,
            groups: Groups::default(),
            weight_changes: WeightChanges::new(&[], |_, _| false),
            is_set: start_schedule.is_set(),
            start_schedule,
            now: Time::ZERO,
            samples: 0,
            until_check: EVENTS_BETWEEN_CHECKS,
            runaway: None,
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

    /// What flow `number`, by its place in the scenario, has done so far.
    ///
    /// # Panics
    /// There is no such flow.
    #[must_use]
    pub fn counts(&self, number: usize) -> FlowCounts {
        self.flows[number].counts()
    }

    /// Window, goodput and RTT of flow `number`, by its place in the scenario, up to now.
    ///
    /// # Panics
    /// There is no such flow.
    #[must_use]
    pub fn series(&self, number: usize) -> &FlowSeries {
        self.flows[number].series()
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
        self.flows[number].inspect(visit);
    }

    /// Packets and bytes waiting at a link as of now.
    pub fn waiting(&mut self, link: LinkId) -> (u64, u64) {
        self.network.waiting(link, self.now)
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

    /// The network, to look into.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether it goes on as it should.
    ///
    /// # Errors
    /// Too many packets were [under way](Scenario::max_packets_under_way); it stands still since then.
    pub fn check(&self) -> Result<(), Runaway> {
        self.runaway.map_or(Ok(()), Err)
    }

    /// Counts an event of flow `number`, and now and again what all have under way. Returns whether to stop.
    #[inline]
    fn runs_away(&mut self, number: usize, now: u64) -> bool {
        self.until_check -= 1;
        self.until_check.is_multiple_of(EVENTS_BETWEEN_FLOW_CHECKS) && self.look(number, now)
    }

    #[cold]
    fn look(&mut self, number: usize, now: u64) -> bool {
        let own = self.flows.get(number).map_or(0, FlowRun::under_way);
        if self.until_check > 0 && own <= self.scenario.max_packets_under_way {
            return false;
        }
        self.until_check = EVENTS_BETWEEN_CHECKS;
        let under_way = self.flows.iter().map(FlowRun::under_way).sum();
        self.runaway = self.scenario.allows(Time(now), under_way).err();
        self.runaway.is_some()
    }

    #[inline]
    fn arm(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        let soonest = flow.timers.soonest();
        if soonest < flow.armed {
            flow.armed = soonest;
            self.event_queue.set(number, soonest);
        }
    }

    /// Runs until `end` or the end of the scenario, events at that instant included.
    pub fn run_until(&mut self, end: Time) {
        let end = end.min(self.scenario.end());
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
        let mut delivery = Delivery::default();
        loop {
            let in_network = self.network.next().map_or(u64::MAX, |at| at.0);
            let (in_flows, number) = self.event_queue.first();
            let now = in_network.min(in_flows);
            if now > end.0 || now == u64::MAX || self.runaway.is_some() {
                return;
            }
            if in_network <= in_flows {
                while self.network.poll_into(Time(now), &mut delivery) {
                    let number = delivery.packet.flow as usize;
                    if delivery.fate != Fate::Delivered {
                        self.flows[number].gone(&delivery.packet, delivery.fate);
                        continue;
                    }
                    self.flows[number].delivered(now, &delivery.packet, &mut self.network);
                    self.arm(number);
                    if !self.is_set {
                        self.call(number, now);
                    }
                    if self.runs_away(number, now) {
                        return;
                    }
                }
            } else {
                if !self.weight_changes.is_empty() && self.change(number, now) {
                    continue;
                }
                let flow = &mut self.flows[number];
                flow.armed = u64::MAX;
                flow.due(now, &mut self.network, &self.groups);
                // Whatever comes next has not been on the event_queue.
                self.event_queue.set(number, u64::MAX);
                self.arm(number);
                if !self.is_set {
                    self.call(number, now);
                }
                if self.runs_away(number, now) {
                    return;
                }
            }
        }
    }

    /// Changes groups, if that is what is due, and gives a flow that may join now a group
    /// that is as it should be.
    #[cold]
    fn change(&mut self, number: usize, now: u64) -> bool {
        let now = Time(now);
        let Some(flow) = self.flows.get_mut(number) else {
            self.weight_changes.apply(now, &self.groups);
            self.event_queue.set(number, self.weight_changes.next(now));
            return true;
        };
        if flow.spec.group.is_some() && !flow.has_started() {
            flow.armed = u64::MAX;
            flow.due(now.0, &mut self.network, &self.groups);
            self.weight_changes.apply(now, &self.groups);
            self.event_queue.set(number, u64::MAX);
            self.arm(number);
            return true;
        }
        false
    }

    /// Starts what waits for flow `number`, if that is over.
    #[cold]
    fn call(&mut self, number: usize, now: u64) {
        if self.flows[number].is_newly_over() {
            for (waiting, at) in self.start_schedule.over(number, Time(now)) {
                self.flows[waiting].start_at(at);
                self.arm(waiting);
            }
        }
    }

    fn sample(&mut self) {
        self.samples += 1;
        let now = self.now;
        for flow in &mut self.flows {
            flow.sample(now.0);
        }
        self.meter.sample(now, &self.scenario, &mut self.network);
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
        let (traffic, queues) = self.meter.finish(end, &self.scenario, &self.network);
        let flows = self.flows.into_iter().map(|flow| flow.outcome(end.0)).collect();
        Outcome {
            flows: gather(flows, &self.scenario, &self.start_schedule).into_iter().chain(traffic).collect(),
            scenario: self.scenario.name,
            stack: "sim".to_owned(),
            seed: self.scenario.seed,
            duration_s: end.since(Time(0)).secs(),
            queues,
        }
    }
}
