//! pathChirp: the bandwidth a train of packets had to itself, from how its delays rose
//! and fell (`spec: arumaithurai §5.5`, Eqs. 2.5–2.9; V. Ribeiro's pathChirp 2.3.7).
//!
//! The analysis needs a packet only together with the one before it, so it runs packet by
//! packet in constant space: instead of the estimates `E_k` of all gaps it keeps what
//! their weighted sum needs. The rate of gap `k` is a packet's bits over `Δ_k`, the time
//! between its two packets' departures, so `E_k·Δ_k` of a gap that counts for its own
//! rate is one packet.

use crate::{Span, Time, choice, parameters};

choice! {
    /// Which rate a rise of the delay that does not end stands for.
    pub enum Turn {
        /// The one at which it began, which was too much already (Eq. 2.6).
        Rise = "rise",
        /// The one before, the last that was carried without a queue.
        Before = "before",
    }
}

parameters! {
    /// How a train is read.
    pub struct Params {
        /// An excursion is over when the queueing delay falls below its largest divided by this (F).
        decrease: f64 = 1.5, in 1.0, 100.0, source "spec: arumaithurai §5.5, A26";
        /// Packets an excursion that ended has to last for its gaps to count (L).
        busy: u32 = 5, in 1, 64, unit "packets", source "spec: arumaithurai §5.5, A26";
        /// Which rate a rise that does not end stands for.
        turn: Turn = Turn::Before, paper Turn::Rise, source "spec: arumaithurai §5.5 Eq. 2.6; choice";
    }
}

/// Available bandwidth over one train, from its queueing delays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Finding {
    /// Available bandwidth, bit/s (Eq. 2.9).
    pub available: f64,
    /// The smallest and the largest rate of its gaps, bit/s.
    pub rates: (f64, f64),
    /// Time at which the train's first packet was sent.
    pub began: Time,
    /// Time from the first packet sent to the last.
    pub lasted: Span,
    /// Packets whose delays are known.
    pub packets: u32,
}

/// A rise of the queueing delay that has not ended.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Excursion {
    /// Delay of the packet it began with, ns.
    delay: i64,
    /// The gap it began with, and the gap that stands for it if it does not end, ns.
    stands_for: f64,
    /// Number of gaps since it began.
    gaps: u32,
    /// The largest queueing delay since, over `delay`, ns.
    most: f64,
    /// Time and number of the gaps over which the delay rose.
    rising: (f64, f64),
}

/// The packets of one train acknowledged so far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathChirp {
    packets: u32,
    began: Time,
    latest: Time,
    delay: i64,
    /// The latest gap, the smallest and the largest, ns.
    gap: f64,
    gaps: (f64, f64),
    /// `Σ Δ_k`, the gaps added up, ns.
    total: f64,
    /// Time and number of the gaps that count for their own rate (Eq. 2.5).
    own: (f64, f64),
    excursion: Option<Excursion>,
    /// A gap was longer than the one before it.
    paused: bool,
}

impl PathChirp {
    /// A train whose first packet left at `sent_at` and met `delay` (relative, ns).
    #[must_use]
    pub const fn begin(sent_at: Time, delay: i64) -> PathChirp {
        PathChirp {
            packets: 1,
            began: sent_at,
            latest: sent_at,
            delay,
            gap: 0.0,
            gaps: (f64::INFINITY, 0.0),
            total: 0.0,
            own: (0.0, 0.0),
            excursion: None,
            paused: false,
        }
    }

    /// Packets of the train added so far.
    #[must_use]
    pub const fn packets(&self) -> u32 {
        self.packets
    }

    /// Whether some gap was noticeably longer than the one before: the sender had
    /// nothing to send for a while.
    #[must_use]
    pub const fn paused(&self) -> bool {
        self.paused
    }

    /// Adds the next packet of the train: its send time and its one-way delay, ns.
    pub fn packet(&mut self, params: &Params, sent_at: Time, delay: i64) {
        let before = self.gap;
        let gap = (sent_at.since(self.latest).0 as f64).max(1.0);
        // Send times are whole nanoseconds.
        self.paused |= before > 0.0 && gap > 1.02 * before + 2.0;
        let rose = self.delay < delay;
        if self.excursion.is_none() && rose {
            let stands_for = if params.turn == Turn::Before && before > 0.0 { before } else { gap };
            self.excursion = Some(Excursion { delay: self.delay, stands_for, gaps: 0, most: 0.0, rising: (0.0, 0.0) });
        }
        if let Some(excursion) = &mut self.excursion {
            let queued = delay.saturating_sub(excursion.delay) as f64;
            excursion.gaps += 1;
            excursion.most = excursion.most.max(queued);
            if rose {
                excursion.rising = (excursion.rising.0 + gap, excursion.rising.1 + 1.0);
            }
            // Eq. 2.8, as the tool reads it.
            if queued < excursion.most / params.decrease {
                if excursion.gaps >= params.busy {
                    self.own = (self.own.0 + excursion.rising.0, self.own.1 + excursion.rising.1);
                }
                self.excursion = None;
            }
        }
        self.packets = self.packets.saturating_add(1);
        self.latest = sent_at;
        self.delay = delay;
        self.gap = gap;
        self.gaps = (self.gaps.0.min(gap), self.gaps.1.max(gap));
        self.total += gap;
    }

    /// What the train shows as far as it came, of packets of `bytes`; nothing without two
    /// of them.
    #[must_use]
    pub fn finding(&self, bytes: f64) -> Option<Finding> {
        if self.packets < 2 {
            return None;
        }
        // Eqs. 2.6, 2.7: all other gaps stand for the rate at which the last rise began,
        // or for the last rate if there was none.
        let stands_for = self.excursion.map_or(self.gap, |excursion| excursion.stands_for);
        let packets = self.own.1 + (self.total - self.own.0) / stands_for;
        let rate = |gap: f64| 8e9 * bytes / gap;
        let rates = (rate(self.gaps.1), rate(self.gaps.0));
        Some(Finding {
            available: (8e9 * bytes * packets / self.total).max(rates.0).min(rates.1),
            rates,
            began: self.began,
            lasted: self.latest.since(self.began),
            packets: self.packets,
        })
    }
}

#[cfg(test)]
mod tests;
