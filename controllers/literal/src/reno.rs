//! NewReno of QUIC: RFC 9002 §7 and Appendix B, packet by packet.

use windlass_controllers::{Path, Phase, Span, Time};

use crate::recovery::{
    BYTES_KEPT, MENDED, OF_RENOS_GROWTH, OF_RENOS_WINDOW, Period, REDUCED_AGAIN, TEN_DATAGRAMS, blurs_one_step,
    initial_window, one_step,
};
use crate::{Changes, Expected, Frame, Packet, Reference, Scheme, close};

pub(crate) const SCHEME: Scheme = Scheme {
    name: "reno",
    text: "reno",
    document: "RFC 9002 §5, §7, B",
    source: include_str!("reno.rs"),
    readings: &[&OF_RENOS_WINDOW, &OF_RENOS_GROWTH],
    mutants: &[
        REDUCED_AGAIN,
        TEN_DATAGRAMS,
        BYTES_KEPT,
        ("seven tenths", "β is 0.7"),
        ("from the flight", "half of what is in flight"),
        ("one datagram", "the least window is one datagram"),
        ("recovery ends early", "a packet sent at the instant of the response counts as after it"),
        ("recovery growth", "growth for packets sent before the response"),
        ("limited growth", "growth while the window is not used"),
        ("no marks", "marks are no congestion"),
        ("no reset", "persistent congestion leaves the window at the threshold"),
        ("persistent after two", "two probe timeouts are persistent congestion"),
        ("whole packets", "every packet counts as a full one"),
        ("rounded", "the window is rounded down to bytes upon each ACK"),
        ("undo after marks", "a response that met marks too is taken back"),
    ],
    mended: &MENDED,
    scope: |_| true,
    start: |changes, path| Box::new(Reno::new(changes, path)),
};

/// Windows that begin and end as Reno's, whatever a response takes.
pub(crate) struct Reno {
    pub changes: Changes,
    pub max_datagram_size: f64,
    pub congestion_window: f64,
    /// A response that was not undone reduced the window.
    pub was_reduced: bool,
    pub ssthresh: f64,
    pub period: Period,
    initial_window: fn(f64, &Changes) -> f64,
    pub undo: Option<Undo>,
    in_flight: f64,
    /// Whether the window has grown since it was set to the threshold.
    pub grown: bool,
    /// Ours counts in packets: whether rounding decided if an idle restart lowered the window, or which packets were below the threshold.
    undecided: bool,
    /// Whether the datagram size changed, so that windows of before and after that are equal are not in packets.
    resized: bool,
}

/// What a response took, for the reading "undo".
#[derive(Clone, Copy)]
pub(crate) struct Undo {
    congestion_window: f64,
    ssthresh: f64,
    pub was_reduced: bool,
    response: Time,
}

impl Reno {
    pub fn new(changes: Changes, path: &Path) -> Reno {
        Reno::starting_with(initial_window, changes, path)
    }

    /// With another initial window of a datagram size, bytes.
    pub fn starting_with(initial_window: fn(f64, &Changes) -> f64, changes: Changes, path: &Path) -> Reno {
        let max_datagram_size = f64::from(path.mtu);
        Reno {
            max_datagram_size,
            // §7.2 of ten datagrams, or less.
            congestion_window: initial_window(max_datagram_size, &changes),
            was_reduced: false,
            // §B.3 "ssthresh = infinite".
            ssthresh: f64::INFINITY,
            period: Period::default(),
            initial_window,
            undo: None,
            in_flight: 0.0,
            grown: true,
            undecided: false,
            resized: false,
            changes,
        }
    }

    /// §B.5 InCongestionRecovery(sent_time).
    pub fn in_congestion_recovery(&self, sent_time: Time) -> bool {
        let early = self.changes.has("recovery ends early") && self.period.start == Some(sent_time);
        self.period.contains(sent_time) && !early
    }

    /// §B.6 OnCongestionEvent(sent_time), which keeps a `part` of the window; whether it responds.
    fn on_congestion_event(&mut self, now: Time, sent_time: Time, part: f64) -> bool {
        // §B.6 "No reaction if already in a recovery period".
        if self.in_congestion_recovery(sent_time) {
            return false;
        }
        // §B.6 "Enter recovery period: congestion_recovery_start_time = now()".
        self.period.enter(now);
        self.undo = Some(Undo {
            congestion_window: self.congestion_window,
            ssthresh: self.ssthresh,
            was_reduced: self.was_reduced,
            response: now,
        });
        let from = if self.changes.has("from the flight") { self.in_flight } else { self.congestion_window };
        self.reduce(from * part);
        self.grown = false;
        true
    }

