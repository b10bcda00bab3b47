//! Which bytes of which stream were delivered, so that none counts twice.

use std::collections::{BTreeMap, HashMap};

use crate::model::Stream;

/// Separate pieces of one stream that are kept apart; beyond, the lowest gap is closed.
const PIECES: usize = 1 << 14;

/// The bytes of streams that were delivered.
#[derive(Clone, Default, Debug)]
pub(super) struct Delivered {
    /// Of each stream, where pieces begin and end.
    streams: HashMap<u64, BTreeMap<u64, u64>>,
}

impl Delivered {
    /// Adds the data of a frame; how many of its bytes are new.
    pub(super) fn add(&mut self, frame: &Stream) -> u64 {
        if frame.length == 0 {
            return 0;
        }
        let mut from = frame.offset;
        let mut to = frame.offset.saturating_add(frame.length);
        let mut new = to - from;
        let pieces = self.streams.entry(frame.id).or_default();
        // The common case: it continues the only piece.
        while let Some((&begin, &end)) = pieces.range(..=to).next_back() {
            if end < from {
                break;
            }
            new -= end.min(frame.offset.saturating_add(frame.length)).saturating_sub(begin.max(frame.offset));
            from = from.min(begin);
            to = to.max(end);
            pieces.remove(&begin);
        }
        pieces.insert(from, to);
        if pieces.len() > PIECES
            && let Some((begin, _)) = pieces.pop_first()
            && let Some((_, end)) = pieces.pop_first()
        {
            pieces.insert(begin, end);
        }
        new
    }
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
            }
        }
    }

    #[test]
    fn hostile_offsets_are_taken() {
        let mut delivered = Delivered::default();
        assert_eq!(delivered.add(&frame(u64::MAX - 1, 10)), 1);
        assert_eq!(delivered.add(&frame(0, u64::MAX)), u64::MAX - 1);
        for piece in 0..3 * PIECES as u64 {
            delivered.add(&Stream { id: 8, offset: piece * 10, length: 1, fin: false });
        }
        assert!(delivered.streams[&8].len() <= PIECES);
    }
}
