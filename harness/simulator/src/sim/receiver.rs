//! The receiving end: what arrived, and when to say so.

use super::train::PROBE;
use crate::scenario::{AckPolicy, FlowSpec, Misbehaviour};
use windlass_network::ring::Ring;
use windlass_network::{Codepoint, Packet};

/// A packet that reached the receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Received {
    /// Its number, or the handle of a probe.
    pub id: u64,
    /// Time of arrival, ns.
    pub at: u64,
    /// How long it waited in instrumented queues; of a probe, how long it was under way, ns.
    pub took: u64,
    /// How many ranges of packet numbers the receiver had opened by then.
    pub range: u32,
    /// The codepoint it came with.
    pub ecn: Codepoint,
    /// It had a congestion-indication mark.
    pub ci: bool,
    /// How many packets the ACK answers that was sent when this one was the last to have come.
    pub answered: u16,
}

/// Whether, and when, a packet is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    /// An ACK is due at once.
    Now,
    /// Acknowledge at this time if nothing does so before, ns.
    By(u64),
    /// An ACK is due already.
    Pending,
}

/// The receiver of one flow.
///
/// An ACK is nothing but a position in the log of arrivals: it acknowledges everything
/// up to there. What an ACK frame would say — ranges, ECN counts, the newest packet's
/// arrival — is what the log says up to that position, so frames need not be written
/// down. The sender forgets the log as far as it has read it.
#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub log: Ring<Received>,
    policy: AckPolicy,
    /// It acknowledges what did not arrive, too.
    optimistic: bool,
    /// The packet number after the largest received.
    expected: u64,
    ranges: u32,
    /// Ack-eliciting packets since the last ACK.
    unacknowledged: u32,
    /// Packets that arrived CE-marked, probes included.
    pub marked: u64,
}

impl Receiver {
    /// That of a flow.
    pub fn of(spec: &FlowSpec) -> Receiver {
        let optimistic = spec.misbehaves == Some(Misbehaviour::OptimisticAcks);
        Receiver { optimistic, ..Receiver::new(spec.ack) }
    }

    fn new(policy: AckPolicy) -> Receiver {
        Receiver { log: Ring::new(), policy, optimistic: false, expected: 0, ranges: 0, unacknowledged: 0, marked: 0 }
    }

    /// A packet arrives at `now` (`RFC 9000 §13.2.1`: out of order and CE-marked packets
    /// are acknowledged at once, others after `every` of them or `max_delay`). Probes are
    /// always acknowledged at once.
    #[inline]
    pub fn packet(&mut self, now: u64, packet: &Packet) -> Reply {
        let probe = packet.id & PROBE != 0;
        let ce = packet.ecn == Codepoint::Ce;
        let in_order = packet.id == self.expected;
        if !probe {
            if packet.id > self.expected {
                if self.optimistic {
                    self.pretend(now, packet);
                } else {
                    self.ranges += 1;
                }
            }
            self.expected = self.expected.max(packet.id + 1);
        }
        self.marked += u64::from(ce);
        let took = if probe { now.saturating_sub(packet.sent_at.0) } else { packet.waited.0 };
        self.log.push(Received {
            id: packet.id,
            at: now,
            took,
            range: self.ranges,
            ecn: packet.ecn,
            ci: packet.ci_marked,
            answered: 0,
        });
        self.unacknowledged += 1;
        if probe || !in_order || ce || self.unacknowledged >= self.policy.every {
            Reply::Now
        } else if self.unacknowledged == 1 {
            Reply::By(now.saturating_add(self.policy.max_delay.0))
        } else {
            Reply::Pending
        }
    }

    /// The packets that are missing before `packet` pass for arrived.
    #[cold]
    fn pretend(&mut self, now: u64, packet: &Packet) {
        for id in self.expected..packet.id {
            let took = packet.waited.0;
            let ecn = if packet.ecn == Codepoint::Ce { Codepoint::default() } else { packet.ecn };
            self.log.push(Received { id, at: now, took, range: self.ranges, ecn, ci: false, answered: 0 });
        }
    }

