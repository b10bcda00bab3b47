//! The reference window: what it answers, and how it grows (§4.2). Volumes are bytes, times s.

use super::Params;
use super::delay::{DelayNorm, Jitter};
use crate::event::{EcnCe, PacketsAcked, PacketsLost, WindowSet};
use crate::parts::careful_resume::{FreshWindow, KnownBdp};
use crate::parts::limits::{datagram, initial_cwnd};
use crate::parts::queue_signal::QueueSignal;
use crate::parts::recovery::RecoveryPeriod;
use crate::{Path, Time};

/// L4S_AVG_G_UP, L4S_AVG_G_DOWN (§4.2.1.3).
const L4S_AVG_G: (f64, f64) = (1.0 / 8.0, 1.0 / 128.0);
/// QDELAY_AVG_G (§4.2.1.4).
const QDELAY_AVG_G: f64 = 0.25;
/// How often `l4s_alpha` is updated at least (§4.2.1.3).
const ALPHA_INTERVAL: f64 = 0.01;
/// After so many round trips without congestion the window may exceed what is in flight by far (§4.2.2.1).
const LONG_UNCONGESTED: f64 = 100.0;
/// How often the window may be what is in flight while it doubles (`RFC 8298 §4.1.2.2`).
const FAST_START_HEAD_ROOM: f64 = 1.5;

/// State of one flow, under the draft's names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    pub(super) signal: QueueSignal,
    pub(super) recovery: RecoveryPeriod,
    /// Datagram size, `MSS`.
    pub(super) mtu: f64,
    /// No congestion event so far, with `fast_start`.
    pub(super) in_fast_start: bool,
    /// Fast start ends with it.
    pub(super) known_bdp: KnownBdp,
    /// No more may be in flight than the pacing rate sends in a round trip (`RFC 9959`).
    pub(super) fresh: FreshWindow,
    /// `None` before a sample.
    pub(super) s_rtt: Option<f64>,
    pub(super) ref_wnd: f64,
    pub(super) ref_wnd_i: f64,
    pub(super) ref_wnd_i_update_allowed: bool,
    /// When a loss or a mark was last seen.
    pub(super) last_congestion_detected_time: Option<Time>,
    pub(super) last_reaction_to_congestion_time: Time,
    /// Bytes lost since the latest ACK, which count as newly acknowledged.
    pub(super) bytes_newly_lost: f64,
    /// Packets marked in the frame that is read.
    pub(super) marks: u32,
    pub(super) max_bytes_in_flight: f64,
    pub(super) max_bytes_in_flight_prev: f64,
    /// When the round trip of `max_bytes_in_flight` and of the loss events began.
    pub(super) round_start: Time,
    pub(super) is_loss_in_round: bool,
    pub(super) qdelay: f64,
    pub(super) qdelay_avg: f64,
    pub(super) last_update_qdelay_avg_time: Time,
    pub(super) jitter: Jitter,
    pub(super) l4s_alpha: f64,
    pub(super) last_update_l4s_alpha_time: Time,
    pub(super) packets_delivered: u32,
    pub(super) packets_marked: u32,
    pub(super) loss_event_rate: f64,
    pub(super) qdelay_target: f64,
    pub(super) norm: DelayNorm,
    /// bit/s; `None` before an RTT sample.
    pub(super) target_bitrate: Option<f64>,
}

