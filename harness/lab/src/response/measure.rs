//! Measuring a response function.

use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

use super::law::{Cycle, Law};

/// A point of a response function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Packets per loss: one of so many is lost.
    pub distance: u64,
    /// Mean packets per round trip as measured.
    pub measured: f64,
    /// The cycle by the closed form.
    pub cycle: Cycle,
}

impl Point {
    /// The share of packets lost, 0 to 1.
    #[must_use]
    pub fn loss(&self) -> f64 {
        1.0 / self.distance as f64
    }
}

const RTT_S: f64 = 0.1;
const PACKET_BYTES: f64 = 1200.0;
/// Share of the time series that is left out at its beginning.
const SETTLING: f64 = 1.0 / 3.0;
const SAMPLES: f64 = 600.0;

/// Runs the controller of `law` on a path without a bottleneck that loses one packet of
/// every `distance`, at equal distances as the closed forms assume, beginning at the window
/// the closed form gives and for so many of its cycles.
///
/// # Panics
/// Never: the scenario is a valid one.
#[must_use]
pub fn measure(law: &Law, distance: u64) -> Point {
    let loss = 1.0 / distance as f64;
    let cycle = (law.cycle)(loss);
    let cycles = cycles(distance);
    let duration = cycles as f64 * distance as f64 / cycle.window * RTT_S;
    let separator = if law.controller.contains(':') { ',' } else { ':' };
    let threshold = cycle.with_recovery / f64::from(law.flows);
    let controller = format!("{}{separator}ssthresh={threshold}", law.controller);
    let drops: Vec<String> = (1..=2 * cycles).map(|cycle| (cycle * distance).to_string()).collect();
    let group = if law.flows > 1 { "group = \"all\"" } else { "" };
    let text = format!(
        "duration_s = {duration}\nsample_ms = {}\npacket_bytes = {PACKET_BYTES}\noverhead_bytes = 0\n\
         [dumbbell]\nrate_mbps = 1e8\nrtt_ms = {}\ndrop_arrivals = [{}]\n\
         [[flow]]\ncontroller = \"under-test\"\ncount = {}\n{group}\n",
        1000.0 * duration / SAMPLES,
        1000.0 * RTT_S,
        drops.join(", "),
        law.flows,
    );
    let scenario = Scenario::read("response", &text, Some(&controller)).unwrap_or_else(|error| panic!("{error}"));
    let outcome = sim::run(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let rate = |series: &[f64]| {
        let settled = &series[(SETTLING * series.len() as f64) as usize..];
        settled.iter().sum::<f64>() / settled.len() as f64
    };
    let mbps: f64 = outcome.flows.iter().map(|flow| rate(&flow.series.goodput_mbps)).sum();
    let measured = mbps * 1e6 / (8.0 * PACKET_BYTES) * RTT_S;
    Point { distance, measured, cycle }
}

/// How many losses a run sees: fewer where each takes long.
fn cycles(distance: u64) -> u64 {
    (6_000_000 / distance).clamp(8, 30)
}
