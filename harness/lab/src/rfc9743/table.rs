//! Results, their table, and sentences.

use super::judge::{Answer, Assessment, Question};
use crate::results::Table;

/// A controller on a stack.
#[derive(Clone, Debug)]
pub struct Row {
    /// The controller as a user types it.
    pub controller: String,
    /// The stack; `sim` is the simulator.
    pub stack: String,
    /// Each question with its answer.
    pub answers: Vec<(Question, Answer)>,
}

impl Row {
    /// Answers with that word.
    pub fn with(&self, assessment: Assessment) -> impl Iterator<Item = &(Question, Answer)> {
        self.answers.iter().filter(move |(_, answer)| answer.assessment == assessment)
    }
}

/// Results of `windlass rfc9743`.
#[derive(Clone, Debug)]
pub struct Results {
    /// By stack and controller.
    pub rows: Vec<Row>,
}

/// Three significant digits.
#[must_use]
pub fn shown(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 4) };
    format!("{value:.*}", usize::try_from(digits).unwrap_or(0))
}

impl Answer {
    /// The number, with its interval, and its limit, in words: `0.81 ± 0.02, at most 0.43 (cubic)`.
    #[must_use]
    pub fn text(&self, question: &Question) -> String {
        let Some(value) = &self.value else { return self.reason.clone() };
        let unit = question.criterion.unit;
        let space = if unit.is_empty() { "" } else { " " };
        let mut text = shown(value.mean);
        if let Some(half) = self.half_width {
            text.push_str(&format!(" ± {}", shown(half)));
        }
        text.push_str(&format!("{space}{unit}"));
        if let Some(limit) = self.limit {
            let bound = if question.criterion.limit.is_least() { "at least" } else { "at most" };
            let of = if self.standard.is_empty() { String::new() } else { format!(", by {}'s", self.standard) };
            text.push_str(&format!(" ({bound} {}{of})", shown(limit)));
        }
        text
    }
}

/// A line for each answer.
#[must_use]
pub fn table(results: &Results) -> Table {
    type Line<'a> = (&'a Row, &'a Question, &'a Answer);
    let lines: Vec<Line<'_>> = results
        .rows
        .iter()
        .flat_map(|row| row.answers.iter().map(move |(question, answer)| (row, question, answer)))
        .collect();
    let word = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let words = |read: fn(&Line<'_>) -> &'static str| lines.iter().map(move |line| word(read(line)));
    let number = |read: fn(&Answer) -> Option<f64>| lines.iter().map(move |line| read(line.2));
    Table::new("rfc9743")
        .text("controller", lines.iter().map(|line| word(&line.0.controller)))
        .text("stack", lines.iter().map(|line| word(&line.0.stack)))
        .text("criterion", words(|line| line.1.criterion.name))
        .text("section", words(|line| line.1.criterion.section))
        .text("path", words(|line| line.1.path.name))
        .text("path_section", words(|line| line.1.path.section))
        .text("assessment", words(|line| line.2.assessment.name()))
        .number("value", number(|answer| answer.value.map(|value| value.mean)))
        .number("half_width", number(|answer| answer.half_width))
        .text("unit", words(|line| line.1.criterion.unit))
        .number("limit", number(|answer| answer.limit))
        .text("limit_by", words(|line| line.2.standard))
        .count("seeds", lines.iter().map(|line| line.2.value.map(|value| value.count as u64)))
        .text("reason", lines.iter().map(|line| word(&line.2.reason)))
}
