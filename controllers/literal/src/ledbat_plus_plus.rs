//! LEDBAT++: draft-irtf-iccrg-ledbat-plus-plus-01 §4, ACK by ACK, where it says nothing otherwise as RFC 6817.

use windlass_controllers::{Path, Span, Time};

use crate::ledbat::{Delays, OF_LEDBAT};
use crate::recovery::{BYTES_KEPT, OF_RENOS_WINDOW, THRESHOLD_FLOOR};
use crate::reno::Reno;
use crate::{Changes, Expected, Frame, Packet, Reading, Reference, Scheme, Status, at_once, close};

const READINGS: [Reading; 7] = [
    Reading {
        change: "whole",
        section: "draft-irtf-iccrg-ledbat-plus-plus-01 §4.2",
        says: "CEIL(X) is the smallest integer larger than X",
        ours: "X itself where X is whole, or a base delay of 120 ms had half the gain of one of 121 ms",
        status: Status::Documented,
    },
    Reading {
        change: "less the ACK delay",
        section: "draft-irtf-iccrg-ledbat-plus-plus-01 §4.5",
        says: "delays are round-trip times, with what the receiver held the ACK",
        ours: "without what it says it held (RFC 9002 §5.3)",
        status: Status::Documented,
    },
    Reading {
        change: "a round trip an ACK",
        section: "draft-irtf-iccrg-ledbat-plus-plus-01 §4.3",
        says: "the change of a round trip is spread over what is acknowledged in it",
        ours: "one ACK makes that of one round trip at most",
        status: Status::Documented,
    },
    Reading {
        change: "noticed by the next ACK",
        section: "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4",
        says: "slow start is over when the window reaches the threshold",
        ours: "the next ACK notices, and what is due then waits for another",
        status: Status::Documented,
    },
    Reading {
        change: "the way back",
        section: "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4",
        says: "a loss halves the window",
        ours: "in a slowdown the one it returns to",
        status: Status::Documented,
    },
    Reading {
        change: "starts over",
        section: "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4",
        says: "only the first slow start is the initial one",
        ours: "that after persistent congestion or an idle period that took the window back, too",
        status: Status::Documented,
    },
    Reading {
        change: "unused time",
        section: "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4",
        says: "the length of a slowdown is measured from its start until the window is back",
        ours: "without the time in which the window is not used",
        status: Status::Documented,
    },
];

pub(crate) const SCHEME: Scheme = Scheme {
    name: "ledbat++",
    text: "ledbat++:base_history=3,base_window=0",
    document: "draft-irtf-iccrg-ledbat-plus-plus-01 §4; RFC 6817 §2",
    source: include_str!("ledbat_plus_plus.rs"),
    readings: &[&OF_RENOS_WINDOW, &OF_LEDBAT, &[THRESHOLD_FLOOR], &READINGS],
    mutants: &[
        BYTES_KEPT,
        ("gain of one", "GAIN is 1"),
        ("gain of the target", "GAIN is 1/min(16, ⌈TARGET/base⌉)"),
        ("full slow start", "slow start is not by the gain"),
        ("start to the target", "the first slow start ends at the target"),
        ("linear decrease", "beyond the target the window shrinks as LEDBAT's"),
        ("beyond the threshold", "slow start goes beyond the threshold by the rest of an ACK"),
        ("uncapped", "a round trip may take more than half of the window"),
        ("one after a timeout", "persistent congestion leaves one packet"),
        ("no first slowdown", "there is no slowdown after the first slow start"),
        ("one round trip down", "a slowdown lasts one round trip at two packets"),
        ("five times", "slowdowns are five times their length apart"),
        ("old samples", "samples of more than an RTT ago count"),
        ("base of a minute", "the base delay is that of the minute under way"),
    ],
    mended: &[],
    scope: |_| true,
    start: |changes, path| Box::new(LedbatPlusPlus::new(changes, path)),
};

/// §4.5 "LEDBAT++ default delay target of 60ms".
const TARGET: f64 = 0.06;

