//! Where a run's logs go, and why it can fail, whatever the stack.

use std::io;

use windlass_adapter::ChoiceError;

use super::journal::Output;
use super::native::NoNative;
use crate::net::TopologyError;
use crate::sim::QlogSettings;

/// The smallest datagram QUIC allows (`RFC 9000 §14`), bytes of UDP payload.
pub const SMALLEST: u32 = 1200;
/// The largest UDP payload.
pub const LARGEST: u32 = 65_527;

/// Where the log of one flow goes, and how it is written.
pub struct Log {
    /// What is written to.
    pub output: Output,
    /// How.
    pub settings: QlogSettings,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A controller needs what the stack does not report.
    #[error("flow {flow:?}: {error}")]
    Controller {
        /// The flow.
        flow: String,
        /// What is missing.
        error: ChoiceError,
    },
    /// The stack has no controller of its own of that name.
    #[error("flow {flow:?}: {error}")]
    NoNative {
        /// The flow.
        flow: String,
        /// Which, and which there are.
        error: NoNative,
    },
    /// A datagram size QUIC does not allow.
    #[error("flow {flow:?}: packet_bytes is {bytes}; {stack} needs {SMALLEST} to {LARGEST} bytes of UDP payload")]
    PacketSize {
        /// The stack.
        stack: &'static str,
        /// The flow.
        flow: String,
        /// Its packet size.
        bytes: u32,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] TopologyError),
    /// No TLS.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    /// A flow came to an end nobody asked for.
    #[error("flow {flow:?} failed {at_s:.6} s into the run: {reason}")]
    Flow {
        /// The flow.
        flow: String,
        /// When, s.
        at_s: f64,
        /// Why.
        reason: String,
    },
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
    /// A log could not be written.
    #[error("flow {flow:?}: cannot write its log: {error}")]
    Log {
        /// The flow.
        flow: String,
        /// Why.
        error: io::Error,
    },
}
