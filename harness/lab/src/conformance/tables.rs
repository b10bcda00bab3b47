//! A comparison as tables.

use super::{Conformance, Distance, Gap, Mean, Measures, Row};
use crate::results::Table;

/// The tables `conformance`, a row for each stack, and `distances`, a row for each two.
#[must_use]
pub fn tables(conformance: &Conformance) -> [Table; 2] {
    [stacks(&conformance.rows), distances(&conformance.distances)]
}

fn stacks(rows: &[Row]) -> Table {
    let each = || rows.iter();
    let text = |pick: fn(&Row) -> &String| each().map(move |row| Some(pick(row).clone()));
    let mean = |pick: fn(&Measures<Option<Mean>>) -> Option<Mean>| {
        each().map(move |row| pick(&row.measured).map(|mean| mean.mean))
    };
    let error = |pick: fn(&Measures<Option<Mean>>) -> Option<Mean>| {
        each().map(move |row| pick(&row.measured).and_then(|mean| mean.error))
    };
    Table::new("conformance")
        .text("scenario", text(|row| &row.scenario))
        .text("controller", text(|row| &row.controller))
        .text("stack", text(|row| &row.stack))
        .count("runs", each().map(|row| Some(row.runs.into())))
        .text("reason", each().map(|row| row.reason.clone()))
        .number("goodput_mbps", mean(|m| m.goodput))
        .number("goodput_error_mbps", error(|m| m.goodput))
        .number("rtt_mean_ms", mean(|m| m.rtt))
        .number("rtt_mean_error_ms", error(|m| m.rtt))
        .number("loss_percent", mean(|m| m.loss))
        .number("loss_error_percent", error(|m| m.loss))
}

fn distances(rows: &[Distance]) -> Table {
    let each = || rows.iter();
    let text = |pick: fn(&Distance) -> &String| each().map(move |row| Some(pick(row).clone()));
    let gap =
        |pick: fn(&Measures<Option<Gap>>) -> Option<Gap>| each().map(move |row| pick(&row.gap).map(|gap| gap.value));
    let error = |pick: fn(&Measures<Option<Gap>>) -> Option<Gap>| {
        each().map(move |row| pick(&row.gap).and_then(|gap| gap.error))
    };
    Table::new("distances")
        .text("scenario", text(|row| &row.scenario))
        .text("controller", text(|row| &row.controller))
        .text("from", text(|row| &row.from))
        .text("to", text(|row| &row.to))
        .number("goodput_percent", gap(|m| m.goodput))
        .number("goodput_error_percent", error(|m| m.goodput))
        .number("rtt_percent", gap(|m| m.rtt))
        .number("rtt_error_percent", error(|m| m.rtt))
        .number("loss_points", gap(|m| m.loss))
        .number("loss_error_points", error(|m| m.loss))
}
