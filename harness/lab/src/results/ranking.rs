//! The ranking: how each controller did over all scenarios, stack by stack.

use serde::{Deserialize, Serialize};

use super::metrics::{decimals, mean};
use super::{Metrics, Run, Status};

/// One controller on one stack over all scenarios. Means are arithmetic means over the
/// runs that have the number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Place among the controllers of the same stack, from 1; `None` unless every
    /// scenario has a score.
    pub rank: Option<u32>,
    /// The controller as a user types it.
    pub controller: String,
    /// The stack that ran it; `sim` is the simulator.
    pub stack: String,
    /// Mean score, 0 to 100.
    pub score: Option<f64>,
    /// Mean utilisation, 0 to 1.
    pub utilisation: Option<f64>,
    /// Mean of mean RTT over base RTT.
    pub rtt_ratio: Option<f64>,
    /// Mean of 95th percentile of RTT over base RTT.
    pub rtt_p95_ratio: Option<f64>,
    /// Mean loss, 0 to 1.
    pub loss: Option<f64>,
    /// Mean fairness over the scenarios with several controlled flows.
    pub fairness: Option<f64>,
    /// Number of runs that were done.
    pub runs_done: u32,
    /// Runs that were asked for.
    pub runs_planned: u32,
    /// Why runs were not done: each reason once.
    pub reasons: Vec<String>,
    /// The scenarios in which it collapsed ([`Metrics::collapse`]), each with how.
    #[serde(default)]
    pub collapses: Vec<String>,
}

/// Ranks what ran, best first: those that collapse nowhere, then those that do, as a mean hides it; those without a rank
/// come last, by name.
#[must_use]
pub fn rank(runs: &[Run]) -> Vec<Standing> {
    let mut entrants: Vec<(&str, &str)> = Vec::new();
    for run in runs {
        if !entrants.contains(&(&run.controller, &run.stack)) {
            entrants.push((&run.controller, &run.stack));
        }
    }
    let mut standings: Vec<Standing> = entrants.into_iter().map(|(c, s)| standing(runs, c, s)).collect();
    standings.sort_by(|a, b| {
        let key = |s: &Standing| if complete(s) { s.score.unwrap_or(f64::NEG_INFINITY) } else { f64::NEG_INFINITY };
        let collapses = |s: &Standing| complete(s) && !s.collapses.is_empty();
        let last = |s: &Standing| (!complete(s), collapses(s));
        last(a)
            .cmp(&last(b))
            .then_with(|| key(b).total_cmp(&key(a)))
            .then_with(|| (&a.controller, &a.stack).cmp(&(&b.controller, &b.stack)))
    });
    let mut places: Vec<(String, u32)> = Vec::new();
    for standing in standings.iter_mut().filter(|s| complete(s)) {
        let place = match places.iter_mut().find(|(stack, _)| *stack == standing.stack) {
            Some((_, place)) => place,
            None => {
                places.push((standing.stack.clone(), 0));
                &mut places.last_mut().expect("just pushed").1
            }
        };
        *place += 1;
        standing.rank = Some(*place);
    }
    standings
}

fn complete(standing: &Standing) -> bool {
    standing.score.is_some() && standing.runs_done == standing.runs_planned
}

fn standing(runs: &[Run], controller: &str, stack: &str) -> Standing {
    let own: Vec<&Run> = runs.iter().filter(|r| r.controller == controller && r.stack == stack).collect();
    let metrics: Vec<&Metrics> = own.iter().filter_map(|r| r.metrics.as_ref()).collect();
    let over = |digits: i32, pick: &dyn Fn(&Metrics) -> Option<f64>| {
        mean(metrics.iter().filter_map(|m| pick(m))).map(|x| decimals(x, digits))
    };
    let scored = metrics.iter().filter(|m| m.score.is_some()).count();
    let mut reasons: Vec<String> = Vec::new();
    for reason in own.iter().filter_map(|r| r.reason.as_ref()) {
        if !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    Standing {
        rank: None,
        controller: controller.to_owned(),
        stack: stack.to_owned(),
        score: if scored == metrics.len() { over(2, &|m| m.score) } else { None },
        utilisation: over(4, &|m| m.utilisation),
        rtt_ratio: over(4, &|m| m.rtt_ratio),
        rtt_p95_ratio: over(4, &|m| m.rtt_p95_ratio),
        loss: over(6, &|m| m.loss),
        fairness: over(4, &|m| m.fairness),
        runs_done: own.iter().filter(|r| r.status == Status::Done).count() as u32,
        runs_planned: own.len() as u32,
        reasons,
        collapses: own
            .iter()
            .filter_map(|run| run.metrics.as_ref()?.collapse().map(|how| format!("{}: {how}", run.scenario)))
            .collect(),
    }
}
