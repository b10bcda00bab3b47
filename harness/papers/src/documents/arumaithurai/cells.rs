//! The cells of the experiments (`spec: arumaithurai §12`).

use super::measures::{estimates, shares};
use crate::{Cell, Measure, Part, Scale, Settings, Template};

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

/// A dumbbell without what sends, and patterns of a candidate, TCP, UDP and a quarter of the load of S11.
type Dumbbell = (Template, [Part; 4]);

/// `dumbbell.toml` at `rate` Mbit/s and `rtt` ms.
fn dumbbell(rate: f64, rtt: f64) -> Dumbbell {
    let mut template = Template::new(include_str!("dumbbell.toml"))
        .set("dumbbell.rate_mbps", rate)
        .set("dumbbell.rtt_ms", rtt - 2.0)
        .set("dumbbell.buffer_packets", (rate * rtt / 8.0).floor())
        .set("flow.access_mbps", 10.0 * rate);
    let patterns = [("flow", "candidate"), ("flow", "tcp"), ("traffic", "udp"), ("traffic", "quarter")];
    let patterns = patterns.map(|(list, name)| template.take(list, name));
    (template, patterns)
}

fn cell(settings: Settings, scenario: Template, bottleneck: &'static str, measure: Measure) -> Cell {
    Cell::new(settings, &scenario, bottleneck, 100.0, measure)
}

/// As the document has it.
fn paper(scheme: &str) -> String {
    format!("{scheme}:profile=paper")
}

/// A candidate from 0 s on and Reno from `start` s on; without a candidate Reno alone.
fn then_tcp(
    candidate: Option<(&str, String)>,
    (template, [pattern, tcp, ..]): Dumbbell,
    (start, duration): (f64, f64),
    mut settings: Settings,
    scale: Scale,
) -> Cell {
    settings.insert(0, ("candidate", candidate.as_ref().map_or("none", |(name, _)| name).to_owned()));
    let candidate = candidate.map(|(_, controller)| pattern.with("controller", controller));
    let template = template.set("duration_s", duration).and_each("flow", candidate);
    let scenario = template.and("flow", tcp.with("start_s", start)).at(scale);
    let measure = shares(ROLES, scale.time(start), scale.time(duration)).with_state_variables(&[
        "bw_mbps",
        "base_delay_ms",
        "prober_phase",
    ]);
    cell(settings, scenario, BOTTLENECK, measure)
}

/// NF-TCP with a window of two packets, so that its probes are all there is, beside a load that
/// takes another quarter of the link every 30 s. The quarters' packets come in turn, as those of
/// one source would.
pub(super) fn steps(scale: Scale) -> Vec<Cell> {
    /// Time between two packets of a quarter, s.
    const GAP: f64 = 8000.0 / 150e6;
    let (template, [candidate, .., quarter]) = dumbbell(600.0, 100.0);
    let candidate = candidate.with("controller", "nf-tcp:profile=paper,max_window=2");
    let template = template.set("duration_s", 120).and("flow", candidate).at(scale);
    let quarter = |step: f64| {
        let start = scale.time(30.0 * step) + step * GAP / 3.0;
        quarter.clone().with("name", format!("quarter-{step}")).with("start_s", start)
    };
    let scenario = template.and_each("traffic", [1.0, 2.0, 3.0].map(quarter));
    vec![cell(vec![], scenario, BOTTLENECK, estimates(600.0, scale.time(30.0)).with_state_variables(&["bw_mbps"]))]
}

/// All candidates of the document, with `others`, and TCP alone.
fn candidates(dumbbell: &Dumbbell, times: (f64, f64), others: &[(&str, &str)], scale: Scale) -> Vec<Cell> {
    let others = others.iter().map(|(name, controller)| Some((*name, (*controller).to_owned())));
    let schemes = CANDIDATES.iter().map(|scheme| Some((*scheme, paper(scheme)))).chain(others).chain([None]);
    schemes.map(|candidate| then_tcp(candidate, dumbbell.clone(), times, vec![], scale)).collect()
}

pub(super) fn reference(scale: Scale) -> Vec<Cell> {
    candidates(&dumbbell(600.0, 100.0), (500.0, 3000.0), &READINGS, scale)
}

pub(super) fn small(scale: Scale) -> Vec<Cell> {
    let others = [IN_WORDS.as_slice(), &READINGS].concat();
    candidates(&dumbbell(100.0, 100.0), (50.0, 400.0), &others, scale)
}

