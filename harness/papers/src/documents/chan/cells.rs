//! The cells of the experiments (`spec: chan §14.2`).

use super::measures::{Stretch, convergence, fairness, goodput, loss_classification, many_flows, queues, throughput};
use super::scenario::{ACK, Text};
use crate::{Cell, Measure, Scale};

/// A link of T-SINGLE and its kin, Mbit/s.
const RATE: f64 = 1.6;
const LOADS: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
const ALONG: (&[&str], &[&str]) = (&["forth"], &["back"]);
const PARK: (&[&str], &[&str]) = (&["f1", "f2", "f3"], &["b3", "b2", "b1"]);

type Settings = Vec<(&'static str, String)>;

fn cell(settings: Settings, scenario: Text, bottleneck: &'static str, step_ms: f64, measure: Measure) -> Cell {
    let parts: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    Cell { name: parts.join(" "), settings, scenario: scenario.done(), bottleneck, step_ms, measure }
}

fn paper(scheme: &str) -> String {
    format!("{scheme}:profile=paper")
}

fn stretch(scale: Scale, name: &str, from: f64, to: f64) -> Stretch {
    (name.to_owned(), scale.time(from), scale.time(to))
}

/// T-SINGLE and T-EV: a link forth and one back.
fn path(duration: f64, rate: f64, back: f64, delay: f64, queue: u64, scale: Scale) -> Text {
    Text::new(duration, scale).link("forth", rate, delay, Some(queue)).link("back", back, delay, Some(queue))
}

pub(super) fn asymmetric(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str, k: u32| {
        let ack = if scheme == "rovegas" { ACK + 8.0 } else { ACK };
        let back = RATE / 8000.0 / f64::from(k) * 8.0 * ack;
        let text = path(200.0, RATE, back, 20.0, 10, scale).flow("tcp", &paper(scheme), ALONG, (0.0, None));
        let settings = vec![("scheme", scheme.to_owned()), ("k", k.to_string())];
        let stretches = vec![stretch(scale, "", 100.0, 200.0)];
        cell(settings, text, "forth", 50.0, throughput(stretches, scale.time(2.0)))
    };
    ["vegas", "rovegas"].into_iter().flat_map(|scheme| [2, 4, 8, 16, 32].map(|k| of(scheme, k))).collect()
}

/// A load on the way back, from 50 s on: T-SINGLE and T-EV.
fn joined(schemes: [&str; 2], rate: f64, delay: f64, bursts: (f64, f64), scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let text = path(200.0, rate, rate, delay, 50, scale);
        let text = text.flow("tcp", &paper(scheme), ALONG, (0.0, None)).bursts("load", "back", bursts, 50.0);
        let stretches = vec![stretch(scale, "before", 0.0, 50.0), stretch(scale, "beside", 50.0, 200.0)];
        cell(vec![("scheme", scheme.to_owned())], text, "forth", 50.0, throughput(stretches, scale.time(2.0)))
    };
    schemes.map(of).into()
}

pub(super) fn load_joins(scale: Scale) -> Vec<Cell> {
    joined(["vegas", "rovegas"], RATE, 20.0, (3.2, 1.44), scale)
}

pub(super) fn enhanced_load_joins(scale: Scale) -> Vec<Cell> {
    joined(["vegas", "enhanced-vegas"], 1.0, 48.0, (2.0, 0.9), scale)
}

fn loaded(schemes: [&str; 2], rate: f64, delay: f64, peak: f64, scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str, load: f64| {
        let text = path(200.0, rate, rate, delay, 50, scale);
        let text =
            text.flow("tcp", &paper(scheme), ALONG, (0.0, None)).bursts("load", "back", (peak, load * rate), 0.0);
        let settings = vec![("scheme", scheme.to_owned()), ("load", load.to_string())];
        cell(settings, text, "forth", 50.0, throughput(vec![stretch(scale, "", 0.0, 200.0)], 1.0))
    };
    schemes.into_iter().flat_map(|scheme| LOADS.map(|load| of(scheme, load))).collect()
}

pub(super) fn loads(scale: Scale) -> Vec<Cell> {
    loaded(["vegas", "rovegas"], RATE, 20.0, 3.2, scale)
}

