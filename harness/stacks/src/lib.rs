//! QUIC stacks that run scenarios over the harness's network model.
//!
//! [`stack`] has the trait [`Stack`](stack::Stack) and the simulator among its implementations, `registry` the stacks by name. [`sans_io`]
//! is the generic driver of stacks that take time and datagrams as arguments; [`quinn`] and [`noq`] run on it, `s2n` on
//! s2n-quic's own test executor. [`wire`] runs any of them in real time over UDP sockets. [`driver`], [`payload`] and
//! [`identity`] are what all of them share, `testkit` (a feature) what their tests share.

pub mod driver;
pub mod identity;
pub mod noq;
pub mod payload;
pub mod quinn;
mod quinn_api;
mod registry;
#[cfg(feature = "s2n-quic")]
pub mod s2n;
pub mod sans_io;
pub mod stack;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod wire;

pub use driver::log::{FlowLog, OpenLog, RunError};
