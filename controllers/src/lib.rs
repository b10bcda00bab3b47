//! Congestion controllers for QUIC as pure functions over plain data.
//!
//! A [`Controller`] is three functions: [`start`](Controller::start) makes a flow's state,
//! [`step`](Controller::step) takes an [`Event`] into it, [`decide`](Controller::decide) reads a
//! [`Decision`] off it. States are `Copy`; there is no clock, no I/O and no allocation, and every
//! transcendental function comes from `libm`, so equal inputs give bit-equal outputs on every
//! platform.
//!
//! ```
//! use windlass_controllers::{Algorithm, Path, Time, View};
//!
//! let algorithm: Algorithm = "reno:iw=4".parse().unwrap();
//! let state = algorithm.start(&Path::new(Time::ZERO, 1200, 1));
//! let group = algorithm.group();
//! assert_eq!(algorithm.decide(&state, View::solo(&group)).cwnd, 4 * 1200);
//! ```
//!
//! # Where to look
//!
//! * [`Algorithm`] is the catalogue: every controller by its name, with parameters as text.
//!   [`Static`] is one controller known when compiling. Adapters are written over
//!   [`ConfiguredController`], which both implement.
//! * [`schemes`] has a file for each controller, with its rules under the names of its document.
//! * [`event`] and [`Decision`] are what goes in and what comes out; [`Signals`] are what of it a
//!   controller cannot do without.
//! * [`group`] is the table that flows of one group share.
//! * [`param`] declares parameters, with default, range, unit and source.
//! * [`parts`] is what controllers are built of; [`fixed_window`] is no congestion control, for
//!   tests.
//!
//! # A window scheme of one's own
//!
//! A scheme that grows per acknowledged packet and shrinks once per congestion event implements
//! [`WindowScheme`]; start-up ([`parts::start_up`]) and recovery ([`parts::recovery`]) are not its
//! business. [`WindowController`] makes a controller of it.
//!
//! ```
//! use windlass_controllers::schemes::reno;
//! use windlass_controllers::{ConfiguredController, Flow, Info, Path, Static, Time, View};
//! use windlass_controllers::{Response, WindowController, WindowScheme};
//!
//! /// Reno that gives up less.
//! #[derive(Debug)]
//! struct Gentle;
//!
//! impl WindowScheme for Gentle {
//!     const INFO: Info =
//!         Info { name: "gentle", summary: "Reno that gives up less", source: "RFC 9002 §7", fallback: None };
//!     type Params = reno::Params;
//!     type State = ();
//!     type Group = ();
//!
//!     /// One packet per window (RFC 9002 §7.3.3).
//!     fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
//!         acked / flow.cwnd
//!     }
//!
//!     /// Three tenths of the window go.
//!     fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
//!         Response::to(0.7 * flow.cwnd)
//!     }
//! }
//!
//! let controller = Static::<WindowController<Gentle>>(reno::Params::default());
//! let state = controller.start(&Path::new(Time::ZERO, 1200, 1));
//! assert_eq!(controller.decide(&state, View::solo(&())).cwnd, 10 * 1200);
//! ```
#![no_std]
#![forbid(unsafe_code)]

// So that unit tests can share `tests/it/shared.rs` with the integration tests.
#[cfg(test)]
extern crate self as windlass_controllers;
#[cfg(test)]
extern crate std;

mod catalogue;
mod controller;
mod decision;
pub mod event;
#[cfg(feature = "serde")]
mod exact;
pub mod fixed_window;
pub mod group;
pub mod param;
pub mod parts;
pub mod schemes;
mod signals;
#[cfg(test)]
mod testkit;
pub mod text;
mod time;

pub use catalogue::{Algorithm, AnyGroup, AnyState, Entry};
pub use controller::{ConfiguredController, Controller, Info, Path, SavedPath, Static};
pub use decision::{Decision, Ecn, Phase, TrainPlan};
pub use event::{Event, EventKind};
pub use group::{Member, Table, View};
pub use param::Parameters;
pub use parts::recovery::Response;
pub use parts::window_controller::WindowController;
pub use parts::window_scheme::{Flow, WindowScheme};
pub use signals::Signals;
pub use text::ParseError;
pub use time::{Span, Time};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
