//! Start-up: what the first round trips of a flow cost, and what they bring, by scheme, link, buffer and RTT.
//!
//! A [`Scheme`] is a controller, and whether its flows [resume](windlass_controllers::parts::careful_resume) a known path.
//! [`Question`]s are what is asked of each on each [`Place`]: how long a flow takes to fill the path and what it loses, and
//! how long transfers of four sizes take, each alone and beside a flow that was there before. [`measure`] runs one. On real
//! sockets, where no run repeats, the first is asked again and again, by turns, and [`Spread`]s are what is known then.

mod measure;
mod plan;
mod table;
mod turns;

pub use measure::{Measured, measure};
pub use plan::{BUFFERS, Link, Place, Question, RATE_MBPS, RTTS_MS, SIZES, Scheme};
pub use table::{Results, Row, table};
pub use turns::{Spread, Turns};

#[cfg(test)]
mod tests;
