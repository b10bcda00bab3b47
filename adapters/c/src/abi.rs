//! `windlass.h` in Rust: the structures that pass between a stack and the library.
//!
//! The header defines the interface and explains every field. The tests compare sizes and offsets
//! with those it states, which the C compiler checks on its side.

use std::ffi::{c_char, c_void};

use windlass_controllers::Signals;

/// `WINDLASS_ABI`: the version of the interface.
pub const ABI: u32 = 1;

/// Signals of every stack.
const ALWAYS: Signals =
    Signals::ACKS.and(Signals::LOSS).and(Signals::PERSISTENT_CONGESTION).and(Signals::RTT).and(Signals::GROUPS);

/// Bits of [`Stack::signals`] with the signals they stand for, and their names in the header after `WINDLASS_SIGNAL_`.
const SIGNALS: [(u32, Signals, &str); 9] = [
    (1, Signals::ECN, "ECN"),
    (2, Signals::CE_COUNT, "CE_COUNT"),
    (PACKET_NUMBERS, Signals::PACKET_NUMBERS, "PACKET_NUMBERS"),
    (8, Signals::SPURIOUS_LOSS, "SPURIOUS_LOSS"),
    (SENT, DELIVERIES, "SENT"),
    (32, DELIVERIES, "DELIVERY"),
    (64, Signals::PACING, "PACING"),
    (128, Signals::WAKE_UP, "TIMER"),
    (256, Signals::ONE_WAY_DELAY, "ONE_WAY_DELAY"),
];

/// What a stack reports of deliveries, or the library works out of packets sent.
const DELIVERIES: Signals = Signals::WINDOW_AT_SEND.and(Signals::DELIVERY_RATE);

/// `WINDLASS_SIGNAL_PACKET_NUMBERS`.
pub const PACKET_NUMBERS: u32 = 4;
/// `WINDLASS_SIGNAL_SENT`.
pub const SENT: u32 = 16;

/// What a stack with these bits reports; `None` if one of them stands for nothing.
#[must_use]
pub fn provides(bits: u32) -> Option<Signals> {
    let known = SIGNALS.iter().fold(0, |known, (bit, ..)| known | bit);
    let set = SIGNALS.iter().filter(|(bit, ..)| bits & bit != 0);
    (bits & !known == 0).then(|| set.fold(ALWAYS, |all, (_, signal, _)| all.and(*signal)))
}

/// The constants of the header a stack would have to set to report `missing`; `None` if it has none for some of them.
pub fn constants(missing: Signals) -> Option<String> {
    let of = |signal: Signals| missing.without(signal) != missing;
    let rows = SIGNALS.iter().filter(|(bit, signal, _)| of(*signal) && *bit != 32);
    let rest = rows.clone().fold(missing, |rest, (_, signal, _)| rest.without(*signal));
    let name = |(bit, _, name): &(u32, Signals, &str)| match *bit {
        SENT => format!("WINDLASS_SIGNAL_{name} or WINDLASS_SIGNAL_DELIVERY"),
        _ => format!("WINDLASS_SIGNAL_{name}"),
    };
    rest.is_empty().then(|| rows.map(name).collect::<Vec<_>>().join(", "))
}

/// Bits of [`Packet::flags`].
pub mod packet {
    /// `delivered`, `delivered_ns`, `delivered_sent_ns`, `lost` and `in_flight` are known.
    pub const DELIVERY: u32 = 1;
    /// The application had nothing to send before the packet.
    pub const APP_LIMITED: u32 = 2;
}

/// Bits of [`Sent::flags`].
pub mod sent {
    /// The application has nothing more to send.
    pub const APP_LIMITED: u32 = 1;
}

/// Bits of [`Acked::flags`].
pub mod acked {
    /// `one_way_ns` holds a one-way delay.
    pub const ONE_WAY: u32 = 1;
    /// The window was not used (`RFC 9002 §7.8`).
    pub const APP_LIMITED: u32 = 2;
}

/// Bits of [`Lost::flags`].
pub mod lost {
    /// The losses establish persistent congestion (`RFC 9002 §7.6`).
    pub const PERSISTENT: u32 = 1;
}

/// Bits of [`Decision::flags`].
pub mod decision {
    /// Other flows of its group may change it.
    pub const SHARED: u32 = 1;
    /// The controller decided the pacing rate; it is not derived from the window.
    pub const DECIDED: u32 = 2;
    /// The controller failed; the rest is its last decision.
    pub const ENDED: u32 = 4;
}

/// The stack that calls.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Stack {
    pub name: *const c_char,
    pub signals: u32,
    pub reserved: u32,
}

/// The path a flow starts on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Path {
    pub now_ns: u64,
    pub peer_address: [u8; 16],
    pub mtu: u32,
    pub peer_port: u16,
    pub reserved: u16,
    pub server_name: *const c_char,
    pub group: *const c_void,
    pub group_size: usize,
    pub seed: u64,
}

/// A packet that was in flight, or several that the stack sums up.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Packet {
    pub number: u64,
    pub sent_ns: u64,
    pub bytes: u64,
    pub count: u32,
    pub flags: u32,
    pub delivered: u64,
    pub delivered_ns: u64,
    pub delivered_sent_ns: u64,
    pub lost: u64,
    pub in_flight: u64,
}

