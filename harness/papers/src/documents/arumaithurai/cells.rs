//! The cells of the experiments (`spec: arumaithurai §12`).

use super::measures::{estimates, shares};
use super::scenario::{Queue, RENO, Text};
use crate::{Cell, Measure, Scale};

const CANDIDATES: [&str; 4] = ["nf-tcp", "rapid", "tcp-lp", "ledbat"];
/// Others the document compares in words (`spec: arumaithurai §12`, requirement checklist), and the
/// decrease of Reno in NF-TCP.
const IN_WORDS: [(&str, &str); 5] = [
    ("westwood", "westwood:profile=paper"),
    ("vegas", "vegas:profile=paper,alpha=2,beta=4"),
    ("nice", "nice:profile=paper"),
    ("dctcp", "dctcp:profile=paper"),
    ("nf-tcp b=1/2", "nf-tcp:profile=paper,b=0.5"),
];
/// Other readings of what candidates do (`spec: arumaithurai §5.6` Variant, A25; `§5.2`).
const READINGS: [(&str, &str); 2] = [
    ("rapid filtered", "rapid:profile=paper,follow=filtered,turn=before"),
    ("ledbat 25 ms", "ledbat:profile=paper,target=25"),
];
const ROLES: &[&str] = &["candidate", "tcp"];
const BOTTLENECK: &str = "bottleneck";

