//! Packets of a path: the data kept for one in flight, and numbers of packets from numbers of bytes.

use windlass_controllers::Time;

/// What s2n-quic keeps for the adapter with every packet in flight and gives back when the
/// packet is lost, or is the newest that an ACK frame acknowledges. Packets of one path are
/// distinguished, and ordered, by their place in all bytes sent. It is small: a path has
/// thousands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacketInfo {
    /// Time it was sent.
    pub(crate) sent_at: Time,
    /// From the highest bit: in 32 the low half of the congestion-controlled bytes sent on the
    /// path up to and including it, in 31 the bytes in flight, it included, and whether the
    /// application left the window unused. One number, which travels in a register.
    counts: u64,
}

impl PacketInfo {
    /// A packet that left at `sent_at` and made it `sent_bytes` bytes sent on the path, of which
    /// `in_flight` are in flight; more than 2³¹ count as that. Whether the application left
    /// the window unused.
    #[inline]
    pub(crate) fn new(sent_at: Time, sent_bytes: u64, in_flight: u64, app_limited: bool) -> PacketInfo {
        let in_flight = in_flight.min(u64::from(u32::MAX / 2));
        PacketInfo { sent_at, counts: sent_bytes << 32 | in_flight << 1 | u64::from(app_limited) }
    }

    /// Congestion-controlled bytes sent on the path up to and including it, where `sent` are
    /// by now: less than 4 GiB more.
    #[inline]
    pub(crate) fn sent_bytes(self, sent: u64) -> u64 {
        sent.wrapping_sub(u64::from((sent as u32).wrapping_sub((self.counts >> 32) as u32)))
    }

    /// Bytes in flight, it included.
    #[inline]
    pub(crate) fn in_flight(self) -> u64 {
        self.counts as u32 as u64 >> 1
    }

    /// `app_limited`: the application left the window unused.
    #[inline]
    pub(crate) fn app_limited(self) -> bool {
        self.counts & 1 == 1
    }
}

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
    fn what_is_kept_is_given_back() {
        let gib = 1 << 30;
        for sent in [0, 1, 4 * gib - 1, 4 * gib, 9 * gib + 5] {
            for since in [0, 1, 3 * gib] {
                let info = PacketInfo::new(Time(7), sent, 12_000, since == 1);
                assert_eq!(info.sent_bytes(sent + since), sent);
                assert_eq!((info.sent_at, info.in_flight(), info.app_limited()), (Time(7), 12_000, since == 1));
            }
        }
        assert_eq!(PacketInfo::new(Time(7), 0, u64::MAX, true).in_flight(), 2 * gib - 1);
    }

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
