//! The model of the path and the state machine (§4.1, §4.3). Volumes are bytes, rates bytes/s.

use super::Params;
use crate::parts::careful_resume::ResumedBbr;
use crate::parts::limits::{self, datagram};
use crate::parts::probe_rtt::{ProbeRtt, Progress};
use crate::parts::rate_sample::RateSample;
use crate::parts::recovery::RecoveryPeriod;
use crate::parts::splitmix::SplitMix64;
use crate::parts::windowed::WindowedMax;
use crate::{Path, Span, Time};

/// BBRGainCycleLen (§4.3.4.1).
const GAIN_CYCLE_LEN: u8 = 8;
/// Growth of the bandwidth in a round that counts as growth (§4.3.2.2).
const FULL_BW_GROWTH: f64 = 1.25;
/// Rounds without growth that show a full pipe (§4.3.2.2).
const FULL_BW_ROUNDS: u8 = 3;

/// `BBR.state` (§4.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// An ACK and the sample of the delivery rate it makes.
#[derive(Debug)]
pub(super) struct Ack {
    pub now: Time,
    pub sample: RateSample,
    /// `packet.rtt`, wherever in the frame it came.
    pub rtt: Option<Span>,
    /// Bytes newly acknowledged.
    pub packets_delivered: f64,
    /// Bytes in flight once these packets are out of it.
    pub in_flight: f64,
    /// Bytes in flight before.
    pub prior_inflight: f64,
}

/// One BBR flow, under the draft's names.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    /// Maximum datagram size, bytes.
    pub(super) mtu: f64,
    pub(super) mode: Mode,
    pub(super) cwnd: f64,
    pub(super) prior_cwnd: f64,
    pub(super) pacing_rate: f64,
    pub(super) delivered: u64,
    pub(super) idle_restart: bool,
    pub(super) has_rtt_sample: bool,
    pub(super) recovery: RecoveryPeriod,
    pub(super) packet_conservation: bool,
    /// There was a mark since recovery began: what losses took does not come back before its end.
    pub(super) is_undo_final: bool,
    /// There was a loss since the latest ACK.
    pub(super) is_loss_unseen: bool,
    pub(super) random: SplitMix64,

    // Packet-timed round trips (§4.1.1.3).
    pub(super) next_round_delivered: u64,
    pub(super) round_count: u64,
    pub(super) round_start: bool,

    // Bandwidth and whether the pipe is full (§4.1.1, §4.3.2.2).
    pub(super) btl_bw_filter: WindowedMax<10>,
    pub(super) btl_bw: f64,
    pub(super) filled_pipe: bool,
    pub(super) full_bw: f64,
    pub(super) full_bw_count: u8,

    /// What careful resume set (`RFC 9959`).
    pub(super) resumed: ResumedBbr,

    // The minimum RTT (§4.1.2).
    /// The sample of the frame under way, if its losses came ahead of its acknowledgements.
    pub(super) rtt_ahead: Option<Span>,
    pub(super) rtprop: Option<Span>,
    pub(super) rtprop_stamp: Time,
    pub(super) rtprop_expired: bool,

    // Gain cycling (§4.3.4).
    pub(super) cycle_stamp: Time,
    pub(super) cycle_index: u8,

    // ProbeRTT (§4.3.5).
    pub(super) probe_rtt: ProbeRtt,
}

impl State {
    /// `BBRInit`, §4.3.1.
    pub(super) fn start(params: &Params, path: &Path) -> State {
        let mut state = State {
            mtu: datagram(path.mtu),
            mode: Mode::Startup,
            cwnd: 0.0,
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            delivered: 0,
            idle_restart: false,
            has_rtt_sample: false,
            recovery: RecoveryPeriod::default(),
            packet_conservation: false,
            is_undo_final: false,
            is_loss_unseen: false,
            random: SplitMix64::new(path.seed),
            next_round_delivered: 0,
            round_count: 0,
            round_start: false,
            btl_bw_filter: WindowedMax::default(),
            btl_bw: 0.0,
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            resumed: ResumedBbr::default(),
            rtt_ahead: None,
            rtprop: None,
            rtprop_stamp: path.now,
            rtprop_expired: false,
            cycle_stamp: path.now,
            cycle_index: 0,
            probe_rtt: ProbeRtt::default(),
        };
        state.cwnd = state.initial_cwnd(params);
        state.init_pacing_rate(params, Span::from_millis(1));
        state
    }

    /// `InitialCwnd`, whole bytes.
    pub(super) fn initial_cwnd(&self, params: &Params) -> f64 {
        limits::initial_cwnd(params.iw, params.max_window, self.mtu)
    }

