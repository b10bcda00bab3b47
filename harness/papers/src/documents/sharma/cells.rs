//! The cells of the experiments (`spec: sharma §13.3`).

use super::measures::{single, two};
use super::scenario::{ACCESS, BOTTLENECK, Dumbbell, Flow, RATE};
use crate::{Cell, Measure, Scale, Settings};

/// The six schemes with the document's parameters, by the names of the catalogue.
const SCHEMES: [&str; 6] = ["highspeed", "scalable", "bic", "cubic-2005", "fast", "h-tcp"];
/// CUBIC with half its limit on growth.
const HALF: &str = "cubic-2005/80";
/// The six, and the other reading of CUBIC.
const READ: [&str; 7] = ["highspeed", "scalable", "bic", "cubic-2005", HALF, "fast", "h-tcp"];
/// The controller that stands for standard TCP.
const STANDARD: &str = "reno";
/// Queue lengths of EV-3, packets: those the document names, and some between.
const QUEUES: [u32; 8] = [40, 100, 200, 500, 1000, 1555, 3110, 7776];
/// A fifth of the nominal bandwidth-delay product, packets.
const QUEUE: u32 = 1555;
/// Access delays of EV-5's second flow, ms.
const DELAYS: [f64; 8] = [1.0, 4.0, 7.0, 14.0, 22.0, 34.0, 74.0, 77.0];
/// The number of the packet that EV-2 loses.
const EARLY: u32 = 20_000;
/// The second flow of a pair starts so much later than the first, s.
const FIRST: f64 = 0.1;
const SECOND: f64 = 50.0;

fn paper(scheme: &str) -> String {
    if scheme == HALF { "cubic-2005:profile=paper,smax=80".to_owned() } else { format!("{scheme}:profile=paper") }
}

fn cell(name: String, settings: Settings, dumbbell: &Dumbbell, step_ms: f64, measure: Measure, scale: Scale) -> Cell {
    Cell { name, settings, scenario: dumbbell.scenario(scale), bottleneck: BOTTLENECK, step_ms, measure }
}

/// A single flow on a path whose round trip the document labels `label`, ms.
fn one(scheme: &str, controller: &str, dumbbell: &Dumbbell, label: f64, settings: Settings, scale: Scale) -> Cell {
    let measure = single(dumbbell.nominal_bdp(label), dumbbell.rtt(&dumbbell.flows[0]) / 1000.0);
    let mut all = vec![("controller", scheme.to_owned())];
    all.extend(settings);
    let name = all.iter().skip(1).fold(scheme.to_owned(), |name, (key, value)| format!("{name} {key}={value}"));
    let dumbbell = Dumbbell {
        flows: vec![Flow { controller: controller.to_owned(), ..dumbbell.flows[0].clone() }],
        ..dumbbell.clone()
    };
    cell(name, all, &dumbbell, 10.0, measure, scale)
}

fn standard(rate: f64, queue: u32, duration: f64, scale: Scale) -> Vec<Cell> {
    let single = Dumbbell::single(&paper(STANDARD));
    let flow = Flow { start: FIRST, ..single.flows[0].clone() };
    let dumbbell = Dumbbell { rate, delay: 50.0, queue, duration, flows: vec![flow], ..single };
    vec![one(STANDARD, &paper(STANDARD), &dumbbell, 100.0, Vec::new(), scale)]
}

/// EV-0a: the standard controller on a slow link.
pub(super) fn slow(scale: Scale) -> Vec<Cell> {
    standard(5.0, 62, 50.0, scale)
}

/// EV-0b: the standard controller on the fast link.
pub(super) fn fast(scale: Scale) -> Vec<Cell> {
    standard(RATE, 7775, 150.0, scale)
}

/// EV-1. A-7 asks for CUBIC with half the limit too.
pub(super) fn each(scale: Scale) -> Vec<Cell> {
    let dumbbell = Dumbbell::single("");
    READ.iter().map(|scheme| one(scheme, &paper(scheme), &dumbbell, 100.0, Vec::new(), scale)).collect()
}

/// EV-1n: a loss takes as many later packets as in the ns-2 of that time.
pub(super) fn duplicates(scale: Scale) -> Vec<Cell> {
    let dumbbell = Dumbbell { dupthresh_frac: Some(100), ..Dumbbell::single("") };
    SCHEMES.iter().map(|scheme| one(scheme, &paper(scheme), &dumbbell, 100.0, Vec::new(), scale)).collect()
}

/// EV-1a: FAST with other backlogs than its default.
pub(super) fn alpha(scale: Scale) -> Vec<Cell> {
    let dumbbell = Dumbbell::single("");
    let with = |alpha: u32| {
        let controller = format!("fast:profile=paper,alpha={alpha}");
        one("fast", &controller, &dumbbell, 100.0, vec![("alpha", alpha.to_string())], scale)
    };
    [212, 312, 500, 3000].into_iter().map(with).collect()
}

