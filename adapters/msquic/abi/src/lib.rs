//! `windlass_msquic.h` in Rust: the structures that pass between MsQuic and a plugin.
//!
//! The header defines the interface and explains every field. The tests compare sizes and offsets
//! with the ones it states, which the C compiler checks on its side.

use std::ffi::{c_char, c_void};
use std::sync::atomic::AtomicU32;

/// `WINDLASS_MSQUIC_ABI`: the version of the interface.
pub const ABI: u32 = 4;
/// `WINDLASS_MSQUIC_FIRST_ID`: the lowest id of a registered controller.
pub const FIRST_ID: u16 = 0x4000;

/// Bits of [`Path::reports`].
pub mod reports {
    /// ECT(0) is set and CE marks are counted.
    pub const ECN: u8 = 1;
    /// One-way delays are measured if the peer agrees.
    pub const ONE_WAY: u8 = 2;
    /// Every packet is a trace event.
    pub const PACKETS: u8 = 4;
}

/// Bits of [`Packet::flags`].
pub mod packet {
    /// The application left the window unused.
    pub const APP_LIMITED: u32 = 1;
    /// The packet carried ECT(0).
    pub const ECT: u32 = 2;
    /// `delivered`, `delivered_us` and `delivered_sent_us` are known.
    pub const DELIVERY: u32 = 4;
}

/// Bits of [`Sent::flags`].
pub mod sent {
    /// The application has nothing more to send.
    pub const APP_LIMITED: u32 = 1;
}

/// Bits of [`Acked::flags`].
pub mod acked {
    /// `rtt` is a new sample.
    pub const RTT: u32 = 1;
    /// `one_way_us` holds a one-way delay.
    pub const ONE_WAY: u32 = 2;
    /// The newest packet was sent while the application left the window unused.
    pub const APP_LIMITED: u32 = 4;
    /// Keys were discarded (`RFC 9002 §6.4`); there is no packet list.
    pub const IMPLICIT: u32 = 8;
}

/// Bits of [`Lost::flags`].
pub mod lost {
    /// The losses establish persistent congestion (`RFC 9002 §7.6`).
    pub const PERSISTENT: u32 = 1;
}

/// Bits of [`Control::flags`].
pub mod control {
    /// Other flows of its group may change it.
    pub const SHARED: u32 = 1;
    /// The controller decided the pacing rate; it is not derived from the window.
    pub const DECIDED: u32 = 2;
    /// `sent` is called for every packet, not only while nothing is in flight.
    pub const EVERY_SENT: u32 = 4;
    /// The plugin gives the flow up: `stop` follows, and MsQuic's CUBIC takes over.
    pub const ENDED: u32 = 8;
}

/// Values of [`Trace::kind`].
pub mod trace {
    /// The frames of the packet whose event comes next.
    pub const FRAMES: u8 = 0;
    /// A packet was sent.
    pub const SENT: u8 = 1;
    /// A packet was received and authenticated.
    pub const RECEIVED: u8 = 2;
    /// A packet was declared lost.
    pub const LOST: u8 = 3;
    /// The state of congestion control and loss detection.
    pub const STATE: u8 = 4;
    /// Congestion control processed CE marks.
    pub const ECN: u8 = 5;
    /// The last event of a connection.
    pub const CLOSED: u8 = 6;
}

/// Values of [`Trace::packet_type`].
pub mod packet_type {
    /// An Initial packet (`RFC 9000 §17.2.2`).
    pub const INITIAL: u8 = 0;
    /// A 0-RTT packet (`RFC 9000 §17.2.3`).
    pub const ZERO_RTT: u8 = 1;
    /// A Handshake packet (`RFC 9000 §17.2.4`).
    pub const HANDSHAKE: u8 = 2;
    /// A 1-RTT packet (`RFC 9000 §17.3.1`).
    pub const ONE_RTT: u8 = 3;
}

/// Values of [`Trace::phase`], and the first three of [`Control::phase`].
pub mod phase {
    /// Slow start (`RFC 9002 §7.3.1`).
    pub const SLOW_START: u8 = 0;
    /// Congestion avoidance (`RFC 9002 §7.3.3`).
    pub const CONGESTION_AVOIDANCE: u8 = 1;
    /// A recovery period (`RFC 9002 §7.3.2`).
    pub const RECOVERY: u8 = 2;
    /// BBR's `Startup`.
    pub const STARTUP: u8 = 3;
    /// BBR's `Drain`.
    pub const DRAIN: u8 = 4;
    /// BBR's `ProbeBW`.
    pub const PROBE_BW: u8 = 5;
    /// BBR's `ProbeRTT`.
    pub const PROBE_RTT: u8 = 6;
}

