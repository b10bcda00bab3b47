//! The topologies with their traffic (`spec: cho §14.1–§14.3`), and the cells of the experiments (`spec: cho §14.4`).

use std::ops::RangeInclusive;

use super::measures::{contest, shared};
use crate::{Cell, Measure, Scale, Settings, Template};

/// Name of the bottleneck link.
const BOTTLENECK: &str = "bottleneck";

/// N2 with nothing beside the transfers.
fn n2() -> Template {
    n2_beside_on_off().without("traffic", "load")
}

/// N2 beside a source that goes on and off.
fn n2_beside_on_off() -> Template {
    Template::new(include_str!("n2.toml")).without("web", "web")
}

/// N2 beside web sessions.
fn n2_beside_web() -> Template {
    Template::new(include_str!("n2.toml")).without("traffic", "load")
}

/// TB-100 of chapters IV and V.
fn tb_100() -> Template {
    Template::new(include_str!("tb-100.toml"))
}

/// TB-10 of chapter IV.
fn tb_10() -> Template {
    with_rate(10.0)
}

/// TB-G: 440 Mbit/s of data (E-3).
fn tb_g() -> Template {
    with_rate(467.35).set("link.bottleneck.buffer_packets", 600)
}

fn with_rate(mbps: f64) -> Template {
    // 25 ms, and 40 bytes twice at 1 Gbit/s and once at this rate.
    tb_100().set("link.bottleneck.rate_mbps", mbps).set("link.back.delay_ms", 25.00064 + 0.32 / mbps)
}

/// A test bed as chapter III has it: NewReno without timestamps.
fn chapter_iii(bed: Template) -> Template {
    bed.set("packet_bytes", 1460).set("overhead_bytes", 78).set("flow.recovery", "tcp-newreno")
}

/// NS6 with two flows.
fn ns6() -> Template {
    Template::new(include_str!("ns6.toml")).without("traffic", "load")
}

/// NS6 with one flow beside a constant load.
fn ns6_beside_udp() -> Template {
    Template::new(include_str!("ns6.toml")).without("flow", "b")
}

/// The path of MOD-1.
fn random_losses() -> Template {
    Template::new(include_str!("random-losses.toml"))
}

/// Numbers of flows where the document's range is lost (E-7).
const NUMBERS: [u32; 5] = [2, 4, 6, 8, 10];

fn cell(settings: Settings, scenario: Template, step_ms: f64, measure: Measure, scale: Scale) -> Cell {
    Cell::new(settings, &scenario.at(scale), BOTTLENECK, step_ms, measure)
}

// Chapter II.

/// Transfers of each scheme on a bed.
fn transfers(bed: &Template, share: f64, settings: &Settings, scale: Scale) -> Vec<Cell> {
    let each = |scheme: &str| {
        let drop_tail = || bed.clone().set("link.bottleneck.queue", "drop-tail");
        let scenario = match scheme {
            "ECN" => bed.clone().set("flow.ecn", true),
            "DCA-S" => drop_tail().set("flow.controller", "dca-s:profile=paper"),
            "DCA-C" => drop_tail().set("flow.controller", "dca-c:profile=paper").set("flow.group", "ftp"),
            _ => drop_tail(),
        };
        let mut all = settings.clone();
        all.push(("scheme", scheme.to_owned()));
        cell(all, scenario, 10.0, shared(share), scale)
    };
    ["Reno", "ECN", "DCA-S", "DCA-C"].map(each).into()
}

pub(super) fn two_transfers(scale: Scale) -> Vec<Cell> {
    transfers(&n2().set("flow.start_jitter_s", 0), 5.0, &vec![], scale)
}

