//! Proportional integral controller enhanced (`RFC 8033`): drops or marks what arrives with a probability that keeps the
//! waiting time at a target.
//!
//! The algorithm of Appendix A, with marks as §5.1 has them. The waiting time is what is left to send over the link's
//! rate, which a link knows exactly (§4.2); it only changes at arrivals and in steps with time, so the updates of every
//! `update` are made up for when a packet arrives.

use windlass_controllers::Span;

use super::discipline::{Action, Admission, Arrival};
use super::out_of_range::{OutOfRange, check};
use super::packet::Packet;
use super::random::Stream;

/// Settings of a PIE queue (`RFC 8033 §4, Appendix A`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PieSpec {
    /// Waiting time it aims at (QDELAY_REF).
    pub target: Span,
    /// Time between updates of the probability (T_UPDATE).
    pub update: Span,
    /// How long nothing is dropped once the queue was short (MAX_BURST).
    pub burst: Span,
    /// Weight of what the waiting time is beyond the target, 1/s.
    pub alpha: f64,
    /// Weight of what it grew since the last update, 1/s.
    pub beta: f64,
    /// Nothing is dropped while no more than two packets of so many bytes wait (MEAN_PKTSIZE).
    pub mean_bytes: u32,
    /// Whether ECN-capable packets are marked instead while the probability is below a tenth (§5.1).
    pub mark: bool,
}

impl PieSpec {
    /// The defaults of `RFC 8033 Appendix A`, marking.
    #[must_use]
    pub const fn new(mean_bytes: u32) -> PieSpec {
        PieSpec {
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            mean_bytes,
            mark: true,
        }
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        check(self.target > Span::ZERO, "target of PIE", 0.0, "more than 0 s")?;
        check(self.update > Span::ZERO, "update interval of PIE", 0.0, "more than 0 s")?;
        for (what, weight) in [("alpha of PIE", self.alpha), ("beta of PIE", self.beta)] {
            check(weight >= 0.0 && weight.is_finite(), what, weight, "0 or more, 1/s")?;
        }
        Ok(())
    }
}

/// Below so much of a probability it changes by the so-manieth part (`RFC 8033 §4.2`).
const SCALE: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];

/// From here on packets are dropped that could be marked (`RFC 8033 §5.1`).
const MARKS_BELOW: f64 = 0.1;

/// A PIE queue at work.
pub(super) struct Pie {
    spec: PieSpec,
    probability: f64,
    /// Waiting time at the last update, s.
    last: f64,
    /// Burst allowance, ns.
    allowance: u64,
    /// When the next update is due, ns.
    due: u64,
}

impl Pie {
    pub fn new(spec: PieSpec) -> Pie {
        Pie { spec, probability: 0.0, last: 0.0, allowance: 0, due: spec.update.0 }
    }

    fn is_short(&self, wait: f64) -> bool {
        wait < self.spec.target.secs() / 2.0
    }

    /// An update at which a packet would wait for `wait` s (`RFC 8033 §4.2`).
    fn update(&mut self, wait: f64) {
        let step = self.spec.alpha * (wait - self.spec.target.secs()) + self.spec.beta * (wait - self.last);
        let scale = SCALE.iter().find(|(below, _)| self.probability < *below).map_or(1.0, |(_, scale)| *scale);
        self.probability += step / scale;
        if wait == 0.0 && self.last == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last = wait;
        self.allowance = self.allowance.saturating_sub(self.spec.update.0);
    }

    /// Makes up for the updates until `now` of a link that is free from `free` on, ns.
    fn catch_up(&mut self, now: u64, free: u64) {
        while self.due <= now {
            self.update(free.saturating_sub(self.due) as f64 / 1e9);
            let idle = free <= self.due && self.probability == 0.0 && self.last == 0.0 && self.allowance == 0;
            // Nothing changes any more until a packet arrives.
            let steps = if idle { (now - self.due) / self.spec.update.0 + 1 } else { 1 };
            self.due = self.due.saturating_add(steps * self.spec.update.0);
        }
    }
}

impl Admission for Pie {
    fn admit(&mut self, arrival: Arrival, packet: &Packet, random: &mut Stream) -> Action {
        self.catch_up(arrival.now, arrival.now + arrival.wait - arrival.idle.min(arrival.now));
        // §4.4
        if self.probability == 0.0 && self.is_short(arrival.wait as f64 / 1e9) && self.is_short(self.last) {
            self.allowance = self.spec.burst.0;
        }
        // §4.1
        let bypasses = (self.is_short(self.last) && self.probability < 0.2)
            || arrival.waiting_bytes <= 2 * u64::from(self.spec.mean_bytes);
        if self.allowance > 0 || bypasses || !random.chance(self.probability) {
            Action::Pass
        } else if self.spec.mark && packet.ecn.is_capable() && self.probability < MARKS_BELOW {
            Action::Mark
        } else {
            Action::Drop
        }
    }
}

#[cfg(test)]
mod tests;
