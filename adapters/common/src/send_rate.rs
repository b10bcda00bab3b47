//! The estimated send rate: what an application may count on, as media senders ask for it
//! (`estimatedSendRate` of W3C WebTransport §6, `getStats()`).

use windlass_controllers::event::PacketsAcked;
use windlass_controllers::{Decision, Event, EventKind, Phase, Span, Time};

use crate::{spread, to_f64, to_u64, windows_per_rtt};

/// The rate at which a flow's next data leave and arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SendRate {
    /// Bit/s of packets as the congestion window counts them: UDP payload, retransmissions included.
    pub bits_per_s: u64,
    /// What it rests on.
    pub confidence: Confidence,
    /// What keeps the flow from sending faster.
    pub limited_by: Limit,
}

/// What a [`SendRate`] rests on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Confidence {
    /// On the window and the RTT alone: the rate was not tried, or not for ten seconds.
    Low,
    /// On a measurement of earlier round trips; since then the application sent too little to repeat it.
    Medium,
    /// On what the path delivered in the latest round trips.
    High,
}

/// What keeps a flow from sending faster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// It has nothing more to send.
    Application,
    /// Slow start or the controller's own start-up, in which the rate is about to rise.
    StartUp,
    /// The congestion window.
    Window,
    /// The controller's pacing rate.
    Pacing,
}

/// Points of the delivery that are remembered, an eighth of a smoothed RTT apart: one RTT and what is open.
const POINTS: usize = 9;
/// Packets of a burst whose spacing makes a measurement, beyond the first.
const TRAIN: u32 = 6;
/// A burst arrived later than it left by a tenth at least: it waited in a queue that it built up itself.
const STRETCH: f64 = 1.1;
/// A measurement is of the latest round trips for so many smoothed RTTs, and for as long as a video of ten frames a second
/// is silent between two.
const LATEST_RTTS: u64 = 4;
const LATEST: Span = Span::from_millis(200);
/// After this the path may be another (`RFC 9959 §3`: a path's capacity is known for a while).
const STALE: Span = Span::from_millis(10_000);

/// What was delivered when.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Point {
    at: Time,
    delivered: u64,
}

/// A rate, as what it is the quotient of, and when it was measured.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Measured {
    bytes: u64,
    /// Not zero.
    time: Span,
    at: Time,
}

impl Measured {
    /// Whether the rate is that of `other` at least.
    fn reaches(&self, other: &Measured) -> bool {
        u128::from(self.bytes) * u128::from(other.time.0) >= u128::from(other.bytes) * u128::from(self.time.0)
    }

    fn bits_per_s(&self) -> f64 {
        to_f64(self.bytes) * 8e9 / to_f64(self.time.0)
    }
}

/// Packets that left in a burst, from one acknowledgement to the latest.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Train {
    bytes: u64,
    packets: u32,
    /// From the first packet's departure to the latest's.
    sent: Span,
    /// From the first packet's acknowledgement to the latest's.
    acked: Span,
}

/// Estimates the rate at which a flow can send from its events and decisions alone.
///
/// A flow that always has data is measured: the estimate is what was acknowledged in the latest smoothed RTT. One that is limited
/// by its application shows its share of the bottleneck where it sends in bursts: packets that arrive further apart than
/// they left waited for each other at the bottleneck. Without such bursts the latest measurement holds, as a lower bound, until more
/// is delivered. Of a media controller the estimate is its target rate instead. Never is it more than what the decision in force lets leave.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SendRateMeter {
    points: [Point; POINTS],
    newest: usize,
    delivered: u64,
    smoothed: Span,
    /// Of the latest acknowledgement: its time, and when its newest packet left.
    acked_at: Time,
    sent_at: Time,
    /// When an acknowledgement last found the application with nothing to send.
    limited_at: Option<Time>,
    train: Train,
    measured: Option<Measured>,
}

