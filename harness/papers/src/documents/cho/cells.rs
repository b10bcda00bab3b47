//! The cells of the experiments (`spec: cho §14.4`).

use super::measures::{contest, shared};
use super::scenario::{
    BOTTLENECK, Bed, Flows, Load, N2, NS6, RENO_II, STANDARD, TB_10, TB_10_III, TB_100, TB_100_III, TB_G,
};
use crate::{Cell, Measure, Scale};

/// Numbers of flows where the document's range is lost (E-7).
const NUMBERS: [u32; 5] = [2, 4, 6, 8, 10];

/// The high-speed schemes as the test bed had them: their authors' defaults.
const HIGH_SPEED: [(&str, &str); 5] =
    [("HS", "highspeed"), ("STCP", "scalable"), ("H-TCP", "h-tcp"), ("BIC", "bic"), ("FAST", "fast")];

type Settings = Vec<(&'static str, String)>;

fn name(settings: &Settings) -> String {
    let parts: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if parts.is_empty() { "the run".to_owned() } else { parts.join(" ") }
}

fn cell(settings: Settings, scenario: String, step_ms: f64, measure: Measure) -> Cell {
    Cell { name: name(&settings), settings, scenario, bottleneck: BOTTLENECK, step_ms, measure }
}

/// One of the high-speed schemes, or another of the catalogue, starting as the test bed's
/// hosts do. FAST's α is what the bottleneck sends in 4 ms (`spec: sharma §7`); nothing else bounds it.
fn hosted(bed: Bed, controller: &str) -> String {
    let fast = || format!(",loss_bound=0,base_window=0,alpha={:.2}", 4.0 * bed.packets_per_ms());
    let own = if controller == "fast" { fast() } else { String::new() };
    format!("{controller}:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks{own}")
}

// Chapter II.

const SECOND: [(&str, &str); 4] =
    [("Reno", RENO_II), ("ECN", RENO_II), ("DCA-S", "dca-s:profile=paper"), ("DCA-C", "dca-c:profile=paper")];

/// `n` transfers of each scheme on `bed`.
fn transfers(bed: Bed, n: u32, jitter: f64, load: Load, share: f64, settings: &Settings, scale: Scale) -> Vec<Cell> {
    let each = |(scheme, controller): &(&str, &str)| {
        let is_ecn = *scheme == "ECN";
        let flows = Flows { count: n, group: *scheme == "DCA-C", jitter, ecn: is_ecn, ..Flows::new("ftp", controller) };
        let scenario = Bed { red: is_ecn, ..bed }.toml(50.0, &[flows], load, scale);
        let mut all = settings.clone();
        all.push(("scheme", (*scheme).to_owned()));
        cell(all, scenario, 10.0, shared(share))
    };
    SECOND.iter().map(each).collect()
}

pub(super) fn two_transfers(scale: Scale) -> Vec<Cell> {
    transfers(N2, 2, 0.0, Load::None, N2.rate, &vec![], scale)
}

/// With other access delays too (E-1).
pub(super) fn two_transfers_jittered(scale: Scale) -> Vec<Cell> {
    let with = |access_delay: f64| {
        let settings = vec![("access", access_delay.to_string())];
        transfers(Bed { access_delay, ..N2 }, 2, 0.1, Load::None, N2.rate, &settings, scale)
    };
    let ours = transfers(N2, 2, 0.1, Load::None, N2.rate, &vec![], scale);
    ours.into_iter().chain([1.0, 5.0].into_iter().flat_map(with)).collect()
}

pub(super) fn beside_on_off(scale: Scale) -> Vec<Cell> {
    let with = |n: u32| transfers(N2, n, 0.1, Load::OnOff(20.0), 3.5, &vec![("n", n.to_string())], scale);
    NUMBERS.into_iter().flat_map(with).collect()
}

pub(super) fn buffers(scale: Scale) -> Vec<Cell> {
    let with = |queue: u64| {
        let settings = vec![("buffer", queue.to_string())];
        transfers(Bed { queue, ..N2 }, 6, 0.1, Load::OnOff(20.0), 3.5, &settings, scale)
    };
    [30, 45, 60, 75, 90].into_iter().flat_map(with).collect()
}

pub(super) fn periods(scale: Scale) -> Vec<Cell> {
    let with = |period: f64| {
        let settings = vec![("period", period.to_string())];
        transfers(N2, 2, 0.1, Load::OnOff(period), 3.5, &settings, scale)
    };
    [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8].into_iter().flat_map(with).collect()
}

pub(super) fn beside_web(scale: Scale) -> Vec<Cell> {
    let with = |n: u32| transfers(N2, n, 0.1, Load::Web, N2.rate, &vec![("n", n.to_string())], scale);
    NUMBERS.into_iter().flat_map(with).collect()
}

// Contests of Node0 against Node1 on the test bed.

/// The flows of Node0; none if `count` is 0.
struct Rival {
    count: u32,
    controller: String,
    group: bool,
}

/// A hundred seconds of `rival` against one standard flow, with and without the early loss
/// (E-9). All start within a second.
fn against(bed: Bed, rival: &Rival, settings: &Settings, scale: Scale) -> Vec<Cell> {
    let of = |early_loss: bool| {
        let jittered = |flows: Flows| Flows { jitter: scale.time(1.0), early_loss, ..flows };
        let mut flows = Vec::new();
        if rival.count > 0 {
            let a = Flows::new("a", &rival.controller).times(rival.count);
            flows.push(jittered(Flows { group: rival.group, ..a }));
        }
        flows.push(jittered(Flows::new("b", STANDARD)));
        let mut all = settings.clone();
        all.push(("start", if early_loss { "early loss" } else { "undisturbed" }.to_owned()));
        let scenario = bed.toml(100.0, &flows, Load::None, scale);
        cell(all, scenario, 50.0, contest(0.0, scale.time(100.0)))
    };
    [true, false].map(of).into()
}

fn standard(count: u32) -> Rival {
    Rival { count, controller: STANDARD.to_owned(), group: false }
}

fn tcp_p(count: u32, k: u32) -> Rival {
    Rival { count, controller: format!("tcp-p:profile=paper,k={k}"), group: true }
}

fn worth_one(bed: Bed, scale: Scale) -> Vec<Cell> {
    (1..=10).flat_map(|n| against(bed, &tcp_p(n, 1), &vec![("n", n.to_string())], scale)).collect()
}

pub(super) fn worth_one_100(scale: Scale) -> Vec<Cell> {
    worth_one(TB_100_III, scale)
}

pub(super) fn worth_one_10(scale: Scale) -> Vec<Cell> {
    worth_one(TB_10_III, scale)
}

pub(super) fn two_worth_one(scale: Scale) -> Vec<Cell> {
    against(TB_10_III, &tcp_p(2, 1), &vec![], scale)
}

fn weights(bed: Bed, scale: Scale) -> Vec<Cell> {
    let with = |what: &str, k: u32| {
        let rival = match (what, k) {
            ("TCP-P", 1..) => tcp_p(10, k),
            _ => standard(k),
        };
        against(bed, &rival, &vec![("what", what.to_owned()), ("k", k.to_string())], scale)
    };
    ["flows", "TCP-P"].into_iter().flat_map(|what| (0..=10).flat_map(move |k| with(what, k))).collect()
}

pub(super) fn weights_100(scale: Scale) -> Vec<Cell> {
    weights(TB_100_III, scale)
}

pub(super) fn weights_10(scale: Scale) -> Vec<Cell> {
    weights(TB_10_III, scale)
}

pub(super) fn weights_only(scale: Scale) -> Vec<Cell> {
    let part = |cell: &Cell| cell.setting("what") == Some("TCP-P") && cell.setting("k") != Some("0");
    weights_100(scale).into_iter().filter(part).collect()
}

/// Plain flows, and groups of TCP-P worth as many, which one of the captions names too.
pub(super) fn lossy(scale: Scale) -> Vec<Cell> {
    let bed = Bed { loss: 0.01, ..TB_100_III };
    let with = |what: &str, n: u32| {
        let rival = if what == "TCP-P" { tcp_p(10, n) } else { standard(n) };
        against(bed, &rival, &vec![("what", what.to_owned()), ("n", n.to_string())], scale)
    };
    ["flows", "TCP-P"].into_iter().flat_map(|what| (1..=10).flat_map(move |n| with(what, n))).collect()
}

pub(super) fn worth_k(scale: Scale) -> Vec<Cell> {
    let with = |what: &str, k: u32| {
        let rival = match (what, k) {
            ("TCP/k", 1..) => Rival { count: 1, controller: format!("tcp-k:profile=paper,k={k}"), group: false },
            _ => standard(k),
        };
        against(TB_100, &rival, &vec![("what", what.to_owned()), ("k", k.to_string())], scale)
    };
    ["flows", "TCP/k"].into_iter().flat_map(|what| (0..=10).flat_map(move |k| with(what, k))).collect()
}

/// The kinds of parallel flows of chapter V.
fn parallel(bed: Bed, kind: &str, count: u32) -> Rival {
    let (controller, group) = match kind {
        "SACK" => (STANDARD.to_owned(), false),
        "Fractional" => ("fractional:profile=paper".to_owned(), true),
        "Combined" => ("combined:profile=paper".to_owned(), true),
        "COCOON" => ("cocoon:profile=paper".to_owned(), true),
        "CM" => ("cm:profile=paper".to_owned(), true),
        "TCP-P/1" => ("tcp-p:profile=paper,k=1".to_owned(), true),
        "A-TCP-P" => ("a-tcp-p:profile=paper".to_owned(), true),
        "A-TCP" => ("a-tcp:profile=paper".to_owned(), false),
        other => (hosted(bed, HIGH_SPEED.iter().find(|(name, _)| *name == other).map_or("reno", |(_, c)| c)), false),
    };
    Rival { count, controller, group }
}

pub(super) fn groups(scale: Scale) -> Vec<Cell> {
    let kinds = ["SACK", "Fractional", "Combined", "COCOON", "CM", "TCP-P/1", "A-TCP-P"];
    let with = |kind: &str, n: u32| {
        let settings = vec![("kind", kind.to_owned()), ("n", n.to_string())];
        against(TB_100, &parallel(TB_100, kind, n), &settings, scale)
    };
    kinds.into_iter().flat_map(|kind| (0..=10).flat_map(move |n| with(kind, n))).collect()
}

pub(super) fn five(scale: Scale) -> Vec<Cell> {
    let kinds = ["SACK", "HS", "STCP", "H-TCP", "BIC", "FAST", "A-TCP", "A-TCP-P"];
    let with = |kind: &str| against(TB_100, &parallel(TB_100, kind, 5), &vec![("kind", kind.to_owned())], scale);
    kinds.into_iter().flat_map(with).collect()
}

// Flows that come and go.

/// Flows `a` and `b` for `duration` s, measured between two times, s.
fn schedule(
    bed: Bed,
    duration: f64,
    flows: &[Flows],
    load: Load,
    (from, to): (f64, f64),
    settings: Settings,
    scale: Scale,
) -> Cell {
    let measure = contest(scale.time(from), scale.time(to));
    cell(settings, bed.toml(duration, flows, load, scale), 50.0, measure)
}

fn early(flows: Flows) -> Flows {
    Flows { early_loss: true, ..flows }
}

const A_TCP: &str = "a-tcp:profile=paper";

fn joined(bed: Bed, with_a_tcp: bool, scale: Scale) -> Vec<Cell> {
    let mut schemes = vec![("SACK", STANDARD.to_owned())];
    schemes.extend(HIGH_SPEED.map(|(name, controller)| (name, hosted(bed, controller))));
    // The other reading of FAST's α: that of 622 Mbit/s, whatever the bed.
    schemes.push((
        "FAST alpha 312",
        "fast:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks,loss_bound=0,base_window=0,alpha=312"
            .to_owned(),
    ));
    if with_a_tcp {
        schemes.push(("A-TCP", A_TCP.to_owned()));
    }
    let of = |(name, controller): (&str, String)| {
        // Hosts do not start on the microsecond, and flows that do move in step.
        let jittered = |flows: Flows| Flows { jitter: scale.time(1.0), ..early(flows) };
        let flows = [jittered(Flows::new("a", &controller)), jittered(Flows::new("b", STANDARD).during(40.0, None))];
        let settings = vec![("scheme", name.to_owned())];
        schedule(bed, 140.0, &flows, Load::None, (40.0, 140.0), settings, scale)
    };
    schemes.into_iter().map(of).collect()
}

pub(super) fn joined_100(scale: Scale) -> Vec<Cell> {
    joined(TB_100, false, scale)
}

pub(super) fn left_100(scale: Scale) -> Vec<Cell> {
    joined(TB_100, true, scale)
}

pub(super) fn left_10(scale: Scale) -> Vec<Cell> {
    joined(TB_10, true, scale)
}

/// With and without the early loss (E-9).
fn without_competition(bed: Bed, schemes: &[(&str, Flows)], scale: Scale) -> Vec<Cell> {
    let of = |(name, flows): &(&str, Flows)| {
        let with = |early_loss: bool| {
            let start = if early_loss { "early loss" } else { "undisturbed" };
            let settings = vec![("scheme", (*name).to_owned()), ("start", start.to_owned())];
            let flows = [Flows { early_loss, ..flows.clone() }];
            schedule(bed, 400.0, &flows, Load::None, (200.0, 400.0), settings, scale)
        };
        [true, false].map(with)
    };
    schemes.iter().flat_map(of).collect()
}

/// With other queues too (E-3).
pub(super) fn gigabit(scale: Scale) -> Vec<Cell> {
    let with = |queue: u64| {
        let mut cells = without_competition(Bed { queue, ..TB_G }, &fixed(), scale);
        for cell in &mut cells {
            cell.settings.push(("queue", queue.to_string()));
            cell.name = format!("{} queue={queue}", cell.name);
        }
        cells
    };
    let ours = without_competition(TB_G, &fixed(), scale);
    ours.into_iter().chain([300, 900].into_iter().flat_map(with)).collect()
}

/// The flows of CH4-C.
fn fixed() -> [(&'static str, Flows); 2] {
    let tcp_4 = Flows::new("a", "tcp-k:profile=paper,k=4");
    [("SACK", Flows::new("a", STANDARD)), ("TCP/4", tcp_4)]
}

/// With those of CH4-C beside it.
pub(super) fn adaptive_gigabit(scale: Scale) -> Vec<Cell> {
    let adaptive = without_competition(TB_G, &[("A-TCP", Flows::new("a", A_TCP))], scale).into_iter().map(seen);
    adaptive.chain(without_competition(TB_G, &fixed(), scale)).collect()
}

pub(super) fn four_gigabit(scale: Scale) -> Vec<Cell> {
    let group = |controller: &str| Flows { group: true, ..Flows::new("a", controller).times(4) };
    // An ACK that waits 40 ms for a second packet adds 5 ms to the smoothed round trip.
    let schemes = [
        ("SACK", Flows::new("a", STANDARD).times(4)),
        ("A-TCP-P", group("a-tcp-p:profile=paper")),
        ("A-TCP-P, floor 10 ms", group("a-tcp-p:profile=paper,noise_floor=10")),
    ];
    without_competition(TB_G, &schemes, scale).into_iter().map(seen).collect()
}

/// What the detector knows (`spec: cho §6.1`).
const DETECTOR: &[&str] = &["k", "knee", "knee_ref", "knee_k", "srtt_us", "srtt_min_us", "srtt_max_us"];

fn seen(mut cell: Cell) -> Cell {
    cell.measure = cell.measure.with_state_variables(DETECTOR);
    cell
}

fn visited(bed: Bed, a: Flows, scale: Scale) -> Vec<Cell> {
    let flows = [early(a), early(Flows::new("b", STANDARD).during(100.0, Some(200.0)))];
    vec![seen(schedule(bed, 300.0, &flows, Load::None, (100.0, 200.0), vec![], scale))]
}

/// SACK-0 is A-TCP that stays at weight 1: standard TCP, with a detector that has no effect.
pub(super) fn watched(scale: Scale) -> Vec<Cell> {
    visited(TB_100, Flows::new("a", "a-tcp:profile=paper,k_max=1"), scale)
}

pub(super) fn visited_100(scale: Scale) -> Vec<Cell> {
    visited(TB_100, Flows::new("a", A_TCP), scale)
}

/// With the times of CH4-F, as "the experiments of the previous section".
pub(super) fn visited_10(scale: Scale) -> Vec<Cell> {
    visited(TB_10, Flows::new("a", A_TCP), scale)
}

pub(super) fn visited_group(scale: Scale) -> Vec<Cell> {
    visited(TB_100, Flows { group: true, ..Flows::new("a", "a-tcp-p:profile=paper").times(4) }, scale)
}

// NS6.

pub(super) fn two_adaptive(scale: Scale) -> Vec<Cell> {
    let flows = [Flows::new("a", A_TCP), Flows::new("b", A_TCP).during(400.0, Some(1000.0))];
    vec![schedule(NS6, 1500.0, &flows, Load::None, (400.0, 1000.0), vec![], scale)]
}

pub(super) fn together(scale: Scale) -> Vec<Cell> {
    let of = |(name, controller): (&str, &str)| {
        let flows = [Flows::new("a", controller), Flows::new("b", STANDARD)];
        schedule(NS6, 1000.0, &flows, Load::None, (0.0, 1000.0), vec![("scheme", name.to_owned())], scale)
    };
    [("TCP-Africa", "tcp-africa:profile=paper"), ("A-TCP", A_TCP)].map(of).into()
}

pub(super) fn visitors(scale: Scale) -> Vec<Cell> {
    let of = |(name, controller): (&str, String)| {
        let flows = [Flows::new("b", STANDARD), Flows::new("a", &controller).during(400.0, Some(1000.0))];
        schedule(NS6, 1400.0, &flows, Load::None, (400.0, 1000.0), vec![("scheme", name.to_owned())], scale)
    };
    let africa = "tcp-africa:profile=paper".to_owned();
    let schemes = [
        ("H-TCP", hosted(NS6, "h-tcp")),
        ("BIC", hosted(NS6, "bic")),
        ("TCP-Africa", africa),
        ("A-TCP", A_TCP.to_owned()),
    ];
    schemes.map(of).into()
}

pub(super) fn held_back(scale: Scale) -> Vec<Cell> {
    let held = Flows { access: Some(100.0), ..Flows::new("b", STANDARD).during(400.0, Some(1000.0)) };
    let flows = [Flows::new("a", A_TCP), held];
    vec![schedule(NS6, 1500.0, &flows, Load::None, (400.0, 1000.0), vec![], scale)]
}

pub(super) fn beside_udp(scale: Scale) -> Vec<Cell> {
    let load = Load::Constant(300.0, 400.0, 1100.0);
    vec![schedule(NS6, 1600.0, &[Flows::new("a", A_TCP)], load, (400.0, 1100.0), vec![], scale)]
}

/// MOD-1, with the flow of weight 1 to divide by.
pub(super) fn model(scale: Scale) -> Vec<Cell> {
    let bed = Bed { rate: 2000.0, queue: 1 << 32, loss: 0.1, access: 0.0, recovery: "quic", ..TB_100 };
    let of = |how: &str, k: u32| {
        let flows = match how {
            "TCP/k" => Flows::new("a", &format!("tcp-k:profile=paper,k={k}")),
            "TCP-P" => Flows { group: true, ..Flows::new("a", &format!("tcp-p:profile=paper,k={k}")).times(10) },
            _ => Flows::new("a", STANDARD).times(k),
        };
        let settings = vec![("how", how.to_owned()), ("k", k.to_string())];
        schedule(bed, 200.0, &[flows], Load::None, (20.0, 200.0), settings, scale)
    };
    ["TCP/k", "TCP-P", "flows"].into_iter().flat_map(|how| [1, 2, 4, 8].map(|k| of(how, k))).collect()
}
