//! What a sender keeps that repairs losses as TCP without selective acknowledgements does
//! (`spec: chan §8.4, §2.1, §3.7`): cumulative acknowledgements, duplicates, one coarse timer.

use std::collections::{BTreeMap, BTreeSet};

use super::timers::NEVER;
use crate::scenario::Recovery;

/// The retransmission timeout before there is a sample, ns (`RFC 2988 §2.1`).
const INITIAL: u64 = 3_000_000_000;
/// No timeout is longer, ns.
const LONGEST: u64 = 60_000_000_000;
/// The timeout doubles so often at most: to 64 times itself.
const MAX_BACKOFF: u32 = 6;
/// Duplicate ACKs that mean a loss.
pub(super) const DUPLICATES: u32 = 3;

/// An estimator of round-trip times with gains of 1/8 and 1/4, µs.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Estimate {
    smoothed: f64,
    variation: f64,
}

impl Estimate {
    /// After a first sample, whose deviation is taken for `share` of it.
    fn first(sample: f64, share: f64) -> Estimate {
        Estimate { smoothed: sample, variation: share * sample }
    }

    fn add(&mut self, sample: f64) {
        let error = sample - self.smoothed;
        self.smoothed += error / 8.0;
        self.variation += (error.abs() - self.variation) / 4.0;
    }
}

/// Vegas' fine-grained timeout (`spec: chan §3.6 I2, E6; §3.7 L3`).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Fine {
    estimate: Option<Estimate>,
    /// The timeout, ns; `None` before the first sample.
    timeout: Option<f64>,
}

impl Fine {
    /// Adds a valid RTT sample, ns (`RFC 6298 §2`).
    pub fn sample(&mut self, sample: u64) {
        let sample = sample as f64;
        match &mut self.estimate {
            None => {
                self.estimate = Some(Estimate::first(sample, 0.25));
                self.timeout = Some(1.5 * sample);
            }
            Some(estimate) => {
                estimate.add(sample);
                self.timeout = Some(17.0 / 16.0 * (estimate.smoothed + 2.0 * estimate.variation));
            }
        }
    }

    /// Whether a packet that left at `sent_at` has been under way for too long.
    pub fn is_over(&self, now: u64, sent_at: u64) -> bool {
        self.timeout.is_some_and(|timeout| now.saturating_sub(sent_at) as f64 >= timeout)
    }

    /// A packet that had been sent `transmissions` times goes out again.
    fn lengthen(&mut self, transmissions: u16) {
        if let Some(timeout) = &mut self.timeout {
            *timeout *= if transmissions > 1 { 2.0 } else { 9.0 / 8.0 };
        }
    }
}

/// What a packet that never arrived died of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// No room in a queue.
    Congestion,
    /// Lost at random on a link.
    Random,
}

/// The sending side of TCP. Data is counted in chunks, which stand for segments.
#[derive(Clone, Debug)]
pub(super) struct Tcp {
    min_rto: u64,
    /// Vegas' own timeout; Reno has none.
    pub fine: Option<Fine>,
    /// Everything before this chunk is acknowledged.
    pub edge: u64,
    /// What else the receiver has.
    beyond: BTreeSet<u64>,
    /// Duplicate ACKs since the last new one.
    pub duplicates: u32,
    /// Packets that duplicate ACKs let go beyond the window.
    pub inflation: u32,
    /// New ACKs on which the fine timeout is looked at again (`spec: chan §3.7 L2`).
    pub worried: u32,
    /// The first chunk not sent when the coarse timer expired; no fast retransmission
    /// before that is acknowledged.
    pub recover: Option<u64>,
    /// When a loss last shrank the window.
    pub last_cut: Option<u64>,
    /// Retransmissions that leave whatever the window.
    pub urgent: u32,
    /// The chunk that is timed, and since when.
    timed: Option<(u64, u64)>,
    estimate: Option<Estimate>,
    backoff: u32,
    /// Since when the timer runs.
    since: u64,
    /// Of packets that never arrived, what became of them.
    pub causes: BTreeMap<u64, Cause>,
}

