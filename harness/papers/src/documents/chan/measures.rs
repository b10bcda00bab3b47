//! What is read off the runs (`spec: chan §14.3`).

use crate::{CellResult, Curve, Derived, Measure, Measured, Quantity, TimeSeries};

/// About how many points a stored curve has.
const POINTS: usize = 1000;
/// A window that is no further from its final value has converged, packets.
const NEAR: f64 = 2.5;

/// A stretch of a run: what quantities call it, from and to, s.
pub(super) type Stretch = (String, f64, f64);

/// Throughput of the first flow in each stretch; with RoVegas less its option.
pub(super) fn throughput(stretches: Vec<Stretch>, bin: f64) -> Measure {
    Measure::new(format!("chan throughput {stretches:?} {bin}"), move |series| {
        let of = |(name, from, to): &Stretch| {
            let rate = series.throughput(0, *from, *to) * data_share(series, 0) / 1e6;
            Quantity::new(&titled("throughput", name), "Mbit/s", rate)
        };
        Measured { quantities: stretches.iter().map(of).collect(), curves: curves(series, bin) }
    })
}

/// Goodput of the first flow over the run, each packet once, its headers included; what its
/// losses were taken for, and the share of retransmissions.
pub(super) fn goodput() -> Measure {
    Measure::new("chan goodput".to_owned(), |series| {
        let flow = &series.outcome.flows[0];
        let quantities = vec![
            Quantity::new("goodput", "Kbit/s", series.goodput(0, 0.0, series.end()) / 1e3),
            Quantity::new("lost", "packets", flow.packets_lost as f64),
        ];
        Measured { quantities, curves: Vec::new() }
    })
}

/// Losses by what they were taken for and what they were (Table 6.1).
pub(super) fn loss_classification() -> Measure {
    Measure::new("chan loss classification".to_owned(), |series| {
        let all = series.flows[0].loss_classification;
        let count = |name: &str, count: u64| Quantity::new(name, "losses", count as f64);
        let mut quantities = vec![
            count("taken for random", all.random),
            count("of these random", all.truly_random),
            count("taken for congestion", all.congestion),
            count("of these congestion", all.truly_congestion),
            count("under way", all.spurious),
        ];
        let mut share = |name: &str, part: u64, all: u64| {
            if all > 0 {
                quantities.push(Quantity::new(name, "%", 100.0 * part as f64 / all as f64));
            }
        };
        share("right about random", all.truly_random, all.random);
        share("right about congestion", all.truly_congestion, all.congestion);
        Measured { quantities, curves: Vec::new() }
    })
}

/// Mean queue in each stretch, and its maximum.
pub(super) fn queues(stretches: Vec<Stretch>) -> Measure {
    Measure::new(format!("chan queues {stretches:?}"), move |series| {
        let of = |(name, from, to): &Stretch| {
            Quantity::new(&titled("queue", name), "packets", series.mean_queue(*from, *to))
        };
        let mut quantities: Vec<Quantity> = stretches.iter().map(of).collect();
        quantities.push(Quantity::new("max queue", "packets", longest(series)));
        Measured { quantities, curves: curves(series, 1.0) }
    })
}

/// Throughput of every flow in a stretch, and Jain's index (eq. 5.3).
pub(super) fn fairness(from: f64, to: f64) -> Measure {
    Measure::new(format!("chan fairness {from} {to}"), move |series| {
        let rates: Vec<f64> =
            (0..series.flows.len()).map(|i| series.throughput(i, from, to) * data_share(series, i) / 1e6).collect();
        let of = |(flow, rate): (&crate::FlowTimeSeries, &f64)| Quantity::new(&flow.name, "Mbit/s", *rate);
        let mut quantities: Vec<Quantity> = series.flows.iter().zip(&rates).map(of).collect();
        quantities.extend(jain(&rates).map(|index| Quantity::new("Jain", "", index)));
        Measured { quantities, curves: curves(series, 1.0) }
    })
}

/// Convergence of the first flow after each change, in base RTTs of `base` s; the longest
/// queue. A stretch begins with a change and ends before the next.
pub(super) fn convergence(stretches: Vec<Stretch>, base: f64) -> Measure {
    Measure::new(format!("chan convergence {stretches:?} {base}"), move |series| {
        let of = |(name, from, to): &Stretch| {
            let took = converged(&series.time, &series.flows[0].cwnd, *from, *to)?;
            Some(Quantity::new(&titled("convergence", name), "base RTTs", took / base))
        };
        let mut quantities: Vec<Quantity> = stretches.iter().filter_map(of).collect();
        quantities.push(Quantity::new("max queue", "packets", longest(series)));
        quantities.push(Quantity::new("utilisation", "", series.utilisation(0.0, series.end())));
        if let Some(end) = first_fall(&series.flows[0].cwnd) {
            quantities.push(Quantity::new("slow start ends", "s", series.time[end]));
            quantities.push(Quantity::new("window there", "packets", series.flows[0].cwnd[end]));
        }
        Measured { quantities, curves: curves(series, 5.0) }
    })
}

