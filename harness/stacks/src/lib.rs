//! Real QUIC stacks under virtual time over the harness' network model.

pub mod driver;
pub mod identity;
// The sources in `sans_io` are compiled against each stack of one kin.
pub mod noq;
pub mod payload;
#[allow(clippy::duplicate_mod)]
pub mod quinn;
#[cfg(feature = "s2n-quic")]
pub mod s2n;
pub mod stack;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod wire;

pub use driver::log::{Log, LogOf, RunError};
