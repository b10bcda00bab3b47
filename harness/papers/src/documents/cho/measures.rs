//! What is read off the runs (`spec: cho §14.5`), and the numbers that follow from several cells.

use crate::{CellResult, Curve, Derived, FlowTimeSeries, Measure, Measured, Quantity, TimeSeries};

use windlass_simulator::sim::Arrivals;

/// What the wire adds to a packet of chapter II, bytes.
const HEADERS: u64 = 40;
/// About how many points a stored curve has.
const POINTS: usize = 1000;

/// Chapter II: goodput, loss, one-way delay, jitter and fairness of the flows called `ftp`,
/// over the whole run. Goodput is also given relative to
/// `share`, Mbit/s.
pub(super) fn shared(share: f64) -> Measure {
    Measure::new(format!("cho shared {share}"), move |series| {
        let end = series.end();
        let arrivals: Vec<Arrivals> = series.flows.iter().filter_map(|flow| flow.arrivals.last().copied()).collect();
        // Payload bits, repeats included (E-5); real stacks count each once.
        let payload = |flow: &FlowTimeSeries| match flow.arrivals.last() {
            Some(all) if all.mean_delay().is_some() => (all.wire_bytes - HEADERS * all.packets) as f64,
            _ => flow.goodput.last().map_or(0.0, |bytes| *bytes as f64),
        };
        let goodputs: Vec<f64> = series.flows.iter().map(|flow| payload(flow) * 8.0 / end / 1e6).collect();
        let all = arrivals.iter().fold(Arrivals::default(), |all, one| all.and(one));
        let total: f64 = goodputs.iter().sum();
        let transfers = || series.outcome.flows.iter().filter(|flow| flow.name.starts_with("ftp"));
        let sent: u64 = transfers().map(|flow| flow.packets_sent).sum();
        // A timeout declares everything under way lost: what the network lost is another number. Real stacks have only
        // the first.
        let dropped: Option<u64> = series.flows.iter().map(|flow| flow.dropped).sum();
        let lost = dropped.unwrap_or_else(|| transfers().map(|flow| flow.packets_lost).sum());
        let mut quantities = vec![
            Quantity::new("goodput", "Mbit/s", total),
            Quantity::new("normalised", "", total / share),
            Quantity::new("loss", "%", if sent > 0 { 100.0 * lost as f64 / sent as f64 } else { 0.0 }),
        ];
        quantities.extend(all.mean_delay().map(|delay| Quantity::new("delay", "ms", 1e3 * delay)));
        quantities.extend(all.jitter().map(|jitter| Quantity::new("jitter", "ms", 1e3 * jitter)));
        quantities.extend(fairness(&goodputs).map(|index| Quantity::new("FI", "", index)));
        Measured { quantities, curves: curves(series, 0.1) }
    })
}

/// The test bed: payload throughput of all flows whose names begin with `a` and of those that
/// begin with `b`, between two times, s; their ratio.
pub(super) fn contest(from: f64, to: f64) -> Measure {
    Measure::new(format!("cho contest {from} {to}"), move |series| {
        let of = |role: &str| {
            let flows = (0..series.flows.len()).filter(|i| series.flows[*i].name.starts_with(role));
            flows.map(|flow| series.goodput(flow, from, to) / 1e6).reduce(|sum, rate| sum + rate)
        };
        let (a, b) = (of("a"), of("b"));
        let mut quantities = Vec::new();
        quantities.extend(a.map(|rate| Quantity::new("Node0", "Mbit/s", rate)));
        quantities.extend(b.map(|rate| Quantity::new("Node1", "Mbit/s", rate)));
        if let (Some(a), Some(b)) = (a, b.filter(|rate| *rate > 0.0)) {
            quantities.push(Quantity::new("ratio", "", a / b));
        }
        quantities.push(Quantity::new("utilisation", "", series.utilisation(from, to)));
        Measured { quantities, curves: curves(series, 1.0) }
    })
}

