//! The harness: one network model, a packet simulator and real QUIC stacks under
//! virtual time over it, scenarios, evaluation and reports.

pub mod book;
pub mod cli;
pub mod compare;
pub mod conformance;
pub mod evaluation;
pub mod golden;
pub mod hindsight;
pub mod measure;
pub mod net;
pub mod outcome;
pub mod papers;
pub mod plot;
pub mod report;
pub mod response;
pub mod results;
mod ring;
pub mod scenario;
pub mod sim;
pub mod stacks;
pub mod wire;
