//! Reads, probe by probe, where a train began to meet congestion.
//!
//! Works from nothing but what each probe met, in the order the peer received them, so
//! it can run at either end (`spec: arumaithurai §3.7`).

use crate::choice;
use crate::event::ProbeReceived;

choice! {
    /// Which probe of a train counts as the first that met congestion
    /// (`spec: arumaithurai §3.7 R2`, A3).
    pub enum Turn {
        /// The first that was congested.
        FirstMark = "first-mark",
        /// The first of the congested ones at the end: isolated bursts are ignored.
        TerminalExcursion = "terminal-excursion",
    }
}

choice! {
    /// What shows that a probe met congestion (`spec: arumaithurai §3.7 R2`, A16).
    pub enum Source {
        /// A CE mark on the probe.
        Ce = "ce",
        /// A delay above that of every probe before it.
        Delay = "delay",
        /// A CE mark or a rise of its delay, whichever comes first.
        Both = "both",
    }
}

/// How a train of marked probes is read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reading {
    /// Which probe counts as the turn.
    pub turn: Turn,
    /// What shows that a probe met congestion.
    pub source: Source,
    /// How much longer than the longest delay so far a delay has to be, nanoseconds.
    pub margin: i64,
}

/// The probe at which the path's spare bandwidth was exceeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The first probe that met congestion, from 1; one more than arrived if none did.
    /// [`Chirp::estimate`](super::Chirp::estimate) makes a rate of it.
    pub index: u32,
    /// Whether every probe after the first was congested or missing.
    pub saturated: bool,
}

/// The probes of one train received so far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Analyser {
    packets: u16,
    /// Probes that arrived in sequence.
    arrived: u16,
    /// The first congested one, from 1; 0 for none.
    first_congested: u16,
    /// The last clean one, from 1; 0 for none.
    last_clean: u16,
    /// The longest delay so far, nanoseconds, once there was one.
    longest: i64,
    /// Whether there was one.
    timed: bool,
    /// What still arrives belongs to a train that has been judged.
    ignoring: bool,
}

impl Analyser {
    /// Waits for a train of `packets`, of which 65 535 count.
    #[must_use]
    pub fn new(packets: u32) -> Analyser {
        Analyser::of(u16::try_from(packets).unwrap_or(u16::MAX))
    }

    const fn of(packets: u16) -> Analyser {
        Analyser { packets, arrived: 0, first_congested: 0, last_clean: 0, longest: 0, timed: false, ignoring: false }
    }

    /// Takes a probe in. A finding comes with the last probe, or with the first that is
    /// out of sequence: that one and all after it count as missing. Fewer than two
    /// probes in sequence show nothing (`spec: arumaithurai §3.7 R1`).
    pub fn arrived(&mut self, reading: &Reading, probe: &ProbeReceived) -> Option<Finding> {
        if probe.index == 0 {
            *self = Analyser::of(self.packets);
        } else if self.ignoring {
            return None;
        } else if probe.index != u32::from(self.arrived) {
            self.ignoring = true;
            return self.finding(reading);
        }
        self.record(reading, probe);
        if self.arrived < self.packets {
            return None;
        }
        self.ignoring = true;
        self.finding(reading)
    }

    fn record(&mut self, reading: &Reading, probe: &ProbeReceived) {
        let congested = match reading.source {
            Source::Ce => probe.ce,
            Source::Delay => self.rose(reading, probe).unwrap_or(true),
            Source::Both => probe.ce || self.rose(reading, probe).unwrap_or(false),
        };
        self.arrived = self.arrived.saturating_add(1);
        if !congested {
            self.last_clean = self.arrived;
        } else if self.first_congested == 0 {
            self.first_congested = self.arrived;
        }
        if let Some(delay) = probe.one_way {
            self.longest = if self.timed { self.longest.max(delay) } else { delay };
            self.timed = true;
        }
    }

    /// Whether the delay exceeds all before it; a train's first never does. Nothing is
    /// known without a delay.
    fn rose(&self, reading: &Reading, probe: &ProbeReceived) -> Option<bool> {
        let delay = probe.one_way?;
        Some(self.timed && delay > self.longest.saturating_add(reading.margin))
    }

    fn finding(&self, reading: &Reading) -> Option<Finding> {
        if self.arrived < 2 {
            return None;
        }
        let index = match reading.turn {
            Turn::FirstMark if self.first_congested == 0 => self.arrived.saturating_add(1),
            Turn::FirstMark => self.first_congested,
            Turn::TerminalExcursion => self.last_clean.saturating_add(1),
        };
        Some(Finding { index: u32::from(index), saturated: self.last_clean <= 1 })
    }
}
