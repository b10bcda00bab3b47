//! quinn 0.11, sans-I/O, under virtual time: real connections with real TLS over the
//! network model the simulator uses. `docs/quinn.md` says what is exact in that, and where
//! it differs from the simulator.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
//! use windlass_stacks as stacks;
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
//! let outcome = stacks::quinn::run(&scenario, &mut |_| Ok(None), &|_| false).unwrap();
//! assert!(outcome.queues[0].utilisation > 0.9);
//! assert!(outcome.flows[0].sha256.is_some());
//! ```

use quinn as asynchronous;
use quinn_proto as proto;

#[path = "../sans_io/config.rs"]
mod config;
mod dialect;
#[path = "../sans_io/end.rs"]
mod end;
#[path = "../sans_io/flow.rs"]
mod flow;
#[path = "../sans_io/live.rs"]
pub mod live;
#[path = "../sans_io/run.rs"]
mod run;
#[path = "../sans_io/running.rs"]
mod running;
#[path = "../sans_io/setup.rs"]
mod setup;
#[path = "../sans_io/tap.rs"]
mod tap;
#[path = "../sans_io/tls.rs"]
mod tls;
#[path = "../sans_io/watched.rs"]
mod watched;

pub use dialect::NATIVES;
pub use run::run;

#[cfg(test)]
#[path = "../sans_io/tests.rs"]
mod tests;
