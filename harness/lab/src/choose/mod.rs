//! Which controller for which use: a recommendation that follows from results by stated criteria.
//!
//! The results are tables that other commands write: `harm.csv` of [harm](crate::harm) and `rfc9743.csv` of [RFC 9743](crate::rfc9743);
//! [`Evidence`] reads them. A [`Use`] has [`Requirement`]s, which a controller meets or does not, and one [`Measure`] by which those that do
//! are ranked. [`choose`] gives the ranking and says why the others are out.

mod choice;
mod evidence;
mod uses;

pub use choice::{Choice, Needs, Ranked, choose};
pub use evidence::Evidence;
pub use uses::{Measure, Requirement, USES, Use};

#[cfg(test)]
mod tests;
