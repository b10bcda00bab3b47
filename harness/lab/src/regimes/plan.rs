//! Which regimes are run, and for how long; of these many, by covering arrays: few rows in which every pair of values
//! occurs.

use super::regime::{AXES, Path, Regime};
use crate::grid::Cell;

/// The controller whose run in a regime others are compared with.
pub const REFERENCE: &str = "reno";

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// A cover of all pairs, in runs that are short enough for real stacks, of which a packet takes some thirty
    /// microseconds of CPU.
    Brief,
    /// A cover of all pairs, in short runs.
    Quick,
    /// The same in longer runs, and the cross of rate, RTT and buffer for one flow and ten.
    Full,
}

impl Effort {
    /// The command's option for it, with a space before it; nothing for the full one.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Effort::Brief => " --brief",
            Effort::Quick => " --quick",
            Effort::Full => "",
        }
    }

    /// Packets the link may carry in a run: in the simulator some hundredths of a second of CPU, and a quarter of one,
    /// where senders do as they should; [`measure`](super::measure()) ends what goes far beyond.
    #[must_use]
    pub fn packets(self) -> f64 {
        match self {
            Effort::Brief => 5e3,
            Effort::Quick => 150e3,
            Effort::Full => 1.2e6,
        }
    }
}

/// A regime and how long it is run, or why it is not.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The regime.
    pub regime: Regime,
    /// Duration of its run, s; why it is not run otherwise.
    pub duration: Result<f64, String>,
}

/// What is run for each controller.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// In the order of the grid.
    pub cases: Vec<Case>,
}

/// Longest round trips a run has to have after the last start, and those it has where they fit.
const ROUNDS: (f64, f64) = (30.0, 100.0);

/// Probe timeouts it has to have, and has where they fit, so that one does not decide it.
const TIMEOUTS: (f64, f64) = (4.0, 10.0);

/// The probe timeout of a flow that has no RTT sample yet, s (`RFC 9002 §6.2.2`): three times 333 ms. It has to fit in
/// where initial windows may be lost as a whole.
const FIRST_TIMEOUT: f64 = 1.0;

/// Initial window, packets (`RFC 9002 §7.2`).
pub(super) const INITIAL_WINDOW: f64 = 10.0;

/// Packets each flow's share has to have in that time, and those it has where they fit.
const PACKETS_EACH: (f64, f64) = (20.0, 60.0);

impl Regime {
    /// Its case.
    #[must_use]
    pub fn case(self, effort: Effort) -> Case {
        let (packet, flows) = (self.packet_time(), f64::from(self.flows()));
        let first = if self.room() < INITIAL_WINDOW * flows { 2.0 * FIRST_TIMEOUT } else { 0.0 };
        let needs = |rounds: f64, timeouts: f64, each: f64| {
            let [rounds, timeouts] = [rounds * self.longest_round(), timeouts * self.probe_timeout()];
            self.last_start() + rounds.max(timeouts).max(each * flows * packet).max(first)
        };
        let least = needs(ROUNDS.0, TIMEOUTS.0, PACKETS_EACH.0);
        let wanted = needs(ROUNDS.1, TIMEOUTS.1, PACKETS_EACH.1);
        let fits = effort.packets() * packet;
        let duration = if least > fits {
            let [needed, most] = [least / packet, effort.packets()].map(|packets| (packets / 1e3).ceil());
            Err(format!(
                "{} round trips, {} timeouts and all starts take {needed} thousand packets; a run has {most} thousand",
                ROUNDS.0, TIMEOUTS.0
            ))
        } else {
            // Six digits, so that the scenario says the same.
            let digits = 10f64.powf(5.0 - wanted.min(fits).log10().floor());
            Ok((wanted.min(fits) * digits).floor() / digits)
        };
        Case { regime: self, duration }
    }

    /// Whether theory says something of a loss-based flow there: with fewer than four packets each, flows wait for
    /// timers, since no three later ones show a loss (`RFC 9002 §6.1.1`).
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.room() >= 4.0 * f64::from(self.flows())
    }

    /// Whether theory says what Reno does there: not where packets overtake each other, nor where ACKs wait for longer than
    /// they travel, so that a window leaves in one burst.
    #[must_use]
    pub fn has_theory(&self) -> bool {
        self.has_room() && self.path() != Path::Reordering && self.ack_delay() <= self.rtt()
    }

    /// Whether which flow gets through is the queue's doing: one with fewer places than flows can lock some of them out
    /// (`RFC 7567 §2`), as can a lack of [room](Self::has_room).
    #[must_use]
    pub fn locks_out(&self) -> bool {
        !self.has_room() || self.buffer() < u64::from(self.flows())
    }

    /// What a row of a cover costs: of rows that cover as much, one of which theory says something is better.
    fn cost(&self, effort: Effort) -> u64 {
        let packets = self.case(effort).duration.map_or(u64::MAX, |duration| (duration / self.packet_time()) as u64);
        packets.saturating_mul(if self.has_room() { 1 } else { 1000 })
    }
}

