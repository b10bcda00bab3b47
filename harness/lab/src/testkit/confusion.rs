//! How often flows are named rightly by the arrival of their packets.

use std::collections::BTreeMap;

use windlass_qlog_analysis::identify::{Model, Sample};

use super::passive::{HELD_OUT, KNOWN, is_known, kinds};

/// How flows were named: by their controller, how often each name was given, `unknown` for none.
#[derive(Clone, Default, Debug)]
pub struct Confusion {
    /// By controller and name.
    pub counts: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Confusion {
    /// Names the flows of each stack in `flows` by what a model knows of flows on the other stacks, of controllers that are
    /// known; by stack.
    #[must_use]
    pub fn across_stacks(flows: &[Sample]) -> Vec<(String, Confusion)> {
        let across = |stack: &str| {
            let (tested, others): (Vec<_>, Vec<_>) = flows.iter().partition(|flow| flow.stack == stack);
            let model = Model::train(others.into_iter().filter(|flow| is_known(&flow.controller)).cloned().collect());
            let mut found = Confusion::default();
            found.add(&model, tested);
            (stack.to_owned(), found)
        };
        kinds(flows).into_iter().map(across).collect()
    }

    /// Names each of `flows` by `model`.
    pub fn add<'a>(&mut self, model: &Model, flows: impl IntoIterator<Item = &'a Sample>) {
        for flow in flows {
            let name = model.classify(&flow.features).controller.unwrap_or_else(|| "unknown".to_owned());
            *self.counts.entry(flow.controller.clone()).or_default().entry(name).or_default() += 1;
        }
    }

    /// All of `parts` together.
    #[must_use]
    pub fn sum<'a>(parts: impl IntoIterator<Item = &'a Confusion>) -> Confusion {
        let mut sum = Confusion::default();
        for (controller, names) in parts.into_iter().flat_map(|part| &part.counts) {
            let row = sum.counts.entry(controller.clone()).or_default();
            names.iter().for_each(|(name, count)| *row.entry(name.clone()).or_default() += count);
        }
        sum
    }

    /// Of the flows of controllers that are known (or of the others): how many were named rightly (`unknown`, for the others),
    /// how many were `unknown`, and how many there were.
    #[must_use]
    pub fn score(&self, known: bool) -> (usize, usize, usize) {
        let mut score = (0, 0, 0);
        for (controller, names) in self.counts.iter().filter(|(name, _)| is_known(name) == known) {
            let right = if known { controller.as_str() } else { "unknown" };
            score.0 += names.get(right).unwrap_or(&0);
            score.1 += names.get("unknown").unwrap_or(&0);
            score.2 += names.values().sum::<usize>();
        }
        score
    }

    /// The matrix as a table of the documentation.
    #[must_use]
    pub fn table(&self) -> String {
        let names: Vec<&str> = KNOWN.iter().copied().chain(["unknown"]).collect();
        let mut text = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
        for controller in KNOWN.iter().chain(&HELD_OUT) {
            let Some(row) = self.counts.get(*controller) else { continue };
            let cell = |name: &&str| row.get(*name).map_or(String::new(), ToString::to_string);
            let cells: Vec<String> = names.iter().map(cell).collect();
            text.push_str(&format!("| {controller} | {} |\n", cells.join(" | ")));
        }
        text
    }

    /// What it comes to, as cells of a table of the documentation: of the known how many were named rightly, not at all,
    /// wrongly; of the others how many were called unknown.
    #[must_use]
    pub fn cells(&self) -> String {
        let ((right, unknown, of), (refused, _, others)) = (self.score(true), self.score(false));
        let percent = 100.0 * right as f64 / of.max(1) as f64;
        let wrong = of - right - unknown;
        format!("{right} of {of} ({percent:.1} %) | {unknown} | {wrong} | {refused} of {others}")
    }
}
