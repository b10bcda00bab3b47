//! `windlass_msquic.h` in Rust: what only MsQuic and its plugins need besides `windlass.h`.

use core::ffi::{c_char, c_void};
use core::sync::atomic::AtomicU32;

use crate::{Acked, Decision, Lost, Rtt, Sent};

/// `WINDLASS_MSQUIC_ABI`: the version of the interface.
pub const ABI: u32 = 5;
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

/// Bits of [`Packet::flags`](crate::Packet::flags) besides those of `windlass.h`.
pub mod packet {
    /// The packet carried ECT(0).
    pub const ECT: u32 = 0x1_0000;
    /// `delivered`, `delivered_ns` and `delivered_sent_ns` are known; the other two are not.
    pub const DELIVERED: u32 = 0x2_0000;
}

/// Bits of [`Acked::flags`] besides those of `windlass.h`.
pub mod acked {
    /// Keys were discarded (`RFC 9002 §6.4`); there is no packet list.
    pub const IMPLICIT: u32 = 0x1_0000;
}

/// Bits of [`Decision::flags`] besides those of `windlass.h`.
pub mod decision {
    /// `sent` is called for every packet, not only while nothing is in flight.
    pub const EVERY_SENT: u32 = 0x1_0000;
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

/// Values of [`Trace::phase`] after those of [`phase`](crate::phase).
pub mod phase {
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
    pub path: crate::Path,
    pub connection: u64,
    pub app_name: *const c_char,
    pub in_flight: u64,
    pub initial_window_packets: u32,
    pub is_server: u8,
    pub reports: u8,
    pub reserved: [u8; 2],
}

/// An event of a connection's log, for any congestion control.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Trace {
    pub connection: u64,
    pub now_ns: u64,
    pub path: *const Path,
    pub number: u64,
    pub frames: *const u8,
    pub controller: *const c_char,
    pub rtt: Rtt,
    pub cwnd: u64,
    pub in_flight: u64,
    pub ssthresh: u64,
    pub bytes: u32,
    pub kind: u8,
    pub packet_type: u8,
    pub phase: u8,
    pub by_threshold: u8,
    pub ack_delay_exponent: u8,
    pub reserved: [u8; 7],
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
    pub start: unsafe extern "C" fn(*mut c_void, *const Path, *mut Decision, *mut c_char, usize) -> *mut c_void,
    pub stop: unsafe extern "C" fn(*mut c_void),
    pub on_sent: unsafe extern "C" fn(*mut c_void, *const Sent, *mut Decision),
    pub on_rtt: unsafe extern "C" fn(*mut c_void, u64, *const Rtt),
    pub on_acked: unsafe extern "C" fn(*mut c_void, *const Acked, *mut Decision),
    pub on_ecn_ce: unsafe extern "C" fn(*mut c_void, u64, u32, u64, u64, u64, *mut Decision),
    pub on_lost: unsafe extern "C" fn(*mut c_void, *const Lost, *mut Decision),
    pub on_spurious_loss: unsafe extern "C" fn(*mut c_void, u64, u64, *mut Decision),
    pub on_discarded: unsafe extern "C" fn(*mut c_void, u64, u64, *mut Decision),
    pub on_mtu: unsafe extern "C" fn(*mut c_void, u64, u32, *mut Decision),
    pub refresh: unsafe extern "C" fn(*mut c_void, *mut Decision),
    pub trace: Option<unsafe extern "C" fn(*const Trace)>,
    pub tracing: *const AtomicU32,
}

// SAFETY: a table is only read, and its name is valid until the process ends; the header requires
// both.
unsafe impl Sync for Plugin {}
// SAFETY: as above.
unsafe impl Send for Plugin {}
