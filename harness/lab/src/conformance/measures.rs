//! The measures that are compared, their means and the gaps between means.

use serde::{Deserialize, Serialize};

use crate::results::{Metrics, decimals};

/// A value for each of the measures that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measures<T> {
    /// Of goodput: Mbit/s, or percent.
    pub goodput: T,
    /// Of the mean RTT: ms, or percent.
    pub rtt: T,
    /// Of loss: percent of the packets sent, or points.
    pub loss: T,
}

impl<T> Measures<T> {
    /// All three in their order.
    pub fn each(&self) -> [&T; 3] {
        [&self.goodput, &self.rtt, &self.loss]
    }
}

impl Measures<Option<f64>> {
    /// The measures of `metrics` in Mbit/s, ms and percent; `None` where it has no value.
    #[must_use]
    pub fn of(metrics: &Metrics) -> Measures<Option<f64>> {
        Measures {
            goodput: Some(metrics.goodput_mbps),
            rtt: metrics.rtt_mean_ms,
            loss: metrics.loss.map(|loss| 100.0 * loss),
        }
    }
}

impl Measures<Option<Mean>> {
    /// How far `other` is from this.
    #[must_use]
    pub fn to(&self, other: &Self) -> Measures<Option<Gap>> {
        let both = |a: Option<Mean>, b: Option<Mean>, gap: fn(Mean, Mean) -> Option<Gap>| gap(a?, b?);
        Measures {
            goodput: both(self.goodput, other.goodput, Gap::relative),
            rtt: both(self.rtt, other.rtt, Gap::relative),
            loss: both(self.loss, other.loss, Gap::points),
        }
    }
}

/// The mean over runs that differ in their seeds only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean, in the unit of the measure.
    pub mean: f64,
    /// Its standard error; `None` of one run.
    pub error: Option<f64>,
}

impl Mean {
    /// The mean of `values`; `None` without any.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Mean> {
        let n = values.len() as f64;
        let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / n)?;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let error = (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt());
        Some(Mean { mean: decimals(mean, 4), error: error.map(|error| decimals(error, 4)) })
    }
}

/// Difference of two means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The difference, percent or points.
    pub value: f64,
    /// Its standard error, the same; `None` of one run.
    pub error: Option<f64>,
}

impl Gap {
    /// In percent of `from`; `None` where that is nothing.
    fn relative(from: Mean, to: Mean) -> Option<Gap> {
        let ratio = (from.mean > 0.0).then(|| to.mean / from.mean)?;
        let share = |mean: Mean| mean.error.map(|error| error / from.mean);
        let error = share(to).zip(share(from)).map(|(to, from)| 100.0 * to.hypot(ratio * from));
        Some(Gap::rounded(100.0 * (ratio - 1.0), error))
    }

    /// The difference in the measure's unit.
    fn points(from: Mean, to: Mean) -> Option<Gap> {
        let error = to.error.zip(from.error).map(|(to, from)| to.hypot(from));
        Some(Gap::rounded(to.mean - from.mean, error))
    }

    fn rounded(value: f64, error: Option<f64>) -> Gap {
        Gap { value: decimals(value, 3), error: error.map(|error| decimals(error, 3)) }
    }

    /// Whether it is wider than `limit`, whichever way.
    #[must_use]
    pub fn is_beyond(self, limit: f64) -> bool {
        self.value.abs() > limit
    }
}
