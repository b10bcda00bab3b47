//! Which of a fixed set of sources is next.

/// A tournament over sources that each have at most one next time. The winner is read
/// in constant time and a change costs at most one comparison per level, without allocation:
/// what makes it cheaper than a heap of events is that a FIFO puts only its head here.
/// A few sources have no tournament: one look at all of them costs less.
/// Among equal times the lowest source wins.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// A complete binary tree: node `i` has children `2i` and `2i+1`, leaves start at
    /// `leaves`. Each node holds the earlier of its children. Of a few sources there are
    /// but the leaves, which start at 0.
    nodes: Vec<(u64, u32)>,
    leaves: usize,
}

/// As many sources have no tournament.
const FEW: usize = 8;

/// A time after all others.
const NEVER: u64 = u64::MAX;

impl EventQueue {
    /// For sources `0..sources`, none of which has a time yet.
    #[must_use]
    pub fn new(sources: usize) -> EventQueue {
        if sources <= FEW {
            return EventQueue { nodes: (0..sources.max(1) as u32).map(|source| (NEVER, source)).collect(), leaves: 0 };
        }
        let leaves = sources.next_power_of_two();
        let mut nodes = vec![(NEVER, 0); 2 * leaves];
        for (i, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = u32::try_from(i).unwrap_or(u32::MAX);
        }
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i];
        }
        EventQueue { nodes, leaves }
    }

    /// Sets the next time of `source`; `u64::MAX` for none.
    #[inline]
    pub fn set(&mut self, source: usize, at: u64) {
        let mut node = self.leaves + source;
        if self.nodes[node].0 == at {
            return;
        }
        self.nodes[node].0 = at;
        while self.leaves > 0 && node > 1 {
            // The left child's sources are the lower ones.
            let left = self.nodes[node & !1];
            let right = self.nodes[node | 1];
            node >>= 1;
            let winner = if right.0 < left.0 { right } else { left };
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
        }
    }

    /// The time of `source`; `u64::MAX` for none.
    #[must_use]
    #[inline]
    pub fn of(&self, source: usize) -> u64 {
        self.nodes[self.leaves + source].0
    }

    /// The earliest time and its source; the time is `u64::MAX` if no source has one.
    #[must_use]
    #[inline]
    pub fn first(&self) -> (u64, usize) {
        if self.leaves > 0 {
            let (at, source) = self.nodes[1];
            return (at, source as usize);
        }
        let mut first = (NEVER, 0);
        for (source, (at, _)) in self.nodes.iter().enumerate() {
            if *at < first.0 {
                first = (*at, source);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn always_the_earliest_lowest(
            sources in 1usize..20,
            changes in proptest::collection::vec((0usize..20, 0u64..8), 0..200),
        ) {
            let mut event_queue = EventQueue::new(sources);
            let mut plain = vec![NEVER; sources];
            for (source, at) in changes {
                let source = source % sources;
                let at = if at == 7 { NEVER } else { at };
                event_queue.set(source, at);
                plain[source] = at;
                let best = (0..sources).min_by_key(|&i| (plain[i], i)).unwrap();
                prop_assert_eq!(event_queue.first().0, plain[best]);
                if plain[best] < NEVER {
                    prop_assert_eq!(event_queue.first().1, best);
                }
                prop_assert_eq!(event_queue.of(source), plain[source]);
            }
        }
    }
}