pub(super) fn enhanced_loads(scale: Scale) -> Vec<Cell> {
    loaded(["vegas", "enhanced-vegas"], 1.0, 48.0, 2.0, scale)
}

/// T-PARK with a source on each hop back; `starts`, s.
fn park(
    scheme: &str,
    duration: f64,
    load: f64,
    starts: [f64; 3],
    reports: impl Fn(&str) -> bool,
    scale: Scale,
) -> Text {
    let text = Text::new(duration, scale).line(3, RATE, 10.0, reports);
    let mut text = text.flow("tcp", &paper(scheme), PARK, (0.0, None));
    for ((name, link), start) in [("S2", "b1"), ("S3", "b2"), ("S4", "b3")].into_iter().zip(starts) {
        text = text.bursts(name, link, (3.2, load * RATE), start);
    }
    text
}

pub(super) fn hops_join(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let text = park(scheme, 400.0, 0.8, [100.0, 200.0, 300.0], |_| true, scale);
        let names = [("no load", 0.0), ("one", 100.0), ("two", 200.0), ("three", 300.0)];
        let stretches = names.map(|(name, from)| stretch(scale, name, from, from + 100.0)).into();
        cell(vec![("scheme", scheme.to_owned())], text, "f1", 50.0, throughput(stretches, scale.time(2.0)))
    };
    ["vegas", "rovegas"].map(of).into()
}

pub(super) fn hop_loads(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str, load: f64| {
        let text = park(scheme, 200.0, load, [0.0; 3], |_| true, scale);
        let settings = vec![("scheme", scheme.to_owned()), ("load", load.to_string())];
        cell(settings, text, "f1", 50.0, throughput(vec![stretch(scale, "", 0.0, 200.0)], 1.0))
    };
    ["vegas", "rovegas"].into_iter().flat_map(|scheme| LOADS.map(|load| of(scheme, load))).collect()
}

/// Only R2 reports: its queues towards R3 and R1.
pub(super) fn one_router(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let text = park(scheme, 200.0, 0.8, [0.0; 3], |name| ["f2", "b1"].contains(&name), scale);
        let stretches = vec![stretch(scale, "", 0.0, 200.0)];
        cell(vec![("scheme", scheme.to_owned())], text, "f1", 50.0, throughput(stretches, scale.time(2.0)))
    };
    ["vegas", "rovegas"].map(of).into()
}

/// E3.2r: packets take 40 ms longer from 100 to 200 s, beside half a load on the way back.
pub(super) fn rerouted(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str, base: Option<&str>| {
        let text = Text::new(300.0, scale).link("forth", RATE, 20.0, Some(50));
        let text = text.rerouted(100.0, 60.0).rerouted(200.0, 20.0).link("back", RATE, 20.0, Some(50));
        let controller = base.map_or_else(|| paper(scheme), |base| format!("{},base_policy={base}", paper(scheme)));
        let text = text.flow("tcp", &controller, ALONG, (0.0, None)).bursts("load", "back", (3.2, 0.5 * RATE), 0.0);
        let mut settings = vec![("scheme", scheme.to_owned())];
        settings.extend(base.map(|base| ("base", base.to_owned())));
        let names = [("before", 20.0), ("longer", 120.0), ("again", 220.0)];
        let stretches = names.map(|(name, from)| stretch(scale, name, from, from + 80.0)).into();
        cell(settings, text, "forth", 50.0, throughput(stretches, scale.time(2.0)))
    };
    let bases = [("vegas", None), ("rovegas", Some("min")), ("rovegas", Some("latest")), ("rovegas", Some("windowed"))];
    bases.map(|(scheme, base)| of(scheme, base)).into()
}

pub(super) fn eight_join(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let mut text = path(180.0, RATE, RATE, 20.0, 50, scale);
        for i in 0..8u32 {
            text = text.flow(&format!("S{}", i + 1), &paper(scheme), ALONG, (20.0 * f64::from(i), None));
        }
        let last = |i: u32| stretch(scale, &format!("of {i}"), 20.0 * f64::from(i) - 10.0, 20.0 * f64::from(i));
        cell(vec![("scheme", scheme.to_owned())], text, "forth", 50.0, queues((1..=8).map(last).collect()))
    };
    ["vegas", "rovegas"].map(of).into()
}

