//! LEDBAT: RFC 6817 §2, ACK by ACK.

use windlass_controllers::{Path, Span, Time};

use crate::recovery::{BYTES_KEPT, OF_RENOS_WINDOW, TWO_AFTER_A_TIMEOUT};
use crate::reno::Reno;
use crate::{Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status};

/// Readings of LEDBAT and LEDBAT++.
pub(crate) const OF_LEDBAT: [Reading; 3] = [NO_GROWTH_IN_RECOVERY, NO_GROWTH_WHILE_LIMITED, A_MINUTE_A_SAMPLE];

const NO_GROWTH_IN_RECOVERY: Reading = Reading {
    change: "no growth in recovery",
    section: "RFC 6817 §2.4.2",
    says: "each ACK moves the window",
    ours: "those of packets of before a response do not let it grow (RFC 9002 §7.3.2)",
    status: Status::Documented,
};
const NO_GROWTH_WHILE_LIMITED: Reading = Reading {
    change: "no growth while limited",
    section: "RFC 6817 §2.4.2",
    says: "what is in flight limits the window",
    ours: "an ACK that finds nothing to send does not let it grow either (RFC 9002 §7.8)",
    status: Status::Documented,
};
const A_MINUTE_A_SAMPLE: Reading = Reading {
    change: "a minute a sample",
    section: "RFC 6817 §2.4.2",
    says: "a minute in which the connection is idle leaves an infinite minimum",
    ours: "the first sample after any pause drops one minute, as the listing has it",
    status: Status::Documented,
};
const NOTHING_LOST_WHILE_LIMITED: Reading = Reading {
    change: "nothing lost while limited",
    section: "RFC 6817 §2.4.2",
    says: "lost data is in flightsize unless it is not to be sent again",
    ours: "an ACK that finds nothing to send has nothing to be sent again either",
    status: Status::Documented,
};
const DELAYS_OF_BEFORE_AN_IDLE_PERIOD: Reading = Reading {
    change: "delays of before an idle period",
    section: "RFC 6817 §2.5",
    says: "no sample is older than a round trip",
    ours: "nor of before an idle period",
    status: Status::Documented,
};
const LOSSES_OF_TIMERS_LATE: (&str, &str) =
    ("losses of timers late", "what is sent before the next ACK does not count as what a timer let be lost");

pub(crate) const SCHEME: Scheme = Scheme {
    name: "ledbat",
    text: "ledbat:base_history=3",
    document: "RFC 6817 §2",
    source: include_str!("ledbat.rs"),
    readings: &[
        &OF_RENOS_WINDOW,
        &OF_LEDBAT,
        &[TWO_AFTER_A_TIMEOUT, NOTHING_LOST_WHILE_LIMITED, DELAYS_OF_BEFORE_AN_IDLE_PERIOD],
    ],
    mutants: &[
        BYTES_KEPT,
        ("seven tenths", "a loss leaves 0.7 of the window"),
        ("old samples", "samples of more than an RTT ago count"),
        ("the largest sample", "the filter takes the largest sample"),
        ("base of a minute", "the base delay is that of the minute under way"),
        ("twice the target", "TARGET is 200 ms"),
        ("gain of two", "GAIN is 2"),
        ("no allowance", "the window is never held to what is in flight"),
        ("flight without losses", "what an ACK lets be lost is out of flightsize, though it is sent again"),
        LOSSES_OF_TIMERS_LATE,
        ("two more", "ALLOWED_INCREASE is 2"),
        ("no decrease", "a delay above the target leaves the window"),
        ("every loss", "losses halve the window more than once an RTT"),
        ("one datagram", "MIN_CWND is 1"),
    ],
    mended: &[("RFC 6817 §2.4.2", "what a timer let be lost was in flightsize after it was sent again")],
    scope: |_| true,
    start: |changes, path| Box::new(Ledbat::new(changes, path)),
};

/// §2.5 "TARGET MUST be 100 milliseconds or less".
const TARGET: f64 = 0.1;

/// §2.4.2, the two lists of delays, seconds.
pub(crate) struct Delays {
    changes: Changes,
    /// When it came, and the delay.
    current_delays: Vec<(Time, f64)>,
    base_delays: Vec<f64>,
    /// The minute of last_rollover.
    last_rollover: Option<u64>,
}

impl Delays {
    pub fn new(changes: Changes) -> Delays {
        // §2.4.2 "initialize elements in base_delays to +INFINITY"; §2.5 "The size of the base_delays list, BASE_HISTORY,
        // SHOULD be 10", here 3, so that histories are longer.
        let base_delays = vec![f64::INFINITY; 3];
        // §2.4.2 "initialize elements in current_delays according to FILTER()": none.
        Delays { changes, current_delays: Vec::new(), base_delays, last_rollover: None }
    }

