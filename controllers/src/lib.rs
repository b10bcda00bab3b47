//! Congestion controllers for QUIC as pure functions over plain data.
//!
//! A controller is three functions: [`start`](Controller::start) makes a flow's
//! state, [`step`](Controller::step) turns a state and an [`Event`] into the next
//! state, [`decide`](Controller::decide) reads a [`Decision`] off a state. States are
//! `Copy`; there is no clock, no I/O and no allocation, and every
//! transcendental function comes from `libm`, so equal inputs give bit-equal outputs
//! on every platform.
//!
//! ```
//! use windlass_controllers::{Algorithm, Path, Time};
//!
//! let algorithm: Algorithm = "reno:iw=4".parse().unwrap();
//! let state = algorithm.start(&Path::new(Time::ZERO, 1200, 1));
//! let group = algorithm.group();
//! let decision = algorithm.decide(&state, windlass_controllers::View::solo(&group));
//! assert_eq!(decision.cwnd, 4 * 1200);
//! ```
#![no_std]
#![forbid(unsafe_code)]

// So that unit tests can share `tests/flows` with the integration tests.
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
mod time;

pub use catalogue::{Algorithm, AnyGroup, AnyState, Entry, ParseError};
pub use controller::{ConfiguredController, Controller, Info, Path, Static};
pub use decision::{Decision, Ecn, Phase, TrainPlan};
pub use event::{Event, EventKind};
pub use group::{Member, Table, View};
pub use param::Parameters;
pub use parts::window_controller::WindowController;
pub use parts::window_scheme::{Flow, WindowScheme};
pub use signals::Signals;
pub use time::{Span, Time};
