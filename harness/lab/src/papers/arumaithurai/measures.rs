//! What is read off the runs (`spec: arumaithurai §12`).

use crate::papers::{Curve, Measure, Measured, Quantity, Trail};

/// Points of a kept curve, about.
const POINTS: usize = 1000;

/// Throughput of the flows whose names begin with each of `roles` between two times, s; from
/// then on too utilisation and queue, and Jain's index over the last quarter of the run.
pub(super) fn shares(roles: &'static [&'static str], from: f64, to: f64) -> Measure {
    Measure::new(format!("arumaithurai shares {roles:?} {from} {to}"), move |trail| {
        let end = trail.end();
        let of = |role: &&str| {
            let flows: Vec<usize> = (0..trail.flows.len()).filter(|i| trail.flows[*i].name.starts_with(role)).collect();
            let rate: f64 = flows.iter().map(|flow| trail.throughput(*flow, from, to) / 1e6).sum();
            (!flows.is_empty()).then(|| Quantity::new(role, "Mbit/s", rate))
        };
        let mut quantities: Vec<Quantity> = roles.iter().filter_map(of).collect();
        quantities.extend(filled(trail, from).map(|after| Quantity::new("fills the link after", "s", after)));
        quantities.extend(crowds(trail, from, to));
        quantities.push(Quantity::new("utilisation", "", trail.utilisation(from, to)));
        quantities.push(Quantity::new("queue", "packets", trail.mean_queue(from, to)));
        let rates: Vec<f64> = (0..trail.flows.len()).map(|flow| trail.throughput(flow, 0.75 * end, end)).collect();
        let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
        if rates.len() > 1 && squares > 0.0 {
            quantities.push(Quantity::new("Jain", "", sum * sum / (rates.len() as f64 * squares)));
        }
        Measured { quantities, curves: curves(trail) }
    })
}

/// When nine tenths of the link are used within a second first, before TCP starts at `from` s.
fn filled(trail: &Trail, from: f64) -> Option<f64> {
    let before = trail.utilisation_series(1.0).into_iter().take_while(|(end, _)| *end <= from);
    before.into_iter().find(|(_, used)| *used >= 0.9).map(|(end, _)| end)
}

/// ProECN's estimate while a load takes another quarter of `rate` Mbit/s every `step` s: its mean
/// in the second half of each step, by how much it misses what is spare, and what its probes
/// take of the link.
pub(super) fn estimates(rate: f64, step: f64) -> Measure {
    Measure::new(format!("arumaithurai estimates {rate} {step}"), move |trail| {
        let flow = &trail.flows[0];
        let estimate = flow.fact("bw_mbps");
        let mut quantities = Vec::new();
        for quarter in 0..4u32 {
            let load = 0.25 * f64::from(quarter);
            let to = f64::from(quarter + 1) * step;
            let (a, b) = (trail.at(to - step / 2.0), trail.at(to));
            let told: Vec<f64> = estimate[a..b].iter().copied().filter(|value| value.is_finite()).collect();
            let named = |what: &str| format!("{what} at {:.0} %", 100.0 * load);
            if !told.is_empty() {
                let mean = told.iter().sum::<f64>() / told.len() as f64;
                let spare = (1.0 - load) * rate;
                quantities.push(Quantity::new(&named("estimate"), "Mbit/s", mean));
                quantities.push(Quantity::new(&named("error"), "%", 100.0 * (mean - spare) / spare));
            }
            let probes =
                (flow.sent[b] - flow.sent[a]).saturating_sub(flow.arrivals[b].packets - flow.arrivals[a].packets);
            let bits = probes as f64 * 8000.0 / (trail.time[b] - trail.time[a]).max(1e-9);
            quantities.push(Quantity::new(&named("probes"), "% of the link", 100.0 * bits / (rate * 1e6)));
        }
        let mut curves = curves(trail);
        let x: Vec<f64> = (0..4).flat_map(|i| [f64::from(i) * step, f64::from(i + 1) * step]).collect();
        let y = (0..4).flat_map(|i| [(1.0 - 0.25 * f64::from(i)) * rate; 2]).collect();
        curves.push(Curve { kind: "bw_mbps".to_owned(), of: "spare".to_owned(), x, y });
        Measured { quantities, curves }
    })
}

/// Goodput of crowds, whose flows nobody looks at one by one.
fn crowds(trail: &Trail, from: f64, to: f64) -> Vec<Quantity> {
    let crowds = trail.outcome.flows.iter().filter(|flow| flow.transfers.is_some());
    let of = |flow: &windlass_simulator::outcome::FlowOutcome| {
        let points = flow.series.time_s.iter().zip(&flow.series.goodput_mbps);
        let inside: Vec<f64> =
            points.filter(|(time, _)| **time > from && **time <= to).map(|(_, rate)| *rate).collect();
        Quantity::new(&flow.name, "Mbit/s", inside.iter().sum::<f64>() / inside.len().max(1) as f64)
    };
    crowds.map(of).collect()
}

/// Queue, and throughputs per second of up to ten flows and all crowds and sources.
fn curves(trail: &Trail) -> Vec<Curve> {
    let stride = (trail.time.len() / POINTS).max(1);
    let x = trail.time.iter().copied().step_by(stride).collect();
    let y = trail.queue.iter().copied().step_by(stride).collect();
    let mut curves = vec![Curve { kind: "queue".to_owned(), of: String::new(), x, y }];
    let curve = |of: &str, x, y| Curve { kind: "throughput".to_owned(), of: of.to_owned(), x, y };
    for (i, flow) in trail.flows.iter().enumerate().take(10) {
        let (x, y) = trail.throughput_series(i, 1.0).into_iter().map(|(time, rate)| (time, rate / 1e6)).unzip();
        curves.push(curve(&flow.name, x, y));
        curves.extend(flow.facts(&trail.time, POINTS, &flow.name));
    }
    for flow in trail.outcome.flows.iter().skip(trail.flows.len()) {
        curves.push(curve(&flow.name, flow.series.time_s.clone(), flow.series.goodput_mbps.clone()));
    }
    curves
}