impl Packet {
    /// How many packets it stands for, at least 1.
    #[must_use]
    pub fn packets(&self) -> u32 {
        self.count.max(1)
    }
}

/// An RTT sample with the stack's estimates; 0: unknown.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Rtt {
    pub latest_ns: u64,
    pub smoothed_ns: u64,
    pub variation_ns: u64,
    pub min_ns: u64,
    pub ack_delay_ns: u64,
}

/// A packet was sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Sent {
    pub now_ns: u64,
    pub number: u64,
    pub in_flight: u64,
    pub bytes: u32,
    pub flags: u32,
}

/// Packets were acknowledged.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Acked {
    pub now_ns: u64,
    pub in_flight_before: u64,
    pub in_flight: u64,
    pub one_way_ns: i64,
    pub delivered: u64,
    pub packets: *const Packet,
    pub packet_count: u32,
    pub flags: u32,
}

/// Packets were declared lost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Lost {
    pub now_ns: u64,
    pub in_flight_before: u64,
    pub in_flight: u64,
    pub packets: *const Packet,
    pub packet_count: u32,
    pub flags: u32,
}

/// Window, pacing rate and the rest of a decision; `windlass.h` has the units.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Decision {
    pub cwnd: u64,
    pub ssthresh: u64,
    pub pacing_rate: u64,
    pub send_quantum: u64,
    pub wake_ns: u64,
    pub flags: u32,
    pub phase: u8,
    pub ecn: u8,
    pub dscp: u8,
    pub reserved: u8,
}

/// The estimated send rate; `windlass.h` has the words.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct SendRate {
    pub bits_per_s: u64,
    pub confidence: u8,
    pub limited_by: u8,
    pub reserved: [u8; 6],
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The numbers in the header's `WINDLASS_SIZE(type, n)` and `WINDLASS_AT(type, field, n)`.
    fn stated(what: &str) -> usize {
        let header = include_str!("../include/windlass.h");
        let line = header.lines().find_map(|line| line.strip_prefix(what)).expect(what);
        line.trim_end_matches(");").parse().unwrap()
    }

    #[test]
    fn sizes_and_offsets_are_those_of_the_header() {
        macro_rules! agree {
            ($($type:ident $name:literal: $($field:ident),+;)+) => {$(
                assert_eq!(size_of::<$type>(), stated(concat!("WINDLASS_SIZE(", $name, ", ")), $name);
                $(assert_eq!(
                    offset_of!($type, $field),
                    stated(concat!("WINDLASS_AT(", $name, ", ", stringify!($field), ", ")),
                );)+
            )+};
        }
        agree! {
            Stack "stack": signals;
            Path "path": mtu, server_name, group, group_size, seed;
            Packet "packet": bytes, count, delivered, in_flight;
            Rtt "rtt": ack_delay_ns;
            Sent "sent": bytes;
            Acked "acked": one_way_ns, packets, flags;
            Lost "lost": packets, flags;
            Decision "decision": wake_ns, flags, dscp;
            SendRate "send_rate_estimate": limited_by;
        }
    }

    #[test]
    fn values_are_those_of_the_header() {
        let header = include_str!("../include/windlass.h");
        let defined = |name: &str| {
            let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define WINDLASS_{name} "))).unwrap();
            line.split('u').next().unwrap().parse::<u32>().unwrap()
        };
        assert_eq!(ABI, defined("ABI"));
        for (bit, _, name) in SIGNALS {
            assert_eq!(bit, defined(&format!("SIGNAL_{name}")), "{name}");
        }
        assert_eq!(header.matches("#define WINDLASS_SIGNAL_").count(), SIGNALS.len());
        for (name, value) in [
            ("PACKET_DELIVERY", packet::DELIVERY),
            ("PACKET_APP_LIMITED", packet::APP_LIMITED),
            ("SENT_APP_LIMITED", sent::APP_LIMITED),
            ("ACKED_ONE_WAY", acked::ONE_WAY),
            ("ACKED_APP_LIMITED", acked::APP_LIMITED),
            ("LOST_PERSISTENT", lost::PERSISTENT),
            ("SHARED", decision::SHARED),
            ("DECIDED", decision::DECIDED),
            ("ENDED", decision::ENDED),
        ] {
            assert_eq!(value, defined(name), "{name}");
        }
    }

    #[test]
    fn bits_that_stand_for_nothing_are_refused() {
        assert_eq!(provides(0), Some(ALWAYS));
        assert_eq!(provides(3), Some(ALWAYS.and(Signals::ECN).and(Signals::CE_COUNT)));
        assert_eq!(provides(1 << 9), None);
    }

    #[test]
    fn signals_have_the_headers_names() {
        let named = |signals| constants(signals).unwrap();
        assert_eq!(named(Signals::ECN | Signals::CE_COUNT), "WINDLASS_SIGNAL_ECN, WINDLASS_SIGNAL_CE_COUNT");
        let deliveries = "WINDLASS_SIGNAL_SENT or WINDLASS_SIGNAL_DELIVERY, WINDLASS_SIGNAL_PACING";
        assert_eq!(named(Signals::DELIVERY_RATE | Signals::PACING), deliveries);
        assert_eq!(constants(Signals::ECN | Signals::PROBE_TRAINS), None);
    }
}
