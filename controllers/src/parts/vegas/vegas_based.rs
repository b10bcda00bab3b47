//! One algorithm, three choices: what every Vegas scheme does once they are made.

use core::marker::PhantomData;

use super::scheme::{Scheme, State, StateOf};
use super::{Common, DeltaWindow, Frame, LossRule, Round, RoundMeasurement, Source, Step, StepRule, backlog};
use crate::event::{EcnCe, IdleRestart, PacketsAcked, PacketsLost, RttSample, SpuriousLoss};
use crate::parts::recovery::Reduction;
use crate::parts::window::Window;
use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Span, Table, Time, View};

/// A Vegas controller made of `S`.
#[derive(Debug)]
pub struct VegasBased<S>(PhantomData<S>);

impl<S: Scheme> VegasBased<S> {
    /// `spec: chan §1.4 T2`: decide, grow, and only then take the samples in.
    #[inline]
    fn acknowledged(params: &S::Params, state: &mut StateOf<S>, now: Time, acked: &PacketsAcked) {
        let packets = state.window.acked_packets(&params.as_ref().base, acked);
        if state.round.ends(acked.newest_sent_at) {
            Self::decide_round(params, state);
            state.round.begin(now);
        }
        Self::grow(params, state, acked, packets);
        let own = acked.rtt.map(|rtt| Self::sample(params, &rtt));
        if own.is_some() {
            Self::flush(params, state, now);
        }
        Self::measure(params, state, now, own.or(state.sampled), Some(acked));
        state.sampled = None;
        state.round.saw(acked.in_flight_before);
        S::Loss::acked(params, &mut state.loss, acked);
    }

    /// The sample's frame brings losses or marks first and acknowledgements last; like
    /// any other it is taken in after the latter.
    fn sampled(params: &S::Params, state: &mut StateOf<S>, now: Time, rtt: &RttSample) {
        Self::flush(params, state, now);
        state.sampled = Some(Self::sample(params, rtt));
    }

    /// Takes in a sample whose frame turned out to acknowledge nothing new.
    fn flush(params: &S::Params, state: &mut StateOf<S>, now: Time) {
        if let Some(rtt) = state.sampled.take() {
            Self::measure(params, state, now, Some(rtt), None);
        }
    }

    fn sample(params: &S::Params, rtt: &RttSample) -> Span {
        rtt.without_ack_delay(Span::from_secs_f64(params.as_ref().max_ack_delay / 1e3))
    }

    #[inline]
    fn measure(params: &S::Params, state: &mut StateOf<S>, now: Time, rtt: Option<Span>, acked: Option<&PacketsAcked>) {
        let counts = params.as_ref().stale_samples || !state.window.recovery.in_recovery();
        if S::Source::on_event(params, &mut state.source, &Frame { now, rtt, acked, counts }) {
            Self::explore(state);
        }
    }

    /// The path has become longer: what it carries has to be found anew, as at the start.
    #[cold]
    fn explore(state: &mut StateOf<S>) {
        Self::unlearn(state);
        state.step = Default::default();
        state.window.ssthresh = f64::INFINITY;
        state.window.discard_undo();
    }

    /// A round is over (`spec: chan §3.6 I3, P1–P3`). A round without samples changes
    /// nothing but stops growth (`§1.4`).
    fn decide_round(params: &S::Params, state: &mut StateOf<S>) {
        let common = params.as_ref();
        Self::hold(state);
        if state.round.is_first() {
            state.acting = !state.window.in_slow_start();
            return;
        }
        let late = S::Source::late(&state.source);
        let Some(delays) = S::Source::round(params, &mut state.source) else { return };
        if !state.round.was_filled() {
            // A flow that did not use its window is no evidence that it is too small.
            state.step = S::Step::unlearned(state.step);
        }
        let delta = common.delta_rounding.apply(backlog(Self::delta_window(common, state), delays));
        state.delta = Some((delta, delays));
        if state.window.in_slow_start() {
            Self::slow_start(common, state, delta);
        } else {
            Self::avoid(params, state, &RoundMeasurement { delta, delays, cwnd: state.window.cwnd, late });
        }
    }

