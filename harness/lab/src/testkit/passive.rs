//! Flows whose controllers are known, by the arrival of their packets: what a model learns from and is tested by. They are
//! kept in files of the checkout, since no one program has all stacks.

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

/// Flows of [`KNOWN`] controllers, which `windlass_qlog_analysis` has as its model.
const MODEL_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../qlog-analysis/src/identify/model.csv");

/// Flows of [`HELD_OUT`] controllers, in the same form.
const HELD_OUT_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/testkit/held_out.csv");

/// Flows of both on stacks of [`REAL_TIME`], in the same form.
const REAL_TIME_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/testkit/real_time.csv");

/// Stacks without virtual time. No run of theirs can be repeated, so that nothing is learnt from them.
const REAL_TIME: [&str; 1] = ["msquic"];

/// Which flows a file keeps.
type Kept = fn(&Sample) -> bool;

/// The files, and which flows each keeps.
const FILES: [(&str, Kept); 3] = [
    (MODEL_FILE, is_learnt_from),
    (HELD_OUT_FILE, |flow| !is_known(&flow.controller) && !is_in_real_time(flow)),
    (REAL_TIME_FILE, is_in_real_time),
];

/// Features are kept with three decimals; by more than this, two differ.
const ROUNDED: f64 = 0.002;

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
    match plain_name(stack) {
        "quinn" | "noq" => "quinn/noq",
        other => other,
    }
}

/// Name of a stack, in virtual time or not.
fn plain_name(stack: Runner) -> &'static str {
    stack.name().trim_end_matches("-wire")
}

/// Runs `controllers` and, where `natives` is set, the stacks' own, each on each of `stacks` that can, on both networks.
pub fn flows(stacks: &[Runner], controllers: &[&'static str], natives: bool) -> Vec<Sample> {
    let mut cases = Vec::new();
    for stack in stacks.iter().copied() {
        let own = stack.natives().iter().filter(|_| natives).map(|name| (format!("native:{name}"), ours(name)));
        let plain = |text: &'static str| text.split(':').next().unwrap_or(text);
        let all: Vec<_> = controllers.iter().map(|text| ((*text).to_owned(), plain(text))).chain(own).collect();
        for (network, path) in NETWORKS {
            cases.extend(all.iter().map(|(typed, name)| (stack, network, path, typed.clone(), *name)));
        }
    }
    let run = |(stack, network, path, typed, name): &(Runner, &'static str, &str, String, &str)| {
        let text = logged(&scenario(network, path), typed, *stack)?;
        let (connection, _) =
            observe(&|| Ok(text.as_bytes()), None).unwrap_or_else(|error: ReplayError| panic!("{error}"));
        let observed = connection.follower;
        let features = features(observed.arrivals(), observed.min_rtt());
        let features = features.unwrap_or_else(|error| panic!("{typed} on {network}, {}: {error}", stack.name()));
        let sender = format!("{} {typed}", plain_name(*stack));
        Some(Sample { controller: (*name).to_owned(), stack: kind(*stack).to_owned(), sender, features })
    };
    cases.par_iter().filter_map(run).collect()
}

/// The flows that are kept, of every stack.
#[must_use]
pub fn kept() -> Vec<Sample> {
    FILES.into_iter().flat_map(|(file, _)| read(file)).collect()
}

fn read(file: &str) -> Vec<Sample> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    Model::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}")).samples().to_vec()
}

/// The flows of each sender together, in the order they come.
#[must_use]
pub fn senders<'a>(flows: impl IntoIterator<Item = &'a Sample>) -> Vec<Vec<&'a Sample>> {
    let mut senders: Vec<Vec<&Sample>> = Vec::new();
    for flow in flows {
        match senders.iter_mut().find(|of| of[0].sender == flow.sender) {
            Some(of) => of.push(flow),
            None => senders.push(vec![flow]),
        }
    }
    senders
}

/// Of `found`, all flows of some stacks, those that differ from what is kept of these stacks, as `CONTROLLER on STACK`. With
/// `WINDLASS_ACCEPT_MODEL=1` they are kept instead.
#[must_use]
pub fn changed(found: &[Sample]) -> Vec<String> {
    let accepted = std::env::var_os("WINDLASS_ACCEPT_MODEL").is_some();
    let mut changed = Vec::new();
    for (file, keeps) in FILES {
        let old = read(file);
        let new: Vec<Sample> = found.iter().filter(|flow| keeps(flow)).cloned().collect();
        let mut all = Vec::new();
        for stack in kinds(old.iter().chain(&new)) {
            let of = |flows: &[Sample]| flows.iter().filter(|flow| flow.stack == stack).cloned().collect::<Vec<_>>();
            let (before, after) = (of(&old), of(&new));
            if after.is_empty() {
                all.extend(before);
                continue;
            }
            if before.len() != after.len() {
                changed.push(format!("{} flows on {stack}, not {}", after.len(), before.len()));
            }
            let differ = after.iter().zip(&before).filter(|(one, other)| !is_same(one, other));
            changed.extend(differ.map(|(flow, _)| format!("{} on {stack}", flow.controller)));
            all.extend(after);
        }
        if accepted && !all.is_empty() {
            std::fs::write(file, Model::train(all).to_csv()).unwrap_or_else(|error| panic!("{file}: {error}"));
        }
    }
    changed
}

fn is_same(one: &Sample, other: &Sample) -> bool {
    let near = one.features.iter().zip(&other.features).all(|(one, other)| (one - other).abs() < ROUNDED);
    one.controller == other.controller && one.sender == other.sender && near
}

/// The stacks of `flows`, in the order they come.
pub(super) fn kinds<'a>(flows: impl IntoIterator<Item = &'a Sample>) -> Vec<&'a str> {
    let mut kinds: Vec<&str> = Vec::new();
    for flow in flows {
        if !kinds.contains(&flow.stack.as_str()) {
            kinds.push(&flow.stack);
        }
    }
    kinds
}

/// Whether a model learns from `flow`.
pub(super) fn is_learnt_from(flow: &Sample) -> bool {
    is_known(&flow.controller) && !is_in_real_time(flow)
}

fn is_in_real_time(flow: &Sample) -> bool {
    REAL_TIME.contains(&flow.stack.as_str())
}

pub(super) fn is_known(controller: &str) -> bool {
    KNOWN.contains(&controller)
}

/// The controllers of both lists, all of the catalogue.
#[must_use]
pub fn all() -> Vec<&'static str> {
    let all: Vec<_> = KNOWN.iter().chain(&HELD_OUT).copied().collect();
    assert!(all.iter().all(|name| Algorithm::named(name).is_some()));
    all
}
