//! Prague: draft-briscoe-iccrg-prague-congestion-control-00 §2.3 to §2.5, ACK by ACK, where it says nothing otherwise as
//! RFC 8257 and RFC 9002.

use windlass_controllers::{Path, Span, Time};

use crate::dctcp::{Fraction, OF_FRACTIONS};
use crate::recovery::{
    BYTES_KEPT, OF_RENOS_GROWTH, OF_RENOS_WINDOW, REDUCED_AGAIN, TEN_DATAGRAMS, TWO_AFTER_A_TIMEOUT,
};
use crate::reno::Reno;
use crate::{Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status};

const READINGS: [Reading; 5] = [
    Reading {
        change: "once it marks",
        section: "draft-briscoe-iccrg-prague-congestion-control §2.3.2",
        says: "alpha is updated once a round trip",
        ours: "from the first mark on, so that this one halves",
        status: Status::Documented,
    },
    Reading {
        change: "taken together",
        section: "draft-briscoe-iccrg-prague-congestion-control §2.4.1",
        says: "a loss halves the window; less than a round trip after a mark it may take less",
        ours: "it leaves half of what the window was before the mark",
        status: Status::Documented,
    },
    Reading {
        change: "rounds after slow start",
        section: "draft-briscoe-iccrg-prague-congestion-control §2.4.4",
        says: "the reference RTT holds after so many rounds",
        ours: "of those after slow start",
        status: Status::Documented,
    },
    Reading {
        change: "the window alone",
        section: "draft-briscoe-iccrg-prague-congestion-control §2.5.1",
        says: "it paces the larger of the window and what is in flight",
        ours: "the window: nothing leaves while more is in flight",
        status: Status::Documented,
    },
    Reading {
        change: "classic queues",
        section: "draft-briscoe-iccrg-prague-congestion-control §3.3; RFC 9331 §4.3",
        says: "looking for a queue with classic ECN is demanded, and off in the implementation the draft describes",
        ours: "on: where delay and its variation look like such a queue a mark takes up to half of the window (`classic=off` leaves it out)",
        status: Status::Documented,
    },
];

pub(crate) const SCHEME: Scheme = Scheme {
    name: "prague",
    text: "prague:transition=3",
    document: "draft-briscoe-iccrg-prague-congestion-control-00 §2; RFC 8257 §3; RFC 9002 §7, B",
    source: concat!(include_str!("prague.rs"), include_str!("dctcp.rs"), include_str!("reno.rs")),
    readings: &[&OF_RENOS_WINDOW, &OF_RENOS_GROWTH, &OF_FRACTIONS, &[TWO_AFTER_A_TIMEOUT], &READINGS],
    mutants: &[
        REDUCED_AGAIN,
        TEN_DATAGRAMS,
        BYTES_KEPT,
        ("eighth", "g is 1/8"),
        ("whole α", "a mark takes alpha of the window, not half of it"),
        ("every ACK", "alpha is updated with each ACK"),
        ("α from losses", "what is lost counts as marked"),
        ("losses by α", "a loss is answered as a mark"),
        ("marked bytes grow", "marked bytes grow the window as others"),
        ("no growth in CWR", "the window does not grow for a round trip after a mark"),
        ("every mark", "every ACK with marks lowers the window"),
        ("a period for marks", "a mark begins a recovery period"),
        ("1/M", "growth at the reference RTT is by 1/M, not by its square"),
        ("from the start", "the reference RTT holds from the start"),
        ("short CWR", "the response to marks is once an RTT, not once a reference RTT"),
        ("always twice", "pacing is twice the window a round trip in congestion avoidance too"),
        ("limited growth", "growth while the window is not used"),
        ("one datagram", "the least window is one datagram"),
    ],
    mended: &[],
    scope: |_| true,
    start: |changes, path| Box::new(Prague::new(changes, path)),
};

/// §2.4.4 "The current default is RTT_ref = max(RTT, 25ms)", seconds.
const RTT_REF: f64 = 0.025;
/// §2.4.4 "D is configurable (current default 500)", here 3, so that histories reach it.
const D: u32 = 3;

struct Prague {
    of: Reno,
    fraction: Fraction,
    /// Whether a mark came.
    marks: bool,
    /// When the window was reduced for marks, and what it was.
    cwr: Option<(Time, f64)>,
    rounds: u32,
    in_flight: f64,
    /// For the reading "classic queues": above 1 it surely is one, below 0 surely none.
    classic: f64,
    /// How far ours may be off it, since it counts in nanoseconds.
    classic_error: f64,
}