    fn delta_window(common: &Common, state: &StateOf<S>) -> f64 {
        let cwnd = state.window.cwnd;
        match (common.delta_window, state.round.most_in_flight()) {
            (DeltaWindow::InFlight, Some(bytes)) => cwnd.min(bytes as f64 / state.window.mtu),
            _ => cwnd,
        }
    }

    /// `spec: chan §3.6 P2`: double every other round until a backlog builds up.
    fn slow_start(common: &Common, state: &mut StateOf<S>, delta: f64) {
        state.acting = !state.acting;
        if !state.acting {
            return;
        }
        if delta > common.gamma {
            let to = state.window.cwnd * common.exit_factor;
            state.window.lower(&common.base, to);
            state.window.ssthresh = 2.0;
            state.step = S::Step::unlearned(state.step);
        } else {
            state.incr = 1.0;
            state.doubling = true;
        }
    }

    /// `spec: chan §3.6 P3, §6.3`.
    fn avoid(params: &S::Params, state: &mut StateOf<S>, round: &RoundMeasurement) {
        if S::Step::EVERY_OTHER {
            state.acting = !state.acting;
            if !state.acting {
                return;
            }
        }
        let cwnd = state.window.cwnd;
        match S::Step::step(params, &mut state.step, round) {
            Step::Hold => {}
            Step::Grow(packets) => state.incr = (packets / cwnd).min(1.0),
            Step::Raise(packets) if state.round.was_filled() => state.window.grow(&params.as_ref().base, packets),
            Step::Raise(_) => {}
            Step::Shrink(packets) => state.window.lower(&params.as_ref().base, cwnd - packets),
        }
    }

    /// `spec: chan §1.5`.
    #[inline]
    fn grow(params: &S::Params, state: &mut StateOf<S>, acked: &PacketsAcked, packets: f64) {
        let common = params.as_ref();
        let window = &mut state.window;
        if packets <= 0.0 || !common.growth_gate.open(common.max_gap, window.cwnd, window.mtu, acked) {
            return;
        }
        state.round.filled();
        let packets = if state.doubling {
            // G1, as if packet by packet.
            packets.min(libm::ceil(window.ssthresh - window.cwnd)).max(0.0)
        } else {
            packets
        };
        window.grow(&common.base, state.incr * packets);
    }

    fn hold(state: &mut StateOf<S>) {
        state.incr = 0.0;
        state.doubling = false;
    }

    /// Stops growth and forgets the samples and steps of the rounds so far.
    fn unlearn(state: &mut StateOf<S>) {
        Self::hold(state);
        S::Source::clear(&mut state.source);
        state.step = S::Step::unlearned(state.step);
    }

    fn lost(params: &S::Params, state: &mut StateOf<S>, now: Time, lost: &PacketsLost) {
        let delta = state.delta.map(|(delta, _)| delta);
        if S::Loss::lost(params, &mut state.loss, lost, delta) {
            Self::reduce(params, state, now, lost.newest_sent_at, lost.transmissions);
        }
    }

    /// A mark is the loss of a first transmission (`spec: chan §1.7`).
    fn marked(params: &S::Params, state: &mut StateOf<S>, now: Time, marked: &EcnCe) {
        if S::Loss::marked(params, &mut state.loss, marked) {
            Self::reduce(params, state, now, marked.newest_sent_at, 1);
        }
        state.window.discard_undo();
    }

    /// `spec: chan §3.7 Q1`, once for what was sent before it.
    fn reduce(params: &S::Params, state: &mut StateOf<S>, now: Time, sent_at: Time, transmissions: u32) {
        if !state.window.recovery.accepts(sent_at) {
            return;
        }
        let common = params.as_ref();
        let cwnd = common.reduced(state.window.cwnd, transmissions);
        state.saved = state.step;
        Self::unlearn(state);
        state.window.reduce(&common.base, now, Reduction { cwnd, ssthresh: 2.0 });
    }

    /// `spec: chan §3.7 L5, Q2`. The reduction counts as one for what was sent before it.
    fn timeout(params: &S::Params, state: &mut StateOf<S>, now: Time) {
        Self::unlearn(state);
        state.window.start_over(&params.as_ref().base, 0.5 * state.window.cwnd);
        state.window.recovery.begin(now);
        state.window.recovery.close();
    }

    /// `spec: chan §1.7`: back to what was before the reduction.
    fn undo(state: &mut StateOf<S>, spurious: &SpuriousLoss) {
        if state.window.on_spurious_loss(spurious) {
            state.step = state.saved;
        }
    }

