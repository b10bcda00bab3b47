#![doc = include_str!("bbr.md")]

mod control;
mod loss;
mod model;
mod probe_bw;
mod probe_rtt;
mod startup;
mod state;

use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Span, Table, Time, View, parameters};

use model::Ack;
pub use state::State;
use state::{BbrState, NO_RTT};

parameters! {
    /// Parameters of [`Bbr`]: `bbr:NAME=VALUE,…`.
    pub struct Params {
        /// Initial window; of each datagram 1472 bytes count, of the first two all.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 4.0, 1_048_576.0, unit "packets", source "choice";
        /// Pacing gain of Startup.
        startup_pacing_gain: f64 = 2.77, in 1.0, 10.0, source "draft-ietf-ccwg-bbr-06 §5.3.1.1";
        /// Window gain of all states but the two below.
        cwnd_gain: f64 = 2.0, in 1.0, 10.0, source "draft-ietf-ccwg-bbr-06 §5.6.1";
        /// Pacing gain of Drain.
        drain_pacing_gain: f64 = 0.5, in 0.1, 1.0, source "draft-ietf-ccwg-bbr-06 §5.3.2";
        /// Pacing gain of ProbeBW_DOWN.
        down_pacing_gain: f64 = 0.9, in 0.1, 1.0, source "draft-ietf-ccwg-bbr-06 §5.3.3.1";
        /// Pacing gain of ProbeBW_UP.
        up_pacing_gain: f64 = 1.25, in 1.0, 10.0, source "draft-ietf-ccwg-bbr-06 §5.3.3.5";
        /// Window gain of ProbeBW_UP.
        up_cwnd_gain: f64 = 2.25, in 1.0, 10.0, source "draft-ietf-ccwg-bbr-06 §5.3.3.5";
        /// Share of what is in flight whose loss in a round trip is too much.
        loss_threshold: f64 = 0.02, in 0.0, 1.0, source "draft-ietf-ccwg-bbr-06 §5.5.10.2";
        /// Share of its bounds a flow keeps at least when it reacts to loss.
        beta: f64 = 0.7, in 0.1, 1.0, source "draft-ietf-ccwg-bbr-06 §5.5.10";
        /// Share of the long-term bound left free for others.
        headroom: f64 = 0.15, in 0.0, 0.9, source "draft-ietf-ccwg-bbr-06 §5.6.1";
        /// Least time between two drains for the minimum RTT.
        probe_rtt_interval: f64 = 5.0, in 0.1, 1000.0, unit "s", source "draft-ietf-ccwg-bbr-06 §5.3.4";
        /// How long such a drain lasts at least.
        probe_rtt_duration: f64 = 0.2, in 0.0, 10.0, unit "s", source "draft-ietf-ccwg-bbr-06 §5.3.4";
        /// Window gain of ProbeRTT.
        probe_rtt_cwnd_gain: f64 = 0.5, in 0.1, 1.0, source "draft-ietf-ccwg-bbr-06 §5.3.4";
        /// Whether that window is of the minimum RTT and the rate of delivery found when ProbeRTT begins.
        probe_rtt_at_entry: bool = true, paper false, source "ccwg-bbr issue 109";
        /// How long a minimum RTT is believed.
        min_rtt_window: f64 = 10.0, in 0.1, 1000.0, unit "s", source "draft-ietf-ccwg-bbr-06 §5.5.7.2";
        /// Share by which it paces below the bandwidth.
        pacing_margin: f64 = 0.01, in 0.0, 0.5, source "draft-ietf-ccwg-bbr-06 §5.6.2";
        /// Whether what an undo restores is saved in every round with a loss and not once, when recovery begins.
        save_each_round: bool = false, paper true, source "draft-ietf-ccwg-bbr-06 §5.5.10.2 NoteLoss, §5.5.11.1";
        /// Whether what was acknowledged before the application paused counts as aggregation after it.
        aggregation_over_idle: bool = false, paper true, source "draft-ietf-ccwg-bbr-06 §5.4.1 HandleRestartFromIdle, §5.5.9";
        /// Whether to run on a stack that paces by rules of its own.
        fallback: bool = false, source "choice";
    }
}

/// BBR version 3 (`draft-ietf-ccwg-bbr-06`).
#[derive(Debug)]
pub struct Bbr;

