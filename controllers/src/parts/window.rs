//! The congestion window with what surrounds it in every window scheme: threshold, growth, limits,
//! units, how it is reduced and what of that may be taken back.

use crate::decision::{Decision, Ecn, Phase};
use crate::event::{IdleRestart, PacketsAcked, SpuriousLoss, WindowSet};
use crate::parts::limits::{Growth, Limits, datagram};
use crate::parts::recovery::{RecoveryPeriod, Reduction, Undo};
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
    undo: Option<Undo>,
}

impl Window {
    /// A new flow's window.
    #[must_use]
    pub fn start(limits: &Limits, path: &Path) -> Window {
        let mtu = datagram(path.mtu);
        Window {
            cwnd: limits.initial_window(mtu),
            ssthresh: limits.ssthresh,
            mtu,
            recovery: RecoveryPeriod::default(),
            reduced: false,
            ever_reduced: false,
            undo: None,
        }
    }

    /// Below the threshold; exactly at it is congestion avoidance.
    #[must_use]
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// In the slow start that the flow began with.
    #[must_use]
    #[inline]
    pub fn in_first_slow_start(&self, limits: &Limits) -> bool {
        self.in_slow_start() && !self.ever_reduced && self.ssthresh == limits.ssthresh
    }

    /// A packet sent at `newest_sent_at` was acknowledged. Returns whether that ends the recovery
    /// period.
    #[inline]
    pub fn acked(&mut self, newest_sent_at: Time) -> bool {
        self.recovery.acked(newest_sent_at)
    }

    /// Whether an ACK frame grows the window: not when the sender did not use it or everything
    /// acknowledged was sent before the latest response.
    ///
    /// That an unused window does not grow is `RFC 9002 §7.8` and `RFC 9438 §5.8`;
    /// `draft-ietf-ccwg-ratelimited-increase §3` would let it grow up to what twice the largest
    /// flight allows, and calls this rule the more conservative one. Nor does it shrink by being
    /// unused, as it would by `RFC 7661`: only an idle period takes it back ([`idle`](Self::idle)).
    #[must_use]
    #[inline]
    pub fn grows(&self, limits: &Limits, acked: &PacketsAcked) -> bool {
        if acked.app_limited || acked.fresh_bytes == 0 {
            return false;
        }
        !self.recovery.in_recovery() || (limits.grow_on_exit && self.recovery.accepts(acked.newest_sent_at))
    }

