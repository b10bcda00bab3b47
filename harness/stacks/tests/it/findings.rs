//! What `docs/findings` reports of the stacks' own controllers is still so. Where a test here fails with a new version
//! of a stack, that version mended it: the page goes, or says up to which version it held.

use std::fs;
use std::path::Path;

use windlass_simulator::outcome::FlowOutcome;
use windlass_simulator::scenario::Scenario;
use windlass_stacks::noq::Noq;
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::Stack;

/// The scenario of a page, which ends after `seconds`.
fn scenario(page: &str, seconds: f64) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings").join(format!("{page}.toml"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().map(|line| match line.split_once(" = ") {
        Some(("duration_s", _)) => format!("duration_s = {seconds}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn run(stack: &dyn Stack, text: &str, controller: &str) -> FlowOutcome {
    let scenario = Scenario::read("finding", text, Some(controller)).unwrap_or_else(|error| panic!("{error}"));
    stack.run(&scenario, &mut |_| Ok(None), &|_| false).unwrap_or_else(|error| panic!("{error:?}")).flows.remove(0)
}

/// Packets lost of those that were sent.
fn lost(flow: &FlowOutcome) -> f64 {
    flow.packets_lost as f64 / flow.packets_sent as f64
}

#[test]
fn quinns_bbr_keeps_the_bandwidth_of_a_path_that_became_slower() {
    let _machine = crate::shared();
    let text = scenario("quinn-bbr-bandwidth", 15.0);
    let flow = run(&Quinn, &text, "native:bbr");
    assert!(lost(&flow) > 0.08, "{}", lost(&flow));
    let cubic = run(&Quinn, &text, "native:cubic");
    assert!(lost(&cubic) < 0.04, "{}", lost(&cubic));
}

#[test]
fn quinns_bbr_has_a_window_without_bounds_where_the_application_is_slow() {
    let _machine = crate::shared();
    let text = scenario("quinn-bbr-window", 8.0);
    let flow = run(&Quinn, &text, "native:bbr");
    assert!(
        flow.cwnd_mean_packets > 1000.0 && lost(&flow) > 0.05,
        "{} packets, {}",
        flow.cwnd_mean_packets,
        lost(&flow)
    );
}

#[test]
fn noqs_bbr3_is_not_paced_where_the_application_is_slow() {
    let _machine = crate::shared();
    let text = scenario("noq-bbr3-unpaced", 8.0);
    let flow = run(&Noq, &text, "native:bbr3");
    assert!(lost(&flow) > 0.1, "{}", lost(&flow));
    let ours = run(&Noq, &text, "bbr");
    assert!(lost(&ours) < 0.01, "{}", lost(&ours));
}

#[test]
fn quinns_bbr_keeps_the_minimum_rtt_of_a_path_that_became_longer() {
    let _machine = crate::shared();
    // The path is longer for twenty seconds, twice what a filter of the minimum has.
    let flow = run(&Quinn, &scenario("quinn-bbr-min-rtt", 25.0), "native:bbr");
    let last = &flow.series.goodput_mbps[flow.series.goodput_mbps.len() * 9 / 10..];
    let goodput = last.iter().sum::<f64>() / last.len() as f64;
    assert!(goodput < 6.0, "{goodput} of 20 Mbit/s");
}

#[test]
fn noqs_bbr3_forgets_its_bandwidth() {
    let _machine = crate::shared();
    let text = scenario("noq-bbr3-aggregation", 8.0);
    // It draws random numbers of its own, so that runs differ.
    let worst = (0..3).map(|_| run(&Noq, &text, "native:bbr3").goodput_mbps).fold(f64::INFINITY, f64::min);
    let ours = run(&Noq, &text, "bbr").goodput_mbps;
    assert!(worst < 0.9 * ours, "{worst} and {ours} Mbit/s");
}

#[cfg(feature = "s2n-quic")]
#[test]
fn s2n_quics_bbr_sends_more_than_its_quantum() {
    let _machine = crate::shared();
    let queue = |rate: &str| {
        let text = scenario("s2n-quic-bbr-pacing", 12.0).replace("rate_mbps = 20", rate);
        let flow = run(&windlass_stacks::s2n::S2nQuic, &text, "native:bbr");
        // Start-up apart.
        let rtt = &flow.series.rtt_ms[flow.series.rtt_ms.len() / 2..];
        rtt.iter().flatten().sum::<f64>() / rtt.iter().flatten().count() as f64
    };
    let (exact, more) = (queue("rate_mbps = 15"), queue("rate_mbps = 20"));
    assert!(exact < 65.0 && more > 75.0, "{exact} and {more} ms");
}