impl State {
    pub(super) fn start(params: &Params, path: &Path) -> State {
        let (mtu, now) = (datagram(path.mtu), path.now);
        let qdelay_target = 1e-3 * params.qdelay_target_lo;
        let mut state = State {
            signal: QueueSignal::default(),
            recovery: RecoveryPeriod::default(),
            mtu,
            in_fast_start: params.fast_start,
            known_bdp: KnownBdp::default(),
            fresh: FreshWindow::default(),
            s_rtt: None,
            ref_wnd: 0.0,
            ref_wnd_i: 1.0,
            ref_wnd_i_update_allowed: true,
            last_congestion_detected_time: None,
            last_reaction_to_congestion_time: now,
            bytes_newly_lost: 0.0,
            marks: 0,
            max_bytes_in_flight: 0.0,
            max_bytes_in_flight_prev: 0.0,
            round_start: now,
            is_loss_in_round: false,
            qdelay: 0.0,
            qdelay_avg: 0.0,
            last_update_qdelay_avg_time: now,
            jitter: Jitter::new(qdelay_target),
            l4s_alpha: 0.0,
            last_update_l4s_alpha_time: now,
            packets_delivered: 0,
            packets_marked: 0,
            loss_event_rate: 0.0,
            qdelay_target,
            norm: DelayNorm::new(now),
            target_bitrate: None,
        };
        state.ref_wnd = state.first_ref_wnd(params);
        state
    }

    fn first_ref_wnd(&self, params: &Params) -> f64 {
        if params.fast_start { initial_cwnd(params.iw, params.max_window, self.mtu) } else { self.min_ref_wnd(params) }
    }

    /// Another datagram size; the first window is of it as long as it has neither grown nor been reduced
    /// (`RFC 9002 §7.2`).
    pub(super) fn resize(&mut self, params: &Params, mtu: u32) {
        let is_first = self.last_congestion_detected_time.is_none() && self.ref_wnd == self.first_ref_wnd(params);
        self.mtu = datagram(mtu);
        self.ref_wnd = if is_first { self.first_ref_wnd(params) } else { self.ref_wnd.max(self.min_ref_wnd(params)) };
    }

    /// What may be in flight exceeds the reference window so many times, once its rate is known (§4.3.1).
    #[inline]
    pub(super) fn overhead(&self, params: &Params) -> f64 {
        if self.s_rtt.is_none() {
            return 1.0;
        }
        let overhead = self.jitter.ref_wnd_overhead(params);
        if self.fresh.is_set() { overhead.min(self.paced(params)) } else { overhead }
    }

    /// Goes on with the reference window of which that of `to` is made (`RFC 9959`).
    #[cold]
    pub(super) fn resume_at(&mut self, params: &Params, to: &WindowSet) {
        self.fresh.set(to);
        // The share that is paced depends on the window itself where that is a few packets; half a byte more, so that whole bytes
        // come out again.
        self.ref_wnd = to.cwnd as f64;
        let ref_wnd = ((to.cwnd as f64 + 0.5) / self.overhead(params)).max(self.min_ref_wnd(params));
        self.ref_wnd = ref_wnd.min(params.max_window * self.mtu);
        self.known_bdp.set(to);
        if let Some(s_rtt) = self.s_rtt {
            self.update_target_bitrate(params, s_rtt);
        }
    }

    /// An ACK frame: averages, the answer to delay, growth, the target bitrate.
    #[inline]
    pub(super) fn on_packets_acked(&mut self, params: &Params, now: Time, acked: &PacketsAcked) {
        self.recovery.acked(acked.newest_sent_at);
        self.fresh.acked(acked.bytes);
        if let Some(queued) = self.signal.read(&params.path, params.base_history, now, acked) {
            self.qdelay = 1e-9 * queued.ns() as f64;
        }
        let Some(s_rtt) = self.s_rtt else { return };
        let marks = core::mem::take(&mut self.marks);
        self.packets_delivered = self.packets_delivered.saturating_add(acked.packets.max(marks));
        self.update_averages(params, now, s_rtt);
        self.max_bytes_in_flight = self.max_bytes_in_flight.max(acked.in_flight_before as f64);
        if now.since(self.round_start).secs() >= s_rtt {
            self.end_round(now);
        }
        if params.competing {
            self.adjust_qdelay_target(params, now);
        }
        let half = self.qdelay_target / 2.0;
        if self.qdelay_avg > half && self.may_react(params, now, s_rtt) {
            let l4s_alpha_v = ((self.qdelay_avg - half) / half).min(1.0);
            self.on_congestion(params, now, 1.0 - l4s_alpha_v / 2.0 / per_virtual_rtt(params, s_rtt));
        }
        let bytes_newly_acked = acked.bytes as f64 + core::mem::take(&mut self.bytes_newly_lost);
        self.grow(params, now, s_rtt, bytes_newly_acked, f64::from(marks) * self.mtu);
        self.update_target_bitrate(params, s_rtt);
    }

