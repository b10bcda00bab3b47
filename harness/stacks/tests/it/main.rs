//! Every stack in virtual time and on real sockets.

mod agreement;
mod every_stack;
mod faults;
mod findings;
mod hard_regimes;
mod link;
#[cfg(feature = "noq-qlog")]
mod multipath;
mod paths;
mod s2n_paths;
mod s2n_quic;
mod sans_io;
mod sim_network;
mod stack_matrix;
mod wire;

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Runs over UDP sockets have the machine to themselves: their clock does not wait for a processor.
static MACHINE: RwLock<()> = RwLock::new(());

/// Held by a test that runs in real time.
fn exclusive() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that keeps processors busy.
fn shared() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().unwrap_or_else(PoisonError::into_inner)
}
