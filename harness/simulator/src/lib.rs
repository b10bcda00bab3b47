//! The packet simulator: [scenario files](scenario), [senders, receivers and
//! applications](sim) over the [network model](windlass_network), [measures](measure) that are the same
//! for every stack, [what a run yields](outcome), and [golden] traces of every controller.

pub mod application;
pub mod golden;
pub mod measure;
pub mod outcome;
pub mod scenario;
pub mod schedule;
pub mod sim;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