    /// Whether the latest answer is long enough ago for one to delay or L4S' marks (§4.2.1).
    #[inline]
    fn may_react(&self, params: &Params, now: Time, s_rtt: f64) -> bool {
        now.since(self.last_reaction_to_congestion_time).secs() >= s_rtt.min(1e-3 * params.virtual_rtt)
    }

    /// `l4s_alpha` and `qdelay_avg` (§4.2.1.3, §4.2.1.4).
    #[inline]
    fn update_averages(&mut self, params: &Params, now: Time, s_rtt: f64) {
        let since = now.since(self.last_update_l4s_alpha_time).secs();
        if since >= ALPHA_INTERVAL.min(s_rtt) && self.packets_delivered > 0 {
            let (up, down) = L4S_AVG_G;
            let fraction_marked = (f64::from(self.packets_marked) / f64::from(self.packets_delivered)).min(1.0);
            self.l4s_alpha = if fraction_marked >= self.l4s_alpha {
                up * fraction_marked + (1.0 - up) * self.l4s_alpha
            } else {
                (1.0 - down) * self.l4s_alpha
            };
            (self.packets_delivered, self.packets_marked) = (0, 0);
            self.last_update_l4s_alpha_time = now;
        }
        if params.reduce_jitter {
            self.jitter.on_sample(self.qdelay, self.qdelay_target);
        }
        if now.since(self.last_update_qdelay_avg_time).secs() >= s_rtt.min(1e-3 * params.virtual_rtt) {
            if self.qdelay < self.qdelay_avg {
                self.qdelay_avg = self.qdelay;
            } else {
                self.qdelay_avg += QDELAY_AVG_G * (self.qdelay - self.qdelay_avg);
            }
            if params.reduce_jitter {
                self.jitter.average();
            }
            self.last_update_qdelay_avg_time = now;
        }
    }

    /// A round trip is over.
    fn end_round(&mut self, now: Time) {
        self.round_start = now;
        self.max_bytes_in_flight_prev = core::mem::take(&mut self.max_bytes_in_flight);
        self.count_loss_event();
    }

    /// A loss; those of a flight count once (§4.2.2; `RFC 9002 §7.3.2`).
    #[cold]
    pub(super) fn on_packets_lost(&mut self, params: &Params, now: Time, lost: &PacketsLost) {
        self.bytes_newly_lost += lost.bytes as f64;
        self.is_loss_in_round = true;
        self.last_congestion_detected_time = Some(now);
        if self.recovery.accepts(lost.newest_sent_at) {
            self.recovery.begin(now);
            self.on_congestion(params, now, params.beta_loss);
        }
    }

    /// CE marks, classic or L4S' (§4.2.2.1).
    #[cold]
    pub(super) fn on_marks(&mut self, params: &Params, now: Time, marked: &EcnCe) {
        self.marks = self.marks.saturating_add(marked.packets);
        self.packets_marked = self.packets_marked.saturating_add(marked.packets);
        self.last_congestion_detected_time = Some(now);
        if !params.l4s {
            if self.recovery.accepts(marked.newest_sent_at) {
                self.recovery.begin(now);
                self.on_congestion(params, now, params.beta_ecn);
            }
            return;
        }
        let s_rtt = self.s_rtt.unwrap_or(1e-3 * params.virtual_rtt);
        if !self.may_react(params, now, s_rtt) {
            return;
        }
        let mut backoff = self.l4s_alpha / 2.0 / per_virtual_rtt(params, s_rtt);
        if self.qdelay < 0.25 * self.qdelay_target {
            backoff *= self.distance_scale().max(0.25) * self.jitter.ref_wnd_delay_scale.max(0.25);
        }
        let long = LONG_UNCONGESTED * s_rtt.max(1e-3 * params.virtual_rtt);
        if now.since(self.last_reaction_to_congestion_time).secs() > long {
            self.ref_wnd = self.ref_wnd.min(self.max_bytes_in_flight_prev);
        }
        self.on_congestion(params, now, 1.0 - backoff);
    }

