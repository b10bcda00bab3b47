//! Quantiles of delays, within a thousandth, in constant memory.

use hdrhistogram::Histogram;
use serde::Serialize;

/// A delay beyond this counts as this in the quantiles: eleven days, ns.
const LONGEST: i64 = 1_000_000_000_000_000;

/// Quantiles of a delay, milliseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Quantiles {
    /// How many samples there are.
    pub samples: u64,
    /// The least.
    pub min: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// Nine in ten are below.
    pub p90: f64,
    /// Nineteen in twenty are below.
    pub p95: f64,
    /// Ninety-nine in a hundred are below.
    pub p99: f64,
    /// The most.
    pub max: f64,
}

/// Samples of a delay.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    histogram: Histogram<u64>,
    sum: f64,
    least: i64,
    most: i64,
}

impl Distribution {
    pub(super) fn new() -> Self {
        // Three digits keep the error of a quantile below 0.1 %. It grows by itself.
        let histogram = Histogram::new(3).expect("three digits are allowed");
        Distribution { histogram, sum: 0.0, least: i64::MAX, most: 0 }
    }

    /// A sample, ns.
    pub(super) fn add(&mut self, delay: i64) {
        let delay = delay.max(0);
        let _grows = self.histogram.record(delay.min(LONGEST) as u64);
        self.sum += delay as f64;
        self.least = self.least.min(delay);
        self.most = self.most.max(delay);
    }

    pub(super) fn least(&self) -> Option<i64> {
        (!self.histogram.is_empty()).then_some(self.least)
    }

    /// The quantiles of what the samples exceed `base`, ns, by.
    pub(super) fn above(&self, base: i64) -> Option<Quantiles> {
        let samples = self.histogram.len();
        if samples == 0 {
            return None;
        }
        let ms = |ns: f64| (ns - base as f64).max(0.0) / 1e6;
        // A histogram's cell reaches past its samples; no quantile lies beyond the most.
        let at = |quantile: f64| {
            ms((self.histogram.value_at_quantile(quantile) as f64).clamp(self.least as f64, self.most as f64))
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
