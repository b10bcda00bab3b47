//! From runs to distances.

use super::{Conformance, Distance, Mean, Measures, Row, SCHEMA};
use crate::results::{Results, Run, Status};

/// Compares the stacks of `seeds`, which are results of the same scenarios, controllers and
/// stacks that differ in their seeds. There is nothing to compare in none.
#[must_use]
pub fn compare(seeds: &[Results]) -> Conformance {
    let first = seeds.first();
    let rows: Vec<Row> = match first {
        Some(results) => (0..results.runs.len()).map(|i| row(&runs(seeds, i))).collect(),
        None => Vec::new(),
    };
    let mut distances = Vec::new();
    for (i, from) in rows.iter().enumerate() {
        let same = |row: &&Row| (&row.scenario, &row.controller) == (&from.scenario, &from.controller);
        for to in rows[i + 1..].iter().filter(same).filter(|to| from.runs > 0 && to.runs > 0) {
            distances.push(Distance {
                scenario: from.scenario.clone(),
                controller: from.controller.clone(),
                from: from.stack.clone(),
                to: to.stack.clone(),
                gap: from.measured.to(&to.measured),
            });
        }
    }
    Conformance {
        schema: SCHEMA.to_owned(),
        windlass: env!("CARGO_PKG_VERSION").to_owned(),
        seeds: seeds.iter().map(|results| results.seed).collect(),
        stacks: first.map(|results| results.stacks.clone()).unwrap_or_default(),
        scenarios: first.map(|results| results.scenarios.clone()).unwrap_or_default(),
        rows,
        distances,
    }
}

/// Run `i` of each of `seeds`: they are in the same order.
fn runs(seeds: &[Results], i: usize) -> Vec<&Run> {
    seeds.iter().filter_map(|results| results.runs.get(i)).collect()
}

fn row(runs: &[&Run]) -> Row {
    let done: Vec<Measures<Option<f64>>> =
        runs.iter().filter_map(|run| run.metrics.as_ref()).map(Measures::of).collect();
    let mean =
        |pick: fn(&Measures<Option<f64>>) -> Option<f64>| Mean::of(&done.iter().filter_map(pick).collect::<Vec<_>>());
    let name = |pick: fn(&Run) -> &String| runs.first().map(|run| pick(run).clone()).unwrap_or_default();
    Row {
        scenario: name(|run| &run.scenario),
        controller: name(|run| &run.controller),
        stack: name(|run| &run.stack),
        runs: u32::try_from(done.len()).unwrap_or(u32::MAX),
        reason: runs.iter().find(|run| run.status != Status::Done).and_then(|run| run.reason.clone()),
        measured: Measures { goodput: mean(|m| m.goodput), rtt: mean(|m| m.rtt), loss: mean(|m| m.loss) },
    }
}
