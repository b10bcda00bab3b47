#![doc = include_str!("bbr1.md")]

mod control;
mod state;

use crate::event::{PacketsAcked, PacketsLost};
use crate::parts::limits::datagram;
use crate::parts::rate_sample::RateSample;
use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Span, Table, Time, View, parameters};

pub use state::State;
use state::{Ack, Mode};

parameters! {
    /// Parameters of [`Bbr1`]: `bbr1:NAME=VALUE,…`.
    pub struct Params {
        /// Initial window; of each datagram 1472 bytes count, of the first two all.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 4.0, 1_048_576.0, unit "packets", source "choice";
        /// BBRHighGain: pacing and window gain of Startup; Drain paces by its inverse.
        high_gain: f64 = 2.0 / core::f64::consts::LN_2, in 1.0, 10.0, source "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2.1";
        /// Window gain of ProbeBW.
        cwnd_gain: f64 = 2.0, in 1.0, 10.0, source "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4.3";
        /// Pacing gain of the first phase of the cycle.
        up_gain: f64 = 1.25, in 1.0, 10.0, source "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4.1";
        /// Pacing gain of the second phase of the cycle.
        down_gain: f64 = 0.75, in 0.1, 1.0, source "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.4.1";
        /// BtlBwFilterLen: how long a sample of the bandwidth is believed.
        btl_bw_filter_len: u32 = 10, in 1, 1000, unit "round trips", source "draft-cardwell-iccrg-bbr-congestion-control-00 §4.1.1.2";
        /// RTpropFilterLen and ProbeRTTInterval: how long a minimum RTT is believed until ProbeRTT looks for it.
        rtprop_filter_len: f64 = 10.0, in 0.1, 1000.0, unit "s", source "draft-cardwell-iccrg-bbr-congestion-control-00 §4.1.2.2, §4.3.5";
        /// How long ProbeRTT lasts at least.
        probe_rtt_duration: f64 = 0.2, in 0.0, 10.0, unit "s", source "draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.5";
        /// Share by which it paces below the bandwidth.
        pacing_margin: f64 = 0.01, paper 0.0, in 0.0, 0.5, source "Linux tcp_bbr.c, bbr_pacing_margin_percent";
        /// Whether to run on a stack that paces by rules of its own.
        fallback: bool = false, source "choice";
    }
}

/// BBR version 1 (`draft-cardwell-iccrg-bbr-congestion-control-00`).
#[derive(Debug)]
pub struct Bbr1;

impl Controller for Bbr1 {
    const INFO: Info = Info {
        name: "bbr1",
        summary: "BBR's first version, a rival to test against: paces at the measured bandwidth and ignores losses",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        fallback: Some("the stack paces by its own rule, only the window is BBR's"),
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        let needs = Signals::ACKS | Signals::LOSS | Signals::RTT | Signals::DELIVERY_RATE;
        if params.fallback { needs } else { needs | Signals::PACING }
    }

    fn group(_: &Params) {}

    fn start(params: &Params, path: &Path) -> State {
        State::start(params, path)
    }

    #[inline]
    fn step(params: &Params, state: &mut State, _: Table<'_, ()>, event: &Event) {
        let now = event.now;
        match &event.kind {
            EventKind::PacketsAcked(acked) => state.update_on_ack(params, now, acked),
            EventKind::RttSampled(rtt) => {
                state.on_first_rtt_sample(params, rtt.latest);
                state.rtt_ahead = Some(rtt.latest);
            }
            EventKind::PacketsLost(lost) => state.on_packets_lost(now, lost),
            EventKind::PersistentCongestion(_) => state.on_timeout(now),
            EventKind::EcnCe(_) => state.is_undo_final = true,
            EventKind::SpuriousLoss(_) => state.on_spurious_loss(),
            EventKind::IdleRestart(_) => state.handle_restart_from_idle(params, now),
            EventKind::MtuUpdated(mtu) => state.resize(params, *mtu),
            EventKind::WindowSet(to) => state.resume_at(params, to),
            _ => {}
        }
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        let phase = state.recovery.phase(state.mode == Mode::Startup);
        let cwnd = state.cwnd.max(state.min_cwnd()).min(params.max_window * state.mtu);
        Decision {
            pacing_rate: Some((8.0 * state.pacing_rate) as u64),
            phase,
            recovery_start: state.recovery.start(),
            ..Decision::new(cwnd as u64)
        }
    }

