//! The page of regimes: a map of each controller, and what is outside of its bounds.

use serde::Serialize;

use super::frame::Page;
use windlass_lab::grid::CODE;
use windlass_lab::regimes::{AXES, Assessment, Broken, Case, Effort, Judged, Measured, Results, Row};

const SCRIPTS: [&str; 1] = [include_str!("js/page.js")];
const STYLE: &str = include_str!("page.css");

/// The page of `results`, runs of that effort.
#[must_use]
pub fn page(results: &Results, effort: Effort) -> String {
    #[derive(Serialize)]
    struct One<'a> {
        /// Numbers of its values.
        at: [u8; 6],
        /// Number of its assessment.
        assessment: usize,
        #[serde(skip_serializing_if = "str::is_empty")]
        reason: &'a str,
        #[serde(skip_serializing_if = "<[Broken]>::is_empty")]
        broken: &'a [Broken],
    }
    #[derive(Serialize)]
    struct Controller<'a> {
        controller: &'a str,
        stack: &'a str,
        cells: Vec<One<'a>>,
    }
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'a str,
        code: &'a str,
        option: &'static str,
        axes: Vec<(&'a str, &'a [&'a str])>,
        assessments: [&'a str; 4],
        rows: Vec<Controller<'a>>,
    }
    let number = |assessment| Assessment::ALL.iter().position(|one| *one == assessment).unwrap_or_default();
    fn cells<'a>(row: &'a Row, number: &dyn Fn(Assessment) -> usize) -> Vec<One<'a>> {
        let one = |((case, _), judged): &'a ((Case, Option<Measured>), Judged)| One {
            at: case.regime.0,
            assessment: number(judged.assessment),
            reason: &judged.reason,
            broken: &judged.broken,
        };
        row.judged.iter().map(one).collect()
    }
    let rows = results.rows.iter().map(|row| Controller {
        controller: &row.controller,
        stack: &row.stack,
        cells: cells(row, &number),
    });
    let all = All {
        windlass: env!("CARGO_PKG_VERSION"),
        code: CODE,
        option: effort.option(),
        axes: AXES.iter().map(|axis| (axis.name, axis.values)).collect(),
        assessments: Assessment::ALL.map(Assessment::name),
        rows: rows.collect(),
    };
    let page = Page {
        title: "Regimes",
        skip: "Skip to the maps",
        contents: "Controllers",
        noscript: "The maps and tables of this page are built by its own script from the data it contains. \
            Allow scripts, or read regimes.csv beside it.",
        style: STYLE,
        scripts: &SCRIPTS,
        data: &[],
        asks: false,
    };
    page.holding("regimes", &all)
}

#[cfg(test)]
mod tests;
