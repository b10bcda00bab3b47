//! A scenario on real sockets, from beginning to end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use windlass_controllers::Time;

use super::Clock;
use super::relay::{Port, Relay, Relayed};
use super::socket::{Socket, bind, explained};
use super::transfer::Transfer;
use super::{Ends, Program, Receiver, Sender};
use crate::{OpenLog, RunError};
use windlass_network::Network;
use windlass_simulator::measure::{Tally, tally};
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::{FlowSpec, Scenario, WeightChanges, set_weight};

/// Time between two checks of whether to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// How long programs may take to notice that their flow is over.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Result of a run.
pub struct Report {
    /// Results, as those of a run in virtual time.
    pub outcome: Outcome,
    /// How late the link was when it attended to what was due, 99th percentile, ms.
    pub late_p99_ms: f64,
    /// Datagrams the system did not take from the link.
    pub refused: u64,
}

/// Runs a scenario with the programs `make` returns. `stop` is called now and then with the
/// time reached; it returns true to give up.
///
/// # Errors
/// The stack cannot run a flow, a flow failed, or it was stopped.
pub fn run<P: Program>(
    scenario: &Scenario,
    log: &mut OpenLog<'_>,
    stop: &dyn Fn(Time) -> bool,
    make: impl FnOnce(Clock) -> Result<P, RunError>,
) -> Result<Report, RunError> {
    refuse(scenario, P::KEYS)?;
    let runtime = runtime().map_err(|error| refused("run", format!("no runtime: {error}")))?;
    let network = Network::new(&scenario.topology, scenario.seed)?;
    let clock = Clock::start();
    let program = make(clock)?;
    let mut plans = Vec::new();
    {
        let _inside = runtime.enter();
        for spec in &scenario.flows {
            plans.push(Plan::new(&program, spec, scenario.seed, clock, log)?);
        }
    }
    let (ports, flows): (Vec<Port>, Vec<Flow<P::Sender>>) = plans.into_iter().map(|plan| plan.start(&runtime)).unzip();
    let weight_changes = WeightChanges::new(&scenario.weight_changes, set_weight);
    let give_up = AtomicBool::new(false);
    let relayed = thread::scope(|scope| {
        let relay = Relay::new(scenario, network, &ports, clock);
        let relay = scope.spawn(|| relay.run(&give_up));
        while !relay.is_finished() {
            thread::sleep(STOP_CHECK_INTERVAL);
            let now = clock.now();
            weight_changes.apply(now, program.groups());
            let failed = ports.iter().any(|port| port.transfer.failed().is_some());
            if failed || stop(now) {
                give_up.store(true, Ordering::Relaxed);
            }
        }
        relay.join()
    });
    let result = relayed
        .map_err(|_| refused("run", "the link broke down".to_owned()))
        .and_then(|relayed| finish::<P>(scenario, relayed, flows, &runtime, give_up.into_inner()));
    // The programs close their handles before a library can be closed at the end of the process.
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    result
}

/// What cannot be done in real time, or not without knowing what is in a datagram.
fn refuse(scenario: &Scenario, keys: &[&str]) -> Result<(), RunError> {
    if let Some(dynamic) = scenario.dynamic_flows.first() {
        return Err(refused(
            &dynamic.flow.name,
            "dynamic flows do not run over real sockets; list them as flows of their own".to_owned(),
        ));
    }
    let ends = scenario.flows.iter().find_map(|flow| Some((flow, flow.faults.first()?)));
    if let Some((flow, fault)) = ends {
        let kind = fault.kind.name();
        return Err(refused(&flow.name, format!("there is no {kind} on real sockets; ends have it in virtual time")));
    }
    if let Some((flow, key)) = scenario.flows.iter().find_map(|flow| Some((flow, flow.key_beyond(keys)?))) {
        return Err(refused(
            &flow.name,
            format!("there is no {key} on real sockets; quinn, noq and s2n-quic have it in virtual time"),
        ));
    }
    match scenario.flows.iter().find(|flow| !flow.drop_packets.is_empty()) {
        Some(flow) => Err(refused(
            &flow.name,
            "drop_packets does not work on real sockets; which datagrams carry data is encrypted".to_owned(),
        )),
        None => Ok(()),
    }
}

fn refused(flow: &str, reason: String) -> RunError {
    RunError::Flow { flow: flow.to_owned(), at_s: 0.0, reason }
}

