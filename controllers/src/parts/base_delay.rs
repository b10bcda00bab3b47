//! The delay of the empty path where a path may become longer.
//!
//! The least delay there ever was is a path's own until a longer route replaces it: from then on
//! all of the difference looks like a queue, and a flow that answers delay starves for ever. So the
//! least delay is believed for `base_window` alone, as BBR believes its minimum RTT
//! (`draft-ietf-ccwg-bbr-06 §5.3.4`). Once no sample has come down to it for as long,
//! the flow empties its own part of the queue, by half of what the path carries for a round trip,
//! and looks at the least delay of the next. That is the path's, if delays have hardly varied
//! since: a queue that others keep moves, since whoever fills it learns from its losses, and a
//! flow in the background must not take it for the path (La, Walrand and Anantharam 1998 wait for
//! a lasting rise likewise).
//!
//! A sample below the least of late begins the time anew, so that flows which see one of them
//! empty its part look at the path together from then on (`draft-ietf-ccwg-bbr-06 §5.3.4`).

use crate::decision::Decision;
use crate::event::RttSample;
use crate::{Event, EventKind, Span, Time, parameters};

parameters! {
    /// The [`BaseDelay`]'s.
    pub struct Settings {
        /// How long the least delay is believed that no sample comes down to; then half of the path is left unused for two round trips, and their least delay is the path's if delays vary little. 0 believes it for ever.
        base_window: f64 = 10.0, paper 0.0, in 0.0, 86_400.0, unit "s", source "draft-ietf-ccwg-bbr-06 §5.3.4";
    }
}

/// Round trips the least delay is believed for at least, so that looking for it costs little.
const LEAST_ROUNDS: u64 = 40;

/// How many times what delays vary by a path has to be longer, for the rise to be the path's. Reno
/// (CUBIC) behind a buffer of four BDPs lifts the least delay by 0.6 (1.7) times that.
const STEADY: i64 = 3;

/// The same of a flow that has one sample in several round trips: of what a queue varies by, two samples of a ramp show a
/// third on average (two uniform numbers are a third apart). Reno's queue that grows behind ten BDPs of twelve packets lifts
/// their least by 8.1 times that; a cycle that takes longer than some 25 s is taken for the path for a while.
const STEADY_SPARSE: i64 = 3 * STEADY;

/// Part of what the path carries that is in flight while the queue is emptied
/// (`draft-ietf-ccwg-bbr-06 §5.3.4`).
const DRAINED: f64 = 0.5;

/// Round trips without a sample after which a flow has no queue of its own.
const SPARSE: u64 = 3;

/// So many silences, each longer than the least delay is believed for, count as that time.
const SILENCES: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Stage {
    #[default]
    Believed,
    /// Until the ACK of a packet sent since.
    Drained,
    /// Until the ACK of a packet sent after that one.
    Measured,
}

/// The least delay of a path, nanoseconds; signed, as relative one-way delays are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BaseDelay {
    base: i64,
    /// The least delay of late, and when it came, to a round trip.
    recent: i64,
    recent_at: Time,
    /// The smallest and the largest of the rounds' least delays since half of the time was over.
    range: (i64, i64),
    /// The least delay of the round trip under way, and when that began.
    round: i64,
    round_at: Time,
    stage: Stage,
    /// Part of the window in use while the queue is emptied.
    part: f64,
}

impl Default for BaseDelay {
    fn default() -> Self {
        BaseDelay {
            base: i64::MAX,
            recent: i64::MAX,
            recent_at: Time::ZERO,
            range: (i64::MAX, i64::MIN),
            round: i64::MAX,
            round_at: Time::ZERO,
            stage: Stage::Believed,
            part: 1.0,
        }
    }
}

/// A sample of a path's delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// When it came.
    pub now: Time,
    /// When its packet left.
    pub sent_at: Time,
    /// The delay, up to a constant of the path, ns.
    pub ns: i64,
    /// The round-trip time.
    pub rtt: Span,
}

impl Sample {
    /// The sample of `delay` that `event` brings with `rtt`.
    #[must_use]
    #[inline]
    pub fn of(event: &Event, rtt: &RttSample, ns: i64) -> Sample {
        let sent_at = match &event.kind {
            EventKind::PacketsAcked(acked) => acked.newest_sent_at,
            _ => Time(event.now.0.saturating_sub(rtt.latest.0)),
        };
        Sample { now: event.now, sent_at, ns, rtt: rtt.latest }
    }
}

