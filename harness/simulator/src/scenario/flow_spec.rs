//! A flow of a scenario: its ends, their applications, its routes, how losses are repaired.

use windlass_adapter::NamedController;
use windlass_controllers::{SavedPath, Span, Time};
use windlass_network::{RouteId, Stream};

use super::application::{FRAMES, OBJECTS, Objects, VIDEO, Video, WRITES, Writes};

/// Bytes of a request ([`FlowSpec::requests`]), on a stream of its own.
pub const REQUEST_BYTES: u32 = 16;

/// A flow as the scenario describes it.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSpec {
    /// Unique name; its random numbers depend on it.
    pub name: String,
    /// Its controller as a user types it.
    pub controller: String,
    /// The controller under test, or one of the stack's own.
    pub control: Control,
    /// Whether the file leaves the controller open (`controller = "under-test"`).
    pub under_test: bool,
    /// When it starts, before [`start_jitter`](Self::start_jitter).
    pub start: Time,
    /// Largest random addition to `start`; see [`starts`](Self::starts).
    pub start_jitter: Span,
    /// When it stops; [`Scenario::end`](super::Scenario::end) if never.
    pub stop: Time,
    /// Flows of one group see each other's windows.
    pub group: Option<String>,
    /// What it knows of its path; see [`Scenario::saved_paths`](super::Scenario::saved_paths).
    pub resume: Option<Resume>,
    /// From when on its receiver is gone without a close: it neither receives nor sends.
    pub vanishes: Option<Time>,
    /// How long the sender of a flow that [vanishes](Self::vanishes) waits for a sign of life
    /// before it gives up (`RFC 9000 §10.1`).
    pub idle_timeout: Span,
    /// Application bytes to transfer; `None` for as many as fit.
    pub transfer_bytes: Option<u64>,
    /// In how many streams the data go, each in answer to a request; `None` if a sender that connects sends them on one
    /// stream, unasked.
    pub requests: Option<u32>,
    /// What the receiver grants beyond what its application has read, of the connection and of each stream
    /// (`RFC 9000 §4.1`), bytes; `None` for as much as the stack can.
    pub receive_window: Option<u64>,
    /// How the sender's application writes; `None` if it always has more than fits.
    pub writes: Option<Writes>,
    /// The video that its receiver asks for in chunks; then [`requests`](Self::requests) is 1, the first of them.
    pub video: Option<Video>,
    /// Size of a packet as the window counts it: the UDP payload, bytes.
    pub packet_bytes: u32,
    /// Up to what size a real stack may raise its packets by path MTU discovery, bytes of
    /// UDP payload; `None` to keep to `packet_bytes`, as the simulator always does.
    pub discover_packet_bytes: Option<u32>,
    /// What of a packet is QUIC's own (headers, authentication tag, frame headers) and not
    /// the application's data, in the simulator; bytes.
    pub header_bytes: u32,
    /// How many packets the simulator's pacer lets go at once.
    pub burst_packets: u32,
    /// How many packets an ACK lets go at most, in the simulator; `None` for as many as fit.
    pub ack_burst_packets: Option<u32>,
    /// Largest random time from an ACK that permits sending to what is sent, in the
    /// simulator; ACKs that come meanwhile send nothing of their own.
    pub send_jitter: Span,
    /// What the wire adds to each packet: IP, UDP and lower headers, bytes.
    pub overhead_bytes: u32,
    /// Size of an ACK packet on the wire, bytes.
    pub ack_wire_bytes: u32,
    /// When the receiver sends ACKs.
    pub ack: AckPolicy,
    /// Whether the receiver deceives its sender, in the simulator; `None` of an honest one.
    pub misbehaves: Option<Misbehaviour>,
    /// How the simulator finds and repairs losses.
    pub recovery: Recovery,
    /// The simulator takes a packet for lost once a window's so-manieth part of later ones, and
    /// three at least, are acknowledged, as ns-2's `numdupacksFrac_` had it (`spec: sharma §12
    /// A-17`); `None` for three.
    pub dupthresh_frac: Option<u32>,
    /// Whether the simulator's loss detection adapts to a path that reorders packets (`RFC 9002 §6.1.1`).
    pub adaptive_loss_detection: bool,
    /// `Some(true)`: ECT(0) unless the controller decides otherwise; `Some(false)`: never
    /// ECN-capable; `None`: as the controller decides.
    pub ecn: Option<bool>,
    /// Whether packets are paced when the controller does not decide a rate.
    pub pacing: bool,
    /// What the receiver's clock is ahead of the sender's, ns.
    pub clock_offset: i64,
    /// Data packets, counted from 0, lost at the sender's own interface; ascending.
    pub drop_packets: Vec<u64>,
    /// What happens to its ends, in any order.
    pub faults: Vec<EndFault>,
    /// Route of the data packets.
    pub forward: RouteId,
    /// Route of the ACKs.
    pub backward: RouteId,
}