    /// What congestion leaves of the window, a `share`, and where growth becomes cautious (§4.2.2.1).
    #[cold]
    fn on_congestion(&mut self, params: &Params, now: Time, share: f64) {
        if core::mem::take(&mut self.ref_wnd_i_update_allowed) {
            self.ref_wnd_i = self.ref_wnd;
        }
        self.ref_wnd = (share * self.ref_wnd).max(self.min_ref_wnd(params));
        self.in_fast_start = false;
        self.last_reaction_to_congestion_time = now;
    }

    /// Persistent congestion: the least window (`RFC 9002 §7.6.2`).
    #[cold]
    pub(super) fn start_over(&mut self, params: &Params, now: Time) {
        self.is_loss_in_round = true;
        self.last_congestion_detected_time = Some(now);
        self.on_congestion(params, now, 0.0);
        self.recovery.reset();
    }

    /// `scl_t`: how far the window is from the one at which congestion was last met (§4.2.2.1).
    #[inline]
    fn distance_scale(&self) -> f64 {
        let distance = 8.0 * (self.ref_wnd - self.ref_wnd_i) / self.ref_wnd_i;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Reference window increase (§4.2.2.2).
    #[inline]
    fn grow(&mut self, params: &Params, now: Time, s_rtt: f64, bytes_newly_acked: f64, bytes_newly_acked_ce: f64) {
        let increment = if self.in_fast_start {
            bytes_newly_acked
        } else {
            let ref_wnd_ratio = self.ref_wnd_ratio();
            let rtt_scale = (1e3 * s_rtt / params.virtual_rtt).min(1.0);
            let scl = self.distance_scale();
            let cautious = params.post_congestion_delay * s_rtt.max(1e-3 * params.virtual_rtt);
            let since_congestion = |last| (now.since(last).secs() / cautious).min(1.0);
            let post_congestion_scale = self.last_congestion_detected_time.map_or(1.0, since_congestion);
            let multiplicative = params.mul_increase_factor / ref_wnd_ratio * post_congestion_scale * scl;
            let additive = (bytes_newly_acked - bytes_newly_acked_ce).max(0.0) * ref_wnd_ratio;
            let caution = scl.max(0.25) * self.jitter.ref_wnd_delay_scale.max(0.1);
            additive * rtt_scale * caution * (1.0 + multiplicative)
        };
        let in_flight = self.max_bytes_in_flight.max(self.max_bytes_in_flight_prev);
        let grown = (self.ref_wnd + increment).min(params.max_window * self.mtu);
        let is_used = if self.in_fast_start {
            FAST_START_HEAD_ROOM * in_flight + bytes_newly_acked > self.ref_wnd
        } else {
            grown <= self.mtu + params.bytes_in_flight_head_room * in_flight
        };
        let is_below_max = self.target_bitrate.is_none_or(|target| target < 1e6 * params.target_bitrate_max);
        if grown > self.ref_wnd && is_used && is_below_max {
            self.ref_wnd = grown;
            self.ref_wnd_i_update_allowed = true;
        }
        self.in_fast_start &= !self.known_bdp.is_filled_by(self.paced(params) * self.ref_wnd);
    }
}

/// How many answers to congestion there may be in a round trip (§4.2.2.1).
fn per_virtual_rtt(params: &Params, s_rtt: f64) -> f64 {
    (1e3 * s_rtt / params.virtual_rtt).max(1.0)
}
