//! Where controllers that keep packets of their own queued come to rest: alone on a path,
//! `cwnd·(RTT − least RTT)/RTT` packets are the flow's backlog, and the schemes say how many
//! it shall be.

use windlass_controllers::Algorithm;
use windlass_controllers::param::Value;
use windlass_simulator::outcome::FlowOutcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

/// Rate, Mbit/s, and RTT, ms.
const PATHS: [(f64, f64); 3] = [(10.0, 40.0), (50.0, 20.0), (100.0, 100.0)];

fn parameter(controller: &str, name: &str) -> f64 {
    let mut found = None;
    Algorithm::read(controller).unwrap().describe(&mut |param| {
        if param.name == name
            && let Value::Number(value) = param.value
        {
            found = Some(value);
        }
    });
    found.unwrap_or_else(|| panic!("{controller} has no number {name}"))
}

/// Backlogs over the last third of a minute alone on a path with a buffer that never fills.
fn backlogs(controller: &str, (rate, rtt): (f64, f64)) -> Vec<f64> {
    let text = format!(
        "duration_s = 60\nsample_ms = 100\n[dumbbell]\nrate_mbps = {rate}\nrtt_ms = {rtt}\n\
         [[flow]]\ncontroller = \"under-test\"\n"
    );
    let scenario = Scenario::read("equilibrium", &text, Some(controller)).unwrap_or_else(|error| panic!("{error}"));
    let flow: FlowOutcome = sim::run(&scenario).unwrap().flows.remove(0);
    let least = flow.rtt_min_ms.unwrap();
    let points = flow.series.cwnd_packets.iter().zip(&flow.series.rtt_ms);
    let all: Vec<f64> = points.filter_map(|(cwnd, rtt)| rtt.map(|rtt| cwnd * (rtt - least) / rtt)).collect();
    all[2 * all.len() / 3..].to_vec()
}

/// `controller` with the document's least delay, for which half of the path is not left unused now and then.
fn for_ever(controller: &str) -> String {
    format!("{controller}{}base_window=0", if controller.contains(':') { ',' } else { ':' })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// `spec: chan §3`: between α and β the window rests.
#[test]
fn a_vegas_flow_keeps_between_alpha_and_beta_packets_queued() {
    // Minima that are forgotten take a queue that never empties for the path, so Enhanced
    // Vegas keeps its own for ever here.
    for name in ["vegas", "quick-vegas", "enhanced-vegas:owd_window=0", "rovegas", "red-vegas"] {
        let name = for_ever(name);
        for controller in [name.clone(), format!("{name},alpha=5,beta=8")] {
            let (alpha, beta) = (parameter(&controller, "alpha"), parameter(&controller, "beta"));
            for path in PATHS {
                let seen = backlogs(&controller, path);
                let mean = mean(&seen);
                let what = format!("{controller} at {path:?}: mean backlog {mean:.2}, expected {alpha} to {beta}");
                assert!((alpha - 0.1..=beta + 0.1).contains(&mean), "{what}");
                // Between two judgements the window may be a packet off.
                let range = alpha - 1.0..=beta + 1.0;
                assert!(seen.iter().all(|backlog| range.contains(backlog)), "{what}: {seen:.2?}");
            }
        }
    }
}

/// `spec: sharma §7`, equilibrium: `w·(1 − base/average) = α`.
#[test]
fn a_fast_flow_keeps_alpha_packets_queued() {
    for controller in ["fast", "fast:alpha=50"] {
        let controller = &for_ever(controller);
        let alpha = parameter(controller, "alpha");
        for path in PATHS {
            let mean = mean(&backlogs(controller, path));
            assert!((mean / alpha - 1.0).abs() < 0.03, "{controller} at {path:?}: backlog {mean:.1}, expected {alpha}");
        }
    }
}
