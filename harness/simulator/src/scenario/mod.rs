//! Scenario files: what network, which flows, for how long.
//!
//! A scenario is a TOML file; `docs/scenarios.md` describes every key. Reading one
//! finds every mistake in it at once and says of each where it is and what was expected.
//!
//! ```
//! use windlass_simulator::scenario::Scenario;
//!
//! let text = r#"
//!     duration_s = 10
//!     [dumbbell]
//!     rate_mbps = 100
//!     rtt_ms = 50
//!     buffer_bdp = 1
//!     [[flow]]
//!     controller = "under-test"
//! "#;
//! let scenario = Scenario::read("inline", text, Some("reno")).unwrap();
//! assert_eq!(scenario.flows[0].controller, "reno");
//! ```

mod builtin;
mod cast;
mod crowd;
mod crowds;
mod fields;
mod flows;
mod links;
mod load;
mod model;
mod problem;
mod queues;
mod strength;
mod traffic;

pub use builtin::{BUILTIN, Builtin};
pub use cast::{Cast, Stage};
pub use crowd::{Arrivals, Crowd, CrowdPattern, Size, Web};
pub use model::{AckPolicy, Control, FlowSpec, NATIVE, Recovery, Scenario};
pub use problem::{Problem, ScenarioError};
pub use strength::{Strength, Strengths, strengthen};
