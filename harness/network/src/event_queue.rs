//! Queue of the next events of a fixed set of sources.

/// A tournament over sources that each have at most one next time. A change costs one comparison per level, none of which
/// the processor has to guess, and no allocation: what makes it cheaper than a heap of events is that a FIFO puts only its
/// head here. Among equal times the lowest source wins.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The earliest of all.
    first: (u64, u32),
    /// The times of a few sources.
    few: [u64; FEW],
    tree: Tree,
}

#[derive(Clone, Debug)]
enum Tree {
    /// Of a few sources, which are looked through when the first of them moves later.
    None,
    /// Of at most [`NARROW`] sources, the keys of which take half the memory.
    Narrow(Nodes<u64>),
    Wide(Nodes<u128>),
}

/// As many sources have no tree.
const FEW: usize = 4;
/// Bits of a narrow key that are the source's, and as many sources as they tell apart.
const SOURCE_BITS: u32 = 10;
const NARROW: usize = 1 << SOURCE_BITS;
/// The last time that a narrow key has, ns: 208 days. No run is as long, and what comes later never happens.
const LAST: u64 = u64::MAX >> SOURCE_BITS;

/// A time after all others.
const NEVER: u64 = u64::MAX;

/// A time with its source, in the order of both.
trait Key: Ord + Copy {
    fn new(at: u64, source: usize) -> Self;
    fn at(self) -> u64;
    fn source(self) -> u32;
}

impl Key for u64 {
    #[inline(always)]
    fn new(at: u64, source: usize) -> u64 {
        at.min(LAST) << SOURCE_BITS | source as u64
    }

    #[inline(always)]
    fn at(self) -> u64 {
        let at = self >> SOURCE_BITS;
        if at == LAST { NEVER } else { at }
    }

    #[inline(always)]
    fn source(self) -> u32 {
        self as u32 % NARROW as u32
    }
}

impl Key for u128 {
    #[inline(always)]
    fn new(at: u64, source: usize) -> u128 {
        u128::from(at) << 64 | source as u128
    }

    #[inline(always)]
    fn at(self) -> u64 {
        (self >> 64) as u64
    }

    #[inline(always)]
    fn source(self) -> u32 {
        self as u32
    }
}

/// A binary tree: node `i` has children `2i` and `2i+1`, and the leaves are the second half of all. Each node holds the earlier of
/// its children, whichever leaves these are above where there is no power of two of them.
#[derive(Clone, Debug)]
struct Nodes<K> {
    nodes: Vec<K>,
}

impl<K: Key> Nodes<K> {
    fn new(sources: usize) -> Nodes<K> {
        let mut nodes: Vec<K> = (0..2 * sources).map(|node| K::new(NEVER, node % sources)).collect();
        for node in (1..sources).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        Nodes { nodes }
    }

    #[inline(always)]
    fn leaf(&self, source: usize) -> usize {
        self.nodes.len() / 2 + source
    }

    /// The time of `source`.
    fn of(&self, source: usize) -> u64 {
        self.nodes[self.leaf(source)].at()
    }

    /// Sets the time of `source`; the earliest of all then.
    #[inline(never)]
    fn set(&mut self, source: usize, at: u64) -> (u64, u32) {
        let mut node = self.leaf(source);
        let mut key = K::new(at, source);
        self.nodes[node] = key;
        while node > 1 {
            key = key.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = key;
        }
        (key.at(), key.source())
    }
}

impl EventQueue {
    /// For sources `0..sources`, none of which has a time yet.
    #[must_use]
    pub fn new(sources: usize) -> EventQueue {
        let tree = match sources {
            _ if sources <= FEW => Tree::None,
            _ if sources <= NARROW => Tree::Narrow(Nodes::new(sources)),
            _ => Tree::Wide(Nodes::new(sources)),
        };
        EventQueue { first: (NEVER, 0), few: [NEVER; FEW], tree }
    }

    /// Sets the next time of `source`; `u64::MAX` for none.
    #[inline]
    pub fn set(&mut self, source: usize, at: u64) {
        match &mut self.tree {
            Tree::None => self.set_few(source, at),
            Tree::Narrow(nodes) => self.first = nodes.set(source, at),
            Tree::Wide(nodes) => self.first = nodes.set(source, at),
        }
    }

    #[inline(always)]
    fn set_few(&mut self, source: usize, at: u64) {
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

    /// The time of `source`; `u64::MAX` for none.
    #[must_use]
    #[inline]
    pub fn of(&self, source: usize) -> u64 {
        match &self.tree {
            Tree::None => self.few[source],
            Tree::Narrow(nodes) => nodes.of(source),
            Tree::Wide(nodes) => nodes.of(source),
        }
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
            sources in prop_oneof![1usize..20, NARROW - 2..NARROW + 3],
            changes in proptest::collection::vec((0usize..2 * NARROW, 0u64..8), 0..200),
        ) {
            let mut event_queue = EventQueue::new(sources);
            let mut plain = vec![NEVER; sources];
            for (source, at) in changes {
                let source = source % sources;
                let at = match at {
                    6 => LAST - 1,
                    7 => NEVER,
                    at => at,
                };
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
