//! The cells of the experiments (`spec: chan §14.2`).

use super::measures::{Stretch, convergence, fairness, goodput, loss_classification, many_flows, queues, throughput};
use crate::{Cell, Part, Scale, Settings, Template};

/// A link of T-SINGLE and its kin, Mbit/s.
const RATE: f64 = 1.6;
/// Size of an ACK on the wire, bytes; RoVegas' option adds 8.
const ACK: f64 = 40.0;
const SINGLE: &str = include_str!("single.toml");
const ENHANCED: &str = include_str!("enhanced.toml");
const PARK: &str = include_str!("park.toml");
const LOADS: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// A scenario in which all flows have a controller.
fn scenario(template: Template, controller: &str, scale: Scale) -> Template {
    let template = template.set("flow.controller", controller);
    // 1000 bytes with the option.
    let template = if controller.starts_with("rovegas") { template.set("flow.packet_bytes", 992) } else { template };
    template.at(scale)
}

/// With sources of `mean` Mbit/s on average; none of no rate.
fn loaded(template: Template, mean: f64) -> Template {
    if mean > 0.0 { template.set("traffic.mean_rate_mbps", mean) } else { template.set("traffic", Vec::<f64>::new()) }
}

/// With `count` flows alike instead of the one called `tcp`: `S1` and so on, each with what `of` gives it.
fn alike(mut template: Template, count: u32, of: impl Fn(u32, Part) -> Part) -> Template {
    let flow = template.take("flow", "tcp");
    let named = |i: u32| of(i, flow.clone().with("name", format!("S{}", i + 1)));
    template.and_each("flow", (0..count).map(named))
}

fn paper(scheme: &str) -> String {
    format!("{scheme}:profile=paper")
}

fn stretch(scale: Scale, name: &str, from: f64, to: f64) -> Stretch {
    (name.to_owned(), scale.time(from), scale.time(to))
}

pub(super) fn asymmetric(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str, k: u32| {
        let ack = if scheme == "rovegas" { ACK + 8.0 } else { ACK };
        let back = RATE / 8000.0 / f64::from(k) * 8.0 * ack;
        let template = loaded(Template::new(SINGLE), 0.0).set("link.back.rate_mbps", back);
        let template = template.set("link.forth.buffer_packets", 10).set("link.back.buffer_packets", 10);
        let settings = vec![("scheme", scheme.to_owned()), ("k", k.to_string())];
        let measure = throughput(vec![stretch(scale, "", 100.0, 200.0)], scale.time(2.0));
        Cell::new(settings, &scenario(template, &paper(scheme), scale), "forth", 50.0, measure)
    };
    ["vegas", "rovegas"].into_iter().flat_map(|scheme| [2, 4, 8, 16, 32].map(|k| of(scheme, k))).collect()
}

/// A load on the way back, from 50 s on.
fn joined(template: &str, schemes: [&str; 2], scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let scenario = scenario(Template::new(template), &paper(scheme), scale);
        let stretches = vec![stretch(scale, "before", 0.0, 50.0), stretch(scale, "beside", 50.0, 200.0)];
        Cell::new(vec![("scheme", scheme.to_owned())], &scenario, "forth", 50.0, throughput(stretches, scale.time(2.0)))
    };
    schemes.map(of).into()
}

pub(super) fn load_joins(scale: Scale) -> Vec<Cell> {
    joined(SINGLE, ["vegas", "rovegas"], scale)
}

pub(super) fn enhanced_load_joins(scale: Scale) -> Vec<Cell> {
    joined(ENHANCED, ["vegas", "enhanced-vegas"], scale)
}

