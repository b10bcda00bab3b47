//! Every claim is tried: it holds on a few short runs, and its mutant breaks it there.

use std::collections::BTreeSet;

use super::*;
use crate::papers::*;

/// Packets that the bottlenecks could send in a trial that every change runs; the others run in
/// `windlass paper mutants`.
const FEW: f64 = 6e6;

fn all() -> impl Iterator<Item = (&'static Document, &'static Claim)> {
    DOCUMENTS.iter().flat_map(|document| document.claims.iter().map(move |claim| (document, claim)))
}

/// Trials have cells, and what they replace is there.
#[test]
fn every_claim_can_be_tried() {
    let ids: Vec<&str> = all().map(|(_, claim)| claim.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids");
    for (document, claim) in all() {
        let packets = |mutated| trial_cells(document, claim, mutated).unwrap_or_else(|error| panic!("{error}")).len();
        assert_eq!(packets(false), packets(true), "{}", claim.id);
        assert!(claim.source.starts_with(['§', 'P']) && claim.text.ends_with('.'), "{}", claim.id);
    }
    let whys = DOCUMENTS.iter().flat_map(|document| document.undetermined);
    assert!(whys.into_iter().all(|(source, text, why)| !source.is_empty() && !text.is_empty() && !why.is_empty()));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "a minute when optimised, many otherwise")]
fn mutants_are_caught() {
    use rayon::prelude::*;
    let few: Vec<_> = all().filter(|(document, claim)| trial_packets(document, claim) <= FEW).collect();
    assert!(few.len() > 40, "{} claims have short trials", few.len());
    let tried: Vec<String> = few
        .par_iter()
        .with_max_len(1)
        .filter_map(|(document, claim)| {
            let tried = try_claim(document, claim).unwrap_or_else(|error| panic!("{error}"));
            let text = |answer: &Answer| format!("{:?}, {}", answer.holds, answer.evidence);
            // A claim that fails has no mutant to break it.
            let caught = tried.is_caught() || claim.fails.is_some() && tried.without.holds != Some(true);
            (!caught).then(|| {
                format!("{}: {} | {}: {}", claim.id, text(&tried.without), claim.mutant.what, text(&tried.with))
            })
        })
        .collect();
    assert!(tried.is_empty(), "{}", tried.join("\n"));
}
