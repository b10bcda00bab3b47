//! A quantity that holds until it changes, averaged over time.

/// A step function of time.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Weighted {
    /// Since when the present value holds, ns, and the value.
    current: Option<(i64, f64)>,
    area: f64,
    weight: f64,
    least: f64,
    most: f64,
}

impl Weighted {
    /// The value from `now` on.
    pub(super) fn set(&mut self, now: i64, value: f64) {
        self.hold(now);
        if self.current.is_none() {
            (self.least, self.most) = (value, value);
        }
        self.least = self.least.min(value);
        self.most = self.most.max(value);
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

    /// The present value.
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