impl FlowSpec {
    /// When it starts in the run with `seed`.
    #[must_use]
    pub fn starts(&self, seed: u64) -> Time {
        if self.start_jitter == Span::ZERO {
            return self.start;
        }
        let share = Stream::new(seed, &format!("start {}", self.name)).uniform();
        self.start + Span((share * self.start_jitter.0 as f64) as u64)
    }

    /// Its controller, if no name stands for it.
    #[must_use]
    pub fn unnamed(&self) -> Option<NamedController> {
        self.control.algorithm().copied().filter(|_| NamedController::read(&self.controller).is_err())
    }

    /// Whether its receiver is gone at `now`.
    #[must_use]
    #[inline]
    pub fn has_vanished(&self, now: Time) -> bool {
        self.vanishes.is_some_and(|at| now >= at)
    }

    /// How groups of objects are delivered, if its application writes a media object sequence.
    #[must_use]
    pub fn objects(&self) -> Option<Objects> {
        self.writes.and_then(|writes| writes.frames).and_then(|frames| frames.objects)
    }

    /// The first of its keys that say what its ends' applications do and is not among `known`.
    #[must_use]
    pub fn key_beyond(&self, known: &[&str]) -> Option<&'static str> {
        let keys = [
            ("resume", self.resume.is_some()),
            (VIDEO, self.video.is_some()),
            ("requests", self.requests.is_some()),
            (RECEIVER, self.misbehaves.is_some()),
            ("receive_window_bytes", self.receive_window.is_some()),
            (WRITES, self.writes.is_some()),
            (FRAMES, self.writes.is_some_and(|writes| writes.frames.is_some())),
            (OBJECTS, self.objects().is_some()),
        ];
        keys.into_iter().find(|(key, given)| *given && !known.contains(key)).map(|(key, _)| key)
    }

    /// Size of a full data packet on the wire, bytes.
    #[must_use]
    pub fn wire_bytes(&self) -> u32 {
        self.packet_bytes + self.overhead_bytes
    }

    /// How far the clock of its receiver, or else of its sender, is ahead of the network's at `now`.
    #[must_use]
    pub fn clock_ahead(&self, receiver: bool, now: Time) -> Span {
        let jumps = self.jumps(receiver).filter(|(at, _)| *at <= now);
        jumps.fold(Span::ZERO, |sum, (_, by)| sum + by)
    }

    /// When the clock of its receiver, or else of its sender, jumps, and how far.
    pub fn jumps(&self, receiver: bool) -> impl Iterator<Item = (Time, Span)> + '_ {
        self.faults.iter().filter_map(move |fault| match fault.kind {
            EndFaultKind::ClockJump { receiver: of, by } if of == receiver => Some((fault.at, by)),
            _ => None,
        })
    }

    /// Which of its sender's addresses it has at `now`, counted from 0, once the handshake is over: it has to keep
    /// its address until then (`RFC 9000 §9`).
    #[must_use]
    pub fn address(&self, now: Time) -> u16 {
        let moves = self.faults.iter().filter(|fault| fault.at <= now && fault.kind == EndFaultKind::Rebinding);
        u16::try_from(moves.count()).unwrap_or(u16::MAX)
    }
}

/// A path that flows resume (`RFC 9959`), one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resume {
    /// Flows of one name have one path.
    pub path: String,
    /// What is known of it before any of them.
    pub saved: Option<SavedPath>,
}

/// A fault of the ends of a flow, which real stacks have in virtual time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EndFault {
    /// Time from the start of the run.
    pub at: Time,
    /// What happens.
    pub kind: EndFaultKind,
}

/// Kind of a fault of the ends.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EndFaultKind {
    /// The sender's address changes, as behind a NAT that binds it anew: what the receiver sends to the address it
    /// had is lost (`RFC 9000 §9.3.3`).
    Rebinding,
    /// The clock of an end jumps ahead, as that of a machine that slept.
    ClockJump {
        /// The receiver's clock, not the sender's.
        receiver: bool,
        /// How far.
        by: Span,
    },
}

impl EndFaultKind {
    /// What a scenario file calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EndFaultKind::Rebinding => "rebinding",
            EndFaultKind::ClockJump { .. } => "clock-jump",
        }
    }
}