impl SendRateMeter {
    /// Takes an event of the flow.
    #[inline]
    pub fn on_event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::PacketsAcked(acked) => self.acked(event.now, acked),
            EventKind::RttSampled(rtt) => self.smoothed = rtt.smoothed,
            EventKind::IdleRestart(_) => self.limited_at = Some(event.now),
            _ => {}
        }
    }

    #[inline]
    fn acked(&mut self, now: Time, acked: &PacketsAcked) {
        if let Some(rtt) = &acked.rtt {
            self.smoothed = rtt.smoothed;
        }
        if self.delivered == 0 {
            self.begin(now, acked.bytes);
        }
        self.delivered = self.delivered.saturating_add(acked.bytes);
        let was_limited = self.was_app_limited();
        if acked.app_limited {
            self.limited_at = Some(now);
            if !was_limited {
                self.train = Train::default();
            }
        }
        // Of other flows the points tell the rate.
        if was_limited || acked.app_limited {
            self.extend_train(now, acked);
        }
        (self.acked_at, self.sent_at) = (now, self.sent_at.max(acked.newest_sent_at));
        if now.since(self.points[self.newest].at).0 >= (self.smoothed.0 / 8).max(1) {
            self.measure(now);
        }
    }

    #[cold]
    fn begin(&mut self, now: Time, delivered: u64) {
        self.points = [Point { at: now, delivered }; POINTS];
        self.limited_at = None;
    }

    /// The rate since the oldest point, in whose place comes one of now.
    #[inline(never)]
    fn measure(&mut self, now: Time) {
        self.newest = (self.newest + 1) % POINTS;
        let first = std::mem::replace(&mut self.points[self.newest], Point { at: now, delivered: self.delivered });
        let time = now.since(first.at);
        if time == Span::ZERO {
            return;
        }
        let rate = Measured { bytes: self.delivered - first.delivered, time, at: now };
        if !self.is_app_limited(first.at) || self.reaches_measured(&rate) {
            self.measured = Some(rate);
        }
    }

    fn reaches_measured(&self, rate: &Measured) -> bool {
        self.measured.as_ref().is_some_and(|measured| rate.reaches(measured))
    }

    /// Whether the application had nothing to send at some time since `since`.
    fn is_app_limited(&self, since: Time) -> bool {
        self.limited_at.is_some_and(|at| at >= since)
    }

    /// Whether the application had nothing to send shortly before the latest acknowledgement.
    #[inline]
    fn was_app_limited(&self) -> bool {
        self.is_app_limited(Time(self.acked_at.0.saturating_sub(LATEST.max(self.smoothed).0)))
    }

    /// Follows a burst of a flow that is limited by its application. It ends at the gap before the next burst, where packets arrive closer
    /// together than they left, and where an acknowledgement was held back.
    #[inline(never)]
    fn extend_train(&mut self, now: Time, acked: &PacketsAcked) {
        let (between_sent, between_acked) = (acked.newest_sent_at.since(self.sent_at), now.since(self.acked_at));
        let train = self.train;
        let next = Train {
            bytes: train.bytes.saturating_add(acked.bytes),
            packets: train.packets.saturating_add(acked.packets),
            sent: train.sent + between_sent,
            acked: train.acked + between_acked,
        };
        // At less than half the rate of those before.
        let is_late = train.packets > 2
            && 2 * u128::from(acked.bytes) * u128::from(train.acked.0)
                < u128::from(train.bytes) * u128::from(between_acked.0);
        if between_sent > Span(self.smoothed.0 / 4) || next.sent > next.acked || is_late {
            self.end_train();
        } else {
            self.train = next;
        }
    }

    fn end_train(&mut self) {
        let train = std::mem::take(&mut self.train);
        if train.packets < TRAIN || train.acked == Span::ZERO || !self.was_app_limited() {
            return;
        }
        let rate = Measured { bytes: train.bytes, time: train.acked, at: self.acked_at };
        // One that arrived as it left met no bottleneck: the share is no less.
        let stretched = to_f64(train.acked.0) >= STRETCH * to_f64(train.sent.0);
        if stretched || self.reaches_measured(&rate) {
            self.measured = Some(rate);
        }
    }

    /// The estimate under the decision in force; `None` before the first RTT sample.
    #[must_use]
    pub fn estimate(&self, decision: &Decision) -> Option<SendRate> {
        let window = spread(decision.cwnd, 1.0, self.smoothed)?;
        // What leaves at most while the window has room.
        let most = decision.pacing_rate.max(spread(decision.cwnd, windows_per_rtt(decision.phase), self.smoothed))?;
        let latest = LATEST.max(Span(self.smoothed.0.saturating_mul(LATEST_RTTS)));
        let (bits, confidence) = match self.measured {
            None => (window.min(most), Confidence::Low),
            Some(measured) => {
                let age = self.acked_at.since(measured.at);
                let confidence = match age {
                    age if age <= latest => Confidence::High,
                    age if age <= STALE => Confidence::Medium,
                    _ => Confidence::Low,
                };
                (to_u64(measured.bits_per_s()).min(most), confidence)
            }
        };
        let bits = decision.target_rate.map_or(bits, |target| target.min(most));
        let limited_by = if self.is_app_limited(Time(self.acked_at.0.saturating_sub(self.smoothed.0))) {
            Limit::Application
        } else if decision.phase == Phase::SlowStart {
            Limit::StartUp
        } else if decision.pacing_rate.is_some_and(|rate| rate < window) {
            Limit::Pacing
        } else {
            Limit::Window
        };
        Some(SendRate { bits_per_s: bits, confidence, limited_by })
    }
}

#[cfg(test)]
mod tests;
