//! quinn 0.11, sans-I/O, under virtual time: real connections with real TLS over the
//! network model the simulator uses.

mod config;
mod end;
mod flow;
mod frames;
mod journal;
mod ledger;
mod run;
mod running;
mod setup;
mod tap;
mod tls;
mod wire;

pub use journal::Output;
pub use run::{Log, RunError, run, run_unless};

#[cfg(test)]
mod tests;
