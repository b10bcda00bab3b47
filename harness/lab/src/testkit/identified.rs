//! Stacks' own controllers under virtual time, found by their traces.

use crate::hindsight::{HindsightError, Identified, identify};
use rayon::prelude::*;
use windlass_stacks::stack::Runner;

use super::plain;

/// What controllers are tried on.
pub const SCENARIOS: [&str; 5] = ["clean-link", "random-loss", "shallow-buffer", "deep-buffer", "ecn-queue"];

/// The catalogue on `trace`.
pub fn look(trace: &[u8]) -> Identified {
    identify(&|| Ok::<_, HindsightError>(trace), None).unwrap()
}

/// Where in the list `controller` is named, from 0.
pub fn place(found: &Identified, controller: &str) -> usize {
    found.guesses.iter().position(|guess| guess.controllers.iter().any(|name| name == controller)).unwrap()
}

/// What a stack calls the controllers of the catalogue.
fn ours(native: &str) -> &str {
    match native {
        "newreno" => "reno",
        "bbr2" | "bbr3" => "bbr",
        other => other,
    }
}

/// Prints the table of the documentation. What is wrong of it, and how many cases it has.
pub fn natives(stacks: &[Runner]) -> (Vec<String>, usize) {
    let mut cases = Vec::new();
    for stack in stacks.iter().copied() {
        for native in stack.natives() {
            for scenario in SCENARIOS {
                cases.push((stack, *native, scenario));
            }
        }
    }
    let found: Vec<_> = cases
        .par_iter()
        .map(|(stack, native, scenario)| plain::trace(scenario, &format!("native:{native}"), *stack).map(|t| look(&t)))
        .collect();
    let mut wrong = Vec::new();
    println!("| stack | controller | {} |", SCENARIOS.join(" | "));
    println!("|---|---|{}", "---|".repeat(SCENARIOS.len()));
    for (row, cases) in found.chunks(SCENARIOS.len()).zip(cases.chunks(SCENARIOS.len())) {
        let (stack, native, _) = cases[0];
        let mut cells = Vec::new();
        for (found, (_, _, scenario)) in row.iter().zip(cases) {
            let Some(found) = found else { panic!("{} cannot run {native} on {scenario}", stack.name()) };
            let at = place(found, ours(native));
            let better = if at > 0 { format!(" after {}", found.guesses[0].controllers[0]) } else { String::new() };
            cells.push(format!("{}: {:.0}{better}", at + 1, found.guesses[at].score));
            if at > 0 {
                wrong.push(format!("{} {native} on {scenario}", stack.name()));
            }
        }
        println!("| {} | {native} | {} |", stack.name(), cells.join(" | "));
    }
    println!("\n{} of {} right", cases.len() - wrong.len(), cases.len());
    (wrong, cases.len())
}
