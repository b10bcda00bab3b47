//! What RFC 9002 keeps beside a window: RTT estimates (§5.3) and persistent congestion (§7.6).

use windlass_controllers::{Span, Time};

use crate::{Changes, Frame, Packet, Sample};

/// Estimates of the round-trip time, seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    pub latest: f64,
    pub smoothed: f64,
    pub variation: f64,
    pub min: f64,
    pub first_sample: Option<Time>,
}

impl Rtt {
    pub fn new() -> Rtt {
        // §5.3 "Before any RTT samples are available for a new path or when the estimator is reset, the estimator is
        // initialized using the initial RTT": §6.2.2 "SHOULD be set to 333 milliseconds".
        Rtt { latest: 0.0, smoothed: 0.333, variation: 0.1665, min: 0.0, first_sample: None }
    }

    pub fn on_sample(&mut self, now: Time, sample: &Sample) {
        self.latest = sample.latest.secs();
        let Some(_) = self.first_sample else {
            // §5.3 "On the first RTT sample after initialization, the estimator is reset using that sample":
            // smoothed_rtt = latest_rtt, rttvar = latest_rtt / 2; §5.2 min_rtt MUST be set to the latest RTT.
            self.first_sample = Some(now);
            (self.smoothed, self.variation, self.min) = (self.latest, self.latest / 2.0, self.latest);
            return;
        };
        // §5.2 "min_rtt MUST be set to the lesser of min_rtt and latest_rtt on all other samples".
        self.min = self.min.min(self.latest);
        // §5.3 "ack_delay = min(Ack Delay in ACK Frame, max_ack_delay)", "adjusted_rtt = latest_rtt; if (latest_rtt >=
        // min_rtt + ack_delay): adjusted_rtt = latest_rtt - ack_delay".
        let ack_delay = sample.ack_delay.secs().min(0.025);
        let adjusted = if self.latest >= self.min + ack_delay { self.latest - ack_delay } else { self.latest };
        // §5.3 "rttvar = 3/4 * rttvar + 1/4 * abs(smoothed_rtt - adjusted_rtt)".
        self.variation = 0.75 * self.variation + 0.25 * (self.smoothed - adjusted).abs();
        // §5.3 "smoothed_rtt = 7/8 * smoothed_rtt + 1/8 * adjusted_rtt".
        self.smoothed = 0.875 * self.smoothed + 0.125 * adjusted;
    }

    /// §6.2.1 "PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay".
    pub fn pto(&self) -> f64 {
        self.smoothed + (4.0 * self.variation).max(0.001) + 0.025
    }
}

/// Packets lost and acknowledged, for persistent congestion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    lost: Vec<Packet>,
    acked: Vec<u64>,
}

impl Losses {
    /// Whether the frame establishes persistent congestion.
    pub fn establishes(&mut self, frame: &Frame<'_>, rtt: &Rtt, changes: &Changes) -> bool {
        self.acked.extend(frame.acked.iter().chain(frame.late).map(|packet| packet.pn));
        for late in frame.late {
            self.lost.retain(|packet| packet.pn != late.pn);
        }
        let Some(first_sample) = rtt.first_sample else { return false };
        // §7.6.1 "(smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay) * kPersistentCongestionThreshold", which
        // §7.6.1 recommends to be 3.
        let threshold = if changes.has("persistent after two") { 2.0 } else { 3.0 };
        let duration = Span::from_secs_f64(rtt.pto() * threshold);
        let mut established = false;
        for packet in frame.lost {
            // §7.6.2 "a prior RTT sample existed when these two packets were sent".
            if packet.sent_at <= first_sample {
                continue;
            }
            // §7.6.2 "across all packet number spaces, none of the packets sent between the send times of these two
            // packets are acknowledged", "the duration between the send times of these two packets exceeds the
            // persistent congestion duration".
            established |= self.lost.iter().rev().any(|earlier| {
                packet.sent_at.since(earlier.sent_at).0 > duration.0 + 10
                    && !self.acked.iter().any(|pn| (earlier.pn..packet.pn).contains(pn))
            });
            self.lost.push(*packet);
        }
        if established {
            self.lost.clear();
        }
        established
    }
}
