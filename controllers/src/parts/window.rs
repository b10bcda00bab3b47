//! The congestion window with what surrounds it in every window scheme: threshold,
//! growth, limits, units. How it is reduced and what of that may be taken back is in
//! [`recovery`](crate::parts::recovery).

use crate::decision::{Decision, Ecn, Phase};
use crate::event::{IdleRestart, PacketsAcked};
use crate::parts::base::{Base, Growth};
use crate::parts::recovery::{RecoveryPeriod, Undo};
use crate::{Path, Time};

/// A congestion window, in packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// Congestion window, packets, fraction included.
    pub cwnd: f64,
    /// Slow start threshold, packets; infinite before the first reduction.
    pub ssthresh: f64,
    /// Maximum datagram size, bytes: what one packet is worth.
    pub mtu: f64,
    /// The latest recovery period (`RFC 9002 §7.3.2`).
    pub recovery: RecoveryPeriod,
    /// A response other than to a timeout happened since the start or the last timeout.
    pub reduced: bool,
    /// True once any congestion event reduced the window.
    pub ever_reduced: bool,
    /// Whether anything has been acknowledged yet.
    any_acked: bool,
    /// Packets lost with the latest response and since, while it can be taken back.
    pub(super) lost: u32,
    pub(super) undo: Option<Undo>,
}

impl Window {
    /// A new flow's window.
    #[must_use]
    pub fn start(base: &Base, path: &Path) -> Window {
        let mtu = datagram(path.mtu);
        Window {
            cwnd: base.initial_window(mtu),
            ssthresh: base.ssthresh,
            mtu,
            recovery: RecoveryPeriod::default(),
            reduced: false,
            ever_reduced: false,
            any_acked: false,
            lost: 0,
            undo: None,
        }
    }

    /// Below the threshold; exactly at it is congestion avoidance.
    #[must_use]
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// A packet sent at `newest_sent_at` was acknowledged. Returns whether that ends the recovery
    /// period.
    #[inline]
    pub fn acked(&mut self, newest_sent_at: Time) -> bool {
        self.any_acked = true;
        self.recovery.acked(newest_sent_at)
    }

    /// Acknowledged packets that count for growth; none when the sender did not use its window
    /// or everything acknowledged was sent before the latest response. Ends the recovery period
    /// where it is due.
    ///
    /// That an unused window does not grow is `RFC 9002 §7.8` and `RFC 9438 §5.8`;
    /// `draft-ietf-ccwg-ratelimited-increase §3` would let it grow up to what twice the largest
    /// flight allows, and calls this rule the more conservative one. Nor does it shrink by being
    /// unused, as it would by `RFC 7661`: only an idle period takes it back ([`idle`](Self::idle)).
    #[inline]
    pub fn acked_packets(&mut self, base: &Base, acked: &PacketsAcked) -> f64 {
        let ends = self.acked(acked.newest_sent_at);
        if acked.app_limited || self.recovery.in_recovery() || (ends && !base.grow_on_exit) || acked.fresh_bytes == 0 {
            return 0.0;
        }
        match base.growth {
            Growth::Bytes => self.datagrams(acked),
            Growth::Acks => 1.0,
            Growth::Packets if acked.fresh_bytes >= acked.bytes => f64::from(acked.packets),
            Growth::Packets => f64::from(acked.packets) * (acked.fresh_bytes as f64 / acked.bytes as f64),
        }
    }

    /// What was acknowledged, in datagrams. Full ones, the usual case, need no division.
    #[inline]
    fn datagrams(&self, acked: &PacketsAcked) -> f64 {
        let (packets, bytes) = (f64::from(acked.packets), float(acked.fresh_bytes));
        if packets * self.mtu == bytes { packets } else { bytes / self.mtu }
    }

    /// Adds `packets`, within the limit.
    #[inline]
    pub fn grow(&mut self, base: &Base, packets: f64) {
        self.cwnd += packets;
        // A branch, not `min`: the limit is rarely met, and every later step would wait.
        if self.cwnd > base.max_window {
            self.limit(base);
        }
    }

