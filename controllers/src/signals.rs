//! What a stack can tell a controller, and what a controller cannot work without.

use core::fmt;
use core::ops::BitOr;

/// A set of signals.
///
/// A controller states the set it needs, an adapter the set its stack provides.
/// A need that is not provided is an error at construction, never a controller
/// that silently does something else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Signals(u32);

macro_rules! signals {
    ($($(#[doc = $doc:literal])* $name:ident = $bit:literal, $text:literal;)+) => {
        impl Signals {
            $($(#[doc = $doc])* pub const $name: Signals = Signals(1 << $bit);)+
            /// Every signal there is; what the simulator provides.
            pub const ALL: Signals = Signals($((1 << $bit))|+);
            const NAMES: &'static [(Signals, &'static str)] = &[$((Signals::$name, $text)),+];
        }
    };
}

signals! {
    /// Newly acknowledged bytes with the send time of the newest packet.
    ACKS = 0, "acknowledgements";
    /// Packets declared lost, with the send time of the newest.
    LOSS = 1, "loss";
    /// Persistent congestion (RFC 9002 §7.6).
    PERSISTENT_CONGESTION = 2, "persistent congestion";
    /// An RTT sample per ACK frame.
    RTT = 3, "RTT samples";
    /// ECN-CE marks reported by the receiver (RFC 9000 §13.4).
    ECN = 4, "ECN-CE marks";
    /// How many packets were newly marked, not just that some were.
    CE_COUNT = 5, "counts of ECN-CE marks";
    /// Relative one-way delays in both directions.
    ONE_WAY_DELAY = 6, "one-way delays";
    /// Time spent waiting in router queues, by direction (AQT).
    QUEUEING_TIME = 7, "router queueing times";
    /// Echo of a drop-triggered congestion-indication mark.
    CONGESTION_INDICATION = 8, "congestion-indication marks";
    /// Sending trains of probe packets at exact offsets and hearing of each probe.
    PROBE_TRAINS = 9, "probe trains";
    /// Being called at a time the controller asked for.
    WAKE_UP = 10, "wake-up calls";
    /// Packet numbers in acknowledgements and losses.
    PACKET_NUMBERS = 11, "packet numbers";
    /// Losses later found to be spurious.
    SPURIOUS_LOSS = 12, "spurious-loss reports";
    /// Bytes in flight at the time the newest acknowledged packet was sent.
    WINDOW_AT_SEND = 13, "bytes in flight at send time";
    /// Sending at the pacing rate the controller decides.
    PACING = 14, "controller-driven pacing";
    /// The members of a group see each other's windows.
    GROUPS = 15, "groups of flows";
    /// What had been delivered when the newest acknowledged packet was sent.
    DELIVERY_RATE = 16, "delivery-rate samples";
    /// Sending data in trains at exact offsets, and hearing of each packet of them.
    DATA_TRAINS = 17, "data in trains";
}

impl Signals {
    /// The empty set.
    pub const NONE: Signals = Signals(0);

    /// Both sets together (usable in constants).
    #[must_use]
    pub const fn and(self, other: Signals) -> Signals {
        Signals(self.0 | other.0)
    }

    /// What is in `self` and not in `other`.
    #[must_use]
    pub const fn without(self, other: Signals) -> Signals {
        Signals(self.0 & !other.0)
    }

    /// Whether every signal of `other` is in `self`.
    #[must_use]
    pub const fn contains(self, other: Signals) -> bool {
        self.0 & other.0 == other.0
    }

    /// True if the set holds no signal.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The signal called `name`, as [`names`](Self::names) has it.
    #[must_use]
    pub fn named(name: &str) -> Option<Signals> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(signal, _)| *signal)
    }

    /// The names of the signals in the set, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.iter().filter(move |(s, _)| self.contains(*s)).map(|(_, n)| *n)
    }
}

impl BitOr for Signals {
    type Output = Signals;
    fn bitor(self, other: Signals) -> Signals {
        self.and(other)
    }
}

impl fmt::Display for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.names().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signals({self})")
    }
}
