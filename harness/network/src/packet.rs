//! Packets and their fates.

use windlass_controllers::{Span, Time};

/// Index of a link in [`Topology::links`](super::Topology::links).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// Index of a route in [`Topology::routes`](super::Topology::routes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RouteId(pub u32);

/// A packet on the wire. The network reads its size, codepoint and class and writes
/// its marks; everything else is the caller's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Packet {
    /// The caller's handle; the network never looks at it.
    pub id: u64,
    /// When it entered the network; written by [`Network::send`](super::Network::send).
    pub sent_at: Time,
    /// Time it waited in instrumented queues so far (AQT, `spec: chan §8.1`).
    pub waited: Span,
    /// Number of the flow, chosen by the caller.
    pub flow: u32,
    /// Size on the wire, headers included, bytes.
    pub bytes: u32,
    /// ECN codepoint of the IP header.
    pub ecn: Codepoint,
    /// Class, for queues that know classes.
    pub class: Class,
    /// Whether a congestion-indication queue may mark it (CICT, `spec: chan §8.2`).
    pub ci_capable: bool,
    /// Whether a congestion-indication queue marked it.
    pub ci_marked: bool,
    /// Whether a fault changed its bytes; see [`Network::carry_bytes`](super::Network::carry_bytes).
    pub damaged: bool,
}

impl Packet {
    /// A packet that is not ECN-capable and of the normal class.
    #[must_use]
    pub const fn new(flow: u32, id: u64, bytes: u32) -> Packet {
        Packet {
            id,
            sent_at: Time::ZERO,
            waited: Span::ZERO,
            flow,
            bytes,
            ecn: Codepoint::NotEct,
            class: Class::Normal,
            ci_capable: false,
            ci_marked: false,
            damaged: false,
        }
    }
}

/// The two ECN bits (`RFC 3168 §5`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Codepoint {
    /// Not-ECT (`RFC 3168 §5`).
    #[default]
    NotEct = 0b00,
    /// ECT(1).
    Ect1 = 0b01,
    /// ECT(0).
    Ect0 = 0b10,
    /// CE: congestion experienced.
    Ce = 0b11,
}

impl Codepoint {
    /// Whether a queue may mark it instead of dropping it.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Codepoint::NotEct)
    }
}

/// What a queue that knows classes takes a packet for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Class {
    /// Everything that is not one of the others (class T of `spec: arumaithurai §4.2`).
    #[default]
    Normal,
    /// Network friendly, less than best effort (class N).
    LowPriority,
    /// A probe of a train (`spec: arumaithurai §4.3`).
    Probe,
}

impl Class {
    /// The class a differentiated services codepoint stands for: CS1 (8, `RFC 4594 §4.10`)
    /// and LE (1, `RFC 8622`) are low priority, 11 of the pool for local use
    /// (`RFC 2474 §6`) is a probe, everything else is normal.
    #[must_use]
    pub const fn of_dscp(dscp: u8) -> Class {
        match dscp {
            1 | 8 => Class::LowPriority,
            11 => Class::Probe,
            _ => Class::Normal,
        }
    }
}

/// A packet that left the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// Time it left the network.
    pub at: Time,
    /// The route it was sent on.
    pub route: RouteId,
    /// The packet, with the marks it got.
    pub packet: Packet,
    /// Whether it was delivered, dropped or lost.
    pub fate: Fate,
}

impl Default for Delivery {
    fn default() -> Delivery {
        Delivery { at: Time::ZERO, route: RouteId(0), packet: Packet::default(), fate: Fate::Delivered }
    }
}

/// Where a packet ended, or that it was copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It reached the end of its route.
    Delivered,
    /// A queue dropped it, for lack of room or by active queue management; reported only
    /// if [asked for](super::Network::report_losses).
    Dropped(LinkId),
    /// It was lost on a link, at random or by a fault; reported only if [asked for](super::Network::report_losses).
    Lost(LinkId),
    /// A fault made a copy of it, which is under way as well; reported only to callers that
    /// [carry bytes](super::Network::carry_bytes).
    Copied(LinkId),
}