impl EndFault {
    /// Whether the sender's address changes.
    pub(super) fn is_rebinding(&self) -> bool {
        self.kind == EndFaultKind::Rebinding
    }
}

/// How a receiver deceives its sender to get more than its share (Savage et al., CCR 29(5), 1999).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misbehaviour {
    /// As soon as a packet shows that others before it are missing it acknowledges those too, so that its sender sees no
    /// loss; the sender can find out by numbers that it skips (`RFC 9000 §21.4`), which the simulator's does not.
    OptimisticAcks,
    /// It sends every ACK [`COPIES`](Self::COPIES) times: those of QUIC cannot acknowledge a part of a packet.
    DividedAcks,
}

impl Misbehaviour {
    /// ACKs of a receiver that divides them, for each that an honest one sends.
    pub const COPIES: u32 = 10;
}

/// The key of a flow whose receiver [misbehaves](FlowSpec::misbehaves).
pub const RECEIVER: &str = "receiver";

/// What controls a flow.
// Controllers with their parameters are plain data; flows are few.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, PartialEq, Debug)]
pub enum Control {
    /// A controller by its name, of the catalogue or of the program's own.
    Named(NamedController),
    /// The stack's own controller of this name.
    Native(String),
}

/// What a user types before the name of a stack's own controller.
pub const NATIVE: &str = "native:";

impl Control {
    /// The controller, if it is no stack's own.
    #[must_use]
    pub fn algorithm(&self) -> Option<&NamedController> {
        match self {
            Control::Named(algorithm) => Some(algorithm),
            Control::Native(_) => None,
        }
    }
}

/// How the simulator finds and repairs losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// As QUIC does (`RFC 9002`).
    #[default]
    Quic,
    /// As TCP Reno does, without selective acknowledgements (`spec: chan §2.1, §8.4`). Every
    /// packet should be acknowledged, since duplicate ACKs are counted.
    Reno {
        /// Shortest retransmission timeout.
        min_rto: Span,
    },
    /// As TCP NewReno does: as Reno, and a partial acknowledgement repeats the next packet without
    /// another response (`RFC 2582 §3`; `spec: chan §2.2`).
    NewReno {
        /// Shortest retransmission timeout.
        min_rto: Span,
    },
    /// As TCP Vegas does: as Reno with a fine-grained timeout of its own (`spec: chan §3.7`).
    Vegas {
        /// No coarse timeout is shorter.
        min_rto: Span,
    },
    /// As TCP with selective acknowledgements and timestamps does (`RFC 6675`; `spec: chan §2.3`):
    /// a scoreboard says what is lost and what is under way, one response answers all losses of a
    /// window, and nothing grows before they are repaired.
    Sack {
        /// Shortest retransmission timeout.
        min_rto: Span,
    },
}

impl Recovery {
    /// What a scenario file calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Recovery::Quic => "quic",
            Recovery::Reno { .. } => "tcp-reno",
            Recovery::NewReno { .. } => "tcp-newreno",
            Recovery::Vegas { .. } => "tcp-vegas",
            Recovery::Sack { .. } => "tcp-sack",
        }
    }

    /// Whether what its losses are taken for is held against what they were.
    #[must_use]
    pub fn classifies_losses(self) -> bool {
        matches!(self, Recovery::Reno { .. } | Recovery::NewReno { .. } | Recovery::Vegas { .. })
    }

    /// Whether it counts the packets that came after one that is missing: as QUIC or a scoreboard
    /// does, not duplicate ACKs.
    #[must_use]
    pub fn counts_later_packets(self) -> bool {
        matches!(self, Recovery::Quic | Recovery::Sack { .. })
    }
}

/// When a receiver acknowledges (`RFC 9000 §13.2`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckPolicy {
    /// After so many ack-eliciting packets; 1 is per-packet.
    pub every: u32,
    /// Or after this time, whichever is first.
    pub max_delay: Span,
    /// How many ranges of packet numbers an ACK can carry; older ones are forgotten.
    pub max_ranges: u32,
}

impl AckPolicy {
    /// An ACK for every packet.
    pub const PER_PACKET: AckPolicy = AckPolicy { every: 1, max_delay: Span::ZERO, max_ranges: 64 };
    /// An ACK for every second packet or after 25 ms; at once after a gap or a CE mark.
    pub const DELAYED: AckPolicy = AckPolicy { every: 2, max_delay: Span::from_millis(25), max_ranges: 64 };
}
