//! windlass congestion controllers for [noq](https://docs.rs/noq/1.4).
//!
//! A [`Factory`] is a [`noq_proto::congestion::ControllerFactory`], which `noq` 1.4
//! re-exports, so one factory serves both crates:
//!
//! ```
//! use std::sync::Arc;
//! let mut transport = noq_proto::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(windlass_noq::Factory::named("reno:iw=20")?));
//! # Ok::<(), windlass_noq::ChoiceError>(())
//! ```
//!
//! A controller of one's own implements [`windlass_controllers::Controller`]; [`Static`] and
//! [`Factory::new`] plug it in.
//!
//! noq makes a controller for every path of a connection; each is a flow of its own, and
//! all paths of the connections of one factory are in its group, if it has one.
//!
//! # What noq 1.4 cannot do
//!
//! * **Losses come after acknowledgements.** An ACK frame is reported as what it shows to
//!   have been lost only in appearance, then its acknowledged packets, then its losses, then
//!   its marks, so a controller sees `SpuriousLoss`, `PacketsAcked`, `PacketsLost`, `EcnCe` in
//!   that order, the RTT sample inside `PacketsAcked`. Growth by the acknowledgements of a frame precedes the
//!   response to its losses.
//! * **Bytes in flight after an acknowledgement still hold what the same frame is about to
//!   declare lost**, for the same reason.
//! * **A spurious loss is reported when the last packet thought lost within two probe timeouts
//!   is acknowledged**, without a time: its event bears that of the call before.
//! * **ECN marks are not counted**, only that an ACK frame brought some: one `EcnCe` of
//!   one packet per such frame. Outgoing packets carry ECT(0) or nothing; a controller
//!   cannot choose the codepoint or a DSCP.
//! * **The pacer sends bursts**: 2 ms worth of the rate or 10 datagrams, whichever is more,
//!   but not more than 10 ms worth. Without a decided rate it lets 1.25 windows leave in a smoothed RTT, in slow
//!   start too, as for noq's own controllers.
//! * **A restart after idle is reported when its first packet has left.** Whether the application has data is derived:
//!   an idle sender lets more than a probe timeout pass with nothing in flight, beyond what its pacer may have held.
//! * **No smoothed RTT of this frame, no RTT variation, no ACK delay.** `PacketsAcked` carries the
//!   sample measured from send times; the smoothed RTT is noq's of the frame before with
//!   the sample folded in as RFC 9002 §5.3 does, the variation is the adapter's own.
//! * **Bytes in flight when a packet was sent are counted by the adapter** from packets that ask for
//!   an ACK.
//! * Losses carry no trigger. No wake-ups, no probe trains, no one-way delays, no router
//!   feedback. A controller that needs one of them is refused when its factory is made,
//!   with the reason.
//! * **A window below two datagrams is taken for two** (`RFC 9002 §7.2`).

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
pub const STACK: &str = "noq";

/// What noq 1.4 reports to a controller, with the bookkeeping of this adapter.
pub const PROVIDES: Signals = Signals::ACKS
    .and(Signals::LOSS)
    .and(Signals::PERSISTENT_CONGESTION)
    .and(Signals::SPURIOUS_LOSS)
    .and(Signals::PACKET_NUMBERS)
    .and(Signals::RTT)
    .and(Signals::ECN)
    .and(Signals::WINDOW_AT_SEND)
    .and(Signals::DELIVERY_RATE)
    .and(Signals::PACING)
    .and(Signals::GROUPS);

windlass_adapter::factory!(STACK, PROVIDES, noq_proto::congestion, Controller);

#[cfg(test)]
mod tests;
