//! What every adapter needs and no controller should: a flow with its group, the
//! bookkeeping stacks lack, the check that a stack's signals suffice.
//!
//! An adapter translates its stack's callbacks into [`Event`]s, hands them to a [`Flow`], and
//! carries out the [`Decision`] it gets back. It holds no congestion rule.

mod ack_frame;
mod choice;
#[cfg(feature = "config")]
pub mod config;
mod delivery_rate;
mod flow;
mod flow_builder;
mod flow_factory;
#[cfg(feature = "qlog")]
mod frames;
mod group;
mod guard;
mod in_flight;
#[cfg(feature = "qlog")]
mod log_writer;
mod named;
mod one_way_watch;
mod pacing;
mod path_flow;
#[cfg(feature = "qlog")]
pub mod qlog;
#[cfg(feature = "qlog")]
pub mod replay;
pub mod rfc9002;
mod saved_paths;
mod send_rate;
mod send_rates;
#[cfg(feature = "abi")]
pub mod stack_path;
pub mod std_time;
#[cfg(feature = "qlog")]
pub mod step;

pub use ack_frame::{AckFrame, AckedPackets, LossEpisode, LostPackets, one_way_delays};
pub use choice::{ChoiceError, Peer, Stack, assigns, choose, require, with_fallback, with_parameter};
pub use delivery_rate::{DeliveryRateState, SendSnapshot};
pub use flow::{Flow, Recorder, StateVariables};
pub use flow_builder::{Choice, FlowBuilder, NewFlow};
pub use flow_factory::FlowFactory;
#[cfg(feature = "qlog")]
pub use frames::Frames;
pub use group::{Group, GroupStep, Groups, MAX_MEMBERS};
pub use guard::{Guarded, Panicked};
pub use in_flight::{InFlight, Silence};
#[cfg(feature = "qlog")]
pub use log_writer::{LogFile, LogWriter, Report};
pub use named::{AddError, Foreign, Kept, Lent, Named, NamedController, Own};
pub use one_way_watch::{FellBack, OneWayWatch};
pub use pacing::{default_pacing, longest_pacing_delay, send_quantum, spread, to_f64, to_u64, windows_per_rtt};
pub use path_flow::{PathFlow, Sent};
#[cfg(feature = "qlog")]
pub use qlog::{QlogRecorder, SharedTrace};
pub use saved_paths::{ResumeSettings, SavedPaths};
pub use send_rate::{Confidence, Limit, SendRate, SendRateMeter};
pub use send_rates::SendRates;

pub use windlass_controllers;
pub use windlass_controllers::{
    Algorithm, ConfiguredController, Controller, Decision, Event, EventKind, Path, Signals, Static, Time,
};
#[cfg(feature = "qlog")]
pub use windlass_qlog;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
