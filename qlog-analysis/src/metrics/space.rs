//! The packets of one packet number space, and losses inferred from them where a trace logs none.

use crate::flight::{Flight, PacketStatus, Sent};

/// `kPacketThreshold` (`RFC 9002 §6.1.1`).
const PACKET_THRESHOLD: u64 = 3;

/// `kGranularity` (`RFC 9002 §6.1.2`), ns.
const GRANULARITY: i64 = 1_000_000;

/// The meter's data of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    /// Its data frames, a part of the meter's store: first and number.
    pub(super) streams: (u64, u32),
    /// Whether it was inferred to be lost.
    pub(super) inferred: bool,
}

/// Packets of a space.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    pub(super) flight: Flight<Kept>,
    largest_acked: Option<u64>,
    /// Packets below were looked at.
    examined: u64,
}

/// Packets inferred to be lost, and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Inferred {
    pub(super) packets: u64,
    pub(super) bytes: i64,
}

impl Space {
    /// Which packets are lost by the thresholds of `RFC 9002 §6.1`, after an ACK up to
    /// `largest` came at `now`; `rtt` is the larger of the latest and the smoothed, ns. Losses
    /// that a timer would find are found with the next ACK.
    pub(super) fn infer(&mut self, now: i64, largest: u64, rtt: i64) -> Inferred {
        let largest = self.largest_acked.map_or(largest, |before| before.max(largest));
        self.largest_acked = Some(largest);
        let mut found = Inferred::default();
        let mut lose = |sent: &mut Sent<Kept>| {
            sent.status = PacketStatus::Lost;
            sent.extra.inferred = true;
            found.packets += 1;
            found.bytes += i64::from(sent.bytes);
        };
        if let Some(highest) = largest.checked_sub(PACKET_THRESHOLD).filter(|&highest| highest >= self.examined) {
            self.flight.range((self.examined, highest), |_, sent| {
                if sent.status == PacketStatus::InFlight {
                    lose(sent);
                }
                true
            });
            self.examined = highest + 1;
        }
        let delay = (rtt.saturating_add(rtt / 8)).max(GRANULARITY);
        if let Some(highest) = largest.checked_sub(1).filter(|&highest| highest >= self.examined && rtt > 0) {
            self.flight.range((self.examined, highest), |_, sent| {
                if sent.status == PacketStatus::InFlight && now.saturating_sub(sent.time) >= delay {
                    lose(sent);
                }
                true
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn space(packets: u64) -> Space {
        let mut space = Space::default();
        for number in 0..packets {
            let sent =
                Sent { time: number as i64 * MS, bytes: 100, status: PacketStatus::InFlight, extra: Kept::default() };
            space.flight.sent(number, sent);
        }
        space
    }

    fn ack(space: &mut Space, low: u64, high: u64) {
        space.flight.range((low, high), |_, sent| {
            sent.status = PacketStatus::Acked;
            true
        });
    }

    #[test]
    fn three_later_packets_lose_one() {
        let mut space = space(10);
        ack(&mut space, 4, 4);
        assert_eq!(space.infer(40 * MS, 4, 1000 * MS), Inferred { packets: 2, bytes: 200 }, "0 and 1");
        ack(&mut space, 5, 5);
        assert_eq!(space.infer(41 * MS, 5, 1000 * MS), Inferred { packets: 1, bytes: 100 }, "2; each once");
    }

    #[test]
    fn time_loses_what_was_sent_before() {
        let mut space = space(3);
        ack(&mut space, 2, 2);
        assert_eq!(space.infer(9 * MS, 2, 8 * MS), Inferred { packets: 1, bytes: 100 }, "0 left 9 ms ago, 1 left 8");
        assert_eq!(space.infer(10 * MS, 2, 8 * MS).packets, 1);
    }
}
