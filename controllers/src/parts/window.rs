//! The congestion window with what surrounds it in every window scheme: threshold,
//! recovery period, limits, undo.

use crate::decision::{Decision, Ecn, Phase};
use crate::event::{IdleRestart, PacketsAcked};
use crate::parts::base::{Base, Growth};
use crate::parts::recovery::RecoveryPeriod;
use crate::{EventKind, Path, Time};

/// Window and threshold after a reduction, packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reduction {
    /// The new window.
    pub cwnd: f64,
    /// The new slow start threshold.
    pub ssthresh: f64,
}

impl Reduction {
    /// Keeps `factor` of `cwnd` and puts the threshold there too (`spec: sharma §1.5 B-CONG`).
    #[must_use]
    pub fn to(factor: f64, cwnd: f64) -> Reduction {
        Reduction { cwnd: factor * cwnd, ssthresh: factor * cwnd }
    }
}

/// A congestion window, in packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Window {
    /// The window, fraction included.
    pub cwnd: f64,
    /// Slow start threshold.
    pub ssthresh: f64,
    /// Maximum datagram size, bytes: what one packet is worth.
    pub mtu: f64,
    /// The latest recovery period.
    pub recovery: RecoveryPeriod,
    /// A response other than to a timeout happened since the start or the last timeout.
    pub reduced: bool,
    /// Any response happened yet.
    pub ever_reduced: bool,
    undo: Option<Undo>,
}

/// What a response changed, kept until it can no longer be taken back.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Undo {
    cwnd: f64,
    ssthresh: f64,
    reduced: bool,
    ever_reduced: bool,
    /// The response left the window.
    held: bool,
    /// Packets lost with it and since; all there can be once there was a mark.
    lost: u32,
}

impl Window {
    /// A new flow's window.
    #[must_use]
    pub fn start(base: &Base, path: &Path) -> Window {
        Window {
            cwnd: base.iw.min(base.max_window),
            ssthresh: base.ssthresh,
            mtu: datagram(path.mtu),
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

    /// Whether the response to come is the platform's own halving: the first of the
    /// flow, or in slow start (`spec: sharma §1.6`).
    #[must_use]
    pub fn halves_first(&self, base: &Base) -> bool {
        base.first_halving && (!self.ever_reduced || self.in_slow_start())
    }

    /// Units of growth this ACK is worth; none when the sender did not use its window
    /// or everything acknowledged was sent before the latest response. Ends the
    /// recovery period where it is due.
    #[inline]
    pub fn acked_packets(&mut self, base: &Base, acked: &PacketsAcked) -> f64 {
        let ends = self.recovery.acked(acked.newest_sent_at);
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

    /// Takes a congestion response at `now`.
    pub fn reduce(&mut self, base: &Base, now: Time, reduction: Reduction) {
        self.respond(now, reduction.ssthresh, false);
        self.cwnd = reduction.cwnd.max(base.min_window).min(base.max_window);
    }

    /// Makes the latest response a larger one, down to `to` packets; a window that is
    /// smaller already stays.
    pub fn reduce_further(&mut self, base: &Base, to: f64) {
        self.lower(base, to);
        self.ssthresh = self.ssthresh.min(to).max(2.0);
        self.discard_undo();
    }

    /// Takes a congestion response at `now` that moves the threshold and leaves the
    /// window.
    pub fn reduce_threshold(&mut self, now: Time, ssthresh: f64) {
        self.respond(now, ssthresh, true);
    }

    fn respond(&mut self, now: Time, ssthresh: f64, held: bool) {
        self.undo = Some(Undo {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            reduced: self.reduced,
            ever_reduced: self.ever_reduced,
            held,
            lost: 0,
        });
        self.ssthresh = ssthresh.max(2.0);
        self.recovery.begin(now);
        self.reduced = true;
        self.ever_reduced = true;
    }

    /// Counts what congestion the latest response answers, and what came of it since.
    #[inline]
    pub fn count_lost(&mut self, kind: &EventKind) {
        let packets = match kind {
            EventKind::PacketsLost(lost) => lost.packets,
            EventKind::EcnCe(_) => u32::MAX,
            _ => return,
        };
        if let Some(before) = &mut self.undo {
            before.lost = before.lost.saturating_add(packets);
        }
    }

    /// Whether nothing but losses of less than `part` of the window, in whole packets, or of a single
    /// one led to the latest response, and slow start had ended before it.
    #[must_use]
    pub fn lost_little(&self, part: f64) -> bool {
        let few = ((part * self.cwnd) as u32).max(2);
        self.undo.is_some_and(|before| before.cwnd >= before.ssthresh && (1..few).contains(&before.lost))
    }

    /// Makes the latest response final: it can no longer be taken back.
    pub fn discard_undo(&mut self) {
        self.undo = None;
    }

    /// Starts over after persistent congestion, with the threshold at `factor` of the
    /// window (`spec: sharma §1.5 B-RTO`, `spec: cho §1.6 STD-RTO`).
    pub fn timeout(&mut self, base: &Base, factor: f64) {
        self.start_over(base, factor * self.cwnd);
    }

    /// Starts over after persistent congestion, with the threshold at `ssthresh`.
    pub fn start_over(&mut self, base: &Base, ssthresh: f64) {
        self.ssthresh = ssthresh.max(2.0);
        self.cwnd = base.timeout_window.min(base.max_window);
        self.recovery.reset();
        self.reduced = false;
        self.ever_reduced = true;
        self.undo = None;
    }

    /// Takes the latest response back: what it answered was not lost. A window that has
    /// outgrown the one a response lowered stays as it is (`RFC 9438 §4.9.2`). Returns
    /// whether anything was restored.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.undo.take() else { return false };
        self.recovery.close();
        if self.cwnd > before.cwnd && !before.held {
            return false;
        }
        self.cwnd = self.cwnd.max(before.cwnd);
        self.ssthresh = before.ssthresh;
        self.reduced = before.reduced;
        self.ever_reduced = before.ever_reduced;
        true
    }

    /// Sending resumes after an idle period (`spec: sharma §1.5 B-IDLE`). Returns whether
    /// that lowered the window.
    pub fn idle(&mut self, base: &Base, idle: &IdleRestart) -> bool {
        let restarts = base.idle_restart && idle.is_long() && self.cwnd > base.iw;
        if restarts {
            self.cwnd = base.iw;
        }
        restarts
    }

    /// The datagram size changes; the window keeps its bytes (`spec: arumaithurai §3.9`).
    pub fn resize(&mut self, base: &Base, mtu: u32) {
        let ratio = self.mtu / datagram(mtu);
        self.mtu = datagram(mtu);
        self.cwnd = (self.cwnd * ratio).max(base.min_window.min(base.timeout_window)).min(base.max_window);
        self.ssthresh = (self.ssthresh * ratio).max(2.0);
        self.undo = None;
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
