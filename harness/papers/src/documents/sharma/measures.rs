//! What is read off the runs (`spec: sharma §13.4`).

use super::scenario::WIRE;
use crate::{Curve, Measure, Measured, Quantity, TimeSeries};

/// About how many points a stored curve has.
const POINTS: usize = 1000;
/// Share that counts as nearly all.
const MOST: f64 = 0.9;
/// A window has peaked when it has lost this share of its largest value.
const FALL: f64 = 0.05;

/// M1–M4, M6 of a single flow, with `bdp` packets the nominal bandwidth-delay product and a
/// round trip of `rtt` s.
pub(super) fn single(bdp: f64, rtt: f64) -> Measure {
    Measure::new(format!("sharma single bdp={bdp} rtt={rtt}"), move |series| {
        let end = series.end();
        let half = end / 2.0;
        let window = &series.flows[0].cwnd;
        // A loss that is forced is no overflow; without one, the first peak counts.
        let first = series.overflows(rtt, WIRE).first().map_or(0, |at| series.at(*at));
        let mut quantities = vec![
            Quantity::new("M1", "Mbit/s", highest_throughput(series, 0)),
            Quantity::new("M2", "s", series.time[first + peak(&window[first..])]),
        ];
        let reached = window.iter().position(|cwnd| *cwnd >= MOST * bdp);
        quantities.extend(reached.map(|i| Quantity::new("M3-window", "s", series.time[i])));
        let used = series.utilisation_series(0.1).into_iter().find(|(_, used)| *used >= MOST);
        quantities.extend(used.map(|(time, _)| Quantity::new("M3-utilisation", "s", time)));
        quantities.extend(recovery(series, half, rtt).map(|mean| Quantity::new("M4", "s", mean)));
        quantities.push(Quantity::new("M6", "", series.utilisation(half, end)));
        quantities.push(Quantity::new("queue", "packets", series.mean_queue(half, end)));
        quantities.push(Quantity::new("lost", "packets", series.outcome.flows[0].packets_lost as f64));
        quantities.extend(overflows(series, rtt));
        quantities.extend(cuts(window, &series.time, half));
        quantities.push(Quantity::new("queue busy", "", series.busy(half, end)));
        Measured { quantities, curves: curves(series) }
    })
}

/// M6, M9 and Jain's index of two flows, the first of which started first.
pub(super) fn two() -> Measure {
    Measure::new("sharma two".to_owned(), |series| {
        let end = series.end();
        let half = end / 2.0;
        let [first, second] = [0, 1].map(|flow| series.throughput(flow, half, end));
        let mut quantities = vec![
            Quantity::new("M6", "", series.utilisation(half, end)),
            Quantity::new("first", "Mbit/s", first / 1e6),
            Quantity::new("second", "Mbit/s", second / 1e6),
        ];
        if first + second > 0.0 {
            quantities.push(Quantity::new("M9", "", (first - second) / (first + second)));
            let jain = (first + second).powi(2) / (2.0 * (first * first + second * second));
            quantities.push(Quantity::new("jain", "", jain));
        }
        quantities.push(Quantity::new("queue", "packets", series.mean_queue(half, end)));
        quantities.extend(even(series).map(|after| Quantity::new("even after", "s", after)));
        Measured { quantities, curves: curves(series) }
    })
}

/// Seconds after the second flow's start until one of the two has four fifths of what the other has, over five
/// seconds; `None` if that never happens.
fn even(series: &TimeSeries) -> Option<f64> {
    let [first, second] = [0, 1].map(|flow| series.throughput_series(flow, 5.0));
    let joined = second.iter().find(|(_, rate)| *rate > 0.0)?.0 - 5.0;
    let both = first.iter().zip(&second).filter(|((end, _), _)| *end > joined + 5.0);
    let mut shares = both.map(|((end, a), (_, b))| (*end, a.min(*b) / a.max(*b).max(1.0)));
    shares.find(|(_, share)| *share >= 0.8).map(|(end, _)| end - joined)
}

/// How often the queue overflowed, when first, and the window when it did.
fn overflows(series: &TimeSeries, rtt: f64) -> Vec<Quantity> {
    let starts = series.overflows(rtt, WIRE);
    let window = |at: &f64| series.flows[0].cwnd[series.at(*at)];
    let mut quantities = vec![Quantity::new("overflows", "", starts.len() as f64)];
    if let Some(first) = starts.first() {
        quantities.push(Quantity::new("first overflow", "s", *first));
        let sum: f64 = starts.iter().map(window).sum();
        quantities.push(Quantity::new("window at overflow", "packets", sum / starts.len() as f64));
    }
    quantities
}

