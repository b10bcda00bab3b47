//! The page of a document's experiments.

use serde::Serialize;

use super::frame::Page;
use windlass_papers::{Answer, Claim, Document, ExperimentResult, Scale};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// What `results` say to the claim called `id`.
fn answer<'a>(results: &'a [ExperimentResult], id: &str) -> Option<&'a Answer> {
    results.iter().flat_map(|result| &result.claims).find(|answer| answer.claim == id)
}

/// The page of `document`: a reading guide, each experiment there are results of, and what
/// is left out, with the reason. `others` are results of real stacks, for the table of claims.
#[must_use]
pub fn page(
    document: &Document,
    scale: Scale,
    results: &[ExperimentResult],
    others: &[(&str, Vec<ExperimentResult>)],
) -> String {
    /// A statement and what the simulator and each real stack say to it.
    #[derive(Serialize)]
    struct Row<'a> {
        experiment: &'a str,
        text: &'a str,
        answers: Vec<Option<&'a Answer>>,
    }
    #[derive(Serialize)]
    struct All<'a> {
        stacks: Vec<&'a str>,
        claims: Vec<Row<'a>>,
        guide: &'a [&'a str],
        document: &'a str,
        quick: bool,
        windlass: &'a str,
        experiments: &'a [ExperimentResult],
        absent: Vec<(&'a str, &'a str, &'a str)>,
    }
    let absent = document.experiments.iter().filter(|experiment| results.iter().all(|r| r.id != experiment.id));
    let row = |claim: &'static Claim| {
        let real = others.iter().map(|(_, results)| answer(results, claim.id));
        let answers = [answer(results, claim.id)].into_iter().chain(real).collect();
        Row { experiment: claim.experiment, text: claim.text, answers }
    };
    let all = All {
        stacks: ["sim"].into_iter().chain(others.iter().map(|(stack, _)| *stack)).collect(),
        claims: document.claims.iter().map(row).collect(),
        guide: document.guide,
        document: document.title,
        quick: scale == Scale::Quick,
        windlass: env!("CARGO_PKG_VERSION"),
        experiments: results,
        absent: absent.map(|experiment| (experiment.id, experiment.title, "not run")).collect(),
    };
    let title = format!("Experiments of {}{}", document.name, if all.quick { " (quick)" } else { "" });
    let page = Page {
        title: &title,
        skip: "Skip to the experiments",
        contents: "Experiments",
        noscript: "The tables and figures of this page are built by its own script from the data it contains. \
            Allow scripts, or read the JSON files beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[],
        asks: false,
    };
    page.holding("paper", &all)
}
