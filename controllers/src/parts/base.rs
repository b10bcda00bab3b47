//! Start-up and limits that every window scheme shares.

use crate::parts::start_up::SlowStart;
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
    /// Start-up and limits that every window scheme shares.
    pub struct Base {
        /// Initial window.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Initial slow start threshold.
        ssthresh: f64 = f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "RFC 9002 §B.3";
        /// Smallest window after a reduction.
        min_window: f64 = 2.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Window after persistent congestion.
        timeout_window: f64 = 2.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.6.2";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 2.0, 1_048_576.0, unit "packets", source "choice";
        /// What counts as an acknowledged packet.
        growth: Growth = Growth::Bytes, source "spec: cho §1.3";
        /// Whether the ACK that ends recovery already grows the window.
        grow_on_exit: bool = true, source "spec: cho §1.5, sharma §1.3";
        /// Whether a window left idle for longer than a probe timeout falls back to the initial one.
        idle_restart: bool = true, source "spec: sharma §1.5";
        /// What ends the first slow start besides congestion.
        slow_start: SlowStart = SlowStart::Standard, source "RFC 9406; RFC 9438 §4.10";
        /// Packets one ACK adds at most there; infinite where the sender paces.
        hystart_l: f64 = f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "RFC 9406 §4.3";
        /// Limited slow start's max_ssthresh; 0 is off.
        lss: f64 = 0.0, in 0.0, 1_048_576.0, unit "packets", source "RFC 3742; spec: sharma §1.7";
        /// Whether the first reduction of a flow is a halving whatever the scheme says.
        first_halving: bool = false, source "spec: sharma §1.6";
    }
}

impl Base {
    /// Values of Sharma (2006), without its limited slow start.
    #[must_use]
    pub fn sharma() -> Base {
        Base {
            iw: 2.0,
            ssthresh: 100.0,
            min_window: 1.0,
            timeout_window: 1.0,
            max_window: 67_000.0,
            growth: Growth::Packets,
            grow_on_exit: false,
            ..Base::default()
        }
    }

    /// Values of Sharma (2006) for the schemes that ran with limited slow start and the
    /// first-halving artefact: standard TCP, HS-TCP, Scalable TCP.
    #[must_use]
    pub fn sharma_limited() -> Base {
        Base { lss: 100.0, first_halving: true, ..Base::sharma() }
    }

    /// Values of Cho (2006).
    #[must_use]
    pub fn cho() -> Base {
        Base { iw: 2.0, timeout_window: 1.0, growth: Growth::Acks, ..Base::default() }
    }

    /// Values of Chan (2004).
    #[must_use]
    pub fn chan() -> Base {
        Base { iw: 1.0, growth: Growth::Acks, idle_restart: false, ..Base::default() }
    }

    /// Values of Arumaithurai (2010).
    #[must_use]
    pub fn arumaithurai() -> Base {
        Base { iw: 1.0, ssthresh: 100.0, timeout_window: 1.0, grow_on_exit: false, ..Base::default() }
    }
}