    /// An ACK, with its delay sample if it has one.
    pub fn on_ack(&mut self, now: Time, delay: Option<f64>, newest: &Packet) {
        // §2.4.2 "for each delay sample in the acknowledgement: delay = acknowledgement.delay; update_base_delay(delay);
        // update_current_delay(delay)".
        if let Some(delay) = delay {
            self.update_base_delay(now, delay);
            self.current_delays.push((now, delay));
        }
        // §2.5 "CURRENT_FILTER MUST be limited such that samples in the list are not older than an RTT in the past".
        if !self.changes.has("old samples") {
            self.current_delays.retain(|(at, _)| *at >= newest.sent_at);
        }
    }

    pub fn clear_current(&mut self) {
        self.current_delays.clear();
    }

    /// §2.4.2 MIN(base_delays).
    pub fn base(&self) -> f64 {
        let base = if self.changes.has("base of a minute") { &self.base_delays[2..] } else { &self.base_delays[..] };
        base.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// §2.4.2 "queuing_delay = FILTER(current_delays) - MIN(base_delays)".
    pub fn queuing_delay(&self) -> Option<f64> {
        Some(self.filter() - self.base()).filter(|delay| delay.is_finite())
    }

    /// §2.4.2 update_base_delay(delay).
    fn update_base_delay(&mut self, now: Time, delay: f64) {
        // §2.4.2 "if round_to_minute(now) != round_to_minute(last_rollover): last_rollover = now; delete first item in
        // base_delays list; append delay to base_delays list".
        let minute = now.0 / 60_000_000_000;
        let last = self.base_delays.len() - 1;
        if self.last_rollover != Some(minute) {
            // §2.4.2 "If the connection is idle for a given minute, no data is available for the one-way delay and, therefore, a
            // value of +INFINITY has to be stored in the list."
            let idle = self.last_rollover.replace(minute).map_or(0, |last| minute - last - 1);
            if !self.changes.has("a minute a sample") {
                (0..idle.min(3)).for_each(|_| {
                    self.base_delays.remove(0);
                    self.base_delays.push(f64::INFINITY);
                });
            }
            self.base_delays.remove(0);
            self.base_delays.push(delay);
        } else {
            // §2.4.2 "base_delays.tail = MIN(base_delays.tail, delay)".
            self.base_delays[last] = self.base_delays[last].min(delay);
        }
    }

    /// §2.4.2 FILTER(current_delays): "A simple MIN filter applied over a small window"; §2.5 "the sender SHOULD use at least 4
    /// delay samples in each RTT".
    fn filter(&self) -> f64 {
        let delays = self.current_delays.iter().rev().take(4).map(|(_, delay)| *delay);
        if self.changes.has("the largest sample") {
            delays.fold(f64::NEG_INFINITY, f64::max)
        } else {
            delays.fold(f64::INFINITY, f64::min)
        }
    }
}

struct Ledbat {
    /// The window, and what QUIC has beside it.
    of: Reno,
    delays: Delays,
    /// Bytes lost that are not sent again yet.
    to_resend: f64,
    /// Of a mutant: those a timer let be lost, until the next ACK.
    by_timer: f64,
}

impl Ledbat {
    fn new(changes: Changes, path: &Path) -> Ledbat {
        // §2.4.2 "cwnd = INIT_CWND * MSS"; §2.5 "INIT_CWND and MIN_CWND SHOULD both be 2".
        let of = Reno::starting_with(|mss, _| 2.0 * mss, changes.clone(), path);
        Ledbat { of, delays: Delays::new(changes), to_resend: 0.0, by_timer: 0.0 }
    }

    fn has(&self, change: &str) -> bool {
        self.of.changes.has(change)
    }