pub(super) fn far(scale: Scale) -> Vec<Cell> {
    candidates(&dumbbell(600.0, 200.0), (500.0, 8000.0), &[], scale)
}

/// With the buffer of a bandwidth-delay product, and with the document's, which is ten of them (A29).
pub(super) fn gigabit(scale: Scale) -> Vec<Cell> {
    let product = candidates(&dumbbell(1000.0, 100.0), (500.0, 4000.0), &[], scale);
    let with = |mut cell: Cell| {
        cell.settings.push(("queue", "as printed".to_owned()));
        Cell { name: format!("{} queue=as printed", cell.name), ..cell }
    };
    // Table 5.3.
    let (template, flows) = dumbbell(1000.0, 100.0);
    let template = template
        .set("dumbbell.buffer_packets", 125_000)
        .set("dumbbell.queue.low_min_th_packets", 1250)
        .set("dumbbell.queue.low_max_th_packets", 62_500)
        .set("dumbbell.queue.min_th_packets", 113_300)
        .set("dumbbell.queue.max_th_packets", 125_000);
    let printed = candidates(&(template, flows), (500.0, 4000.0), &[], scale);
    product.into_iter().chain(printed.into_iter().map(with)).collect()
}

pub(super) fn beside_udp(scale: Scale) -> Vec<Cell> {
    let of = |drawn: bool| {
        let (template, [candidate, _, udp, _]) = dumbbell(600.0, 100.0);
        let udp = udp.with_any("redraw_s", drawn.then_some(50)).with_any("max_rate_mbps", drawn.then_some(590));
        let scenario = template.set("duration_s", 500).and("flow", candidate).and("traffic", udp).at(scale);
        let rate = if drawn { "drawn every 50 s" } else { "constant mean" };
        cell(vec![("rate", rate.to_owned())], scenario, BOTTLENECK, shares(ROLES, 0.0, scale.time(500.0)))
    };
    [true, false].map(of).into()
}

/// With the document's decrease and with Reno's.
fn five(duration: f64, apart: Option<f64>, scale: Scale) -> Vec<Cell> {
    let with = |b: &str, controller: &str| {
        let (template, [candidate, ..]) = dumbbell(600.0, 100.0);
        let candidate = candidate.with("controller", controller).with("count", 5).with_any("stagger_s", apart);
        let scenario = template.set("duration_s", duration).and("flow", candidate).at(scale);
        cell(vec![("b", b.to_owned())], scenario, BOTTLENECK, shares(ROLES, 0.0, scale.time(duration)))
    };
    vec![with("1/8", &paper("nf-tcp")), with("1/2", "nf-tcp:profile=paper,b=0.5")]
}

pub(super) fn five_at_once(scale: Scale) -> Vec<Cell> {
    five(600.0, None, scale)
}

pub(super) fn five_in_turn(scale: Scale) -> Vec<Cell> {
    five(800.0, Some(50.0), scale)
}

/// Each flow is a role of its own.
pub(super) fn five_distances(scale: Scale) -> Vec<Cell> {
    const RTTS: &[&str] = &["50 ms", "100 ms", "150 ms", "200 ms", "250 ms"];
    let (template, [candidate, tcp, ..]) = dumbbell(600.0, 100.0);
    let template = template.set("duration_s", 1500).set("dumbbell.rtt_ms", 48);
    let of = |(scheme, pattern): (&str, Part)| {
        let flow = |(name, rtt): (&&str, f64)| pattern.clone().with("name", *name).with("rtt_ms", rtt - 2.0);
        let flows = RTTS.iter().zip([50.0, 100.0, 150.0, 200.0, 250.0]).map(flow);
        let scenario = template.clone().and_each("flow", flows).at(scale);
        let measure = shares(RTTS, scale.time(750.0), scale.time(1500.0));
        cell(vec![("scheme", scheme.to_owned())], scenario, BOTTLENECK, measure)
    };
    [("nf-tcp", candidate), ("reno", tcp.with("start_s", 0))].map(of).into()
}

