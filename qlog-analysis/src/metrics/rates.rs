//! Bytes over time, in bins that widen as a trace goes on.

use serde::Serialize;

/// The width of a bin to begin with, ns.
const WIDTH: i64 = 10_000_000;

/// 1 s in ns.
const SECOND: u64 = 1_000_000_000;

/// Within this part of a rate another is near it.
pub(super) const NEAR: f64 = 0.2;

/// Bytes per time bin.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Rates {
    /// Start of the first bin, ns of the trace's clock.
    pub start: i64,
    /// Width of a bin, ns.
    pub width: i64,
    /// The bytes of each bin.
    pub bytes: Vec<u64>,
    /// Largest number of bins.
    #[serde(skip)]
    most: usize,
}

impl Rates {
    /// Most bins kept; beyond it neighbours are added up.
    pub(super) const BINS: usize = 1 << 14;

    /// No bytes yet, from `start` on.
    #[must_use]
    pub(super) fn new(start: i64) -> Self {
        Rates { start, width: WIDTH, bytes: Vec::new(), most: Rates::BINS }
    }

    /// Keeps at most so many bins from now on.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most.clamp(16, Rates::BINS);
        while self.bytes.len() > self.most {
            self.widen();
        }
        self.bytes.shrink_to_fit();
    }

    fn widen(&mut self) {
        self.width = self.width.saturating_mul(2);
        self.bytes =
            self.bytes.chunks(2).map(|pair| pair.iter().fold(0, |sum, &bytes| bytes.saturating_add(sum))).collect();
    }

    /// Adds `bytes` at `now`, ns.
    pub(super) fn add(&mut self, now: i64, bytes: u64) {
        let since = now.saturating_sub(self.start).max(0);
        while since / self.width >= self.most as i64 {
            self.widen();
        }
        let bin = (since / self.width) as usize;
        if self.bytes.len() <= bin {
            self.bytes.resize(bin + 1, 0);
        }
        self.bytes[bin] = self.bytes[bin].saturating_add(bytes);
    }

    /// The mean rate from `from` to `to`, ns of the trace's clock; bit/s. Bins that are
    /// partly inside count in part.
    #[must_use]
    pub fn between(&self, from: i64, to: i64) -> f64 {
        let span = to.saturating_sub(from);
        if span <= 0 {
            return 0.0;
        }
        let mut bytes = 0.0;
        for (bin, &there) in self.bytes.iter().enumerate() {
            let begin = self.start.saturating_add(self.width.saturating_mul(bin as i64));
            let inside = to.min(begin.saturating_add(self.width)).saturating_sub(from.max(begin)).max(0);
            bytes += there as f64 * inside as f64 / self.width as f64;
        }
        bytes * 8e9 / span as f64
    }

    /// After how many seconds from the first bytes on the rate stayed within a fifth of its
    /// mean over the second half of the time, judged second by second (in long traces by the
    /// least whole number of bins that make a second). `None` if it did not, or there are
    /// fewer than four seconds.
    #[must_use]
    pub fn settled_after(&self) -> Option<f64> {
        let per = usize::try_from(SECOND.div_ceil(self.width.max(1) as u64)).ok()?;
        let empty = self.bytes.iter().take_while(|&&bytes| bytes == 0).count();
        let spans: Vec<f64> =
            self.bytes[empty..].chunks_exact(per).map(|span| span.iter().map(|&bytes| bytes as f64).sum()).collect();
        let late = &spans[spans.len() / 2..];
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        if spans.len() < 4 || mean <= 0.0 {
            return None;
        }
        let unsteady = spans.iter().rposition(|span| (span - mean).abs() > NEAR * mean);
        let steady = unsteady.map_or(0, |last| last + 1);
        (steady < spans.len()).then(|| (steady * per) as f64 * self.width as f64 / 1e9)
    }

    /// End of the last bin, ns of the trace's clock.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.start.saturating_add(self.width.saturating_mul(self.bytes.len() as i64))
    }
}
