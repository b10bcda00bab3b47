//! The page of a document's experiments.

use serde::Serialize;

use super::frame::{Data, Page};
use crate::papers::{Document, ExperimentResult, Extent, Work};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// The page of `document`: a reading guide, each experiment there are results of, and what
/// is left out, with the reason.
#[must_use]
pub fn page(document: &Document, extent: Extent, results: &[ExperimentResult]) -> String {
    #[derive(Serialize)]
    struct All<'a> {
        guide: &'a [&'a str],
        document: &'a str,
        quick: bool,
        windlass: &'a str,
        experiments: &'a [ExperimentResult],
        absent: Vec<(&'a str, &'a str, &'a str)>,
    }
    let absent = document.experiments.iter().filter(|experiment| results.iter().all(|r| r.id != experiment.id));
    let reason = |work: &Work| match *work {
        Work::Built(_) => "not run",
        Work::Missing(reason) => reason,
    };
    let all = All {
        guide: document.guide,
        document: document.title,
        quick: extent == Extent::Quick,
        windlass: env!("CARGO_PKG_VERSION"),
        experiments: results,
        absent: absent.map(|experiment| (experiment.id, experiment.title, reason(&experiment.work))).collect(),
    };
    // Texts and finite numbers only: this cannot fail.
    let json = serde_json::to_string(&all).unwrap_or_default();
    let title = format!("Experiments of {}{}", document.name, if all.quick { " (quick)" } else { "" });
    let page = Page {
        title: &title,
        skip: "Skip to the experiments",
        contents: "Experiments",
        noscript: "The tables and figures of this page are built by its own script from the data it contains. \
            Allow scripts, or read the JSON files beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[Data::Json { id: "paper", text: &json }],
    };
    page.html()
}
