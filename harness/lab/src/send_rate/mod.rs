//! The estimated send rate of the adapters, where a flow's share of the bottleneck doubles or halves: how far it is off three round
//! trips later, for a flow that always has data and for one that is limited by its application.

mod plan;

pub use plan::{CONTROLLERS, Case, Change, Source, TOLERANCE};

use serde::{Deserialize, Serialize};

use crate::grid::{Cell, Failure, Measured, Reading, measured};
use windlass_simulator::outcome::Outcome;

/// The estimate three round trips after a change.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// Round-trip time by which they are counted: the longest sampled mean since the change, ms.
    pub rtt_ms: f64,
    /// The estimate then, as a share of what is to be estimated.
    pub then: f64,
    /// Seconds from the change until it is within [`TOLERANCE`]; `None` if it never is.
    pub within_s: Option<f64>,
    /// The estimate just before the change, as a share of what is to be estimated after it.
    pub before: f64,
}

/// Runs `cell`, which is of `case`, and reads it off. `stop` gets the part of the run that is done, 0 to 1, and returns whether
/// to give up.
///
/// # Errors
/// Stopped. Whatever else goes wrong is part of what is read.
pub fn measure(cell: &Cell, case: &Case, stop: &dyn Fn(f64) -> bool) -> Result<Reading<Measured<Estimate>>, Failure> {
    let none = || format!("{} gives no estimate", cell.controller);
    measured(cell, stop, |outcome| Estimate::of(outcome, case).ok_or_else(none))
}

impl Estimate {
    /// Reads `outcome`, whose first flow is the one that is asked about; `None` if it has no estimate.
    #[must_use]
    pub fn of(outcome: &Outcome, case: &Case) -> Option<Estimate> {
        let series = &outcome.flows.first()?.series;
        let points: Vec<(f64, f64, Option<f64>)> =
            (series.time_s.iter().zip(&series.send_rate_mbps).zip(&series.rtt_ms))
                .filter_map(|((at, rate), rtt)| Some((*at - case.at(), (*rate)? / case.share_mbps(), *rtt)))
                .collect();
        let before = points.iter().take_while(|(since, ..)| *since <= 0.0).last()?.1;
        let mut rtt = case.rtt();
        let mut after = points.iter().filter(|(since, ..)| *since > 0.0);
        let then = after.find_map(|(since, share, sample)| {
            rtt = sample.map_or(rtt, |ms| rtt.max(ms / 1e3));
            (*since >= 3.0 * rtt).then_some(*share)
        })?;
        let within = |share: f64| (share - 1.0).abs() <= TOLERANCE;
        let within_s = points.iter().find(|(since, share, _)| *since > 0.0 && within(*share)).map(|point| point.0);
        Some(Estimate { rtt_ms: 1e3 * rtt, then, within_s, before })
    }

    /// Whether it is within [`TOLERANCE`] three round trips after the change.
    #[must_use]
    pub fn holds(&self) -> bool {
        (self.then - 1.0).abs() <= TOLERANCE
    }
}

#[cfg(test)]
mod tests;
