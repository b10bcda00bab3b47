//! What a run yields, whichever stack ran it: numbers per flow and per queue, and
//! series to plot.

use serde::{Deserialize, Serialize};

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Name of the scenario, as in its file.
    pub scenario: String,
    /// What ran it: `sim` or the name of a real stack.
    pub stack: String,
    /// Seed of all random numbers of the run.
    pub seed: u64,
    /// Simulated time, s.
    pub duration_s: f64,
    /// The flows, in the scenario's order.
    pub flows: Vec<FlowOutcome>,
    /// The queues worth looking at, in the scenario's order.
    pub queues: Vec<QueueOutcome>,
}

/// One flow's result. Means are over the time the flow was active.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowOutcome {
    /// Name, unique in the run.
    pub name: String,
    /// Controller as a user types it; empty for uncontrolled traffic.
    pub controller: String,
    /// Time the flow started, s.
    pub start_s: f64,
    /// Time at which it stopped or the run ended, s.
    pub stop_s: f64,
    /// Application bytes delivered in order or not, each once, Mbit/s.
    pub goodput_mbps: f64,
    /// Packets sent, probes and retransmissions included.
    pub packets_sent: u64,
    /// Packets the sender declared lost.
    pub packets_lost: u64,
    /// Packets the receiver saw with a CE mark.
    pub packets_marked: u64,
    /// Congestion responses: entries into recovery.
    pub congestion_events: u64,
    /// Mean of the RTT samples, ms; `None` without any.
    pub rtt_mean_ms: Option<f64>,
    /// 95th percentile of the RTT samples, ms.
    pub rtt_p95_ms: Option<f64>,
    /// Smallest RTT sample, ms.
    pub rtt_min_ms: Option<f64>,
    /// Time-weighted mean of the congestion window, packets.
    pub cwnd_mean_packets: f64,
    /// SHA-256 of the application bytes the receiver got, hex; stacks that move real
    /// bytes only. The run fails unless it equals the sender's.
    pub sha256: Option<String>,
    /// Whether it transferred all it had to.
    #[serde(default)]
    pub completed: bool,
    /// Of a set of dynamic flows, whose numbers are those of all its flows together: how its transfers
    /// went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfers: Option<Transfers>,
    /// Of an application that writes frames: how they went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameOutcome>,
    /// Of a client that asks for a video in chunks: what its user saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoOutcome>,
    /// Window, goodput and RTT over time.
    pub series: FlowSeries,
}

/// The transfers of a set of dynamic flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transfers {
    /// Number of transfers that began.
    pub started: u64,
    /// How many were complete before the run ended or they had to stop.
    pub completed: u64,
    /// Mean time these took, s; `None` without any.
    pub mean_s: Option<f64>,
    /// Half of these took no longer than this, s.
    pub median_s: Option<f64>,
    /// 95 % of these took no longer than this, s.
    pub p95_s: Option<f64>,
}

/// The frames of a video.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameOutcome {
    /// Frames the application wrote.
    pub written: u64,
    /// How many of them the receiver has, with all before them.
    pub delivered: u64,
    /// How many took longer than the flow's `frame_late_ms`, or are not there by then.
    pub late: u64,
    /// From a frame's writing to its arrival took no longer than this for half of them, ms; `None` without any.
    pub delay_median_ms: Option<f64>,
    /// 95 % of them took no longer than this, ms.
    pub delay_p95_ms: Option<f64>,
    /// 99 % of them took no longer than this, ms.
    pub delay_p99_ms: Option<f64>,
    /// Mean rate of what an encoder wrote that follows the estimated send rate, Mbit/s; `None` of another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoded_mbps: Option<f64>,
    /// Of a media object sequence, whose objects the frames are, each delivered with all before it in its group: what
    /// became of its groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectOutcome>,
}

/// The groups of a media object sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectOutcome {
    /// Groups that began.
    pub groups: u64,
    /// How many of them were reset by the delivery timeout.
    pub groups_dropped: u64,
    /// Objects of these that were not delivered. They do not count as late.
    pub dropped: u64,
    /// Objects neither delivered nor dropped when the flow ended.
    pub pending: u64,
    /// Bytes of delivered objects, Mbit/s from the first object on; `None` without time.
    pub goodput_mbps: Option<f64>,
}

/// A video in chunks, as its client plays it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VideoOutcome {
    /// Chunks it has.
    pub chunks: u64,
    /// Time from its first request until it could play, s; `None` if it never could.
    pub startup_s: Option<f64>,
    /// How often it had nothing to play, after it began.
    pub stalls: u64,
    /// How long that was in all, s.
    pub stalled_s: f64,
    /// How often a chunk had another rate than the one before.
    pub switches: u64,
    /// Mean rate of the chunks, Mbit/s; `None` without any.
    pub rate_mbps: Option<f64>,
}

/// A flow over time: columns of equal length, sampled at equal distances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSeries {
    /// Times of the points, s.
    pub time_s: Vec<f64>,
    /// Congestion window, packets.
    pub cwnd_packets: Vec<f64>,
    /// Mean RTT sample since the previous point, ms; `None` without any.
    pub rtt_ms: Vec<Option<f64>>,
    /// Goodput since the previous point, Mbit/s.
    pub goodput_mbps: Vec<f64>,
    /// The estimated send rate, Mbit/s; `None` before there is one, or where a stack's own controller gives none. Empty for
    /// traffic and for sets of flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub send_rate_mbps: Vec<Option<f64>>,
}

/// Result of one queue of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueOutcome {
    /// Name, unique in the run.
    pub name: String,
    /// Capacity at the end of the run, packets of the scenario's datagram size; 0 without a limit.
    pub limit_packets: f64,
    /// Packets that left the queue for the link.
    pub packets_forwarded: u64,
    /// Packets dropped for lack of room or by active queue management.
    pub packets_dropped: u64,
    /// Packets lost at random on its link.
    pub packets_lost_at_random: u64,
    /// Packets the queue CE-marked.
    pub packets_marked: u64,
    /// Bits sent over bits that could have been sent, 0 to 1.
    pub utilisation: f64,
    /// Time-weighted mean of waiting packets.
    pub mean_packets: f64,
    /// Most packets that ever waited.
    pub max_packets: f64,
    /// Length of the queue over time.
    pub series: QueueSeries,
}

/// A queue over time: columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueSeries {
    /// Times of the points, s.
    pub time_s: Vec<f64>,
    /// Packets waiting at each point.
    pub packets: Vec<f64>,
}
