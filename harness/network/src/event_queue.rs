//! Queue of the next events of a fixed set of sources.

/// A tournament over sources that each have at most one next time. The winner is kept, and a
/// change costs at most one comparison per level, without allocation: what makes it cheaper
/// than a heap of events is that a FIFO puts only its head here. A few sources have no
/// tournament: they are looked through when the first of them moves later.
/// Among equal times the lowest source wins.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// A complete binary tree: node `i` has children `2i` and `2i+1`, leaves start at
    /// `leaves`. Each node holds the earlier of its children. Empty if there are but a few sources.
    nodes: Vec<(u64, u32)>,
    leaves: usize,
    /// The earliest of all.
    first: (u64, u32),
    /// The times of a few sources.
    few: [u64; FEW],
}

/// As many sources have no tournament.
const FEW: usize = 4;

/// A time after all others.
const NEVER: u64 = u64::MAX;

impl EventQueue {
    /// For sources `0..sources`, none of which has a time yet.
    #[must_use]
    pub fn new(sources: usize) -> EventQueue {
        let first = (NEVER, 0);
        let few = [NEVER; FEW];
        if sources <= FEW {
            return EventQueue { nodes: Vec::new(), leaves: 0, first, few };
        }
        let leaves = sources.next_power_of_two();
        let mut nodes = vec![first; 2 * leaves];
        for (i, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = u32::try_from(i).unwrap_or(u32::MAX);
        }
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i];
        }
        EventQueue { nodes, leaves, first, few }
    }

    /// Sets the next time of `source`; `u64::MAX` for none.
    #[inline]
    pub fn set(&mut self, source: usize, at: u64) {
        if self.leaves > 0 {
            return self.set_leaf(source, at);
        }
        let before = std::mem::replace(&mut self.few[source], at);
        if (at, source as u32) <= self.first {
            self.first = (at, source as u32);
        } else if self.first.1 == source as u32 && at != before {
            // Sources ascend, so that the first of equal ones is the lowest.
            let mut first = (self.few[0], 0);
            for source in 1..FEW {
                let at = self.few[source];
                first.1 = if at < first.0 { source as u32 } else { first.1 };
                first.0 = first.0.min(at);
            }
            self.first = first;
        }
    }

    #[inline(never)]
    fn set_leaf(&mut self, source: usize, at: u64) {
        let leaf = &mut self.nodes[self.leaves + source].0;
        if *leaf != at {
            *leaf = at;
            self.play(self.leaves + source);
        }
    }

    /// Has the winner of each match above `node` go up, as far as that changes.
    fn play(&mut self, mut node: usize) {
        while node > 1 {
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
        self.first = self.nodes[1];
    }

    /// The time of `source`; `u64::MAX` for none.
    #[must_use]
    #[inline]
    pub fn of(&self, source: usize) -> u64 {
        if self.leaves > 0 { self.nodes[self.leaves + source].0 } else { self.few[source] }
    }

    /// The earliest time and its source; the time is `u64::MAX` if no source has one.
    #[must_use]
    #[inline]
    pub fn first(&self) -> (u64, usize) {
        (self.first.0, self.first.1 as usize)
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
