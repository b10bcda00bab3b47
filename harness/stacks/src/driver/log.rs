//! Where a run's logs go, and why it can fail, whatever the stack.

use std::io;

use windlass_adapter::{ChoiceError, SharedTrace};
use windlass_controllers::Decision;
use windlass_qlog::{Header, RecoveryParameters, Trace, Vantage};

use super::native::NoNative;
use super::sender_log::Output;
use windlass_network::TopologyError;
use windlass_simulator::scenario::{FRAMES, FlowSpec, OBJECTS, Runaway, Scenario, VIDEO};
use windlass_simulator::sim::{QlogSettings, SimError};

/// The smallest datagram QUIC allows (`RFC 9000 §14`), bytes of UDP payload.
pub const SMALLEST: u32 = 1200;
/// The largest UDP payload, bytes (`RFC 9000 §18.2`).
pub const LARGEST: u32 = 65_527;

/// Where the log of one flow goes, and how it is written.
pub struct FlowLog {
    /// Writer of the trace.
    pub output: Output,
    /// Schema version and level of detail.
    pub settings: QlogSettings,
}

/// Opens the log of a flow; `None` for a flow without one.
pub type OpenLog<'a> = dyn FnMut(&FlowSpec) -> io::Result<Option<FlowLog>> + 'a;

/// The run, as its logs describe it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Name of the stack, as in results.
    pub stack: &'static str,
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Seed of all random numbers of the run.
    pub seed: u64,
}

/// Description in the log of `spec`.
#[must_use]
pub fn description(run: &Run<'_>, spec: &FlowSpec) -> String {
    format!("{} on {}, seed {}", spec.controller, run.scenario, run.seed)
}

/// The beginning of the log of `spec`, whose controller decides `first` to begin with.
#[must_use]
pub fn begin(log: FlowLog, run: &Run<'_>, spec: &FlowSpec, first: &Decision) -> SharedTrace<Output> {
    let description = description(run, spec);
    let header = Header {
        title: &spec.name,
        description: &description,
        // Who answers requests is the server.
        vantage: if spec.requests.is_some() { Vantage::Server } else { Vantage::Client },
        name: run.stack,
        ..Header::default()
    };
    let QlogSettings { profile, detail, .. } = log.settings;
    let mut trace = Trace::new(log.output, profile, detail, &header);
    let parameters = RecoveryParameters {
        initial_congestion_window: Some(first.cwnd),
        ..RecoveryParameters::rfc9002(&spec.controller, spec.packet_bytes)
    };
    trace.recovery_parameters_set(spec.starts(run.seed).0, &parameters);
    SharedTrace::from(trace)
}

/// Checks that of the keys that say what a flow's applications do `stack` knows all that `scenario` has; it knows
/// `known`.
///
/// # Errors
/// It does not know one.
pub fn check_keys(scenario: &Scenario, stack: &'static str, known: &[&str]) -> Result<(), RunError> {
    let mut flows = scenario.flow_set().flows.into_iter();
    match flows.find_map(|flow| flow.key_beyond(known).map(|key| (flow.name, key))) {
        Some((flow, key)) => Err(RunError::NoKey { stack, flow, key }),
        None => Ok(()),
    }
}

/// Why a stack may have no `key`, and where it is to be had, after a colon.
fn reason(key: &str) -> &'static str {
    match key {
        "requests" | VIDEO => {
            ": its data flows from the end that connects, and requests want a server that answers; sim, quinn, noq and s2n-quic have \
             them in virtual time"
        }
        FRAMES => "; sim, quinn, noq, s2n-quic and quiche measure the delays of frames, in virtual time",
        OBJECTS => {
            ": groups of objects need streams with priorities, which s2n-quic's API has not and the drivers of sim, quinn and noq \
             alone use, in virtual time"
        }
        _ => "",
    }
}

/// Why a run has no results.
#[derive(thiserror::Error)]
pub enum RunError {
    /// A controller needs what the stack does not report.
    #[error("flow {flow:?}: {error}")]
    Controller {
        /// Name of the flow.
        flow: String,
        /// The signals the stack lacks, or the mistake in the controller's text.
        error: ChoiceError,
    },
    /// The stack has no controller of its own of that name.
    #[error("flow {flow:?}: {error}")]
    NoNative {
        /// Name of the flow.
        flow: String,
        /// The name, and the stack's own names.
        error: NoNative,
    },
    /// A datagram size QUIC does not allow.
    #[error("flow {flow:?}: packet_bytes is {bytes}; {stack} needs {SMALLEST} to {LARGEST} bytes of UDP payload")]
    PacketSize {
        /// Name of the stack.
        stack: &'static str,
        /// Name of the flow.
        flow: String,
        /// The datagram size the scenario asks for, bytes.
        bytes: u32,
    },
    /// The simulator cannot run it.
    #[error(transparent)]
    Simulator(#[from] SimError),
    /// Too many packets were under way.
    #[error(transparent)]
    Runaway(Runaway),
    /// The stack runs over UDP sockets only.
    #[error("{0} has no virtual time; give --wire for real sockets")]
    NoVirtualTime(&'static str),
    /// The stack runs in virtual time only.
    #[error("{0} does not run on real sockets")]
    NoSockets(&'static str),
    /// A log of a simulated flow could not be written.
    #[error("cannot write qlog: {0}")]
    Qlog(io::Error),
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] TopologyError),
    /// Keys or certificates could not be made.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    /// A flow ended before its time.
    #[error("flow {flow:?} failed {at_s:.6} s into the run: {reason}")]
    Flow {
        /// Name of the flow.
        flow: String,
        /// Time since the start of the run, s.
        at_s: f64,
        /// The reason the stack gives.
        reason: String,
    },
    /// A key of a flow that the stack does not know.
    #[error("flow {flow:?}: {stack} has no {key}{}", reason(key))]
    NoKey {
        /// Name of the stack.
        stack: &'static str,
        /// Name of the flow.
        flow: String,
        /// The key.
        key: &'static str,
    },
    /// A fault that the stack cannot have in virtual time.
    #[error("flow {flow:?}: {stack} has no {fault}")]
    NoFault {
        /// Name of the stack.
        stack: &'static str,
        /// Name of the flow.
        flow: String,
        /// Kind of the fault.
        fault: &'static str,
    },
    /// Connections are gone and their controllers are not.
    #[error("{0}: state of its controllers is left after its connection")]
    StateLeft(String),
    /// `stop` asked for it.
    #[error("stopped")]
    Stopped,
    /// A log could not be written.
    #[error("flow {flow:?}: cannot write its log: {error}")]
    Log {
        /// Name of the flow.
        flow: String,
        /// The error of the write.
        error: io::Error,
    },
}

impl std::fmt::Debug for RunError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