    /// `spec: chan §1.7`: a new round, nothing kept but window and BaseRTT.
    fn idle(params: &S::Params, state: &mut StateOf<S>, now: Time, idle: &IdleRestart) {
        state.window.idle(&params.as_ref().base, idle);
        if idle.is_long() {
            Self::unlearn(state);
            state.sampled = None;
            state.round.restart(now);
        }
    }

    /// What comes rarely, kept out of the way of acknowledgements.
    #[cold]
    fn turn(params: &S::Params, state: &mut StateOf<S>, event: &Event) {
        let now = event.now;
        match &event.kind {
            EventKind::RttSampled(rtt) => Self::sampled(params, state, now, rtt),
            EventKind::EcnCe(marked) => Self::marked(params, state, now, marked),
            EventKind::PacketsLost(lost) => Self::lost(params, state, now, lost),
            EventKind::PersistentCongestion(_) => Self::timeout(params, state, now),
            EventKind::SpuriousLoss(spurious) => Self::undo(state, spurious),
            EventKind::MtuUpdated(mtu) => Self::resize(params, state, *mtu),
            EventKind::IdleRestart(idle) => Self::idle(params, state, now, idle),
            EventKind::WindowSet(to) => state.window.set(&params.as_ref().base, to),
            EventKind::PacketsAcked(_)
            | EventKind::PacketSent(_)
            | EventKind::TimerExpired
            | EventKind::ProbeReceived(_)
            | EventKind::Joined
            | EventKind::Left => {}
        }
    }

    /// The round's growth stays as many packets as it was to be; a packet is another now.
    fn resize(params: &S::Params, state: &mut StateOf<S>, mtu: u32) {
        let before = state.window.mtu;
        state.window.resize(&params.as_ref().base, mtu);
        if !state.doubling {
            state.incr = (state.incr * (state.window.mtu / before)).min(1.0);
        }
        S::Step::on_mtu_update(&mut state.step, before / state.window.mtu);
    }
}

impl<S: Scheme> Controller for VegasBased<S> {
    const INFO: Info = S::INFO;
    type Params = S::Params;
    type State = StateOf<S>;
    type Group = ();

    fn needs(params: &S::Params) -> Signals {
        S::needs(params)
    }

    fn group(_: &S::Params) {}

    fn start(params: &S::Params, path: &Path) -> StateOf<S> {
        State {
            window: Window::start(&params.as_ref().base, path),
            round: Round::default(),
            incr: 0.0,
            doubling: false,
            acting: true,
            delta: None,
            source: Default::default(),
            step: Default::default(),
            loss: Default::default(),
            backstop: Default::default(),
            saved: Default::default(),
            sampled: None,
        }
    }

    #[inline]
    fn step(params: &S::Params, state: &mut StateOf<S>, _: Table<'_, ()>, event: &Event) {
        let common = params.as_ref();
        if state.backstop.on_event(&common.bound, &common.base, &mut state.window, event) {
            Self::unlearn(state);
        }
        match &event.kind {
            EventKind::PacketsAcked(acked) => Self::acknowledged(params, state, event.now, acked),
            _ => Self::turn(params, state, event),
        }
        state.backstop.hold(&common.base, &mut state.window);
    }

    #[inline]
    fn decide(params: &S::Params, state: &StateOf<S>, _: View<'_, ()>) -> Decision {
        let mut decision = Decision { ecn: S::ECN, ..state.window.decision() };
        if let Some(base) = S::Source::base(&state.source) {
            base.hold(params.as_ref().base.min_window * state.window.mtu, &mut decision);
        }
        S::finish(params, state, &mut decision);
        decision
    }

    fn inspect(_: &S::Params, state: &StateOf<S>, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.window.cwnd);
        visit("incr", state.incr);
        visit("acting", f64::from(u8::from(state.acting)));
        if let Some((delta, delays)) = state.delta {
            visit("delta", delta);
            visit("base_rtt_ms", delays.base / 1e6);
            visit("round_rtt_ms", delays.rtt / 1e6);
        }
        S::Source::inspect(&state.source, visit);
        S::Step::inspect(&state.step, visit);
        S::Loss::inspect(&state.loss, visit);
        state.backstop.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
