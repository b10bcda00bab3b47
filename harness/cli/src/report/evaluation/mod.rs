//! The report of an evaluation.
//!
//! The page embeds the text of `results.json`, compressed, and builds every table and plot
//! from it, so it cannot show other numbers.

use super::frame::{Data, Page, packed};

const SCRIPTS: [&str; 4] = [
    include_str!("js/data.js"),
    include_str!("js/selection.js"),
    include_str!("js/plots.js"),
    include_str!("js/page.js"),
];

/// The report titled `title` over the text of `results.json`.
#[must_use]
pub fn page(title: &str, results_json: &str) -> String {
    let results = packed(results_json.as_bytes());
    let page = Page {
        title,
        skip: "Skip to the results",
        contents: "Scenarios",
        noscript: "The tables and plots of this page are built by its own script from the results it contains. \
            Allow scripts, or read results.json and the CSV files beside it.",
        style: "",
        scripts: &SCRIPTS,
        data: &[Data::Packed { id: "results", text: &results }],
        asks: false,
    };
    page.html()
}

#[cfg(test)]
mod tests;
