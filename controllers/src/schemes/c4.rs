#![doc = include_str!("c4.md")]

mod state;

use crate::event::{PacketsAcked, PacketsLost};
use crate::parts::backstop;
use crate::parts::limits::datagram;
use crate::{Controller, Decision, Event, EventKind, Info, Path, Signals, Table, Time, View, parameters};

pub use state::State;
use state::{Signal, Stage};

/// The least window (§Setting pacing rate), packets.
const MIN_WINDOW: f64 = 2.0;
/// What a packet weighs in the smoothed loss rate, and an ACK in `ecn_alpha` (§Detecting Excessive Losses, §Detecting
/// Excessive CE Marks).
const SMOOTHING: f64 = 1.0 / 16.0;
/// The share of marks from which `ecn_alpha` is that share (§Detecting Excessive CE Marks).
const MANY_MARKS: f64 = 0.5;

parameters! {
    /// Parameters of [`C4`]: `c4:NAME=VALUE,…`.
    pub struct Params {
        @with bound: backstop::Settings, "What losses bound the window to.";
        /// Initial window; of each datagram 1472 bytes count, of the first two all.
        iw: f64 = 10.0, in 1.0, 10_000.0, unit "packets", source "draft-huitema-ccwg-c4-spec, Setting pacing rate; RFC 9002 §7.2";
        /// Largest window.
        max_window: f64 = 1_048_576.0, in 4.0, 1_048_576.0, unit "packets", source "choice";
        /// Coefficient of the Initial state.
        alpha_initial: f64 = 2.0, in 1.0, 4.0, source "draft-huitema-ccwg-c4-spec, Setting pacing rate";
        /// Coefficient of Recovery.
        alpha_recovery: f64 = 0.9375, in 0.1, 1.0, source "draft-huitema-ccwg-c4-spec, Setting pacing rate";
        /// Coefficient of Pushing after a push that did not increase the rate.
        alpha_push_low: f64 = 1.0625, in 1.0, 2.0, source "draft-huitema-ccwg-c4-spec, Pushing state";
        /// Coefficient of Pushing after one that did.
        alpha_push: f64 = 1.25, in 1.0, 2.0, source "draft-huitema-ccwg-c4-spec, Pushing state";
        /// Least that a push adds to the window's whole packets.
        least_push: u32 = 1, paper 0, in 0, 16, unit "packets", source "choice";
        /// Eras of Initial without an increase of the rate that end it.
        initial_eras: u32 = 3, in 1, 1000, unit "round trips", source "draft-huitema-ccwg-c4-spec, Initial state";
        /// Packets after which losses end it.
        initial_packets: u32 = 20, in 0, 1_000_000, unit "packets", source "draft-huitema-ccwg-c4-spec, Initial state";
        /// Eras of Cruising until the next push.
        cruising_eras: u32 = 4, in 1, 1000, unit "round trips", source "draft-huitema-ccwg-c4-spec, Cruising state";
        /// Successive pushes with an increase that lead back to Initial.
        pushes: u32 = 3, in 1, 1000, source "draft-huitema-ccwg-c4-spec, Recovery state";
        /// Part of the rate that one congestion event takes at most, and that losses take.
        beta: f64 = 0.25, in 0.01, 0.9, source "draft-huitema-ccwg-c4-spec, Rate Reduction on Congestion";
        /// Most that the RTT may exceed its nominal maximum by.
        delay_threshold: f64 = 25.0, in 0.0, 10_000.0, unit "ms", source "draft-huitema-ccwg-c4-spec, Detecting Excessive Delays";
        /// MAX_JITTER: most that the nominal maximum RTT exceeds the running minimum by.
        max_jitter: f64 = 250.0, in 0.0, 10_000.0, unit "ms", source "draft-huitema-ccwg-c4-spec, Nominal max RTT";
        /// Whether to run on a stack that paces by rules of its own.
        fallback: bool = false, source "choice";
    }
}

/// C4 (`draft-huitema-ccwg-c4-spec-01`).
#[derive(Debug)]
pub struct C4;

impl Controller for C4 {
    const INFO: Info = Info {
        name: "c4",
        summary: "paces at the rate it was last seen to get, with a window for the largest RTT without a queue",
        source: "draft-huitema-ccwg-c4-spec-01",
        fallback: Some("the stack paces by its own rule, only the window is C4's"),
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
        if state.backstop.judge(&params.bound, MIN_WINDOW, state.mtu, event) {
            state.bound_rate(params, event.now);
        }
        if let Some(rtt) = event.rtt() {
            state.on_rtt_sample(params, event.now, rtt.latest);
        }
        match &event.kind {
            EventKind::PacketsAcked(acked) => state.on_packets_acked(params, event.now, acked),
            EventKind::PacketsLost(lost) => state.on_packets_lost(params, event.now, lost),
            EventKind::EcnCe(marked) => state.marks = state.marks.saturating_add(marked.packets),
            EventKind::PersistentCongestion(_) => state.start_over(params, event.now),
            EventKind::MtuUpdated(mtu) => state.mtu = datagram(*mtu),
            EventKind::WindowSet(to) => state.resume_at(params, to),
            _ => {}
        }
    }