/// With other access delays too (E-1).
pub(super) fn two_transfers_jittered(scale: Scale) -> Vec<Cell> {
    let with = |access: f64| {
        let links = n2().set("link.bottleneck.delay_ms", 30.832 + access).set("link.back.delay_ms", 30.128 + access);
        let bed = links.set("flow.access_delay_ms", access);
        transfers(&bed, 5.0, &vec![("access", access.to_string())], scale)
    };
    let ours = transfers(&n2(), 5.0, &vec![], scale);
    ours.into_iter().chain([1.0, 5.0].into_iter().flat_map(with)).collect()
}

/// With each number of transfers.
fn numbers(bed: &Template, share: f64, scale: Scale) -> Vec<Cell> {
    let with = |n: u32| transfers(&bed.clone().set("flow.count", n), share, &vec![("n", n.to_string())], scale);
    NUMBERS.into_iter().flat_map(with).collect()
}

pub(super) fn beside_on_off(scale: Scale) -> Vec<Cell> {
    numbers(&n2_beside_on_off(), 3.5, scale)
}

pub(super) fn buffers(scale: Scale) -> Vec<Cell> {
    let with = |queue: u32| {
        let bed = n2_beside_on_off().set("flow.count", 6).set("link.bottleneck.buffer_packets", queue);
        transfers(&bed, 3.5, &vec![("buffer", queue.to_string())], scale)
    };
    [30, 45, 60, 75, 90].into_iter().flat_map(with).collect()
}

pub(super) fn periods(scale: Scale) -> Vec<Cell> {
    let with = |period: f64| {
        let half = period / 2.0;
        let bed = n2_beside_on_off().set("traffic.off_s", half).set("traffic.on_s", half);
        transfers(&bed, 3.5, &vec![("period", period.to_string())], scale)
    };
    [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8].into_iter().flat_map(with).collect()
}

pub(super) fn beside_web(scale: Scale) -> Vec<Cell> {
    numbers(&n2_beside_web(), 5.0, scale)
}

// Node0 and Node1 on the test bed.

/// The high-speed schemes.
const HIGH_SPEED: [&str; 5] = ["HS", "STCP", "H-TCP", "BIC", "FAST"];

/// The controller of a scheme: with the document's parameters, or with its authors' defaults, starting as the test
/// bed's hosts do.
fn controller(scheme: &str) -> String {
    let name = match scheme {
        "SACK" => "reno",
        "HS" => "highspeed",
        "STCP" => "scalable",
        "H-TCP" => "h-tcp",
        "BIC" => "bic",
        "FAST" => return fast("32.51"),
        "FAST alpha 312" => return fast("312"),
        "TCP-P/1" => return tcp_p(1),
        "TCP/4" => return tcp_k(4),
        // An ACK that waits 40 ms for a second packet adds 5 ms to the smoothed round trip.
        "A-TCP-P, floor 10 ms" => return "a-tcp-p:profile=paper,noise_floor=10".to_owned(),
        other => return format!("{}:profile=paper", other.to_lowercase()),
    };
    hosted(name)
}

fn hosted(controller: &str) -> String {
    format!("{controller}:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks")
}

/// FAST's α is what the bottleneck sends in 4 ms (`spec: sharma §7`), 32.51 packets at 100 Mbit/s; nothing else bounds
/// it.
fn fast(alpha: &str) -> String {
    format!("{},loss_bound=0,base_window=0,alpha={alpha}", hosted("fast"))
}

fn tcp_p(k: u32) -> String {
    format!("tcp-p:profile=paper,k={k}")
}

fn tcp_k(k: u32) -> String {
    format!("tcp-k:profile=paper,k={k}")
}

/// Controllers whose flows are one group.
const GROUPS: [&str; 6] = ["fractional", "combined", "cocoon", "cm", "tcp-p", "a-tcp-p"];

/// A bed whose Node0 has so many flows.
fn node0(bed: Template, count: u32, controller: &str) -> Template {
    let bed = bed.set("flow.a.count", count).set("flow.a.controller", controller);
    let is_group = GROUPS.iter().any(|name| controller.split(':').next() == Some(name));
    if is_group { bed.set("flow.a.group", "a") } else { bed }
}