    /// Grows to the threshold by as many as that takes of `acked` packets, for all of which slow
    /// start would add `added`: a packet that finds the window below it grows it in whole. Returns
    /// the packets that are left.
    pub fn grow_to_threshold(&mut self, base: &Base, acked: f64, added: f64) -> f64 {
        let used = libm::ceil((self.ssthresh - self.cwnd) * acked / added).min(acked);
        self.cwnd = (self.cwnd + added * (used / acked)).max(self.ssthresh.min(self.cwnd + added)).min(base.max_window);
        acked - used
    }

    #[cold]
    fn limit(&mut self, base: &Base) {
        self.cwnd = base.max_window;
    }

    /// Lowers the window to `to` packets, not below the smallest one; no congestion
    /// response.
    #[inline]
    pub fn lower(&mut self, base: &Base, to: f64) {
        self.cwnd = to.max(base.min_window).min(self.cwnd);
    }

    /// Sending resumes after an idle period (`spec: sharma §1.5 B-IDLE`). A window of before a
    /// long one is not to be restored either. Returns whether that lowered the window.
    pub fn idle(&mut self, base: &Base, idle: &IdleRestart) -> bool {
        if !base.idle_restart || !idle.is_long() {
            return false;
        }
        self.discard_undo();
        let initial = base.initial_window(self.mtu);
        let restarts = self.cwnd > initial;
        if restarts {
            self.cwnd = initial;
        }
        restarts
    }

    /// The datagram size changes; the window keeps its bytes (`spec: arumaithurai §3.9`). The
    /// initial one is computed anew, and is the window as long as nothing has been acknowledged
    /// (`RFC 9002 §7.2`).
    pub fn resize(&mut self, base: &Base, mtu: u32) {
        let (before, ratio) = (base.initial_window(self.mtu), self.mtu / datagram(mtu));
        self.mtu = datagram(mtu);
        self.undo = None;
        if !self.any_acked && !self.ever_reduced && self.cwnd == before {
            self.cwnd = base.initial_window(self.mtu);
            return;
        }
        self.cwnd = (self.cwnd * ratio).max(base.min_window.min(base.timeout_window)).min(base.max_window);
        self.ssthresh = (self.ssthresh * ratio).max(2.0);
    }

    /// A number of packets in bytes, rounded down.
    #[must_use]
    #[inline]
    pub fn bytes(&self, packets: f64) -> u64 {
        // Through `i64`, which is half as many instructions; no window comes near 2⁶³.
        (packets * self.mtu) as i64 as u64
    }

    /// What the flow is doing.
    #[must_use]
    pub fn phase(&self) -> Phase {
        if self.recovery.in_recovery() {
            Phase::Recovery
        } else if self.in_slow_start() {
            Phase::SlowStart
        } else {
            Phase::CongestionAvoidance
        }
    }

    /// The decision of a scheme that decides nothing but its window.
    #[must_use]
    #[inline]
    pub fn decision(&self) -> Decision {
        Decision {
            cwnd: self.bytes(self.cwnd),
            ssthresh: (self.ssthresh < f64::INFINITY).then(|| self.bytes(self.ssthresh)),
            pacing_rate: None,
            wake_at: None,
            ecn: Ecn::Unspecified,
            dscp: 0,
            train: None,
            phase: self.phase(),
            recovery_start: self.recovery.start(),
        }
    }
}

/// A count as a float, through `i64`: one instruction instead of five. Beyond 2⁶³ it
/// saturates.
#[inline]
fn float(count: u64) -> f64 {
    count.min(i64::MAX as u64) as i64 as f64
}

/// A datagram size as a divisor: QUIC's are at least 1200 bytes (`RFC 9000 §14`), a
/// caller's mistake is not worth a division by zero.
fn datagram(mtu: u32) -> f64 {
    f64::from(mtu.clamp(1, 65_527))
}
