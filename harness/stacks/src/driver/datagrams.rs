//! Datagrams of real stacks on the network model.

use bytes::BytesMut;
use windlass_controllers::{Decision, Ecn, Time};

use windlass_network::{Class, Codepoint, Fate, Network, Packet, RouteId, Stream, damage};
use windlass_simulator::scenario::FlowSpec;

/// An end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The end that sends the data; it connects, unless it answers requests.
    Sender = 0,
    /// The end that receives it.
    Receiver = 1,
}

impl Role {
    /// Both, in the order of their numbers.
    pub const ALL: [Role; 2] = [Role::Sender, Role::Receiver];

    /// The sender's is the receiver, and the other way round.
    pub const fn other(self) -> Role {
        match self {
            Role::Sender => Role::Receiver,
            Role::Receiver => Role::Sender,
        }
    }

    /// Name in error messages.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
        }
    }
}

/// A datagram to send.
pub struct Datagram<'a> {
    /// ECN codepoint of the IP header.
    pub ecn: Codepoint,
    /// UDP payload, without any header.
    pub payload: &'a [u8],
    /// Which of the sender's addresses it comes from or goes to: 0 until the sender's address changes.
    pub address: u16,
}

/// The network model with the datagrams in transit.
pub struct DatagramNetwork {
    /// Links, queues and what is in transit on them.
    pub network: Network,
    /// Datagrams in transit; a packet's number in the network is its datagram's index here.
    datagrams: Vec<InTransit>,
    free: Vec<usize>,
    /// Room for the next payloads. Those that leave one after the other share an allocation.
    room: BytesMut,
    /// Random numbers of damaged bytes.
    damage: Stream,
}

/// Bytes allocated at a time for payloads.
const ROOM: usize = 1 << 16;

struct InTransit {
    since: Time,
    to: Role,
    address: u16,
    payload: BytesMut,
    /// Its sender marked it CE itself, as s2n-quic does now and then (RFC 9002 §8.3).
    own_mark: bool,
    /// Packets of the network that are this datagram.
    copies: u32,
}

/// One direction of a flow: the route and marking of its packets.
#[derive(Clone, Copy)]
pub struct FlowDirection {
    /// Number of the flow.
    pub flow: u32,
    /// Route of the datagrams.
    pub route: RouteId,
    /// The end that receives them.
    pub to: Role,
    /// Bytes of headers below UDP, added to each.
    pub overhead: u32,
    /// Whether their ECN codepoint is left as the stack set it.
    pub ecn: bool,
    /// Class, for queues that know classes.
    pub class: Class,
}

/// A datagram that reached an end.
pub struct Arrival {
    /// Number of the flow.
    pub flow: u32,
    /// The end the datagram reached.
    pub role: Role,
    /// The datagram, unless it was lost on the way.
    pub payload: Option<BytesMut>,
    /// ECN codepoint on arrival.
    pub ecn: Codepoint,
    /// Whether the network marked it CE, and not its sender.
    pub marked: bool,
    /// When it was sent.
    pub since: Time,
    /// Which of the sender's addresses it comes from or goes to.
    pub address: u16,
    /// Whether a fault changed its bytes.
    pub damaged: bool,
    /// Whether no copy of it is under way any more.
    pub last: bool,
}

impl DatagramNetwork {
    /// `network` without datagrams.
    pub fn new(mut network: Network) -> DatagramNetwork {
        network.report_losses(true);
        network.carry_bytes(true);
        // The faults themselves depend on the run's seed.
        let (room, damage) = (BytesMut::new(), Stream::new(0, "damage"));
        DatagramNetwork { network, datagrams: Vec::new(), free: Vec::new(), room, damage }
    }

    /// Sends a datagram in `direction`.
    pub fn send(&mut self, now: Time, direction: &FlowDirection, datagram: &Datagram<'_>) {
        if self.room.capacity() < datagram.payload.len() {
            self.room = BytesMut::with_capacity(ROOM.max(datagram.payload.len()));
        }
        self.room.extend_from_slice(datagram.payload);
        let payload = self.room.split();
        let own_mark = direction.ecn && datagram.ecn == Codepoint::Ce;
        let in_transit =
            InTransit { since: now, to: direction.to, address: datagram.address, payload, own_mark, copies: 1 };
        let place = match self.free.pop() {
            Some(place) => {
                self.datagrams[place] = in_transit;
                place
            }
            None => {
                self.datagrams.push(in_transit);
                self.datagrams.len() - 1
            }
        };
        let bytes = u32::try_from(datagram.payload.len()).unwrap_or(u32::MAX).saturating_add(direction.overhead);
        let mut packet = Packet::new(direction.flow, place as u64, bytes);
        packet.class = direction.class;
        if direction.ecn {
            packet.ecn = datagram.ecn;
        }
        self.network.send(now, direction.route, packet);
    }

    /// The next datagram that leaves the network until `now`, lost ones among them; each copy that a fault made by
    /// itself.
    pub fn poll(&mut self, now: Time) -> Option<Arrival> {
        loop {
            let delivery = self.network.poll(now)?;
            let packet = delivery.packet;
            let place = packet.id as usize;
            let in_transit = &mut self.datagrams[place];
            if matches!(delivery.fate, Fate::Copied(_)) {
                in_transit.copies += 1;
                continue;
            }
            in_transit.copies -= 1;
            let last = in_transit.copies == 0;
            let (role, since, address) = (in_transit.to, in_transit.since, in_transit.address);
            let mut payload = if last { std::mem::take(&mut in_transit.payload) } else { in_transit.payload.clone() };
            if last {
                self.free.push(place);
            }
            if packet.damaged {
                damage(&mut self.damage, &mut payload);
            }
            let payload = (delivery.fate == Fate::Delivered).then_some(payload);
            let (flow, ecn, damaged) = (packet.flow, packet.ecn, packet.damaged);
            let marked = ecn == Codepoint::Ce && !self.datagrams[place].own_mark;
            return Some(Arrival { flow, role, payload, ecn, marked, since, address, damaged, last });
        }
    }
}

/// How a packet of the sender is marked: by the scenario, else as the controller decides.
/// The application owns the socket a stack sends from, so a decided DSCP is its to set.
pub fn marking(spec: &FlowSpec, decision: &Decision) -> (bool, Class) {
    let ecn = match (spec.ecn, decision.ecn) {
        (Some(false), _) | (_, Ecn::NotEct) | (None, Ecn::Unspecified) => false,
        (_, Ecn::Ect0 | Ecn::Ect1) | (Some(true), Ecn::Unspecified) => true,
    };
    (ecn, Class::of_dscp(decision.dscp))
}