    /// The threshold and the window of a response.
    pub fn reduce(&mut self, ssthresh: f64) {
        self.ssthresh = ssthresh;
        if self.changes.has("threshold floor") {
            self.ssthresh = self.ssthresh.max(self.minimum_window());
        }
        // §B.6 "congestion_window = max(ssthresh, kMinimumWindow)".
        self.congestion_window = self.ssthresh.max(self.minimum_window());
        self.was_reduced = true;
    }

    /// A response under way becomes one `to` so many bytes, for good.
    pub fn reduce_further(&mut self, to: f64) {
        self.ssthresh = self.ssthresh.min(to).max(self.minimum_window());
        self.congestion_window = self.congestion_window.min(self.ssthresh).max(self.minimum_window());
        self.undo = None;
    }

    /// §7.2 "The RECOMMENDED value is 2 * max_datagram_size."
    pub fn minimum_window(&self) -> f64 {
        if self.changes.has("one datagram") { self.max_datagram_size } else { 2.0 * self.max_datagram_size }
    }

    /// A frame came, before anything is made of it.
    pub fn start_frame(&mut self, frame: &Frame<'_>) {
        self.in_flight = frame.in_flight_before as f64;
        if let Some(sample) = &frame.sample {
            self.period.rtt.on_sample(frame.now, sample);
        }
    }

    /// Marks keep a `part` of the window; whether they are responded to.
    pub fn on_marks(&mut self, frame: &Frame<'_>, part: f64) -> bool {
        // §B.7 "If the ECN-CE counter reported by the peer has increased, this could be a new congestion event":
        // sent_time = sent_packets[ack.largest_acked].time_sent; OnCongestionEvent(sent_time).
        let Some(newest) = frame.acked.last().filter(|_| frame.ce > 0 && !self.changes.has("no marks")) else {
            return false;
        };
        let responds = self.on_congestion_event(frame.now, newest.sent_at, part);
        if !self.changes.has("undo after marks") {
            self.undo = None;
        }
        responds
    }

    /// Losses keep a `part` of the window, or the least window after persistent congestion; whether they are responded to.
    pub fn on_losses(&mut self, frame: &Frame<'_>, part: f64) -> Losses {
        // §B.8 "sent_time_of_last_loss = max(sent_time_of_last_loss, lost_packet.time_sent)"; "Congestion event if
        // in-flight packets were lost".
        let before = self.period.start;
        let mut losses = Losses::default();
        if let Some(last) = frame.lost.last() {
            losses.responds = self.on_congestion_event(frame.now, last.sent_at, part);
        }
        let again = self.period.start == before;
        // §7.6.2 "When persistent congestion is declared, the sender's congestion window MUST be reduced to the minimum
        // congestion window (kMinimumWindow)"; §B.8 congestion_recovery_start_time = 0.
        if self.period.establishes(frame, &self.changes) {
            losses.persistent = true;
            if again && self.changes.has("reduced again") {
                self.ssthresh = (self.congestion_window * 0.5).max(self.minimum_window());
            }
            self.congestion_window = self.minimum_window();
            self.was_reduced = true;
            if self.changes.has("no reset") {
                self.congestion_window = self.ssthresh;
            }
            self.period.reset();
            self.undo = None;
        }
        losses
    }

