//! Every claim is tried: it holds on a few short runs, and no longer with its mutant.

use std::collections::BTreeSet;

use super::*;
use crate::*;
use windlass_simulator::scenario::Scenario;

/// Claims whose trials take seconds. `windlass paper table mutants` tries all.
const SHORT: &[&str] = &[
    "sharma-1",
    "sharma-2",
    "sharma-5",
    "sharma-14",
    "sharma-17",
    "sharma-18",
    "sharma-19",
    "cho-1",
    "cho-4",
    "cho-9",
    "cho-11",
    "cho-14",
    "cho-28",
    "cho-29",
    "chan-1",
    "chan-2",
    "chan-3",
    "chan-4",
    "chan-5",
    "chan-6",
    "chan-7",
    "chan-8",
    "chan-9",
    "chan-10",
    "chan-11",
    "chan-12",
    "chan-13",
    "chan-14",
    "chan-15",
    "chan-17",
    "chan-21",
    "chan-22",
    "chan-23",
    "chan-28",
    "arumaithurai-12",
    "arumaithurai-18",
    "arumaithurai-20",
    "arumaithurai-21",
];

fn all() -> impl Iterator<Item = (&'static Document, &'static Claim)> {
    DOCUMENTS.iter().flat_map(|document| document.claims.iter().map(move |claim| (document, claim)))
}

/// Trials have cells, what they replace is there, and what stands in its place can be read.
#[test]
fn every_claim_can_be_tried() {
    let ids: BTreeSet<&str> = all().map(|(_, claim)| claim.id).collect();
    assert_eq!(ids.len(), all().count(), "ids");
    assert!(SHORT.iter().all(|id| ids.contains(id)));
    for (document, claim) in all() {
        let cells = |mutated| {
            let cells = trial_cells(document, claim, mutated).unwrap_or_else(|error| panic!("{error}"));
            for cell in &cells {
                let read = Scenario::read(&cell.name, &cell.scenario, None);
                read.unwrap_or_else(|error| panic!("{}: {}: {error}", claim.id, cell.name));
            }
            cells.len()
        };
        assert_eq!(cells(false), cells(true), "{}", claim.id);
        assert!(claim.source.starts_with(['§', 'P']) && claim.text.ends_with('.'), "{}", claim.id);
    }
    let whys = DOCUMENTS.iter().flat_map(|document| document.undetermined);
    assert!(whys.into_iter().all(|(source, text, why)| !source.is_empty() && !text.is_empty() && !why.is_empty()));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "half a minute when optimised, many otherwise")]
fn mutants_are_caught() {
    use rayon::prelude::*;
    let short: Vec<_> = all().filter(|(_, claim)| SHORT.contains(&claim.id)).collect();
    let missed: Vec<String> = short
        .par_iter()
        .with_max_len(1)
        .filter_map(|(document, claim)| {
            let tried = run_trial(document, claim, None).unwrap_or_else(|error| panic!("{error}")).answers(claim);
            let text = |answer: &Answer| format!("{:?}, {}", answer.holds, answer.evidence);
            let missed =
                format!("{}: {} | {}: {}", claim.id, text(&tried.without), claim.mutant.what, text(&tried.with));
            (!tried.is_caught()).then_some(missed)
        })
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
