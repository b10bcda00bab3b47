//! CUBIC: RFC 9438, packet by packet, with the slow start of RFC 9406 and the recovery periods of RFC 9002.

use windlass_controllers::{Path, Phase, Span, Time};

use crate::hystart::{Growth, HyStart};
use crate::recovery::{
    BYTES_KEPT, MENDED, OF_WINDOWS, Period, REDUCED_AGAIN, TEN_DATAGRAMS, blurs_one_step, initial_window, one_step,
};
use crate::{Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status, close};

const READINGS: [Reading; 5] = [
    Reading {
        change: "plateau",
        section: "RFC 9438 §4.2",
        says: "K is the cube root of (W_max - cwnd_epoch)/C",
        ours: "a W_max at or below the window gives K = 0 and a plateau there",
        status: Status::Documented,
    },
    Reading {
        change: "never down",
        section: "RFC 9438 §4.3",
        says: "in the Reno-friendly region cwnd is set to W_est",
        ours: "to the larger of both",
        status: Status::Documented,
    },
    Reading {
        change: "two after marks",
        section: "RFC 9438 §4.6",
        says: "at least one segment upon ECE",
        ours: "two, as RFC 9002 §7.2",
        status: Status::Documented,
    },
    Reading {
        change: "W_max through a timeout",
        section: "RFC 9438 §4.7, §4.8",
        says: "a congestion event sets W_max; RFC 9002 §B.8 has one before persistent congestion",
        ours: "persistent congestion leaves W_max until the next stage begins",
        status: Status::Documented,
    },
    Reading {
        change: "rounds by time",
        section: "RFC 9406 §4.2",
        says: "a round ends when windowEnd is acknowledged",
        ours: "when a packet sent later than the round began is, so one sent at that instant does not count",
        status: Status::Documented,
    },
];

pub(crate) const SCHEME: Scheme = Scheme {
    name: "cubic",
    text: "cubic",
    document: "RFC 9438 §4, §5.8; RFC 9406 §4; RFC 9002 §7, B",
    source: concat!(include_str!("cubic.rs"), include_str!("hystart.rs")),
    readings: &[&OF_WINDOWS, &READINGS],
    mutants: &[
        REDUCED_AGAIN,
        TEN_DATAGRAMS,
        BYTES_KEPT,
        ("half", "β is 0.5"),
        ("one datagram", "the least window is one datagram"),
        ("no convergence", "W_max is the window, however small"),
        ("no K", "K is 0"),
        ("α stays", "α never rises to 1"),
        ("unfriendly", "no Reno-friendly region"),
        ("latest RTT", "the latest RTT for the smoothed one"),
        ("twice", "the target may be twice the window"),
        ("time runs on", "t counts while the application limits the sender"),
        ("nine samples", "HyStart++ waits for nine samples"),
        ("no way back", "CSS never goes back to slow start"),
        ("filter a round too old", "HyStart++ compares with the first round"),
        ("six rounds", "CSS lasts six rounds"),
        ("idle since sent", "t leaves out all the time since the latest packet left, in which ACKs came"),
        ("half in CSS", "CSS grows by half of what slow start does"),
        ("a sixteenth", "MIN_RTT_DIVISOR is 16"),
        ("no bounds", "RttThresh is an eighth of the RTT, however small or large"),
        ("baseline of before", "cssBaselineMinRtt is that of the round before CSS"),
        ("no CSS", "HyStart++ ends slow start where CSS begins"),
        ("rounds survive idle", "HyStart++ compares rounds after an idle period with those before"),
        ("persistent after two", "two probe timeouts are persistent congestion"),
    ],
    mended: &[
        MENDED[0],
        MENDED[1],
        MENDED[2],
        MENDED[3],
        ("RFC 9438 §4.2", "an idle restart took out the time since the latest packet left, in which ACKs came"),
        ("RFC 9406 §4.3", "the rounds of before an idle period were the reference for those after"),
    ],
    scope: |_| true,
    start: |changes, path| Box::new(Cubic::new(changes, path)),
};