impl Prague {
    fn new(changes: Changes, path: &Path) -> Prague {
        Prague {
            of: Reno::new(changes.clone(), path),
            fraction: Fraction::new(changes, path),
            marks: false,
            cwr: None,
            rounds: 0,
            in_flight: 0.0,
            classic: 0.0,
            classic_error: 0.0,
        }
    }

    fn has(&self, change: &str) -> bool {
        self.of.changes.has(change)
    }

    fn srtt(&self) -> f64 {
        self.of.period.rtt.first_sample.map_or(0.0, |_| self.of.period.rtt.smoothed)
    }

    /// §2.4.4 "A Prague CC reduces RTT bias by using a reference RTT (RTT_ref) rather than the actual round trip (RTT) for
    /// all three of: the window update period; the EWMA update period; and the duration of CWR state after a decrease."
    fn rtt_ref(&self) -> Option<f64> {
        // §2.4.4 "the Reduced RTT-Dependence algorithm only comes into effect after D rounds".
        let late = self.rounds >= D || self.has("from the start");
        (late && self.srtt() > 0.0 && self.srtt() < RTT_REF).then_some(RTT_REF)
    }

    /// §2.4.3 ai_per_rtt "is a scaling factor that is typically 1 SMSS except for small RTTs"; §2.4.4 "the increase in cwnd
    /// per packet has to be (1/M^2) * (1/cwnd)", "We define M as the ratio RTT_ref/RTT".
    fn ai_per_rtt(&self) -> f64 {
        let m = self.rtt_ref().map_or(1.0, |reference| reference / self.srtt());
        self.of.max_datagram_size / if self.has("1/M") { m } else { m * m }
    }

    /// §2.3.2 the moving average of ECN feedback.
    fn observe(&mut self, frame: &Frame<'_>) {
        let least = self.rtt_ref().map_or(Span::ZERO, Span::from_secs_f64);
        let gain = if self.marks || !self.has("once it marks") { 1.0 } else { 0.0 };
        let counts = self.of.congestion_window >= self.of.ssthresh || !self.has("rounds after slow start");
        if self.fraction.observe_at(frame, least, gain) && counts {
            self.rounds += 1;
            self.look_for_classic();
        }
        self.marks |= frame.ce > 0 && !frame.acked.is_empty();
    }

    /// A round trip is over, for the reading "classic queues".
    fn look_for_classic(&mut self) {
        let rtt = &self.of.period.rtt;
        let log = |delay: f64, threshold: f64| (delay.max(1e-9) / threshold).log2();
        let (depth, variation) = (log(rtt.smoothed - rtt.min.secs(), 2e-3), log(rtt.variation, 750e-6));
        let classic = self.classic + 2.0 * depth + 0.5 * variation;
        self.classic = classic.clamp(-16.0, 16.0);
        let error = 2e-8 / (rtt.smoothed - rtt.min.secs()).max(1e-9) + 2e-8 / rtt.variation.max(1e-9);
        self.classic_error = if classic == self.classic { self.classic_error + error } else { 0.0 };
    }

    /// §2.4.2 "it only triggers a multiplicative decrease to its congestion window when it actually receives an ACK
    /// carrying ECN feedback."
    fn on_marks(&mut self, frame: &Frame<'_>) {
        let Some(newest) = frame.acked.last().filter(|_| frame.ce > 0) else { return };
        self.of.undo = None;
        // §2.4.2 "Then it suppresses any further decreases for one round trip, even if it receives further ECN feedback.
        // This is termed Congestion Window Reduced or CWR state."
        let suppressed = self.cwr.is_some_and(|(since, _)| {
            let reference = self.rtt_ref().filter(|_| !self.has("short CWR"));
            let short = reference.is_some_and(|reference| frame.now.since(since) < Span::from_secs_f64(reference));
            newest.sent_at <= since || short
        });
        if self.of.in_congestion_recovery(newest.sent_at) || suppressed && !self.has("every mark") {
            return;
        }
        let alpha = self.fraction.alpha;
        let classic = if self.has("classic queues") { self.classic.clamp(0.0, 1.0) } else { 0.0 };
        let decrease = alpha + classic * (1.0 - alpha);
        let window = self.of.congestion_window;
        self.cwr = Some((frame.now, window));
        // §2.4.2 "ssthresh = (1 - alpha/2) * cwnd".
        let half = if self.has("whole α") { 1.0 } else { 0.5 };
        let cwnd = ((1.0 - half * decrease) * window).max(self.of.minimum_window()).min(window);
        self.of.congestion_window = cwnd;
        self.of.was_reduced = true;
        // §2.4.5 "Slow start is exited once a single mark is detected."
        self.of.ssthresh = cwnd.max(self.of.minimum_window());
        self.of.grown = false;
        if self.has("a period for marks") {
            self.of.period.enter(frame.now);
        }
    }

