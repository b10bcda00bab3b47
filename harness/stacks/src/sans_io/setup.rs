//! What a flow of a scenario is made of.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use windlass_adapter::qlog::Level;
use windlass_adapter::{Groups, QlogRecorder, Recorder, SharedTrace};
use windlass_controllers::{Algorithm, ConfiguredController, Decision, Path, Time, View};

use super::config;
use super::dialect::{Factory, NATIVES, STACK, native};
use super::flow::Flow;
use super::proto::ClientConfig;
use super::proto::congestion::ControllerFactory;
use super::tap::Tap;
use super::tls::Tls;
use super::watched::Natives;
use crate::driver::journal::{Journal, Listen, Output};
use crate::driver::log::{Run, SMALLEST, begin};
use crate::driver::native::{NoNative, Seen, Shadow};
use crate::payload::Source;
use crate::{Log, RunError};
use windlass_network::Stream;
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::{Control, FlowSpec};

/// What all flows of a run share.
pub struct Shared<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// Seed of everything random.
    pub seed: u64,
    /// The origin of virtual time.
    pub origin: Instant,
    /// The groups flows share windows in.
    pub groups: Groups<Algorithm, String>,
    /// Keys and certificates.
    pub tls: &'a Tls,
    /// Whether packets are seen in the clear, and logged with those that were lost.
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

impl Shared<'_> {
    /// Makes the parts of a flow.
    pub fn parts(&self, spec: &FlowSpec, log: Option<Log>) -> Result<Parts, RunError> {
        let payload = payload(spec)?;
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = self.first_decision(spec, payload)?;
        let trace = log.map(|log| self.begin(log, spec, &first));
        let journal = Journal::new(Meter::new(spec.packet_bytes), first, trace.clone());
        let journal = Arc::new(Mutex::new(journal));
        let factory = self.factory(spec, payload, Arc::clone(&journal), trace.clone(), level)?;
        let largest = largest(spec, payload);
        let transport = || config::transport(spec, payload);
        let tap = Arc::new(Tap::new(Arc::clone(&self.tls.client), Arc::clone(&journal)));
        let (sender, config) = config::sender(self.seed_of(spec, "sender"), tap, transport(), factory, largest);
        let receiver = config::receiver(self.seed_of(spec, "receiver"), self.tls, transport(), payload, largest);
        let source = Source::new(self.seed, &spec.name);
        let flow = Flow::new([sender, receiver], journal, source, spec.transfer_bytes.unwrap_or(u64::MAX));
        Ok(Parts { flow, config, trace })
    }

    /// What makes the flow's controller.
    pub fn factory(
        &self,
        spec: &FlowSpec,
        payload: u16,
        journal: Arc<Mutex<Journal>>,
        trace: Option<SharedTrace<Output>>,
        level: Level,
    ) -> Result<Arc<dyn ControllerFactory + Send + Sync>, RunError> {
        let controller = spec.controller.clone();
        let sees_packets = self.sees_packets;
        let told = move |recorder: QlogRecorder<Output>| {
            if sees_packets { recorder.without_packet_lost() } else { recorder }
        };
        let algorithm = match &spec.control {
            Control::Catalogue(algorithm) => *algorithm,
            Control::Native(name) => {
                // Of controllers that are not ours there are no steps to replay.
                let recorder = move |shadow: &Shadow, path: &Path| -> Box<dyn Recorder> {
                    let trace = trace.clone();
                    let qlog =
                        trace.map(|trace| told(QlogRecorder::new(trace, Level::Recovery, shadow, &controller, path)));
                    Box::new(Listen { journal: Arc::clone(&journal), qlog })
                };
                let factory = self.native(spec, name, payload)?;
                return Ok(Arc::new(Natives { factory, origin: self.origin, recorder: Box::new(recorder) }));
            }
        };
        let record = move |path: &Path| -> Box<dyn Recorder> {
            let trace = trace.clone();
            let qlog = trace.map(|trace| told(QlogRecorder::new(trace, level, &algorithm, &controller, path)));
            Box::new(Listen { journal: Arc::clone(&journal), qlog })
        };
        let factory = Factory::named(&spec.controller)
            .map_err(|error| RunError::Controller { flow: spec.name.clone(), error })?
            .origin(self.origin)
            .seed(Stream::new(self.seed, &format!("controller {}", spec.name)).integer())
            .record_with(record);
        Ok(Arc::new(match &spec.group {
            Some(group) => factory.group(&self.groups, group.clone()),
            None => factory,
        }))
    }

    fn native(
        &self,
        spec: &FlowSpec,
        name: &str,
        payload: u16,
    ) -> Result<Arc<dyn ControllerFactory + Send + Sync>, RunError> {
        native(name, payload).ok_or_else(|| {
            let error = NoNative { stack: STACK, name: name.to_owned(), known: NATIVES };
            RunError::NoNative { flow: spec.name.clone(), error }
        })
    }

    /// What the flow's controller decides before it has heard of anything.
    pub fn first_decision(&self, spec: &FlowSpec, payload: u16) -> Result<Decision, RunError> {
        let path = Path { now: Time::ZERO, mtu: spec.packet_bytes, seed: 0 };
        match &spec.control {
            Control::Catalogue(algorithm) => {
                Ok(algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())))
            }
            Control::Native(name) => {
                let window = self.native(spec, name, payload)?.build(self.origin, payload).window();
                let shadow = Shadow(Seen::new(window));
                Ok(shadow.decide(&shadow.start(&path), View::solo(&())))
            }
        }
    }

    /// The beginning of a log.
    pub fn begin(&self, log: Log, spec: &FlowSpec, first: &Decision) -> SharedTrace<Output> {
        begin(log, &Run { stack: STACK, scenario: self.scenario, seed: self.seed }, spec, first)
    }

    /// A seed for `part` of a flow alone.
    fn seed_of(&self, spec: &FlowSpec, part: &str) -> [u8; 32] {
        let mut bytes = [0; 32];
        Stream::new(self.seed, &format!("{part} {}", spec.name)).fill(&mut bytes);
        bytes
    }
}

/// The UDP payload of the flow's datagrams, bytes.
pub fn payload(spec: &FlowSpec) -> Result<u16, RunError> {
    let payload = u16::try_from(spec.packet_bytes).ok().filter(|_| spec.packet_bytes >= SMALLEST);
    payload.ok_or_else(|| RunError::PacketSize { stack: STACK, flow: spec.name.clone(), bytes: spec.packet_bytes })
}

/// The largest UDP payload its datagrams, of `payload` at first, can come to have, bytes.
pub fn largest(spec: &FlowSpec, payload: u16) -> u16 {
    // Read with the scenario: no smaller and no larger than QUIC allows.
    spec.discover_packet_bytes.and_then(|bytes| u16::try_from(bytes).ok()).unwrap_or(payload)
}
