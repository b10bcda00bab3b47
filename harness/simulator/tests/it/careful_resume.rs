//! Careful resume (`RFC 9959`) over a network.

use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

use crate::common::scenario;

const CONTROLLERS: [&str; 11] =
    ["cubic", "reno", "cubic:slow_start=search", "bbr", "bbr1", "copa", "c4", "scream", "nada", "gcc", "rapid"];

/// A path of 50 Mbit/s and 100 ms that two flows use one after the other.
fn two_flows(resume: &str, buffer: f64, changes: &str, controller: &str) -> (Scenario, Outcome) {
    let flow = |start: u32| {
        format!("[[flow]]\ncontroller = \"under-test\"\nstart_s = {start}\ntransfer_bytes = 10_000_000\n{resume}\n")
    };
    let text = format!(
        "duration_s = 60\nsample_ms = 10\n[dumbbell]\nrate_mbps = 50\nrtt_ms = 100\nbuffer_bdp = {buffer}\n{changes}\n{}{}",
        flow(0),
        flow(20)
    );
    let scenario = scenario(&text, controller);
    let outcome = sim::run(&scenario).unwrap();
    (scenario, outcome)
}

/// Seconds from the start of the flow until its goodput over a round-trip time is 90 % of `mbps` of link.
fn filled_after(scenario: &Scenario, flow: &FlowOutcome, mbps: f64) -> Option<f64> {
    let spec = &scenario.flows[0];
    let payload = f64::from(spec.packet_bytes - spec.header_bytes) / f64::from(spec.wire_bytes());
    let series = &flow.series;
    let window = 10;
    (window..=series.goodput_mbps.len()).find_map(|end| {
        let mean = series.goodput_mbps[end - window..end].iter().sum::<f64>() / window as f64;
        (mean >= 0.9 * mbps * payload).then(|| series.time_s[end - 1] - flow.start_s)
    })
}

#[test]
fn a_second_transfer_fills_the_path_in_half_the_time_of_the_first() {
    for controller in CONTROLLERS {
        let (scenario, outcome) = two_flows("resume = \"peer\"", 1.0, "", controller);
        // NADA's first transfer is over before its ramp-up is there: what counts is when it is complete.
        let reached = |scenario: &Scenario, flow: &FlowOutcome| match controller {
            "nada" => flow.stop_s - flow.start_s,
            _ => filled_after(scenario, flow, 50.0).unwrap(),
        };
        let [first, second] = [0, 1].map(|flow: usize| reached(&scenario, &outcome.flows[flow]));
        let [lost_first, lost_second] = [0, 1].map(|flow: usize| outcome.flows[flow].packets_lost);
        println!("{controller}: {first:.2} s, then {second:.2} s; {lost_first} lost, then {lost_second}");
        assert!(second <= 0.5 * first + 1e-9, "{controller}: {first} s, then {second} s");
        assert!(lost_second <= lost_first, "{controller}: {lost_first} lost, then {lost_second}");
        let (scenario, unresumed) = two_flows("", 1.0, "", controller);
        let again = reached(&scenario, &unresumed.flows[1]);
        assert!((again - first).abs() < 0.05, "{controller}: without it the second takes as long, {again} s");
    }
}

/// The path shrinks tenfold between the two.
#[test]
fn on_a_path_that_shrank_it_loses_no_more_than_it_jumped_and_returns() {
    let shrunk = "[[dumbbell.change]]\nat_s = 19\nrate_mbps = 5\n";
    for controller in CONTROLLERS {
        let (scenario, resumed) = two_flows("resume = \"peer\"", 0.1, shrunk, controller);
        let (_, unresumed) = two_flows("", 0.1, shrunk, controller);
        let (flow, other) = (&resumed.flows[1], &unresumed.flows[1]);
        let [took, would] = [flow, other].map(|flow| flow.stop_s - flow.start_s);
        println!("{controller}: {took:.2} s, unresumed {would:.2} s; {} lost", flow.packets_lost);
        let spec = &scenario.flows[0];
        let bdp = 50e6 / 8.0 * 0.1 / f64::from(spec.packet_bytes);
        // What is not validated is at most half of the saved window, which is no more than a BDP (`RFC 9959 §3.3`).
        assert!((flow.packets_lost as f64) <= 0.5 * bdp, "{controller}: {} lost", flow.packets_lost);
        assert!(
            flow.completed && other.completed,
            "{controller}: {} of them, unresumed {}",
            flow.completed,
            other.completed
        );
        assert!(took <= 1.1 * would, "{controller}: {took} s, unresumed {would} s");
        let window = |flow: &FlowOutcome| {
            let late = |at: f64| (flow.start_s + 5.0..flow.start_s + 15.0).contains(&at);
            let points = flow.series.time_s.iter().zip(&flow.series.cwnd_packets).filter(|(at, _)| late(**at));
            let (sum, count) = points.fold((0.0, 0.0), |(sum, count), (_, cwnd)| (sum + cwnd, count + 1.0));
            sum / count
        };
        let [window, unresumed] = [window(flow), window(other)];
        assert!((window / unresumed - 1.0).abs() < 0.25, "{controller}: {window} packets, unresumed {unresumed}");
    }
}

/// What picoquic's tests of it ask of the same transfers (`picoquictest/high_latency_test.c` and those beside it):
/// bytes, ms at most, Mbit/s, saved window, saved RTT in ms, packets lost. The path has 40 ms, and room for all.
#[test]
fn transfers_take_no_longer_than_picoquic_allows_its_own() {
    let rows = [
        ("simple", 1_000_000, 550.0, 20, 100_000, 40.0, ""),
        ("overshoot", 1_000_000, 900.0, 20, 1_000_000, 40.0, ""),
        ("undershoot", 1_000_000, 650.0, 20, 10_000, 40.0, ""),
        ("loss", 1_000_000, 3650.0, 20, 100_000, 40.0, "drop_packets = [24, 25, 26, 27]"),
        ("to normal from unvalidated", 500_000, 600.0, 10, 50_000, 40.0, ""),
        ("the RTT is another", 1_000_000, 650.0, 20, 100_000, 400.001, ""),
    ];
    for (name, bytes, most, mbps, cwnd, rtt, more) in rows {
        let text = format!(
            "duration_s = 10\n[dumbbell]\nrate_mbps = {mbps}\nrtt_ms = 40\nbuffer_bdp = 100\n[[flow]]\n\
             controller = \"under-test\"\ntransfer_bytes = {bytes}\nresume = \"peer\"\nsaved_cwnd_bytes = {cwnd}\n\
             saved_rtt_ms = {rtt}\n{more}\n"
        );
        let outcome = sim::run(&scenario(&text, "cubic")).unwrap();
        let flow = &outcome.flows[0];
        let took = 1e3 * (flow.stop_s - flow.start_s);
        assert!(flow.completed && took <= most, "{name}: {took} ms, {most} at most");
    }
}

#[test]
fn a_scenario_says_both_of_a_saved_path_and_which() {
    for (keys, expected) in [
        ("saved_rtt_ms = 40\nresume = \"a\"", "add saved_cwnd_bytes"),
        ("saved_cwnd_bytes = 40\nresume = \"a\"", "add saved_rtt_ms"),
        ("saved_cwnd_bytes = 40\nsaved_rtt_ms = 40", "add resume, the name of the path"),
    ] {
        let text =
            format!("duration_s = 1\n[dumbbell]\nrate_mbps = 1\nrtt_ms = 1\n[[flow]]\ncontroller = \"reno\"\n{keys}\n");
        let error = Scenario::read("test", &text, None).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