/// What the first reduction left of the window, and those after `from` s on average.
fn cuts(window: &[f64], time: &[f64], from: f64) -> Vec<Quantity> {
    let pairs = window.windows(2).zip(time).filter(|(pair, _)| pair[1] > 0.0 && pair[1] < (1.0 - FALL) * pair[0]);
    let all: Vec<(f64, f64)> = pairs.map(|(pair, time)| (*time, pair[1] / pair[0])).collect();
    let late: Vec<f64> = all.iter().filter(|(time, _)| *time >= from).map(|(_, left)| *left).collect();
    let mut quantities: Vec<Quantity> =
        all.first().map(|(_, left)| Quantity::new("first cut", "", *left)).into_iter().collect();
    if !late.is_empty() {
        quantities.push(Quantity::new("cut", "", late.iter().sum::<f64>() / late.len() as f64));
    }
    quantities
}

/// M1: highest throughput of a flow, Mbit/s.
fn highest_throughput(series: &TimeSeries, flow: usize) -> f64 {
    series.throughput_series(flow, 1.0).iter().map(|(_, rate)| rate / 1e6).fold(0.0, f64::max)
}

/// The point of the first peak: the largest window before it has fallen noticeably, or
/// at all.
fn peak(window: &[f64]) -> usize {
    let mut top = 0;
    for (i, cwnd) in window.iter().enumerate() {
        if *cwnd > window[top] {
            top = i;
        } else if *cwnd < (1.0 - FALL) * window[top] {
            break;
        }
    }
    top
}

/// M4, s: the mean time from an overflow to the next in the steady state, from `from` s on.
/// `None` unless there are two overflows.
fn recovery(series: &TimeSeries, from: f64, rtt: f64) -> Option<f64> {
    let overflows: Vec<f64> = series.overflows(rtt, WIRE).into_iter().filter(|at| *at >= from).collect();
    let (first, last) = (overflows.first()?, overflows.last()?);
    (overflows.len() > 1).then(|| (last - first) / (overflows.len() - 1) as f64)
}

/// Windows, queue and throughputs over time.
fn curves(series: &TimeSeries) -> Vec<Curve> {
    let stride = (series.time.len() / POINTS).max(1);
    let thin = |y: &[f64]| y.iter().copied().step_by(stride).collect();
    let x: Vec<f64> = thin(&series.time);
    let of = |name: &str| if series.flows.len() > 1 { name.to_owned() } else { String::new() };
    let mut curves = vec![Curve { kind: "queue".to_owned(), of: String::new(), x: x.clone(), y: thin(&series.queue) }];
    for (number, flow) in series.flows.iter().enumerate() {
        let of = of(&flow.name);
        curves.push(Curve { kind: "cwnd".to_owned(), of: of.clone(), x: x.clone(), y: thin(&flow.cwnd) });
        let (x, y) = series.throughput_series(number, 1.0).into_iter().map(|(time, rate)| (time, rate / 1e6)).unzip();
        curves.push(Curve { kind: "throughput".to_owned(), of, x, y });
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `spec: sharma §1.6`: the first reduction is kept apart from the later ones.
    #[test]
    fn cuts_are_what_is_left_of_the_window() {
        let cwnd = vec![2.0, 100.0, 50.0, 51.0, 52.0, 41.6, 42.0, 42.0, 33.6, 33.6];
        let time: Vec<f64> = (0..10).map(f64::from).collect();
        let left = cuts(&cwnd, &time, 4.0);
        let of = |id: &str| left.iter().find(|one| one.id == id).map(|one| one.value);
        assert_eq!(of("first cut"), Some(0.5));
        assert!((of("cut").unwrap() - 0.8).abs() < 1e-12);
    }

    #[test]
    fn the_first_peak_is_where_the_window_falls_from() {
        assert_eq!(peak(&[1.0, 5.0, 10.0, 9.8, 10.5, 5.0, 20.0]), 4);
        assert_eq!(peak(&[1.0, 2.0, 3.0]), 2);
    }
}
