//! What a queue discipline is: one that decides when a packet arrives ([`Admission`]), or one that owns its
//! packets and decides which leaves ([`Scheduler`]); and what holds packets back behind either ([`Gate`]).
//!
//! The first kind is served in order, so that the [link](super::link) knows all of a packet's life when it
//! arrives and holds it itself. A discipline is a file with its description, the check of it and one of the two
//! traits, and a variant of [`Queue`](super::Queue).

use std::collections::VecDeque;

use super::packet::Packet;
use super::random::Stream;

/// Decision on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// The packet goes on unchanged.
    Pass,
    /// It is marked if it is ECN-capable.
    Mark,
    /// The packet is dropped.
    Drop,
}

/// State of a queue when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    /// Time of the arrival, ns.
    pub now: u64,
    /// Time that the packet will wait, ns.
    pub wait: u64,
    /// Packets waiting, this one not among them.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Time that the link had nothing to send, ns; 0 if it is busy.
    pub idle: u64,
    /// Rate of the link, bit/s.
    pub rate: f64,
}

/// Active queue management of packets that arrive.
pub(super) trait Admission: Send {
    /// Decides on a packet before it is known whether there is room for it.
    fn admit(&mut self, arrival: Arrival, packet: &Packet, random: &mut Stream) -> Action;
}

/// A packet in a queue that owns its packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub packet: Packet,
    /// Its position on its route.
    pub hop: u32,
    /// Time of arrival, ns.
    pub arrived: u64,
    /// Whether this queue CE-marked it.
    pub marked: bool,
}

/// A queue that owns its packets.
pub(super) trait Scheduler: Send {
    /// Takes a packet. Unless it `fits`, this one or others go to `dropped`.
    fn enqueue(&mut self, held: Held, fits: bool, dropped: &mut VecDeque<Held>);

    /// The packet to send at `now`, ns; those dropped before it go to `dropped`, oldest first. There is one
    /// if any waited, unless all were dropped.
    fn dequeue(&mut self, now: u64, dropped: &mut VecDeque<Held>) -> Option<Held>;

    /// Number of packets waiting.
    fn packets(&self) -> u64;

    /// Number of bytes waiting.
    fn bytes(&self) -> u64;

    /// Packets that wait, in any order.
    fn each(&mut self, visit: &mut dyn FnMut(&mut Held));

    /// Sum of the waiting times until `now` of packets that wait, ns.
    fn waited(&self, now: u64) -> u128;
}

/// What holds packets back that a link could send. Packets are asked for in the order in which they leave.
pub(super) trait Gate: Send {
    /// When a packet may start that arrived at `arrived` on a link that is free from `free` on, ns.
    fn start(&mut self, arrived: u64, free: u64, bytes: u32) -> u64;

    /// The packet that was asked for last does start, at `start`.
    fn take(&mut self, start: u64, bytes: u32);

    /// When it is decided which of the packets that wait comes next, ns, on a link that is free from `free` on.
    fn ready(&self, free: u64) -> u64;

    /// Bytes that could have been sent until `now`; `None` if the link's rate says.
    fn capacity(&self, _now: u64) -> Option<f64> {
        None
    }
}
