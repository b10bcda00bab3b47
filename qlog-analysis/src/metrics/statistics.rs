//! Statistics in constant memory: quantiles of delays, and means over time.

use hdrhistogram::Histogram;
use serde::Serialize;

/// A delay beyond this counts as this in the quantiles: an hour, ns.
const LONGEST: i64 = 3_600_000_000_000;

/// Samples that are kept as they are, before a histogram takes their place.
const FEW: usize = 512;

/// Quantiles of a delay, milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Quantiles {
    /// Number of samples.
    pub samples: u64,
    /// Smallest value.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// Nine in ten are below.
    pub p90: f64,
    /// Nineteen in twenty are below.
    pub p95: f64,
    /// Ninety-nine in a hundred are below.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
}

/// Two delays as near as this are not held for different, ns: clocks of logs have a resolution, and packets wait in queues of
/// a host.
const NEAR: i64 = 5_000_000;

/// Samples that are no chance.
const ENOUGH: u64 = 10;

/// Samples of a delay, for quantiles.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    samples: Samples,
    count: u64,
    sum: f64,
    least: i64,
    most: i64,
    digits: u8,
}

#[derive(Clone, Debug)]
enum Samples {
    Few(Vec<i64>),
    Many(Histogram<u32>),
}

impl Distribution {
    pub(super) fn new() -> Self {
        // Three digits keep the error of a quantile below 0.1 %.
        Distribution { samples: Samples::Few(Vec::new()), count: 0, sum: 0.0, least: i64::MAX, most: 0, digits: 3 }
    }

    /// Adds a sample, ns.
    pub(super) fn add(&mut self, delay: i64) {
        let delay = delay.max(0);
        self.count += 1;
        self.sum += delay as f64;
        self.least = self.least.min(delay);
        self.most = self.most.max(delay);
        match &mut self.samples {
            Samples::Few(few) if few.len() < FEW => few.push(delay),
            Samples::Few(few) => {
                let mut many = Histogram::new(self.digits).expect("one to five digits are allowed");
                few.iter().for_each(|&earlier| record(&mut many, earlier));
                record(&mut many, delay);
                self.samples = Samples::Many(many);
            }
            Samples::Many(many) => record(many, delay),
        }
    }

    /// Keeps two digits of quantiles, from now on, if there are no more than a few samples
    /// yet: an eighth of the memory, errors below 1 %.
    pub(super) fn coarsen(&mut self) {
        self.digits = 2;
    }

    pub(super) fn clear(&mut self) {
        *self = Distribution { digits: self.digits, ..Distribution::new() };
    }

    /// Whether there is a sample near one of the `other`'s: their spans overlap, but for a quarter or [`NEAR`].
    pub(super) fn agrees_with(&self, other: &Distribution) -> bool {
        let below = |a: &Distribution, b: &Distribution| a.most.saturating_add((a.most / 4).max(NEAR)) < b.least;
        self.count > 0 && other.count > 0 && !below(self, other) && !below(other, self)
    }

    /// Whether enough samples of both say otherwise.
    pub(super) fn contradicts(&self, other: &Distribution) -> bool {
        self.count.min(other.count) >= ENOUGH && !self.agrees_with(other)
    }

    /// Adds all samples to `others`.
    pub(super) fn add_to(&self, others: &mut Distribution) {
        self.add_excess_of(0, others);
    }

    pub(super) fn least(&self) -> Option<i64> {
        (self.count > 0).then_some(self.least)
    }

    /// Adds to `others` what each sample exceeds the least by.
    pub(super) fn add_excess_to(&self, others: &mut Distribution) {
        self.add_excess_of(self.least, others);
    }

    fn add_excess_of(&self, base: i64, others: &mut Distribution) {
        match &self.samples {
            Samples::Few(few) => few.iter().for_each(|delay| others.add(delay - base)),
            Samples::Many(many) => {
                for value in many.iter_recorded() {
                    let excess = (value.value_iterated_to() as i64).saturating_sub(base);
                    (0..value.count_at_value()).for_each(|_| others.add(excess));
                }
            }
        }
    }

