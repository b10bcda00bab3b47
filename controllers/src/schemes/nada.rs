#![doc = include_str!("nada.md")]

mod signal;
mod state;

use crate::parts::limits::datagram;
use crate::parts::windowed_rate::MIN_WINDOW;
use crate::parts::{backstop, base_delay};
use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Table, View, parameters};

pub use state::State;

parameters! {
    /// Parameters of [`Nada`]: `nada:NAME=VALUE,…`.
    pub struct Params {
        @with bound: backstop::Settings, "What losses bound the window to.";
        @with path: base_delay::Settings, "How long the base delay is believed.";
        /// Initial window, which the first reference rate is of too; of each datagram 1472 bytes count, of the first two all. `rmin` with `profile=paper`.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 4.0, 1_048_576.0, unit "packets", source "choice";
        /// Round trips of data at the reference rate that may be in flight: the RFC has no window.
        window: f64 = 1.5, in 1.0, 10.0, unit "round trips", source "choice";
        /// PRIO: weight of the flow among those that share a bottleneck.
        prio: f64 = 1.0, in 0.01, 100.0, source "RFC 8698 §4.2, Figure 3";
        /// RMIN: least reference rate; two packets in a round trip in any case.
        rmin: f64 = 0.0, paper 0.15, in 0.0, 1e6, unit "Mbit/s", source "RFC 8698 §4.2, Figure 3";
        /// RMAX as bound: largest reference rate.
        rmax: f64 = 1e5, paper 1.5, in 0.001, 1e6, unit "Mbit/s", source "RFC 8698 §4.2, Figure 3";
        /// RMAX of equation 5: the rate of a flow whose congestion signal is XREF when nothing changes. Other rates have as much more as they are smaller.
        reference: f64 = 1.5, in 0.001, 1e6, unit "Mbit/s", source "RFC 8698 §4.3";
        /// XREF: congestion signal of a flow at `reference`.
        xref: f64 = 10.0, in 0.1, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// KAPPA: what scales a gradual update.
        kappa: f64 = 0.5, in 0.01, 10.0, source "RFC 8698 §4.2, Figure 3";
        /// ETA: what a change of the signal weighs in it.
        eta: f64 = 2.0, in 0.0, 10.0, source "RFC 8698 §4.2, Figure 3";
        /// TAU: upper bound of the RTT in it; a longer smoothed RTT takes its place.
        tau: f64 = 500.0, in 10.0, 10_000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// DELTA: time between updates of the rate.
        delta: f64 = 100.0, in 1.0, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// LOGWIN: how long what was seen counts.
        logwin: f64 = 500.0, in 10.0, 10_000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// QEPS: queueing delay that ends accelerated ramp-up.
        qeps: f64 = 10.0, in 0.1, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// DFILT: bound on the filter's delay.
        dfilt: f64 = 120.0, in 0.0, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// GAMMA_MAX: largest share by which ramp-up exceeds what is received.
        gamma_max: f64 = 0.5, in 0.01, 1.0, source "RFC 8698 §4.2, Figure 3";
        /// QBOUND: queueing delay that ramp-up may cause.
        qbound: f64 = 50.0, in 1.0, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// MULTILOSS: for so many average loss intervals after a loss the delay is warped.
        multiloss: f64 = 7.0, in 0.0, 100.0, source "RFC 8698 §4.2, Figure 3";
        /// QTH: queueing delay beyond which it is.
        qth: f64 = 50.0, in 1.0, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// LAMBDA: how steeply a warped delay falls.
        lambda: f64 = 0.5, in 0.0, 10.0, source "RFC 8698 §4.2, Figure 3";
        /// PLRREF: loss ratio that counts as DLOSS.
        plrref: f64 = 0.01, in 1e-6, 1.0, source "RFC 8698 §4.2, Figure 3";
        /// PMRREF: ratio of CE marks that counts as DMARK.
        pmrref: f64 = 0.01, in 1e-6, 1.0, source "RFC 8698 §4.2, Figure 3";
        /// DLOSS: delay that losses at PLRREF count as.
        dloss: f64 = 10.0, in 0.0, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// DMARK: delay that marks at PMRREF count as.
        dmark: f64 = 2.0, in 0.0, 1000.0, unit "ms", source "RFC 8698 §4.2, Figure 3";
        /// ALPHA: weight of the latest loss and mark ratio in their averages.
        alpha: f64 = 0.1, in 0.001, 1.0, source "RFC 8698 §4.2, Figure 3";
        /// Most that the congestion signal is.
        xmax: f64 = 500.0, in 10.0, 1e6, unit "ms", source "choice; as in ns3-rmcat";
        /// How many one-minute minima the base delay is the least of.
        base_history: u32 = 10, in 3, 10, unit "minutes", source "RFC 6817 §2.4.2";
        /// Whether to run on a stack that paces by rules of its own.
        fallback: bool = false, source "choice";
    }
}

/// NADA (`RFC 8698`).
#[derive(Debug)]
pub struct Nada;

impl Controller for Nada {
    const INFO: Info = Info {
        name: "nada",
        summary: "for media: a rate by one congestion signal of delay, losses and marks (NADA)",
        source: "RFC 8698",
        fallback: Some("the stack paces by its own rule, only the window is NADA's"),
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
            EventKind::PacketsLost(lost) => state.on_packets_lost(params, event.now, lost),
            EventKind::EcnCe(marked) => state.interval.marked += marked.packets as f32,
            EventKind::PersistentCongestion(_) => state.start_over(params, event.now),
            EventKind::MtuUpdated(mtu) => state.mtu = datagram(*mtu),
            EventKind::WindowSet(to) => state.resume_at(params, event.now, to),
            _ => {}
        }
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        let cwnd = state.rates(params).cwnd(state.reference_rate());
        let phase = state.recovery.phase(state.is_ramping_up);
        let rate = state.reference_rate().map(|rate| (rate as u64).max(1));
        let mut decision = Decision {
            pacing_rate: rate,
            target_rate: rate,
            phase,
            recovery_start: state.recovery.start(),
            ..Decision::new(cwnd as u64)
        };
        state.signal.hold(MIN_WINDOW * state.mtu, &mut decision);
        decision
    }

    fn inspect(_: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rate) = state.reference_rate() {
            visit("r_ref_mbps", 1e-6 * rate);
        }
        visit("r_recv_mbps", 1e-6 * state.r_recv);
        visit("x_curr_ms", state.x_curr);
        visit("d_queue_ms", state.signal.d_queue);
        visit("p_loss", state.signal.p_loss);
        visit("p_mark", state.signal.p_mark);
        state.backstop.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