/// EV-2; each scheme without the loss too, for the delay it causes.
pub(super) fn early_drop(scale: Scale) -> Vec<Cell> {
    let undisturbed = Dumbbell::single("");
    let disturbed = Dumbbell { lost: Some(EARLY), ..undisturbed.clone() };
    let both = |scheme: &&str| {
        let lost = vec![("lost", EARLY.to_string())];
        [
            one(scheme, &paper(scheme), &undisturbed, 100.0, Vec::new(), scale),
            one(scheme, &paper(scheme), &disturbed, 100.0, lost, scale),
        ]
    };
    READ.iter().flat_map(both).collect()
}

/// EV-3: every scheme with other queue limits.
pub(super) fn queues(scale: Scale) -> Vec<Cell> {
    let with = |scheme: &str, queue: u32| {
        let dumbbell = Dumbbell { queue, ..Dumbbell::single("") };
        one(scheme, &paper(scheme), &dumbbell, 100.0, vec![("queue", queue.to_string())], scale)
    };
    READ.iter().flat_map(|scheme| QUEUES.map(|queue| with(scheme, queue))).collect()
}

/// EV-4: the labels leave out the access links, and so do queues and nominal products (A-23,
///
pub(super) fn delays(scale: Scale) -> Vec<Cell> {
    let with = |scheme: &str, delay: f64| {
        let queue = (RATE * 2.0 * delay / 40.0).floor() as u32;
        let dumbbell = Dumbbell { delay, queue, ..Dumbbell::single("") };
        let label = 2.0 * delay;
        one(scheme, &paper(scheme), &dumbbell, label, vec![("rtt", label.to_string())], scale)
    };
    READ.iter().flat_map(|scheme| (1..=11).map(move |i| with(scheme, 10.0 * f64::from(i)))).collect()
}

/// T2: one flow with a round trip of 162 ms, another with that of an access delay of
/// `access` ms.
fn two_rtts(scheme: &str, access: f64, is_short_first: bool, scale: Scale) -> Cell {
    let (long_start, short_start) = if is_short_first { (SECOND, FIRST) } else { (FIRST, SECOND) };
    let flow = |name, start, access| Flow { name, controller: paper(scheme), start, access };
    let mut flows = vec![flow("long", long_start, 74.0), flow("short", short_start, access)];
    if is_short_first {
        flows.reverse();
    }
    let dumbbell = Dumbbell { delay: 6.0, queue: 2519, flows, ..Dumbbell::single("") };
    let rtt = (2.0 * (access + 7.0)).to_string();
    let settings = vec![("controller", scheme.to_owned()), ("rtt", rtt.clone())];
    cell(format!("{scheme} rtt={rtt}"), settings, &dumbbell, 100.0, two(), scale)
}

/// EV-5: two flows of different round trips, the long one first.
pub(super) fn unequal(scale: Scale) -> Vec<Cell> {
    READ.iter().flat_map(|scheme| DELAYS.map(|access| two_rtts(scheme, access, false, scale))).collect()
}

/// EV-5r: as EV-5 with Scalable, the short one first.
pub(super) fn unequal_reversed(scale: Scale) -> Vec<Cell> {
    DELAYS.into_iter().map(|access| two_rtts("scalable", access, true, scale)).collect()
}

/// A pair on T3 with a queue of `queue` packets.
fn pair(first: &str, second: &str, queue: u32, scale: Scale) -> Cell {
    let flow = |name, scheme: &str, start| Flow { name, controller: paper(scheme), start, access: ACCESS };
    let flows = vec![flow("first", first, FIRST), flow("second", second, SECOND)];
    let dumbbell = Dumbbell { flows, queue, ..Dumbbell::single("") };
    let settings = vec![("first", first.to_owned()), ("second", second.to_owned())];
    cell(format!("{first} before {second}"), settings, &dumbbell, 100.0, two(), scale)
}

/// EV-6: the document's 36 pairs, and those with the other reading of CUBIC.
pub(super) fn pairs(scale: Scale) -> Vec<Cell> {
    READ.iter().flat_map(|first| READ.map(|second| pair(first, second, QUEUE, scale))).collect()
}

/// EV-6q: the document's 36 pairs over three queues. It names none of those it ran besides a fifth of a product.
pub(super) fn pairs_by_queue(scale: Scale) -> Vec<Cell> {
    let of = |queue: u32| {
        let with = move |cell: Cell| Cell {
            name: format!("{} queue={queue}", cell.name),
            settings: cell.settings.into_iter().chain([("queue", queue.to_string())]).collect(),
            ..cell
        };
        let pairs = SCHEMES.iter().flat_map(|first| SCHEMES.map(|second| (*first, second)));
        pairs.map(move |(first, second)| with(pair(first, second, queue, scale))).collect::<Vec<_>>()
    };
    [500, QUEUE, 7776].into_iter().flat_map(of).collect()
}
