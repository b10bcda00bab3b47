//! Makes a flow of a scenario: its controller, configuration, logs and data.

use std::sync::{Arc, Mutex};

use windlass_adapter::qlog::Level;
use windlass_adapter::{QlogRecorder, SharedTrace};
use windlass_controllers::{ConfiguredController, Decision, Path, Time, View};
use windlass_network::Stream;
use windlass_qlog::{Detail, Profile};
use windlass_quiche::{Definition, STACK};
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::{Control, FRAMES, FlowSpec, WRITES};
use windlass_stacks::driver::log::{Run, SMALLEST, begin, description};
use windlass_stacks::driver::native::{NativeDecision, NativeObserver, NoNative};
use windlass_stacks::driver::sender_log::{Output, SenderLog, SenderLogRecorder};
use windlass_stacks::sans_io::{Context, Parts, SansIo};
use windlass_stacks::{FlowLog, RunError};

use crate::config::{Tls, client_context, config, server_context};
use crate::controller::{Choice, ClientConfig, Kind, NATIVES, OwnLog};
use crate::flow::Flow;

/// quiche as a stack in virtual time.
pub struct Driver {
    /// Keys and certificates of both ends.
    pub tls: &'static Tls,
    /// Whether quiche writes the logs of our controllers, too, where they are to have packets and no steps.
    pub own_logs: bool,
}

impl SansIo for Driver {
    const NAME: &'static str = STACK;
    const KEYS: &'static [&'static str] = &["resume", "receive_window_bytes", WRITES, FRAMES];
    type Connection = Flow;

    fn parts(&self, context: &Context<'_>, spec: &FlowSpec, log: Option<FlowLog>) -> Result<Parts<Flow>, RunError> {
        let SenderParts { largest, sender_log, kind, config, trace } = sender_parts(context, spec, log, self.own_logs)?;
        let receiver = receiver(spec, self.tls, largest).map_err(RunError::Tls)?;
        let connection = Flow::new(receiver, largest, kind, sender_log, context.seed, spec);
        Ok(Parts { connection, config, trace })
    }
}

/// The largest UDP payload quiche's buffers are made for here.
const LARGEST: u32 = 65_527;

/// The size quiche's path MTU discovery begins with, bytes.
const DISCOVERS_FROM: u32 = 1200;

/// The sender's side of a flow, as both virtual time and sockets need it.
pub struct SenderParts {
    /// The largest datagrams it may send, bytes.
    pub largest: usize,
    /// Log of the sender, as the adapter saw it.
    pub sender_log: Arc<Mutex<SenderLog>>,
    /// Observation of its controller.
    pub kind: Kind,
    /// The sender's configuration and controller.
    pub config: ClientConfig,
    /// The qlog trace of the flow; `None` if nothing is logged.
    pub trace: Option<SharedTrace<Output>>,
}

fn sender(spec: &FlowSpec, largest: usize) -> Result<quiche::Config, String> {
    let context = client_context().map_err(|error| error.to_string())?;
    config(spec, context, largest).map_err(|error| error.to_string())
}

/// What the receiving end of a flow accepts with, for datagrams of `largest` bytes at most.
///
/// # Errors
/// There is no such configuration.
pub fn receiver(spec: &FlowSpec, tls: &Tls, largest: usize) -> Result<quiche::Config, String> {
    let context = server_context(tls).map_err(|error| error.to_string())?;
    config(spec, context, largest).map_err(|error| error.to_string())
}