impl Plan {
    /// What `effort` runs of regimes with the values of `wanted` that are given. Those all of whose values are given are
    /// run whether or not they are part of it.
    #[must_use]
    pub fn new(effort: Effort, wanted: &[Option<u8>; 6]) -> Plan {
        if let [Some(a), Some(b), Some(c), Some(d), Some(e), Some(f)] = *wanted {
            return Plan { cases: vec![Regime([a, b, c, d, e, f]).case(effort)] };
        }
        let fitting: Vec<Regime> = Regime::all().filter(|regime| regime.case(effort).duration.is_ok()).collect();
        let mut regimes = cover(&fitting, |regime| regime.cost(effort));
        // The map: where a run is too long there, it says so.
        let flows: &[u8] = if effort == Effort::Full { &[0, 5] } else { &[] };
        regimes.extend(
            Regime::all().filter(|regime| regime.0[4] == 0 && regime.0[5] == 0 && flows.contains(&regime.0[3])),
        );
        if effort != Effort::Full {
            // Corners of which no run is short enough.
            let corner = |a: &Regime, b: &Regime| a.0[..2] == b.0[..2];
            let missing = |regime: &Regime| !fitting.iter().any(|fits| corner(fits, regime));
            let missing: Vec<Regime> =
                Regime::all().filter(|regime| regime.0[2..] == [3, 0, 0, 0] && missing(regime)).collect();
            regimes.extend(missing);
        }
        regimes.sort_unstable();
        regimes.dedup();
        regimes.retain(|regime| regime.fits(wanted));
        Plan { cases: regimes.into_iter().map(|regime| regime.case(effort)).collect() }
    }
}

impl Case {
    /// Its run with `controller` on `stack`, as the grid names it; `None` if it is not run.
    #[must_use]
    pub fn cell(&self, controller: &str, stack: &str) -> Option<Cell> {
        let duration = *self.duration.as_ref().ok()?;
        Some(Cell {
            name: format!("{controller} {stack} {}", self.regime),
            scenario: self.regime.scenario(duration),
            file: String::new(),
            controller: controller.to_owned(),
            stack: stack.to_owned(),
            seed: 1,
            reads: "regime/1".to_owned(),
            work: 100 + (duration / self.regime.packet_time()) as u64,
        })
    }
}

/// Rows of `candidates` in which every pair of values occurs that occurs in any of them. Each row is the one that
/// adds the most pairs, of several the cheapest by `cost`, of these the first; so equal calls give equal rows.
#[must_use]
pub fn cover(candidates: &[Regime], cost: impl Fn(&Regime) -> u64) -> Vec<Regime> {
    let offsets: Vec<usize> = AXES
        .iter()
        .scan(0, |sum, axis| {
            let offset = *sum;
            *sum += axis.values.len();
            Some(offset)
        })
        .collect();
    let values: usize = AXES.iter().map(|axis| axis.values.len()).sum();
    let pairs = |row: &Regime| {
        let at = |axis: usize| offsets[axis] + usize::from(row.0[axis]);
        let mut found = [0; 15];
        let all = (0..AXES.len()).flat_map(|a| (a + 1..AXES.len()).map(move |b| (a, b)));
        for (slot, (a, b)) in found.iter_mut().zip(all) {
            *slot = at(a) * values + at(b);
        }
        found
    };
    let mut missing = vec![false; values * values];
    let mut rows: Vec<(u64, Regime, [usize; 15])> = Vec::with_capacity(candidates.len());
    for row in candidates {
        let pairs = pairs(row);
        pairs.iter().for_each(|pair| missing[*pair] = true);
        rows.push((cost(row), *row, pairs));
    }
    rows.sort();
    let mut chosen = Vec::new();
    loop {
        // Rows that add nothing now never will.
        let adds = |row: &(u64, Regime, [usize; 15])| row.2.iter().filter(|pair| missing[**pair]).count();
        rows.retain(|row| adds(row) > 0);
        let Some(best) = rows.iter().rev().max_by_key(|row| adds(row)).copied() else { break };
        best.2.iter().for_each(|pair| missing[*pair] = false);
        chosen.push(best.1);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn pairs_of(rows: &[Regime]) -> BTreeSet<(usize, u8, usize, u8)> {
        let of = |row: &Regime| {
            let row = *row;
            (0..6).flat_map(move |a| (a + 1..6).map(move |b| (a, row.0[a], b, row.0[b])))
        };
        rows.iter().flat_map(of).collect()
    }

    /// Every pair that some candidate has is in some row, and rows are hardly more than the largest two axes need.
    #[test]
    fn a_cover_has_every_pair_that_can_be_had() {
        let all: Vec<Regime> = Regime::all().collect();
        let rows = cover(&all, |_| 1);
        assert_eq!(pairs_of(&rows), pairs_of(&all));
        assert!((90..=110).contains(&rows.len()), "{} rows; flows and path alone have 90 pairs", rows.len());
        let some: Vec<Regime> = all.into_iter().filter(|row| row.0[0] + row.0[1] < 5).collect();
        let rows = cover(&some, |_| 1);
        assert_eq!(pairs_of(&rows), pairs_of(&some));
        assert!(rows.iter().all(|row| some.contains(row)));
        assert!(cover(&[], |_| 1).is_empty());
    }

    #[test]
    fn of_equal_rows_the_cheapest_is_taken() {
        let all: Vec<Regime> = Regime::all().collect();
        let cost = |row: &Regime| u64::from(row.0[0] * row.0[1]);
        let sum = |rows: &[Regime]| rows.iter().map(cost).sum::<u64>();
        assert!(sum(&cover(&all, cost)) < sum(&cover(&all, |_| 1)));
        assert_eq!(cover(&all, cost), cover(&all, cost));
    }
}
