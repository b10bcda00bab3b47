//! Which packet numbers an ACK names for the first time.

/// Gaps remembered; below the lowest of them every number counts as acknowledged.
const GAPS: usize = 256;

/// Packet numbers acknowledged so far: ascending disjoint ranges, both ends included.
#[derive(Debug, Default)]
pub struct Acknowledged {
    ranges: Vec<(u64, u64)>,
}

impl Acknowledged {
    /// Adds `low..=high` and calls `fresh` with the parts of it that are new, ascending.
    pub fn add(&mut self, low: u64, high: u64, mut fresh: impl FnMut(u64, u64)) {
        if low > high {
            return;
        }
        // Ranges that overlap or touch low..=high become one with it.
        let from = self.ranges.partition_point(|&(_, end)| end.saturating_add(1) < low);
        let mut to = from;
        let mut next = Some(low);
        let mut merged = (low, high);
        while let Some(&(start, end)) = self.ranges.get(to).filter(|&&(start, _)| start <= high.saturating_add(1)) {
            if let Some(next) = next.filter(|&next| next < start) {
                fresh(next, start - 1);
            }
            next = end.checked_add(1).and_then(|after| next.map(|next| next.max(after)));
            merged = (merged.0.min(start), merged.1.max(end));
            to += 1;
        }
        if let Some(next) = next.filter(|&next| next <= high) {
            fresh(next, high);
        }
        self.ranges.splice(from..to, [merged]);
        if self.ranges.len() > GAPS {
            let second = self.ranges.remove(1);
            self.ranges[0].1 = second.1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(acknowledged: &mut Acknowledged, low: u64, high: u64) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        acknowledged.add(low, high, |low, high| parts.push((low, high)));
        parts
    }

    #[test]
    fn names_only_what_is_new() {
        let mut acknowledged = Acknowledged::default();
        assert_eq!(fresh(&mut acknowledged, 0, 3), [(0, 3)]);
        assert_eq!(fresh(&mut acknowledged, 0, 5), [(4, 5)]);
        assert_eq!(fresh(&mut acknowledged, 8, 9), [(8, 9)]);
        assert_eq!(fresh(&mut acknowledged, 0, 12), [(6, 7), (10, 12)]);
        assert_eq!(fresh(&mut acknowledged, 3, 12), []);
        assert_eq!(acknowledged.ranges, [(0, 12)]);
        assert_eq!(fresh(&mut acknowledged, 5, 4), []);
        assert_eq!(fresh(&mut acknowledged, u64::MAX - 1, u64::MAX), [(u64::MAX - 1, u64::MAX)]);
        assert_eq!(fresh(&mut acknowledged, u64::MAX, u64::MAX), []);
        assert_eq!(fresh(&mut acknowledged, 0, u64::MAX), [(13, u64::MAX - 2)]);
        assert_eq!(acknowledged.ranges, [(0, u64::MAX)]);
    }

    #[test]
    fn agrees_with_a_set_of_numbers() {
        let mut acknowledged = Acknowledged::default();
        let mut seen = std::collections::BTreeSet::new();
        let mut state = 7u64;
        for _ in 0..2_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let low = (state >> 40) % 300;
            let high = low + (state >> 20) % 9;
            let reported: Vec<u64> = fresh(&mut acknowledged, low, high).into_iter().flat_map(|(a, b)| a..=b).collect();
            let new: Vec<u64> = (low..=high).filter(|&number| seen.insert(number)).collect();
            assert_eq!(reported, new, "{low}..={high}");
        }
    }

    #[test]
    fn remembers_a_bounded_number_of_gaps() {
        let mut acknowledged = Acknowledged::default();
        for number in 0..10_000 {
            acknowledged.add(2 * number, 2 * number, |_, _| ());
        }
        assert_eq!(acknowledged.ranges.len(), GAPS);
        assert_eq!(fresh(&mut acknowledged, 1, 1), [], "an old gap is forgotten");
        assert_eq!(fresh(&mut acknowledged, 19_997, 19_997), [(19_997, 19_997)]);
    }
}