impl Tcp {
    /// `None` if losses are repaired as QUIC does.
    pub fn new(recovery: Recovery) -> Option<Box<Tcp>> {
        let (min_rto, fine) = match recovery {
            Recovery::Quic => return None,
            Recovery::Reno { min_rto } => (min_rto.0, None),
            Recovery::Vegas { min_rto } => (min_rto.0, Some(Fine::default())),
        };
        Some(Box::new(Tcp {
            min_rto,
            fine,
            edge: 0,
            beyond: BTreeSet::new(),
            duplicates: 0,
            inflation: 0,
            worried: 0,
            recover: None,
            last_cut: None,
            urgent: 0,
            timed: None,
            estimate: None,
            backoff: 0,
            since: 0,
            causes: BTreeMap::new(),
        }))
    }

    /// Takes note that the receiver has `chunk`.
    pub fn received(&mut self, chunk: u64) {
        if chunk >= self.edge {
            self.beyond.insert(chunk);
        }
    }

    /// What the receiver acknowledges now; whether that is more than before.
    pub fn advance(&mut self) -> bool {
        let before = self.edge;
        while self.beyond.remove(&self.edge) {
            self.edge += 1;
        }
        self.edge > before
    }

    /// `chunk` leaves at `now`, with `in_flight` bytes under way before it.
    pub fn sent(&mut self, now: u64, chunk: u64, transmissions: u16, in_flight: u64) {
        if in_flight == 0 {
            self.since = now;
        }
        if transmissions == 1 && self.timed.is_none() {
            self.timed = Some((chunk, now));
        }
        self.urgent = self.urgent.saturating_sub(1);
    }

    /// A new ACK: the timer starts anew, and the segment that was timed is a sample if it is
    /// covered.
    pub fn renewed(&mut self, now: u64) {
        self.duplicates = 0;
        self.inflation = 0;
        self.since = now;
        if let Some((_, at)) = self.timed.filter(|(chunk, _)| *chunk < self.edge) {
            let sample = (now - at) as f64;
            match &mut self.estimate {
                None => self.estimate = Some(Estimate::first(sample, 0.5)),
                Some(estimate) => estimate.add(sample),
            }
            self.backoff = 0;
            self.timed = None;
        }
    }

    /// A packet is repeated after duplicate ACKs, at `now`, with `outstanding` packets under way.
    pub fn repeats(&mut self, now: u64, transmissions: u16, outstanding: u32) {
        self.since = now;
        // Its ACK would tell nothing (Karn).
        self.timed = None;
        self.urgent += 1;
        self.worried = outstanding.min(2);
        if let Some(fine) = &mut self.fine {
            fine.lengthen(transmissions);
        }
    }

    /// The timer expired; `fresh` is the first chunk never sent.
    pub fn timed_out(&mut self, now: u64, fresh: u64) {
        self.recover = Some(fresh);
        self.duplicates = 0;
        self.inflation = 0;
        self.worried = 0;
        self.urgent = 0;
        self.last_cut = Some(now);
        self.timed = None;
        self.backoff = (self.backoff + 1).min(MAX_BACKOFF);
        self.since = now;
    }

    /// Whether a packet of `bytes` may leave beyond the window `cwnd`, with which `in_flight`
    /// bytes would be under way.
    #[inline]
    pub fn lets(&self, in_flight: u64, bytes: u64, cwnd: u64) -> bool {
        self.urgent > 0 || in_flight <= cwnd.saturating_add(u64::from(self.inflation) * bytes)
    }

    /// Whether a third duplicate ACK is about what was sent before a timeout.
    pub fn is_going_back(&self) -> bool {
        self.recover.is_some_and(|recover| self.edge <= recover)
    }

    /// When the timer expires; [`NEVER`] with nothing under way.
    pub fn deadline(&self, in_flight: u64) -> u64 {
        if in_flight == 0 {
            return NEVER;
        }
        let rto = self.estimate.map_or(INITIAL, |e| (e.smoothed + 4.0 * e.variation) as u64);
        self.since.saturating_add((rto.max(self.min_rto) << self.backoff).min(LONGEST))
    }
}

#[cfg(test)]
mod tests;
