//! Every controller of the catalogue on a real stack, in virtual time: what the stack can
//! run moves everything whole through all that a path can do to it, and what it cannot run
//! it refuses, saying why. And windows that never change: goodput is a window per round trip, and
//! nothing but probes ever leaves beyond the window.
//!
//! `WINDLASS_MATRIX_MB` says how many megabytes a transfer has, by default 5. The
//! path's rate goes with them, so that a transfer at full rate takes four seconds.

use std::fs;
use std::path::Path;

use crate::RunError;
use crate::stack::{LogDetail, LogSettings, Logs, Runner};

use PathKind::{Blackout, Clean, Ecn, Halved, Loss, Raised, Reordering};
use rayon::prelude::*;
use serde_json::Value;
use windlass_controllers::Algorithm;
use windlass_controllers::fixed_window::catalogue;
use windlass_qlog::Profile;
use windlass_simulator::outcome::FlowOutcome;
use windlass_simulator::scenario::Scenario;

/// Size of a transfer, megabytes; `WINDLASS_MEGABYTES` sets it.
fn megabytes() -> u64 {
    let text = std::env::var("WINDLASS_MATRIX_MB").unwrap_or_else(|_| "5".to_owned());
    text.parse().unwrap_or_else(|_| panic!("WINDLASS_MATRIX_MB is {text:?}; expected a whole number"))
}

/// Conditions of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathKind {
    Clean,
    Loss,
    Ecn,
    Blackout,
    Reordering,
    Halved,
    Raised,
}

const PATHS: [PathKind; 7] = [Clean, Loss, Ecn, Blackout, Reordering, Halved, Raised];

impl PathKind {
    fn name(self) -> &'static str {
        match self {
            Clean => "clean",
            Loss => "1 % loss",
            Ecn => "ECN",
            Blackout => "2 s blackout",
            Reordering => "5 % reordering",
            Halved => "capacity halved",
            Raised => "MTU raised",
        }
    }

    /// Twice the megabytes in Mbit/s, 40 ms, a buffer of one bandwidth-delay product; time
    /// enough even for Nice, which has no flow to yield to, on a path that loses packets at random
    /// and sends a packet every few round trips, where the stack applies the pacing rate.
    fn scenario(self, controller: &str) -> Scenario {
        let rate = 2 * megabytes();
        // Packets leave one such gap after the other.
        let gap_ms = 1228.0 * 8.0 / (rate as f64 * 1e3);
        let link = match self {
            Loss => "loss_percent = 1".to_owned(),
            Ecn => format!("queue = {{ kind = \"step\", threshold_packets = {} }}", (rate * 2 / 5).max(5)),
            // One in twenty is overtaken by the next.
            Reordering => format!("jitter_ms = {}\nreorder = true", 1.46 * gap_ms),
            _ => String::new(),
        };
        let change = |at_s: u32, key: String| format!("[[dumbbell.change]]\nat_s = {at_s}\n{key}\n");
        let changes = match self {
            Blackout => change(2, "loss_percent = 100".to_owned()) + &change(4, "loss_percent = 0".to_owned()),
            Halved => change(2, format!("rate_mbps = {}", rate / 2)),
            _ => String::new(),
        };
        let keys = match self {
            Ecn => "ecn = true",
            Raised => "discover_packet_bytes = 4000",
            _ => "",
        };
        let text = format!(
            "duration_s = 30_000\nsample_ms = 100_000\n\
             [dumbbell]\nrate_mbps = {rate}\nrtt_ms = 40\nbuffer_bdp = 1\n{link}\n{changes}\n\
             [[flow]]\ncontroller = {controller:?}\nack = \"delayed\"\ntransfer_bytes = {}\n{keys}",
            megabytes() * 1_000_000
        );
        Scenario::read(self.name(), &text, None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Carries a transfer, logged below `logs`.
    fn carry(self, stack: Runner, controller: &str, logs: &Path) -> Result<FlowOutcome, RunError> {
        let settings = LogSettings { detail: LogDetail::Recovery, profile: Profile::Ietf };
        let mut logs = Logs::create(settings, logs, self.name(), controller, stack.name()).unwrap();
        Ok(stack.run(&self.scenario(controller), Some(&mut logs), &|_| false)?.flows.remove(0))
    }
}

/// The datagram sizes in the logs below `directory`, in their order.
fn sizes(directory: &Path) -> Vec<u64> {
    let mut sizes = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sizes.extend(self::sizes(&path));
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for line in text.lines().filter(|line| line.contains("quic:mtu_updated")) {
            let event: serde_json::Value = serde_json::from_str(line.trim_start_matches('\u{1e}')).unwrap();
            sizes.push(event["data"]["new"].as_u64().unwrap());
        }
    }
    sizes
}

