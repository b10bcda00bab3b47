//! A scenario with a real stack at both ends of every flow.

use std::time::Instant;

use windlass_adapter::{Groups, NamedController};
use windlass_controllers::{Span, Time};

use super::scheduled::ScheduledFlow;
use super::{Connection, Context, SansIo};
use crate::driver::datagrams::{DatagramNetwork, Role};
use crate::driver::log::check_keys;
use crate::{OpenLog, RunError};
use windlass_network::{EventQueue, Network};
use windlass_simulator::measure::{NetworkMeter, gather};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::{FlowSet, Scenario, StartSchedule, WeightChanges, set_weight};

/// Runs a scenario with `driven` at both ends of every flow, from beginning to end. `log` says where the log of each flow goes, if
/// anywhere. `stop` is called now and then with the time reached, and returns whether to stop.
///
/// # Errors
/// The stack cannot run a flow, a flow failed, or it was stopped.
pub fn run<S: SansIo>(
    driven: &S,
    scenario: &Scenario,
    log: &mut OpenLog<'_>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    check_keys(scenario, S::NAME, S::KEYS)?;
    let network = Network::new(&scenario.topology, scenario.seed)?;
    let context = Context {
        scenario: &scenario.name,
        seed: scenario.seed,
        origin: Instant::now(),
        groups: Groups::default(),
        saved_paths: scenario.saved_paths(),
    };
    let FlowSet { flows: specs, start_schedule } = scenario.flow_set();
    let mut flows = Vec::new();
    for (number, spec) in (0..).zip(&specs) {
        // Dynamic flows have no logs.
        let own = start_schedule.dynamic_set(number as usize).is_none();
        let log = if own { log(spec) } else { Ok(None) };
        let log = log.map_err(|error| RunError::Log { flow: spec.name.clone(), error })?;
        let parts = driven.parts(&context, spec, log)?;
        flows.push(ScheduledFlow::new(scenario, spec, number, context.origin, parts));
    }
    // After the flows' sources, the changes of groups.
    let mut event_queue = EventQueue::new(SOURCES * flows.len() + 1);
    for (i, spec) in specs.iter().enumerate() {
        let start = spec.starts(scenario.seed);
        if start < spec.stop {
            event_queue.set(SOURCES * i + CONTROL, start.0);
        }
        event_queue.set(SOURCES * i + FAULTS, flows[i].next_fault(None));
    }
    let mut world = World {
        datagrams: DatagramNetwork::new(network),
        flows,
        event_queue,
        start_schedule,
        groups: context.groups.clone(),
        weight_changes: WeightChanges::new(&scenario.weight_changes, set_weight),
        now: Time::ZERO,
        scenario,
        until_check: EVENTS,
    };
    let changes = world.flows.len() * SOURCES;
    world.event_queue.set(changes, world.weight_changes.next(Time::ZERO));
    let mut meter = NetworkMeter::new(scenario);
    let end = scenario.end();
    let mut point = Time(scenario.sample.0);
    while point <= end {
        world.advance_unless(point, stop)?;
        world.flows.iter_mut().for_each(|flow| flow.sample(point));
        meter.sample(point, scenario, &mut world.datagrams.network);
        point += scenario.sample;
    }
    world.advance_unless(end, stop)?;
    let (traffic, queues) = meter.finish(end, scenario, &world.datagrams.network);
    let mut flows = Vec::new();
    for flow in std::mem::take(&mut world.flows) {
        flows.push(flow.outcome(end)?);
    }
    if !context.groups.is_empty() {
        return Err(RunError::StateLeft(format!("{} groups", context.groups.len())));
    }
    let mut flows = gather(flows, scenario, &world.start_schedule);
    flows.extend(traffic);
    Ok(Outcome {
        scenario: scenario.name.clone(),
        stack: S::NAME.to_owned(),
        seed: scenario.seed,
        duration_s: scenario.duration.secs(),
        flows,
        queues,
    })
}

/// Sources of the event_queue per flow: its two ends by their roles, its start and stop, and what happens to its ends.
const SOURCES: usize = 4;
const CONTROL: usize = 2;
const FAULTS: usize = 3;