    /// `BBRUpdateRound`, §4.1.1.3, and `BBRUpdateBtlBw`, §4.1.1.5.
    #[inline]
    pub(super) fn update_btl_bw(&mut self, params: &Params, ack: &Ack) {
        let sample = &ack.sample;
        self.round_start = sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.next_round_delivered = self.delivered;
            self.round_count += 1;
            self.packet_conservation = false;
        }
        if sample.rate > 0.0 && (sample.rate >= self.btl_bw || !sample.app_limited) {
            let window = u64::from(params.btl_bw_filter_len);
            self.btl_bw = self.btl_bw_filter.update(self.round_count, window, sample.rate as i64) as f64;
        }
    }

    /// `BBRCheckFullPipe`, §4.3.2.2.
    #[inline]
    pub(super) fn check_full_pipe(&mut self, ack: &Ack) {
        if self.filled_pipe || !self.round_start || ack.sample.app_limited {
            return;
        }
        let rtprop = self.rtprop.map_or(0.0, Span::secs);
        if self.resumed.known_bdp.is_filled_by(self.btl_bw * rtprop) {
            self.filled_pipe = true;
            return;
        }
        if self.btl_bw >= FULL_BW_GROWTH * self.full_bw {
            self.full_bw = self.btl_bw;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= FULL_BW_ROUNDS;
    }

    /// `BBRCheckDrain`, §4.3.3.
    #[inline]
    pub(super) fn check_drain(&mut self, params: &Params, ack: &Ack) {
        if self.mode == Mode::Startup && self.filled_pipe {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.in_flight <= self.inflight(params, 1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// `BBREnterProbeBW`, §4.3.4.3: any phase but the second (§4.3.4.2).
    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        let random_int = (self.random.uniform() * f64::from(GAIN_CYCLE_LEN - 1)) as u8;
        self.cycle_index = GAIN_CYCLE_LEN - 1 - random_int;
        self.advance_cycle_phase(now);
    }

    /// `BBRAdvanceCyclePhase`, §4.3.4.3.
    fn advance_cycle_phase(&mut self, now: Time) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % GAIN_CYCLE_LEN;
    }

    /// `BBRCheckCyclePhase`, `BBRIsNextCyclePhase`, §4.3.4.3.
    #[inline]
    pub(super) fn check_cycle_phase(&mut self, params: &Params, ack: &Ack) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let is_full_length = ack.now.since(self.cycle_stamp) > self.rtprop.unwrap_or(Span::ZERO);
        let is_next = match self.cycle_index {
            0 => is_full_length && (self.is_loss_unseen || ack.prior_inflight >= self.inflight(params, params.up_gain)),
            1 => is_full_length || ack.prior_inflight <= self.inflight(params, 1.0),
            _ => is_full_length,
        };
        if is_next {
            self.advance_cycle_phase(ack.now);
        }
    }

    /// `BBRUpdateRTprop`, §4.1.2.3; an equal sample is no lower one (§4.3.5).
    #[inline]
    pub(super) fn update_rtprop(&mut self, params: &Params, ack: &Ack) {
        let filter_len = Span::from_secs_f64(params.rtprop_filter_len);
        self.rtprop_expired = self.rtprop.is_some() && ack.now > self.rtprop_stamp + filter_len;
        if let Some(rtt) = ack.rtt.filter(|rtt| self.rtprop_expired || self.rtprop.is_none_or(|rtprop| *rtt < rtprop)) {
            self.rtprop = Some(rtt);
            self.rtprop_stamp = ack.now;
        }
    }

    /// `BBRCheckProbeRTT`, §4.3.5.
    #[inline]
    pub(super) fn check_probe_rtt(&mut self, params: &Params, ack: &Ack) {
        if self.mode != Mode::ProbeRtt && self.rtprop_expired && !self.idle_restart {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt.enter(self.delivered);
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(params, ack);
        }
        self.idle_restart = false;
    }

    /// `BBRHandleProbeRTT`, §4.3.5.
    #[cold]
    fn handle_probe_rtt(&mut self, params: &Params, ack: &Ack) {
        let duration = Span::from_secs_f64(params.probe_rtt_duration);
        let (volumes, cwnd) = ((self.delivered, ack.in_flight), self.min_pipe_cwnd());
        match self.probe_rtt.on_ack(ack.now, volumes, cwnd, duration, self.round_start) {
            Progress::Waits => {}
            Progress::Drained => self.next_round_delivered = self.delivered,
            Progress::RoundDone => self.check_probe_rtt_done(ack.now),
        }
    }

    /// The end of `BBRHandleProbeRTT`, and `BBRExitProbeRTT`, §4.3.5.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.is_over(now) {
            self.rtprop_stamp = now;
            self.restore_cwnd();
            if self.filled_pipe {
                self.enter_probe_bw(now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }
}
