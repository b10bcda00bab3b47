//! DCTCP: RFC 8257 §3, packet by packet, with the recovery periods of RFC 9002.

use windlass_controllers::{Path, Span, Time};

use crate::recovery::{
    BYTES_KEPT, OF_RENOS_GROWTH, OF_RENOS_WINDOW, REDUCED_AGAIN, TEN_DATAGRAMS, TWO_AFTER_A_TIMEOUT,
};
use crate::reno::Reno;
use crate::{Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status};

/// Readings of all that keep a fraction of marks.
pub(crate) const OF_FRACTIONS: [Reading; 4] = [PACKETS, ROUNDS_BY_TIME, COUNTED_TO_THE_NEXT, CLEARED];

const FURTHER_AFTER_A_MARK: Reading = Reading {
    change: "further after a mark",
    section: "RFC 8257 §3.5",
    says: "the window is reduced once for a window of data",
    ours: "a loss among packets whose mark was answered makes that answer Reno's, as the losses of a conventional TCP have it",
    status: Status::Documented,
};
const PACKETS: Reading = Reading {
    change: "packets",
    section: "RFC 8257 §3.3",
    says: "the fraction is of bytes",
    ours: "it is of packets, which is what an ACK frame counts marks by (RFC 9000 §19.3.2)",
    status: Status::Documented,
};
const ROUNDS_BY_TIME: Reading = Reading {
    change: "rounds by time",
    section: "RFC 8257 §3.3",
    says: "a window ends when more than WindowEnd is acknowledged",
    ours: "when a packet sent later than it began is, so the first flight is a window too",
    status: Status::Documented,
};
const COUNTED_TO_THE_NEXT: Reading = Reading {
    change: "counted to the next",
    section: "RFC 8257 §3.3",
    says: "the ACK that ends a window counts in it",
    ours: "in the next one",
    status: Status::Documented,
};
const AT_THE_MARK: Reading = Reading {
    change: "at the mark",
    section: "RFC 8257 §3.3",
    says: "step 9 reduces the window, once step 4 has found that a window of observation is over",
    ours: "the first mark of a window does, as the response of RFC 3168 that step 9 replaces",
    status: Status::Documented,
};
const CLEARED: Reading = Reading {
    change: "cleared",
    section: "RFC 8257 §3.3",
    says: "a window of observation lasts until its end is acknowledged",
    ours: "persistent congestion and an idle period that took the window back begin a new one (spec: arumaithurai §5)",
    status: Status::Documented,
};

pub(crate) const SCHEME: Scheme = Scheme {
    name: "dctcp",
    text: "dctcp",
    document: "RFC 8257 §3; RFC 9002 §7, B",
    source: concat!(include_str!("dctcp.rs"), include_str!("reno.rs")),
    readings: &[
        &OF_RENOS_WINDOW,
        &OF_RENOS_GROWTH,
        &OF_FRACTIONS,
        &[AT_THE_MARK, FURTHER_AFTER_A_MARK, TWO_AFTER_A_TIMEOUT],
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
        ("α of before", "a mark is answered by α as it was before its ACK"),
        ("α from losses", "what is lost counts as marked"),
        ("recovery growth", "growth for packets sent before the response"),
        ("limited growth", "growth while the window is not used"),
        ("one datagram", "the least window is one datagram"),
    ],
    mended: &[],
    scope: |_| true,
    start: |changes, path| {
        Box::new(Dctcp {
            reno: Reno::new(changes.clone(), path),
            fraction: Fraction::new(changes, path),
            before_mark: None,
        })
    },
};

/// §3.3 the estimate of the fraction of bytes that are marked.
pub(crate) struct Fraction {
    changes: Changes,
    pub alpha: f64,
    window_end: u64,
    since: Time,
    bytes_acked: f64,
    bytes_marked: f64,
    next_pn: u64,
}

impl Fraction {
    pub fn new(changes: Changes, path: &Path) -> Fraction {
        Fraction {
            // §3.3 DCTCP.Alpha "is initialized to 1 and SHOULD be updated as follows".
            alpha: if changes.has("from nothing") { 0.0 } else { 1.0 },
            // §3.3 DCTCP.WindowEnd is "initialized to SND.UNA".
            window_end: 0,
            since: path.now,
            bytes_acked: 0.0,
            bytes_marked: 0.0,
            next_pn: 0,
            changes,
        }
    }

    pub fn on_packet_sent(&mut self, packet: &Packet) {
        self.next_pn = packet.pn + 1;
    }

    /// §3.3 "The congestion estimator on the sender MUST process acceptable ACKs as follows"; whether a window ended.
    pub fn observe(&mut self, frame: &Frame<'_>) -> bool {
        self.observe_at(frame, Span::ZERO, 1.0)
    }

    /// As [`observe`](Fraction::observe), for windows of `least` at least and so much of the gain.
    pub fn observe_at(&mut self, frame: &Frame<'_>, least: Span, gain: f64) -> bool {
        let Some(newest) = frame.acked.last() else { return false };
        let bytes: f64 = frame.acked.iter().map(|packet| packet.bytes as f64).sum();
        let packets = frame.acked.len() as f64;
        let (acked, one) = if self.changes.has("packets") { (packets, 1.0) } else { (bytes, bytes / packets) };
        let lost = if self.changes.has("α from losses") { frame.lost.len() as f64 } else { 0.0 };
        // §3.3 "Update the bytes sent: DCTCP.BytesAcked += BytesAcked"; "If the ECE flag is set, update the bytes marked:
        // DCTCP.BytesMarked += BytesAcked".
        let counted = (acked, one * (f64::from(frame.ce) + lost));
        let counts_next = self.changes.has("counted to the next");
        if !counts_next {
            self.count(counted);
        }
        let ended = self.end_window(frame, newest, (least, gain), counts_next);
        if counts_next {
            self.count(counted);
        }
        ended
    }

