//! What s2n-quic tells of one ACK frame before its last callback.

use windlass_controllers::event::{PacketsAcked, RttSample};
use windlass_controllers::{Event, EventKind, Time};

use crate::PacketInfo;

/// s2n-quic reports a frame as its RTT sample, its losses one by one, its marks and last
/// its acknowledgements. Controllers hear them in the contract's order, losses together
/// and marks with the send time of the newest packet, so all are kept until the last comes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Frame {
    /// Whether there is anything here.
    pub(crate) open: bool,
    pub(crate) marks: u32,
    pub(crate) lost: Losses,
    /// The acknowledgements the frame will end with: from one frame to the next only what
    /// differs is written.
    ack: Event,
}

impl Default for Frame {
    fn default() -> Self {
        let acked = PacketsAcked::new(0, 0, Time::ZERO, 0, 0);
        let ack = Event::new(Time::ZERO, EventKind::PacketsAcked(acked));
        Frame { open: false, marks: 0, lost: Losses::default(), ack }
    }
}

impl Frame {
    /// Whether it brings marks or losses.
    #[inline]
    pub(crate) fn is_congested(&self) -> bool {
        self.marks | self.lost.packets > 0
    }

    /// The sample it brings, which goes along with its acknowledgements unless it is taken out.
    #[inline]
    pub(crate) fn rtt(&mut self) -> &mut Option<RttSample> {
        &mut self.acked().rtt
    }

    /// Its acknowledgements, to be filled in.
    #[inline]
    pub(crate) fn acked(&mut self) -> &mut PacketsAcked {
        match &mut self.ack.kind {
            EventKind::PacketsAcked(acked) => acked,
            _ => unreachable!("a frame has no other event"),
        }
    }

    /// Its acknowledgements, read at `now`.
    #[inline]
    pub(crate) fn ack(&mut self, now: Time) -> &Event {
        self.ack.now = now;
        &self.ack
    }
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