    /// Packets of a frame that grow the window.
    pub fn growing<'a>(&'a self, frame: &'a Frame<'_>) -> impl Iterator<Item = &'a Packet> {
        // §B.5 "Do not increase congestion_window if application limited or flow control limited."
        let grows = frame.acked.iter().filter(|_| !frame.app_limited || self.changes.has("limited growth"));
        // §B.5 "Do not increase congestion window in recovery period."
        grows.filter(|packet| !self.in_congestion_recovery(packet.sent_at) || self.changes.has("recovery growth"))
    }

    /// The bytes of a frame grow the window.
    pub fn grow(&mut self, frame: &Frame<'_>) {
        let size = |packet: &Packet| {
            if self.changes.has("whole packets") { self.max_datagram_size } else { packet.bytes as f64 }
        };
        let bytes: Vec<f64> = self.growing(frame).map(size).collect();
        self.grow_by(&bytes, 1.0, self.max_datagram_size);
        // §7.3.2 "A recovery period ends and the sender enters congestion avoidance when a packet sent during the
        // recovery period is acknowledged."
        if frame.acked.iter().any(|packet| !self.in_congestion_recovery(packet.sent_at)) {
            self.period.ongoing = false;
        }
    }

    /// Each packet of so many bytes, of which a `part` counts, grows the window; by `increase` a window in avoidance.
    pub fn grow_by(&mut self, bytes: &[f64], part: f64, increase: f64) {
        let mut grows = bytes.to_vec();
        if self.changes.has("one step") {
            let (below, all) = ((self.ssthresh - self.congestion_window) / part, bytes.iter().sum());
            self.undecided |= self.resized && blurs_one_step(all, below, self.max_datagram_size);
            grows = one_step(all, below, self.max_datagram_size).collect();
        }
        for acked in grows {
            let acked = acked * part;
            self.grown |= acked > 0.0;
            if self.congestion_window < self.ssthresh {
                // §7.3.1 "the congestion window increases by the number of bytes acknowledged when each acknowledgment
                // is processed".
                self.congestion_window += acked;
            } else {
                // §B.5 "congestion_window += max_datagram_size * acked_packet.sent_bytes / congestion_window".
                self.congestion_window += increase * acked / self.congestion_window;
                if self.changes.has("rounded") {
                    self.congestion_window = self.congestion_window.floor();
                }
            }
        }
    }
}

/// What losses did.
#[derive(Clone, Copy, Default)]
pub(crate) struct Losses {
    pub responds: bool,
    pub persistent: bool,
}

impl Reference for Reno {
    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.start_frame(frame);
        // §7.3.2 "On entering a recovery period, a sender MUST set the slow start threshold to half the value of the
        // congestion window when loss is detected."
        let part = if self.changes.has("seven tenths") { 0.7 } else { 0.5 };
        self.on_marks(frame, part);
        self.on_losses(frame, part);
        self.grow(frame);
    }

    fn on_idle(&mut self, _now: Time, _idle: Span) {
        // §7.8 names RFC 7661 as a way "to update its congestion window after periods of underutilization", and none of its own.
        if self.changes.has("idle restart") {
            self.undo = None;
            let initial = (self.initial_window)(self.max_datagram_size, &self.changes);
            let whole = initial % self.max_datagram_size == 0.0 && !self.resized;
            self.undecided |= !whole && close(self.congestion_window, initial);
            self.congestion_window = self.congestion_window.min(initial);
        }
    }

    fn on_spurious_loss(&mut self, _now: Time, newest_sent_at: Time) {
        // §7.3.2 knows no way back from a recovery period but its end.
        if let Some(undo) = self.undo.take_if(|undo| self.changes.has("undo") && newest_sent_at <= undo.response)
            && self.congestion_window <= undo.congestion_window
        {
            self.congestion_window = undo.congestion_window;
            self.ssthresh = undo.ssthresh;
            self.was_reduced = undo.was_reduced;
            self.period.ongoing = false;
        }
    }

    fn on_mtu(&mut self, _now: Time, bytes: u64) {
        self.resized |= bytes as f64 != self.max_datagram_size;
        let is_initial =
            !self.was_reduced && self.congestion_window == (self.initial_window)(self.max_datagram_size, &self.changes);
        self.max_datagram_size = bytes as f64;
        self.undo = None;
        // §7.2 "If the maximum datagram size changes during the connection, the initial congestion window SHOULD be
        // recalculated with the new size. If the maximum datagram size is decreased in order to complete the handshake,
        // the congestion window SHOULD be set to the new initial congestion window."
        if is_initial && !self.changes.has("bytes kept") {
            self.congestion_window = (self.initial_window)(self.max_datagram_size, &self.changes);
        }
        // §7.2 "The minimum congestion window is the smallest value the congestion window can attain in response to
        // loss, an increase in the peer-reported ECN-CE count, or persistent congestion."
        if self.changes.has("floor of the new size") {
            self.congestion_window = self.congestion_window.max(self.minimum_window());
            self.ssthresh = self.ssthresh.max(self.minimum_window());
        }
    }

    fn expected(&self, _now: Time) -> Expected {
        let phase = if self.period.ongoing {
            Phase::Recovery
        } else if self.congestion_window < self.ssthresh {
            // §7.3.1 "A NewReno sender is in slow start any time the congestion window is below the slow start threshold."
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        };
        Expected {
            cwnd: self.congestion_window,
            ssthresh: self.ssthresh.is_finite().then_some(self.ssthresh),
            phase: Some(phase),
            undecided: self.undecided || self.grown && close(self.congestion_window, self.ssthresh),
            ..Expected::default()
        }
    }
}