/// §5.1 "C SHOULD be set to 0.4".
const C: f64 = 0.4;

/// Windows in segments, times in seconds.
#[derive(Clone, Copy)]
struct Variables {
    cwnd: f64,
    /// A response that was not undone reduced it.
    was_reduced: bool,
    ssthresh: f64,
    /// §4.1.2 "Size of cwnd in segments at the time of setting ssthresh most recently".
    cwnd_prior: f64,
    w_max: Option<f64>,
    /// W_max in W_cubic(t).
    plateau: f64,
    k: f64,
    /// When the stage of congestion avoidance began; `None` before it.
    t_epoch: Option<Time>,
    w_est: f64,
    /// Whether the next stage is the first after a timeout.
    after_timeout: bool,
}

struct Cubic {
    changes: Changes,
    smss: f64,
    of: Variables,
    /// Of the first slow start.
    hystart: Option<HyStart>,
    undo: Option<(Variables, Time)>,
    /// A first slow start was given back: what its rounds are then, no document says.
    given_back: bool,
    /// Rounding decided a comparison.
    undecided: bool,
    /// Whether the segment size changed, so that windows of before and after that are equal are not in segments.
    resized: bool,
    period: Period,
    /// When the latest ACK came that counted for the curve.
    last_ack: Time,
    next_pn: u64,
    grown: bool,
}

impl Cubic {
    fn new(changes: Changes, path: &Path) -> Cubic {
        let smss = f64::from(path.mtu);
        let cwnd = initial_window(smss, &changes) / smss;
        let of = Variables {
            cwnd,
            was_reduced: false,
            ssthresh: f64::INFINITY,
            cwnd_prior: 0.0,
            w_max: None,
            plateau: 0.0,
            k: 0.0,
            t_epoch: None,
            w_est: 0.0,
            after_timeout: false,
        };
        // §4.10 "CUBIC SHOULD use the HyStart++ slow start algorithm".
        let hystart = Some(HyStart::new(path.now));
        Cubic {
            smss,
            of,
            hystart,
            undo: None,
            given_back: false,
            undecided: false,
            // Ours makes an initial window of bytes, not of packets, a bit larger, so that its bytes stay whole.
            resized: smss > 1472.0,
            period: Period::default(),
            last_ack: path.now,
            next_pn: 0,
            grown: true,
            changes,
        }
    }

    /// §4.6 "β_cubic SHOULD be set to 0.7".
    fn beta(&self) -> f64 {
        if self.changes.has("half") { 0.5 } else { 0.7 }
    }

    fn minimum_window(&self) -> f64 {
        if self.changes.has("one datagram") { 1.0 } else { 2.0 }
    }

    /// Whether `one` is below `other`, where rounding does not decide that.
    fn is_below(&mut self, one: f64, other: f64) -> bool {
        self.undecided |= close(one, other) && (one != other || self.resized);
        one < other
    }

    fn on_congestion_event(&mut self, now: Time, sent_time: Time, by_mark: bool) {
        if self.period.contains(sent_time) {
            return;
        }
        self.period.enter(now);
        self.undo = (!by_mark).then_some((self.of, now));
        // §4.7 "At a congestion event, if the current cwnd is less than W_max, this indicates that the saturation point
        // experienced by this flow is getting reduced": W_max = cwnd·(1 + β_cubic)/2, and otherwise cwnd. RFC 9406 §4.2
        // loss in slow start or CSS sets "ssthresh to the current cwnd", and what follows here.
        let before = self.of.w_max.filter(|_| !self.changes.has("no convergence"));
        let shrinks = before.is_some_and(|w_max| self.is_below(self.of.cwnd, w_max));
        self.of.w_max = Some(if shrinks { self.of.cwnd * (1.0 + self.beta()) / 2.0 } else { self.of.cwnd });
        // §4.6 "cwnd_prior = cwnd".
        self.of.cwnd_prior = self.of.cwnd;
        // §4.6 "ssthresh = flight_size * β_cubic", where "some implementations of CUBIC currently use cwnd instead of
        // flight_size" and then "MUST use other measures to prevent cwnd from growing when the volume of bytes in
        // flight is smaller than cwnd".
        self.of.ssthresh = self.of.cwnd * self.beta();
        // §4.6 "cwnd = max(ssthresh, 2)" on loss, "max(ssthresh, 1)" on ECE; "ssthresh = max(ssthresh, 2)".
        let least = if by_mark && !self.changes.has("two after marks") { 1.0 } else { self.minimum_window() };
        self.of.after_timeout = false;
        self.of.cwnd = self.of.ssthresh.max(least);
        self.of.was_reduced = true;
        self.of.ssthresh = self.of.ssthresh.max(2.0);
        self.of.t_epoch = None;
        self.hystart = None;
        self.grown = false;
    }

