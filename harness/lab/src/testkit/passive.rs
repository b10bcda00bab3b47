//! Flows whose controllers are known, by the arrival of their packets: what a model learns from, and how often it names
//! the controller of flows on stacks it has not seen.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use windlass_controllers::Algorithm;
use windlass_qlog_analysis::identify::{Model, Sample, features};
use windlass_stacks::stack::Runner;

use super::identification::{logged, ours};
use crate::evaluation::Source;
use crate::replay::{ReplayError, observe};

/// The networks: rate, RTT, and a buffer of a fifth of the bandwidth-delay product, so that a smaller window shows in the
/// rate at which packets arrive.
pub const NETWORKS: [(&str, &str); 2] = [("near", "16, 40"), ("far", "8, 100")];

/// Controllers that the model knows.
pub const KNOWN: [&str; 14] = [
    "reno",
    "cubic",
    "bic",
    "scalable",
    "h-tcp",
    "westwood",
    "highspeed",
    "vegas",
    "fast",
    "ledbat++",
    "copa",
    "bbr",
    "multcp",
    "ctcp",
];

/// Controllers that it does not, of which none should be named.
pub const HELD_OUT: [&str; 5] = ["card", "tri-s", "dual", "cubic-2005", "tcp-africa"];

/// A flow that was run.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its controller, as the catalogue calls it; its stack's kind; what its arrivals showed.
    pub sample: Sample,
    /// The network it ran on.
    pub network: &'static str,
}

/// A network of [`NETWORKS`] as a scenario.
fn scenario(network: &str, path: &str) -> Source {
    let (rate, rtt) = path.split_once(", ").unwrap();
    let text = format!(
        "duration_s = 24\nsample_ms = 100\nheader_bytes = 33\npacing_burst_packets = 10\nunder_test = \"reno\"\n\
         [dumbbell]\nrate_mbps = {rate}\nrtt_ms = {rtt}\nbuffer_bdp = 0.2\n\
         [[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\n"
    );
    Source { name: network.to_owned(), file: network.to_owned(), text }
}

/// Which stacks are one where none may learn from itself: noq is a fork of quinn.
fn kind(stack: Runner) -> &'static str {
    match stack.name() {
        "quinn" | "noq" => "quinn/noq",
        other => other,
    }
}

/// Runs `controllers` and, where `natives` is set, the stacks' own, each on each of `stacks` that can, on both networks.
pub fn flows(stacks: &[Runner], controllers: &[&'static str], natives: bool) -> Vec<Flow> {
    let mut cases = Vec::new();
    for stack in stacks.iter().copied() {
        let own = stack.natives().iter().filter(|_| natives).map(|name| (format!("native:{name}"), ours(name)));
        let all: Vec<_> = controllers.iter().map(|name| ((*name).to_owned(), *name)).chain(own).collect();
        for (network, path) in NETWORKS {
            cases.extend(all.iter().map(|(typed, name)| (stack, network, path, typed.clone(), *name)));
        }
    }
    let run = |(stack, network, path, typed, name): &(Runner, &'static str, &str, String, &str)| {
        let text = logged(&scenario(network, path), typed, *stack)?;
        let (connection, _) = observe(text.as_bytes(), None).unwrap_or_else(|error: ReplayError| panic!("{error}"));
        let observed = connection.follower;
        let features = features(observed.arrivals(), observed.min_rtt());
        let features = features.unwrap_or_else(|error| panic!("{typed} on {network}, {}: {error}", stack.name()));
        let sample = Sample { controller: (*name).to_owned(), stack: kind(*stack).to_owned(), features };
        Some(Flow { sample, network })
    };
    cases.par_iter().filter_map(run).collect()
}

/// How flows were named: by their controller, how often each name was given, `unknown` for none.
#[derive(Clone, Default, Debug)]
pub struct Confusion {
    /// By controller and name.
    pub counts: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Confusion {
    /// Names each of `flows` by what a model knows of flows on stacks of other kinds, of [`KNOWN`] controllers.
    #[must_use]
    pub fn across_stacks(flows: &[Flow]) -> Confusion {
        let mut found = Confusion::default();
        let kinds: BTreeSet<&str> = flows.iter().map(|flow| flow.sample.stack.as_str()).collect();
        for kind in kinds {
            let known = flows.iter().filter(|flow| flow.sample.stack != kind && is_known(&flow.sample.controller));
            let model = Model::train(known.map(|flow| flow.sample.clone()).collect());
            found.add(&model, flows.iter().filter(|flow| flow.sample.stack == kind));
        }
        found
    }

    /// Names each of `flows` by `model`.
    pub fn add<'a>(&mut self, model: &Model, flows: impl IntoIterator<Item = &'a Flow>) {
        for Flow { sample, .. } in flows {
            let name = model.classify(&sample.features).controller.unwrap_or_else(|| "unknown".to_owned());
            *self.counts.entry(sample.controller.clone()).or_default().entry(name).or_default() += 1;
        }
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

    /// The matrix as a table of the documentation, and what it comes to.
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
        let ((right, unknown, of), (refused, _, others)) = (self.score(true), self.score(false));
        text.push_str(&format!(
            "\n{right} of {of} named rightly ({:.1} %), {unknown} not at all, {} wrongly; of {others} flows of controllers that the \
             model does not know, {refused} were called unknown.\n",
            100.0 * right as f64 / of.max(1) as f64,
            of - right - unknown,
        ));
        text
    }
}

fn is_known(controller: &str) -> bool {
    KNOWN.contains(&controller)
}

/// The controllers of both lists, all of the catalogue.
#[must_use]
pub fn all() -> Vec<&'static str> {
    let all: Vec<_> = KNOWN.iter().chain(&HELD_OUT).copied().collect();
    assert!(all.iter().all(|name| Algorithm::named(name).is_some()));
    all
}