type Settings = Vec<(&'static str, String)>;

fn cell(settings: Settings, text: Text, bottleneck: &'static str, measure: Measure) -> Cell {
    let parts: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let name = if parts.is_empty() { "the run".to_owned() } else { parts.join(" ") };
    Cell { name, settings, scenario: text.done(), bottleneck, step_ms: 100.0, measure }
}

/// As the document has it; Reno as it had it too.
fn paper(scheme: &str) -> String {
    if scheme == "reno" { RENO.to_owned() } else { format!("{scheme}:profile=paper") }
}

/// A candidate from 0 s on and Reno from `start` s on; without a candidate Reno alone.
fn then_tcp(
    candidate: Option<(&str, String)>,
    (rate, rtt): (f64, f64),
    queue: Queue,
    (start, duration): (f64, f64),
    mut settings: Settings,
    scale: Scale,
) -> Cell {
    let mut text = Text::dumbbell(duration, rate, rtt, queue, scale);
    settings.insert(0, ("candidate", candidate.as_ref().map_or("none", |(name, _)| name).to_owned()));
    if let Some((_, controller)) = candidate {
        text = text.flow("candidate", &controller, 0.0);
    }
    text = text.flow("tcp", RENO, start);
    let measure = shares(ROLES, scale.time(start), scale.time(duration)).with_state_variables(&[
        "bw_mbps",
        "base_delay_ms",
        "prober_phase",
    ]);
    cell(settings, text, BOTTLENECK, measure)
}

/// NF-TCP with a window of two packets, so that its probes are all there is, beside a load that
/// takes another quarter of the link every 30 s. The quarters' packets come in turn, as those of
/// one source would.
pub(super) fn steps(scale: Scale) -> Vec<Cell> {
    const RATE: f64 = 600.0;
    let gap = 8000.0 / (RATE / 4.0 * 1e6);
    let text = Text::dumbbell(120.0, RATE, 100.0, Queue::scaled(RATE, 100.0), scale);
    let mut text = text.flow("candidate", &format!("{},max_window=2", paper("nf-tcp")), 0.0);
    for step in [1.0, 2.0, 3.0] {
        let source = format!(
            "\n[[traffic]]\nname = \"quarter-{step}\"\nkind = \"cbr\"\nrate_mbps = {}\npacket_bytes = 1000\n",
            RATE / 4.0
        );
        text = text.and(&source).key("start_s", scale.time(30.0 * step) + step * gap / 3.0);
    }
    vec![cell(vec![], text, BOTTLENECK, estimates(RATE, scale.time(30.0)).with_state_variables(&["bw_mbps"]))]
}

/// All candidates of the document, with `others`, and TCP alone.
fn candidates(path: (f64, f64), queue: Queue, times: (f64, f64), others: &[(&str, &str)], scale: Scale) -> Vec<Cell> {
    let others = others.iter().map(|(name, controller)| Some((*name, (*controller).to_owned())));
    let schemes = CANDIDATES.iter().map(|scheme| Some((*scheme, paper(scheme)))).chain(others).chain([None]);
    schemes.map(|candidate| then_tcp(candidate, path, queue, times, vec![], scale)).collect()
}

pub(super) fn reference(scale: Scale) -> Vec<Cell> {
    candidates((600.0, 100.0), Queue::scaled(600.0, 100.0), (500.0, 3000.0), &READINGS, scale)
}

pub(super) fn small(scale: Scale) -> Vec<Cell> {
    let others = [IN_WORDS.as_slice(), &READINGS].concat();
    candidates((100.0, 100.0), Queue::scaled(100.0, 100.0), (50.0, 400.0), &others, scale)
}

pub(super) fn far(scale: Scale) -> Vec<Cell> {
    candidates((600.0, 200.0), Queue::scaled(600.0, 200.0), (500.0, 8000.0), &[], scale)
}

/// With the buffer of a bandwidth-delay product, and with the document's, which is ten of them (A29).
pub(super) fn gigabit(scale: Scale) -> Vec<Cell> {
    let product = candidates((1000.0, 100.0), Queue::scaled(1000.0, 100.0), (500.0, 4000.0), &[], scale);
    let with = |mut cell: Cell| {
        cell.settings.push(("queue", "as printed".to_owned()));
        Cell { name: format!("{} queue=as printed", cell.name), ..cell }
    };
    let printed = candidates((1000.0, 100.0), Queue::PRINTED, (500.0, 4000.0), &[], scale);
    product.into_iter().chain(printed.into_iter().map(with)).collect()
}

pub(super) fn beside_udp(scale: Scale) -> Vec<Cell> {
    let of = |drawn: bool| {
        let text = Text::dumbbell(500.0, 600.0, 100.0, Queue::scaled(600.0, 100.0), scale).flow(
            "candidate",
            &paper("nf-tcp"),
            0.0,
        );
        let mut text =
            text.and("\n[[traffic]]\nname = \"udp\"\nkind = \"poisson\"\nrate_mbps = 300\npacket_bytes = 1000\n");
        if drawn {
            text = text.key("redraw_s", scale.time(50.0)).key("max_rate_mbps", 590);
        }
        let rate = if drawn { "drawn every 50 s" } else { "constant mean" };
        cell(vec![("rate", rate.to_owned())], text, BOTTLENECK, shares(ROLES, 0.0, scale.time(500.0)))
    };
    [true, false].map(of).into()
}

/// With the document's decrease and with Reno's.
fn five(duration: f64, apart: f64, scale: Scale) -> Vec<Cell> {
    let with = |b: &str, controller: &str| {
        let text = Text::dumbbell(duration, 600.0, 100.0, Queue::scaled(600.0, 100.0), scale);
        let text = text.flow("candidate", controller, 0.0).key("count", 5);
        let text = if apart > 0.0 { text.key("stagger_s", scale.time(apart)) } else { text };
        cell(vec![("b", b.to_owned())], text, BOTTLENECK, shares(ROLES, 0.0, scale.time(duration)))
    };
    vec![with("1/8", &paper("nf-tcp")), with("1/2", "nf-tcp:profile=paper,b=0.5")]
}

pub(super) fn five_at_once(scale: Scale) -> Vec<Cell> {
    five(600.0, 0.0, scale)
}

pub(super) fn five_in_turn(scale: Scale) -> Vec<Cell> {
    five(800.0, 50.0, scale)
}

/// Each flow is a role of its own.
pub(super) fn five_distances(scale: Scale) -> Vec<Cell> {
    const RTTS: &[&str] = &["50 ms", "100 ms", "150 ms", "200 ms", "250 ms"];
    let of = |scheme: &str| {
        let mut text = Text::dumbbell(1500.0, 600.0, 50.0, Queue::scaled(600.0, 100.0), scale);
        for (name, rtt) in RTTS.iter().zip([50.0, 100.0, 150.0, 200.0, 250.0]) {
            text = text.flow(name, &paper(scheme), 0.0).key("rtt_ms", rtt - 2.0);
        }
        cell(vec![("scheme", scheme.to_owned())], text, BOTTLENECK, shares(RTTS, scale.time(750.0), scale.time(1500.0)))
    };
    ["nf-tcp", "reno"].map(of).into()
}

pub(super) fn in_line(scale: Scale) -> Vec<Cell> {
    const NAMES: &[&str] = &["candidate-1", "candidate-2", "candidate-3", "tcp"];
    let of = |scheme: &str, rtt: f64, duration: f64| {
        let mut text = Text::line(duration, 600.0, rtt, Queue::scaled(600.0, rtt), scale);
        for (name, link) in NAMES.iter().zip(["l1", "l2", "l3"]).filter(|_| scheme != "none") {
            text = text.flow(name, &paper(scheme), 0.0).key("route", format!("[\"{link}\"]")).key("access_delay_ms", 1);
        }
        // Three times the round trip of one hop.
        text = text.flow("tcp", RENO, 500.0).key("route", "[\"l1\", \"l2\", \"l3\"]").key("access_delay_ms", 3);
        let settings = vec![("candidate", scheme.to_owned()), ("rtt", rtt.to_string())];
        cell(settings, text, "l2", shares(NAMES, scale.time(500.0), scale.time(duration)))
    };
    let both = |scheme: &str| [of(scheme, 33.3, 3000.0), of(scheme, 100.0, 9000.0)];
    // And TCP alone.
    CANDIDATES.into_iter().chain(["none"]).flat_map(both).collect()
}

pub(super) fn many(scale: Scale) -> Vec<Cell> {
    let of = |(scheme, controller): (&str, String), n: u32| {
        let text = Text::dumbbell(300.0, 250.0, 100.0, Queue::scaled(250.0, 100.0), scale);
        let text = text.flow("tcp", RENO, 0.0).key("count", 5).key("start_jitter_s", 0.1);
        let text = text.flow("candidate", &controller, 0.0).key("count", n).key("start_jitter_s", 0.1);
        let settings = vec![("candidate", scheme.to_owned()), ("n", n.to_string())];
        cell(settings, text, BOTTLENECK, shares(ROLES, scale.time(60.0), scale.time(300.0)))
    };
    let numbers = [1, 5, 10, 20, 50, 100, 150, 200];
    let schemes = ["nf-tcp", "tcp-lp", "ledbat", "rapid", "reno"].map(|scheme| (scheme, paper(scheme)));
    let readings = READINGS.map(|(name, controller)| (name, controller.to_owned()));
    schemes.into_iter().chain(readings).flat_map(|scheme| numbers.map(|n| of(scheme.clone(), n))).collect()
}

pub(super) fn bursts(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let text = Text::dumbbell(600.0, 250.0, 100.0, Queue::scaled(250.0, 100.0), scale);
        let arrivals = format!("{{ every_s = {}, lives_s = {} }}", scale.time(90.0), scale.time(60.0));
        let text = text.flow("candidate", &paper(scheme), 0.0);
        let text = text.flow("tcp", RENO, 0.0).key("count", 100).key("arrivals", arrivals);
        cell(vec![("candidate", scheme.to_owned())], text, BOTTLENECK, shares(ROLES, 0.0, scale.time(600.0)))
    };
    ["nf-tcp", "tcp-lp"].map(of).into()
}

