//! quinn 0.11, sans-I/O, under virtual time: real connections with real TLS over the
//! network model the simulator uses. `docs/quinn.md` says what is exact in that, and where
//! it differs from the simulator.
//!
//! ```
//! use windlass::{scenario::Scenario, stacks};
//!
//! let text = "
//!     duration_s = 2
//!     [dumbbell]
//!     rate_mbps = 10
//!     rtt_ms = 20
//!     buffer_bdp = 1
//!     [[flow]]
//!     controller = \"reno\"
//! ";
//! let scenario = Scenario::read("inline", text, None).unwrap();
//! let outcome = stacks::quinn::run(&scenario, &mut |_| Ok(None)).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! assert!(outcome.flows[0].sha256.is_some());
//! ```

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
