//! The page of a comparison: what groups of traces measure, and their traces overlaid.

use serde::Serialize;

use super::frame::Page;
use super::traces::{HELD, LINES, OVERLAY, STYLE, Section, data};
use windlass_lab::compare::Comparison;

const SCRIPTS: [&str; 3] = [OVERLAY, include_str!("js/figure.js"), include_str!("js/page.js")];

/// The page titled `title` of a comparison and the traces it is of, each with its group.
#[must_use]
pub fn page(title: &str, by: &str, comparison: &Comparison, sections: &[(String, Section)]) -> String {
    #[derive(Serialize)]
    struct All<'a> {
        by: &'a str,
        comparison: &'a Comparison,
        group_of: Vec<&'a str>,
    }
    let all = All { by, comparison, group_of: sections.iter().map(|(group, _)| group.as_str()).collect() };
    // Texts and numbers only: this cannot fail.
    let json = serde_json::to_string(&all).unwrap_or_default();
    let traces: Vec<&Section> = sections.iter().map(|(_, section)| section).collect();
    let scripts: Vec<&str> = LINES.into_iter().chain(HELD).chain(SCRIPTS).collect();
    data(&traces, &[("comparison", &json)], |data| {
        let page = Page {
            title,
            skip: "Skip to the comparison",
            contents: "Parts",
            noscript: "The tables and plots of this page are built by its own script from the data it contains. \
                Allow scripts, or read the table that `windlass qlog compare` prints.",
            style: STYLE,
            scripts: &scripts,
            data,
            asks: false,
        };
        page.html()
    })
}