    /// §2.4.2 "on acknowledgement".
    fn on_acknowledgment(&mut self, frame: &Frame<'_>, newest: &Packet) {
        self.delays.on_ack(frame.now, frame.sample.map(|sample| sample.forward as f64 * 1e-9), newest);
        let queuing_delay = self.delays.queuing_delay();
        // §2.4.2 "off_target = (TARGET - queuing_delay) / TARGET".
        let target = if self.has("twice the target") { 2.0 * TARGET } else { TARGET };
        let mut off_target = queuing_delay.map_or(0.0, |delay| (target - delay) / target);
        if self.has("no decrease") {
            off_target = off_target.max(0.0);
        }
        // §2.4.2 "cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd"; §2.5 "GAIN MUST be set to 1 or less".
        let gain = if self.has("gain of two") { 2.0 } else { 1.0 };
        let grows = |packet: &&Packet| {
            let held = self.has("no growth in recovery") && self.of.in_congestion_recovery(packet.sent_at);
            off_target <= 0.0 || !(held || frame.app_limited && self.has("no growth while limited"))
        };
        let bytes_newly_acked: f64 = frame.acked.iter().filter(grows).map(|packet| packet.bytes as f64).sum();
        let (before, mss) = (self.of.congestion_window, self.of.max_datagram_size);
        let cwnd = before + gain * off_target * bytes_newly_acked * mss / before;
        // §2.4.2 "max_allowed_cwnd = flightsize + ALLOWED_INCREASE * MSS; cwnd = min(cwnd, max_allowed_cwnd)"; §2.5
        // "ALLOWED_INCREASE SHOULD be 1".
        let allowed_increase = if self.has("two more") { 2.0 } else { 1.0 };
        let max_allowed_cwnd = self.flightsize(frame) + allowed_increase * mss;
        let cwnd = if self.has("no allowance") { cwnd } else { cwnd.min(max_allowed_cwnd) };
        // §2.4.2 "cwnd = max(cwnd, MIN_CWND * MSS)".
        self.of.congestion_window = cwnd.max(self.of.minimum_window());
        if self.of.congestion_window < before {
            self.of.undo = None;
        }
    }

    /// §2.4.2 "flightsize is the amount of data outstanding before this ACK was received"; "if data lost is not to be
    /// retransmitted: flightsize = flightsize - bytes_not_to_be_retransmitted", and it is to be.
    fn flightsize(&mut self, frame: &Frame<'_>) -> f64 {
        let lost: f64 = frame.lost.iter().map(|packet| packet.bytes as f64).sum();
        let in_flight = frame.in_flight_before as f64 - lost;
        self.to_resend += lost + std::mem::take(&mut self.by_timer);
        // What has nothing to send has sent everything again.
        if frame.app_limited {
            self.to_resend = if self.has("nothing lost while limited") { 0.0 } else { lost };
        }
        if self.has("flight without losses") { in_flight } else { in_flight + self.to_resend }
    }
}

impl Reference for Ledbat {
    fn on_packet_sent(&mut self, packet: &Packet, _in_flight: u64, _app_limited: bool) {
        self.to_resend = (self.to_resend - packet.bytes as f64).max(0.0);
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.of.start_frame(frame);
        // §2.4.2 "on data loss: # at most once per RTT: cwnd = min (cwnd, max (cwnd/2, MIN_CWND * MSS))"; §1.1 "LEDBAT should
        // react to an Explicit Congestion Notification (ECN) mark as it would to a loss".
        if self.has("every loss") {
            self.of.period.reset();
        }
        let part = if self.has("seven tenths") { 0.7 } else { 0.5 };
        self.of.on_marks(frame, part);
        let losses = self.of.on_losses(frame, part);
        // §2.4.2 "if no ACKs are received within a CTO: # extreme congestion, or significant RTT change. [...] cwnd = 1 * MSS",
        // which QUIC finds afterwards (RFC 9002 §7.6).
        if losses.persistent && !self.has("two after a timeout") {
            self.of.congestion_window = self.of.max_datagram_size;
        }
        if let Some(newest) = frame.acked.last() {
            self.on_acknowledgment(frame, newest);
        } else {
            let lost: f64 = frame.lost.iter().map(|packet| packet.bytes as f64).sum();
            if self.has("losses of timers late") {
                self.by_timer += lost;
            } else {
                self.to_resend += lost;
            }
        }
        self.of.period.end_with(frame);
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        self.of.on_idle(now, idle);
        self.to_resend = 0.0;
        if self.has("delays of before an idle period") {
            self.delays.clear_current();
        }
    }

    fn on_spurious_loss(&mut self, now: Time, newest_sent_at: Time) {
        self.of.on_spurious_loss(now, newest_sent_at);
    }

    fn on_mtu(&mut self, now: Time, bytes: u64) {
        self.of.on_mtu(now, bytes);
    }

    fn expected(&self, _now: Time) -> Expected {
        let delays = self.delays.queuing_delay().map(|delay| ("queueing_delay_ms", 1e3 * delay));
        // The document has no threshold.
        Expected {
            cwnd: self.of.congestion_window,
            ssthresh: Some(f64::NAN),
            variables: delays.into_iter().collect(),
            ..Expected::default()
        }
    }
}
