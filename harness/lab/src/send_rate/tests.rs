use windlass_simulator::outcome::{FlowOutcome, FlowSeries, Outcome};

use super::*;
use crate::grid::Measured;

const DOUBLES: Case = Case { change: Change::Doubles, source: Source::Bulk };
const HALVES: Case = Case { change: Change::Halves, source: Source::Bulk };
const VIDEO_DOUBLES: Case = Case { change: Change::Doubles, source: Source::Video };
const VIDEO_HALVES: Case = Case { change: Change::Halves, source: Source::Video };

fn estimate(case: Case, controller: &str, stack: &str) -> Estimate {
    let cell = case.cell(controller, stack);
    match measure(&cell, &case, &|_| false).map(|reading| reading.read) {
        Ok(Measured::Run(estimate)) => estimate,
        other => panic!("{}: {other:?}", cell.name),
    }
}

/// Where the rate halves, what arrives says so to every controller, whether or not its application limits it.
#[test]
fn an_estimate_follows_a_bottleneck_that_halves() {
    let mut pairs: Vec<(&str, &str)> = CONTROLLERS.map(|name| (name, "sim")).into();
    pairs.extend(["reno", "cubic", "copa"].map(|name| (name, "quinn")));
    pairs.extend(["reno", "cubic", "bbr", "copa"].map(|name| (name, "noq")));
    for (controller, stack) in pairs {
        for case in [HALVES, VIDEO_HALVES] {
            let estimate = estimate(case, controller, stack);
            assert!(estimate.holds(), "{controller} on {stack}, {case}: {estimate:?}");
        }
    }
}

/// Where it doubles, it follows as far as the window is there to use it: what filled a buffer of two BDP is.
#[test]
fn an_estimate_follows_a_bottleneck_that_doubles_where_the_window_does() {
    for stack in ["sim", "quinn", "noq"] {
        for controller in ["reno", "cubic"] {
            let estimate = estimate(DOUBLES, controller, stack);
            assert!(estimate.holds() && estimate.before < 0.55, "{controller} on {stack}: {estimate:?}");
        }
    }
    let pacing = estimate(VIDEO_DOUBLES, "bbr", "sim");
    assert!(pacing.holds(), "bursts at the pacing rate show it: {pacing:?}");
}

#[test]
fn three_round_trips_are_counted_by_the_longest_since_the_change() {
    let times: Vec<f64> = (0..60).map(|i| DOUBLES.at() - 0.05 + 0.01 * f64::from(i)).collect();
    let since = |at: &f64| at - DOUBLES.at();
    let share = DOUBLES.share_mbps();
    let series = FlowSeries {
        rtt_ms: times
            .iter()
            .map(|at| Some(if since(at) > 0.05 { 80.0 } else { 200.0 * f64::from(since(at) < 0.0) }))
            .collect(),
        send_rate_mbps: times
            .iter()
            .map(|at| (since(at) > -0.03).then_some(share * (0.5 + since(at).max(0.0))))
            .collect(),
        time_s: times,
        ..FlowSeries::default()
    };
    let outcome = |series| Outcome {
        scenario: String::new(),
        stack: "sim".to_owned(),
        seed: 1,
        duration_s: 15.0,
        flows: vec![FlowOutcome { series, ..FlowOutcome::default() }],
        queues: Vec::new(),
    };
    let estimate = Estimate::of(&outcome(series), &DOUBLES).unwrap();
    assert_eq!(estimate.rtt_ms, 80.0);
    assert!((estimate.then - 0.74).abs() < 0.011 && !estimate.holds(), "{estimate:?}");
    assert!((estimate.before - 0.5).abs() < 1e-9);
    assert!((estimate.within_s.unwrap() - 0.4).abs() < 0.011, "{estimate:?}");
    assert_eq!(Estimate::of(&outcome(FlowSeries::default()), &DOUBLES), None);
}
