//! SEARCH (`draft-chung-ccwg-search §3`, version 3.0): slow start ends where deliveries no longer double.
//!
//! Readings: where the lookback is all of `EXTRA_BINS`, its first bin is overwritten by the newest, so it has to be
//! less. Bins of a time without a whole window of them, or of an application that did not use the window, say nothing
//! of the path and are forgotten, as the options of later versions have it. The window is not lowered below the
//! initial one. Bins are as coarse as 16 bits
//! make them at the rate of the path.

use crate::event::PacketsAcked;
use crate::{Span, Time};

/// `WINDOW_SIZE / W`, the share of the initial RTT that a bin lasts: 3.5 over 10 (`§3 l. 1, 2, 5`).
const BIN_DURATION: (u64, u64) = (7, 20);
/// `W`, bins of a window (`§3 l. 2`).
const W: usize = 10;
/// `EXTRA_BINS` (`§3 l. 3`).
const EXTRA_BINS: usize = 15;
/// `NUM_BINS` (`§3 l. 4`).
const NUM_BINS: usize = W + EXTRA_BINS;
/// `THRESH` (`§3 l. 6`).
const THRESH: f64 = 0.35;
/// `2 * INITIAL_RTT / BIN_DURATION`, bins from the congestion point until it is found (`§3 l. 39`).
const DELAY_BINS: usize = (2 * BIN_DURATION.1 / BIN_DURATION.0) as usize;

/// SEARCH: what is delivered in a window of bins is held against what was delivered a round trip before.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Search {
    /// When the bin that fills is full.
    bin_end: Time,
    /// `BIN_DURATION`, µs.
    bin_duration: u32,
    /// Bytes acknowledged since the latest boundary of bins.
    delivered: u32,
    /// `bin`, the newest first, in units of `2^shift` bytes.
    bins: [u16; NUM_BINS],
    shift: u8,
    /// How many bins hold anything: `curr_idx + 1`, or all. `None` before the first RTT sample.
    filled: Option<u8>,
}

impl Search {
    /// An ACK frame in slow start, after the window has grown by it. Returns the bytes that slow start went beyond the
    /// congestion point where it is over (`§3 l. 10-23, 39, 40`).
    pub fn on_ack(&mut self, now: Time, acked: &PacketsAcked) -> Option<f64> {
        if acked.app_limited {
            *self = Search::default();
            return None;
        }
        self.delivered = self.delivered.saturating_add(u32::try_from(acked.bytes).unwrap_or(u32::MAX));
        let rtt = acked.rtt?.latest;
        match self.filled {
            None => self.initialize(now, rtt),
            Some(filled) if now > self.bin_end => {
                let filled = self.update_bins(now, filled)?;
                if self.norm_diff(filled, rtt)? >= THRESH {
                    return Some(self.sum_bins(0, DELAY_BINS, 0.0) * f64::from(1u32 << self.shift));
                }
            }
            _ => {}
        }
        None
    }

    /// `§3 l. 5, 9`, with the first RTT.
    fn initialize(&mut self, now: Time, initial_rtt: Span) {
        let duration = (initial_rtt.0 / 1000).saturating_mul(BIN_DURATION.0) / BIN_DURATION.1;
        self.bin_duration = u32::try_from(duration).unwrap_or(u32::MAX).max(1);
        self.bin_end = now + self.bins_last(1);
        self.filled = Some(0);
    }

    /// How long `bins` of them last.
    fn bins_last(&self, bins: usize) -> Span {
        Span::from_micros(u64::from(self.bin_duration) * bins as u64)
    }

    /// Fills the bins that are over at `now` (`§3 l. 24-31`) beside those `filled`. Returns how many hold anything, or
    /// `None` after more than a window without a boundary: then it begins anew.
    fn update_bins(&mut self, now: Time, filled: u8) -> Option<usize> {
        let passed = now.since(self.bin_end).0 / self.bins_last(1).0 + 1;
        let Some(passed) = usize::try_from(passed).ok().filter(|&passed| passed <= W) else {
            *self = Search::default();
            return None;
        };
        self.bins.copy_within(..NUM_BINS - passed, passed);
        self.bins[..passed].fill(0);
        while self.delivered >> self.shift > u32::from(u16::MAX) {
            self.shift += 1;
            self.bins.iter_mut().for_each(|bin| *bin >>= 1);
        }
        self.bins[0] = (core::mem::take(&mut self.delivered) >> self.shift) as u16;
        let filled = (usize::from(filled) + passed).min(NUM_BINS);
        self.filled = Some(filled as u8);
        self.bin_end += self.bins_last(passed);
        Some(filled)
    }

    /// `norm_diff` at the latest boundary (`§3 l. 12-18`); `None` where too few bins are filled to look an `rtt` back,
    /// too few are kept, or nothing was delivered then.
    fn norm_diff(&self, filled: usize, rtt: Span) -> Option<f64> {
        let rtt_in_bins = rtt.0 as f64 / self.bins_last(1).0 as f64;
        let back = rtt_in_bins as usize;
        if back >= EXTRA_BINS || filled <= back + W {
            return None;
        }
        let curr_delv = self.sum_bins(0, W, 0.0);
        let prev_delv = self.sum_bins(back, W, rtt_in_bins - back as f64);
        (prev_delv > 0.0).then(|| norm_diff(curr_delv, prev_delv))
    }

    /// The sum of `count` bins, the newest `back` and a `fraction` of the next left out (`§3 l. 32-38`).
    fn sum_bins(&self, back: usize, count: usize, fraction: f64) -> f64 {
        let bin = |i: usize| f64::from(self.bins[i]);
        let whole: f64 = (back + 1..back + count).map(bin).sum();
        whole + bin(back + count) * fraction + bin(back) * (1.0 - fraction)
    }
}

/// What lacks of twice the `prev_delv` bytes, as a share (`§3 l. 18`).
fn norm_diff(curr_delv: f64, prev_delv: f64) -> f64 {
    (2.0 * prev_delv - curr_delv) / (2.0 * prev_delv)
}

#[cfg(test)]
mod tests;
