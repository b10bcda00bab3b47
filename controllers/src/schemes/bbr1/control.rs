//! Pacing rate and window (§4.2).

use super::state::{Ack, Mode};
use super::{Params, State};
use crate::Span;
use crate::event::WindowSet;

/// BBRMinPipeCwnd, packets (§4.2.3.3).
const MIN_PIPE_CWND: f64 = 4.0;
/// Below the first rate, bytes/s, a packet leaves at a time, below the second two (§4.2.2).
const QUANTUM_RATES: (f64, f64) = (1.2e6 / 8.0, 24e6 / 8.0);
/// The most that leaves at a time, bytes (§4.2.2).
const MAX_SEND_QUANTUM: f64 = 65_536.0;

impl State {
    /// BBRMinPipeCwnd, bytes.
    #[inline]
    pub(super) fn min_pipe_cwnd(&self) -> f64 {
        MIN_PIPE_CWND * self.mtu
    }

    /// The least window (`RFC 9002 §7.2`), bytes.
    #[inline]
    pub(super) fn min_cwnd(&self) -> f64 {
        2.0 * self.mtu
    }

    /// Pacing and window gain of the state (§4.3.2.1, §4.3.3, §4.3.4.1, §4.3.5).
    #[inline]
    pub(super) fn gains(&self, params: &Params) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (params.high_gain, params.high_gain),
            Mode::Drain => (1.0 / params.high_gain, params.high_gain),
            Mode::ProbeRtt => (1.0, 1.0),
            Mode::ProbeBw => {
                let pacing_gain = match self.cycle_index {
                    0 => params.up_gain,
                    1 => params.down_gain,
                    _ => 1.0,
                };
                (pacing_gain, params.cwnd_gain)
            }
        }
    }

    /// `BBRInitPacingRate`, §4.2.1.
    pub(super) fn init_pacing_rate(&mut self, params: &Params, srtt: Span) {
        self.pacing_rate = params.high_gain * self.initial_cwnd(params) / srtt.secs();
    }

    /// `BBRSetPacingRateWithGain`, §4.2.1; one packet per second at least.
    #[inline]
    pub(super) fn set_pacing_rate_with_gain(&mut self, params: &Params, pacing_gain: f64) {
        let rate = (pacing_gain * self.btl_bw * (1.0 - params.pacing_margin)).max(self.mtu);
        if self.filled_pipe || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// `BBRSetPacingRate`, §4.2.1.
    #[inline]
    pub(super) fn set_pacing_rate(&mut self, params: &Params) {
        self.set_pacing_rate_with_gain(params, self.gains(params).0);
    }

    /// `BBR.send_quantum`, §4.2.2.
    #[inline]
    fn send_quantum(&self) -> f64 {
        if self.pacing_rate < QUANTUM_RATES.0 {
            self.mtu
        } else if self.pacing_rate < QUANTUM_RATES.1 {
            2.0 * self.mtu
        } else {
            (1e-3 * self.pacing_rate).min(MAX_SEND_QUANTUM)
        }
    }

    /// `BBRInflight`, §4.2.3.2.
    #[inline]
    pub(super) fn inflight(&self, params: &Params, gain: f64) -> f64 {
        self.rtprop.map_or_else(
            || self.initial_cwnd(params),
            |rtprop| gain * (self.btl_bw * rtprop.secs()) + 3.0 * self.send_quantum(),
        )
    }

    /// `BBRSaveCwnd`, §4.2.3.4.
    pub(super) fn save_cwnd(&mut self) {
        let modulated = self.recovery.in_recovery() || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `BBRRestoreCwnd`, §4.2.3.4.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// Upon exiting loss recovery (§4.2.3.4).
    pub(super) fn end_recovery(&mut self) {
        self.packet_conservation = false;
        self.restore_cwnd();
    }

    /// Goes on with the window of `to` (`RFC 9959`).
    #[cold]
    pub(super) fn resume_at(&mut self, params: &Params, to: &WindowSet) {
        let range = [self.min_cwnd(), params.max_window * self.mtu];
        self.cwnd = self.resumed.set(to, self.delivered, range, &mut self.prior_cwnd);
        if let Some(rtprop) = self.rtprop.filter(|_| !self.filled_pipe) {
            self.pacing_rate = (params.high_gain * self.cwnd / rtprop.secs()).max(self.mtu);
        }
    }

    /// `BBRSetCwnd`, §4.2.3.6, with the bounds of §4.2.3.4 and §4.2.3.5.
    #[inline]
    pub(super) fn set_cwnd(&mut self, params: &Params, ack: &Ack) {
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(ack.in_flight + ack.packets_delivered);
        } else {
            let target_cwnd = self.inflight(params, self.gains(params).1);
            if self.filled_pipe {
                self.cwnd = (self.cwnd + ack.packets_delivered).min(target_cwnd);
            } else if self.cwnd < target_cwnd
                || (self.delivered as f64) < self.initial_cwnd(params)
                || self.resumed.is_under_way(self.delivered)
            {
                self.cwnd = (self.cwnd + ack.packets_delivered).min(self.resumed.known_bdp.bytes());
            }
            self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(self.min_pipe_cwnd());
        }
        self.cwnd = self.cwnd.min(params.max_window * self.mtu);
    }
}
