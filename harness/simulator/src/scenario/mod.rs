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

mod application;
mod builtin;
mod dynamic_flows;
mod faults;
mod fields;
mod flow_set;
mod flow_spec;
mod flows;
mod links;
mod load;
mod model;
mod problem;
mod queues;
mod service;
mod traffic;

pub use application::{Encoder, FRAMES, Frames, GroupOrder, OBJECTS, Objects, VIDEO, Video, WRITES, Writes};
pub use builtin::{BUILTIN, Builtin};
pub use dynamic_flows::{ArrivalPattern, Arrivals, DynamicFlows, Size, Web};
pub use flow_set::{FlowSet, StartSchedule};
pub use flow_spec::{
    AckPolicy, Control, EndFault, EndFaultKind, FlowSpec, Misbehaviour, NATIVE, RECEIVER, REQUEST_BYTES, Recovery,
    Resume,
};
pub use model::{Runaway, Scenario, WeightChange, WeightChanges, set_weight};
pub use problem::{Problem, ScenarioError};
pub use service::capacity_files;
