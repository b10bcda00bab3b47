//! windlass congestion controllers for [MsQuic](https://github.com/microsoft/msquic) 2.5.
//!
//! MsQuic has no interface for congestion controllers. `windlass-msquic-sys` builds the released
//! source, unchanged, together with a congestion control that calls plugins. This crate is such a
//! plugin and contains the whole catalogue. As a shared library it works in unmodified programs
//! (`MSQUIC_CC_PLUGIN`, `MSQUIC_CC`, `MSQUIC_CONFIG`). In a program of one's own:
//!
#![cfg_attr(feature = "native", doc = "```")]
#![cfg_attr(not(feature = "native"), doc = "```ignore")]
//! // For QUIC_SETTINGS.CongestionControlAlgorithm of a configuration:
//! let id = windlass_msquic::register("tcp-k:k=4")?;
//! assert!(id >= 0x4000);
//! // For all connections that select no controller:
//! windlass_msquic::set_default(Some("a-tcp"))?;
//! let error = windlass_msquic::register("tcp-k:k=yes").unwrap_err();
//! assert!(error.to_string().contains("yes"), "{error}");
//! # Ok::<(), windlass_msquic::RegisterError>(())
//! ```
//!
//! # What MsQuic 2.5 cannot do
//!
//! * **No timers for controllers, no probe trains, no router feedback, no ECT(1).** A
//!   controller that needs one of them is refused.
//! * **ECN and one-way delays only where the program turns them on**
//!   (`QUIC_SETTINGS.EcnEnabled`, `OneWayDelayEnabled`); one-way delays also want the peer.
//! * **The RTT sample of a frame comes with its acknowledgements**, after the CE marks and losses
//!   of the frame.
//! * **The pacing timer has a resolution of 1 ms.**

// What settings files alone need.
#![cfg_attr(not(unix), allow(dead_code))]

#[cfg(test)]
mod calls;
mod definition;
mod flow;
#[cfg(feature = "native")]
mod native;
pub mod packets;
mod path;
mod plugin;
mod process;
#[cfg(unix)]
mod settings;

pub use definition::{Definition, define_as};
#[cfg(feature = "native")]
pub use native::{RegisterError, add_catalogue, configure, load, register, register_as, set_default};
pub use plugin::plugin;
pub use windlass_adapter;
pub use windlass_adapter::config::{Config, ConfigError};
pub use windlass_adapter::{
    ChoiceError, Flow, GroupStep, Groups, NamedController, NewFlow, Peer, Recorder, StateVariables,
};
pub use windlass_controllers;
pub use windlass_controllers::{Algorithm, ConfiguredController, Decision, Event, EventKind, Path, Signals, Static};

/// The stack's name in errors and logs.
pub const STACK: &str = "msquic";

/// Signals of every connection of MsQuic 2.5 with this adapter.
pub const PROVIDES: Signals = Signals::ACKS
    .and(Signals::LOSS)
    .and(Signals::PERSISTENT_CONGESTION)
    .and(Signals::RTT)
    .and(Signals::PACKET_NUMBERS)
    .and(Signals::SPURIOUS_LOSS)
    .and(Signals::WINDOW_AT_SEND)
    .and(Signals::DELIVERY_RATE)
    .and(Signals::PACING)
    .and(Signals::GROUPS);

/// Additional signals with `QUIC_SETTINGS.EcnEnabled`.
pub const WITH_ECN: Signals = Signals::ECN.and(Signals::CE_COUNT);

/// Additional signals with `QUIC_SETTINGS.OneWayDelayEnabled`.
pub const WITH_ONE_WAY_DELAY: Signals = Signals::ONE_WAY_DELAY;

/// All signals a connection can have. A controller that needs others is refused before there is a
/// connection.
pub const AT_MOST: Signals = PROVIDES.and(WITH_ECN).and(WITH_ONE_WAY_DELAY);

/// The README's program.
#[cfg(all(doctest, feature = "native"))]
#[doc = include_str!("../README.md")]
struct Readme;
