//! Measures of a connection.

use std::collections::BTreeMap;

use serde::Serialize;

use super::limited::LimitedTimes;
use super::statistics::Quantiles;

/// Source of the number of losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LossSource {
    /// The trace has the packets declared lost, or their number.
    Logged,
    /// By the thresholds of `RFC 9002 §6.1`, from packets sent and acknowledged.
    Inferred,
}

impl LossSource {
    /// Name in reports and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LossSource::Logged => "logged",
            LossSource::Inferred => "inferred",
        }
    }
}

/// A quantity over time: its mean weighted by how long each value held, its extremes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Level {
    /// Mean, weighted by the time each value held.
    pub mean: f64,
    /// Smallest value, in the quantity's unit.
    pub min: f64,
    /// Largest value, in the quantity's unit.
    pub max: f64,
}

/// Measures of one connection. `None` where the trace lacks what is needed.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Measures {
    /// The congestion controller, where the trace names it.
    pub controller: Option<String>,
    /// The first address of the other end in the trace.
    pub peer: Option<String>,
    /// Number of events, those of unknown kinds included.
    pub events: u64,
    /// From the first event to the last, s.
    pub duration: f64,
    /// Number of packets sent; `None` if the trace has none.
    pub packets_sent: Option<u64>,
    /// Packets received; `None` if the trace has none.
    pub packets_received: Option<u64>,
    /// Bytes of packets sent, where their sizes are logged.
    pub bytes_sent: Option<u64>,
    /// Bytes of packets received, where their sizes are logged.
    pub bytes_received: Option<u64>,
    /// Bytes sent per time from the first packet to the last, Mbit/s.
    pub throughput: Option<f64>,
    /// Stream data that the peer acknowledged, each byte once, per time, Mbit/s.
    pub goodput: Option<f64>,
    /// Stream data received, each byte once, per time, Mbit/s.
    pub received_goodput: Option<f64>,
    /// Packets that left together in the mean, less than 0.05 ms after the one before.
    pub burst_mean: Option<f64>,
    /// The most packets that left together.
    pub burst_max: Option<u64>,
    /// Packets declared lost, logged or inferred.
    pub packets_lost: Option<u64>,
    /// Source of `packets_lost`; `None` with it.
    pub losses: Option<LossSource>,
    /// Of them, those that were acknowledged after all.
    pub packets_spurious: Option<u64>,
    /// Packets declared lost per packets sent, percent.
    pub loss: Option<f64>,
    /// Packets declared lost but acknowledged per packets declared lost, percent.
    pub spurious: Option<f64>,
    /// CE marks that the peer reported; `None` if no ECN counts are logged.
    pub marks: Option<u64>,
    /// Probe timeouts that fired; `None` if none can be seen in the trace.
    pub timeouts: Option<u64>,
    /// RTT samples, ms; `None` if the trace logs none.
    pub rtt: Option<Quantiles>,
    /// RTTs as logged, ms, where acknowledgements show others: those are [`rtt`](Measures::rtt).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_logged: Option<Quantiles>,
    /// RTT samples above the least of them, ms.
    pub queueing: Option<Quantiles>,
    /// Congestion window, bytes; `None` if the trace logs none.
    pub cwnd: Option<Level>,
    /// How often the window became smaller; `None` if the trace logs none.
    pub reductions: Option<u64>,
    /// The last slow start threshold, bytes.
    pub ssthresh: Option<f64>,
    /// Bytes in flight; `None` if neither logged nor to be counted.
    pub in_flight: Option<Level>,
    /// Pacing rate, Mbit/s; `None` if the trace logs none.
    pub pacing_rate: Option<Level>,
    /// Time in each congestion state, s.
    pub states: BTreeMap<String, f64>,
    /// Mean duration of a recovery period, s.
    pub recovery_time: Option<f64>,
    /// How long it took in the mean until the window was again what it was before a
    /// reduction, s.
    pub regain_time: Option<f64>,
    /// After what time the goodput stayed near what it came to, s.
    pub settled_after: Option<f64>,
    /// Share of the time the sender had too little to send, percent.
    pub app_limited: Option<f64>,
    /// What kept the sender from sending; `None` if the window or the bytes in flight are not known.
    pub limited: Option<LimitedTimes>,
    /// `DATA_BLOCKED`, `STREAM_DATA_BLOCKED` and kin of both ends; `None` if frames are not logged.
    pub blocked: Option<u64>,
}

/// Reads one column of measures.
type Get = fn(&Measures) -> Option<f64>;

