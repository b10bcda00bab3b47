//! Regimes: controllers over a wide grid of paths, each run held against bounds from theory.
//!
//! A [`Regime`] is a value on each of six [axes](AXES): rate, RTT, buffer, flows, path, packet size. A [`Plan`] is the
//! regimes that are run: a [cover](cover()) of all pairs of values, and the cross of the axes where a run is cheap.
//! [`measure`] runs one and reads it off; [`judge`] holds what was read against [bounds](Bound), each with its source.
//! Reno's run in the same regime is what several bounds compare with.

mod bounds;
mod cover;
mod judge;
mod known_limits;
mod measure;
mod plan;
mod regime;
mod table;

pub use bounds::{Bound, Kind, bounds};
pub use cover::cover;
pub use judge::{Assessment, Broken, Judged, judge};
pub use known_limits::{KnownLimit, known_limits};
pub use measure::{Measured, measure};
pub use plan::{Case, Effort, Plan, REFERENCE};
pub use regime::{AXES, Axis, Path, Regime};
pub use table::{Results, Row, table};

#[cfg(test)]
mod tests;
