//! Covering arrays: few rows in which every pair of values occurs.

use super::regime::{AXES, Regime};

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
    use super::*;
    use std::collections::BTreeSet;

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
