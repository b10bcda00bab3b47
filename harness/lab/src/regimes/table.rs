//! Results of all controllers, and their table.

use super::bounds::Kind;
use super::judge::Judged;
use super::measure::Measured;
use super::plan::Case;
use super::regime::AXES;
use crate::results::Table;

/// A controller on a stack.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The controller as a user types it.
    pub controller: String,
    /// The stack; `sim` is the simulator.
    pub stack: String,
    /// Each regime with what was read off, and its assessment.
    pub judged: Vec<((Case, Option<Measured>), Judged)>,
}

/// Results of `windlass regimes`.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// By stack and controller.
    pub rows: Vec<Row>,
}

/// A line for each run.
#[must_use]
pub fn table(results: &Results) -> Table {
    type Line<'a> = (&'a Row, &'a Case, Option<&'a Measured>, &'a Judged);
    let lines: Vec<Line<'_>> = results
        .rows
        .iter()
        .flat_map(|row| row.judged.iter().map(move |((case, read), judged)| (row, case, read.as_ref(), judged)))
        .collect();
    let word = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut table = Table::new("regimes")
        .text("controller", lines.iter().map(|line| word(&line.0.controller)))
        .text("stack", lines.iter().map(|line| word(&line.0.stack)));
    for (number, axis) in AXES.iter().enumerate() {
        table = table.text(axis.name, lines.iter().map(|line| word(line.1.regime.word(number))));
    }
    let number = |read: fn(&Measured) -> Option<f64>| lines.iter().map(move |line| line.2.and_then(read));
    let broken = |judged: &Judged| judged.broken.iter().map(|one| one.kind.name()).collect::<Vec<_>>().join(" ");
    table = table
        .text("assessment", lines.iter().map(|line| word(line.3.assessment.name())))
        .text("outside_by", lines.iter().map(|line| word(&broken(line.3))))
        .text("reason", lines.iter().map(|line| word(&line.3.reason)))
        .number("duration_s", lines.iter().map(|line| line.1.duration.clone().ok()))
        .number("bdp_packets", lines.iter().map(|line| Some(line.1.regime.bdp())))
        .count("buffer_packets", lines.iter().map(|line| Some(line.1.regime.buffer())));
    for kind in Kind::ALL {
        let value = lines.iter().map(|line| line.2.and_then(|read| read.value(kind)));
        table = table.number(kind.name(), value);
        let limit = |line: &Line<'_>| line.3.bounds.iter().find(|bound| bound.kind == kind).map(|bound| bound.limit);
        table = table.number(kind.bound_name(), lines.iter().map(limit));
    }
    table
        .count(
            "sent",
            lines.iter().map(|line| {
                line.2.and_then(|read| match read {
                    Measured::Run { sent, .. } => Some(*sent),
                    _ => None,
                })
            }),
        )
        .number(
            "until_s",
            number(|read| match read {
                Measured::Run { until_s, .. } => Some(*until_s),
                _ => None,
            }),
        )
}
