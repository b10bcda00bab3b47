//! Real QUIC stacks under virtual time over the harness' network model.

pub mod driver;
pub mod identity;
pub mod noq;
pub mod payload;
pub mod quinn;
mod quinn_api;
#[cfg(feature = "s2n-quic")]
pub mod s2n;
pub mod sans_io;
pub mod stack;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod wire;

pub use driver::log::{FlowLog, OpenLog, RunError};
