//! A scenario with s2n-quic at both ends of every flow.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use s2n_quic::provider::io::testing::{Executor, primary, spawn};
use windlass_adapter::Groups;
use windlass_controllers::{Decision, Engine, Path, Span, Time, View};
use windlass_s2n_quic::{Qlog, STACK};

use super::clock::Clock;
use super::ends::{Choice, Setup};
use super::flow::{Flow, Shared};
use super::world::{Lane, Wire, World};
use crate::net::Network;
use crate::outcome::{FlowOutcome, Outcome};
use crate::scenario::{FlowSpec, Scenario};
use crate::stacks::driver::log::SMALLEST;
use crate::stacks::driver::native::{Seen, Shadow};
use crate::stacks::identity::identity;
use crate::stacks::payload::{Source, hex};
use crate::stacks::{Log, RunError};

/// The largest an IPv4 packet holds.
const LARGEST: u32 = 65_507;

/// How far a run is advanced before it is looked at whether to stop.
const STRIDE: Span = Span::from_millis(50);

/// Runs a scenario from beginning to end. `log` says where the log of each flow goes, if
/// anywhere.
///
/// # Errors
/// s2n-quic cannot run a flow, or a flow failed.
pub fn run(
    scenario: &Scenario,
    log: &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
) -> Result<Outcome, RunError> {
    run_unless(scenario, log, &|_| false)
}

/// [`run`], telling `stop` now and then how far it is, which says whether to give up.
///
/// # Errors
/// Those of [`run`], and [`RunError::Stopped`].
pub fn run_unless(
    scenario: &Scenario,
    log: &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    let end = Time(scenario.duration.0);
    for (missing, what) in [
        (!scenario.crowds.is_empty(), "crowds of flows"),
        (!scenario.strengths.is_empty(), "groups whose strength changes"),
    ] {
        if missing {
            let reason =
                format!("the scenario has {what}, which {STACK} does not run here; the simulator and quinn do");
            return Err(RunError::Flow { flow: scenario.name.clone(), at_s: 0.0, reason });
        }
    }
    let mut plans = Vec::new();
    for spec in &scenario.flows {
        plans.push(Plan::new(spec, scenario, log)?);
    }
    let network = Network::new(&scenario.topology, scenario.seed)?;
    let world = Rc::new(RefCell::new(World::new(scenario, network, stop)));
    let stopped = Arc::clone(&world.borrow().stopped);
    let mut errors = Vec::new();
    {
        let mut executor = Executor::new(Wire(Rc::clone(&world)), scenario.seed);
        let handle = executor.handle().clone();
        executor.enter(|| {
            let clock = Clock::begin();
            let groups = Groups::default();
            let identity = identity().map_err(RunError::Tls)?;
            let setup = Setup { handle: &handle, identity, seed: scenario.seed, clock, groups: &groups };
            let mut lanes = Vec::new();
            for plan in plans {
                errors.push(plan.errors.clone());
                lanes.push(plan.start(&setup)?);
            }
            let flows: Vec<Shared> = lanes.iter().map(|lane| lane.flow.clone()).collect();
            let world = &mut *world.borrow_mut();
            world.lanes = lanes;
            world.begin(clock);
            primary::spawn(async move {
                while clock.now() < end
                    && !stopped.load(Ordering::Relaxed)
                    && flows.iter().all(|flow| flow.lock().failed.is_none())
                {
                    clock.wait(end.min(clock.now() + STRIDE)).await;
                }
            });
            Ok::<(), RunError>(())
        })?;
        executor.run();
        // Nothing that happens while everything is taken down belongs to the run.
        world.borrow_mut().close(end);
    }
    let world = Rc::try_unwrap(world).map_err(|_| RunError::Tls("the network is still in use".to_owned()))?;
    finish(scenario, world.into_inner(), &errors, end)
}

fn finish(
    scenario: &Scenario,
    world: World<'_>,
    errors: &[Arc<Mutex<Option<io::Error>>>],
    end: Time,
) -> Result<Outcome, RunError> {
    if world.stopped.load(Ordering::Relaxed) {
        return Err(RunError::Stopped);
    }
    let mut flows = Vec::new();
    for (lane, error) in world.lanes.into_iter().zip(errors) {
        let name = || lane.spec.name.clone();
        if let Some((at, reason)) = lane.flow.lock().failed.take() {
            return Err(RunError::Flow { flow: name(), at_s: at.0 as f64 / 1e9, reason });
        }
        if world.overrun > 0 {
            let reason = format!("{} datagrams arrived at once beyond what s2n-quic takes in", world.overrun);
            return Err(RunError::Flow { flow: name(), at_s: end.0 as f64 / 1e9, reason });
        }
        if let Some(error) = error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(RunError::Log { flow: name(), error });
        }
        flows.push(outcome(&lane, end)?);
    }
    let (traffic, queues) = world.meter.finish(end, scenario, &world.network);
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

