//! One run, and what is read off it.

use serde::{Deserialize, Serialize};

use crate::grid::{Cell, Failure, NoOutcome, Reading, read_off};
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_stacks::RunError;

/// What is read off a run. Its own flows are those of the controller that is evaluated; goodput and queue are of the
/// second half.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured {
    /// It ran.
    Run(Numbers),
    /// It was ended, since its flows had far more packets under way than the path holds.
    Runaway {
        /// What was under way.
        runaway: String,
    },
    /// The stack cannot run it, or failed.
    Not {
        /// Why.
        not_run: String,
    },
}

/// Numbers of a run; `None` where it has no such flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Numbers {
    /// Goodput of its own flows, Mbit/s.
    pub own_mbps: f64,
    /// Goodput of the other flow, Mbit/s.
    pub other_mbps: Option<f64>,
    /// Jain's index of its own flows; 0 where none got anything.
    pub jain: f64,
    /// Packets that its own flows sent.
    pub sent: u64,
    /// Packets that its own flows took for lost.
    pub lost: u64,
    /// Share of what its own flows sent that was not needed or did not arrive, 0 to 1.
    pub wasted: f64,
    /// Mean RTT of its own flows, ms.
    pub rtt_ms: Option<f64>,
    /// Mean RTT of the other flow, ms.
    pub other_rtt_ms: Option<f64>,
    /// Mean window of its own flows, packets.
    pub cwnd: f64,
    /// Share of the packets that the bottleneck dropped, 0 to 1.
    pub dropped: f64,
    /// Mean time that a packet waits at the bottleneck's nominal rate, ms.
    pub queue_ms: f64,
    /// Mean time that short flows took, or had when the run ended, s.
    pub short_s: Option<f64>,
    /// Frames of the video in 95 % of cases took no longer, or as long as the run where one in twenty never came, ms.
    pub frame_ms: Option<f64>,
}

/// Runs `cell`, whose bottleneck sends a packet in `packet_s` s, and reads it off. `stop` gets the part of the run that is
/// done, 0 to 1, and returns whether to give up.
///
/// # Errors
/// Stopped. Whatever else goes wrong is part of what is read.
pub fn measure(cell: &Cell, packet_s: f64, stop: &dyn Fn(f64) -> bool) -> Result<Reading<Measured>, Failure> {
    let of = |scenario: &Scenario, outcome: &Outcome| {
        let bytes = scenario.flows.first().map_or(1, |flow| flow.packet_bytes - flow.header_bytes);
        Measured::Run(Numbers::of(outcome, packet_s, bytes))
    };
    read_off(cell, stop, of, |reason| match reason {
        NoOutcome::Failed(RunError::Runaway(runaway)) => Measured::Runaway {
            runaway: format!("{} packets are under way after {:.1} s", runaway.packets, runaway.at_s),
        },
        reason => Measured::Not { not_run: reason.to_string() },
    })
}

impl Numbers {
    /// Reads `outcome`, of a run with so many `bytes` of the application's in a packet, which the bottleneck sends in
    /// `packet_s` s.
    #[must_use]
    pub fn of(outcome: &Outcome, packet_s: f64, bytes: u32) -> Numbers {
        let flows = |name: &'static str| outcome.flows.iter().filter(move |flow| flow.name.starts_with(name));
        let half = outcome.duration_s / 2.0;
        let late = |flow: &FlowOutcome| {
            let points = flow.series.time_s.windows(2).zip(flow.series.goodput_mbps.iter().skip(1));
            let megabits = points.map(|(times, mbps)| mbps * (times[1] - times[0].max(half)).max(0.0));
            megabits.sum::<f64>() / half
        };
        let own: Vec<f64> = flows("own").map(late).collect();
        let (sum, squares) = own.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let (sent, lost) = flows("own").fold((0, 0), |(sent, lost), f| (sent + f.packets_sent, lost + f.packets_lost));
        let arrived: f64 = flows("own").map(|flow| flow.goodput_mbps * (flow.stop_s - flow.start_s) * 1e6 / 8.0).sum();
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let (count, sum) = values.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
            (count > 0).then(|| sum / f64::from(count))
        };
        let queue = outcome.queues.first();
        let waiting = queue.map(|queue| queue.series.time_s.iter().zip(&queue.series.packets));
        let mut waiting = waiting.into_iter().flatten().filter(|(at, _)| **at >= half).map(|(_, packets)| *packets);
        let queue_packets = mean(&mut waiting).unwrap_or(0.0);
        let shares = queue.map(|queue| (queue.packets_dropped, queue.packets_dropped + queue.packets_forwarded));
        let frame_ms = flows("video").find_map(|flow| flow.frames).map(|frames| {
            let missing = frames.written.saturating_sub(frames.delivered) * 20 > frames.written;
            let run = outcome.duration_s * 1e3;
            frames.delay_p95_ms.filter(|_| !missing).unwrap_or(run)
        });
        Numbers {
            own_mbps: sum,
            other_mbps: flows("other").map(late).next(),
            jain: if squares > 0.0 { sum * sum / (own.len() as f64 * squares) } else { 0.0 },
            sent,
            lost,
            wasted: if sent > 0 { (1.0 - arrived / (sent as f64 * f64::from(bytes))).max(0.0) } else { 0.0 },
            rtt_ms: mean(&mut flows("own").filter_map(|flow| flow.rtt_mean_ms)),
            other_rtt_ms: flows("other").find_map(|flow| flow.rtt_mean_ms),
            cwnd: flows("own").map(|flow| flow.cwnd_mean_packets).sum(),
            dropped: shares.map_or(0.0, |(dropped, all)| dropped as f64 / all.max(1) as f64),
            queue_ms: queue_packets * packet_s * 1e3,
            short_s: mean(&mut flows("short").map(|flow| flow.stop_s - flow.start_s)),
            frame_ms,
        }
    }
}
