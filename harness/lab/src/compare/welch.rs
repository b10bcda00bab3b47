//! Student's t: confidence intervals of a mean and of the difference of two means.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A sample: how many, their mean, their standard deviation (of two or more).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Number of values, 1 or more.
    pub count: usize,
    /// Arithmetic mean of the values, in their unit.
    pub mean: f64,
    /// Their standard deviation, with n − 1; `None` of a single value.
    pub deviation: Option<f64>,
}

impl Sample {
    /// The sample of `values`; `None` if there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Sample> {
        if values.is_empty() {
            return None;
        }
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
        Some(Sample { count, mean, deviation })
    }
}

/// Half of the confidence interval of a sample's mean, by Student's t with n − 1 degrees of
/// freedom, at `confidence`, a number between 0 and 1; `None` of a single value.
#[must_use]
pub fn half_width(sample: &Sample, confidence: f64) -> Option<f64> {
    let deviation = sample.deviation?;
    let t = StudentsT::new(0.0, 1.0, (sample.count - 1) as f64).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = t * deviation / (sample.count as f64).sqrt();
    half.is_finite().then_some(half)
}

/// Welch's t interval of the difference of two means, `b` less `a`, at `confidence`, a
/// number between 0 and 1: neither equal variances nor equal numbers are assumed. `None`
/// unless both samples have two values or more. The values are taken to be independent and
/// their means about normal.
#[must_use]
pub fn interval(a: &Sample, b: &Sample, confidence: f64) -> Option<(f64, f64)> {
    let share = |sample: &Sample| sample.deviation.map(|s| s * s / sample.count as f64);
    let (va, vb) = (share(a)?, share(b)?);
    let difference = b.mean - a.mean;
    let variance = va + vb;
    if variance <= 0.0 {
        return Some((difference, difference));
    }
    let part = |v: f64, count: usize| v * v / (count - 1) as f64;
    let freedom = variance * variance / (part(va, a.count) + part(vb, b.count));
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = t * variance.sqrt();
    half.is_finite().then_some((difference - half, difference + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 2e-3 * b.abs().max(1.0), "{a} for {b}");
    }

    #[test]
    fn agrees_with_tables_of_students_t() {
        // Equal variances and numbers: 2 (n − 1) degrees of freedom. t(0.975; 4) = 2.776,
        // t(0.975; 8) = 2.306, t(0.995; 4) = 4.604.
        let a = Sample::of(&[1.0, 2.0, 3.0]).unwrap();
        let b = Sample::of(&[11.0, 12.0, 13.0]).unwrap();
        let half = 2.776 * (2.0_f64 / 3.0).sqrt();
        let (low, high) = interval(&a, &b, 0.95).unwrap();
        close(low, 10.0 - half);
        close(high, 10.0 + half);
        let (low, _) = interval(&a, &b, 0.99).unwrap();
        close(low, 10.0 - 4.604 * (2.0_f64 / 3.0).sqrt());
        let a = Sample::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let (low, high) = interval(&a, &a, 0.95).unwrap();
        close(high, 2.306);
        close(low, -2.306);
    }

    /// `spec: cho §14.5`: ten runs, nine degrees of freedom: t(0.975; 9) = 2.262.
    #[test]
    fn the_interval_of_a_mean_of_ten() {
        let ten: Vec<f64> = (0..10).map(f64::from).collect();
        let sample = Sample::of(&ten).unwrap();
        close(half_width(&sample, 0.95).unwrap(), 2.262 * (82.5f64 / 9.0).sqrt() / 10f64.sqrt());
        assert_eq!(half_width(&Sample::of(&[3.0]).unwrap(), 0.95), None);
        assert_eq!(half_width(&Sample::of(&[3.0, 3.0]).unwrap(), 0.95), Some(0.0));
    }

    #[test]
    fn unequal_variances_cost_degrees_of_freedom() {
        // Variances 1 and 100 of three each: (1/3 + 100/3)² / ((1/9 + 10⁴/9)/2) = 2.04
        // degrees of freedom, whose t(0.975) is 4.22.
        let a = Sample::of(&[-1.0, 0.0, 1.0]).unwrap();
        let b = Sample::of(&[-10.0, 0.0, 10.0]).unwrap();
        let (_, high) = interval(&a, &b, 0.95).unwrap();
        assert!((high / (101.0_f64 / 3.0).sqrt() - 4.22).abs() < 0.02, "{high}");
    }

    #[test]
    fn a_single_value_gives_no_interval_and_equal_ones_a_point() {
        let one = Sample::of(&[3.0]).unwrap();
        let same = Sample::of(&[5.0, 5.0]).unwrap();
        assert_eq!(one.deviation, None);
        assert_eq!(interval(&one, &same, 0.95), None);
        assert_eq!(interval(&same, &same, 0.95), Some((0.0, 0.0)));
        assert_eq!(Sample::of(&[]), None);
    }
}
