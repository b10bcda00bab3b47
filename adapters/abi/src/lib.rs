//! `windlass.h` and `windlass_msquic.h` in Rust: the structures that pass between a stack and the library, and between
//! MsQuic and a plugin.
//!
//! The headers define the interfaces and explain every field. The tests compare sizes and offsets with those they state,
//! which the C compiler checks on its side.

#![no_std]

use core::ffi::{c_char, c_void};
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

#[allow(unsafe_code, reason = "a table of functions is shared by threads")]
pub mod msquic;
#[cfg(test)]
mod tests;

/// `WINDLASS_ABI`: the version of the interface.
pub const ABI: u32 = 1;

/// Bits of [`Stack::signals`].
pub mod signal {
    /// CE marks (`RFC 9000 §13.4`).
    pub const ECN: u32 = 1;
    /// How many packets were marked.
    pub const CE_COUNT: u32 = 2;
    /// Numbers of packets in acknowledgements and losses.
    pub const PACKET_NUMBERS: u32 = 4;
    /// Losses that were spurious.
    pub const SPURIOUS_LOSS: u32 = 8;
    /// Every packet in flight when it is sent.
    pub const SENT: u32 = 16;
    /// [`packet::DELIVERY`](super::packet::DELIVERY); not needed with `SENT`.
    pub const DELIVERY: u32 = 32;
    /// Packets leave at the decided rate.
    pub const PACING: u32 = 64;
    /// The timer of [`Decision::wake_ns`](super::Decision::wake_ns).
    pub const TIMER: u32 = 128;
    /// [`acked::ONE_WAY`](super::acked::ONE_WAY).
    pub const ONE_WAY_DELAY: u32 = 256;
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

/// Values of [`Decision::phase`].
pub mod phase {
    /// Slow start (`RFC 9002 §7.3.1`).
    pub const SLOW_START: u8 = 0;
    /// Congestion avoidance (`RFC 9002 §7.3.3`).
    pub const CONGESTION_AVOIDANCE: u8 = 1;
    /// A recovery period (`RFC 9002 §7.3.2`).
    pub const RECOVERY: u8 = 2;
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

impl Path {
    /// The address of the peer, of its own family.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        SocketAddr::new(IpAddr::V6(Ipv6Addr::from(self.peer_address)).to_canonical(), self.peer_port)
    }
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
