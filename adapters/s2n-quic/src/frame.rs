//! What s2n-quic tells of one ACK frame before its last callback.

use windlass_controllers::Time;
use windlass_controllers::event::Rtt;

use crate::PacketInfo;

/// s2n-quic reports a frame as its RTT sample, its losses one by one, its marks and last
/// its acknowledgements. Controllers hear them in the contract's order, losses together
/// and marks with the send time of the newest packet, so all are kept until the last comes.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Frame {
    /// Whether there is anything here.
    pub(crate) open: bool,
    pub(crate) rtt: Option<Rtt>,
    pub(crate) marks: u32,
    pub(crate) lost: Losses,
}

/// Packets declared lost together.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Losses {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    pub(crate) newest_sent_at: Time,
    pub(crate) persistent: bool,
}

impl Losses {
    #[inline]
    pub(crate) fn add(&mut self, bytes: u64, packet: &PacketInfo, persistent: bool) {
        self.packets += 1;
        self.bytes += bytes;
        self.newest_sent_at = self.newest_sent_at.max(packet.sent_at);
        self.persistent |= persistent;
    }
}