/// §4.4, of the slowdowns.
#[derive(Clone, Copy, Debug)]
enum Slowdown {
    /// The first slow start is under way.
    Before,
    /// The next begins then.
    At(Time),
    /// Two packets, since and until.
    Down(Time, Time),
    /// On the way back, since it began.
    Up(Time),
}

struct LedbatPlusPlus {
    of: Reno,
    delays: Delays,
    slowdown: Slowdown,
    last_ack: Time,
    /// Rounding decides whether the window is at the threshold.
    undecided: bool,
}

impl LedbatPlusPlus {
    fn new(changes: Changes, path: &Path) -> LedbatPlusPlus {
        // §4.1 "LEDBAT++ sender limits the initial window to 2 packets."
        let of = Reno::starting_with(|mss, _| 2.0 * mss, changes.clone(), path);
        let delays = Delays::new(changes);
        LedbatPlusPlus { of, delays, slowdown: Slowdown::Before, last_ack: path.now, undecided: false }
    }

    fn has(&self, change: &str) -> bool {
        self.of.changes.has(change)
    }

    fn rtts(&self, rtts: u64) -> Span {
        Span(rtts * Span::from_secs_f64(self.of.period.rtt.smoothed).0)
    }

    /// §4.2 "GAIN = 1 / (min (16, CEIL (2*TARGET/base)))", "where CEIL(X) is defined as the smallest integer larger than X".
    fn gain(&self) -> f64 {
        let times = if self.has("gain of the target") { 1.0 } else { 2.0 };
        let base = self.delays.base();
        let ratio = times * TARGET / base;
        let ceil = if self.has("whole") { (ratio - 1e-9).ceil() } else { (ratio + 1e-9).floor() + 1.0 };
        let divisor = if base.is_finite() { ceil.min(16.0) } else { 16.0 };
        if self.has("gain of one") { 1.0 } else { 1.0 / divisor }
    }

    fn is_near_the_threshold(&self) -> bool {
        self.of.congestion_window != self.of.ssthresh && close(self.of.congestion_window, self.of.ssthresh)
    }

    /// A response or a decrease makes the window `bytes`, or another datagram size finds it so: where rounding decides whether
    /// that is the least window, it decides whether a slowdown, which goes down to the least window, is over at once.
    fn meets_the_floor(&mut self, bytes: f64) {
        self.undecided |= bytes.is_finite() && close(bytes, self.of.minimum_window());
    }

    fn in_slow_start(&self) -> bool {
        self.of.congestion_window < self.of.ssthresh
    }

    /// §4.4, what is due.
    fn slow_down(&mut self, now: Time) {
        if self.complete(now) && self.has("noticed by the next ACK") {
            return;
        }
        if let Slowdown::At(due) | Slowdown::Down(_, due) = self.slowdown {
            self.undecided |= at_once(now, due);
        }
        match self.slowdown {
            // §4.4 "Upon entering slowdown, set SSTHRESH to the current version of the congestion window CWND, and then reduce
            // CWND to 2 packets." "Keep CWND frozen at 2 packets for 2 RTT."
            Slowdown::At(at) if now >= at => {
                let two = 2.0 * self.of.max_datagram_size;
                self.of.ssthresh = self.of.congestion_window.max(two);
                self.of.congestion_window = self.of.congestion_window.min(two);
                self.of.undo = None;
                let down = self.rtts(if self.has("one round trip down") { 1 } else { 2 });
                self.slowdown = Slowdown::Down(now, now + down);
            }
            // §4.4 "After 2 RTT, ramp up the congestion window according to the slow start algorithm, until the congestion
            // window reaches SSTHRESH."
            Slowdown::Down(since, until) if now >= until => self.slowdown = Slowdown::Up(since),
            _ => {}
        }
    }

