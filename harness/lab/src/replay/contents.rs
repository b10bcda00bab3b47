//! What the trace of a connection contains, counted in a first pass.

use std::collections::BTreeMap;
use std::fmt;

use windlass_adapter::Stack;
use windlass_controllers::Signals;
use windlass_qlog_analysis::model::{Batch, Event, EventKind, Packet};

/// The largest datagram IP can carry; what is larger is no packet's size.
const LARGEST: u32 = 65_535;

/// A datagram on a path nothing is known of (`RFC 9000 §14`), bytes.
const SMALLEST_MTU: u32 = 1200;

/// What a trace lacks that a replay needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// The trace holds no packets sent.
    Packets,
    /// Its packets have no packet numbers.
    Numbers,
    /// Its packets have no sizes.
    Sizes,
    /// It holds no ACK frames received.
    Acks,
    /// It logs no congestion window.
    Window,
    /// It was taken at the end that receives the data.
    Sender,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Packets => "it has no packets sent that ask for an ACK (packet_sent)",
            Missing::Numbers => "its packets have no numbers (header.packet_number)",
            Missing::Sizes => "its packets have no sizes (raw.length)",
            Missing::Acks => {
                "it has no ACK frames received (acked_ranges in the frames of packet_received), \
                 so it is not known when which packet arrived"
            }
            Missing::Window => "it has no congestion window (congestion_window or cwnd in recovery metrics)",
            Missing::Sender => "it is a receiver's: more bytes came than left, and the sender's window is not in it",
        })
    }
}

/// What the trace of a connection contains.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct TraceContents {
    /// Time of its first event, ns of the trace's clock; `None` without events.
    pub first: Option<i64>,
    /// Ack-eliciting packets sent.
    pub sent: u64,
    /// Those with a packet number.
    pub numbered: u64,
    /// Bytes of the packets sent.
    pub bytes: u64,
    /// Bytes of the packets received.
    pub received: u64,
    /// Packets received with an ACK frame whose ranges are logged.
    pub acks: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// ACK frames with ECN counts.
    pub ecn: u64,
    /// Times a congestion window is logged.
    pub windows: u64,
    /// The first of them, bytes; `None` without any.
    pub first_window: Option<u64>,
    /// How many packets were of each size.
    sizes: BTreeMap<u32, u64>,
}

impl TraceContents {
    /// Adds one event to the counts.
    pub fn count(&mut self, batch: &Batch, event: &Event) {
        self.first.get_or_insert(event.time);
        match event.kind {
            EventKind::PacketSent(index) => self.sent(&batch.packets[index as usize]),
            EventKind::PacketReceived(index) => {
                let packet = &batch.packets[index as usize];
                self.received = self.received.saturating_add(u64::from(packet.bytes.unwrap_or(0)));
                self.acks += u64::from(packet.acks && !batch.ranges_of(packet).is_empty());
                self.ecn += u64::from(packet.ce.is_some());
            }
            EventKind::PacketLost(index) => self.lost += u64::from(batch.packets[index as usize].number.is_some()),
            EventKind::MetricsUpdated(index) => {
                if let Some(cwnd) = batch.metrics[index as usize].cwnd {
                    self.windows += 1;
                    self.first_window.get_or_insert(cwnd);
                }
            }
            _ => {}
        }
    }

    fn sent(&mut self, packet: &Packet) {
        if packet.ack_eliciting == Some(false) {
            return;
        }
        self.sent += 1;
        self.numbered += u64::from(packet.number.is_some());
        if let Some(bytes) = packet.bytes {
            self.bytes = self.bytes.saturating_add(u64::from(bytes));
            if (1..=LARGEST).contains(&bytes) {
                *self.sizes.entry(bytes).or_default() += 1;
            }
        }
    }

    /// The packet size that windows are counted in, bytes: the size that most packets of at least half
    /// the largest one have.
    #[must_use]
    pub fn mtu(&self) -> u32 {
        let largest = self.sizes.keys().next_back().copied().unwrap_or(SMALLEST_MTU);
        let large = self.sizes.range(largest / 2..);
        large.max_by_key(|(_, count)| **count).map_or(SMALLEST_MTU, |(size, _)| *size)
    }

    /// Checks that it has all that a replay needs.
    ///
    /// # Errors
    /// What is missing; of several things, the first.
    pub fn suffice(&self) -> Result<(), Missing> {
        match self {
            TraceContents { sent: 0, acks: 0, received: 1.., .. } => Err(Missing::Sender),
            TraceContents { sent: 0, .. } => Err(Missing::Packets),
            TraceContents { acks: 0, .. } => Err(Missing::Acks),
            TraceContents { numbered: 0, .. } => Err(Missing::Numbers),
            TraceContents { bytes: 0, .. } => Err(Missing::Sizes),
            _ => Ok(()),
        }
    }

    /// The signals it provides to a controller. With `estimates`, also one-way delays and router
    /// queueing times, which are guessed: all that an RTT exceeds the minimum by is taken for
    /// queueing on the way forward.
    #[must_use]
    pub fn provides(&self, estimates: bool) -> Stack {
        let logged = Signals::ACKS
            | Signals::LOSS
            | Signals::PERSISTENT_CONGESTION
            | Signals::RTT
            | Signals::WAKE_UP
            | Signals::PACKET_NUMBERS
            | Signals::SPURIOUS_LOSS
            | Signals::WINDOW_AT_SEND
            | Signals::PACING
            | Signals::GROUPS
            | Signals::DELIVERY_RATE;
        let ecn = if self.ecn > 0 { Signals::ECN | Signals::CE_COUNT } else { Signals::NONE };
        let guessed = if estimates { Signals::ONE_WAY_DELAY | Signals::QUEUEING_TIME } else { Signals::NONE };
        Stack { name: "the trace", provides: logged | ecn | guessed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_in_the_usual_large_packet() {
        let mut contents = TraceContents::default();
        assert_eq!(contents.mtu(), 1200);
        for (bytes, count) in [(40, 900), (1200, 3), (1350, 80), (1452, 2)] {
            contents.sizes.insert(bytes, count);
        }
        assert_eq!(contents.mtu(), 1350);
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut contents = TraceContents::default();
        assert_eq!(contents.suffice(), Err(Missing::Packets));
        contents.sent = 2;
        assert_eq!(contents.suffice(), Err(Missing::Acks));
        contents.acks = 1;
        assert_eq!(contents.suffice(), Err(Missing::Numbers));
        contents.numbered = 2;
        assert_eq!(contents.suffice(), Err(Missing::Sizes));
        contents.bytes = 2400;
        assert_eq!(contents.suffice(), Ok(()));
    }
}
