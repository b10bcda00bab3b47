//! What is read off the runs (`spec: arumaithurai §12`).

use crate::{Curve, Measure, Measured, Quantity, TimeSeries};

/// About how many points a stored curve has.
const POINTS: usize = 1000;
/// The link that UDP shares with a flow.
const BOTTLENECK: &str = "bottleneck";
/// The phase in which nothing is probed, as the controller shows it.
const OFF: f64 = 3.0;

/// Throughput of the flows whose names begin with each of `roles` between two times, s; from
/// then on too utilisation and queue, and Jain's index over the last quarter of the run.
pub(super) fn shares(roles: &'static [&'static str], from: f64, to: f64) -> Measure {
    Measure::new(format!("arumaithurai shares {roles:?} {from} {to}"), move |series| {
        let end = series.end();
        let of = |role: &&str| Some(Quantity::new(role, "Mbit/s", total(series, role, from, to)?));
        let mut quantities: Vec<Quantity> = roles.iter().filter_map(of).collect();
        quantities.extend(filled(series, from).map(|after| Quantity::new("fills the link after", "s", after)));
        quantities.extend(dynamic_flows(series, from, to));
        quantities.extend(beside_bursts(series));
        let whole = roles.first().and_then(|role| total(series, role, 0.0, end));
        quantities.extend(whole.map(|rate| Quantity::new("delivered", "Mbit/s", rate)));
        quantities.extend(sources(series).map(|lost| Quantity::new("UDP lost", "%", lost)));
        quantities.extend(probing(series));
        quantities.push(Quantity::new("utilisation", "", series.utilisation(from, to)));
        quantities.push(Quantity::new("queue", "packets", series.mean_queue(from, to)));
        let rates: Vec<f64> = (0..series.flows.len()).map(|flow| series.throughput(flow, 0.75 * end, end)).collect();
        let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
        if rates.len() > 1 && squares > 0.0 {
            quantities.push(Quantity::new("Jain", "", sum * sum / (rates.len() as f64 * squares)));
        }
        Measured { quantities, curves: curves(series) }
    })
}

/// Throughput of the flows whose names begin with `role` between two times, s, Mbit/s; `None` without any.
fn total(series: &TimeSeries, role: &str, from: f64, to: f64) -> Option<f64> {
    let flows = (0..series.flows.len()).filter(|i| series.flows[*i].name.starts_with(role));
    flows.map(|flow| series.throughput(flow, from, to) / 1e6).reduce(|sum, rate| sum + rate)
}

/// Percent of the packets of sources without a controller that the bottleneck dropped; `None` unless nearly all
/// of what it forwarded besides flows is theirs.
fn sources(series: &TimeSeries) -> Option<f64> {
    if series.outcome.flows.iter().any(|flow| flow.transfers.is_some()) {
        // Dynamic flows are no sources.
        return None;
    }
    let queue = series.outcome.queues.iter().find(|queue| queue.name == BOTTLENECK)?;
    let of_flows: u64 = series.flows.iter().filter_map(|flow| Some(flow.arrivals.last()?.packets)).sum();
    // Sources come after the flows.
    let lost: u64 = series.outcome.flows.iter().take(series.flows.len()).map(|flow| flow.packets_lost).sum();
    let (forwarded, dropped) =
        (queue.packets_forwarded.saturating_sub(of_flows), queue.packets_dropped.saturating_sub(lost));
    // Probes and what is under way are a few; a source is a good part.
    (series.outcome.flows.len() > series.flows.len() && forwarded > queue.packets_forwarded / 5)
        .then(|| 100.0 * dropped as f64 / (forwarded + dropped).max(1) as f64)
}

/// What NF-TCP's probes take, percent of the link, and the share of time they are switched off (`spec: arumaithurai
/// §3.6`).
fn probing(series: &TimeSeries) -> Vec<Quantity> {
    let Some(flow) = series.flows.first() else { return Vec::new() };
    let known: Vec<f64> =
        flow.state_variable("prober_phase").iter().copied().filter(|phase| phase.is_finite()).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let off = known.iter().filter(|phase| **phase == OFF).count() as f64 / known.len() as f64;
    let (sent, arrived) = (flow.sent.last().copied().unwrap_or(0), flow.arrivals.last().map_or(0, |all| all.packets));
    let lost = flow.lost.last().copied().unwrap_or(0);
    let bits = sent.saturating_sub(arrived + lost) as f64 * 8000.0 / series.end().max(1e-9);
    vec![
        Quantity::new("probes", "% of the link", 100.0 * bits / series.rate),
        Quantity::new("probing off", "% of the time", 100.0 * off),
    ]
}