impl BaseDelay {
    /// The delay of the empty path, ns; `None` before the first sample.
    #[must_use]
    #[inline]
    pub fn get(&self) -> Option<i64> {
        (self.base < i64::MAX).then_some(self.base)
    }

    /// Takes a sample in. Returns whether the path has turned out to be longer: the base is larger
    /// than it was.
    #[inline]
    pub fn sample(&mut self, settings: &Settings, sample: Sample) -> bool {
        // Neither the base nor the least delay of late is above the round's.
        (sample.ns < self.round || sample.sent_at >= self.round_at) && self.take_in(settings, &sample)
    }

    /// The least sample of its round trip so far, or the first of the next.
    #[inline(never)]
    fn take_in(&mut self, settings: &Settings, sample: &Sample) -> bool {
        self.base = self.base.min(sample.ns);
        if settings.base_window <= 0.0 {
            (self.round, self.round_at) = (self.base, Time(u64::MAX));
            return false;
        }
        if sample.ns == self.base || (sample.ns < self.recent && self.stage == Stage::Believed) {
            (self.recent, self.recent_at) = (sample.ns, sample.now);
            self.stage = Stage::Believed;
        }
        let rises = sample.sent_at >= self.round_at && self.end_round(settings, sample);
        self.round = self.round.min(sample.ns);
        rises
    }

    /// A round trip is over. Returns whether the base has risen.
    #[cold]
    fn end_round(&mut self, settings: &Settings, sample: &Sample) -> bool {
        let least = core::mem::replace(&mut self.round, i64::MAX);
        let began = core::mem::replace(&mut self.round_at, sample.now);
        let lasted = sample.now.since(began);
        if least == i64::MAX {
            return false;
        }
        if least == self.base {
            self.recent_at = sample.now;
        }
        let window = Span::from_secs_f64(settings.base_window).0.max(LEAST_ROUNDS.saturating_mul(sample.rtt.0));
        if lasted.0 >= window {
            // Nothing was sent meanwhile. One silence tells nothing of the path, but a flow may send as seldom as that.
            let age = began.since(self.recent_at).0.saturating_add(window / SILENCES);
            self.recent_at = Time(sample.now.0.saturating_sub(age));
        }
        let age = sample.now.since(self.recent_at).0;
        let (low, high) = if age > window / 2 { self.range } else { (least, least) };
        self.range = (low.min(least), high.max(least));
        match self.stage {
            Stage::Believed if age <= window => false,
            // A flow that sends less than once a round trip has no queue to empty.
            Stage::Believed if lasted.0 > SPARSE.saturating_mul(sample.rtt.0) => {
                self.judge(sample, sample.ns, STEADY_SPARSE)
            }
            Stage::Believed => {
                let queued = sample.ns.saturating_sub(self.base) as f64;
                let pipe = (1.0 - queued / (sample.rtt.0 as f64).max(1.0)).clamp(0.0, 1.0);
                (self.stage, self.part) = (Stage::Drained, DRAINED * pipe);
                false
            }
            Stage::Drained => {
                self.stage = Stage::Measured;
                false
            }
            Stage::Measured => self.judge(sample, least, STEADY),
        }
    }

    /// Delays were `least` without a queue of the flow's own, before `sample` came; a longer path's have to vary `steady`
    /// times less than they rose.
    fn judge(&mut self, sample: &Sample, least: i64, steady: i64) -> bool {
        let (low, high) = self.range;
        let low = low.min(least);
        let longer = low.saturating_sub(self.base) > steady.saturating_mul(high.saturating_sub(low));
        if longer {
            self.base = low.min(sample.ns);
        }
        (self.recent, self.recent_at) = (least.min(sample.ns), sample.now);
        self.stage = Stage::Believed;
        longer
    }

    /// Whether part of the window is left unused.
    #[must_use]
    #[inline]
    pub fn is_looking(&self) -> bool {
        self.stage != Stage::Believed
    }

    /// Leaves part of the window of `decision` unused while the queue is emptied, but for `least` bytes.
    #[inline]
    pub fn hold(&self, least: f64, decision: &mut Decision) {
        if self.is_looking() {
            let part = (self.part * decision.cwnd as f64).max(least) as u64;
            decision.cwnd = decision.cwnd.min(part);
        }
    }
}

#[cfg(test)]
mod tests;
