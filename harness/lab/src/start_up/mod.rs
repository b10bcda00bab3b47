//! Start-up: what the first round trips of a flow cost, and what they bring, by scheme, link, buffer and RTT.
//!
//! A [`Scheme`] is a controller, and whether its flows [resume](windlass_controllers::parts::careful_resume) a known path.
//! [`Question`]s are what is asked of each on each [`Place`]: how long a flow takes to fill the path and what it loses, and
//! how long transfers of four sizes take, each alone and beside a flow that was there before. [`measure`] runs one.

mod measure;
mod plan;
mod table;

pub use measure::{Measured, measure};
pub use plan::{BUFFERS, Link, Place, Question, RATE_MBPS, RTTS_MS, SIZES, Scheme};
pub use table::{Results, Row, table};

#[cfg(test)]
mod tests;
