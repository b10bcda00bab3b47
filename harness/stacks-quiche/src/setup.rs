//! Makes a flow of a scenario: its controller, configuration, logs and data.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use windlass_adapter::qlog::Level;
use windlass_adapter::{Groups, QlogRecorder, SharedTrace};
use windlass_controllers::{Algorithm, ConfiguredController, Decision, Path, Time, View};
use windlass_network::Stream;
use windlass_qlog::{Detail, Profile};
use windlass_quiche::{Definition, STACK};
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::{Control, FlowSpec};
use windlass_stacks::driver::journal::{Journal, Listen, Output};
use windlass_stacks::driver::log::{Run, SMALLEST, begin, description};
use windlass_stacks::driver::native::{NoNative, Seen, Shadow};
use windlass_stacks::payload::Source;
use windlass_stacks::{Log, RunError};

use crate::config::{Tls, client_context, config, server_context};
use crate::controller::{Choice, ClientConfig, Kind, NATIVES, OwnLog};
use crate::flow::Flow;

/// Parts that all flows of a run share.
pub struct Shared<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// The scenario's seed.
    pub seed: u64,
    /// The origin of virtual time.
    pub origin: Instant,
    /// The groups flows share windows in.
    pub groups: Groups<Algorithm, String>,
    /// Keys and certificates.
    pub tls: &'a Tls,
    /// Whether packets are seen in the clear; quiche shows none.
    #[allow(dead_code, reason = "other stacks of the kin do")]
    pub sees_packets: bool,
}

/// A flow not connected yet, and how to connect it.
pub struct Parts {
    /// The flow.
    pub flow: Flow,
    /// To connect with.
    pub config: ClientConfig,
    /// Its log.
    pub trace: Option<SharedTrace<Output>>,
}

/// The largest UDP payload quiche's buffers are made for here.
const LARGEST: u32 = 65_527;

/// The size quiche's path MTU discovery begins with, bytes.
const DISCOVERS_FROM: u32 = 1200;

/// The sender's side of a flow, as both virtual time and sockets need it.
pub struct SenderParts {
    /// The largest datagrams it may send, bytes.
    pub largest: usize,
    /// The sender log.
    pub journal: Arc<Mutex<Journal>>,
    /// How its controller is observed.
    pub kind: Kind,
    /// The sender's configuration and controller.
    pub config: ClientConfig,
    /// The log it writes.
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

impl Shared<'_> {
    /// Makes the parts of a flow.
    pub fn parts(&self, spec: &FlowSpec, log: Option<Log>) -> Result<Parts, RunError> {
        let SenderParts { largest, journal, kind, config, trace } = self.sender_parts(spec, log)?;
        let receiver = receiver(spec, self.tls, largest).map_err(RunError::Tls)?;
        let source = Source::new(self.seed, &spec.name);
        let bytes = spec.transfer_bytes.unwrap_or(u64::MAX);
        let flow = Flow::new(receiver, largest, kind, spec.ack, journal, source, bytes);
        Ok(Parts { flow, config, trace })
    }

    /// Makes the sender's side of a flow.
    pub fn sender_parts(&self, spec: &FlowSpec, log: Option<Log>) -> Result<SenderParts, RunError> {
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
        let first = self.first_decision(spec);
        let run = Run { stack: STACK, scenario: self.scenario, seed: self.seed };
        // quiche's own log of its own controllers has packets, too.
        let own = spec.control.algorithm().is_none();
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
        let journal = Arc::new(Mutex::new(Journal::new(Meter::new(spec.packet_bytes), first, None)));
        let choice = self.choice(spec, &journal, trace.clone(), level)?.logged(own_log);
        let kind = match (&choice, &spec.group) {
            (Choice::Native(..), _) => Kind::Native,
            (Choice::Ours(_), Some(_)) => Kind::Grouped,
            (Choice::Ours(_), None) => Kind::Ours,
        };
        let sender = sender(spec, largest).map_err(RunError::Tls)?;
        Ok(SenderParts { largest, journal, kind, config: ClientConfig { config: sender, choice }, trace })
    }

    /// The controller of the flow.
    fn choice(
        &self,
        spec: &FlowSpec,
        journal: &Arc<Mutex<Journal>>,
        trace: Option<SharedTrace<Output>>,
        level: Level,
    ) -> Result<Choice, RunError> {
        if let Control::Native(name) = &spec.control {
            return Choice::native(name).ok_or_else(|| {
                let error = NoNative { stack: STACK, name: name.clone(), known: NATIVES };
                RunError::NoNative { flow: spec.name.clone(), error }
            });
        }
        let journal = Arc::clone(journal);
        let definition = Definition::named(&spec.controller)
            .map_err(|error| RunError::Controller { flow: spec.name.clone(), error })?
            .origin(self.origin)
            .seed(Stream::new(self.seed, &format!("controller {}", spec.name)).integer())
            .record_with(move |new| {
                let trace = trace.clone();
                let qlog = trace.map(|trace| QlogRecorder::new(trace, level, new.controller, new.text, new.path));
                Box::new(Listen { journal: Arc::clone(&journal), qlog })
            });
        Ok(Choice::Ours(Box::new(match spec.group.clone() {
            Some(group) => definition.group(&self.groups, move |_| group.clone()),
            None => definition,
        })))
    }

    /// The decision of the flow's controller before any event; of quiche's own, ten packets until
    /// the connection is observed.
    fn first_decision(&self, spec: &FlowSpec) -> Decision {
        let path = Path { now: Time::ZERO, mtu: spec.packet_bytes, seed: 0 };
        match spec.control.algorithm() {
            Some(algorithm) => algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())),
            None => {
                let shadow = Shadow(Seen::new(10 * u64::from(spec.packet_bytes)));
                shadow.decide(&shadow.start(&path), View::solo(&()))
            }
        }
    }
}