    /// §4.2 W_cubic(t) = C·(t − K)³ + W_max.
    fn w_cubic(&self, t: f64) -> f64 {
        let k = if self.changes.has("no K") { 0.0 } else { self.of.k };
        C * (t - k).powi(3) + self.of.plateau
    }

    /// The stage of congestion avoidance begins.
    fn begin_epoch(&mut self, now: Time) {
        self.of.t_epoch = Some(now);
        // §4.3 "W_est is set equal to cwnd_epoch at the start of the congestion avoidance stage".
        self.of.w_est = self.of.cwnd;
        let cwnd_epoch = self.of.cwnd;
        match self.of.w_max.filter(|_| !self.of.after_timeout) {
            Some(w_max) if w_max <= cwnd_epoch && self.changes.has("plateau") => {
                (self.of.k, self.of.plateau) = (0.0, cwnd_epoch);
            }
            // §4.2 "K = cbrt((W_max - cwnd_epoch) / C)".
            Some(w_max) => (self.of.k, self.of.plateau) = (((w_max - cwnd_epoch) / C).cbrt(), w_max),
            // §4.8, §4.10 "K is set to 0, and W_max is set to the congestion window size at the beginning of the current
            // congestion avoidance stage".
            None => (self.of.k, self.of.plateau, self.of.w_max) = (0.0, cwnd_epoch, Some(cwnd_epoch)),
        }
        self.of.after_timeout = false;
    }

    /// §4.2 a period that t does not include, of the stage under way and of the one an undo restores.
    fn leave_out(&mut self, now: Time, period: Span) {
        let saved = self.undo.as_mut().and_then(|(of, ..)| of.t_epoch.as_mut());
        for t_epoch in self.of.t_epoch.iter_mut().chain(saved) {
            *t_epoch += period.min(now.since(*t_epoch));
        }
    }

    /// §4.2 to §4.5, a new ACK of `segments` in congestion avoidance.
    fn avoid(&mut self, now: Time, segments: f64) {
        let started = *self.of.t_epoch.get_or_insert(now);
        let t = now.since(started).secs();
        // §4.3 "α_cubic = 3·(1 − β_cubic)/(1 + β_cubic)"; "once W_est has grown to reach the cwnd at the time of most
        // recently setting ssthresh -- that is, W_est >= cwnd_prior -- the sender SHOULD set α_cubic to 1".
        let alpha = 3.0 * (1.0 - self.beta()) / (1.0 + self.beta());
        let is_below = self.is_below(self.of.w_est, self.of.cwnd_prior);
        let alpha = if is_below || self.changes.has("α stays") { alpha } else { 1.0 };
        // §4.3 "W_est = W_est + α_cubic * segments_acked / cwnd".
        self.of.w_est += alpha * segments / self.of.cwnd;
        let cwnd = self.of.cwnd;
        // §4.3 "CUBIC checks whether W_cubic(t) is less than W_est. If so, CUBIC is in the Reno-friendly region, and
        // cwnd SHOULD be set to W_est at each reception of a new ACK."
        if self.w_cubic(t) < self.of.w_est && !self.changes.has("unfriendly") {
            self.of.cwnd = if self.changes.has("never down") { self.of.w_est.max(cwnd) } else { self.of.w_est };
            return;
        }
        // §4.2 "target = cwnd if W_cubic(t + RTT) < cwnd; 1.5 * cwnd if W_cubic(t + RTT) > 1.5 * cwnd; W_cubic(t +
        // RTT) otherwise"; §4.1.2 "RTT: Smoothed round-trip time in seconds".
        let rtt = if self.changes.has("latest RTT") { self.period.rtt.latest } else { self.period.rtt.smoothed };
        let most = if self.changes.has("twice") { 2.0 } else { 1.5 };
        let target = self.w_cubic(t + rtt).clamp(cwnd, most * cwnd);
        // §4.4, §4.5 "cwnd MUST be incremented by (target - cwnd) / cwnd for each received new ACK".
        self.of.cwnd += (target - cwnd) / cwnd * segments;
    }
}

