//! What is remembered of a packet in flight.

use windlass_controllers::Time;

/// What s2n-quic keeps for the adapter with every packet in flight and gives back when the
/// packet is lost, or is the newest that an ACK frame acknowledges. Packets of one path are
/// told apart, and ordered, by their place in all bytes sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PacketInfo {
    /// When it left.
    pub(crate) sent_at: Time,
    /// Congestion-controlled bytes sent on the path up to and including it.
    pub(crate) sent_bytes: u64,
    /// Bytes in flight, it included.
    pub(crate) in_flight: u32,
    /// Whether the application left the window unused.
    pub(crate) app_limited: bool,
}