impl Controller for Bbr {
    const INFO: Info = Info {
        name: "bbr",
        summary: "paces at the measured bandwidth, keeps about one bandwidth-delay product in flight (v3)",
        source: "draft-ietf-ccwg-bbr-06",
        fallback: Some("the stack paces by its own rule, only the window is BBR's"),
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        let needs = Signals::ACKS | Signals::LOSS | Signals::RTT | Signals::DELIVERY_RATE | Signals::WINDOW_AT_SEND;
        if params.fallback { needs } else { needs | Signals::PACING }
    }

    fn group(_: &Params) {}

    fn start(params: &Params, path: &Path) -> State {
        State::start(params, path)
    }

    #[inline]
    fn step(params: &Params, state: &mut State, _: Table<'_, ()>, event: &Event) {
        match &event.kind {
            EventKind::PacketsAcked(acked) => state.update_on_ack(params, &Ack::of(state, event.now, acked)),
            _ => state.on_other_event(params, event),
        }
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        state.decision(params)
    }

    fn inspect(params: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        state.inspect(params, visit);
    }
}

impl State {
    /// Per-ACK steps, §5.2.3.
    #[inline]
    fn update_on_ack(&mut self, params: &Params, ack: &Ack<'_>) {
        self.delivered = self.delivered.max(ack.delivered);
        if self.recovery.acked(ack.newest_sent_at) {
            self.restore_cwnd();
        }
        if let Some(rtt) = ack.rtt {
            self.on_first_rtt_sample(params, rtt);
            self.rtt_ahead = NO_RTT;
        }
        self.handle_lost_packets(params, ack);
        self.update_latest_delivery_signals(ack);
        self.update_congestion_signals(params, ack);
        self.update_ack_aggregation(ack);
        self.check_full_bw_reached(ack);
        self.check_startup_done(params, ack);
        self.check_drain_done(params, ack);
        self.update_probe_bw_cycle_phase(params, ack);
        self.update_min_rtt(params, ack.now, ack.rtt);
        self.check_probe_rtt(params, ack);
        self.advance_latest_delivery_signals(ack);
        self.bound_bw_for_model();
        self.set_pacing_rate(params);
        self.set_cwnd(params, ack);
    }

    /// Every event but an ACK: losses (§5.5.10, §5.6.4.4), idleness (§5.4.1), a new datagram size.
    #[cold]
    fn on_other_event(&mut self, params: &Params, event: &Event) {
        let now = event.now;
        match &event.kind {
            EventKind::RttSampled(rtt) => {
                self.on_first_rtt_sample(params, rtt.latest);
                self.rtt_ahead = rtt.latest;
            }
            EventKind::PacketsLost(lost) => self.on_packets_lost(params, now, lost.newest_sent_at),
            EventKind::EcnCe(marked) => self.note_loss(params, now, marked.newest_sent_at, true),
            EventKind::PersistentCongestion(lost) => self.on_enter_rto(params, now, lost.in_flight as f64),
            EventKind::SpuriousLoss(spurious) => self.handle_spurious_loss_detection(spurious.newest_sent_at),
            EventKind::IdleRestart(_) => self.handle_restart_from_idle(params, now),
            EventKind::MtuUpdated(mtu) => self.resize(params, *mtu),
            EventKind::WindowSet(to) => self.resume_at(params, to),
            _ => {}
        }
    }

    /// The first RTT sample makes the initial pacing rate more than a guess (§5.6.2
    /// `InitPacingRate`).
    #[inline]
    fn on_first_rtt_sample(&mut self, params: &Params, rtt: Span) {
        if !self.has_rtt_sample && rtt > Span::ZERO {
            self.has_rtt_sample = true;
            self.init_pacing_rate(params, rtt);
        }
    }

    /// Sending resumes with nothing in flight (§5.4.1).
    fn handle_restart_from_idle(&mut self, params: &Params, now: Time) {
        self.idle_restart = true;
        self.extra_acked_interval_start = now;
        if !params.aggregation_over_idle {
            self.extra_acked_delivered = 0.0;
        }
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(params, 1.0);
        } else if self.state == BbrState::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }
}

#[cfg(test)]
mod tests;