/// Jain's index (eq. 2.2); `None` without a rate.
fn fairness(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Windows, throughputs in stretches of `width` s, and the queue.
fn curves(series: &TimeSeries, width: f64) -> Vec<Curve> {
    let stride = (series.time.len() / POINTS).max(1);
    let thin = |y: &[f64]| y.iter().copied().step_by(stride).collect();
    let x: Vec<f64> = thin(&series.time);
    let mut curves = vec![Curve { kind: "queue".to_owned(), of: String::new(), x: x.clone(), y: thin(&series.queue) }];
    for flow in &series.flows {
        curves.push(Curve { kind: "cwnd".to_owned(), of: flow.name.clone(), x: x.clone(), y: thin(&flow.cwnd) });
        let points = ((width / series.step).round() as usize).max(1);
        let ends: Vec<usize> = (points..series.time.len()).step_by(points).collect();
        let bits = |end: &usize| (flow.goodput[*end] - flow.goodput[end - points]) as f64 * 8.0;
        let y = ends.iter().map(|end| bits(end) / (series.time[*end] - series.time[end - points]) / 1e6).collect();
        let x = ends.iter().map(|end| series.time[*end]).collect();
        curves.push(Curve { kind: "throughput".to_owned(), of: flow.name.clone(), x, y });
        curves.extend(detector(flow, &series.time));
    }
    curves
}

/// What the competition detector of `flow` knew, with the delay from which it takes the queue
/// for long (`spec: cho §6.2`; γ = 0.2).
fn detector(flow: &FlowTimeSeries, time: &[f64]) -> Vec<Curve> {
    let mut curves = flow.state_variables(time, POINTS, &flow.name);
    let of = |kind: &str| curves.iter().find(|curve| curve.kind == kind).cloned();
    if let (Some(srtt), Some(min), Some(max)) = (of("srtt_us"), of("srtt_min_us"), of("srtt_max_us")) {
        let named = |what: &str| format!("{} {what}", flow.name);
        let threshold = min.y.iter().zip(&max.y).map(|(min, max)| (min + 0.2 * (max - min)) / 1e3).collect();
        let y = srtt.y.iter().map(|us| us / 1e3).collect();
        curves.retain(|curve| !curve.kind.starts_with("srtt"));
        curves.push(Curve { kind: "delay".to_owned(), of: named("srtt"), x: srtt.x.clone(), y });
        curves.push(Curve { kind: "delay".to_owned(), of: named("ref_delay"), x: min.x, y: threshold });
    }
    curves
}

/// CH3-F: the ratio a weight gets against what the model has for it (eq. 3.17).
pub(super) fn worth(cells: &[CellResult]) -> Vec<Derived> {
    let of = |cell: &CellResult| {
        let k: f64 = cell.setting("k")?.parse().ok()?;
        let model = model(k);
        let ratio = cell.value("ratio")?;
        Some([
            Derived::new("ratio over model", &cell.cell, "", ratio / model),
            Derived::new("model", &cell.cell, "", model),
        ])
    };
    cells.iter().filter_map(of).flatten().collect()
}

/// MOD-1: throughput over that of one flow of weight 1, and what the model has.
pub(super) fn model_ratios(cells: &[CellResult]) -> Vec<Derived> {
    let one = cells.iter().find(|c| c.setting("how") == Some("flows") && c.setting("k") == Some("1"));
    let Some(one) = one.and_then(|cell| cell.value("Node0")).filter(|rate| *rate > 0.0) else { return Vec::new() };
    let of = |cell: &CellResult| {
        let k: f64 = cell.setting("k")?.parse().ok()?;
        let expected = if cell.setting("how") == Some("flows") { k } else { model(k) };
        let measured = Derived::new("ratio", &cell.cell, "", cell.value("Node0")? / one);
        Some([measured, Derived::new("model", &cell.cell, "", expected)])
    };
    cells.iter().filter_map(of).flatten().collect()
}

/// What a weight is worth: √(k(4k − 1)/3) standard flows (eq. 3.17).
pub(super) fn model(k: f64) -> f64 {
    (k * (4.0 * k - 1.0) / 3.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_for_equals_and_a_share_for_one() {
        assert_eq!(fairness(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(fairness(&[3.0, 0.0]), Some(0.5));
        assert_eq!(fairness(&[0.0]), None);
    }

    /// `spec: cho §4.7 P7`.
    #[test]
    fn the_model_has_the_documents_values() {
        for (k, worth) in [(1.0, 1.0), (2.0, 2.160), (4.0, 4.472), (10.0, 11.402)] {
            assert!((model(k) - worth).abs() < 1e-3, "{k}");
        }
    }
}
