//! windlass congestion controllers for [quiche](https://docs.rs/quiche) 0.28 to 0.30.
//!
//! quiche has no public interface for congestion controllers. `cargo xtask quiche`, in windlass'
//! repository, makes a quiche that has one ([`quiche::external`]); this crate registers our
//! controllers with it. Then quiche accepts their names wherever it accepts `cubic`, parameters
//! included:
//!
//! ```
//! windlass_quiche::register_all();
//! let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
//! config.set_cc_algorithm_name("tcp-k:k=4")?;
//! assert_eq!(config.set_cc_algorithm_name("tcp-k:k=yes"), Err(quiche::Error::CongestionControl));
//! # Ok::<(), quiche::Error>(())
//! ```
//!
//! quiche's error does not say what is wrong; the log does, and [`check`] returns it.
//!
//! # What quiche 0.30 cannot do
//!
//! * **It sets no ECT codepoint.** A program that sets one on its sockets calls
//!   [`sets_ect`]; without that, controllers that need ECN are refused.
//! * **No timers for controllers, no probe trains, no one-way delays, no router feedback.** A
//!   controller that needs one of them is refused.
//! * **No persistent congestion.** The adapter establishes it (`RFC 9002 §7.6`).
//! * **Pacing is advice**: `quiche::Connection::get_next_release_time` says when the next datagram
//!   may leave, and the program has to wait for it.
//!
//! # Names
//!
//! `reno`, `cubic`, `bbr`, `bbr2` and `bbr2_gcongestion` remain quiche's own. Ours of the same
//! name are reached with the prefix `windlass/`, which works with every name:
//! `windlass/cubic`.

#![forbid(unsafe_code)]

mod app_limited;
mod congestion;
mod definition;
mod guard;
mod names;
mod path;

pub use definition::{Definition, sets_ect};
pub use names::{PREFIX, RegisterError, check, register, register_all, register_as};
/// The quiche whose connections get the controllers. A program that uses it by this name cannot have two.
pub use quiche;
pub use windlass_adapter;
#[cfg(feature = "config")]
pub use windlass_adapter::config::{Config, ConfigError};
#[cfg(all(feature = "config", unix))]
pub use windlass_adapter::config::{Settings, SettingsFile};
pub use windlass_adapter::{
    ChoiceError, Flow, GroupStep, Groups, NamedController, NewFlow, Peer, Recorder, ResumeSettings, SavedPaths,
    StateVariables,
};
#[cfg(feature = "qlog")]
pub use windlass_adapter::{LogWriter, QlogRecorder};
pub use windlass_controllers;
pub use windlass_controllers::{Algorithm, ConfiguredController, Decision, Event, EventKind, Path, Signals, Static};

/// The stack's name in errors and logs.
pub const STACK: &str = "quiche";

/// The signals quiche 0.30 provides to a controller, with the hook and this adapter.
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

/// The same where the program sets an ECT codepoint on its sockets; see [`sets_ect`].
pub const PROVIDES_WITH_ECT: Signals = PROVIDES.and(Signals::ECN).and(Signals::CE_COUNT);
