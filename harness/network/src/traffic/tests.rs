use super::*;
use crate::{LinkSpec, Network, Topology};
use windlass_controllers::Span;

fn source(pattern: Pattern) -> TrafficSpec {
    TrafficSpec { name: "x".into(), route: RouteId(0), bytes: 1000, pattern, start: Time::ZERO, stop: Time(u64::MAX) }
}

/// Send times until `seconds`, s.
fn times(spec: &TrafficSpec, seconds: f64) -> Vec<f64> {
    let mut traffic = Traffic::new(spec, 1);
    let mut out = Vec::new();
    while traffic.next() < (seconds * 1e9) as u64 {
        out.push(traffic.next() as f64 / 1e9);
        traffic.sent();
    }
    out
}

fn rate(spec: &TrafficSpec, seconds: f64) -> f64 {
    times(spec, seconds).len() as f64 * 8000.0 / seconds
}

#[test]
fn mean_rates_are_as_asked() {
    let exponential = Pattern::ExponentialOnOff { peak: 3.2e6, mean: 1.44e6, on: 0.008 };
    let pareto = Pattern::ParetoOnOff { peak: 1.6e6, mean: 0.8e6, on: 0.01, shape: 1.5 };
    for (pattern, mean, tolerance) in [
        (Pattern::Constant { rate: 2.5e6, jitter: 0.0, period: None }, 2.5e6, 1e-4),
        (Pattern::Constant { rate: 2.5e6, jitter: 0.5, period: None }, 2.5e6, 0.01),
        (Pattern::Constant { rate: 3e6, jitter: 0.5, period: Some((10.0, 10.0)) }, 1.5e6, 0.01),
        (Pattern::Poisson { rate: 3e6, redraw: None }, 3e6, 0.01),
        // Rounding a burst to whole packets, at least one, changes its mean: 3.2 packets of
        // exponential length become 1/(1 − e^(−1/3.2)) · e^(−0.5/3.2) + (1 − e^(−0.5/3.2)).
        (exponential, mean_of_rounded(3.2, 1.44e6, 3.2e6), 0.02),
        // Heavy tails converge slowly.
        (pareto, 0.8e6, 0.15),
    ] {
        let seen = rate(&source(pattern), 2000.0);
        assert!((seen / mean - 1.0).abs() < tolerance, "{pattern:?}: {seen}, expected {mean}");
    }
}

/// Mean rate of an exponential on-off source whose bursts of `n` packets on average are
/// rounded to whole packets, at least one.
fn mean_of_rounded(n: f64, mean: f64, peak: f64) -> f64 {
    // P(burst > k) = P(length >= k + 0.5) for k >= 1; a burst has at least one packet.
    let packets = 1.0 + (1..200).map(|k| (-(f64::from(k) + 0.5) / n).exp()).sum::<f64>();
    let off_packets = n * (peak / mean - 1.0);
    peak * packets / (packets + off_packets)
}

#[test]
fn constant_rate_is_constant_and_periods_start_silent() {
    let plain = times(&source(Pattern::Constant { rate: 8e6, jitter: 0.0, period: None }), 0.01);
    assert_eq!(plain.len(), 10);
    assert!(plain.windows(2).all(|pair| (pair[1] - pair[0] - 0.001).abs() < 1e-9));
    let on_off = times(&source(Pattern::Constant { rate: 8e6, jitter: 0.0, period: Some((0.5, 0.25)) }), 3.0);
    assert_eq!(on_off[0], 0.5);
    assert!(on_off.iter().all(|at| at % 0.75 > 0.4999));
    assert_eq!(on_off.len(), 4 * 250);
}

#[test]
fn on_off_sources_start_silent_and_send_bursts_at_the_peak() {
    let spec = source(Pattern::ExponentialOnOff { peak: 8e6, mean: 1e6, on: 0.01 });
    let times = times(&spec, 100.0);
    assert!(times[0] > 0.0);
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let within = gaps.iter().filter(|gap| (**gap - 0.001).abs() < 1e-8).count() as f64;
    assert!(gaps.iter().all(|gap| *gap > 0.000_999));
    // Ten packets a burst: nine of ten gaps are at the peak.
    assert!((within / gaps.len() as f64 - 0.9).abs() < 0.02);
}

#[test]
fn traffic_crosses_the_network_by_itself_between_start_and_stop() {
    let mut topology = Topology::default();
    let link = topology.link(LinkSpec::new("l", 8e6, Span::from_millis(1)));
    let route = topology.route(vec![link]);
    topology.traffic.push(TrafficSpec {
        route,
        start: Time::from_micros(10_000),
        stop: Time::from_micros(20_000),
        ..source(Pattern::Constant { rate: 4e6, jitter: 0.0, period: None })
    });
    let mut network = Network::new(&topology, 1).unwrap();
    assert_eq!(network.next(), Some(Time::from_micros(10_000)));
    assert_eq!(network.poll(Time::from_micros(30_000)), None);
    assert_eq!((network.traffic(0), network.next()), ((5, 5), None));
}

#[test]
fn impossible_traffic_is_refused() {
    for (pattern, message) in [
        (Pattern::Constant { rate: 0.0, jitter: 0.0, period: None }, "rate is 0; expected at least 1 bit/s"),
        (Pattern::Constant { rate: 1e6, jitter: 2.0, period: None }, "jitter is 2; expected 0 to 1"),
        (
            Pattern::Constant { rate: 1e6, jitter: 0.0, period: Some((1.0, 0.0)) },
            "sending time is 0; expected more than 0 s",
        ),
        (
            Pattern::ExponentialOnOff { peak: 1e6, mean: 2e6, on: 0.1 },
            "mean rate is 2000000; expected at least 1 bit/s and at most the peak rate",
        ),
        (Pattern::ParetoOnOff { peak: 1e6, mean: 1e5, on: 0.1, shape: 1.0 }, "shape is 1; expected more than 1"),
    ] {
        assert_eq!(source(pattern).check().unwrap_err().to_string(), message);
    }
}

#[test]
fn a_rate_is_drawn_anew_when_it_is_time() {
    let redraw = Redraw { every: 2.0, max: 9e6 };
    let drawn = source(Pattern::Poisson { rate: 6e6, redraw: Some(redraw) });
    let times = times(&drawn, 4000.0);
    let rates: Vec<f64> = (0..2000)
        .map(|i| times.iter().filter(|at| (2.0 * f64::from(i)..2.0 * f64::from(i + 1)).contains(*at)).count())
        .map(|packets| packets as f64 * 8000.0 / 2.0)
        .collect();
    // Σ min(k, 9)·6^k/k!·e^−6 and the variance of that, plus the packets' own, rate·8000/2.
    let probability = |k: i32| 6f64.powi(k) * (-6f64).exp() / (1..=k).map(f64::from).product::<f64>();
    let moment = |n: i32| (0..60).map(|k| probability(k) * f64::from(k.min(9)).powi(n)).sum::<f64>();
    let expected = moment(1) * 1e6;
    let variance = (moment(2) - moment(1).powi(2)) * 1e12 + expected * 4000.0;
    let mean = rates.iter().sum::<f64>() / 2000.0;
    let seen = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 2000.0;
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} {expected}");
    assert!((seen / variance - 1.0).abs() < 0.1, "{seen} {variance}");
    // e^−6 of the times the rate is nothing at all.
    assert!(rates.contains(&0.0));
}