    /// Acknowledged packets that count for growth; 0 where the frame does not
    /// [grow](Self::grows) the window. Ends the recovery period where it is due.
    #[inline]
    pub fn acked_packets(&mut self, limits: &Limits, acked: &PacketsAcked) -> f64 {
        let grows = self.grows(limits, acked);
        self.acked(acked.newest_sent_at);
        match limits.growth {
            _ if !grows => 0.0,
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
    pub fn grow(&mut self, limits: &Limits, packets: f64) {
        self.cwnd += packets;
        // A branch, not `min`: the limit is rarely met, and every later step would wait.
        if self.cwnd > limits.max_window {
            self.limit(limits);
        }
    }

    /// Grows to the threshold by as many as that takes of `acked` packets, for all of which slow
    /// start would add `added`: a packet that finds the window below it grows it in whole. Returns
    /// the packets that are left.
    pub fn grow_to_threshold(&mut self, limits: &Limits, acked: f64, added: f64) -> f64 {
        let used = libm::ceil((self.ssthresh - self.cwnd) * acked / added).min(acked);
        self.cwnd =
            (self.cwnd + added * (used / acked)).max(self.ssthresh.min(self.cwnd + added)).min(limits.max_window);
        acked - used
    }

    #[cold]
    fn limit(&mut self, limits: &Limits) {
        self.cwnd = limits.max_window;
    }

    /// Lowers the window to `to` packets, not below the smallest one; no congestion
    /// response.
    #[inline]
    pub fn lower(&mut self, limits: &Limits, to: f64) {
        self.cwnd = to.max(limits.min_window).min(self.cwnd);
    }

    /// Takes a congestion response at `now`.
    pub fn reduce(&mut self, limits: &Limits, now: Time, reduction: Reduction) {
        self.respond(now, reduction.ssthresh);
        self.cwnd = reduction.cwnd.max(limits.min_window).min(limits.max_window);
    }

    /// Makes the latest response a larger one, down to `to` packets; a window that is
    /// smaller already stays. The larger response is final.
    pub fn reduce_further(&mut self, limits: &Limits, to: f64) {
        self.lower(limits, to);
        self.ssthresh = self.ssthresh.min(to).max(2.0);
        self.discard_undo();
    }

    /// Takes a congestion response at `now` that lowers the threshold, for good, and leaves the window.
    pub fn lower_threshold(&mut self, now: Time, ssthresh: f64) {
        self.respond(now, ssthresh);
        self.discard_undo();
    }

    fn respond(&mut self, now: Time, ssthresh: f64) {
        let since_earlier = self.recovery.start().and_then(|start| u32::try_from(now.since(start).0 / 1000).ok());
        self.undo = Some(Undo {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            reduced: self.reduced,
            ever_reduced: self.ever_reduced,
            since_earlier: since_earlier.unwrap_or(u32::MAX),
        });
        self.ssthresh = ssthresh.max(2.0);
        self.recovery.begin(now);
        self.reduced = true;
        self.ever_reduced = true;
    }

    /// Starts over after persistent congestion, with the threshold at `ssthresh` packets
    /// (`RFC 9002 §7.6.2`; `spec: sharma §1.5 B-RTO`; `spec: cho §1.6 STD-RTO`). Final.
    pub fn start_over(&mut self, limits: &Limits, ssthresh: f64) {
        self.ssthresh = ssthresh.max(2.0);
        self.cwnd = limits.timeout_window.min(limits.max_window);
        self.recovery.reset();
        self.reduced = false;
        self.ever_reduced = true;
        self.undo = None;
    }

    /// Makes the latest response final: it can no longer be taken back.
    pub fn discard_undo(&mut self) {
        self.undo = None;
    }

    /// Takes the latest response back if the losses it answered were spurious. Those of an
    /// earlier response change nothing. Returns whether anything was restored.
    pub fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) -> bool {
        let answered = |saved: Undo| {
            let since_earlier = 1000 * u64::from(saved.since_earlier);
            let start = self.recovery.start().unwrap_or(Time::ZERO);
            saved.since_earlier == u32::MAX || spurious.newest_sent_at.0.saturating_add(since_earlier) > start.0
        };
        self.undo.is_some_and(answered) && self.undo()
    }

    /// Takes the latest response back. A window that has outgrown the one a response lowered
    /// stays as it is (`RFC 9438 §4.9.2`). Returns whether anything was restored.
    pub fn undo(&mut self) -> bool {
        let Some(saved) = self.undo.take() else { return false };
        self.recovery.close();
        if self.cwnd > saved.cwnd {
            return false;
        }
        self.cwnd = self.cwnd.max(saved.cwnd);
        self.ssthresh = saved.ssthresh;
        self.reduced = saved.reduced;
        self.ever_reduced = saved.ever_reduced;
        true
    }

    /// Window and threshold before the latest response, while it can be taken back.
    #[must_use]
    pub fn undoable(&self) -> Option<Reduction> {
        self.undo.map(|saved| Reduction { cwnd: saved.cwnd, ssthresh: saved.ssthresh })
    }

    /// Goes on with the window and threshold of `to`, of which start-up says that they are the path's.
    pub fn start_up_at(&mut self, limits: &Limits, to: Reduction) {
        self.cwnd = to.cwnd.max(limits.min_window.min(self.cwnd)).min(limits.max_window);
        self.ssthresh = to.ssthresh;
    }

    /// Goes on with the window and threshold of `to`, for good.
    pub fn set(&mut self, limits: &Limits, to: &WindowSet) {
        let ssthresh = to.ssthresh.map_or(self.ssthresh, |bytes| (float(bytes) / self.mtu).max(2.0));
        self.start_up_at(limits, Reduction { cwnd: float(to.cwnd) / self.mtu, ssthresh });
        self.discard_undo();
    }

    /// Sending resumes after an idle period (`spec: sharma §1.5 B-IDLE`). A window of before a
    /// long one is not to be restored either. Returns whether that lowered the window.
    pub fn idle(&mut self, limits: &Limits, idle: &IdleRestart) -> bool {
        if !limits.idle_restart || !idle.is_long() {
            return false;
        }
        self.discard_undo();
        let initial = limits.initial_window(self.mtu);
        let restarts = self.cwnd > initial;
        if restarts {
            self.cwnd = initial;
        }
        restarts
    }

    /// The datagram size changes; the window keeps its bytes (`spec: arumaithurai §3.9`). The
    /// initial one is computed anew, and is the window as long as that has neither grown nor been reduced
    /// (`RFC 9002 §7.2`), whatever was acknowledged: a handshake does not use it.
    pub fn resize(&mut self, limits: &Limits, mtu: u32) {
        let (before, ratio) = (limits.initial_window(self.mtu), self.mtu / datagram(mtu));
        self.mtu = datagram(mtu);
        self.undo = None;
        let is_initial = !self.ever_reduced && self.cwnd == before;
        self.cwnd = if is_initial {
            limits.initial_window(self.mtu)
        } else {
            (self.cwnd * ratio).max(limits.min_window.min(limits.timeout_window)).min(limits.max_window)
        };
        if !is_initial || self.ssthresh != limits.ssthresh {
            self.ssthresh = (self.ssthresh * ratio).max(2.0);
        }
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
        self.recovery.phase(self.in_slow_start())
    }

    /// The decision of a scheme that decides nothing but its window.
    #[must_use]
    #[inline]
    pub fn decision(&self) -> Decision {
        Decision {
            cwnd: self.bytes(self.cwnd),
            ssthresh: (self.ssthresh < f64::INFINITY).then(|| self.bytes(self.ssthresh)),
            pacing_rate: None,
            target_rate: None,
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