/// The path a flow starts on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Path {
    pub now_us: u64,
    pub peer_address: [u8; 16],
    pub mtu: u32,
    pub initial_window_packets: u32,
    pub peer_port: u16,
    pub is_server: u8,
    pub reports: u8,
    pub in_flight: u32,
    pub app_name: *const c_char,
    pub server_name: *const c_char,
    pub connection: u64,
}

/// A packet that was in flight.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Packet {
    pub number: u64,
    pub sent_us: u64,
    pub total_sent: u64,
    pub delivered: u64,
    pub delivered_us: u64,
    pub delivered_sent_us: u64,
    pub bytes: u32,
    pub flags: u32,
}

/// An RTT sample with MsQuic's estimates.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Rtt {
    pub latest_us: u64,
    pub smoothed_us: u64,
    pub variation_us: u64,
    pub min_us: u64,
    pub ack_delay_us: u64,
}

/// A packet was sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Sent {
    pub now_us: u64,
    pub number: u64,
    pub bytes: u32,
    pub in_flight: u32,
    pub mtu: u32,
    pub flags: u32,
}

/// Packets were acknowledged.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Acked {
    pub now_us: u64,
    pub largest_sent: u64,
    pub rtt: Rtt,
    pub one_way_us: i64,
    pub posted: u64,
    pub bytes: u32,
    pub in_flight_before: u32,
    pub in_flight: u32,
    pub mtu: u32,
    pub flags: u32,
    pub packet_count: u32,
    pub packets: *const Packet,
}

/// The peer reported CE marks.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct EcnCe {
    pub now_us: u64,
    pub newest_number: u64,
    pub newest_sent_us: u64,
    pub packets: u32,
    pub in_flight: u32,
    pub mtu: u32,
    pub reserved: u32,
}

/// Packets were declared lost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Lost {
    pub now_us: u64,
    pub bytes: u32,
    pub in_flight_before: u32,
    pub in_flight: u32,
    pub mtu: u32,
    pub flags: u32,
    pub packet_count: u32,
    pub packets: *const Packet,
}

/// The last losses were spurious: the peer acknowledged all of their packets.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct SpuriousLoss {
    pub now_us: u64,
    pub newest_sent_us: u64,
    pub in_flight: u32,
    pub mtu: u32,
}

/// Decision for MsQuic's sender.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct Control {
    pub pacing_rate: u64,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub flags: u32,
    pub phase: u32,
}

/// An event of a connection's log, for any congestion control.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Trace {
    pub connection: u64,
    pub now_us: u64,
    pub path: *const Path,
    pub number: u64,
    pub frames: *const u8,
    pub controller: *const c_char,
    pub rtt: Rtt,
    pub bytes: u32,
    pub cwnd: u32,
    pub in_flight: u32,
    pub ssthresh: u32,
    pub kind: u8,
    pub packet_type: u8,
    pub phase: u8,
    pub by_threshold: u8,
    pub ack_delay_exponent: u8,
    pub reserved: [u8; 3],
}

/// Returns the definition of a text; null after an error, which it writes to the buffer of the given size.
pub type Define = unsafe extern "C" fn(*const c_char, *mut c_char, usize) -> *mut c_void;

/// The functions of a plugin; see the header for what each has to do.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Plugin {
    pub abi: u32,
    pub size: u32,
    pub name: *const c_char,
    pub define: Define,
    pub configure: Option<Define>,
    pub start: unsafe extern "C" fn(*mut c_void, *const Path, *mut Control, *mut c_char, usize) -> *mut c_void,
    pub stop: unsafe extern "C" fn(*mut c_void),
    pub sent: unsafe extern "C" fn(*mut c_void, *const Sent, *mut Control),
    pub acked: unsafe extern "C" fn(*mut c_void, *const Acked, *mut Control),
    pub ecn_ce: unsafe extern "C" fn(*mut c_void, *const EcnCe, *mut Control),
    pub lost: unsafe extern "C" fn(*mut c_void, *const Lost, *mut Control),
    pub spurious_loss: unsafe extern "C" fn(*mut c_void, *const SpuriousLoss, *mut Control),
    pub discarded: unsafe extern "C" fn(*mut c_void, u64, u32, *mut Control),
    pub refresh: unsafe extern "C" fn(*mut c_void, *mut Control),
    pub trace: Option<unsafe extern "C" fn(*const Trace)>,
    pub tracing: *const AtomicU32,
}

// SAFETY: a table is only read, and its name is valid until the process ends; the header requires
// both.
unsafe impl Sync for Plugin {}
// SAFETY: as above.
unsafe impl Send for Plugin {}

#[cfg(test)]
mod tests;