impl Reference for Cubic {
    fn on_packet_sent(&mut self, packet: &Packet, _in_flight: u64, _app_limited: bool) {
        self.next_pn = packet.pn + 1;
    }

    fn on_frame(&mut self, frame: &Frame<'_>) {
        if let Some(sample) = &frame.sample {
            self.period.rtt.on_sample(frame.now, sample);
        }
        if let Some(newest) = frame.acked.last().filter(|_| frame.ce > 0) {
            self.on_congestion_event(frame.now, newest.sent_at, true);
            self.undo = None;
        }
        let (before, w_max) = (self.period.start, self.of.w_max);
        if let Some(last) = frame.lost.last() {
            self.on_congestion_event(frame.now, last.sent_at, false);
        }
        if self.period.establishes(frame, &self.changes) {
            if self.period.start == before && self.changes.has("reduced again") {
                self.of.cwnd_prior = self.of.cwnd;
                self.of.ssthresh = (self.of.cwnd * self.beta()).max(2.0);
            }
            // §4.8 "In case of a timeout, CUBIC follows Reno to reduce cwnd [RFC5681], but sets ssthresh using β_cubic";
            // W_max at the next stage is the window then.
            self.of.cwnd = self.minimum_window();
            self.of.was_reduced = true;
            if self.changes.has("W_max through a timeout") {
                self.of.w_max = w_max;
            }
            self.of.after_timeout = true;
            self.of.t_epoch = None;
            self.hystart = None;
            self.period.reset();
            self.undo = None;
        }
        if frame.acked.is_empty() {
            return;
        }
        let fresh = frame.acked.iter().filter(|packet| !self.period.contains(packet.sent_at));
        let mut fresh: Vec<f64> = fresh.map(|packet| packet.bytes as f64 / self.smss).collect();
        if self.changes.has("one step") {
            let (below, all) = (self.of.ssthresh - self.of.cwnd, fresh.iter().sum());
            self.undecided |= self.resized && blurs_one_step(all, below, 1.0);
            fresh = one_step(all, below, 1.0).collect();
        }
        let css = self.hystart.is_some_and(|hystart| matches!(hystart.growth(), Growth::Css));
        if frame.app_limited {
            // §5.8 "CUBIC does not increase its congestion window if a flow is application-limited"; §4.2 "The elapsed
            // time t in Figure 1 MUST NOT include periods during which cwnd has not been updated due to
            // application-limited behavior".
            if !self.changes.has("time runs on") {
                self.leave_out(frame.now, frame.now.since(self.last_ack));
            }
        } else {
            for segments in fresh.into_iter().filter(|segments| *segments > 0.0) {
                self.grown = true;
                // §4.10 "CUBIC MUST employ a slow-start algorithm when cwnd is no more than ssthresh", which RFC 9002
                // §7.3.1 has as "below".
                if self.of.cwnd < self.of.ssthresh {
                    // RFC 9406 §4.2 "cwnd = cwnd + min(N, L * SMSS)", in CSS "cwnd + (min(N, L * SMSS) /
                    // CSS_GROWTH_DIVISOR)", which is 4; L is infinite where the sender paces.
                    let divisor = if self.changes.has("half in CSS") { 2.0 } else { 4.0 };
                    self.of.cwnd += if css { segments / divisor } else { segments };
                } else {
                    if self.of.t_epoch.is_none() {
                        self.begin_epoch(frame.now);
                    }
                    self.avoid(frame.now, segments);
                }
            }
        }
        self.last_ack = frame.now;
        self.period.end_with(frame);
        let next_pn = self.next_pn;
        if self.hystart.as_mut().is_some_and(|hystart| hystart.on_ack(frame, next_pn, &self.changes)) {
            // RFC 9406 §4.2 "If CSS_ROUNDS rounds are complete, enter congestion avoidance by setting the ssthresh to
            // the current cwnd"; §4.10 "In this special case, CUBIC sets cwnd_prior = cwnd".
            self.of.ssthresh = self.of.cwnd;
            self.of.cwnd_prior = self.of.cwnd;
            self.hystart = None;
            self.grown = false;
        }
        self.undecided |= self.hystart.is_some_and(|hystart| hystart.undecided);
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        // §4.2 as above: an idle sender is limited by its application (§5.8).
        let limited = if self.changes.has("idle since sent") { idle } else { now.since(self.last_ack) };
        self.leave_out(now, limited);
        self.last_ack = now;
        let initial = initial_window(self.smss, &self.changes) / self.smss;
        if self.changes.has("idle restart") {
            self.undo = None;
            self.undecided |= initial.fract() != 0.0 && close(self.of.cwnd, initial);
            if self.is_below(initial, self.of.cwnd) {
                self.of.cwnd = initial;
                self.of.t_epoch = None;
            }
        }
        // RFC 9406 §4.3 "An implementation MAY use HyStart++ to grow the restart window [RFC5681] after a long idle
        // period": that is a start, with rounds of its own.
        if !self.changes.has("rounds survive idle") {
            self.hystart = self.hystart.map(|_| HyStart::new(now));
        }
    }

