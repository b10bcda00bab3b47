//! What a sender remembers of a packet.

/// What became of a packet, as far as its sender knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum State {
    /// Neither acknowledged nor lost.
    #[default]
    InFlight,
    /// Acknowledged, possibly after it was declared lost.
    Acked,
    /// Declared lost.
    Lost,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    /// When, ns.
    pub sent_at: u64,
    /// Bytes in flight just after; of a lost packet, when it was declared lost, ns.
    pub in_flight_or_lost_at: u64,
    /// The piece of the application's data in it.
    pub chunk: u64,
    /// Its size, as the window counts it.
    pub bytes: u32,
    /// How often the data was sent before and with it.
    pub transmissions: u16,
    pub state: State,
    /// The data was or is sent in other packets too.
    pub repeated: bool,
    /// It reached the receiver.
    pub arrived: bool,
}
