//! Which bytes of which stream were delivered, so that none counts twice.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::model::Stream;

/// Separate pieces that are kept apart, of all streams together; beyond, the lowest gap of
/// the stream at hand is closed.
const PIECES: usize = 1 << 14;

/// Streams that are remembered; beyond, the one met first is forgotten. Data of it that is
/// sent again then counts again.
const STREAMS: usize = 1 << 16;

/// The bytes of streams that were delivered.
#[derive(Clone, Debug)]
pub(super) struct Delivered {
    streams: HashMap<u64, Pieces>,
    /// Their numbers, in the order they were met.
    met: VecDeque<u64>,
    /// Pieces of those that have several.
    pieces: usize,
    /// Number of streams kept.
    most: usize,
}

impl Default for Delivered {
    fn default() -> Self {
        Delivered { streams: HashMap::new(), met: VecDeque::new(), pieces: 0, most: STREAMS }
    }
}

/// What was delivered of a stream: where pieces begin and end.
#[derive(Clone, Debug)]
enum Pieces {
    One(u64, u64),
    Several(BTreeMap<u64, u64>),
}

impl Delivered {
    /// Remembers at most so many streams from now on.
    pub(super) fn limit(&mut self, most: usize) {
        self.most = most.clamp(1, STREAMS);
        while self.streams.len() > self.most {
            self.forget();
        }
        self.streams.shrink_to_fit();
        self.met.shrink_to_fit();
    }

    /// Forgets the stream met first.
    fn forget(&mut self) {
        let oldest = self.met.pop_front().and_then(|id| self.streams.remove(&id));
        if let Some(Pieces::Several(pieces)) = oldest {
            self.pieces -= pieces.len();
        }
    }

    /// Adds the data of a frame. Returns how many of its bytes are new.
    pub(super) fn add(&mut self, frame: &Stream) -> u64 {
        if frame.length == 0 {
            return 0;
        }
        let from = frame.offset;
        let to = frame.offset.saturating_add(frame.length);
        match self.streams.get_mut(&frame.id) {
            None => {
                if self.streams.len() >= self.most {
                    self.forget();
                }
                self.met.push_back(frame.id);
                self.streams.insert(frame.id, Pieces::One(from, to));
                to - from
            }
            Some(stream) => {
                let before = stream.len();
                let new = stream.add(from, to, self.pieces >= PIECES);
                self.pieces = self.pieces - before + stream.len();
                new
            }
        }
    }
}

impl Pieces {
    /// Pieces kept in a map.
    fn len(&self) -> usize {
        match self {
            Pieces::One(..) => 0,
            Pieces::Several(pieces) => pieces.len(),
        }
    }

    /// Adds the bytes from `from` to `to`. Returns how many are new. If the room is `full`, a new
    /// piece closes the lowest gap.
    fn add(&mut self, from: u64, to: u64, full: bool) -> u64 {
        match self {
            // The common case: it continues the only piece.
            Pieces::One(begin, end) if from <= *end && to >= *begin => {
                let new = (to - from) - to.min(*end).saturating_sub(from.max(*begin));
                (*begin, *end) = (from.min(*begin), to.max(*end));
                new
            }
            Pieces::One(begin, end) if full => {
                (*begin, *end) = (from.min(*begin), to.max(*end));
                to - from
            }
            Pieces::One(begin, end) => {
                *self = Pieces::Several(BTreeMap::from([(*begin, *end), (from, to)]));
                to - from
            }
            Pieces::Several(pieces) => {
                let new = merge(pieces, from, to, full);
                if pieces.len() == 1
                    && let Some((begin, end)) = pieces.pop_first()
                {
                    *self = Pieces::One(begin, end);
                }
                new
            }
        }
    }
}

fn merge(pieces: &mut BTreeMap<u64, u64>, from: u64, to: u64, full: bool) -> u64 {
    let before = pieces.len();
    let (mut first, mut last, mut new) = (from, to, to - from);
    while let Some((&begin, &end)) = pieces.range(..=last).next_back() {
        if end < first {
            break;
        }
        new -= end.min(to).saturating_sub(begin.max(from));
        first = first.min(begin);
        last = last.max(end);
        pieces.remove(&begin);
    }
    pieces.insert(first, last);
    if full
        && pieces.len() > before
        && let Some((begin, _)) = pieces.pop_first()
        && let Some((_, end)) = pieces.pop_first()
    {
        pieces.insert(begin, end);
    }
    new
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(offset: u64, length: u64) -> Stream {
        Stream { id: 4, offset, length, fin: false }
    }

    proptest! {
        #[test]
        fn every_byte_counts_once(frames in prop::collection::vec((0_u64..200, 0_u64..40), 1..60)) {
            let mut delivered = Delivered::default();
            let mut bytes = [false; 256];
            for (offset, length) in frames {
                let mut expected = 0;
                for byte in &mut bytes[offset as usize..(offset + length) as usize] {
                    expected += u64::from(!*byte);
                    *byte = true;
                }
                prop_assert_eq!(delivered.add(&frame(offset, length)), expected);
                let kept: usize = delivered.streams.values().map(Pieces::len).sum();
                prop_assert_eq!(delivered.pieces, kept);
            }
        }
    }

    #[test]
    fn hostile_offsets_are_taken() {
        let mut delivered = Delivered::default();
        assert_eq!(delivered.add(&frame(u64::MAX - 1, 10)), 1);
        assert_eq!(delivered.add(&frame(0, u64::MAX)), u64::MAX - 1);
        for piece in 0..3 * PIECES as u64 {
            let id = 8 + piece % 3;
            delivered.add(&Stream { id, offset: piece * 10, length: 1, fin: false });
        }
        let kept: usize = delivered.streams.values().map(Pieces::len).sum();
        assert_eq!(delivered.pieces, kept);
        assert!(kept <= PIECES + 3, "{kept}");
    }

    #[test]
    fn streams_beyond_a_bound_are_forgotten_in_the_order_they_came() {
        let mut delivered = Delivered::default();
        let stream = |id| Stream { id, offset: 0, length: 10, fin: false };
        for id in 0..STREAMS as u64 + 5 {
            assert_eq!(delivered.add(&stream(id)), 10);
        }
        assert_eq!((delivered.streams.len(), delivered.met.len()), (STREAMS, STREAMS));
        assert_eq!(delivered.add(&stream(STREAMS as u64)), 0, "remembered");
        assert_eq!(delivered.add(&stream(0)), 10, "forgotten");
        delivered.limit(3);
        assert_eq!((delivered.streams.len(), delivered.met.len()), (3, 3));
    }
}
