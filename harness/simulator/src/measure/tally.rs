//! From what was counted of a flow to its result.

use windlass_controllers::Time;

use super::Meter;
use crate::outcome::FlowOutcome;
use crate::scenario::FlowSpec;

/// What a transfer's bytes are identified by.
pub type Hash = [u8; 32];

/// What a real stack's flow came to.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Time of the flow's first packet.
    pub start: Time,
    /// Time the flow was over, or the end of the run.
    pub stop: Time,
    /// Application bytes the receiver had then.
    pub received: u64,
    /// Packets the sender's stack counted as sent.
    pub sent: u64,
    /// Packets the sender declared lost.
    pub lost: u64,
    /// Packets the receiver saw with a CE mark.
    pub marked: u64,
    /// Hash of the bytes delivered.
    pub hash: Hash,
}

/// The result of the flow `spec`, of which `meter` measured the rest.
#[must_use]
pub fn tally(spec: &FlowSpec, numbers: &Tally, meter: &mut Meter) -> FlowOutcome {
    let active = numbers.stop.since(numbers.start).0;
    let received = numbers.received;
    let ms = |ns: f64| ns / 1e6;
    FlowOutcome {
        name: spec.name.clone(),
        controller: spec.controller.clone(),
        start_s: numbers.start.0 as f64 / 1e9,
        stop_s: numbers.stop.0 as f64 / 1e9,
        goodput_mbps: if active == 0 { 0.0 } else { received as f64 * 8e3 / active as f64 },
        packets_sent: numbers.sent,
        packets_lost: numbers.lost,
        packets_marked: numbers.marked,
        congestion_events: meter.congestion_events,
        rtt_mean_ms: meter.rtt.mean().map(ms),
        rtt_p95_ms: meter.rtt.quantile(0.95).map(ms),
        rtt_min_ms: meter.rtt.min().map(|ns| ns as f64 / 1e6),
        cwnd_mean_packets: meter.mean_window(numbers.stop.0, active),
        sha256: Some(hex(&numbers.hash)),
        completed: spec.transfer_bytes.is_some_and(|bytes| received >= bytes),
        transfers: None,
        frames: meter.frames(numbers.stop),
        video: meter.video(numbers.stop),
        series: meter.take_series(),
    }
}

/// The hash in hexadecimal.
#[must_use]
pub fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
