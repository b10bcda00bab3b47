//! windlass congestion controllers for [quinn](https://docs.rs/quinn/0.11).
//!
//! A [`Factory`] is a [`quinn_proto::congestion::ControllerFactory`], which `quinn` 0.11
//! re-exports, so one factory serves both crates:
//!
//! ```
//! use std::sync::Arc;
//! let mut transport = quinn_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(windlass_quinn::Factory::named("reno:iw=20")?));
//! # Ok::<(), windlass_quinn::ChoiceError>(())
//! ```
//!
//! A controller of one's own implements [`windlass_controllers::Controller`]; [`Static`] and
//! [`Factory::new`] plug it in.
//!
//! # What quinn 0.11 cannot do
//!
//! * **Losses come after acknowledgements.** An ACK frame is reported as its acknowledged
//!   packets, then its losses, then its marks, so a controller sees `PacketsAcked`,
//!   `PacketsLost`, `EcnCe` in that order, the RTT sample inside `PacketsAcked`. Growth by the acknowledgements
//!   of a frame precedes the response to its losses.
//! * **Bytes in flight after an acknowledgement still hold what the same frame is about to
//!   declare lost**, for the same reason.
//! * **Losses carry no packet number, packet count or trigger.** Packets are the bytes over
//!   the datagram size, rounded up.
//! * **ECN marks are not counted**, only that an ACK frame brought some: one `EcnCe` of
//!   one packet per such frame. Outgoing packets carry ECT(0) or nothing; a controller
//!   cannot choose the codepoint or a DSCP.
//! * **The pacer does not ask the controller.** It sends at 1.25 windows per smoothed RTT
//!   with bursts of 10 datagrams or more. A decided pacing rate is reported in
//!   [`metrics`](quinn_proto::congestion::Controller::metrics) for logs only.
//! * **No smoothed RTT of this frame, no RTT variation, no ACK delay.** `PacketsAcked` carries the
//!   sample measured from send times; the smoothed RTT is quinn's of the frame before with
//!   the sample folded in as RFC 9002 §5.3 does, the variation is the adapter's own.
//! * **Bytes in flight when a packet was sent are counted by the adapter** from `on_sent`, which
//!   includes bare ACKs and reports a burst of segments as one.
//! * No wake-ups, no probe trains, no one-way delays, no router feedback, no report of
//!   spurious losses. A controller that needs one of them is refused when its factory is
//!   made, with the reason.
//! * **A window below two datagrams is taken for two**: with less, a quinn server deadlocks
//!   in the handshake.
//! * **A restart after idle is reported when its first burst has left.** Whether the application has data is derived:
//!   an idle sender lets more than a probe timeout pass with nothing in flight, beyond what its pacer may have held.

mod controller;

pub use controller::Controller;
pub use windlass_adapter;
#[cfg(feature = "config")]
pub use windlass_adapter::config::{Config, ConfigError};
pub use windlass_adapter::{
    ChoiceError, Confidence, Flow, GroupStep, Groups, Limit, NamedController, Peer, Recorder, ResumeSettings,
    SavedPaths, SendRate, StateVariables,
};
#[cfg(feature = "qlog")]
pub use windlass_adapter::{LogWriter, QlogRecorder};
pub use windlass_controllers;
pub use windlass_controllers::{Algorithm, ConfiguredController, Decision, Event, EventKind, Path, Signals, Static};

/// The stack's name in errors and logs.
pub const STACK: &str = "quinn";

/// What quinn 0.11 reports to a controller, with the bookkeeping of this adapter.
pub const PROVIDES: Signals = Signals::ACKS
    .and(Signals::LOSS)
    .and(Signals::PERSISTENT_CONGESTION)
    .and(Signals::RTT)
    .and(Signals::ECN)
    .and(Signals::WINDOW_AT_SEND)
    .and(Signals::DELIVERY_RATE)
    .and(Signals::GROUPS);

windlass_adapter::factory!(STACK, PROVIDES, quinn_proto::congestion, Controller);

#[cfg(test)]
mod tests;