    #[inline]
    fn decide(params: &Params, state: &State, _: View<'_, ()>) -> Decision {
        let cwnd = state.cwnd(params);
        let phase = state.recovery.phase(state.stage == Stage::Initial);
        // What the window is made of is the rate times the nominal maximum RTT, and where a limit of the window
        // acts the rate keeps to it.
        let rate = state.is_assessed().then(|| 8.0 * cwnd / state.nominal_max_rtt);
        Decision {
            pacing_rate: rate.map(|rate| (rate as u64).max(1)),
            phase,
            recovery_start: state.recovery.start(),
            ..Decision::new(cwnd as u64)
        }
    }

    fn inspect(params: &Params, state: &State, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("window", state.cwnd(params) / state.mtu);
        visit("state", f64::from(state.stage as u8));
        visit("alpha", state.alpha);
        visit("nominal_rate_mbps", 8e-6 * state.nominal_rate);
        visit("nominal_max_rtt_ms", 1e3 * state.nominal_max_rtt);
        if state.running_min_rtt < f64::INFINITY {
            visit("running_min_rtt_ms", 1e3 * state.running_min_rtt);
        }
        visit("sensitivity", state.sensitivity());
        visit("smoothed_loss_rate", state.smoothed_loss_rate);
        visit("ecn_alpha", state.ecn_alpha);
        state.backstop.inspect(visit);
    }
}

impl State {
    /// An ACK frame: the rates of losses and marks (§Detecting Excessive Losses, §Detecting Excessive CE Marks), the
    /// nominal rate (§Nominal rate), and the end of an era.
    #[inline]
    fn on_packets_acked(&mut self, params: &Params, now: Time, acked: &PacketsAcked) {
        self.recovery.acked(acked.newest_sent_at);
        self.packets = self.packets.saturating_add(acked.packets);
        if self.smoothed_loss_rate > 0.0 {
            self.smoothed_loss_rate *= kept(acked.packets);
        }
        if self.marks > 0 || self.ecn_alpha > 0.0 {
            self.on_marks(params, now, acked.packets);
        }
        self.update_nominal_rate(now, acked);
        self.era.app_limited |= acked.app_limited;
        if acked.newest_sent_at >= self.era.start {
            self.end_era(params, now);
        }
    }

    /// `rate_estimate` (§Nominal rate), which can only raise the nominal rate, and does so unless the flow is in recovery
    /// and met congestion.
    #[inline]
    fn update_nominal_rate(&mut self, now: Time, acked: &PacketsAcked) {
        let Some(then) = acked.delivery else { return };
        let send_delay = acked.newest_sent_at.since(then.first_sent_at);
        let delay_estimate = now.since(acked.newest_sent_at).max(send_delay).secs();
        let rate_estimate = acked.delivered.saturating_sub(then.delivered) as f64 / delay_estimate;
        let congested = self.stage == Stage::Recovery && self.congested;
        if !congested && rate_estimate > self.nominal_rate && rate_estimate < f64::INFINITY {
            self.nominal_rate = rate_estimate;
        }
    }

    /// Every packet lost moves the smoothed loss rate (§Detecting Excessive Losses).
    #[cold]
    fn on_packets_lost(&mut self, params: &Params, now: Time, lost: &PacketsLost) {
        self.smoothed_loss_rate = 1.0 - (1.0 - self.smoothed_loss_rate) * kept(lost.packets);
        if self.smoothed_loss_rate > self.loss_threshold() {
            self.on_congestion(params, now, Signal::Loss, params.beta);
        }
    }

    /// `ecn_alpha` (§Detecting Excessive CE Marks), with the marks of the frame and the `packets` it acknowledges.
    #[cold]
    fn on_marks(&mut self, params: &Params, now: Time, packets: u32) {
        let marks = core::mem::take(&mut self.marks);
        let frac = f64::from(marks) / f64::from(packets.max(marks).max(1));
        if frac >= MANY_MARKS {
            self.ecn_alpha = frac;
        } else {
            self.ecn_alpha += SMOOTHING * (frac - self.ecn_alpha);
        }
        let threshold = self.ecn_threshold();
        if marks > 0 && self.ecn_alpha > threshold {
            let beta = ((self.ecn_alpha - threshold) / threshold).min(params.beta);
            self.on_congestion(params, now, Signal::Ecn, beta);
        }
    }
}

/// What `packets` later ones leave of a smoothed rate.
fn kept(packets: u32) -> f64 {
    libm::pow(1.0 - SMOOTHING, f64::from(packets))
}

#[cfg(test)]
mod tests;