/// What the observed flow gets while dynamic flows are there, and while none is; and how soon it gives way to them.
fn beside_bursts(series: &TimeSeries) -> Vec<Quantity> {
    let Some(bursts) = series.outcome.flows.iter().find(|flow| flow.transfers.is_some()) else { return Vec::new() };
    let (time, goodput) = (&bursts.series.time_s, &bursts.series.goodput_mbps);
    let rates = series.throughput_series(0, series.outcome.duration_s / time.len().max(1) as f64);
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for ((_, rate), tcp) in rates.iter().zip(goodput) {
        if *tcp > 0.0 { inside.push(rate / 1e6) } else { outside.push(rate / 1e6) }
    }
    let mean = |name: &str, rates: &[f64]| {
        (!rates.is_empty()).then(|| Quantity::new(name, "Mbit/s", rates.iter().sum::<f64>() / rates.len() as f64))
    };
    // A point of the series tells of the time before it.
    let begin = (1..goodput.len()).filter(|i| goodput[*i] > 0.0 && goodput[i - 1] == 0.0).map(|i| time[i - 1]);
    let gives_way = gives_way(&series.throughput_series(0, WIDTH), begin);
    let gives_way = gives_way.map(|within| Quantity::new("gives way within", "s", within));
    [mean("in bursts", &inside), mean("between bursts", &outside), gives_way].into_iter().flatten().collect()
}

/// Seconds before a burst that a flow's rate is taken from.
const BEFORE: f64 = 5.0;
/// Width of the rates that tell when a flow gives way, s: a round trip.
const WIDTH: f64 = 0.1;
/// So many of them are a second.
const SECOND: usize = 10;

/// How soon after bursts `begin` a flow has less than half of what it had in the five seconds before, and no more than
/// that for a second, s, to the width of `rates`, each of which tells of the time before it: the mean over all bursts it
/// had something before. One it never gives way to counts until the end.
fn gives_way(rates: &[(f64, f64)], begin: impl Iterator<Item = f64>) -> Option<f64> {
    let within = |begun: f64| {
        // Times are sums of widths, a little off.
        let upto = |at: f64| rates.partition_point(|(time, _)| *time < at + WIDTH / 2.0);
        let (before, after) = (&rates[upto(begun - BEFORE)..upto(begun)], &rates[upto(begun)..]);
        let usual = before.iter().map(|(_, rate)| rate).sum::<f64>() / before.len() as f64;
        let has_less = |rates: &&[(f64, f64)]| rates.iter().all(|(_, rate)| *rate < usual / 2.0);
        let yields = after.windows(SECOND).find(has_less).and_then(<[_]>::first).or(rates.last())?.0;
        (usual > 0.0).then_some(yields - begun)
    };
    let within: Vec<f64> = begin.filter_map(within).collect();
    (!within.is_empty()).then(|| within.iter().sum::<f64>() / within.len() as f64)
}

/// When nine tenths of the link are used within a second first, before TCP starts at `from` s.
fn filled(series: &TimeSeries, from: f64) -> Option<f64> {
    let before = series.utilisation_series(1.0).into_iter().take_while(|(end, _)| *end <= from);
    before.into_iter().find(|(_, used)| *used >= 0.9).map(|(end, _)| end)
}

