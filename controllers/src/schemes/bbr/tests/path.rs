//! A link with a buffer, a paced sender and an ACK per packet: the least that lets the
//! whole machine run.

use std::collections::VecDeque;
use std::vec::Vec;

use super::*;
use crate::event::PacketsLost;

/// One bottleneck.
pub struct Path {
    /// Bytes/s.
    pub rate: f64,
    /// Round-trip time without a queue.
    pub base: Span,
    /// Bytes the queue holds.
    pub buffer: f64,
}

/// How a run went.
pub struct Run {
    modes: Vec<BbrState>,
    /// Bytes/s over all of it.
    pub goodput: f64,
    /// Bytes, over the ACKs of the second half.
    pub mean_queue: f64,
    /// Share of the packets.
    pub lost: f64,
    pub probe_rtts: u32,
}

impl Run {
    pub fn seen(&self, mode: BbrState) -> bool {
        self.modes.contains(&mode)
    }
}

/// A packet under way; lost ones are found out when the next would have come.
struct Flying {
    sent: u64,
    back: u64,
    dropped: bool,
    delivery: Delivery,
    in_flight: u64,
}

impl Path {
    pub fn bdp(&self) -> f64 {
        self.rate * self.base.secs()
    }

    pub fn run(&self, params: &Params, seconds: f64) -> Run {
        let size = u64::from(MTU);
        let service = (1e9 * PACKET / self.rate) as u64;
        let end = (1e9 * seconds) as u64;
        let mut state = Bbr::start(params, &PATH);
        let mut run = Run { modes: Vec::new(), goodput: 0.0, mean_queue: 0.0, lost: 0.0, probe_rtts: 0 };
        let (mut now, mut next_send, mut free_at) = (0u64, 0u64, 0u64);
        let mut flying: VecDeque<Flying> = VecDeque::new();
        let (mut delivered, mut delivered_at, mut first_sent_at, mut lost_bytes) = (0u64, 0u64, 0u64, 0u64);
        let (mut sent, mut dropped, mut queue_sum, mut queue_count, mut least) = (0u64, 0u64, 0.0, 0u32, u64::MAX);
        while now < end {
            let decision = state.decision(params);
            let in_flight = flying.len() as u64 * size;
            let back = flying.front().map(|packet| packet.back);
            if in_flight + size <= decision.cwnd && back.is_none_or(|back| next_send <= back) {
                now = now.max(next_send);
                if flying.is_empty() {
                    (delivered_at, first_sent_at) = (now, now);
                }
                next_send = now + (8e9 * PACKET / decision.pacing_rate.unwrap_or(1) as f64) as u64;
                let queue = free_at.saturating_sub(now) as f64 / service as f64 * PACKET;
                let drop = queue + PACKET > self.buffer;
                if !drop {
                    free_at = free_at.max(now) + service;
                }
                let delivery = Delivery {
                    delivered,
                    delivered_at: Time(delivered_at),
                    first_sent_at: Time(first_sent_at),
                    lost: lost_bytes,
                    app_limited: false,
                };
                let back = free_at.max(now) + self.base.0;
                flying.push_back(Flying { sent: now, back, dropped: drop, delivery, in_flight: in_flight + size });
                sent += 1;
                continue;
            }
            let Some(packet) = flying.pop_front() else { break };
            now = now.max(packet.back);
            let left = flying.len() as u64 * size;
            let kind = if packet.dropped {
                dropped += 1;
                lost_bytes += size;
                EventKind::PacketsLost(PacketsLost {
                    in_flight_before: left + size,
                    in_flight: left,
                    ..lost(Time(packet.sent))
                })
            } else {
                delivered += size;
                (delivered_at, first_sent_at) = (now, packet.sent);
                let rtt = now - packet.sent;
                least = least.min(rtt);
                if now > end / 2 {
                    queue_sum += (rtt - self.base.0) as f64 * self.rate / 1e9;
                    queue_count += 1;
                }
                let mut delivery = packet.delivery;
                delivery.lost = lost_bytes - delivery.lost;
                EventKind::PacketsAcked(PacketsAcked {
                    delivered,
                    newest_in_flight: Some(packet.in_flight),
                    in_flight_before: left + size,
                    in_flight: left,
                    rtt: Some(crate::event::RttSample { min: Span(least), ..testkit::rtt(Span(rtt)) }),
                    delivery: Some(delivery),
                    ..acked(1, Time(packet.sent))
                })
            };
            let before = state.state;
            state = testkit::step::<Bbr>(params, state, Time(now), kind);
            run.probe_rtts += u32::from(before != BbrState::ProbeRtt && state.state == BbrState::ProbeRtt);
            if !run.modes.contains(&state.state) {
                run.modes.push(state.state);
            }
        }
        run.goodput = delivered as f64 / seconds;
        run.lost = dropped as f64 / sent as f64;
        run.mean_queue = queue_sum / f64::from(queue_count.max(1));
        run
    }
}
