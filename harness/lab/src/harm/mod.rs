//! Harm: what every controller does to every other (Ware, Mukerjee, Seshan and Sherry, *Beyond Jain's Fairness Index*,
//! HotNets 2019).
//!
//! The harm to a measure is the share of it that a flow loses by another flow beside it: of what is better if there is more,
//! goodput, (solo − with)/solo; of what is better if there is less, the RTT, (with − solo)/with. A controller is safe to deploy
//! beside another if it does no more harm than what is deployed already: here, than Reno and CUBIC do to each other.
//!
//! A run has two flows and gives the harm of each to the other; runs of one flow give what they have alone.

mod plan;
mod results;

pub use plan::{PLACES, Place, Queue, pair, solo};
pub use results::{DEPLOYED, Harm, Results, Safety, csv};

#[cfg(test)]
mod tests;