/// The variants of E3.7 and E3.8: settings and controller.
fn variants() -> Vec<(Settings, String)> {
    let mut all = Vec::new();
    for scheme in ["vegas", "rovegas"] {
        for (alpha, beta) in [(1, 3), (2, 2)] {
            for rounding in ["nearest", "none"] {
                let settings = vec![
                    ("scheme", scheme.to_owned()),
                    ("alpha", alpha.to_string()),
                    ("beta", beta.to_string()),
                    ("rounding", rounding.to_owned()),
                ];
                let controller = format!("{scheme}:profile=paper,alpha={alpha},beta={beta},delta_rounding={rounding}");
                all.push((settings, controller));
            }
        }
    }
    all
}

pub(super) fn five_join(scale: Scale) -> Vec<Cell> {
    let of = |(settings, controller): (Settings, String)| {
        let mut text = path(200.0, RATE, RATE, 20.0, 50, scale);
        for i in 0..5u32 {
            text = text.flow(&format!("S{}", i + 1), &controller, ALONG, (30.0 * f64::from(i), None));
        }
        cell(settings, text, "forth", 50.0, fairness(scale.time(150.0), scale.time(200.0)))
    };
    variants().into_iter().map(of).collect()
}

/// T-CHAIN: flow i enters at router i.
pub(super) fn chain(scale: Scale) -> Vec<Cell> {
    const FORTH: [&str; 5] = ["f1", "f2", "f3", "f4", "f5"];
    const BACK: [&str; 5] = ["b5", "b4", "b3", "b2", "b1"];
    let of = |(settings, controller): (Settings, String)| {
        let mut text = Text::new(200.0, scale).line(5, RATE, 10.0, |_| true);
        for i in 0..5 {
            let ways = (&FORTH[i..], &BACK[..5 - i]);
            text = text.flow(&format!("S{}", i + 1), &controller, ways, (0.0, None)).jitter(0.01);
        }
        cell(settings, text, "f5", 50.0, fairness(scale.time(150.0), scale.time(200.0)))
    };
    variants().into_iter().map(of).collect()
}

// Chapter V.

const QUICK: [(&str, &str); 2] =
    [("vegas", "vegas:profile=paper,alpha=2,beta=4,gamma=1"), ("quick-vegas", "quick-vegas:profile=paper")];

/// T-HBDP: one flow; half of the link taken from 80 to 160 s.
fn halved(rate: f64, (scheme, controller): (&str, &str), mut settings: Settings, scale: Scale) -> Cell {
    let text = Text::fast(240.0, scale).link("forth", rate, 48.0, None).link("back", rate, 48.0, None);
    let text = text.flow("tcp", controller, ALONG, (0.0, None)).constant("forth", rate / 2.0, 80.0, 160.0);
    settings.insert(0, ("scheme", scheme.to_owned()));
    let changes = [("new", 0.0), ("halved", 80.0), ("doubled", 160.0)];
    let stretches = changes.map(|(name, from)| stretch(scale, name, from, from + 80.0)).into();
    cell(settings, text, "forth", 20.0, convergence(stretches, 0.1))
}

pub(super) fn fifty(scale: Scale) -> Vec<Cell> {
    QUICK.map(|scheme| halved(50.0, scheme, vec![], scale)).into()
}

pub(super) fn products(scale: Scale) -> Vec<Cell> {
    let rates = [2.5, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0];
    // Packets of 1000 bytes in 100 ms.
    let of = |scheme, rate: f64| halved(rate, scheme, vec![("bdp", (rate * 12.5).to_string())], scale);
    QUICK.into_iter().flat_map(|scheme| rates.map(|rate| of(scheme, rate))).collect()
}

/// Packets that may wait at E5.3's bottleneck, and before the links to it (`spec: chan §8.0`).
const BUFFER: u32 = 1250;

