//! The limits of a congestion window, and what grows it: parameters that every scheme with a window shares.

use crate::{choice, parameters};

choice! {
    /// What counts as an acknowledged packet (`spec: cho §1.3`; `spec: sharma §1.4`).
    pub enum Growth {
        /// Bytes acknowledged over the datagram size, in one step per ACK (`RFC 9002 §7.3.1`).
        Bytes = "bytes",
        /// One per ACK frame that acknowledges anything new, as delayed-ACK TCP counts.
        Acks = "acks",
        /// The per-packet rule applied packet by packet.
        Packets = "packets",
    }
}

parameters! {
    /// The limits of a window, and what grows it.
    pub struct Limits {
        /// Initial window; of each datagram 1472 bytes count, of the first two all.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Initial slow start threshold.
        ssthresh: f64 = f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "RFC 9002 §B.3";
        /// Smallest window after a reduction.
        min_window: f64 = 2.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Window after persistent congestion.
        timeout_window: f64 = 2.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.6.2";
        /// Whether persistent congestion lowers the threshold once more where the flight was answered already, as a TCP's timeout does.
        timeout_reduces_again: bool = false, source "RFC 9002 §7.3.2, §B.8; RFC 5681 §3.1";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 2.0, 1_048_576.0, unit "packets", source "choice";
        /// What counts as an acknowledged packet.
        growth: Growth = Growth::Bytes, source "spec: cho §1.3";
        /// Whether the ACK that ends recovery already grows the window.
        grow_on_exit: bool = true, source "spec: cho §1.5, sharma §1.3";
        /// Whether a window left idle for longer than a probe timeout falls back to the initial one.
        idle_restart: bool = true, source "spec: sharma §1.5";
    }
}

/// Bytes that a datagram counts in the initial window: 14,720 are ten of them (`RFC 9002 §7.2`).
const IW_DATAGRAM: f64 = 1472.0;

/// The initial window of `iw` packets on a path with datagrams of `mtu` bytes, in packets: ten are
/// 14,720 bytes at most or two datagrams, whichever is more (`RFC 9002 §7.2`), and other numbers of
/// packets are limited in proportion, so that `iw` is exact wherever datagrams are no larger than
/// 1472 bytes.
#[must_use]
pub fn initial_window(iw: f64, mtu: f64) -> f64 {
    // A little more, so that 14,720 bytes are as many once they are bytes again.
    let most = iw * IW_DATAGRAM * (1.0 + 2.0 * f64::EPSILON) / mtu;
    iw.min(most.max(2.0))
}

/// The same in whole bytes, of `max_window` packets at most.
#[must_use]
pub fn initial_cwnd(iw: f64, max_window: f64, mtu: f64) -> f64 {
    libm::round(initial_window(iw.min(max_window), mtu) * mtu)
}

/// A datagram size as a divisor: QUIC's are at least 1200 bytes (`RFC 9000 §14`), a caller's mistake is not worth a
/// division by zero.
#[must_use]
pub fn datagram(mtu: u32) -> f64 {
    f64::from(mtu.clamp(1, 65_527))
}

/// The `iw` of which [`initial_window`] makes a window of `bytes`.
#[must_use]
pub fn iw_of(bytes: u64, mtu: u32) -> f64 {
    let (bytes, mtu) = (bytes as f64, f64::from(mtu.max(1)));
    bytes / if bytes < 2.0 * mtu { mtu } else { mtu.min(IW_DATAGRAM) }
}

impl Limits {
    /// The initial window with datagrams of `mtu` bytes, packets.
    #[must_use]
    pub fn initial_window(&self, mtu: f64) -> f64 {
        initial_window(self.iw, mtu).max(self.min_window.min(self.iw)).min(self.max_window)
    }

    /// Values of Sharma (2006).
    #[must_use]
    pub fn sharma() -> Limits {
        Limits {
            iw: 2.0,
            ssthresh: 100.0,
            min_window: 1.0,
            timeout_window: 1.0,
            timeout_reduces_again: true,
            max_window: 67_000.0,
            growth: Growth::Packets,
            grow_on_exit: false,
            ..Limits::default()
        }
    }

    /// Values of Cho (2006).
    #[must_use]
    pub fn cho() -> Limits {
        Limits { iw: 2.0, timeout_window: 1.0, timeout_reduces_again: true, growth: Growth::Acks, ..Limits::default() }
    }

    /// Values of Chan (2004).
    #[must_use]
    pub fn chan() -> Limits {
        Limits { iw: 1.0, timeout_reduces_again: true, growth: Growth::Acks, idle_restart: false, ..Limits::default() }
    }

    /// Values of Arumaithurai (2010).
    #[must_use]
    pub fn arumaithurai() -> Limits {
        Limits {
            iw: 1.0,
            ssthresh: 100.0,
            timeout_window: 1.0,
            timeout_reduces_again: true,
            grow_on_exit: false,
            ..Limits::default()
        }
    }
}
