//! Watching a flow, packet by packet.

use windlass_controllers::event::LossTrigger;
use windlass_controllers::{Span, Time};

/// Why a packet was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendReason {
    /// There was something to send.
    Data,
    /// Its data was declared lost before, by this rule.
    Retransmission(LossTrigger),
    /// A probe timeout fired (`RFC 9002 §6.2.4`).
    ProbeTimeout,
}

/// A data packet that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketSeen {
    /// Packet number, from 0.
    pub number: u64,
    /// Its size as the window counts it, bytes.
    pub bytes: u32,
    /// How much of that is the application's data, bytes.
    pub payload: u32,
    /// Offset of its data in the application's, bytes.
    pub offset: u64,
    /// What it is sent for: new data, a retransmission or a probe.
    pub reason: SendReason,
}

/// An ACK frame that reached the sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AckSeen<'a> {
    /// How many came before it.
    pub number: u64,
    /// Packets newly acknowledged: lowest and highest of each range.
    pub ranges: &'a [(u64, u64)],
    /// How long the receiver held it.
    pub delay: Span,
    /// Data packets received so far with ECT(0), ECT(1), CE; `None` without any.
    pub ecn: Option<[u64; 3]>,
    /// Its size on the wire less what the wire adds, bytes.
    pub bytes: u32,
}

/// A packet the sender declared lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossSeen {
    /// The number it was sent under.
    pub number: u64,
    /// The rule that found it.
    pub trigger: LossTrigger,
    /// How many one event reports to the controller with it, itself included; 0 if none does.
    pub together: u32,
}

/// Observes packets sent, acknowledged and lost. Called before the controller gets the event;
/// decisions are for a [`Recorder`](windlass_adapter::Recorder). A flow without an observer
/// costs nothing more.
pub trait FlowObserver: Send {
    /// A data packet leaves. Probes of trains are not reported.
    fn sent(&mut self, now: Time, packet: &PacketSeen);
    /// An ACK arrives that acknowledges something new.
    fn acked(&mut self, now: Time, ack: &AckSeen<'_>);
    /// A packet is declared lost.
    fn lost(&mut self, now: Time, loss: &LossSeen);
    /// Requests of the receiver arrive in a packet of `bytes`: the first ones, all in packet `number`, or one more after the ACKs
    /// that came before.
    fn requested(&mut self, now: Time, number: Option<u64>, bytes: u32) {
        let (_, _, _) = (now, number, bytes);
    }
    /// The sender answers a request of a video's client with the data from `begin` on, to `end`.
    fn answered(&mut self, begin: u64, end: u64) {
        let (_, _) = (begin, end);
    }
    /// A group of a media object sequence begins, with a stream of its own, at `begin` in the data.
    fn group_began(&mut self, begin: u64) {
        let _ = begin;
    }
}