/// TCP starts after 500 s or, on slower links, proportionally sooner but not before 50 s; it needs
/// a round trip for each packet above its threshold to fill the link, and 10 min follow.
pub(super) fn rates(scale: Scale) -> Vec<Cell> {
    let of = |rate: f64, kind: &str, target: u32| {
        let buffer = (rate * 100.0 / 8.0).floor();
        let queue = if kind == "RED" { Queue::scaled(rate, 100.0) } else { Queue::DropTail(buffer as u64) };
        let start = (500.0 * rate / 600.0).max(50.0).round();
        let duration = start + (0.1 * (buffer - 100.0)).max(0.0).round() + 600.0;
        let settings = vec![("rate", rate.to_string()), ("queue", kind.to_owned()), ("target", target.to_string())];
        // 100 ms is the document's.
        let controller = if target == 100 { paper("ledbat") } else { format!("ledbat:profile=paper,target={target}") };
        then_tcp(Some(("ledbat", controller)), (rate, 100.0), queue, (start, duration), settings, scale)
    };
    let rates = [10.0, 50.0, 100.0, 200.0, 400.0, 600.0];
    let each =
        |rate| ["drop-tail", "RED"].into_iter().flat_map(move |kind| [100, 25].map(|target| of(rate, kind, target)));
    rates.into_iter().flat_map(each).collect()
}

/// NF-TCP without its estimator, with two decreases, and with it.
pub(super) fn without_estimate(scale: Scale) -> Vec<Cell> {
    let of = |(name, controller): (&str, &str)| {
        let candidate = Some((name, controller.to_owned()));
        then_tcp(candidate, (600.0, 100.0), Queue::scaled(600.0, 100.0), (500.0, 3000.0), vec![], scale)
    };
    [
        ("nf-tcp-prime b=1/2", "nf-tcp-prime:profile=paper,b=0.5"),
        ("nf-tcp-prime b=1/8", "nf-tcp-prime:profile=paper,b=0.125"),
        ("nf-tcp", "nf-tcp:profile=paper"),
    ]
    .map(of)
    .into()
}