/// With and without the early loss (E-9).
fn starts(bed: Template) -> [(&'static str, Template); 2] {
    let undisturbed = bed.clone().set("flow.drop_packets", Vec::<u32>::new());
    [("early loss", bed), ("undisturbed", undisturbed)]
}

/// A hundred seconds of `count` flows against a standard one. All start within a second.
fn against(bed: &Template, (count, controller): (u32, String), settings: &Settings, scale: Scale) -> [Cell; 2] {
    let bed = bed.clone().set("flow.start_jitter_s", scale.time(1.0));
    let bed = if count > 0 { node0(bed, count, &controller) } else { bed.without("flow", "a") };
    starts(bed).map(|(start, scenario)| {
        let mut all = settings.clone();
        all.push(("start", start.to_owned()));
        cell(all, scenario, 50.0, contest(0.0, scale.time(100.0)), scale)
    })
}

fn worth_one(bed: &Template, scale: Scale) -> Vec<Cell> {
    (1..=10).flat_map(|n| against(bed, (n, tcp_p(1)), &vec![("n", n.to_string())], scale)).collect()
}

pub(super) fn worth_one_100(scale: Scale) -> Vec<Cell> {
    worth_one(&chapter_iii(tb_100()), scale)
}

pub(super) fn worth_one_10(scale: Scale) -> Vec<Cell> {
    worth_one(&chapter_iii(tb_10()), scale)
}

pub(super) fn two_worth_one(scale: Scale) -> Vec<Cell> {
    against(&chapter_iii(tb_10()), (2, tcp_p(1)), &vec![], scale).into()
}

/// So many standard flows, or what is worth as many.
fn worth(what: &str, k: u32) -> (u32, String) {
    match (what, k) {
        ("TCP-P", 1..) => (10, tcp_p(k)),
        ("TCP/k", 1..) => (1, tcp_k(k)),
        _ => (k, controller("SACK")),
    }
}

/// Standard flows of a number, `k` or `n`, and then what is worth as many.
fn weights(bed: &Template, what: &str, number: &'static str, numbers: RangeInclusive<u32>, scale: Scale) -> Vec<Cell> {
    let with = |what: &str, k: u32| {
        against(bed, worth(what, k), &vec![("what", what.to_owned()), (number, k.to_string())], scale)
    };
    ["flows", what].into_iter().flat_map(|what| numbers.clone().flat_map(move |k| with(what, k))).collect()
}

pub(super) fn weights_100(scale: Scale) -> Vec<Cell> {
    weights(&chapter_iii(tb_100()), "TCP-P", "k", 0..=10, scale)
}

pub(super) fn weights_10(scale: Scale) -> Vec<Cell> {
    weights(&chapter_iii(tb_10()), "TCP-P", "k", 0..=10, scale)
}

pub(super) fn weights_only(scale: Scale) -> Vec<Cell> {
    let part = |cell: &Cell| cell.setting("what") == Some("TCP-P") && cell.setting("k") != Some("0");
    weights_100(scale).into_iter().filter(part).collect()
}

/// Plain flows, and groups of TCP-P worth as many, which one of the captions names too.
pub(super) fn lossy(scale: Scale) -> Vec<Cell> {
    let bed = chapter_iii(tb_100()).set("link.bottleneck.loss_percent", 0.01);
    weights(&bed, "TCP-P", "n", 1..=10, scale)
}

pub(super) fn worth_k(scale: Scale) -> Vec<Cell> {
    weights(&tb_100(), "TCP/k", "k", 0..=10, scale)
}

pub(super) fn groups(scale: Scale) -> Vec<Cell> {
    let kinds = ["SACK", "Fractional", "Combined", "COCOON", "CM", "TCP-P/1", "A-TCP-P"];
    let with = |kind: &str, n: u32| {
        against(&tb_100(), (n, controller(kind)), &vec![("kind", kind.to_owned()), ("n", n.to_string())], scale)
    };
    kinds.into_iter().flat_map(|kind| (0..=10).flat_map(move |n| with(kind, n))).collect()
}

pub(super) fn five(scale: Scale) -> Vec<Cell> {
    let with = |kind: &str| against(&tb_100(), (5, controller(kind)), &vec![("kind", kind.to_owned())], scale);
    ["SACK"].into_iter().chain(HIGH_SPEED).chain(["A-TCP", "A-TCP-P"]).flat_map(with).collect()
}

// Flows that come and go.

/// A scenario measured between two times, s.
fn schedule(scenario: Template, (from, to): (f64, f64), settings: Settings, scale: Scale) -> Cell {
    cell(settings, scenario, 50.0, contest(scale.time(from), scale.time(to)), scale)
}

const A_TCP: &str = "a-tcp:profile=paper";

/// FAST has an α that follows the rate, and in the other reading that of 622 Mbit/s, whatever the bed.
fn joined(bed: &Template, alpha: &str, other: &[&str], scale: Scale) -> Vec<Cell> {
    // Hosts do not start on the microsecond, and flows that do move in step.
    let bed = bed.clone().set("flow.start_jitter_s", scale.time(1.0)).set("flow.b.start_s", 40).set("duration_s", 140);
    let of = |scheme: &str| {
        let controller = if scheme == "FAST" { fast(alpha) } else { controller(scheme) };
        let scenario = node0(bed.clone(), 1, &controller);
        schedule(scenario, (40.0, 140.0), vec![("scheme", scheme.to_owned())], scale)
    };
    ["SACK"].iter().chain(&HIGH_SPEED).chain(&["FAST alpha 312"]).chain(other).map(|scheme| of(scheme)).collect()
}

pub(super) fn joined_100(scale: Scale) -> Vec<Cell> {
    joined(&tb_100(), "32.51", &[], scale)
}

pub(super) fn left_100(scale: Scale) -> Vec<Cell> {
    joined(&tb_100(), "32.51", &["A-TCP"], scale)
}

pub(super) fn left_10(scale: Scale) -> Vec<Cell> {
    joined(&tb_10(), "3.25", &["A-TCP"], scale)
}

fn without_competition(bed: Template, count: u32, schemes: &[&str], scale: Scale) -> Vec<Cell> {
    let bed = bed.without("flow", "b").set("duration_s", 400);
    let of = |scheme: &&str| {
        let scheme = (*scheme).to_owned();
        starts(node0(bed.clone(), count, &controller(&scheme))).map(|(start, scenario)| {
            let settings = vec![("scheme", scheme.clone()), ("start", start.to_owned())];
            schedule(scenario, (200.0, 400.0), settings, scale)
        })
    };
    schemes.iter().flat_map(of).collect()
}

/// The flows of CH4-C.
const FIXED: &[&str] = &["SACK", "TCP/4"];

/// With other queues too (E-3).
pub(super) fn gigabit(scale: Scale) -> Vec<Cell> {
    let with = |queue: u32| {
        let bed = tb_g().set("link.bottleneck.buffer_packets", queue);
        let mut cells = without_competition(bed, 1, FIXED, scale);
        for cell in &mut cells {
            cell.settings.push(("queue", queue.to_string()));
            cell.name = format!("{} queue={queue}", cell.name);
        }
        cells
    };
    let ours = without_competition(tb_g(), 1, FIXED, scale);
    ours.into_iter().chain([300, 900].into_iter().flat_map(with)).collect()
}

/// With those of CH4-C beside it.
pub(super) fn adaptive_gigabit(scale: Scale) -> Vec<Cell> {
    let adaptive = without_competition(tb_g(), 1, &["A-TCP"], scale).into_iter().map(seen);
    adaptive.chain(without_competition(tb_g(), 1, FIXED, scale)).collect()
}

pub(super) fn four_gigabit(scale: Scale) -> Vec<Cell> {
    let schemes = ["SACK", "A-TCP-P", "A-TCP-P, floor 10 ms"];
    without_competition(tb_g(), 4, &schemes, scale).into_iter().map(seen).collect()
}

/// What the detector knows (`spec: cho §6.1`).
const DETECTOR: &[&str] = &["k", "knee", "knee_ref", "knee_k", "srtt_us", "srtt_min_us", "srtt_max_us"];

fn seen(mut cell: Cell) -> Cell {
    cell.measure = cell.measure.with_state_variables(DETECTOR);
    cell
}

fn visited(bed: Template, count: u32, controller: &str, scale: Scale) -> Vec<Cell> {
    let bed = bed.set("duration_s", 300).set("flow.b.start_s", 100).set("flow.b.stop_s", 200);
    vec![seen(schedule(node0(bed, count, controller), (100.0, 200.0), vec![], scale))]
}

/// SACK-0 is A-TCP that stays at weight 1: standard TCP, with a detector that has no effect.
pub(super) fn watched(scale: Scale) -> Vec<Cell> {
    visited(tb_100(), 1, "a-tcp:profile=paper,k_max=1", scale)
}

pub(super) fn visited_100(scale: Scale) -> Vec<Cell> {
    visited(tb_100(), 1, A_TCP, scale)
}

/// With the times of CH4-F, as "the experiments of the previous section".
pub(super) fn visited_10(scale: Scale) -> Vec<Cell> {
    visited(tb_10(), 1, A_TCP, scale)
}

pub(super) fn visited_group(scale: Scale) -> Vec<Cell> {
    visited(tb_100(), 4, "a-tcp-p:profile=paper", scale)
}

// NS6.

pub(super) fn two_adaptive(scale: Scale) -> Vec<Cell> {
    vec![schedule(ns6().set("flow.b.controller", A_TCP), (400.0, 1000.0), vec![], scale)]
}

pub(super) fn together(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let scenario = node0(ns6(), 1, &controller(scheme)).set("flow.b.start_s", 0).set("duration_s", 1000);
        schedule(scenario, (0.0, 1000.0), vec![("scheme", scheme.to_owned())], scale)
    };
    ["TCP-Africa", "A-TCP"].map(of).into()
}