/// Loads of shares of `rate` Mbit/s, all the time.
fn by_load(template: &str, rate: f64, schemes: [&str; 2], bottleneck: &'static str, scale: Scale) -> Vec<Cell> {
    let template = Template::new(template).set("duration_s", 200).set("traffic.start_s", 0);
    let of = |scheme: &str, load: f64| {
        let scenario = scenario(loaded(template.clone(), load * rate), &paper(scheme), scale);
        let settings = vec![("scheme", scheme.to_owned()), ("load", load.to_string())];
        Cell::new(settings, &scenario, bottleneck, 50.0, throughput(vec![stretch(scale, "", 0.0, 200.0)], 1.0))
    };
    schemes.into_iter().flat_map(|scheme| LOADS.map(|load| of(scheme, load))).collect()
}

pub(super) fn loads(scale: Scale) -> Vec<Cell> {
    by_load(SINGLE, RATE, ["vegas", "rovegas"], "forth", scale)
}

pub(super) fn enhanced_loads(scale: Scale) -> Vec<Cell> {
    by_load(ENHANCED, 1.0, ["vegas", "enhanced-vegas"], "forth", scale)
}

pub(super) fn hop_loads(scale: Scale) -> Vec<Cell> {
    by_load(PARK, RATE, ["vegas", "rovegas"], "f1", scale)
}

pub(super) fn hops_join(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let names = [("no load", 0.0), ("one", 100.0), ("two", 200.0), ("three", 300.0)];
        let stretches = names.map(|(name, from)| stretch(scale, name, from, from + 100.0)).into();
        let scenario = scenario(Template::new(PARK), &paper(scheme), scale);
        Cell::new(vec![("scheme", scheme.to_owned())], &scenario, "f1", 50.0, throughput(stretches, scale.time(2.0)))
    };
    ["vegas", "rovegas"].map(of).into()
}

/// Only R2 reports: its queues towards R3 and R1.
pub(super) fn one_router(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let template = Template::new(PARK).set("duration_s", 200).set("traffic.start_s", 0);
        let silent = |template: Template, link| template.set(&format!("link.{link}.instrumented"), false);
        let template = ["f1", "f3", "b2", "b3"].into_iter().fold(template, silent);
        let scenario = scenario(template, &paper(scheme), scale);
        let stretches = vec![stretch(scale, "", 0.0, 200.0)];
        Cell::new(vec![("scheme", scheme.to_owned())], &scenario, "f1", 50.0, throughput(stretches, scale.time(2.0)))
    };
    ["vegas", "rovegas"].map(of).into()
}

/// E3.2r: packets take 40 ms longer from 100 to 200 s, beside half a load on the way back.
pub(super) fn rerouted(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str, base: Option<&str>| {
        let template = Template::new(include_str!("rerouted.toml"));
        let controller = base.map_or_else(|| paper(scheme), |base| format!("{},base_policy={base}", paper(scheme)));
        let mut settings = vec![("scheme", scheme.to_owned())];
        settings.extend(base.map(|base| ("base", base.to_owned())));
        let names = [("before", 20.0), ("longer", 120.0), ("again", 220.0)];
        let stretches = names.map(|(name, from)| stretch(scale, name, from, from + 80.0)).into();
        Cell::new(
            settings,
            &scenario(template, &controller, scale),
            "forth",
            50.0,
            throughput(stretches, scale.time(2.0)),
        )
    };
    let bases = [("vegas", None), ("rovegas", Some("min")), ("rovegas", Some("latest")), ("rovegas", Some("windowed"))];
    bases.map(|(scheme, base)| of(scheme, base)).into()
}

pub(super) fn eight_join(scale: Scale) -> Vec<Cell> {
    let of = |scheme: &str| {
        let template = loaded(Template::new(SINGLE), 0.0).set("duration_s", 180);
        let template = alike(template, 8, |i, flow| flow.with("start_s", 20 * i));
        let scenario = scenario(template, &paper(scheme), scale);
        let last = |i: u32| stretch(scale, &format!("of {i}"), 20.0 * f64::from(i) - 10.0, 20.0 * f64::from(i));
        Cell::new(vec![("scheme", scheme.to_owned())], &scenario, "forth", 50.0, queues((1..=8).map(last).collect()))
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
        let template = alike(loaded(Template::new(SINGLE), 0.0), 5, |i, flow| flow.with("start_s", 30 * i));
        let measure = fairness(scale.time(150.0), scale.time(200.0));
        Cell::new(settings, &scenario(template, &controller, scale), "forth", 50.0, measure)
    };
    variants().into_iter().map(of).collect()
}

