//! Numbers of packets from numbers of bytes.

/// Counts the datagrams that bytes of a path make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagrams {
    /// Datagram size, bytes; at least 1.
    size: u32,
    /// 2⁴⁰ over the size, rounded up: a processor multiplies in a third of the time it divides.
    reciprocal: u64,
}

/// Below this many bytes, and with sizes of 16 bits, the reciprocal's error shows nowhere:
/// their product is at most 2⁴⁰.
const EXACT: u64 = 1 << 24;

impl Datagrams {
    pub(crate) fn of(size: u16) -> Datagrams {
        let size = u32::from(size.max(1));
        Datagrams { size, reciprocal: (1 << 40) / u64::from(size) + 1 }
    }

    /// Number of packets in `bytes`, all but the last full.
    #[inline]
    pub(crate) fn count(&self, bytes: u64) -> u32 {
        let padded = bytes.saturating_add(u64::from(self.size - 1));
        if padded < EXACT { ((padded * self.reciprocal) >> 40) as u32 } else { self.count_many(bytes) }
    }

    #[cold]
    fn count_many(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(u64::from(self.size))).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_a_division_has_it() {
        for size in [1, 2, 3, 7, 1200, 1201, 1452, 1472, 8972, 65_534, 65_535] {
            let (datagrams, one) = (Datagrams::of(size), u64::from(size));
            let edges = (0..=EXACT / one).flat_map(|packets| [packets * one, packets * one + 1]);
            for bytes in edges.chain(EXACT - 2 * one..EXACT + 9) {
                assert_eq!(u64::from(datagrams.count(bytes)), bytes.div_ceil(one), "{bytes} bytes of {size}");
            }
        }
        assert_eq!(Datagrams::of(1).count(u64::MAX), u32::MAX);
        assert_eq!(Datagrams::of(0).count(3), 3);
    }
}