pub(super) fn sixty(scale: Scale) -> Vec<Cell> {
    let schemes = [QUICK[0], QUICK[1], ("newreno", "reno:iw=1,timeout_window=1,timeout_reduces_again=on,growth=acks")];
    let of = |(scheme, controller): (&str, &str)| {
        let text =
            Text::fast(500.0, scale).link("forth", 1000.0, 48.0, Some(BUFFER.into())).link("back", 1000.0, 48.0, None);
        let text = (0..60u32).fold(text, |text, i| {
            let start = 100.0 * f64::from(i / 20);
            // A packet takes 8 µs on the bottleneck.
            let text = text.flow(&format!("S{}", i + 1), controller, ALONG, (start, Some(start + 300.0)));
            text.spread(BUFFER, 8.0).jitter(0.01)
        });
        let between = |(from, to): (f64, f64)| stretch(scale, &format!("{from}–{to} s"), from, to);
        let used = [
            (0.0, 25.0),
            (25.0, 55.0),
            (55.0, 300.0),
            (300.0, 310.0),
            (310.0, 400.0),
            (400.0, 420.0),
            (420.0, 435.0),
            (435.0, 500.0),
        ];
        let hundreds = [(0.0, 100.0), (100.0, 200.0), (200.0, 300.0), (300.0, 400.0), (400.0, 500.0)];
        let measure = many_flows(used.map(between).into(), hundreds.map(between).into());
        cell(vec![("scheme", scheme.to_owned())], text, "forth", 50.0, measure)
    };
    schemes.map(of).into()
}

// Chapter VI.

/// Windows and thresholds as the document has them; Reno starts with one packet and halves.
const MOBILE: [(&str, &str); 3] = [
    ("vegas", "vegas:profile=paper"),
    ("reno", "reno:iw=1,timeout_window=1,timeout_reduces_again=on,growth=acks"),
    ("red-vegas", "red-vegas:profile=paper"),
];

/// T-RED with `loss` percent of the data and a load of `share` of the bottleneck, for `duration` s.
/// ACKs are lost in proportion to their size (A17).
fn mobile(controller: &str, loss: f64, share: f64, duration: f64, scale: Scale) -> Text {
    let text = Text::wireless(duration, (loss, loss * ACK / 1000.0), scale).mobile(controller);
    text.long_bursts("forth", (RATE, share * RATE))
}

/// An hour of each scheme; repetitions make up the document's ten.
fn hours(settings: &Settings, loss: f64, share: f64, scale: Scale) -> Vec<Cell> {
    let of = |(scheme, controller): (&str, &str)| {
        let mut all = vec![("scheme", scheme.to_owned())];
        all.extend(settings.iter().cloned());
        cell(all, mobile(controller, loss, share, 3600.0, scale), "forth", 1000.0, goodput())
    };
    MOBILE.map(of).into()
}

fn over_loads(loss: f64, scale: Scale) -> Vec<Cell> {
    LOADS[..10].iter().flat_map(|load| hours(&vec![("load", load.to_string())], loss, *load, scale)).collect()
}

fn over_losses(share: f64, scale: Scale) -> Vec<Cell> {
    (0..=15).flat_map(|loss| hours(&vec![("loss", loss.to_string())], f64::from(loss), share, scale)).collect()
}

pub(super) fn bursty(scale: Scale) -> Vec<Cell> {
    over_loads(0.0, scale)
}

pub(super) fn lossy(scale: Scale) -> Vec<Cell> {
    over_losses(0.0, scale)
}

pub(super) fn lossy_half_loaded(scale: Scale) -> Vec<Cell> {
    over_losses(0.5, scale)
}

pub(super) fn bursty_and_lossy(scale: Scale) -> Vec<Cell> {
    over_loads(5.0, scale)
}

pub(super) fn causes(scale: Scale) -> Vec<Cell> {
    let of = |loss: f64, load: f64| {
        let settings = vec![("loss", loss.to_string()), ("load", load.to_string())];
        cell(settings, mobile(MOBILE[2].1, loss, load, 500.0, scale), "forth", 1000.0, loss_classification())
    };
    [1.0, 5.0, 10.0, 15.0].into_iter().flat_map(|loss| LOADS[..10].iter().map(move |load| of(loss, *load))).collect()
}