pub(super) fn in_line(scale: Scale) -> Vec<Cell> {
    const NAMES: [&str; 4] = ["candidate-1", "candidate-2", "candidate-3", "tcp"];
    let of = |scheme: &str, rtt: f64, duration: f64| {
        let mut line = Template::new(include_str!("line.toml"))
            .set("duration_s", duration)
            .set("link.delay_ms", rtt / 2.0 - 1.0)
            .set("link.buffer_packets", (600.0 * rtt / 8.0).floor());
        let [first, second, third, tcp] = NAMES.map(|name| line.take("flow", name));
        let candidates = [first, second, third].into_iter().filter(|_| scheme != "none");
        let line = line.and_each("flow", candidates.map(|flow| flow.with("controller", paper(scheme))));
        let settings = vec![("candidate", scheme.to_owned()), ("rtt", rtt.to_string())];
        let measure = shares(&NAMES, scale.time(500.0), scale.time(duration));
        cell(settings, line.and("flow", tcp).at(scale), "l2", measure)
    };
    let both = |scheme: &str| [of(scheme, 33.3, 3000.0), of(scheme, 100.0, 9000.0)];
    // And TCP alone.
    CANDIDATES.into_iter().chain(["none"]).flat_map(both).collect()
}

pub(super) fn many(scale: Scale) -> Vec<Cell> {
    let of = |(scheme, controller): (&str, String), n: u32| {
        let (template, [candidate, tcp, ..]) = dumbbell(250.0, 100.0);
        let others = if scheme == "reno" { tcp.clone() } else { candidate.with("controller", controller) };
        let scenario = template
            .set("duration_s", 300)
            .and("flow", tcp.with("count", 5))
            .and("flow", others.with("name", "candidate").with("count", n))
            .set("flow.start_s", 0)
            .set("flow.start_jitter_s", 0.1)
            .at(scale);
        let settings = vec![("candidate", scheme.to_owned()), ("n", n.to_string())];
        cell(settings, scenario, BOTTLENECK, shares(ROLES, scale.time(60.0), scale.time(300.0)))
    };
    let numbers = [1, 5, 10, 20, 50, 100, 150, 200];
    let schemes = ["nf-tcp", "tcp-lp", "ledbat", "rapid", "reno"].map(|scheme| (scheme, paper(scheme)));
    let readings = READINGS.map(|(name, controller)| (name, controller.to_owned()));
    schemes.into_iter().chain(readings).flat_map(|scheme| numbers.map(|n| of(scheme.clone(), n))).collect()
}

pub(super) fn bursts(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let (template, [candidate, tcp, ..]) = dumbbell(250.0, 100.0);
        let scenario = template
            .set("duration_s", 600)
            .and("flow", candidate.with("controller", paper(scheme)))
            .and("flow", tcp.with("start_s", 0).with("count", 100))
            .set("flow.tcp.arrivals.every_s", 90)
            .set("flow.tcp.arrivals.lives_s", 60)
            .at(scale);
        cell(vec![("candidate", scheme.to_owned())], scenario, BOTTLENECK, shares(ROLES, 0.0, scale.time(600.0)))
    };
    ["nf-tcp", "tcp-lp"].map(of).into()
}

/// TCP starts after 500 s or, on slower links, proportionally sooner but not before 50 s; it needs
/// a round trip for each packet above its threshold to fill the link, and 10 min follow.
pub(super) fn rates(scale: Scale) -> Vec<Cell> {
    let of = |rate: f64, kind: &str, target: u32| {
        let buffer = (rate * 100.0 / 8.0).floor();
        let (template, flows) = dumbbell(rate, 100.0);
        let template = if kind == "RED" { template } else { template.set("dumbbell.queue", kind) };
        let start = (500.0 * rate / 600.0).max(50.0).round();
        let duration = start + (0.1 * (buffer - 100.0)).max(0.0).round() + 600.0;
        let settings = vec![("rate", rate.to_string()), ("queue", kind.to_owned()), ("target", target.to_string())];
        // 100 ms is the document's.
        let controller = if target == 100 { paper("ledbat") } else { format!("ledbat:profile=paper,target={target}") };
        then_tcp(Some(("ledbat", controller)), (template, flows), (start, duration), settings, scale)
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
        then_tcp(candidate, dumbbell(600.0, 100.0), (500.0, 3000.0), vec![], scale)
    };
    [
        ("nf-tcp-prime b=1/2", "nf-tcp-prime:profile=paper,b=0.5"),
        ("nf-tcp-prime b=1/8", "nf-tcp-prime:profile=paper,b=0.125"),
        ("nf-tcp", "nf-tcp:profile=paper"),
    ]
    .map(of)
    .into()
}