/// The error of a flow that gets no socket.
#[must_use]
pub fn no_socket(flow: &str, error: io::Error) -> RunError {
    refused(flow, format!("no socket for it: {}", explained(error)))
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// A flow before the run.
struct Plan<P: Program> {
    port: Port,
    ends: Ends<P::Sender, P::Receiver>,
    /// The address that the sender takes for its peer's.
    link: std::net::SocketAddr,
}

/// A flow while it runs.
struct Flow<S> {
    transfer: Arc<Transfer>,
    sender: JoinHandle<S>,
    sender_log: Arc<std::sync::Mutex<crate::driver::sender_log::SenderLog>>,
    trace: Option<windlass_adapter::SharedTrace<crate::driver::sender_log::Output>>,
}

impl<P: Program> Plan<P> {
    fn new(program: &P, spec: &FlowSpec, seed: u64, clock: Clock, log: &mut OpenLog<'_>) -> Result<Self, RunError> {
        let log = log(spec).map_err(|error| RunError::Log { flow: spec.name.clone(), error })?;
        let ends = program.ends(spec, log)?;
        let transfer = Arc::new(Transfer::new(spec, seed, clock, Arc::clone(&ends.sender_log)));
        let no_socket = |error| no_socket(&spec.name, error);
        let facing_sender = bind().map_err(no_socket)?;
        let link = facing_sender.local_addr().map_err(no_socket)?;
        let facing_sender = Socket::new(facing_sender, ends.sender.address()).map_err(no_socket)?;
        let facing_receiver =
            bind().and_then(|socket| Socket::new(socket, ends.receiver.address())).map_err(no_socket)?;
        Ok(Plan { port: Port { transfer, sockets: [facing_sender, facing_receiver] }, ends, link })
    }

    fn start(self, runtime: &Runtime) -> (Port, Flow<P::Sender>) {
        let Plan { port, ends, link } = self;
        let transfer = Arc::clone(&port.transfer);
        runtime.spawn(Arc::clone(&transfer).receive(ends.receiver));
        let sender = runtime.spawn(Arc::clone(&transfer).send(ends.sender, link));
        (port, Flow { transfer, sender, sender_log: ends.sender_log, trace: ends.trace })
    }
}

fn finish<P: Program>(
    scenario: &Scenario,
    relayed: Relayed,
    flows: Vec<Flow<P::Sender>>,
    runtime: &Runtime,
    gave_up: bool,
) -> Result<Report, RunError> {
    for flow in &flows {
        if let Some((at, reason)) = flow.transfer.failed() {
            let at_s = at.0 as f64 / 1e9;
            return Err(RunError::Flow { flow: flow.transfer.spec.name.clone(), at_s, reason: reason.clone() });
        }
    }
    if gave_up {
        return Err(RunError::Stopped);
    }
    let end = scenario.end();
    let mut outcomes = Vec::new();
    for (flow, marked) in flows.into_iter().zip(&relayed.marked) {
        outcomes.push(outcome(flow, *marked, end, runtime)?);
    }
    let (traffic, queues) = relayed.meter.finish(end, scenario, &relayed.network);
    outcomes.extend(traffic);
    let outcome = Outcome {
        scenario: scenario.name.clone(),
        stack: format!("{}-wire", P::NAME),
        seed: scenario.seed,
        duration_s: scenario.duration.secs(),
        flows: outcomes,
        queues,
    };
    let late_p99_ms = relayed.lateness.quantile(0.99).unwrap_or(0.0) / 1e6;
    Ok(Report { outcome, late_p99_ms, refused: relayed.refused })
}

fn outcome<S: Sender>(flow: Flow<S>, marked: u64, end: Time, runtime: &Runtime) -> Result<FlowOutcome, RunError> {
    let transfer = flow.transfer;
    let name = || transfer.spec.name.clone();
    let failed = |reason| RunError::Flow { flow: name(), at_s: end.0 as f64 / 1e9, reason };
    transfer.end();
    let sender = runtime
        .block_on(async { tokio::time::timeout(SHUTDOWN_TIMEOUT, flow.sender).await })
        .map_err(|_| failed("its sender does not stop".to_owned()))?
        .map_err(|error| failed(format!("its sender broke down: {error}")))?;
    let counts = sender.counts();
    // Drops the connection, so that its controller's recorder leaves the sender log.
    drop(sender);
    let hash = transfer.check().map_err(failed)?;
    if let Some(trace) = &flow.trace {
        trace.lock().flush().map_err(|error| RunError::Log { flow: name(), error })?;
    }
    let started = transfer.started();
    let over = transfer.over().filter(|_| started.is_some());
    let (stop, received) = over.unwrap_or((end, transfer.received()));
    let numbers =
        Tally { start: started.unwrap_or(end), stop, received, sent: counts.sent, lost: counts.lost, marked, hash };
    let mut sender_log = crate::driver::sender_log::lock(&flow.sender_log);
    Ok(tally(&transfer.spec, &numbers, &mut sender_log.meter))
}
