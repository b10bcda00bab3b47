//! Windows that never change, on a stack: goodput is a window per round trip, and
//! nothing but probes ever leaves beyond the window.

use std::fs;

use crate::stack::{LogDetail, LogSettings, Logs, Runner};
use serde_json::Value;
use windlass_controllers::fixed_window::catalogue;
use windlass_qlog::Profile;
use windlass_simulator::scenario::Scenario;

const PACKET: f64 = 1200.0;
/// Bytes of a packet that are not the application's.
const HEADERS: f64 = 33.0;
const RTT_S: f64 = 0.04;

/// Probes of a timeout (`RFC 9002 §6.2.4`).
const PROBES: f64 = 2.0;

fn examine(stack: Runner, packets: u32) {
    let controller = catalogue(packets).unwrap();
    let text = format!(
        "duration_s = 10\nheader_bytes = {HEADERS}\n[dumbbell]\nrate_mbps = 100\nrtt_ms = {}\nbuffer_bdp = 1\n\
         [[flow]]\ncontroller = \"{controller}\"\nack = \"per-packet\"",
        1e3 * RTT_S
    );
    let scenario = Scenario::read("fixed", &text, None).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let settings = LogSettings { detail: LogDetail::Steps, profile: Profile::Ietf };
    let mut logs = Logs::create(settings, directory.path(), "fixed", "", stack.name()).unwrap();
    let outcome = stack.run(&scenario, Some(&mut logs), &|_| false).unwrap();
    let flow = &outcome.flows[0];
    let window = f64::from(packets) * PACKET;
    // The round trip measured, which has the packets' transmission in it.
    let rtt = flow.rtt_mean_ms.unwrap() / 1e3;
    let expected = 8e-6 * f64::from(packets) * (PACKET - HEADERS) / rtt;
    let ratio = flow.goodput_mbps / expected;
    println!(
        "{} {packets}: {:.3} Mbit/s, {ratio:.4} of {expected:.3}; RTT {:.2} ms",
        stack.name(),
        flow.goodput_mbps,
        1e3 * rtt
    );
    assert!((0.95..=1.05).contains(&ratio), "{}, {packets} packets: {ratio}", stack.name());
    assert!(rtt < 1.1 * RTT_S, "{}, {packets} packets: {rtt} s", stack.name());

    let log = fs::read(directory.path().join(format!("fixed/own@{}/flow1.sqlog", stack.name()))).unwrap();
    let records = log.split(|byte| *byte == 0x1e).filter(|record| !record.is_empty()).skip(1);
    let mut most = 0.0_f64;
    for record in records {
        let event: Value = serde_json::from_slice(record).unwrap();
        let acked = &event["data"]["event"]["kind"]["packets_acked"];
        if let Some(bytes) = acked["in_flight_before"].as_f64() {
            most = most.max(bytes);
        }
    }
    assert!(most > 0.9 * window && most <= window + PROBES * PACKET, "{}, {packets} packets: {most}", stack.name());
}

/// Windows from 10 to 160 packets on `stack`.
pub fn fixed_windows(stack: Runner) {
    for packets in [10, 20, 40, 80, 160] {
        examine(stack, packets);
    }
}
