#![doc = include_str!("gcc.md")]

mod delay;
mod state;

use crate::parts::backstop;
use crate::parts::limits::datagram;
use crate::parts::windowed_rate::MIN_WINDOW;
use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Table, View, parameters};

pub use state::State;

parameters! {
    /// Parameters of [`Gcc`]: `gcc:NAME=VALUE,…`.
    pub struct Params {
        @with bound: backstop::Settings, "What losses bound the window to.";
        /// Initial window, which the first rate is of too; of each datagram 1472 bytes count, of the first two all.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 4.0, 1_048_576.0, unit "packets", source "choice";
        /// Round trips of data at the target rate that may be in flight: the draft has no window.
        window: f64 = 1.5, in 1.0, 10.0, unit "round trips", source "choice";
        /// Least target rate; two packets in a round trip in any case.
        rate_min: f64 = 0.0, in 0.0, 1e6, unit "Mbit/s", source "choice";
        /// Largest target rate.
        rate_max: f64 = 1e5, in 0.001, 1e6, unit "Mbit/s", source "choice";
        /// Whether the rate is 1.5 times what is received until there is congestion.
        fast_start: bool = true, paper false, source "choice; libwebrtc probes with bursts";
        /// burst_time: packets that leave or come within it are a group.
        burst_time: f64 = 5.0, in 0.0, 100.0, unit "ms", source "draft-ietf-rmcat-gcc-02 §5.2, Table 1";
        /// q: variance of the state noise.
        q: f64 = 1e-3, in 1e-9, 1.0, unit "ms²", source "draft-ietf-rmcat-gcc-02 §5.3, Table 1";
        /// e(0): first variance of the error.
        e0: f64 = 0.1, in 0.0, 1000.0, unit "ms²", source "draft-ietf-rmcat-gcc-02 Table 1";
        /// chi: what a thirtieth of a second weighs in the variance of the measurement noise.
        chi: f64 = 0.01, in 0.001, 0.1, source "draft-ietf-rmcat-gcc-02 §5.3, Table 1: 0.1 to 0.001";
        /// How many groups the delay variation of one counts for beside the threshold; fewer while there were fewer.
        gain: f64 = 60.0, paper 1.0, in 1.0, 1000.0, unit "groups", source "libwebrtc; draft-ietf-rmcat-gcc-02 §5.4";
        /// del_var_th(0): first threshold of over-use and under-use.
        del_var_th: f64 = 12.5, in 6.0, 600.0, unit "ms", source "draft-ietf-rmcat-gcc-02 §5.4, Table 1";
        /// overuse_time_th: for so long the variation exceeds the threshold before there is over-use.
        overuse_time_th: f64 = 10.0, in 0.0, 1000.0, unit "ms", source "draft-ietf-rmcat-gcc-02 §5.4, Table 1";
        /// K_u: how quickly the threshold rises to a larger variation.
        k_u: f64 = 0.01, in 0.0, 0.01, unit "1/ms", source "draft-ietf-rmcat-gcc-02 §5.4, Table 1";
        /// K_d: how quickly it falls to a smaller one.
        k_d: f64 = 0.00018, in 0.0, 0.01, unit "1/ms", source "draft-ietf-rmcat-gcc-02 §5.4, Table 1";
        /// Time between updates of the rate; over-use is answered at once.
        interval: f64 = 100.0, in 1.0, 1000.0, unit "ms", source "draft-ietf-rmcat-gcc-02 §3, §5.5";
        /// T: time that the received rate is measured over; a round trip if that is longer.
        t: f64 = 500.0, in 100.0, 10_000.0, unit "ms", source "draft-ietf-rmcat-gcc-02 §5.5, Table 1: 0.5 to 1 s";
        /// eta: what the rate becomes in a second far from convergence.
        eta: f64 = 1.08, in 1.0, 10.0, source "draft-ietf-rmcat-gcc-02 §5.5";
        /// beta: what over-use leaves of the received rate.
        beta: f64 = 0.85, in 0.1, 1.0, source "draft-ietf-rmcat-gcc-02 §5.5, Table 1";
        /// Share of losses below which the loss-based rate grows.
        loss_low: f64 = 0.02, in 0.0, 1.0, source "draft-ietf-rmcat-gcc-02 §6";
        /// Share above which it falls, by half of the share.
        loss_high: f64 = 0.1, in 0.0, 1.0, source "draft-ietf-rmcat-gcc-02 §6";
        /// Whether to run on a stack that paces by rules of its own.
        fallback: bool = false, source "choice";
    }
}

/// Google Congestion Control (`draft-ietf-rmcat-gcc-02`).
#[derive(Debug)]
pub struct Gcc;

impl Controller for Gcc {
    const INFO: Info = Info {
        name: "gcc",
        summary: "for media: a rate that falls when delays grow, as WebRTC has it (GCC)",
        source: "draft-ietf-rmcat-gcc-02",
        fallback: Some("the stack paces by its own rule, only the window is GCC's"),
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        let needs = Signals::ACKS | Signals::LOSS | Signals::RTT;
        if params.fallback { needs } else { needs | Signals::PACING }
    }

    fn group(_: &Params) {}

    fn start(params: &Params, path: &Path) -> State {
        State::start(params, path)
    }

    #[inline]
    fn step(params: &Params, state: &mut State, _: Table<'_, ()>, event: &Event) {
        if state.backstop.judge(&params.bound, MIN_WINDOW, state.mtu, event) {
            state.hold_rate(params);
        }
        if let Some(rtt) = event.rtt() {
            state.on_rtt_sample(params, event.now, &rtt);
        }
        match &event.kind {
            EventKind::PacketsAcked(acked) => state.on_packets_acked(params, event.now, acked),
            EventKind::PacketsLost(lost) => state.count_lost(lost.newest_sent_at, lost.packets),
            EventKind::EcnCe(marked) => state.count_lost(marked.newest_sent_at, marked.packets),
            EventKind::PersistentCongestion(_) => state.start_over(params, event.now),
            EventKind::MtuUpdated(mtu) => state.mtu = datagram(*mtu),
            EventKind::IdleRestart(_) => state.on_idle(),
            EventKind::WindowSet(to) => state.resume_at(params, event.now, to),
            _ => {}
        }
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        let target = state.target();
        let cwnd = state.rates(params).cwnd(target);
        let rate = target.map(|rate| (rate as u64).max(1));
        Decision {
            pacing_rate: rate,
            target_rate: rate,
            phase: state.recovery.phase(state.in_fast_start),
            recovery_start: state.recovery.start(),
            ..Decision::new(cwnd as u64)
        }
    }

    fn inspect(params: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(a_hat) = state.a_hat {
            visit("a_hat_mbps", 1e-6 * a_hat);
        }
        visit("as_hat_mbps", 1e-6 * state.as_hat);
        if let Some(r_hat) = state.r_hat {
            visit("r_hat_mbps", 1e-6 * r_hat);
        }
        visit("m_ms", state.delay.m(params.gain));
        visit("del_var_th_ms", state.delay.threshold);
        state.backstop.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
