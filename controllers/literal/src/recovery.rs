//! What RFC 9002 keeps beside a window: RTT estimates (§5.3) and persistent congestion (§7.6).

use windlass_controllers::{Span, Time};

use crate::{Changes, Frame, Packet, Reading, Sample, Status};

/// Readings of all schemes with a window of their own.
pub(crate) const OF_WINDOWS: [Reading; 3] = [IDLE_RESTART, FLOOR_OF_THE_NEW_SIZE, ONE_STEP];

/// Readings of all schemes that begin and end as Reno.
pub(crate) const OF_RENOS_WINDOW: [Reading; 3] = [UNDO, IDLE_RESTART, FLOOR_OF_THE_NEW_SIZE];
/// Of those among them that grow as Reno.
pub(crate) const OF_RENOS_GROWTH: [Reading; 2] = [THRESHOLD_FLOOR, ONE_STEP];

const UNDO: Reading = Reading {
    change: "undo",
    section: "RFC 9002 §7.3.2",
    says: "a response stays",
    ours: "a spurious loss takes the latest response back, as RFC 9438 §4.9.2 has it",
    status: Status::Documented,
};
const IDLE_RESTART: Reading = Reading {
    change: "idle restart",
    section: "RFC 9002 §7.8",
    says: "a sender may update its window after idle periods",
    ours: "a window idle for longer than a probe timeout falls back to the initial one (RFC 5681 §4.1), for good",
    status: Status::Documented,
};
const FLOOR_OF_THE_NEW_SIZE: Reading = Reading {
    change: "floor of the new size",
    section: "RFC 9002 §7.2",
    says: "the least window bounds responses to congestion",
    ours: "a larger datagram size raises a window below two of them too",
    status: Status::Documented,
};
const ONE_STEP: Reading = Reading {
    change: "one step",
    section: "RFC 9002 §B.5",
    says: "each packet of an ACK is in slow start or in avoidance, by the window it finds, and grows it by itself",
    ours: "the bytes of an ACK count as full packets up to the threshold, and as one step beyond it",
    status: Status::Documented,
};
pub(crate) const THRESHOLD_FLOOR: Reading = Reading {
    change: "threshold floor",
    section: "RFC 9002 §B.6",
    says: "only the window has a floor of two packets",
    ours: "the threshold has it too, as RFC 5681 §3.1 eq. 4",
    status: Status::Documented,
};

/// Of those whose document ends a timeout with one packet.
pub(crate) const TWO_AFTER_A_TIMEOUT: Reading = Reading {
    change: "two after a timeout",
    section: "RFC 6817 §2.4.2, RFC 8257 §3.5",
    says: "a timeout leaves one packet",
    ours: "persistent congestion leaves two, as RFC 9002 §7.6.2",
    status: Status::Documented,
};

/// Differences there were of all window schemes, and the changes that make them mutants.
pub(crate) const MENDED: [(&str, &str); 4] = [
    ("RFC 9002 §B.5", "an ACK that crossed the threshold was all slow start"),
    ("RFC 9002 §B.8", "persistent congestion in a recovery period lowered the threshold once more"),
    ("RFC 9002 §7.2", "the initial window was ten datagrams of any size"),
    ("RFC 9002 §7.2", "another datagram size before the first ACK kept the window's bytes"),
];
pub(crate) const REDUCED_AGAIN: (&str, &str) =
    ("reduced again", "persistent congestion in a recovery period lowers the threshold once more");
pub(crate) const TEN_DATAGRAMS: (&str, &str) = ("ten datagrams", "the initial window is ten datagrams of any size");
pub(crate) const BYTES_KEPT: (&str, &str) =
    ("bytes kept", "another datagram size before the first ACK keeps the window's bytes");

/// The growth of an ACK of so many bytes in all, for the reading "one step": what is below the threshold, and the rest.
pub(crate) fn one_step(bytes: f64, below: f64, datagram: f64) -> impl Iterator<Item = f64> {
    let first = ((below.max(0.0) / datagram).ceil() * datagram).min(bytes);
    [first, bytes - first].into_iter().filter(|bytes| *bytes > 0.0)
}

/// Whether rounding decides how many full packets of such an ACK are below the threshold.
pub(crate) fn blurs_one_step(bytes: f64, below: f64, datagram: f64) -> bool {
    let packets = below / datagram;
    packets > 0.5 && (packets - packets.round()).abs() < 1e-9 && bytes > packets.round() * datagram
}

