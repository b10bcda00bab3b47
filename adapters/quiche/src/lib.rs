//! windlass congestion controllers for [quiche](https://docs.rs/quiche/0.30).
//!
//! quiche has no public interface for congestion controllers. `cargo xtask quiche` makes a
//! quiche that has one ([`quiche::external`]); this crate registers our controllers with it.
//! Then quiche takes their names wherever it takes `cubic`, parameters included:
//!
//! ```
//! windlass_quiche::register_all();
//! let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION)?;
//! config.set_cc_algorithm_name("tcp-k:k=4")?;
//! assert_eq!(config.set_cc_algorithm_name("tcp-k:k=yes"), Err(quiche::Error::CongestionControl));
//! # Ok::<(), quiche::Error>(())
//! ```
//!
//! quiche's error does not say what is wrong; the log does, and so does [`check`].
//!
//! # What quiche 0.30 cannot do
//!
//! * **It sets no ECT codepoint.** A program that does, on its sockets, says so with
//!   [`sets_ect`]; without that, controllers that need ECN are refused.
//! * **No timers for controllers, no probe trains, no one-way delays, no router feedback.** A
//!   controller that needs one of them is refused.
//! * **No persistent congestion.** The adapter establishes it (`RFC 9002 §7.6`).
//! * **Pacing is advice**: quiche tells in [`quiche::SendInfo::at`] when a datagram may leave,
//!   and the program has to wait for it.
//!
//! # Names
//!
//! `reno`, `cubic`, `bbr`, `bbr2` and `bbr2_gcongestion` remain quiche's own. Ours of the same
//! name are reached with the prefix `windlass/`, which works with every name:
//! `windlass/cubic`.

#![forbid(unsafe_code)]

mod definition;
mod ecn;
mod guard;
mod limited;
mod losses;
mod names;
mod path;

pub use definition::Definition;
pub use names::{PREFIX, RegisterError, check, register, register_all, register_as, sets_ect};
pub use windlass_adapter::config::{Config, ConfigError};
pub use windlass_adapter::{ChoiceError, Flow, Groups, NewFlow, Recorder, StateVariables};
pub use windlass_controllers::{Algorithm, ConfiguredController, Static};

use windlass_controllers::Signals;

/// The stack's name in errors and logs.
pub const STACK: &str = "quiche";

/// What quiche 0.30 reports to a controller, with the hook and the bookkeeping of this
/// adapter.
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
