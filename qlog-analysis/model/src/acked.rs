//! Which packet numbers an ACK names for the first time.

/// Gaps remembered; below the lowest of them every number counts as acknowledged.
const GAPS: usize = 256;

/// Packet numbers acknowledged so far: ascending disjoint ranges, both ends included.
#[derive(Debug, Default)]
pub struct Acknowledged {
    ranges: Vec<(u64, u64)>,
}

impl Acknowledged {
    /// Adds `low..=high` and tells `fresh` the parts of it that are new, ascending.
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
mod tests;