    /// The quantiles of what the samples exceed `base`, ns, by.
    pub(super) fn above(&self, base: i64) -> Option<Quantiles> {
        let samples = self.count;
        if samples == 0 {
            return None;
        }
        let sorted = match &self.samples {
            Samples::Few(few) => {
                let mut sorted = few.clone();
                sorted.sort_unstable();
                sorted
            }
            Samples::Many(_) => Vec::new(),
        };
        let ms = |ns: f64| (ns - base as f64).max(0.0) / 1e6;
        let at = |quantile: f64| match &self.samples {
            // The least sample that so many are not above.
            Samples::Few(_) => {
                ms(sorted[((quantile * samples as f64).ceil() as usize).clamp(1, sorted.len()) - 1] as f64)
            }
            // A histogram's cell reaches past its samples; no quantile lies beyond the most.
            Samples::Many(many) => {
                ms((many.value_at_quantile(quantile) as f64).clamp(self.least as f64, self.most as f64))
            }
        };
        Some(Quantiles {
            samples,
            min: ms(self.least as f64),
            mean: ms(self.sum / samples as f64),
            p50: at(0.5),
            p90: at(0.9),
            p95: at(0.95),
            p99: at(0.99),
            max: ms(self.most as f64),
        })
    }
}

fn record(histogram: &mut Histogram<u32>, delay: i64) {
    // It grows by itself.
    let _grows = histogram.record(delay.min(LONGEST) as u64);
}

/// A step function of time.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct TimeWeighted {
    /// The present value, and the time since which it holds, ns.
    current: Option<(i64, f64)>,
    area: f64,
    weight: f64,
    least: f64,
    most: f64,
}

impl TimeWeighted {
    /// The value from `now` on.
    pub(super) fn set(&mut self, now: i64, value: f64) {
        self.hold(now);
        if self.current.is_none() {
            (self.least, self.most) = (value, value);
        }
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        // A time that goes back is no reason to count a span twice.
        let now = self.current.map_or(now, |(since, _)| now.max(since));
        self.current = Some((now, value));
    }

    /// The present value lasts until `now`.
    fn hold(&mut self, now: i64) {
        if let Some((since, value)) = self.current {
            let span = now.saturating_sub(since).max(0) as f64;
            self.area += value * span;
            self.weight += span;
        }
    }

    /// The value in force; `None` before the first.
    pub(super) fn last(&self) -> Option<f64> {
        self.current.map(|(_, value)| value)
    }

    /// Mean over time until `now`, least and most; `None` if there never was a value.
    pub(super) fn finish(mut self, now: i64) -> Option<(f64, f64, f64)> {
        let last = self.last()?;
        self.hold(now);
        let mean = if self.weight > 0.0 { self.area / self.weight } else { last };
        Some((mean, self.least, self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_samples_have_the_same_quantiles() {
        for (count, error) in [(FEW as i64, 0.0), (FEW as i64 + 1, 1e-3), (20_000, 1e-3)] {
            let mut delays = Distribution::new();
            // Every delay once, in no order.
            (0..count).for_each(|index| delays.add((index * 7919 % count + 1) * 1_000_000));
            let found = delays.above(0).unwrap();
            for (quantile, of) in [(found.p50, 0.5), (found.p95, 0.95), (found.p99, 0.99)] {
                let expected = (of * count as f64).ceil();
                assert!((quantile - expected).abs() <= error * expected, "{count}: {quantile} for {expected}");
            }
            assert_eq!((found.samples, found.min, found.max), (count as u64, 1.0, count as f64));
        }
    }

    #[test]
    fn coarse_quantiles_are_within_a_hundredth() {
        let mut delays = Distribution::new();
        delays.coarsen();
        (1..=10_000).for_each(|delay| delays.add(delay * 1000));
        let found = delays.above(0).unwrap();
        assert!((found.p95 - 9.5).abs() < 0.095, "{}", found.p95);
    }
}