    /// An ACK is sent now: its position in the log. `None` if there is nothing new to
    /// acknowledge.
    #[inline]
    pub fn acknowledge(&mut self) -> Option<u64> {
        if self.unacknowledged == 0 {
            return None;
        }
        let position = self.log.next() - 1;
        if let Some(last) = self.log.get_mut(position) {
            last.answered = u16::try_from(self.unacknowledged).unwrap_or(u16::MAX);
        }
        self.unacknowledged = 0;
        Some(position)
    }

    /// Whether an ACK sent while `ranges` were open still covers `packet`.
    #[inline]
    pub fn tells(&self, packet: &Received, ranges: u32) -> bool {
        packet.range + self.policy.max_ranges > ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::train::handle;

    fn packet(id: u64) -> Packet {
        Packet::new(0, id, 1200)
    }

    #[test]
    fn every_packet_or_every_second() {
        let mut each = Receiver::new(AckPolicy::PER_PACKET);
        assert_eq!((each.packet(5, &packet(0)), each.acknowledge()), (Reply::Now, Some(0)));
        assert_eq!(each.acknowledge(), None, "nothing new");
        let mut second = Receiver::new(AckPolicy::DELAYED);
        assert_eq!(second.packet(5, &packet(0)), Reply::By(25_000_005));
        assert_eq!(second.packet(6, &packet(1)), Reply::Now);
        assert_eq!(second.acknowledge(), Some(1));
        assert_eq!(second.packet(7, &packet(2)), Reply::By(25_000_007));
        let third = AckPolicy { every: 3, ..AckPolicy::DELAYED };
        let mut third = Receiver::new(third);
        third.packet(5, &packet(0));
        assert_eq!((third.packet(6, &packet(1)), third.packet(7, &packet(2))), (Reply::Pending, Reply::Now));
    }

    #[test]
    fn gaps_late_packets_marks_and_probes_are_acknowledged_at_once() {
        let mut receiver = Receiver::new(AckPolicy { every: 100, ..AckPolicy::DELAYED });
        assert!(matches!(receiver.packet(0, &packet(0)), Reply::By(_)));
        assert_eq!(receiver.packet(1, &packet(2)), Reply::Now, "a gap opens");
        receiver.acknowledge();
        assert!(matches!(receiver.packet(2, &packet(3)), Reply::By(_)));
        assert_eq!(receiver.packet(3, &packet(1)), Reply::Now, "a late packet");
        receiver.acknowledge();
        let ce = Packet { ecn: Codepoint::Ce, ..packet(4) };
        assert_eq!(receiver.packet(4, &ce), Reply::Now);
        receiver.acknowledge();
        assert_eq!(receiver.packet(5, &packet(handle(1, 0))), Reply::Now);
        assert_eq!(receiver.acknowledge(), Some(5));
        assert!(matches!(receiver.packet(6, &packet(5)), Reply::By(_)), "a probe leaves no gap");
        assert_eq!(receiver.marked, 1);
    }

    /// Savage et al. 1999 §3.3, where losses are concealed.
    #[test]
    fn an_optimistic_receiver_has_no_gaps() {
        let mut receiver = Receiver { optimistic: true, ..Receiver::new(AckPolicy::PER_PACKET) };
        for id in [0, 3, 2] {
            receiver.packet(0, &packet(id));
        }
        let ids: Vec<u64> = (0..receiver.log.next()).filter_map(|at| receiver.log.get(at)).map(|one| one.id).collect();
        assert_eq!((ids, receiver.ranges), (vec![0, 1, 2, 3, 2], 0));
    }

    #[test]
    fn an_ack_tells_only_so_many_ranges() {
        let mut receiver = Receiver::new(AckPolicy { max_ranges: 2, ..AckPolicy::PER_PACKET });
        for id in [0, 2, 4] {
            receiver.packet(0, &packet(id));
        }
        let ranges = receiver.log.get(2).unwrap().range;
        let told: Vec<bool> = (0..3).map(|i| receiver.tells(receiver.log.get(i).unwrap(), ranges)).collect();
        assert_eq!(told, [false, true, true]);
    }
}