    /// §2.4.1 "A Prague CC has to fall back to Reno-friendly behaviour on detection of a loss"; the part of the window that
    /// is left.
    fn part_after_loss(&self, newest: &Packet) -> f64 {
        if self.has("losses by α") {
            return 1.0 - 0.5 * self.fraction.alpha;
        }
        // §2.4.1 "If a Prague CC has already reduced the congestion window due to ECN feedback less than a round trip before it
        // detects a loss, it MAY reduce the congestion window by a smaller amount due to the loss".
        match self.cwr.filter(|(since, _)| newest.sent_at <= *since && self.has("taken together")) {
            Some((_, before)) => (0.5 * before / self.of.congestion_window).min(1.0),
            None => 0.5,
        }
    }

    /// §2.4.3 "cwnd += (acked_sacked - ece_delta) * ai_per_rtt / cwnd", which bytes were marked QUIC does not say.
    fn grow(&mut self, frame: &Frame<'_>) {
        let marked = f64::from(frame.ce) / frame.acked.len().max(1) as f64;
        let unmarked = if self.has("marked bytes grow") { 1.0 } else { 1.0 - marked.min(1.0) };
        let in_cwr = |packet: &Packet| self.cwr.is_some_and(|(since, _)| packet.sent_at <= since);
        let held = |packet: &Packet| self.has("no growth in CWR") && in_cwr(packet);
        let bytes = self.of.growing(frame).filter(|packet| !held(packet)).map(|packet| packet.bytes as f64);
        let bytes: Vec<f64> = bytes.collect();
        let ai_per_rtt = self.ai_per_rtt();
        self.of.grow_by(&bytes, unmarked, ai_per_rtt);
        self.of.period.end_with(frame);
    }
}

impl Reference for Prague {
    fn on_packet_sent(&mut self, packet: &Packet, in_flight: u64, _app_limited: bool) {
        self.in_flight = in_flight as f64;
        self.fraction.on_packet_sent(packet);
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.of.start_frame(frame);
        if frame.ce > 0 {
            self.observe(frame);
        }
        self.on_marks(frame);
        let part = frame.lost.last().map_or(0.5, |newest| self.part_after_loss(newest));
        let losses = self.of.on_losses(frame, part);
        if losses.persistent {
            // RFC 8257 §3.5 "upon a timeout, the cwnd MUST be set to no more than the loss window (1 full-sized segment)".
            if !self.has("two after a timeout") {
                self.of.congestion_window = self.of.max_datagram_size;
            }
            self.cwr = None;
            if self.has("cleared") {
                self.fraction.clear(frame.now);
                if frame.ce > 0 {
                    self.fraction.count((frame.acked.len() as f64, 0.0));
                }
            }
        }
        if frame.ce == 0 {
            self.observe(frame);
        }
        self.grow(frame);
        self.in_flight = frame.in_flight as f64;
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        let window = self.of.congestion_window;
        self.of.on_idle(now, idle);
        if self.of.congestion_window < window && self.has("cleared") {
            self.fraction.clear(now);
        }
    }

    fn on_spurious_loss(&mut self, now: Time, newest_sent_at: Time) {
        self.of.on_spurious_loss(now, newest_sent_at);
    }

    fn on_mtu(&mut self, now: Time, bytes: u64) {
        self.of.on_mtu(now, bytes);
    }

    fn expected(&self, now: Time) -> Expected {
        let srtt = self.srtt();
        // §2.5.1 "pacing_rate = MTU_BITS * max(cwnd, inflight) / srtt", "if (cwnd < ssthresh / 2) pacing_rate *= 2".
        let cwnd = self.of.congestion_window;
        let volume = if self.has("the window alone") { cwnd } else { cwnd.max(self.in_flight) };
        let twice = cwnd < self.of.ssthresh / 2.0 || self.has("always twice");
        let rate = 8.0 * volume / srtt * if twice { 2.0 } else { 1.0 };
        let expected = self.of.expected(now);
        let error = self.classic_error;
        let blurred = error > 1e-4 && (-error..1.0 + error).contains(&self.classic);
        let undecided = blurred || expected.undecided || (cwnd / self.of.ssthresh - 0.5).abs() < 1e-9;
        Expected {
            pacing: (srtt > 0.0).then_some(rate),
            // A rate is of a window of whole bytes and an RTT of whole nanoseconds.
            rounding: 1.0 / cwnd + 1e-5,
            variables: vec![("alpha", self.fraction.alpha), ("classic", self.classic.clamp(0.0, 1.0))],
            undecided,
            ..expected
        }
    }
}