    fn on_spurious_loss(&mut self, _now: Time, newest_sent_at: Time) {
        // §4.9.2 "restore the original values of the above-mentioned variables", unless "the current cwnd is already
        // higher than cwnd_prior".
        if let Some((of, _)) = self.undo.take_if(|(_, response)| newest_sent_at <= *response)
            && self.of.cwnd <= of.cwnd
        {
            self.of = of;
            self.given_back = of.ssthresh.is_infinite();
            self.period.ongoing = false;
        }
    }

    fn on_mtu(&mut self, _now: Time, bytes: u64) {
        let before = self.smss;
        let is_initial = !self.of.was_reduced && self.of.cwnd == initial_window(before, &self.changes) / before;
        self.resized |= bytes as f64 != before;
        self.smss = bytes as f64;
        self.of.cwnd *= before / self.smss;
        self.of.ssthresh *= before / self.smss;
        self.of.cwnd_prior *= before / self.smss;
        self.of.w_max = self.of.w_max.map(|w_max| w_max * before / self.smss);
        self.of.t_epoch = None;
        self.undo = None;
        if is_initial && !self.changes.has("bytes kept") {
            self.of.cwnd = initial_window(self.smss, &self.changes) / self.smss;
        }
        if self.changes.has("floor of the new size") {
            self.of.cwnd = self.of.cwnd.max(self.minimum_window());
            self.of.ssthresh = self.of.ssthresh.max(self.minimum_window());
        }
    }

    fn expected(&self, _now: Time) -> Expected {
        let phase = if self.period.ongoing {
            Phase::Recovery
        } else if self.of.cwnd < self.of.ssthresh {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        };
        Expected {
            cwnd: self.of.cwnd * self.smss,
            ssthresh: self.of.ssthresh.is_finite().then_some(self.of.ssthresh * self.smss),
            phase: Some(phase),
            undecided: self.undecided || self.given_back || self.grown && close(self.of.cwnd, self.of.ssthresh),
            ..Expected::default()
        }
    }
}
