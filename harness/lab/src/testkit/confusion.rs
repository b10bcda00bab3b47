//! How often flows are named rightly by the arrival of their packets.

use std::collections::BTreeMap;

use windlass_qlog_analysis::identify::{Match, Model, Sample};

use super::passive::{HELD_OUT, KNOWN, is_known, is_learnt_from, kept, kinds, senders};

/// What is named: one flow, or a sender by all its flows together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Each flow by itself.
    Flow,
    /// The flows of one sender, over several networks.
    Sender,
}

impl Unit {
    /// `flows` as what is named.
    fn of<'a>(self, flows: impl IntoIterator<Item = &'a Sample>) -> Vec<Vec<&'a Sample>> {
        match self {
            Unit::Flow => flows.into_iter().map(|flow| vec![flow]).collect(),
            Unit::Sender => senders(flows),
        }
    }
}

/// What `model` says of `flows` of one sender.
fn classify(model: &Model, flows: &[&Sample]) -> Match {
    let found: Vec<Match> = flows.iter().map(|flow| model.classify(&flow.features)).collect();
    Match::of_one_sender(&found).expect("a sender has flows")
}

/// A model of those of `flows` that are learnt from, not of `stack` and not of the controller `without`.
fn others<'a>(flows: impl IntoIterator<Item = &'a Sample>, stack: &str, without: Option<&str>) -> Model {
    let others = flows.into_iter().filter(|flow| is_learnt_from(flow) && flow.stack != stack);
    let others = others.filter(|flow| without != Some(flow.controller.as_str()));
    Model::train(others.cloned().collect())
}

/// How flows were named: by their controller, how often each name was given, `unknown` for none.
#[derive(Clone, Default, Debug)]
pub struct Confusion {
    /// By controller and name.
    pub counts: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Confusion {
    /// Names the flows of each stack in `flows` by what a model knows of flows on the other stacks, of controllers that are
    /// known and in virtual time; by stack.
    #[must_use]
    pub fn across_stacks(flows: &[Sample], unit: Unit) -> Vec<(String, Confusion)> {
        let across = |stack: &str| {
            let model = others(flows, stack, None);
            let mut found = Confusion::default();
            found.add(&model, flows.iter().filter(|flow| flow.stack == stack), unit);
            (stack.to_owned(), found)
        };
        kinds(flows).into_iter().map(across).collect()
    }

    /// Names `flows` by `model`.
    pub fn add<'a>(&mut self, model: &Model, flows: impl IntoIterator<Item = &'a Sample>, unit: Unit) {
        for flows in unit.of(flows) {
            let name = classify(model, &flows).controller.unwrap_or_else(|| "unknown".to_owned());
            *self.counts.entry(flows[0].controller.clone()).or_default().entry(name).or_default() += 1;
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

/// Of `found`, all flows of some stacks, those that are named otherwise than the flows that are kept, by flows of other stacks;
/// and how many were compared. What runs in real time is never the same again, but its name should be.
#[must_use]
pub fn renamed(found: &[Sample]) -> (Vec<String>, usize) {
    let kept = kept();
    let mut differ = Vec::new();
    for stack in kinds(found) {
        let model = others(&kept, stack, None);
        let name = |flow: &Sample| classify(&model, &[flow]).controller.unwrap_or_else(|| "unknown".to_owned());
        let before = senders(kept.iter().filter(|flow| flow.stack == stack));
        for flows in senders(found.iter().filter(|flow| flow.stack == stack)) {
            let old = before.iter().find(|of| of[0].sender == flows[0].sender);
            for (at, flow) in flows.iter().enumerate() {
                let (new, old) = (name(flow), old.and_then(|of| of.get(at)).map(|flow| name(flow)));
                if old.as_ref() != Some(&new) {
                    let old = old.unwrap_or_else(|| "not kept".to_owned());
                    differ.push(format!("{}, {}: {new}, not {old}", flow.sender, at + 1));
                }
            }
        }
    }
    (differ, found.len())
}

/// What a share for [`NEARER`](windlass_qlog_analysis::identify::NEARER) would do.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AtShare {
    /// How many were named rightly.
    pub right: usize,
    /// How many were named wrongly.
    pub wrong: usize,
    /// How many were called unknown that have no flow of their controller among those known.
    pub refused: usize,
    /// How many there are.
    pub of: usize,
}

impl AtShare {
    /// What each of `shares` would do on `flows`, each stack's named by those of others; and refused, each controller in turn
    /// taken for one that is not known.
    #[must_use]
    pub fn calibration(flows: &[Sample], unit: Unit, shares: &[f64]) -> Vec<AtShare> {
        let mut found = vec![AtShare::default(); shares.len()];
        for stack in kinds(flows) {
            let all = others(flows, stack, None);
            for tested in unit.of(flows.iter().filter(|flow| flow.stack == stack)) {
                let controller = tested[0].controller.as_str();
                let (with, without) = (&all, others(flows, stack, Some(controller)));
                let (with, without) = (classify(with, &tested), classify(&without, &tested));
                for (share, at) in shares.iter().zip(&mut found) {
                    let named = name_at(&with, *share);
                    at.right += usize::from(named == Some(controller));
                    at.wrong += usize::from(named.is_some_and(|named| named != controller));
                    at.refused += usize::from(name_at(&without, *share).is_none());
                    at.of += 1;
                }
            }
        }
        found
    }
}

/// What is named if the nearest flow has to be within `share` of the distance to the nearest of another controller.
fn name_at(found: &Match, share: f64) -> Option<&str> {
    let [(name, first), (_, second), ..] = &found.nearest[..] else { return None };
    (!found.lost_too_little && *first <= found.margin && *first <= share * second).then_some(name)
}