/// Utilisation in each stretch; mean queue and Jain's index of the flows that are active in
/// all of each of `parts`.
pub(super) fn many_flows(stretches: Vec<Stretch>, parts: Vec<Stretch>) -> Measure {
    Measure::new(format!("chan many flows {stretches:?} {parts:?}"), move |series| {
        let used = |(name, from, to): &Stretch| {
            Quantity::new(&titled("utilisation", name), "", series.utilisation(*from, *to))
        };
        let mut quantities: Vec<Quantity> = stretches.iter().map(used).collect();
        for (name, from, to) in &parts {
            quantities.push(Quantity::new(&titled("queue", name), "packets", series.mean_queue(*from, *to)));
            let active = |i: &usize| {
                let cwnd = &series.flows[*i].cwnd;
                let (a, b) = (series.at(*from) + 1, series.at(*to).saturating_sub(1));
                cwnd.get(a..=b).is_some_and(|cwnd| cwnd.iter().all(|cwnd| *cwnd > 0.0))
            };
            let flows = (0..series.flows.len()).filter(active);
            let rates: Vec<f64> = flows.map(|i| series.throughput(i, *from, *to)).collect();
            quantities.extend(jain(&rates).map(|index| Quantity::new(&titled("Jain", name), "", index)));
        }
        quantities.push(Quantity::new("queue", "packets", series.mean_queue(0.0, series.end())));
        quantities.push(Quantity::new("max queue", "packets", longest(series)));
        let queue = curves(series, 1.0).into_iter().filter(|curve| curve.kind == "queue").collect();
        Measured { quantities, curves: queue }
    })
}

fn titled(what: &str, of: &str) -> String {
    if of.is_empty() { what.to_owned() } else { format!("{what} {of}") }
}

/// What of a packet on the wire is not RoVegas' option.
fn data_share(series: &TimeSeries, flow: usize) -> f64 {
    if series.outcome.flows[flow].controller.starts_with("rovegas") { 1.0 - 8.0 / 1000.0 } else { 1.0 }
}

/// Most packets that waited, at any time.
fn longest(series: &TimeSeries) -> f64 {
    series.max_queue
}

/// Seconds from `from` until the window stays near what it is at the end of the stretch;
/// the mean over its last tenth. `None` without a point in it.
fn converged(time: &[f64], cwnd: &[f64], from: f64, to: f64) -> Option<f64> {
    let inside: Vec<usize> = (0..time.len()).filter(|i| time[*i] > from && time[*i] < to).collect();
    let last: Vec<f64> = inside.iter().filter(|i| time[**i] >= to - 0.1 * (to - from)).map(|i| cwnd[*i]).collect();
    let end = last.iter().sum::<f64>() / last.len().max(1) as f64;
    let late = inside.iter().rev().find(|i| (cwnd[**i] - end).abs() > NEAR);
    (!last.is_empty()).then(|| late.map_or(0.0, |i| time[*i] - from))
}

/// The last point before the window falls first, by a twentieth at least: where slow start ends (`spec: chan §3.6`
/// P2).
fn first_fall(cwnd: &[f64]) -> Option<usize> {
    cwnd.windows(2).position(|pair| pair[0] > 0.0 && pair[1] > 0.0 && pair[1] < 0.95 * pair[0])
}

fn jain(rates: &[f64]) -> Option<f64> {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Queue, windows, and throughputs in stretches of `bin` s.
fn curves(series: &TimeSeries, bin: f64) -> Vec<Curve> {
    let stride = (series.time.len() / POINTS).max(1);
    let thin = |y: &[f64]| y.iter().copied().step_by(stride).collect();
    let x: Vec<f64> = thin(&series.time);
    let mut curves = vec![Curve { kind: "queue".to_owned(), of: String::new(), x: x.clone(), y: thin(&series.queue) }];
    for (i, flow) in series.flows.iter().enumerate() {
        let of = if series.flows.len() > 1 { flow.name.clone() } else { String::new() };
        curves.push(Curve { kind: "cwnd".to_owned(), of: of.clone(), x: x.clone(), y: thin(&flow.cwnd) });
        let (x, y) = series.throughput_series(i, bin).into_iter().map(|(time, rate)| (time, rate / 1e6)).unzip();
        curves.push(Curve { kind: "throughput".to_owned(), of, x, y });
    }
    curves
}

/// E3.1: what RoVegas carries over what Vegas does, by asymmetry (eq. 3.21).
pub(super) fn gain(cells: &[CellResult]) -> Vec<Derived> {
    let of = |scheme: &str, k: &str| {
        let fits = |cell: &&CellResult| cell.setting("scheme") == Some(scheme) && cell.setting("k") == Some(k);
        cells.iter().find(fits)?.value("throughput")
    };
    let gain = |k: &str| {
        let vegas = of("vegas", k).filter(|rate| *rate > 0.0)?;
        Some(Derived::new("RoVegas over Vegas", &format!("k={k}"), "", of("rovegas", k)? / vegas))
    };
    ["2", "4", "8", "16", "32"].into_iter().filter_map(gain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `spec: chan §14.3`: the last time further than 2.5 packets from the final window.
    #[test]
    fn convergence_is_the_last_time_away() {
        let time: Vec<f64> = (0..100).map(f64::from).collect();
        let cwnd: Vec<f64> = (0..100).map(|i| if i < 40 || i == 47 { 10.0 } else { 20.0 }).collect();
        assert_eq!(converged(&time, &cwnd, 10.0, 99.5), Some(37.0));
        assert_eq!(converged(&time, &cwnd, 50.0, 99.5), Some(0.0));
        assert_eq!(converged(&time, &cwnd, 200.0, 300.0), None);
    }
}