fn outcome(lane: &Lane<'_>, end: Time) -> Result<FlowOutcome, RunError> {
    let spec = lane.spec;
    let mut flow = lane.flow.lock();
    let start = flow.started.unwrap_or(end);
    let (stop, received) = flow.over.unwrap_or((end, flow.received()));
    let active = stop.since(start).0;
    let failed = |reason| RunError::Flow { flow: spec.name.clone(), at_s: end.0 as f64 / 1e9, reason };
    let hash = flow.check().map_err(failed)?;
    let ms = |ns: f64| ns / 1e6;
    let meter = &mut flow.meter;
    Ok(FlowOutcome {
        name: spec.name.clone(),
        controller: spec.controller.clone(),
        start_s: start.0 as f64 / 1e9,
        stop_s: stop.0 as f64 / 1e9,
        goodput_mbps: if active == 0 { 0.0 } else { received as f64 * 8e3 / active as f64 },
        packets_sent: meter.packets_sent,
        packets_lost: meter.packets_lost,
        packets_marked: lane.marked,
        congestion_events: meter.congestion_events,
        rtt_mean_ms: meter.rtt.mean().map(ms),
        rtt_p95_ms: meter.rtt.quantile(0.95).map(ms),
        rtt_min_ms: meter.rtt.min().map(|ns| ns as f64 / 1e6),
        cwnd_mean_packets: meter.mean_window(stop.0, active),
        sha256: Some(hex(&hash)),
        completed: spec.transfer_bytes.is_some_and(|bytes| received >= bytes),
        transfers: None,
        series: meter.take_series(),
    })
}

/// A flow before the run.
struct Plan<'a> {
    spec: &'a FlowSpec,
    choice: Choice,
    log: Option<Qlog>,
    errors: Arc<Mutex<Option<io::Error>>>,
    scenario: &'a Scenario,
}

impl<'a> Plan<'a> {
    fn new(
        spec: &'a FlowSpec,
        scenario: &'a Scenario,
        log: &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
    ) -> Result<Plan<'a>, RunError> {
        let name = || spec.name.clone();
        let refuse = |reason| RunError::Flow { flow: name(), at_s: 0.0, reason };
        if !(SMALLEST..=LARGEST).contains(&spec.packet_bytes) {
            return Err(RunError::PacketSize { stack: STACK, flow: name(), bytes: spec.packet_bytes });
        }
        if !spec.drop_packets.is_empty() {
            return Err(refuse(format!("drop_packets: {STACK} does not tell which datagrams carry data")));
        }
        let choice = Choice::of(spec)?;
        let errors = Arc::default();
        let log = log(spec).map_err(|error| RunError::Log { flow: name(), error })?;
        let log = log.map(|log| qlog(log, spec, &errors));
        Ok(Plan { spec, choice, log, errors, scenario })
    }

    /// Makes both ends and has them do their work.
    fn start(self, setup: &Setup<'_>) -> Result<Lane<'a>, RunError> {
        let (spec, scenario) = (self.spec, self.scenario);
        let source = Source::new(scenario.seed, &spec.name);
        let flow = Shared::new(Flow::new(spec, first_decision(spec), source));
        let failed = |error: Box<dyn std::error::Error>| RunError::Flow {
            flow: spec.name.clone(),
            at_s: 0.0,
            reason: error.to_string(),
        };
        let (server, to) = setup.receiver(spec).map_err(failed)?;
        let (client, from) = setup.sender(spec, self.choice, &flow, self.log).map_err(failed)?;
        let start = spec.starts(scenario.seed);
        if start < spec.stop {
            spawn(flow.clone().receive(server, setup.clock));
            spawn(flow.clone().send(client, to, start, setup.clock));
            spawn(flow.clone().stop(spec.stop, setup.clock));
        }
        Ok(Lane { spec, flow, ends: [from, to], marked: 0 })
    }
}

/// The log of a flow.
fn qlog(log: Log, spec: &FlowSpec, errors: &Arc<Mutex<Option<io::Error>>>) -> Qlog {
    let mut output = Some(Told { inner: log.output, error: Arc::clone(errors) });
    Qlog::to(move |_| Some(Box::new(output.take()?)))
        .title(&spec.name)
        .profile(log.settings.profile)
        .detail(log.settings.detail)
        .level(log.settings.level)
}

/// A writer that keeps its first error: logs end when their connections do.
struct Told<W> {
    inner: W,
    error: Arc<Mutex<Option<io::Error>>>,
}

impl<W> Told<W> {
    fn keep<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(copy);
        })
    }
}

impl<W: Write> Write for Told<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.keep(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.keep(result)
    }
}

/// What the flow's controller decides before it has heard of anything; another than ours
/// tells its window when it has one.
fn first_decision(spec: &FlowSpec) -> Decision {
    let path = Path { now: Time::ZERO, mtu: spec.packet_bytes, seed: 0 };
    match spec.control.algorithm() {
        Some(algorithm) => algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())),
        None => Shadow(Seen::new(0)).decide(&Shadow(Seen::new(0)).start(&path), View::solo(&())),
    }
}
