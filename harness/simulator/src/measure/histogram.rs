//! A histogram of times in constant memory.

use prefetch_index::prefetch_index;

/// Buckets per doubling: values are kept to 0.8 %.
const PER_OCTAVE: u64 = 128;
const OCTAVE: usize = PER_OCTAVE as usize;

/// A histogram of times with buckets that grow with the value.
#[derive(Clone, Debug)]
pub struct Histogram {
    count: u64,
    sum: u128,
    min: u64,
    /// The buckets of consecutive octaves, from the lowest with values to the highest.
    buckets: Vec<u64>,
    /// The octave of the first of them.
    lowest: usize,
    /// Place of the bucket of the last value.
    last: usize,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl Histogram {
    /// A histogram without values.
    #[must_use]
    pub fn new() -> Histogram {
        Histogram { count: 0, sum: 0, min: u64::MAX, buckets: Vec::new(), lowest: 0, last: 0 }
    }

    /// Counts `value`, in the unit of the histogram's owner.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        let (octave, bucket) = place(value);
        let at = octave.wrapping_sub(self.lowest).wrapping_mul(OCTAVE).wrapping_add(bucket);
        self.last = at;
        match self.buckets.get_mut(at) {
            Some(count) => *count += 1,
            None => self.widen(octave)[bucket] += 1,
        }
    }

    /// Has the processor fetch the bucket of the last value, where the next one is near.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_index(&self.buckets, self.last);
    }

    /// Makes buckets for an octave that has none, and returns them.
    #[cold]
    fn widen(&mut self, octave: usize) -> &mut [u64] {
        if self.buckets.is_empty() {
            self.lowest = octave;
        }
        let lower = self.lowest.saturating_sub(octave);
        self.buckets.splice(0..0, std::iter::repeat_n(0, lower * OCTAVE));
        self.lowest -= lower;
        let from = (octave - self.lowest) * OCTAVE;
        self.buckets.resize(self.buckets.len().max(from + OCTAVE), 0);
        &mut self.buckets[from..from + OCTAVE]
    }

    /// The mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The smallest value; `None` if there is none.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// The value below which `share` of all lie, to 0.8 %.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (i, &count) in self.buckets.iter().enumerate() {
            if seen + count >= rank {
                let (low, width) = bounds(self.lowest + i / OCTAVE, i % OCTAVE);
                let inside = (rank - seen) as f64 / count as f64;
                return Some((low + width * inside).max(self.min as f64));
            }
            seen += count;
        }
        None
    }

    /// Number of values and their sum.
    #[must_use]
    pub fn totals(&self) -> (u64, u128) {
        (self.count, self.sum)
    }
}

#[inline]
fn place(value: u64) -> (usize, usize) {
    if value < PER_OCTAVE {
        return (0, value as usize);
    }
    let octave = value.ilog2() - PER_OCTAVE.ilog2() + 1;
    ((octave as usize), ((value >> (octave - 1)) - PER_OCTAVE) as usize)
}

/// Lower bound and width of a bucket.
fn bounds(octave: usize, bucket: usize) -> (f64, f64) {
    if octave == 0 {
        return (bucket as f64, 0.0);
    }
    let width = (1u64 << (octave - 1)) as f64;
    ((PER_OCTAVE + bucket as u64) as f64 * width, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_right_to_a_hundredth(mut values in proptest::collection::vec(1u64..10_000_000_000, 1..200), share in 0.01f64..=1.0) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.add(*value));
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let seen = histogram.quantile(share).unwrap();
            prop_assert!((seen / exact - 1.0).abs() < 0.01, "{seen} {exact}");
            prop_assert_eq!(histogram.min(), values.first().copied());
        }
    }

    #[test]
    fn an_empty_histogram_has_nothing_to_tell() {
        let histogram = Histogram::new();
        assert_eq!((histogram.mean(), histogram.min(), histogram.quantile(0.5)), (None, None, None));
        assert_eq!(place(u64::MAX).0, 57);
    }
}