/// Estimates of the round-trip time, seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rtt {
    pub latest: f64,
    pub smoothed: f64,
    pub variation: f64,
    /// Whole nanoseconds: sums of seconds may round past the equality that §5.3 compares.
    pub min: Span,
    pub first_sample: Option<Time>,
}

impl Rtt {
    pub fn new() -> Rtt {
        // §5.3 "Before any RTT samples are available for a new path or when the estimator is reset, the estimator is
        // initialized using the initial RTT": §6.2.2 "SHOULD be set to 333 milliseconds".
        Rtt { latest: 0.0, smoothed: 0.333, variation: 0.1665, min: Span::ZERO, first_sample: None }
    }

    pub fn on_sample(&mut self, now: Time, sample: &Sample) {
        self.latest = sample.latest.secs();
        let Some(_) = self.first_sample else {
            // §5.3 "On the first RTT sample after initialization, the estimator is reset using that sample":
            // smoothed_rtt = latest_rtt, rttvar = latest_rtt / 2; §5.2 min_rtt MUST be set to the latest RTT.
            self.first_sample = Some(now);
            (self.smoothed, self.variation, self.min) = (self.latest, self.latest / 2.0, sample.latest);
            return;
        };
        // §5.2 "min_rtt MUST be set to the lesser of min_rtt and latest_rtt [...] on all other samples".
        self.min = self.min.min(sample.latest);
        // §5.3 "ack_delay = min(ack_delay, max_ack_delay)", "adjusted_rtt = latest_rtt; if (latest_rtt >=
        // min_rtt + ack_delay): adjusted_rtt = latest_rtt - ack_delay".
        let ack_delay = sample.ack_delay.min(Span::from_millis(25));
        let adjusted = if sample.latest >= self.min + ack_delay { sample.latest - ack_delay } else { sample.latest };
        // §5.3 "rttvar = 3/4 * rttvar + 1/4 * abs(smoothed_rtt - adjusted_rtt)".
        let adjusted = adjusted.secs();
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

/// A recovery period (§7.3.2) with what it is found by.
#[derive(Clone, Debug)]
pub(crate) struct Period {
    /// congestion_recovery_start_time (§B.2).
    pub start: Option<Time>,
    /// Whether nothing sent in it was acknowledged yet.
    pub ongoing: bool,
    pub rtt: Rtt,
    losses: Losses,
}

impl Default for Period {
    fn default() -> Period {
        Period { start: None, ongoing: false, rtt: Rtt::new(), losses: Losses::default() }
    }
}

impl Period {
    /// §B.5 "InCongestionRecovery(sent_time): return sent_time <= congestion_recovery_start_time".
    pub fn contains(&self, sent_time: Time) -> bool {
        self.start.is_some_and(|start| sent_time <= start)
    }

    /// §B.6 "Enter recovery period: congestion_recovery_start_time = now()".
    pub fn enter(&mut self, now: Time) {
        self.start = Some(now);
        self.ongoing = true;
    }

    /// §B.8 "congestion_recovery_start_time = 0".
    pub fn reset(&mut self) {
        self.start = None;
        self.ongoing = false;
    }

    /// §7.3.2 "A recovery period ends and the sender enters congestion avoidance when a packet sent during the
    /// recovery period is acknowledged."
    pub fn end_with(&mut self, frame: &Frame<'_>) {
        self.ongoing &= frame.acked.iter().all(|packet| self.contains(packet.sent_at));
    }

    /// Whether the frame establishes persistent congestion (§7.6).
    pub fn establishes(&mut self, frame: &Frame<'_>, changes: &Changes) -> bool {
        self.losses.establishes(frame, &self.rtt, changes)
    }
}

/// §7.2 "Endpoints SHOULD use an initial congestion window of ten times the maximum datagram size
/// (max_datagram_size), while limiting the window to the larger of 14,720 bytes or twice the maximum datagram size";
/// in bytes.
pub(crate) fn initial_window(max_datagram_size: f64, changes: &Changes) -> f64 {
    if changes.has("ten datagrams") {
        return 10.0 * max_datagram_size;
    }
    (10.0 * max_datagram_size).min(14_720f64.max(2.0 * max_datagram_size))
}
