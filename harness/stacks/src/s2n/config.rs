//! s2n-quic's configuration for a flow: its controller, and nothing else that limits it.

use std::time::Duration;

use s2n_quic::provider::limits::Limits;
use windlass_controllers::{ConfiguredController, Decision, Path, Time, View};
use windlass_s2n_quic::STACK;
use windlass_simulator::scenario::{Control, FlowSpec};

use crate::RunError;
use crate::driver::log::SMALLEST;
use crate::driver::native::{NativeDecision, NativeObserver, NoNative};

/// The controller of a flow.
#[derive(Clone, Debug)]
pub enum Choice {
    /// A controller of the catalogue.
    Ours(Box<windlass_s2n_quic::Endpoint>),
    /// s2n-quic's CUBIC.
    Cubic,
    /// s2n-quic's BBRv2.
    Bbr,
}

/// s2n-quic's own controllers: what a user types after `native:`.
pub const NATIVES: &[&str] = &["cubic", "bbr"];

impl Choice {
    /// The controller of `spec`.
    ///
    /// # Errors
    /// s2n-quic has no such controller, or does not report a signal it needs.
    pub fn of(spec: &FlowSpec) -> Result<Choice, RunError> {
        let flow = || spec.name.clone();
        match &spec.control {
            Control::Named(_) => {
                let endpoint = match spec.unnamed() {
                    Some(controller) => windlass_s2n_quic::Endpoint::new(controller),
                    None => windlass_s2n_quic::Endpoint::named(&spec.controller),
                };
                let endpoint = endpoint.map_err(|error| RunError::Controller { flow: flow(), error })?;
                Ok(Choice::Ours(Box::new(endpoint)))
            }
            Control::Native(name) => match name.as_str() {
                "cubic" => Ok(Choice::Cubic),
                "bbr" => Ok(Choice::Bbr),
                _ => {
                    let error = NoNative { stack: STACK, name: name.clone(), known: NATIVES };
                    Err(RunError::NoNative { flow: flow(), error })
                }
            },
        }
    }
}

/// What the flow's controller decides before its first event; the window
/// of another than ours is known later.
pub fn first_decision(spec: &FlowSpec) -> Decision {
    let path = Path::new(Time::ZERO, spec.packet_bytes, 0);
    match spec.control.algorithm() {
        Some(algorithm) => algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())),
        None => NativeObserver(NativeDecision::new(0))
            .decide(&NativeObserver(NativeDecision::new(0)).start(&path), View::solo(&())),
    }
}

/// Error of s2n-quic in making an end.
pub type Error = Box<dyn std::error::Error>;

/// The largest an IPv4 packet holds.
const LARGEST: u32 = 65_507;

/// Bytes of IPv4 and UDP headers, which s2n-quic counts as part of a datagram's size.
const HEADERS: u16 = 28;

/// Sizes of a flow's datagrams as s2n-quic counts them, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// The size at the start of a path, bytes.
    pub first: u16,
    /// The size they may be raised to, bytes.
    pub largest: u16,
}

impl Sizes {
    /// Those of a flow that was [checked](check_size).
    pub fn of(spec: &FlowSpec) -> Sizes {
        let size = |payload| u16::try_from(payload).unwrap_or(u16::MAX).saturating_add(HEADERS);
        Sizes { first: size(spec.packet_bytes), largest: size(spec.discover_packet_bytes.unwrap_or(spec.packet_bytes)) }
    }
}

/// Checks that s2n-quic can send datagrams of the flow's size.
///
/// # Errors
/// They are too small or too large.
pub fn check_size(spec: &FlowSpec) -> Result<(), RunError> {
    if (SMALLEST..=LARGEST).contains(&spec.packet_bytes) {
        return Ok(());
    }
    Err(RunError::PacketSize { stack: STACK, flow: spec.name.clone(), bytes: spec.packet_bytes })
}

/// Limits that never limit a flow, but for windows that the scenario has; only to a peer that vanishes is a connection given up.
///
/// # Errors
/// s2n-quic's.
pub fn limits(spec: &FlowSpec) -> Result<Limits, Error> {
    let window = spec.receive_window.unwrap_or(u64::from(u32::MAX));
    let idle = if spec.vanishes.is_some() { Duration::from_nanos(spec.idle_timeout.0) } else { Duration::ZERO };
    let mut limits = Limits::new();
    if spec.requests.is_some() {
        limits = limits.with_bidirectional_local_data_window(window)?;
    }
    Ok(limits
        .with_data_window(window)?
        .with_unidirectional_data_window(window)?
        .with_max_send_buffer_size(u32::MAX)?
        .with_max_ack_delay(Duration::from_nanos(spec.ack.max_delay.0))?
        .with_max_idle_timeout(idle)?
        .with_max_handshake_duration(Duration::from_secs(3600))?)
}
