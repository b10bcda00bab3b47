//! What a flow of a scenario is made of.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use quinn_proto::ClientConfig;
use windlass_adapter::qlog::Level;
use windlass_adapter::{Groups, QlogRecorder, SharedTrace};
use windlass_controllers::{Algorithm, Decision, Path, Time, View};
use windlass_qlog::{Header, RecoveryParameters, Trace, Vantage};
use windlass_quinn::{Factory, STACK};

use super::config;
use super::flow::Flow;
use super::journal::{Journal, Listen, Output};
use super::run::{Log, RunError};
use super::tap::Tap;
use super::tls::Tls;
use crate::measure::Meter;
use crate::net::Stream;
use crate::scenario::FlowSpec;
use crate::sim::QlogSettings;
use crate::stacks::payload::Source;

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
        let payload = u16::try_from(spec.packet_bytes).ok().filter(|_| spec.packet_bytes >= config::SMALLEST);
        let payload =
            payload.ok_or_else(|| RunError::PacketSize { flow: spec.name.clone(), bytes: spec.packet_bytes })?;
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let trace = log.map(|log| self.begin(log, spec));
        let journal = Journal::new(Meter::new(spec.packet_bytes), first_decision(spec), trace.clone());
        let journal = Arc::new(Mutex::new(journal));
        let factory = self.factory(spec, Arc::clone(&journal), trace.clone(), level)?;
        let transport = || config::transport(spec, payload);
        let tap = Arc::new(Tap::new(Arc::clone(&self.tls.client), Arc::clone(&journal)));
        let (sender, config) =
            config::sender(self.seed_of(spec, "sender"), tap, transport(), Arc::new(factory), payload);
        let receiver = config::receiver(self.seed_of(spec, "receiver"), self.tls, transport(), payload);
        let source = Source::new(self.seed, &spec.name);
        let flow = Flow::new([sender, receiver], journal, source, spec.transfer_bytes.unwrap_or(u64::MAX));
        Ok(Parts { flow, config, trace })
    }

    /// What makes the flow's controller.
    fn factory(
        &self,
        spec: &FlowSpec,
        journal: Arc<Mutex<Journal>>,
        trace: Option<SharedTrace<Output>>,
        level: Level,
    ) -> Result<Factory, RunError> {
        let (algorithm, controller) = (spec.algorithm, spec.controller.clone());
        let record = move |path: &Path| -> Box<dyn windlass_adapter::Recorder> {
            let trace = trace.clone();
            let qlog = trace.map(|trace| QlogRecorder::new(trace, level, &algorithm, &controller, path));
            Box::new(Listen { journal: Arc::clone(&journal), qlog })
        };
        let factory = Factory::named(&spec.controller)
            .map_err(|error| RunError::Controller { flow: spec.name.clone(), error })?
            .origin(self.origin)
            .seed(Stream::new(self.seed, &format!("controller {}", spec.name)).integer())
            .record_with(record);
        Ok(match &spec.group {
            Some(group) => factory.group(&self.groups, group.clone()),
            None => factory,
        })
    }

    /// The beginning of a log.
    fn begin(&self, log: Log, spec: &FlowSpec) -> SharedTrace<Output> {
        let description = format!("{} on {}, seed {}", spec.controller, self.scenario, self.seed);
        let header = Header {
            title: &spec.name,
            description: &description,
            vantage: Vantage::Client,
            name: STACK,
            ..Header::default()
        };
        let QlogSettings { profile, detail, .. } = log.settings;
        let mut trace = Trace::new(log.output, profile, detail, &header);
        let parameters = RecoveryParameters {
            initial_congestion_window: Some(first_decision(spec).cwnd),
            ..RecoveryParameters::rfc9002(&spec.controller, spec.packet_bytes)
        };
        trace.recovery_parameters_set(spec.starts(self.seed).0, &parameters);
        SharedTrace::from(trace)
    }

    /// A seed for `part` of a flow alone.
    fn seed_of(&self, spec: &FlowSpec, part: &str) -> [u8; 32] {
        let mut bytes = [0; 32];
        Stream::new(self.seed, &format!("{part} {}", spec.name)).fill(&mut bytes);
        bytes
    }
}

/// What the flow's controller decides before it has heard of anything.
fn first_decision(spec: &FlowSpec) -> Decision {
    let path = Path { now: Time::ZERO, mtu: spec.packet_bytes, seed: 0 };
    spec.algorithm.decide(&spec.algorithm.start(&path), View::solo(&spec.algorithm.group()))
}
