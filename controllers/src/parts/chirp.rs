//! Trains of packets whose gaps shrink geometrically, and what can be read off the way
//! one arrived.
//!
//! Packets are numbered from 1 and gap `i` lies between packets `i` and `i + 1`, as in
//! `spec: arumaithurai §3.6`; only indices on the wire count from 0.

pub mod analyser;
pub mod path;

use crate::Span;

/// `base` to the power of `exponent` by repeated multiplication: the same bits on
/// every platform (`spec: arumaithurai §1.1`).
#[must_use]
pub fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// What a train's mean rate has to be multiplied with for the rate of its first gap:
/// `K(n, SF) = (SF^{n−1} − 1) / ((n−1)·(SF − 1)·SF^{n−2})` (`spec: arumaithurai §3.6`,
/// Eq. 4.15). It is 1 for trains that have no second gap or no spread.
#[must_use]
pub fn k(packets: u32, spread: f64) -> f64 {
    if packets <= 2 || spread == 1.0 {
        return 1.0;
    }
    let gaps = packets - 1;
    (power(spread, gaps) - 1.0) / (f64::from(gaps) * (spread - 1.0) * power(spread, gaps - 1))
}

/// The geometry of a train.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Chirp {
    /// Packets of the train, N.
    pub packets: u32,
    /// Size of each packet on the wire, bytes.
    pub bytes: u32,
    /// Rate over the first gap, bit/s.
    pub min_rate: f64,
    /// Ratio of consecutive gaps' rates (SF).
    pub spread: f64,
}

impl Chirp {
    /// Gaps between the packets: N − 1, and 0 for an empty train.
    #[must_use]
    pub const fn gaps(&self) -> u32 {
        self.packets.saturating_sub(1)
    }

    /// Rate over gap `gap`, bit/s: `r_i = MinRate·SF^{i−1}` (`spec: arumaithurai §3.6`,
    /// Eq. 4.13).
    #[must_use]
    pub fn rate(&self, gap: u32) -> f64 {
        self.min_rate * power(self.spread, gap.saturating_sub(1))
    }

    /// Rate over the last gap, bit/s: MaxRate (Eq. 4.14).
    #[must_use]
    pub fn max_rate(&self) -> f64 {
        self.rate(self.gaps())
    }

    /// When packet `index`, here from 0, leaves after the first, seconds:
    /// `o_{i+1} = o_i + 8·size/r_i`. An index past the last is the last's.
    #[must_use]
    pub fn offset(&self, index: u32) -> f64 {
        let bits = 8.0 * f64::from(self.bytes);
        let (mut offset, mut spread) = (0.0, 1.0);
        for _ in 0..index.min(self.gaps()) {
            offset += bits / (self.min_rate * spread);
            spread *= self.spread;
        }
        offset
    }

    /// How long the train takes to send, from its first packet to its last.
    #[must_use]
    pub fn duration(&self) -> Span {
        Span::from_secs_f64(self.offset(self.gaps()))
    }

    /// Mean rate over the gaps, bit/s: r_avg.
    #[must_use]
    pub fn mean_rate(&self) -> f64 {
        f64::from(self.gaps()) * 8.0 * f64::from(self.bytes) / self.offset(self.gaps())
    }

    /// The available bandwidth a train shows whose packet `index` (from 1) is the first
    /// one that met congestion, bit/s: the rate over the gap before it, which
    /// is `MinRate·SF^{index−2}`, and 0 when that gap is the first or none. One past the
    /// last packet stands for a train that met none (`spec: arumaithurai §3.7 R2`,
    /// Eq. 4.12 as resolved in A3).
    #[must_use]
    pub fn estimate(&self, index: u32) -> f64 {
        if index <= 2 { 0.0 } else { self.rate(index.min(self.packets + 1) - 1) }
    }
}

#[cfg(test)]
mod tests;
