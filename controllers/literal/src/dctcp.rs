//! DCTCP: RFC 8257 §3, packet by packet, with the recovery periods of RFC 9002.

use windlass_controllers::{Path, Phase, Span, Time};

use crate::recovery::{
    BYTES_KEPT, FLOOR_OF_THE_NEW_SIZE, IDLE_RESTART, ONE_STEP, Period, REDUCED_AGAIN, TEN_DATAGRAMS, THRESHOLD_FLOOR,
    UNDO, initial_window, one_step,
};
use crate::{Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status, close};

pub(crate) const SCHEME: Scheme = Scheme {
    name: "dctcp",
    text: "dctcp",
    document: "RFC 8257 §3; RFC 9002 §7, B",
    source: include_str!("dctcp.rs"),
    readings: &[
        UNDO,
        IDLE_RESTART,
        THRESHOLD_FLOOR,
        FLOOR_OF_THE_NEW_SIZE,
        ONE_STEP,
        Reading {
            change: "packets",
            section: "RFC 8257 §3.3",
            says: "the fraction is of bytes",
            ours: "it is of packets, which is what an ACK frame counts marks by (RFC 9000 §19.3.2)",
            status: Status::Told,
        },
        Reading {
            change: "rounds by time",
            section: "RFC 8257 §3.3",
            says: "a window ends when WindowEnd is acknowledged",
            ours: "when a packet sent later than it began is, so the first flight is a window too",
            status: Status::Told,
        },
        Reading {
            change: "counted to the next",
            section: "RFC 8257 §3.3",
            says: "the ACK that ends a window counts in it",
            ours: "in the next one",
            status: Status::Told,
        },
    ],
    mutants: &[
        REDUCED_AGAIN,
        TEN_DATAGRAMS,
        BYTES_KEPT,
        ("eighth", "g is 1/8"),
        ("whole α", "a mark takes α of the window, not half of it"),
        ("from nothing", "α begins at 0"),
        ("windows of marks", "a window without marks leaves α"),
        ("every ACK", "α is updated with each ACK"),
        ("losses by α", "a loss is answered as a mark"),
        ("no loss", "a loss is not answered"),
        ("recovery growth", "growth for packets sent before the response"),
        ("limited growth", "growth while the window is not used"),
        ("one datagram", "the least window is one datagram"),
    ],
    mended: &[],
    scope: |_| true,
    start: |changes, path| Box::new(Dctcp::new(changes, path)),
};

struct Dctcp {
    changes: Changes,
    smss: f64,
    cwnd: f64,
    ssthresh: f64,
    alpha: f64,
    window_end: u64,
    since: Time,
    bytes_acked: f64,
    bytes_marked: f64,
    next_pn: u64,
    period: Period,
    undo: Option<(f64, f64, Time)>,
    heard: bool,
    grown: bool,
}

impl Dctcp {
    fn new(changes: Changes, path: &Path) -> Dctcp {
        let smss = f64::from(path.mtu);
        Dctcp {
            smss,
            cwnd: initial_window(smss, &changes),
            ssthresh: f64::INFINITY,
            // §4.2 "the default initial value of DCTCP.Alpha SHOULD be set to 1".
            alpha: if changes.has("from nothing") { 0.0 } else { 1.0 },
            window_end: 0,
            since: path.now,
            bytes_acked: 0.0,
            bytes_marked: 0.0,
            next_pn: 0,
            period: Period::default(),
            undo: None,
            heard: false,
            grown: true,
            changes,
        }
    }

    fn minimum_window(&self) -> f64 {
        self.smss * if self.changes.has("one datagram") { 1.0 } else { 2.0 }
    }

    fn reduce(&mut self, now: Time, factor: f64, by_loss: bool) {
        self.undo = by_loss.then_some((self.cwnd, self.ssthresh, now));
        self.period.enter(now);
        self.ssthresh = self.cwnd * factor;
        if self.changes.has("threshold floor") {
            self.ssthresh = self.ssthresh.max(self.minimum_window());
        }
        self.cwnd = self.ssthresh.max(self.minimum_window());
        self.grown = false;
    }

    /// §3.3 on each acceptable ACK.
    fn observe(&mut self, frame: &Frame<'_>) {
        let Some(newest) = frame.acked.last() else { return };
        let bytes: f64 = frame.acked.iter().map(|packet| packet.bytes as f64).sum();
        let packets = frame.acked.len() as f64;
        let (acked, one) = if self.changes.has("packets") { (packets, 1.0) } else { (bytes, bytes / packets) };
        let counts_next = self.changes.has("counted to the next");
        // §3.3 "DCTCP.BytesAcked += BytesAcked"; "If SEG.ECE is set: DCTCP.BytesMarked += BytesAcked".
        let counted = (acked, one * f64::from(frame.ce));
        if !counts_next {
            self.count(counted);
        }
        self.end_window(frame, newest, counts_next);
        if counts_next {
            self.count(counted);
        }
    }

    fn count(&mut self, (acked, marked): (f64, f64)) {
        self.bytes_acked += acked;
        self.bytes_marked += marked;
    }