    /// §4.4 when the next slowdown is, once slow start is over. Whether it was not yet known.
    fn complete(&mut self, now: Time) -> bool {
        if self.in_slow_start() {
            return false;
        }
        match self.slowdown {
            // §4.4 "The initial slowdown starts shortly after the connection completes the initial slow start phase; 2 RTT
            // after the initial slow start completes."
            Slowdown::Before if self.has("no first slowdown") => self.slowdown = Slowdown::At(Time(u64::MAX)),
            Slowdown::Before => self.slowdown = Slowdown::At(now + self.rtts(2)),
            // §4.4 "LEDBAT++ sender measures the duration of the slowdown, from the time of entry to the time at which the
            // congestion window regrows to the previous SSTHRESH value. The next slowdown is then scheduled to occur at 9
            // times this duration after the exit point."
            Slowdown::Up(since) => {
                let times = if self.has("five times") { 5 } else { 9 };
                self.slowdown = Slowdown::At(now + Span(times * now.since(since).0));
            }
            _ => return false,
        }
        true
    }

    fn on_acknowledgment(&mut self, frame: &Frame<'_>, newest: &Packet) {
        let before = self.of.congestion_window;
        // §4.5 "LEDBAT++ uses Round Trip Time measurements instead of one way delay"; they "also include the delay at the
        // receiver between receiving a packet and sending the corresponding acknowledgement."
        let (min, less) = (self.of.period.rtt.min.secs(), self.has("less the ACK delay"));
        let rtt = frame.sample.map(|sample| {
            let (latest, held) = (sample.latest.secs(), if less { sample.ack_delay.secs() } else { 0.0 });
            (latest - held).max(min).min(latest)
        });
        self.delays.on_ack(frame.now, rtt.filter(|rtt| *rtt > 0.0), newest);
        let queued = self.delays.queuing_delay();
        // §4.1 "If the queuing delay is larger than 3/4ths of the target delay, exit slow start and immediately move to the
        // congestion avoidance phase." "Exit slow start in on excessive delay SHOULD be applied only during the initial slow
        // start."
        let most = TARGET * if self.has("start to the target") { 1.0 } else { 0.75 };
        let initial = matches!(self.slowdown, Slowdown::Before) && self.in_slow_start();
        if initial && queued.is_some_and(|queued| queued > most * (1.0 + 1e-9)) {
            self.of.ssthresh = before.max(self.of.minimum_window());
        }
        self.slow_down(frame.now);
        let all: f64 = frame.acked.iter().map(|packet| packet.bytes as f64).sum();
        let grows = |packet: &&Packet| {
            let held = self.has("no growth in recovery") && self.of.in_congestion_recovery(packet.sent_at);
            !(held || frame.app_limited && self.has("no growth while limited"))
        };
        let fresh: f64 = frame.acked.iter().filter(grows).map(|packet| packet.bytes as f64).sum();
        let gain = self.gain();
        let mut change = 0.0;
        if let (Some(queued), Slowdown::At(_)) = (queued, self.slowdown) {
            change = self.change(gain, queued);
            // Whether the window shrinks, which makes a response final: gain and decrease may cancel each other.
            self.undecided |= change.abs() < 1e-9;
        }
        let most = if self.has("a round trip an ACK") { 1.0 } else { f64::INFINITY };
        let part = |bytes: f64, window: f64| (bytes / window).min(most);
        let (window, mss) = (self.of.congestion_window, self.of.max_datagram_size);
        if change < 0.0 {
            let least = self.of.minimum_window();
            let shrunk = window + change * mss * part(all, window);
            self.meets_the_floor(shrunk);
            self.of.congestion_window = shrunk.max(least).min(window);
            self.of.ssthresh = self.of.ssthresh.min(self.of.congestion_window).max(2.0 * mss);
            self.of.undo = None;
        }
        if !self.in_slow_start() {
            let window = self.of.congestion_window;
            self.of.congestion_window += change.max(0.0) * mss * part(fresh, window);
        } else if !matches!(self.slowdown, Slowdown::Down(..)) {
            self.start_slowly(gain * fresh, fresh);
        }
        if !self.has("noticed by the next ACK") {
            self.complete(frame.now);
        }
        if frame.app_limited && self.has("unused time") {
            self.leave_out(frame.now);
        }
        self.last_ack = frame.now;
    }

