//! A comparison as Markdown and as tables.

use std::fmt::Write;

use super::{Conformance, Distance, Gap, Mean, Measures, Row};
use crate::results::Table;

/// The comparison: a table for each scenario, in which every stack is compared with the first
/// that ran the controller, and one of every two stacks that are further apart than
/// `limit`, percent or points. `level` hashes stand before its headings.
#[must_use]
pub fn page(conformance: &Conformance, limit: f64, level: usize) -> String {
    let mut text = String::new();
    for scene in &conformance.scenarios {
        let rows: Vec<&Row> = conformance.rows.iter().filter(|row| row.scenario == scene.name).collect();
        let _ = writeln!(text, "{} {}\n\n{}\n", "#".repeat(level), scene.name, scene.summary);
        text.push_str(&scenario(conformance, &rows, limit));
        for (controller, stack, reason) in refused(&rows) {
            let _ = writeln!(text, "{controller} on {stack}: {reason}\n");
        }
    }
    let _ = writeln!(text, "{} Further apart than {limit} %\n", "#".repeat(level));
    text.push_str(&beyond(conformance, limit));
    text
}

fn scenario(conformance: &Conformance, rows: &[&Row], limit: f64) -> String {
    let mut text =
        String::from("| controller | stack | Mbit/s | | RTT ms | | loss % | |\n|---|---|---|---|---|---|---|---|\n");
    for row in rows.iter().filter(|row| row.runs > 0) {
        let distance = conformance.distances.iter().find(|distance| {
            (&distance.scenario, &distance.controller, &distance.to) == (&row.scenario, &row.controller, &row.stack)
        });
        let gap = distance.map_or_else(Measures::default, |distance| distance.gap);
        let Measures { goodput, rtt, loss } = row.measured;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            row.controller,
            row.stack,
            mean(goodput, 2),
            gap_cell(gap.goodput, " %", limit),
            mean(rtt, 2),
            gap_cell(gap.rtt, " %", limit),
            mean(loss, 2),
            gap_cell(gap.loss, "", limit),
        );
    }
    text.push('\n');
    text
}

/// What could not be run, and why, each once.
fn refused<'a>(rows: &[&'a Row]) -> Vec<(&'a str, &'a str, &'a str)> {
    let reason = |row: &&'a Row| Some((row.controller.as_str(), row.stack.as_str(), row.reason.as_deref()?));
    rows.iter().filter_map(reason).collect()
}

fn beyond(conformance: &Conformance, limit: f64) -> String {
    let far: Vec<&Distance> = conformance.distances.iter().filter(|distance| distance.is_beyond(limit)).collect();
    if far.is_empty() {
        return "None.\n".to_owned();
    }
    let mut text = String::from(
        "| scenario | controller | from | to | goodput | RTT | loss, points |\n|---|---|---|---|---|---|---|\n",
    );
    for Distance { scenario, controller, from, to, gap } in far {
        let [goodput, rtt] = [gap.goodput, gap.rtt].map(|gap| gap_cell(gap, " %", limit));
        let loss = gap_cell(gap.loss, "", limit);
        let _ = writeln!(text, "| {scenario} | {controller} | {from} | {to} | {goodput} | {rtt} | {loss} |");
    }
    text
}

/// `±` and the error to so many decimals; empty if it is zero at those.
fn plus_minus(error: Option<f64>, decimals: usize) -> String {
    let shown = error
        .map(|error| format!("{error:.decimals$}"))
        .filter(|text| text.bytes().any(|b| (b'1'..=b'9').contains(&b)));
    shown.map(|error| format!(" ± {error}")).unwrap_or_default()
}

fn mean(mean: Option<Mean>, decimals: usize) -> String {
    mean.map_or_else(
        || "–".to_owned(),
        |Mean { mean, error }| format!("{mean:.decimals$}{}", plus_minus(error, decimals)),
    )
}

/// A gap, in bold if it is wider than `limit`.
fn gap_cell(gap: Option<Gap>, unit: &str, limit: f64) -> String {
    let Some(gap) = gap else { return String::new() };
    let text = format!("{:+.1}{}{unit}", gap.value, plus_minus(gap.error, 1));
    if gap.is_beyond(limit) { format!("**{text}**") } else { text }
}

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
