//! Bytes as choices, and bytes of a seed.

/// Where a count, a size or a packet number of a faulty stack lies: the ends of the types, of
/// QUIC's own numbers (`RFC 9000 §16`) and of floats' whole numbers.
const EDGES: [u64; 20] = [
    0,
    1,
    2,
    1199,
    1200,
    65_535,
    65_536,
    (1 << 24) - 1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    1 << 53,
    (1 << 62) - 1,
    1 << 62,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    u64::MAX - 1,
    u64::MAX,
];

/// Any bytes at all as choices. Once there are none left, every choice is the first.
#[derive(Debug)]
pub(super) struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Choices(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Less than `bound`, which is 256 at most.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    /// Once in `often`; never when the bytes have run out.
    pub(super) fn once_in(&mut self, often: usize) -> bool {
        self.below(often) == often - 1
    }

    /// A number as a faulty stack may have it: at some type's end, of any size, or small.
    pub(super) fn number(&mut self) -> u64 {
        match usize::from(self.byte()) {
            edge if edge < EDGES.len() => EDGES[edge],
            any if any < 64 => (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte())),
            small => small as u64 * 100,
        }
    }
}

/// `length` bytes that depend on `seed` alone: SplitMix64's.
#[must_use]
pub fn bytes_of(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    };
    (0..length.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(length).collect()
}
