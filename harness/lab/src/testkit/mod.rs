//! What tests of stacks and of the command share, and made-up results for them.

mod confusion;
mod identification;
mod passive;

use crate::results::{Contender, Results, Run, SCHEMA, Scene, Status, rank};

use windlass_simulator::outcome::{FlowOutcome, FlowSeries, Outcome, QueueOutcome, QueueSeries};

pub use confusion::{AtShare, Confusion, Unit, renamed};
pub use identification::{
    SCENARIOS, limits, logged, logged_as, look, natives, place, received, recorded_traces, trace,
};
pub use passive::{HELD_OUT, KNOWN, all, changed, flows, kept, senders};

/// A flow that got `rates` Mbit/s, one point a second from `start_s` on.
#[must_use]
pub fn flow(name: &str, controller: &str, start_s: f64, rates: &[f64]) -> FlowOutcome {
    let time_s: Vec<f64> = (0..rates.len()).map(|i| start_s + i as f64).collect();
    FlowOutcome {
        name: name.to_owned(),
        controller: controller.to_owned(),
        start_s,
        stop_s: start_s + rates.len().saturating_sub(1) as f64,
        goodput_mbps: rates.iter().skip(1).sum::<f64>() / rates.len().saturating_sub(1).max(1) as f64,
        packets_sent: 1000,
        packets_lost: 20,
        packets_marked: 3,
        congestion_events: 2,
        rtt_mean_ms: Some(60.0),
        rtt_p95_ms: Some(80.0),
        rtt_min_ms: Some(41.0),
        cwnd_mean_packets: 33.333_333_3,
        sha256: None,
        completed: false,
        transfers: None,
        frames: None,
        video: None,
        series: FlowSeries {
            cwnd_packets: time_s.iter().map(|t| 10.0 + t / 3.0).collect(),
            rtt_ms: time_s.iter().map(|t| (*t > start_s).then_some(50.123_456)).collect(),
            goodput_mbps: rates.to_vec(),
            time_s,
            ..FlowSeries::default()
        },
    }
}

/// A run with these flows over a queue used to nine tenths.
#[must_use]
pub fn outcome(flows: Vec<FlowOutcome>) -> Outcome {
    Outcome {
        scenario: "made-up".to_owned(),
        stack: "sim".to_owned(),
        seed: 1,
        duration_s: 4.0,
        flows,
        queues: vec![QueueOutcome {
            name: "bottleneck".to_owned(),
            limit_packets: 66.0,
            packets_forwarded: 5000,
            packets_dropped: 20,
            utilisation: 0.9,
            mean_packets: 12.345_678,
            max_packets: 66.0,
            series: QueueSeries { time_s: vec![0.0, 1.0], packets: vec![0.0, 7.0 / 3.0] },
            ..QueueOutcome::default()
        }],
    }
}

/// Results of two controllers on two stacks, one run of which is not possible.
#[must_use]
pub fn sample() -> Results {
    let mut runs = Vec::new();
    for (controller, mean) in [("reno", 60.0), ("vegas", 44.0)] {
        let mut one = flow("a", controller, 0.0, &[0.0, 9.0, 9.0, 9.0]);
        one.rtt_mean_ms = Some(mean);
        runs.push(Run::done(controller, Some(40.0), outcome(vec![one.clone()]), vec!["qlog/a.sqlog".to_owned()]));
        let mut there = Run::done(controller, Some(40.0), outcome(vec![one]), Vec::new());
        there.stack = "quinn".to_owned();
        runs.push(there);
    }
    runs.push(Run::without_results(
        "made-up",
        "rovegas",
        "quinn",
        Status::Unsupported,
        "rovegas needs </script> & \"quotes\"".to_owned(),
    ));
    let ranking = rank(&runs);
    Results {
        schema: SCHEMA.to_owned(),
        windlass: env!("CARGO_PKG_VERSION").to_owned(),
        title: "A made-up <evaluation>".to_owned(),
        seed: 1,
        stacks: vec!["sim".to_owned(), "quinn".to_owned()],
        scenarios: vec![Scene {
            name: "made-up".to_owned(),
            summary: "Nothing real.".to_owned(),
            duration_s: 4.0,
            base_rtt_ms: Some(40.0),
        }],
        controllers: ["reno", "vegas", "rovegas"]
            .map(|name| Contender { name: name.to_owned(), summary: "one".to_owned(), source: "a source".to_owned() })
            .to_vec(),
        ranking,
        runs,
    }
}
