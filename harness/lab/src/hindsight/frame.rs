//! What happened to a sender, before it is told to any controller.

use windlass_controllers::event::{Delivery, PacketsAcked};
use windlass_controllers::event::{
    EcnCe, IdleRestart, OneWay, PacketSent, PacketsLost, Queueing, RttSample, SpuriousLoss,
};
use windlass_controllers::{Span, Time};

/// Something that happened at `now`.
#[derive(Clone, Copy, Debug)]
pub enum Occurrence<'a> {
    /// A packet left; with the quiet it ended, if it did.
    PacketSent(Time, PacketSent, Option<IdleRestart>),
    /// An ACK frame came, or a timer found losses.
    Frame(&'a Frame),
    /// The datagram size changed; bytes.
    Mtu(Time, u32),
    /// The stack told what it had decided.
    Told(Time, Told),
}

impl Occurrence<'_> {
    /// When.
    #[must_use]
    pub fn now(&self) -> Time {
        match self {
            Occurrence::PacketSent(now, ..) | Occurrence::Mtu(now, _) | Occurrence::Told(now, _) => *now,
            Occurrence::Frame(frame) => frame.now,
        }
    }
}

/// What the stack had decided, as far as it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// Congestion window, bytes.
    pub cwnd: Option<u64>,
    /// Pacing rate, bit/s.
    pub pacing_rate: Option<u64>,
}

impl Told {
    /// What `newer` says, and where it says nothing, what `self` said.
    #[must_use]
    pub fn updated_by(self, newer: Told) -> Told {
        Told { cwnd: newer.cwnd.or(self.cwnd), pacing_rate: newer.pacing_rate.or(self.pacing_rate) }
    }
}

/// What an ACK frame brought, or a timer found.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// When.
    pub now: Time,
    /// Packets newly acknowledged: when they were sent, bytes.
    pub acked: Vec<(Time, u32)>,
    /// Of them, when the newest was sent, and the largest number.
    pub newest: Option<(Time, u64)>,
    /// RTT sample.
    pub rtt: Option<RttSample>,
    /// New CE marks.
    pub marks: u32,
    /// Packets declared lost.
    pub lost: Option<PacketsLost>,
    /// They establish persistent congestion.
    pub persistent: bool,
    /// All packets of the latest losses were acknowledged after all.
    pub spurious: Option<SpuriousLoss>,
    /// Bytes in flight afterwards.
    pub in_flight: u64,
    /// Bytes in flight when the newest packet left.
    pub newest_in_flight: Option<u64>,
    /// What was delivered when the newest packet left.
    pub delivery: Option<Delivery>,
    /// Bytes acknowledged since the connection began, these included.
    pub delivered: u64,
    /// The sender did not use its window.
    pub app_limited: bool,
    /// What the peer says how long it held the ACK, at most what it may.
    pub ack_delay: Span,
    /// The least RTT so far.
    pub min_rtt: Span,
}

impl Frame {
    /// Bytes newly acknowledged.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.acked.iter().map(|(_, bytes)| u64::from(*bytes)).sum()
    }

    /// The marks as an event tells them.
    #[must_use]
    pub fn marked(&self) -> Option<EcnCe> {
        // Marks on packets taken for lost come with nothing newly acknowledged: they are
        // answered as news of this moment.
        let newest_sent_at = self.newest.map_or(self.now, |(sent_at, _)| sent_at);
        let lost = self.lost.map_or(0, |lost| lost.bytes);
        let in_flight = self.in_flight.saturating_add(lost).saturating_add(self.bytes());
        let newest_pn = self.newest.map(|(_, number)| number);
        (self.marks > 0).then_some(EcnCe { packets: self.marks, newest_sent_at, newest_pn, in_flight })
    }

    /// The acknowledgements as an event tells them to a controller whose latest recovery
    /// period began at `recovery_start`.
    #[must_use]
    pub fn acknowledged(&self, recovery_start: Option<Time>, rtt: Option<RttSample>) -> Option<PacketsAcked> {
        let (newest_sent_at, newest_pn) = self.newest?;
        let bytes = self.bytes();
        let fresh = self.acked.iter().filter(|(sent_at, _)| recovery_start.is_none_or(|start| *sent_at > start));
        let way = self.now.since(newest_sent_at);
        let held = way - self.ack_delay.min(way);
        Some(PacketsAcked {
            bytes,
            packets: u32::try_from(self.acked.len()).unwrap_or(u32::MAX),
            fresh_bytes: fresh.map(|(_, bytes)| u64::from(*bytes)).sum(),
            newest_sent_at,
            newest_pn: Some(newest_pn),
            newest_in_flight: self.newest_in_flight,
            in_flight_before: self.in_flight.saturating_add(bytes),
            in_flight: self.in_flight,
            delivered: self.delivered,
            app_limited: self.app_limited,
            rtt,
            // Guesses; only controllers that ask for them look.
            one_way: Some(OneWay { forward: i64::try_from(held.0).unwrap_or(i64::MAX), backward: 0 }),
            queueing: Some(Queueing { forward: held - self.min_rtt.min(held), backward: Span::ZERO }),
            congestion_indication: None,
            delivery: self.delivery,
        })
    }
}