/// Makes the sender's side of a flow. Logs with packets and without steps are quiche's own of its own controllers, and with
/// `own_logs` of ours.
pub fn sender_parts(
    context: &Context<'_>,
    spec: &FlowSpec,
    log: Option<FlowLog>,
    own_logs: bool,
) -> Result<SenderParts, RunError> {
    let failed = |reason: String| RunError::Flow { flow: spec.name.clone(), at_s: 0.0, reason };
    if !(SMALLEST..=LARGEST).contains(&spec.packet_bytes) {
        return Err(RunError::PacketSize { stack: STACK, flow: spec.name.clone(), bytes: spec.packet_bytes });
    }
    if spec.discover_packet_bytes.is_some() && spec.packet_bytes != DISCOVERS_FROM {
        let bytes = spec.packet_bytes;
        return Err(failed(format!(
            "packet_bytes is {bytes}; quiche discovers larger ones from {DISCOVERS_FROM} bytes on"
        )));
    }
    let largest = spec.discover_packet_bytes.unwrap_or(spec.packet_bytes) as usize;
    let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
    let first = first_decision(spec);
    let run = Run { stack: STACK, scenario: context.scenario, seed: context.seed };
    // quiche's own log has packets, too.
    let own = spec.control.algorithm().is_none() || own_logs && level == Level::Recovery;
    let (own_log, log) = log.map_or((None, None), |log| match log.settings.detail {
        Detail::Packets if own && log.settings.profile == Profile::Ietf => (Some(log), None),
        _ => (None, Some(log)),
    });
    let own_log = own_log.map(|log| OwnLog {
        output: log.output,
        title: spec.name.clone(),
        description: description(&run, spec),
    });
    let trace = log.map(|log| begin(log, &run, spec, &first));
    // Without packets the sender log does not name the lost ones.
    let sender_log = Arc::new(Mutex::new(SenderLog::new(Meter::of(spec), first, None)));
    let choice = choice(context, spec, &sender_log, trace.clone(), level)?.logged(own_log);
    let kind = match (&choice, &spec.group) {
        (Choice::Native(..), _) => Kind::Native,
        (Choice::Ours(..), Some(_)) => Kind::Grouped,
        (Choice::Ours(..), None) => Kind::Ours,
    };
    let sender = sender(spec, largest).map_err(RunError::Tls)?;
    Ok(SenderParts { largest, sender_log, kind, config: ClientConfig { config: sender, choice }, trace })
}

/// The controller of the flow.
fn choice(
    context: &Context<'_>,
    spec: &FlowSpec,
    sender_log: &Arc<Mutex<SenderLog>>,
    trace: Option<SharedTrace<Output>>,
    level: Level,
) -> Result<Choice, RunError> {
    if let Control::Native(name) = &spec.control {
        return Choice::native(name).ok_or_else(|| {
            let error = NoNative { stack: STACK, name: name.clone(), known: NATIVES };
            RunError::NoNative { flow: spec.name.clone(), error }
        });
    }
    let sender_log = Arc::clone(sender_log);
    let definition = match spec.unnamed() {
        Some(controller) => Definition::new(controller),
        None => Definition::named(&spec.controller),
    };
    let definition = definition
        .map_err(|error| RunError::Controller { flow: spec.name.clone(), error })?
        .origin(context.origin)
        .seed(Stream::new(context.seed, &format!("controller {}", spec.name)).integer())
        .record_with(move |new| {
            let trace = trace.clone();
            let qlog = trace.map(|trace| QlogRecorder::new(trace, level, new.controller, new.text, new.path));
            Box::new(SenderLogRecorder::new(Arc::clone(&sender_log), qlog))
        });
    let definition = match spec.resume.clone() {
        Some(resume) => definition.resume(&context.saved_paths, move |_| resume.path.clone()),
        None => definition,
    };
    let definition = match spec.group.clone() {
        Some(group) => definition.group(&context.groups, move |_| group.clone()),
        None => definition,
    };
    Ok(Choice::Ours(Box::new(definition), None))
}

/// The decision of the flow's controller before any event; of quiche's own, ten packets until
/// the connection is observed.
fn first_decision(spec: &FlowSpec) -> Decision {
    let path = Path::new(Time::ZERO, spec.packet_bytes, 0);
    match spec.control.algorithm() {
        Some(algorithm) => algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())),
        None => {
            let observer = NativeObserver(NativeDecision::new(10 * u64::from(spec.packet_bytes)));
            observer.decide(&observer.start(&path), View::solo(&()))
        }
    }
}