    pub fn count(&mut self, (acked, marked): (f64, f64)) {
        self.bytes_acked += acked;
        self.bytes_marked += marked;
    }

    fn end_window(
        &mut self,
        frame: &Frame<'_>,
        newest: &Packet,
        (least, gain): (Span, f64),
        counts_next: bool,
    ) -> bool {
        // §3.3 "If the acknowledgment number is less than or equal to DCTCP.WindowEnd, stop processing. Otherwise, the
        // end of the observation window has been reached".
        let ends =
            if self.changes.has("rounds by time") { newest.sent_at > self.since } else { newest.pn >= self.window_end };
        if (!ends || frame.now.since(self.since) < least) && !self.changes.has("every ACK") {
            return false;
        }
        // §3.3 "M = DCTCP.BytesMarked / DCTCP.BytesAcked", "DCTCP.Alpha = DCTCP.Alpha * (1 - g) + g * M"; "The selection of g
        // is left to the implementation"; §4.2 "A fixed estimation gain of 1/16 is used in some implementations."
        let g = gain * if self.changes.has("eighth") { 1.0 / 8.0 } else { 1.0 / 16.0 };
        let m = if self.bytes_acked > 0.0 { self.bytes_marked / self.bytes_acked } else { 0.0 };
        let counted = self.bytes_acked > 0.0 || !counts_next;
        if counted && (m > 0.0 || !self.changes.has("windows of marks")) {
            self.alpha = self.alpha * (1.0 - g) + g * m.min(1.0);
        }
        self.clear(frame.now);
        true
    }

    /// §3.3 "DCTCP.WindowEnd = SND.NXT"; "DCTCP.BytesAcked = DCTCP.BytesMarked = 0".
    pub fn clear(&mut self, now: Time) {
        self.window_end = self.next_pn;
        self.since = now;
        (self.bytes_acked, self.bytes_marked) = (0.0, 0.0);
    }
}

struct Dctcp {
    reno: Reno,
    fraction: Fraction,
    /// The window before the response to marks, if that was the latest.
    before_mark: Option<f64>,
}

impl Reference for Dctcp {
    fn on_packet_sent(&mut self, packet: &Packet, _in_flight: u64, _app_limited: bool) {
        self.fraction.on_packet_sent(packet);
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.reno.start_frame(frame);
        let has = |change| self.reno.changes.has(change);
        let (whole, of_before, losses_by_alpha) = (has("whole α"), has("α of before"), has("losses by α"));
        let (further, cleared) = (has("further after a mark"), has("cleared"));
        let before = self.fraction.alpha;
        // Whether losses or acknowledgements of a frame count first, the document does not say; marks are needed first.
        let ended = frame.ce > 0 && self.fraction.observe(frame);
        let alpha = if of_before { before } else { self.fraction.alpha };
        // §3.3 "Rather than always halving the congestion window as described in [RFC3168], the sender SHOULD update cwnd as
        // follows: cwnd = cwnd * (1 - DCTCP.Alpha / 2)"; "DCTCP does not react to congestion indications more than once for
        // every window of data."
        let window = self.reno.congestion_window;
        let due = ended || self.reno.changes.has("at the mark");
        if due && self.reno.on_marks(frame, 1.0 - if whole { alpha } else { alpha / 2.0 }) {
            self.before_mark = Some(window);
        }
        // §3.5 "A DCTCP sender MUST react to loss episodes in the same way as conventional TCP"; it "will only reduce the cwnd
        // once per window of data across all loss signals."
        let losses = self.reno.on_losses(frame, 1.0 - if losses_by_alpha { alpha / 2.0 } else { 0.5 });
        if losses.responds {
            self.before_mark = None;
        } else if further
            && !frame.lost.is_empty()
            && let Some(window) = self.before_mark.take()
        {
            // The answer becomes that of a conventional TCP.
            self.reno.reduce_further(0.5 * window);
        }
        // §3.5 "upon a timeout, the cwnd MUST be set to no more than the loss window (1 full-sized segment)".
        if losses.persistent && !self.reno.changes.has("two after a timeout") {
            self.reno.congestion_window = self.reno.max_datagram_size;
        }
        if losses.persistent && cleared {
            self.fraction.clear(frame.now);
            if frame.ce > 0 {
                self.fraction.count((frame.acked.len() as f64, 0.0));
            }
        }
        if frame.ce == 0 {
            self.fraction.observe(frame);
        }
        self.reno.grow(frame);
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        let window = self.reno.congestion_window;
        self.reno.on_idle(now, idle);
        if self.reno.congestion_window < window && self.reno.changes.has("cleared") {
            self.fraction.clear(now);
        }
    }

    fn on_spurious_loss(&mut self, now: Time, newest_sent_at: Time) {
        self.reno.on_spurious_loss(now, newest_sent_at);
    }

    fn on_mtu(&mut self, now: Time, bytes: u64) {
        self.reno.on_mtu(now, bytes);
    }

    fn expected(&self, now: Time) -> Expected {
        Expected { variables: vec![("alpha", self.fraction.alpha)], ..self.reno.expected(now) }
    }
}