    /// §4.1 "A LEDBAT++ sender increases the congestion window by that number multiplied by the dynamic GAIN value"; "After
    /// initial slow start, the increase of congestion window is bounded by the SSTHRESH estimate".
    fn start_slowly(&mut self, by_gain: f64, fresh: f64) {
        let added = if self.has("full slow start") { fresh } else { by_gain };
        let room = self.of.ssthresh - self.of.congestion_window;
        self.undecided |= close(added, room);
        if added >= room && !self.has("beyond the threshold") {
            // The sum is the threshold only where the difference is exact.
            self.undecided |= self.of.congestion_window < self.of.ssthresh / 2.0;
            self.of.congestion_window = self.of.ssthresh;
        } else {
            self.of.congestion_window += added;
        }
    }

    /// §4.3 the change of a round trip, packets.
    fn change(&self, gain: f64, queued: f64) -> f64 {
        // §4.3 "the per RTT window when delay is less than target is: W += GAIN"; "the per RTT window delay is higher than
        // target is: W += max( (GAIN - Constant * W * (delay/target - 1)), -W/2) )"; "It is RECOMMENDED that the Constant be
        // set to 1."
        let windows = self.of.congestion_window / self.of.max_datagram_size;
        let excess = (queued / TARGET - 1.0).max(0.0);
        let change = gain - if self.has("linear decrease") { excess } else { windows * excess };
        if self.has("uncapped") { change } else { change.max(-windows / 2.0) }
    }

    fn leave_out(&mut self, now: Time) {
        let span = now.since(self.last_ack);
        if let Slowdown::Down(since, _) | Slowdown::Up(since) = &mut self.slowdown {
            *since = (*since + span).min(now);
        }
    }
}

impl Reference for LedbatPlusPlus {
    fn on_frame(&mut self, frame: &Frame<'_>) {
        self.of.start_frame(frame);
        let down = matches!(self.slowdown, Slowdown::Down(..)) && self.has("the way back");
        let (window, ssthresh) = (self.of.congestion_window, self.of.ssthresh);
        let responds = self.of.on_marks(frame, 0.5);
        let losses = self.of.on_losses(frame, 0.5);
        if responds || losses.responds || losses.persistent {
            self.meets_the_floor(if down { 0.5 * ssthresh } else { 0.5 * window });
        }
        if down && (responds || losses.responds) {
            self.of.ssthresh = (0.5 * ssthresh).max(self.of.minimum_window());
            self.of.congestion_window = window;
        }
        if losses.persistent {
            // §4.3 "LEDBAT++ sender MUST also ensure that the congestion window never decreases below 2 packets".
            let packets = if self.has("one after a timeout") { 1.0 } else { 2.0 };
            self.of.congestion_window = packets * self.of.max_datagram_size;
            if self.has("starts over") {
                self.slowdown = Slowdown::Before;
            }
        }
        if let Some(newest) = frame.acked.last() {
            self.on_acknowledgment(frame, newest);
        }
        self.of.period.end_with(frame);
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        if self.has("unused time") {
            self.leave_out(now);
        }
        self.last_ack = now;
        let window = self.of.congestion_window;
        self.of.on_idle(now, idle);
        self.undecided |= close(self.of.congestion_window, self.of.ssthresh);
        if self.of.congestion_window < window && self.has("starts over") {
            self.slowdown = Slowdown::Before;
        }
    }

    fn on_spurious_loss(&mut self, now: Time, newest_sent_at: Time) {
        self.of.on_spurious_loss(now, newest_sent_at);
    }

    fn on_mtu(&mut self, now: Time, bytes: u64) {
        let (window, ssthresh) = (self.of.congestion_window, self.of.ssthresh);
        self.of.on_mtu(now, bytes);
        self.meets_the_floor(window);
        self.meets_the_floor(ssthresh);
    }

    fn expected(&self, now: Time) -> Expected {
        let slowdown = matches!(self.slowdown, Slowdown::Down(..) | Slowdown::Up(_));
        let variables = vec![("gain", self.gain()), ("slowdown", f64::from(u8::from(slowdown)))];
        Expected {
            phase: None,
            variables,
            undecided: self.undecided || self.is_near_the_threshold(),
            ..self.of.expected(now)
        }
    }
}