/// T-CHAIN: flow i enters at router i.
pub(super) fn chain(scale: Scale) -> Vec<Cell> {
    let of = |(settings, controller): (Settings, String)| {
        let scenario = scenario(Template::new(include_str!("chain.toml")), &controller, scale);
        Cell::new(settings, &scenario, "f5", 50.0, fairness(scale.time(150.0), scale.time(200.0)))
    };
    variants().into_iter().map(of).collect()
}

// Chapter V.

const QUICK: [(&str, &str); 2] =
    [("vegas", "vegas:profile=paper,alpha=2,beta=4,gamma=1"), ("quick-vegas", "quick-vegas:profile=paper")];

/// T-HBDP: one flow; half of the link taken from 80 to 160 s.
fn halved(rate: f64, (scheme, controller): (&str, &str), mut settings: Settings, scale: Scale) -> Cell {
    let template = Template::new(include_str!("quick.toml"));
    let template = template.set("link.forth.rate_mbps", rate).set("link.back.rate_mbps", rate);
    let scenario = scenario(template.set("traffic.rate_mbps", rate / 2.0), controller, scale);
    settings.insert(0, ("scheme", scheme.to_owned()));
    let changes = [("new", 0.0), ("halved", 80.0), ("doubled", 160.0)];
    let stretches = changes.map(|(name, from)| stretch(scale, name, from, from + 80.0)).into();
    Cell::new(settings, &scenario, "forth", 20.0, convergence(stretches, 0.1))
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

pub(super) fn sixty(scale: Scale) -> Vec<Cell> {
    let sixty = alike(Template::new(include_str!("sixty.toml")), 60, |i, flow| {
        let start = i / 20 * 100;
        flow.with("start_s", start).with("stop_s", start + 300)
    });
    let schemes = [QUICK[0], QUICK[1], ("newreno", "reno:iw=1,timeout_window=1,timeout_reduces_again=on,growth=acks")];
    let of = |(scheme, controller): (&str, &str)| {
        let recovery = if scheme == "newreno" { "tcp-newreno" } else { "tcp-vegas" };
        let scenario = scenario(sixty.clone().set("flow.recovery", recovery), controller, scale);
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
        Cell::new(vec![("scheme", scheme.to_owned())], &scenario, "forth", 50.0, measure)
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

/// T-RED with `loss` percent of the data and a load of `share` of the bottleneck. ACKs are lost in
/// proportion to their size (A17).
fn mobile(loss: f64, share: f64) -> Template {
    let template = Template::new(include_str!("wireless.toml")).set("link.air.loss_percent", loss);
    loaded(template.set("link.air-back.loss_percent", loss * ACK / 1000.0), share * RATE)
}

/// An hour of each scheme; repetitions make up the document's ten.
fn hours(settings: &Settings, loss: f64, share: f64, scale: Scale) -> Vec<Cell> {
    let of = |(scheme, controller): (&str, &str)| {
        let recovery = if scheme == "reno" { "tcp-reno" } else { "tcp-vegas" };
        let template = mobile(loss, share).set("flow.recovery", recovery);
        let mut all = vec![("scheme", scheme.to_owned())];
        all.extend(settings.iter().cloned());
        Cell::new(all, &scenario(template, controller, scale), "forth", 1000.0, goodput())
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
        let scenario = scenario(mobile(loss, load).set("duration_s", 500), MOBILE[2].1, scale);
        Cell::new(settings, &scenario, "forth", 1000.0, loss_classification())
    };
    [1.0, 5.0, 10.0, 15.0].into_iter().flat_map(|loss| LOADS[..10].iter().map(move |load| of(loss, *load))).collect()
}