/// Result of a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// All bytes arrived, unchanged.
    Whole,
    /// Whole, but back at small datagrams after they had been raised.
    FellBack,
}

/// Runs one transfer and judges it.
fn examine(stack: Runner, controller: &str, path: PathKind) -> Result<Cell, String> {
    let at = format!("{controller} on {}, {}", stack.name(), path.name());
    let logs = tempfile::tempdir().unwrap();
    let flow = path.carry(stack, controller, logs.path()).map_err(|error| format!("{at}: {error:?}"))?;
    // The run itself compares the hashes of what was sent and what arrived.
    if !flow.completed || flow.sha256.is_none() {
        return Err(format!("{at}: not done after {:.0} s at {:.3} Mbit/s", flow.stop_s, flow.goodput_mbps));
    }
    let sizes = sizes(logs.path());
    let few = flow.packets_sent < megabytes() * 500;
    match (path, sizes.iter().max(), sizes.last()) {
        (Raised, Some(3900..), Some(3900..)) if few => Ok(Cell::Whole),
        // s2n-quic takes the loss of large datagrams that left before the last raise was
        // confirmed for a sign that none get through (docs/s2n-quic.md).
        (Raised, Some(1300..), Some(1200)) if stack.name() == "s2n-quic" => Ok(Cell::FellBack),
        // So does noq of losses in which each datagram is a few bytes larger than those that
        // arrive (docs/fault-matrix.md).
        (Raised, Some(3900..), Some(1200)) if (stack.name(), controller) == ("noq", "aimd") => Ok(Cell::FellBack),
        (Raised, ..) => Err(format!("{at}: {} packets of {sizes:?} bytes", flow.packets_sent)),
        (_, None, None) if !few => Ok(Cell::Whole),
        _ => Err(format!("{at}: {} packets of {sizes:?} bytes, though they must not grow", flow.packets_sent)),
    }
}

/// Runs every cell of `stack`, prints how many came out how, and says what is wrong.
pub fn matrix(stack: Runner) {
    let names = Algorithm::ALL.iter().map(|entry| (entry.name, (entry.default)().needs()));
    let (able, unable): (Vec<_>, Vec<_>) = names.partition(|(_, needs)| stack.provides().contains(*needs));
    assert!(able.len() > unable.len());
    let cells: Vec<(&str, PathKind)> =
        PATHS.iter().flat_map(|path| able.iter().map(|(name, _)| (*name, *path))).collect();
    let results: Vec<_> = cells.par_iter().map(|(name, path)| (*path, examine(stack, name, *path))).collect();
    for path in PATHS {
        let count = |cell: Cell| results.iter().filter(|(at, result)| *at == path && *result == Ok(cell)).count();
        let (whole, back) = (count(Cell::Whole), count(Cell::FellBack));
        let back = if back > 0 { format!(", {back} back at 1200 bytes") } else { String::new() };
        println!("| {} | {} | {whole} whole{back} | {} refused |", stack.name(), path.name(), unable.len());
    }
    let wrong: Vec<&String> = results.iter().filter_map(|(_, result)| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let logs = tempfile::tempdir().unwrap();
    for (name, _) in unable {
        let Err(error) = Clean.carry(stack, name, logs.path()) else { panic!("{} runs {name}", stack.name()) };
        let reason = error.to_string();
        let expected = format!("flow \"flow1\": {name} needs ");
        assert!(
            reason.starts_with(&expected) && reason.contains(&format!("; {} does not report", stack.name())),
            "{reason}"
        );
    }
}

const PACKET: f64 = 1200.0;
/// Bytes of a packet that are not the application's.
const HEADERS: f64 = 33.0;
const RTT_S: f64 = 0.04;

/// Probes of a timeout (`RFC 9002 §6.2.4`).
const PROBES: f64 = 2.0;

fn examine_window(stack: Runner, packets: u32) {
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
        examine_window(stack, packets);
    }
}