    fn end_window(&mut self, frame: &Frame<'_>, newest: &Packet, counts_next: bool) {
        // §3.3 "If the acknowledgment number is less than or equal to DCTCP.WindowEnd, stop processing. Otherwise, the
        // end of the observation window has been reached".
        let ends =
            if self.changes.has("rounds by time") { newest.sent_at > self.since } else { newest.pn >= self.window_end };
        if !ends && !self.changes.has("every ACK") {
            return;
        }
        // §3.3 "M = DCTCP.BytesMarked / DCTCP.BytesAcked", "DCTCP.Alpha = DCTCP.Alpha * (1 - g) + g * M"; §4.2 g "SHOULD be
        // set to 1/16".
        let g = if self.changes.has("eighth") { 1.0 / 8.0 } else { 1.0 / 16.0 };
        let m = if self.bytes_acked > 0.0 { self.bytes_marked / self.bytes_acked } else { 0.0 };
        let counted = self.bytes_acked > 0.0 || !counts_next;
        if counted && (m > 0.0 || !self.changes.has("windows of marks")) {
            self.alpha = self.alpha * (1.0 - g) + g * m.min(1.0);
        }
        // §3.3 "DCTCP.WindowEnd = SND.NXT; DCTCP.BytesAcked = 0; DCTCP.BytesMarked = 0".
        self.window_end = self.next_pn;
        self.since = frame.now;
        (self.bytes_acked, self.bytes_marked) = (0.0, 0.0);
    }
}

impl Reference for Dctcp {
    fn on_packet_sent(&mut self, packet: &Packet, _in_flight: u64, _app_limited: bool) {
        self.next_pn = packet.pn + 1;
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.heard = true;
        if let Some(sample) = &frame.sample {
            self.period.rtt.on_sample(frame.now, sample);
        }
        self.observe(frame);
        if let Some(newest) = frame.acked.last().filter(|_| frame.ce > 0) {
            // §3.3 "cwnd = cwnd * (1 - DCTCP.Alpha / 2)"; "DCTCP does not react to congestion indications more than once
            // for every window of data".
            if !self.period.contains(newest.sent_at) {
                let part = if self.changes.has("whole α") { self.alpha } else { self.alpha / 2.0 };
                self.reduce(frame.now, 1.0 - part, false);
            }
            self.undo = None;
        }
        let before = self.period.start;
        // §3.4 "A DCTCP sender MUST react to loss episodes in the same way as conventional TCP".
        if let Some(last) = frame.lost.last().filter(|_| !self.changes.has("no loss"))
            && !self.period.contains(last.sent_at)
        {
            let part = if self.changes.has("losses by α") { self.alpha / 2.0 } else { 0.5 };
            self.reduce(frame.now, 1.0 - part, true);
        }
        if self.period.establishes(frame, &self.changes) {
            if self.period.start == before && self.changes.has("reduced again") {
                self.ssthresh = (self.cwnd * 0.5).max(self.minimum_window());
            }
            self.cwnd = self.minimum_window();
            self.period.reset();
            self.undo = None;
        }
        let limited = frame.app_limited && !self.changes.has("limited growth");
        let grows = frame.acked.iter().filter(|packet| {
            !limited && (!self.period.contains(packet.sent_at) || self.changes.has("recovery growth"))
        });
        let mut grows: Vec<f64> = grows.map(|packet| packet.bytes as f64).collect();
        if self.changes.has("one step") {
            let below = self.ssthresh - self.cwnd;
            grows = one_step(grows.iter().sum(), below, self.smss).collect();
        }
        // §3.3 "a DCTCP sender grows its cwnd in the same way as conventional TCP": RFC 9002 §B.5.
        for acked in grows {
            self.grown |= acked > 0.0;
            self.cwnd += if self.cwnd < self.ssthresh { acked } else { self.smss * acked / self.cwnd };
        }
        self.period.end_with(frame);
    }

    fn on_idle(&mut self, now: Time, _idle: Span) {
        let initial = initial_window(self.smss, &self.changes);
        if self.changes.has("idle restart") && self.cwnd > initial {
            self.cwnd = initial;
            self.undo = None;
            self.since = now;
            (self.bytes_acked, self.bytes_marked) = (0.0, 0.0);
        }
    }

    fn on_spurious_loss(&mut self, _now: Time, newest_sent_at: Time) {
        let undo = self.undo.take_if(|(_, _, response)| self.changes.has("undo") && newest_sent_at <= *response);
        if let Some((cwnd, ssthresh, _)) = undo.filter(|(cwnd, ..)| self.cwnd <= *cwnd) {
            (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
            self.period.ongoing = false;
        }
    }

    fn on_mtu(&mut self, _now: Time, bytes: u64) {
        self.smss = bytes as f64;
        self.undo = None;
        if !self.heard && !self.changes.has("bytes kept") {
            self.cwnd = initial_window(self.smss, &self.changes);
        }
        if self.changes.has("floor of the new size") {
            self.cwnd = self.cwnd.max(self.minimum_window());
            self.ssthresh = self.ssthresh.max(self.minimum_window());
        }
    }

    fn expected(&self, _now: Time) -> Expected {
        let phase = if self.period.ongoing {
            Phase::Recovery
        } else if self.cwnd < self.ssthresh {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        };
        Expected {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh.is_finite().then_some(self.ssthresh),
            phase: Some(phase),
            undecided: self.grown && close(self.cwnd, self.ssthresh),
            variables: vec![("alpha", self.alpha)],
            ..Expected::default()
        }
    }
}
