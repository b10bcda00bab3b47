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
mod tests {
    use windlass_simulator::outcome::{FlowOutcome, FlowSeries, Outcome};

    use super::*;
    use crate::grid::Measured;

    const DOUBLES: Case = Case { change: Change::Doubles, source: Source::Bulk };
    const HALVES: Case = Case { change: Change::Halves, source: Source::Bulk };
    const VIDEO_DOUBLES: Case = Case { change: Change::Doubles, source: Source::Video };
    const VIDEO_HALVES: Case = Case { change: Change::Halves, source: Source::Video };

    fn estimate(case: Case, controller: &str, stack: &str) -> Estimate {
        let cell = case.cell(controller, stack);
        match measure(&cell, &case, &|_| false).map(|reading| reading.read) {
            Ok(Measured::Run(estimate)) => estimate,
            other => panic!("{}: {other:?}", cell.name),
        }
    }

    /// Where the rate halves, what arrives says so to every controller, whether or not its application limits it.
    #[test]
    fn an_estimate_follows_a_bottleneck_that_halves() {
        let mut pairs: Vec<(&str, &str)> = CONTROLLERS.map(|name| (name, "sim")).into();
        pairs.extend(["reno", "cubic", "copa"].map(|name| (name, "quinn")));
        pairs.extend(["reno", "cubic", "bbr", "copa"].map(|name| (name, "noq")));
        for (controller, stack) in pairs {
            for case in [HALVES, VIDEO_HALVES] {
                let estimate = estimate(case, controller, stack);
                assert!(estimate.holds(), "{controller} on {stack}, {case}: {estimate:?}");
            }
        }
    }

    /// Where it doubles, it follows as far as the window is there to use it: what filled a buffer of two BDP is.
    #[test]
    fn an_estimate_follows_a_bottleneck_that_doubles_where_the_window_does() {
        for stack in ["sim", "quinn", "noq"] {
            for controller in ["reno", "cubic"] {
                let estimate = estimate(DOUBLES, controller, stack);
                assert!(estimate.holds() && estimate.before < 0.55, "{controller} on {stack}: {estimate:?}");
            }
        }
        let pacing = estimate(VIDEO_DOUBLES, "bbr", "sim");
        assert!(pacing.holds(), "bursts at the pacing rate show it: {pacing:?}");
    }

    #[test]
    fn three_round_trips_are_counted_by_the_longest_since_the_change() {
        let times: Vec<f64> = (0..60).map(|i| DOUBLES.at() - 0.05 + 0.01 * f64::from(i)).collect();
        let since = |at: &f64| at - DOUBLES.at();
        let share = DOUBLES.share_mbps();
        let series = FlowSeries {
            rtt_ms: times
                .iter()
                .map(|at| Some(if since(at) > 0.05 { 80.0 } else { 200.0 * f64::from(since(at) < 0.0) }))
                .collect(),
            send_rate_mbps: times
                .iter()
                .map(|at| (since(at) > -0.03).then_some(share * (0.5 + since(at).max(0.0))))
                .collect(),
            time_s: times,
            ..FlowSeries::default()
        };
        let outcome = |series| Outcome {
            scenario: String::new(),
            stack: "sim".to_owned(),
            seed: 1,
            duration_s: 15.0,
            flows: vec![FlowOutcome { series, ..FlowOutcome::default() }],
            queues: Vec::new(),
        };
        let estimate = Estimate::of(&outcome(series), &DOUBLES).unwrap();
        assert_eq!(estimate.rtt_ms, 80.0);
        assert!((estimate.then - 0.74).abs() < 0.011 && !estimate.holds(), "{estimate:?}");
        assert!((estimate.before - 0.5).abs() < 1e-9);
        assert!((estimate.within_s.unwrap() - 0.4).abs() < 0.011, "{estimate:?}");
        assert_eq!(Estimate::of(&outcome(FlowSeries::default()), &DOUBLES), None);
    }
}
