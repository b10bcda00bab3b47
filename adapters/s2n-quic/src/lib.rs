//! windlass congestion controllers for [s2n-quic](https://docs.rs/s2n-quic/1.91).
//!
//! An [`Endpoint`] is what `with_congestion_controller` takes, at a client and at a server:
//!
//! ```
//! let client = s2n_quic::Client::builder()
//!     .with_congestion_controller(windlass_s2n_quic::Endpoint::named("a-tcp:iw=20")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A controller of one's own implements [`windlass_controllers::Controller`]; [`Static`] and
//! [`Endpoint::new`] plug it in.
//!
//! # What s2n-quic 1.91 cannot do
//!
//! * **Of an ACK frame only the newest packet is named**, together with the bytes of all.
//!   Packets are the bytes over the datagram size, rounded up; which of them left after the
//!   latest recovery began is exact where they left one after the other, and never too few.
//! * **No packet numbers, no reason of a loss.** Losses are reported packet by packet, and the
//!   adapter keeps send times with the packets.
//! * **No ACK delay.** The adapter works it out from what a sample did to the smoothed RTT;
//!   where s2n-quic left the delay in, it is zero. s2n-quic forgets the peer's exponent, so
//!   the usual one is assumed.
//! * **Only ECT(0)**, set by s2n-quic itself; a controller chooses neither the codepoint
//!   nor a DSCP.
//! * **Times are whole microseconds**, and packets due within the next millisecond leave at
//!   once.
//! * **A flow starts with its first packet**: there is no time before.
//! * No wake-ups, no probe trains, no one-way delays, no router feedback, no report of
//!   spurious losses. A controller that needs one of them is refused when its endpoint is
//!   made, with the reason.

mod ack_delay;
mod clock;
mod controller;
mod endpoint;
mod pacer;
mod packet;
mod path;
#[cfg(feature = "qlog")]
mod qlog;

pub use controller::Controller;
pub use endpoint::Endpoint;
pub use packet::PacketInfo;
#[cfg(feature = "qlog")]
pub use qlog::{Connection, NewConnection, Output, Qlog};
pub use windlass_adapter;
#[cfg(feature = "config")]
pub use windlass_adapter::config::{Config, ConfigError};
pub use windlass_adapter::{
    ChoiceError, Confidence, Flow, GroupStep, Groups, Limit, NamedController, NewFlow, Peer, Recorder, ResumeSettings,
    SavedPaths, SendRate, SendRates, StateVariables,
};
#[cfg(feature = "qlog")]
pub use windlass_adapter::{LogWriter, Report};
pub use windlass_controllers;
pub use windlass_controllers::{Algorithm, ConfiguredController, Decision, Event, EventKind, Path, Signals, Static};

/// The stack's name in errors and logs.
pub const STACK: &str = "s2n-quic";

/// What s2n-quic 1.91 reports to a controller, with the bookkeeping of this adapter.
pub const PROVIDES: Signals = Signals::ACKS
    .and(Signals::LOSS)
    .and(Signals::PERSISTENT_CONGESTION)
    .and(Signals::RTT)
    .and(Signals::ECN)
    .and(Signals::CE_COUNT)
    .and(Signals::WINDOW_AT_SEND)
    .and(Signals::DELIVERY_RATE)
    .and(Signals::PACING)
    .and(Signals::GROUPS);
