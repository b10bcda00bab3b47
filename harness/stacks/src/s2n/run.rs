//! A scenario with s2n-quic at both ends of every flow.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use s2n_quic::provider::io::testing::{Executor, primary, spawn};
use windlass_adapter::Groups;
use windlass_controllers::{Span, Time};
use windlass_s2n_quic::{Qlog, STACK};

use super::clock::Clock;
use super::config::check_size;
use super::config::{Choice, first_decision};
use super::ends::{Ends, Setup};
use super::flow::{Flow, Notices, Shared};
use super::world::{ScenarioFlow, SharedWorld, World};
use crate::driver::liveness::Liveness;
use crate::driver::log::check_keys;
use crate::driver::sender_log::lock;
use crate::identity::identity;
use crate::{FlowLog, OpenLog, RunError};
use windlass_network::Network;
use windlass_simulator::measure::{Tally, gather, tally};
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::{EndFaultKind, FRAMES, FlowSet, FlowSpec, Scenario, VIDEO, WRITES};

/// How far a run is advanced before it is looked at whether to stop.
const STRIDE: Span = Span::from_millis(50);

/// Runs a scenario from beginning to end. `log` says where the log of each flow goes, if
/// anywhere. `stop` is called now and then with the time reached, and returns whether to stop.
///
/// # Errors
/// s2n-quic cannot run a flow, a flow failed, or it was stopped.
pub fn run(scenario: &Scenario, log: &mut OpenLog<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Outcome, RunError> {
    let end = scenario.end();
    check_keys(scenario, STACK, &["resume", "requests", "receive_window_bytes", WRITES, FRAMES, VIDEO])?;
    let identity = identity().map_err(RunError::Tls)?;
    let network = Network::new(&scenario.topology, scenario.seed)?;
    let FlowSet { flows: specs, start_schedule } = scenario.flow_set();
    let mut plans = Vec::new();
    for (number, spec) in specs.iter().enumerate() {
        // The executor has one clock for everything.
        if let Some(fault) = spec.faults.iter().find(|fault| matches!(fault.kind, EndFaultKind::ClockJump { .. })) {
            return Err(RunError::NoFault { stack: STACK, flow: spec.name.clone(), fault: fault.kind.name() });
        }
        // Dynamic flows have no logs.
        let own = start_schedule.dynamic_set(number).is_none();
        plans.push(Plan::new(spec, if own { log(spec) } else { Ok(None) })?);
    }
    let (notices, groups) = (Notices::default(), Groups::default());
    let members = groups.clone();
    let errors: Vec<Errors> = plans.iter().map(|plan| Arc::clone(&plan.errors)).collect();
    let world = Rc::new(RefCell::new(World::new(scenario, network, start_schedule, &notices, &groups, stop)));
    let stopped = Arc::clone(&world.borrow().stopped);
    {
        let mut executor = Executor::new(SharedWorld(Rc::clone(&world)), scenario.seed);
        let handle = executor.handle().clone();
        executor.enter(|| {
            let clock = Clock::begin();
            let setup =
                Setup { handle, identity, seed: scenario.seed, clock, groups, saved_paths: scenario.saved_paths() };
            let plans = plans.into_iter().enumerate();
            let scenario_flows: Vec<ScenarioFlow<'_>> =
                plans.map(|(number, plan)| plan.start(number, &notices, &setup, scenario)).collect();
            let flows: Vec<Shared> = scenario_flows.iter().map(|scenario_flow| scenario_flow.flow.clone()).collect();
            world.borrow_mut().begin(clock, scenario_flows);
            primary::spawn(async move {
                while clock.now() < end
                    && !stopped.load(Ordering::Relaxed)
                    && flows.iter().all(|flow| flow.lock().failed.is_none())
                {
                    // What is left when all are over takes no time.
                    let over = flows.iter().all(|flow| flow.lock().over.is_some());
                    let next = if over { end } else { clock.now() + STRIDE };
                    clock.wait(end.min(next)).await;
                }
            });
        });
        executor.run();
        // Nothing that happens while everything is taken down belongs to the run.
        world.borrow_mut().close(end);
    }
    let world = Rc::try_unwrap(world).map_err(|_| RunError::Tls("the network is still in use".to_owned()))?;
    let outcome = finish(scenario, world.into_inner(), &errors, end)?;
    if members.is_empty() { Ok(outcome) } else { Err(RunError::StateLeft(format!("{} groups", members.len()))) }
}

fn finish(scenario: &Scenario, world: World<'_>, errors: &[Errors], end: Time) -> Result<Outcome, RunError> {
    if world.stopped.load(Ordering::Relaxed) {
        return Err(RunError::Stopped);
    }
    let mut flows = Vec::new();
    for (scenario_flow, error) in world.scenario_flows.into_iter().zip(errors) {
        let name = || scenario_flow.spec.name.clone();
        if let Some((at, reason)) = scenario_flow.flow.lock().failed.take() {
            return Err(RunError::Flow { flow: name(), at_s: at.0 as f64 / 1e9, reason });
        }
        if world.overrun > 0 {
            let reason = format!("{} datagrams arrived at once beyond what s2n-quic takes in", world.overrun);
            return Err(RunError::Flow { flow: name(), at_s: end.0 as f64 / 1e9, reason });
        }
        if let Some(error) = lock(error).take() {
            return Err(RunError::Log { flow: name(), error });
        }
        flows.push(outcome(&scenario_flow, end)?);
    }
    let (traffic, queues) = world.meter.finish(end, scenario, &world.network);
    let mut flows = gather(flows, scenario, &world.start_schedule);
    flows.extend(traffic);
    Ok(Outcome {
        scenario: scenario.name.clone(),
        stack: STACK.to_owned(),
        seed: scenario.seed,
        duration_s: scenario.duration.secs(),
        flows,
        queues,
    })
}

fn outcome(scenario_flow: &ScenarioFlow<'_>, end: Time) -> Result<FlowOutcome, RunError> {
    let mut flow = scenario_flow.flow.lock();
    let start = flow.started.unwrap_or(end);
    let (stop, received) = flow.over.unwrap_or((end, flow.received()));
    if flow.recorders > 0 {
        return Err(RunError::StateLeft(format!("flow {:?}", scenario_flow.spec.name)));
    }
    let failed = |reason| RunError::Flow { flow: scenario_flow.spec.name.clone(), at_s: end.0 as f64 / 1e9, reason };
    let hash = flow.check().map_err(failed)?;
    let (sent, lost) = (flow.meter.packets_sent, flow.meter.packets_lost);
    let numbers = Tally { start, stop, received, sent, lost, marked: scenario_flow.marked, hash };
    Ok(tally(scenario_flow.spec, &numbers, &mut flow.meter))
}

/// The first error of writing a log.
type Errors = Arc<Mutex<Option<io::Error>>>;

/// A flow before the run.
struct Plan<'a> {
    spec: &'a FlowSpec,
    choice: Choice,
    log: Option<Qlog>,
    errors: Errors,
}