    fn inspect(params: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.cwnd / state.mtu);
        visit("state", f64::from(state.mode as u8));
        visit("btl_bw_mbps", 8e-6 * state.btl_bw);
        if let Some(rtprop) = state.rtprop {
            visit("rtprop_ms", rtprop.millis());
        }
        visit("pacing_gain", state.gains(params).0);
        visit("target_cwnd", state.inflight(params, state.gains(params).1) / state.mtu);
        visit("round", state.round_count as f64);
        visit("filled_pipe", f64::from(u8::from(state.filled_pipe)));
    }
}

impl State {
    /// `BBRUpdateOnACK`, §3.5.2.
    #[inline]
    fn update_on_ack(&mut self, params: &Params, now: Time, acked: &PacketsAcked) {
        let rtt = acked.rtt.map(|rtt| rtt.latest).or(self.rtt_ahead.take());
        if let Some(rtt) = rtt {
            self.on_first_rtt_sample(params, rtt);
        }
        let min_rtt = acked.rtt.map(|rtt| rtt.min).or(self.rtprop).unwrap_or(Span::ZERO);
        let mut sample = RateSample::of(acked, now, min_rtt).unwrap_or(RateSample::NONE);
        sample.app_limited |= self.probe_rtt.limits(sample.prior_delivered);
        let ack = Ack {
            now,
            sample,
            rtt,
            packets_delivered: acked.bytes as f64,
            in_flight: acked.in_flight as f64,
            prior_inflight: acked.in_flight_before as f64,
        };
        self.delivered = self.delivered.max(acked.delivered);
        if self.recovery.acked(acked.newest_sent_at) {
            self.end_recovery();
        }
        self.update_btl_bw(params, &ack);
        self.check_cycle_phase(params, &ack);
        self.check_full_pipe(&ack);
        self.check_drain(params, &ack);
        self.update_rtprop(params, &ack);
        self.check_probe_rtt(params, &ack);
        self.set_pacing_rate(params);
        self.set_cwnd(params, &ack);
        self.is_loss_unseen = false;
    }

    /// The first RTT sample makes the initial pacing rate more than a guess (§4.2.1).
    #[inline]
    fn on_first_rtt_sample(&mut self, params: &Params, rtt: Span) {
        if !self.has_rtt_sample && rtt > Span::ZERO {
            self.has_rtt_sample = true;
            self.init_pacing_rate(params, rtt);
        }
    }

    /// Losses, upon entry into Fast Recovery or in it (§4.2.3.4), down to the least window.
    #[cold]
    fn on_packets_lost(&mut self, now: Time, lost: &PacketsLost) {
        self.is_loss_unseen = true;
        if self.recovery.accepts(lost.newest_sent_at) {
            self.save_cwnd();
            self.is_undo_final = false;
            self.recovery.begin(now);
            self.packet_conservation = true;
            self.cwnd = (lost.in_flight as f64 + self.mtu).max(self.min_cwnd());
        } else {
            self.cwnd = (self.cwnd - lost.bytes as f64).max(self.min_cwnd());
        }
    }

    /// Persistent congestion, QUIC's retransmission timeout (§4.2.3.4): the least window, where the text has one packet. The baseline of the full pipe is
    /// found anew (Linux `tcp_bbr.c`, `bbr_set_state`).
    #[cold]
    fn on_timeout(&mut self, now: Time) {
        self.is_loss_unseen = true;
        self.save_cwnd();
        self.recovery.begin(now);
        self.packet_conservation = false;
        self.full_bw = 0.0;
        self.cwnd = self.min_cwnd();
    }

    /// The undo of a recovery whose losses were none (§4.2.3.4), unless a mark came since it began.
    #[cold]
    fn on_spurious_loss(&mut self) {
        if self.recovery.in_recovery() && !self.is_undo_final {
            self.recovery.close();
            self.end_recovery();
        }
    }

    /// `BBRHandleRestartFromIdle`, §4.3.4.4.
    #[cold]
    fn handle_restart_from_idle(&mut self, params: &Params, now: Time) {
        self.idle_restart = true;
        match self.mode {
            Mode::ProbeBw => self.set_pacing_rate_with_gain(params, 1.0),
            Mode::ProbeRtt => self.check_probe_rtt_done(now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// The datagram size changes. As long as nothing was delivered the window is the initial one, computed anew
    /// (`RFC 9002 §7.2`).
    #[cold]
    fn resize(&mut self, params: &Params, mtu: u32) {
        let starts = self.delivered == 0 && self.cwnd == self.initial_cwnd(params);
        self.mtu = datagram(mtu);
        if starts {
            self.cwnd = self.initial_cwnd(params);
            if !self.has_rtt_sample {
                self.init_pacing_rate(params, Span::from_millis(1));
            }
        }
    }
}

#[cfg(test)]
mod tests;