/// The standard flow is there first.
pub(super) fn visitors(scale: Scale) -> Vec<Cell> {
    let first = ns6().set("flow.a.controller", controller("SACK")).set("flow.0.name", "b").set("flow.1.name", "a");
    let of = |scheme: &str| {
        let scenario = node0(first.clone(), 1, &controller(scheme)).set("duration_s", 1400);
        schedule(scenario, (400.0, 1000.0), vec![("scheme", scheme.to_owned())], scale)
    };
    ["H-TCP", "BIC", "TCP-Africa", "A-TCP"].map(of).into()
}

pub(super) fn held_back(scale: Scale) -> Vec<Cell> {
    vec![schedule(ns6().set("flow.b.access_mbps", 100), (400.0, 1000.0), vec![], scale)]
}

pub(super) fn beside_udp(scale: Scale) -> Vec<Cell> {
    vec![schedule(ns6_beside_udp().set("duration_s", 1600), (400.0, 1100.0), vec![], scale)]
}

/// MOD-1, with the flow of weight 1 to divide by.
pub(super) fn model(scale: Scale) -> Vec<Cell> {
    let of = |how: &str, k: u32| {
        let (count, controller) = worth(how, k);
        let scenario = node0(random_losses(), count, &controller);
        schedule(scenario, (20.0, 200.0), vec![("how", how.to_owned()), ("k", k.to_string())], scale)
    };
    ["TCP/k", "TCP-P", "flows"].into_iter().flat_map(|how| [1, 2, 4, 8].map(|k| of(how, k))).collect()
}
