//! The estimated send rate of the adapters, where a flow's share of the bottleneck doubles or halves: how far it is off three round
//! trips later, for a flow that always has data and for one that is limited by its application.

mod measure;
mod plan;

pub use measure::{Estimate, measure};
pub use plan::{CONTROLLERS, Case, Change, Source, TOLERANCE};

#[cfg(test)]
mod tests;