/// State of a run in virtual time: network, flows, clock.
struct World<'a, C: Connection> {
    datagrams: DatagramNetwork,
    flows: Vec<ScheduledFlow<'a, C>>,
    event_queue: EventQueue,
    start_schedule: StartSchedule,
    groups: Groups<NamedController, String>,
    weight_changes: WeightChanges<NamedController>,
    /// Virtual time.
    now: Time,
    scenario: &'a Scenario,
    /// Steps until the next count of how many packets are under way.
    until_check: u32,
}

/// Virtual time between two checks of whether to stop.
const STOP_CHECK_INTERVAL: Span = Span::from_millis(50);
/// Steps between two counts of the packets under way.
const EVENTS: u32 = 1 << 16;

impl<C: Connection> World<'_, C> {
    /// [`advance`](Self::advance)s in steps until `end`, or until `stop` returns true.
    fn advance_unless(&mut self, end: Time, stop: &dyn Fn(Time) -> bool) -> Result<(), RunError> {
        loop {
            if stop(self.now) {
                return Err(RunError::Stopped);
            }
            self.now = (self.now + STOP_CHECK_INTERVAL).min(end);
            self.advance(self.now)?;
            let now = self.now;
            self.flows.iter_mut().try_for_each(|flow| flow.check(now))?;
            self.look(now)?;
            if self.now == end {
                return Ok(());
            }
        }
    }

    /// # Errors
    /// Too many packets are under way.
    fn look(&mut self, now: Time) -> Result<(), RunError> {
        self.until_check = EVENTS;
        let under_way = self.flows.iter().map(ScheduledFlow::under_way).sum();
        self.scenario.allows(now, under_way).map_err(RunError::Runaway)
    }

    /// Handles everything until `end`. At one instant the network comes first, then the
    /// flows in order.
    fn advance(&mut self, end: Time) -> Result<(), RunError> {
        loop {
            let in_network = self.datagrams.network.next().map_or(u64::MAX, |at| at.0);
            let (in_flows, source) = self.event_queue.first();
            let now = Time(in_network.min(in_flows));
            if now > end || now.0 == u64::MAX {
                return Ok(());
            }
            self.until_check -= 1;
            if self.until_check == 0 {
                self.look(now)?;
            }
            if in_network <= in_flows {
                while let Some(arrival) = self.datagrams.poll(now) {
                    let (i, role) = (arrival.flow as usize, arrival.role);
                    self.flows[i].arrived(now, arrival, &mut self.datagrams)?;
                    self.event_queue.set(SOURCES * i + role as usize, now.0);
                }
            } else {
                let Some(flow) = self.flows.get_mut(source / SOURCES) else {
                    self.weight_changes.apply(now, &self.groups);
                    self.event_queue.set(source, self.weight_changes.next(now));
                    continue;
                };
                let (was_started, was_over) = (flow.is_started(), flow.is_over());
                let next = match source % SOURCES {
                    CONTROL => {
                        let role = if was_started { Role::Sender } else { flow.client() };
                        self.event_queue.set(source - CONTROL + role as usize, now.0);
                        let next = flow.control(now)?;
                        // It may just have founded its group.
                        self.weight_changes.apply(now, &self.groups);
                        next
                    }
                    FAULTS => {
                        // An end whose clock jumped has timers that are due.
                        for role in Role::ALL {
                            self.event_queue.set(source - FAULTS + role as usize, now.0);
                        }
                        Some(flow.next_fault(Some(now))).filter(|at| *at < u64::MAX).map(Time)
                    }
                    role => flow.drive(Role::ALL[role], now, &mut self.datagrams)?,
                };
                let is_over = flow.is_over();
                self.event_queue.set(source, next.map_or(u64::MAX, |at| at.0));
                if !was_over && is_over {
                    for (waiting, at) in self.start_schedule.over(source / SOURCES, now) {
                        self.event_queue.set(SOURCES * waiting + CONTROL, at.0);
                    }
                }
            }
        }
    }
}
