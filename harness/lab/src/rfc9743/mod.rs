//! RFC 9743: the criteria by which a new congestion controller is evaluated, as experiments.
//!
//! A [`Question`] is a [`Criterion`] (§5, and special cases of §7) on a [`Path`] type (§6, §7). It needs runs of a few
//! [`Mix`]es of flows, of the controller and of the standards that bound it, each with several seeds; [`measure`] carries one
//! out. Its [`Answer`] holds the number over the seeds against a limit with a source: the RFC gives no thresholds, and asks
//! whether a controller does more harm than previous standards do (§5.2), so that most limits are what Reno and CUBIC do in the
//! same place. What nothing bounds is shown.

mod criterion;
mod judge;
mod measure;
mod mix;
mod path;
mod table;

pub use criterion::{CRITERIA, Criterion, Limit, NOT_APPLICABLE};
pub use judge::{Answer, Assessment, Effort, Key, Question, Read, questions};
pub use measure::{Measured, Numbers, measure};
pub use mix::{Mix, OVERLOAD_FLOWS, Rival, SEVERAL, STANDARDS};
pub use path::{PATHS, Path};
pub use table::{Results, Row, shown, table};

#[cfg(test)]
mod tests;
