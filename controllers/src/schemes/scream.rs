#![doc = include_str!("scream.md")]

mod delay;
mod state;

use crate::decision::Ecn;
use crate::parts::base_delay;
use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Table, View, parameters};

use delay::MIN_PACKETS;
pub use state::State;

parameters! {
    /// Parameters of [`Scream`]: `scream:NAME=VALUE,…`.
    pub struct Params {
        @with path: base_delay::Settings, "How long the base delay is believed.";
        /// Initial window; of each datagram 1472 bytes count, of the first two all. `min_ref_wnd` without `fast_start`.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "RFC 9002 §7.2";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 4.0, 1_048_576.0, unit "packets", source "choice";
        /// QDELAY_TARGET_LO: least target of the queueing delay.
        qdelay_target_lo: f64 = 60.0, in 1.0, 1000.0, unit "ms", source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// QDELAY_TARGET_HI: largest target, beside flows that fill queues.
        qdelay_target_hi: f64 = 400.0, in 1.0, 10_000.0, unit "ms", source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// MIN_REF_WND: least reference window; two packets in any case.
        min_ref_wnd: f64 = 3000.0, in 1.0, 1e6, unit "bytes", source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// BETA_LOSS: what a loss leaves of the reference window.
        beta_loss: f64 = 0.7, in 0.1, 1.0, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// BETA_ECN: what a CE mark leaves of it where marks are not L4S'.
        beta_ecn: f64 = 0.8, in 0.1, 1.0, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// BYTES_IN_FLIGHT_HEAD_ROOM: how often the reference window may be what was in flight.
        bytes_in_flight_head_room: f64 = 1.5, in 1.0, 10.0, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// POST_CONGESTION_DELAY_RTT: for so long after a loss or mark the multiplicative increase is held back; a round trip counts as `virtual_rtt` at least.
        post_congestion_delay: f64 = 100.0, in 1.0, 10_000.0, unit "round trips", source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// MUL_INCREASE_FACTOR: share of the reference window that it grows by in a round trip at most, beside a packet.
        mul_increase_factor: f64 = 0.02, in 0.0, 1.0, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// VIRTUAL_RTT: below this RTT the window grows by less in a round trip, above it delay and L4S' marks take less at once and more often than once in it.
        virtual_rtt: f64 = 25.0, in 0.001, 1000.0, unit "ms", source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// REF_WND_OVERHEAD_MIN: how many reference windows may be in flight while the delay varies, with `reduce_jitter`.
        ref_wnd_overhead_min: f64 = 1.5, in 1.0, 10.0, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.3.1";
        /// REF_WND_OVERHEAD_MAX: how many while it does not. A flow that always has data uses all of it where the stack paces by a rule of its own.
        ref_wnd_overhead_max: f64 = 1.5, paper 3.0, in 1.0, 10.0, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.3.1";
        /// PACKET_PACING_HEADROOM: pacing rate in target bitrates, which a flow that always has data keeps to.
        packet_pacing_headroom: f64 = 1.5, in 1.0, 10.0, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.3.2";
        /// Least target bitrate.
        target_bitrate_min: f64 = 0.0, in 0.0, 1e6, unit "Mbit/s", source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.4";
        /// Largest target bitrate, at which the window grows no more.
        target_bitrate_max: f64 = 1e6, in 0.001, 1e6, unit "Mbit/s", source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.4";
        /// IS_L4S: whether packets are ECT(1) and marks are answered by their share.
        l4s: bool = false, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2";
        /// REDUCE_JITTER: whether the window grows less and exceeds what is in flight by less while the delay varies.
        reduce_jitter: bool = false, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.1.4";
        /// Whether the target of the delay rises beside flows that fill queues.
        competing: bool = true, source "draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.5.4";
        /// Whether the window doubles in a round trip until there is congestion, as in version 1.
        fast_start: bool = true, paper false, source "RFC 8298 §4.1.2.2, in_fast_increase";
        /// How many one-minute minima the base delay is the least of.
        base_history: u32 = 10, in 3, 10, unit "minutes", source "RFC 6817 §2.4.2";
        /// Whether to run on a stack that paces by rules of its own.
        fallback: bool = false, source "choice";
    }
}

/// SCReAM version 2 (`draft-ietf-ccwg-rfc8298bis-screamv2-01`).
#[derive(Debug)]
pub struct Scream;

impl Controller for Scream {
    const INFO: Info = Info {
        name: "scream",
        summary: "for media: a target bitrate from a window that keeps the queueing delay low (SCReAM v2)",
        source: "draft-ietf-ccwg-rfc8298bis-screamv2-01; RFC 8298",
        fallback: Some("the stack paces by its own rule, only the window is SCReAM's"),
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn needs(params: &Params) -> Signals {
        let needs = Signals::ACKS | Signals::LOSS | Signals::RTT;
        let marks = if params.l4s { Signals::ECN | Signals::CE_COUNT } else { Signals::NONE };
        let paces = if params.fallback { Signals::NONE } else { Signals::PACING };
        needs | marks | paces
    }

    fn group(_: &Params) {}

    fn start(params: &Params, path: &Path) -> State {
        State::start(params, path)
    }

    #[inline]
    fn step(params: &Params, state: &mut State, _: Table<'_, ()>, event: &Event) {
        if let Some(rtt) = event.rtt() {
            state.signal.on_rtt_sample(&rtt);
            state.s_rtt = Some(rtt.smoothed.secs().max(1e-9));
        }
        match &event.kind {
            EventKind::PacketsAcked(acked) => state.on_packets_acked(params, event.now, acked),
            EventKind::PacketsLost(lost) => state.on_packets_lost(params, event.now, lost),
            EventKind::EcnCe(marked) => state.on_marks(params, event.now, marked),
            EventKind::PersistentCongestion(_) => state.start_over(params, event.now),
            EventKind::MtuUpdated(mtu) => state.resize(params, *mtu),
            EventKind::WindowSet(to) => state.resume_at(params, to),
            _ => {}
        }
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        let phase = state.recovery.phase(state.in_fast_start);
        let most = params.max_window * state.mtu;
        let cwnd = (state.overhead(params) * state.ref_wnd).min(most).max(MIN_PACKETS * state.mtu);
        let whole = |rate: f64| (rate as u64).max(1);
        let mut decision = Decision {
            pacing_rate: state.target_bitrate.map(|target| whole(params.packet_pacing_headroom * target)),
            target_rate: state.target_bitrate.map(whole),
            ecn: if params.l4s { Ecn::Ect1 } else { Ecn::Unspecified },
            phase,
            recovery_start: state.recovery.start(),
            ..Decision::new(cwnd as u64)
        };
        state.signal.hold(MIN_PACKETS * state.mtu, &mut decision);
        decision
    }

    fn inspect(_: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.ref_wnd / state.mtu);
        visit("ref_wnd_i", state.ref_wnd_i / state.mtu);
        if let Some(target) = state.target_bitrate {
            visit("target_bitrate_mbps", 1e-6 * target);
        }
        visit("qdelay_ms", 1e3 * state.qdelay);
        visit("qdelay_avg_ms", 1e3 * state.qdelay_avg);
        visit("qdelay_target_ms", 1e3 * state.qdelay_target);
        visit("ref_wnd_delay_scale", state.jitter.ref_wnd_delay_scale);
        visit("l4s_alpha", state.l4s_alpha);
        visit("loss_event_rate", state.loss_event_rate);
    }
}

#[cfg(test)]
mod tests;