/// ProECN's estimate while a load takes another quarter of `rate` Mbit/s every `step` s: its mean
/// in the second half of each step, by how much it misses what is spare, and what its probes
/// take of the link.
pub(super) fn estimates(rate: f64, step: f64) -> Measure {
    Measure::new(format!("arumaithurai estimates {rate} {step}"), move |series| {
        let flow = &series.flows[0];
        let estimate = flow.state_variable("bw_mbps");
        let mut quantities = Vec::new();
        for quarter in 0..4u32 {
            let load = 0.25 * f64::from(quarter);
            let to = f64::from(quarter + 1) * step;
            let (a, b) = (series.at(to - step / 2.0), series.at(to));
            let known: Vec<f64> = estimate[a..b].iter().copied().filter(|value| value.is_finite()).collect();
            let named = |what: &str| format!("{what} at {:.0} %", 100.0 * load);
            if !known.is_empty() {
                let mean = known.iter().sum::<f64>() / known.len() as f64;
                let spare = (1.0 - load) * rate;
                quantities.push(Quantity::new(&named("estimate"), "Mbit/s", mean));
                quantities.push(Quantity::new(&named("error"), "%", 100.0 * (mean - spare) / spare));
            }
            let probes =
                (flow.sent[b] - flow.sent[a]).saturating_sub(flow.arrivals[b].packets - flow.arrivals[a].packets);
            let bits = probes as f64 * 8000.0 / (series.time[b] - series.time[a]).max(1e-9);
            quantities.push(Quantity::new(&named("probes"), "% of the link", 100.0 * bits / (rate * 1e6)));
        }
        let mut curves = curves(series);
        let x: Vec<f64> = (0..4).flat_map(|i| [f64::from(i) * step, f64::from(i + 1) * step]).collect();
        let y = (0..4).flat_map(|i| [(1.0 - 0.25 * f64::from(i)) * rate; 2]).collect();
        curves.push(Curve { kind: "bw_mbps".to_owned(), of: "spare".to_owned(), x, y });
        Measured { quantities, curves }
    })
}

/// Goodput of dynamic flows, which are measured together.
fn dynamic_flows(series: &TimeSeries, from: f64, to: f64) -> Vec<Quantity> {
    let dynamic = series.outcome.flows.iter().filter(|flow| flow.transfers.is_some());
    let of = |flow: &windlass_simulator::outcome::FlowOutcome| {
        let points = flow.series.time_s.iter().zip(&flow.series.goodput_mbps);
        let inside: Vec<f64> =
            points.filter(|(time, _)| **time > from && **time <= to).map(|(_, rate)| *rate).collect();
        Quantity::new(&flow.name, "Mbit/s", inside.iter().sum::<f64>() / inside.len().max(1) as f64)
    };
    dynamic.map(of).collect()
}

/// Queue, and throughputs per second of up to ten flows and all dynamic flows and sources.
fn curves(series: &TimeSeries) -> Vec<Curve> {
    let stride = (series.time.len() / POINTS).max(1);
    let x = series.time.iter().copied().step_by(stride).collect();
    let y = series.queue.iter().copied().step_by(stride).collect();
    let mut curves = vec![Curve { kind: "queue".to_owned(), of: String::new(), x, y }];
    let curve = |of: &str, x, y| Curve { kind: "throughput".to_owned(), of: of.to_owned(), x, y };
    for (i, flow) in series.flows.iter().enumerate().take(10) {
        let (x, y) = series.throughput_series(i, 1.0).into_iter().map(|(time, rate)| (time, rate / 1e6)).unzip();
        curves.push(curve(&flow.name, x, y));
        curves.extend(flow.state_variables(&series.time, POINTS, &flow.name));
    }
    for flow in series.outcome.flows.iter().skip(series.flows.len()) {
        curves.push(curve(&flow.name, flow.series.time_s.clone(), flow.series.goodput_mbps.clone()));
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_gives_way_when_half_of_what_it_had_is_gone() {
        let mut rates: Vec<(f64, f64)> = (1..=200).map(|i| (f64::from(i) * WIDTH, 100.0)).collect();
        // The burst at 6 s is answered in its eighth tenth, that at 15 s in its first.
        rates[60..67].iter_mut().for_each(|(_, rate)| *rate = 60.0);
        // That one tenth has little says nothing.
        rates[63].1 = 10.0;
        rates[67..90].iter_mut().for_each(|(_, rate)| *rate = 10.0);
        rates[150..].iter_mut().for_each(|(_, rate)| *rate = 0.0);
        let mean = gives_way(&rates, [6.0, 15.0].into_iter()).unwrap();
        assert!((mean - 0.45).abs() < 1e-9, "{mean}");
        // It keeps what it has from 17 s on, to the end.
        rates[150..].iter_mut().for_each(|(_, rate)| *rate = 100.0);
        let never = gives_way(&rates, [17.0].into_iter()).unwrap();
        assert!((never - 3.0).abs() < 1e-9, "{never}");
        // It has nothing to give up at 22 s, nor without a burst.
        rates[150..].iter_mut().for_each(|(_, rate)| *rate = 0.0);
        assert_eq!(gives_way(&rates, [22.0].into_iter()), None);
        assert_eq!(gives_way(&rates, [].into_iter()), None);
    }
}