impl Measures {
    /// A doubt about the measures, a sentence for the user.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        let (shown, logged) = self.rtt.zip(self.rtt_logged)?;
        Some(format!(
            "its RTTs are {:.2} ms as logged (median), {:.2} ms by its packets and their acknowledgements, which are taken",
            logged.p50, shown.p50
        ))
    }

    /// The columns of a table of measures: name with unit, and value. Names are stable.
    pub const COLUMNS: &'static [(&'static str, Get)] = &[
        ("duration_s", |m| Some(m.duration)),
        ("packets_sent", |m| count(m.packets_sent)),
        ("packets_received", |m| count(m.packets_received)),
        ("bytes_sent", |m| m.bytes_sent.map(|bytes| bytes as f64)),
        ("bytes_received", |m| m.bytes_received.map(|bytes| bytes as f64)),
        ("throughput_mbps", |m| m.throughput),
        ("goodput_mbps", |m| m.goodput),
        ("received_goodput_mbps", |m| m.received_goodput),
        ("burst_mean_packets", |m| m.burst_mean),
        ("burst_max_packets", |m| m.burst_max.map(|packets| packets as f64)),
        ("packets_lost", |m| count(m.packets_lost)),
        ("packets_spurious", |m| count(m.packets_spurious)),
        ("loss_percent", |m| m.loss),
        ("spurious_percent", |m| m.spurious),
        ("marks", |m| count(m.marks)),
        ("timeouts", |m| count(m.timeouts)),
        ("rtt_samples", |m| m.rtt.map(|rtt| rtt.samples as f64)),
        ("rtt_min_ms", |m| m.rtt.map(|rtt| rtt.min)),
        ("rtt_mean_ms", |m| m.rtt.map(|rtt| rtt.mean)),
        ("rtt_p50_ms", |m| m.rtt.map(|rtt| rtt.p50)),
        ("rtt_p90_ms", |m| m.rtt.map(|rtt| rtt.p90)),
        ("rtt_p95_ms", |m| m.rtt.map(|rtt| rtt.p95)),
        ("rtt_p99_ms", |m| m.rtt.map(|rtt| rtt.p99)),
        ("rtt_max_ms", |m| m.rtt.map(|rtt| rtt.max)),
        ("queueing_mean_ms", |m| m.queueing.map(|delay| delay.mean)),
        ("queueing_p50_ms", |m| m.queueing.map(|delay| delay.p50)),
        ("queueing_p90_ms", |m| m.queueing.map(|delay| delay.p90)),
        ("queueing_p95_ms", |m| m.queueing.map(|delay| delay.p95)),
        ("queueing_p99_ms", |m| m.queueing.map(|delay| delay.p99)),
        ("queueing_max_ms", |m| m.queueing.map(|delay| delay.max)),
        ("cwnd_mean_bytes", |m| m.cwnd.map(|cwnd| cwnd.mean)),
        ("cwnd_min_bytes", |m| m.cwnd.map(|cwnd| cwnd.min)),
        ("cwnd_max_bytes", |m| m.cwnd.map(|cwnd| cwnd.max)),
        ("reductions", |m| count(m.reductions)),
        ("ssthresh_last_bytes", |m| m.ssthresh),
        ("in_flight_mean_bytes", |m| m.in_flight.map(|bytes| bytes.mean)),
        ("in_flight_max_bytes", |m| m.in_flight.map(|bytes| bytes.max)),
        ("pacing_mean_mbps", |m| m.pacing_rate.map(|rate| rate.mean)),
        ("pacing_min_mbps", |m| m.pacing_rate.map(|rate| rate.min)),
        ("pacing_max_mbps", |m| m.pacing_rate.map(|rate| rate.max)),
        ("slow_start_s", |m| m.state("slow_start")),
        ("congestion_avoidance_s", |m| m.state("congestion_avoidance")),
        ("recovery_s", |m| m.state("recovery")),
        ("other_states_s", Measures::other_states),
        ("recovery_time_s", |m| m.recovery_time),
        ("regain_time_s", |m| m.regain_time),
        ("settled_after_s", |m| m.settled_after),
        ("app_limited_percent", |m| m.app_limited),
        ("limited_by_window_percent", |m| m.limited.map(|by| by.window)),
        ("limited_by_application_percent", |m| m.limited.map(|by| by.application)),
        ("limited_by_flow_control_percent", |m| m.limited.map(|by| by.flow_control)),
        ("limited_by_pacer_percent", |m| m.limited.map(|by| by.pacer)),
        ("blocked_frames", |m| count(m.blocked)),
    ];

    /// Time in states that have no column of their own, s.
    fn other_states(&self) -> Option<f64> {
        let other = self.states.iter().filter(|(name, _)| !Self::STATES.contains(&name.as_str()));
        (!self.states.is_empty()).then(|| other.fold(0.0, |sum, (_, time)| sum + time))
    }

    /// The states that have a column.
    const STATES: [&str; 3] = ["slow_start", "congestion_avoidance", "recovery"];

    /// Time in a congestion state, s; `None` if states are not logged.
    fn state(&self, name: &str) -> Option<f64> {
        (!self.states.is_empty()).then(|| self.states.get(name).copied().unwrap_or(0.0))
    }
}

/// A count as a column holds it.
fn count(count: Option<u64>) -> Option<f64> {
    count.map(|count| count as f64)
}
