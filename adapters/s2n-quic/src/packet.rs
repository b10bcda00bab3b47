//! Data kept for a packet in flight.

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
}
