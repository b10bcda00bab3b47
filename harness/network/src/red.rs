//! Random early detection, with one class or two.
//!
//! Source: ns-2's estimator and spreading (`spec: arumaithurai §4.1`), the network
//! friendly queue with two sets of thresholds over one average (`§4.2`) and its rule
//! for probes (`§4.3`).

use super::discipline::{Action, Admission, Arrival};
use super::out_of_range::{OutOfRange, check};
use super::packet::{Class, Packet};
use super::random::Stream;

/// Probability of a hit as a function of the average queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ramp {
    /// Average below which nothing is hit, packets.
    pub min: f64,
    /// Average from which everything is hit (or, if gentle, the second ramp starts), packets.
    pub max: f64,
    /// Probability just below `max`, 0 to 1.
    pub max_p: f64,
    /// Whether the probability climbs from `max_p` to 1 between `max` and `2·max` instead of jumping.
    pub gentle: bool,
    /// Whether the probability is `max_p` all the way from `min` to `max` (the document's
    /// Eqs. 4.1 and 4.2 taken literally).
    pub flat: bool,
}

impl Ramp {
    /// Base probability at an average of `avg` packets; `None` below the ramp.
    #[must_use]
    pub fn probability(&self, avg: f64) -> Option<f64> {
        if avg < self.min {
            None
        } else if avg < self.max {
            let climbed = if self.flat { 1.0 } else { (avg - self.min) / (self.max - self.min) };
            Some(self.max_p * climbed)
        } else if self.gentle && avg < 2.0 * self.max {
            Some(self.max_p + (1.0 - self.max_p) * (avg - self.max) / self.max)
        } else {
            Some(1.0)
        }
    }

    fn check(&self) -> Result<(), OutOfRange> {
        check(self.min >= 0.0 && self.min.is_finite(), "minimum threshold", self.min, "0 or more packets")?;
        let above = self.max > self.min && self.max.is_finite();
        check(above, "maximum threshold", self.max, "more than the minimum threshold")?;
        check(self.max_p > 0.0 && self.max_p <= 1.0, "maximum probability", self.max_p, "more than 0, at most 1")
    }
}

/// Settings of a RED queue.
#[derive(Clone, PartialEq, Debug)]
pub struct RedSpec {
    /// Weight of a new sample in the average.
    pub weight: f64,
    /// Packet size by which idle time is counted, bytes.
    pub mean_bytes: f64,
    /// Whether hits are kept apart by at least the reciprocal of the probability (ns-2's `wait_`).
    pub wait: bool,
    /// Whether a hit marks packets that are ECN-capable instead of dropping them.
    pub mark: bool,
    /// For normal packets, and for all without `low_priority`.
    pub normal: Ramp,
    /// For low-priority packets; `None` treats them as normal ones.
    pub low_priority: Option<Ramp>,
    /// Probes are marked if more than so many packets wait, and not hit otherwise;
    /// without it they are packets like any other.
    pub probe_threshold: Option<u64>,
}

impl RedSpec {
    /// One class with the defaults of the spec: weight 0.002, no `gentle`, no `wait`.
    #[must_use]
    pub fn new(min: f64, max: f64, max_p: f64, mean_bytes: f64) -> RedSpec {
        RedSpec {
            weight: 0.002,
            mean_bytes,
            wait: false,
            mark: true,
            normal: Ramp { min, max, max_p, gentle: false, flat: false },
            low_priority: None,
            probe_threshold: None,
        }
    }

    /// Two classes over a buffer of `buffer` packets, scaled as the document scales
    /// them: low priority from 1 % to 50 % of the buffer with probability up to 1,
    /// normal from 90.67 % to the whole with up to 0.1, probes marked at more than one
    /// waiting packet.
    #[must_use]
    pub fn two_class(buffer: u64, mean_bytes: f64) -> RedSpec {
        let share = |part: f64| (part * buffer as f64).floor();
        let ramp = |min, max: f64, max_p| Ramp { min, max: max.max(min + 1.0), max_p, gentle: false, flat: false };
        RedSpec {
            normal: ramp(share(0.9067), buffer as f64, 0.1),
            low_priority: Some(ramp(share(0.01), share(0.5), 1.0)),
            probe_threshold: Some(1),
            ..RedSpec::new(0.0, 1.0, 1.0, mean_bytes)
        }
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        let weight = self.weight;
        check(weight > 0.0 && weight <= 1.0, "weight of the average", weight, "more than 0, at most 1")?;
        let bytes = self.mean_bytes;
        check(bytes >= 1.0 && bytes.is_finite(), "mean packet size", bytes, "at least 1 byte")?;
        self.normal.check()?;
        self.low_priority.as_ref().map_or(Ok(()), Ramp::check)
    }
}

/// A RED queue at work.
#[derive(Clone, Debug)]
pub(super) struct Red {
    spec: RedSpec,
    avg: f64,
    normal: i64,
    low_priority: i64,
}

impl Red {
    pub fn new(spec: RedSpec) -> Red {
        Red { spec, avg: 0.0, normal: -1, low_priority: -1 }
    }

    /// Counts a packet that it does not manage but that waits with the others.
    pub fn note(&mut self, arrival: Arrival) {
        if arrival.idle > 0 && arrival.rate.is_finite() {
            let missed = arrival.idle as f64 / 1e9 * arrival.rate / (8.0 * self.spec.mean_bytes);
            self.avg *= libm::pow(1.0 - self.spec.weight, missed.floor());
        }
        self.avg = (1.0 - self.spec.weight) * self.avg + self.spec.weight * arrival.waiting as f64;
    }

    /// Counts a packet and says whether it is hit.
    fn hits(&mut self, arrival: Arrival, packet: &Packet, random: &mut Stream) -> bool {
        self.note(arrival);
        if let (Class::Probe, Some(threshold)) = (packet.class, self.spec.probe_threshold) {
            return arrival.waiting > threshold;
        }
        let (ramp, count) = match (packet.class, &self.spec.low_priority) {
            (Class::LowPriority, Some(ramp)) => (ramp, &mut self.low_priority),
            _ => (&self.spec.normal, &mut self.normal),
        };
        let Some(base) = ramp.probability(self.avg) else {
            *count = -1;
            return false;
        };
        *count += 1;
        let hit = random.chance(spread(base, *count as f64, self.spec.wait));
        if hit || base >= 1.0 {
            *count = 0;
        }
        hit
    }
}

impl Admission for Red {
    fn admit(&mut self, arrival: Arrival, packet: &Packet, random: &mut Stream) -> Action {
        if !self.hits(arrival, packet, random) {
            Action::Pass
        } else if self.spec.mark && packet.ecn.is_capable() {
            Action::Mark
        } else {
            Action::Drop
        }
    }
}

/// The probability that makes gaps between hits uniform instead of geometric, with
/// `count` packets since the last hit.
fn spread(base: f64, count: f64, wait: bool) -> f64 {
    if base >= 1.0 {
        return 1.0;
    }
    let through = count * base;
    let left = match wait {
        true if through < 1.0 => return 0.0,
        true => 2.0 - through,
        false => 1.0 - through,
    };
    if left > 0.0 { (base / left).min(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests;