impl<'a> Plan<'a> {
    fn new(spec: &'a FlowSpec, log: io::Result<Option<FlowLog>>) -> Result<Plan<'a>, RunError> {
        check_size(spec)?;
        let choice = Choice::of(spec)?;
        let errors = Errors::default();
        let log = log.map_err(|error| RunError::Log { flow: spec.name.clone(), error })?;
        let log = log.map(|log| qlog(log, spec, &errors));
        Ok(Plan { spec, choice, log, errors })
    }

    /// Has flow `number` of `scenario` wait for its start.
    fn start(self, number: usize, notices: &Notices, setup: &Setup, scenario: &Scenario) -> ScenarioFlow<'a> {
        let (spec, seed) = (self.spec, scenario.seed);
        let notifier = notices.of(number);
        let mut flow = Flow::new(spec, first_decision(spec), seed, notifier.clone());
        flow.liveness = Liveness::of(scenario, spec);
        let flow = Shared::new(flow);
        let start = spec.starts(seed);
        let ends =
            Ends { setup: setup.clone(), spec: Arc::new(spec.clone()), choice: self.choice, log: self.log, notifier };
        // What waits for others starts at the end of time until they are over.
        if start < Time(u64::MAX) {
            flow.lock().start_at(start);
        }
        spawn(flow.clone().live(ends, spec.stop, setup.clock));
        ScenarioFlow::new(spec, flow)
    }
}

/// Opens the trace of a flow.
fn qlog(log: FlowLog, spec: &FlowSpec, errors: &Errors) -> Qlog {
    let mut output = Some(ErrorKeeper { inner: log.output, error: Arc::clone(errors) });
    Qlog::to(move |_| Some(Box::new(output.take()?)))
        .title(&spec.name)
        .profile(log.settings.profile)
        .detail(log.settings.detail)
        .level(log.settings.level)
}

/// A writer that keeps its first error: logs end when their connections do.
struct ErrorKeeper<W> {
    inner: W,
    error: Errors,
}

impl<W> ErrorKeeper<W> {
    fn keep<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            lock(&self.error).get_or_insert(copy);
        })
    }
}

impl<W: Write> Write for ErrorKeeper<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.keep(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.keep(result)
    }
}
