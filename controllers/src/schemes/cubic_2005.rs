#![doc = include_str!("cubic_2005.md")]

use crate::event::RttSample;
use crate::parts::base::Base;
use crate::parts::cubic_curve::{Tracks, friendly_increase, next_maximum};
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::utilization::Utilization;
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Signals, Span, Time, choice, parameters};

choice! {
    /// When growth is limited to `smax` packets per second.
    pub enum Limited {
        /// Always (the authors' paper).
        Always = "always",
        /// From the first loss on (`spec: sharma A-7`).
        AfterLoss = "after-loss",
    }
}

parameters! {
    /// Parameters of [`Cubic2005`].
    pub struct Params {
        @base Base, paper Base::sharma();
        /// Steepness of the cubic.
        c: f64 = 0.4, in 0.001, 1000.0, unit "packets/s³", source "spec: sharma §6";
        /// Fraction of the window kept on congestion.
        beta: f64 = 0.8, in 0.1, 0.99, source "spec: sharma §6 T-10";
        /// Largest growth per second.
        smax: f64 = 160.0, in 1.0, 1_000_000.0, unit "packets/s", source "spec: sharma §6, A-6, A-7";
        /// When growth is limited.
        limited: Limited = Limited::Always, paper Limited::AfterLoss, source "spec: sharma A-7, §9.1";
        /// Whether a flow whose maximum shrinks gives up more.
        fast_convergence: bool = true, source "spec: sharma §6";
        /// Whether the window never falls behind that of an AIMD with the same decrease.
        friendly: bool = true, source "spec: sharma §6";
        /// Whether a timeout forgets the maximum.
        forget: bool = false, paper true, source "spec: sharma §6 rule 3, A-37";
        /// Share of the largest queueing delay below which the limit is lifted beyond the plateau; 0 is off.
        low_utilization: f64 = 0.0, in 0.0, 1.0, source "spec: sharma §6, A-9";
        /// How often utilisation is judged.
        utilization_period: f64 = 2.0, in 0.001, 1000.0, unit "s", source "spec: sharma §6";
    }
}

/// What it remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    /// With whether a loss happened since the start or since a timeout that forgets.
    tracks: Tracks<bool>,
    /// Smallest RTT sample.
    d_min: Option<Span>,
    utilization: Utilization,
}

/// The rules of [`Cubic2005`].
#[derive(Debug)]
pub struct Cubic2005Rules;

/// CUBIC of 2005 (`spec: sharma §6`).
pub type Cubic2005 = LossBased<Cubic2005Rules>;

impl Rules for Cubic2005Rules {
    const INFO: Info = Info {
        name: "cubic-2005",
        summary: "the first CUBIC: a cubic of the time since the last loss, with a limit on its growth",
        source: "spec: sharma §6",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(_: &Params, path: &Path) -> Memory {
        Memory { tracks: Tracks::new(false), d_min: None, utilization: Utilization::start(path.now) }
    }

    #[inline]
    fn sampled(params: &Params, memory: &mut Memory, now: Time, rtt: &RttSample) {
        if rtt.latest == Span::ZERO {
            return;
        }
        let d_min = memory.d_min.map_or(rtt.latest, |d| d.min(rtt.latest));
        memory.d_min = Some(d_min);
        if params.low_utilization > 0.0 {
            let period = Span::from_secs_f64(params.utilization_period);
            memory.utilization.sample(now, rtt.latest, d_min, period, params.low_utilization);
        }
    }

    /// `spec: sharma §6 rule 1`, with the window's worth of increments, `inc·cwnd`, in
    /// place of the single one. One ACK is worth a window at most.
    #[inline]
    fn increase(params: &Params, memory: &mut Memory, window: &Window, now: Time, units: f64) -> f64 {
        let Memory { tracks: Tracks { now: track, .. }, d_min, utilization } = memory;
        let cwnd = window.cwnd;
        let windows = (units / cwnd).min(1.0);
        if track.stage().is_none() {
            track.begin(params.c, now, cwnd);
        }
        let limited = params.limited == Limited::Always || track.more;
        let Some(stage) = track.stage_mut() else { return 0.0 };
        let ahead = d_min.map_or(0.0, Span::secs);
        let t = stage.elapsed(now) + ahead;
        let target = stage.at(params.c, t);
        let mut gap = if target > cwnd { target - cwnd } else { 0.01 };
        if limited && ahead > 0.0 && !(utilization.is_low() && t > stage.k) {
            gap = gap.min(params.smax * ahead);
        }
        if params.friendly {
            stage.count(friendly_increase(params.beta), windows);
            gap = gap.max(stage.reno - cwnd);
        }
        gap.min(cwnd) * windows
    }

    /// `spec: sharma §6 rule 2, T-10`.
    fn decrease(params: &Params, memory: &mut Memory, window: &Window, _: &Event) -> Reduction {
        let track = memory.tracks.respond();
        track.w_max = next_maximum(window.cwnd, track.w_max, params.beta, params.fast_convergence);
        track.more = true;
        Reduction::to(params.beta, window.cwnd)
    }

    /// `spec: sharma §6 rule 3`, `B-RTO`.
    fn timeout(params: &Params, memory: &mut Memory, window: &Window, _: &Event) -> f64 {
        let track = &mut memory.tracks.now;
        track.flatten();
        track.w_max = if params.forget { 0.0 } else { window.cwnd };
        track.more &= !params.forget;
        0.5
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it.
    fn undone(_: &Params, memory: &mut Memory, _: &Window) {
        memory.tracks.undo();
    }

    fn paused(_: &Params, memory: &mut Memory, now: Time, span: Span) {
        memory.tracks.pause(now, span);
    }

    fn restarted(_: &Params, memory: &mut Memory, _: &Window) {
        memory.tracks.end();
    }

    fn resized(memory: &mut Memory, ratio: f64) {
        memory.tracks.resized(ratio);
    }

    fn inspect(_: &Params, memory: &Memory, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_max", memory.tracks.now.w_max);
        visit("d_min_ms", memory.d_min.map_or(0.0, Span::millis));
        visit("low_utilization", f64::from(u8::from(memory.utilization.is_low())));
        if let Some(stage) = memory.tracks.now.stage() {
            stage.inspect(visit);
        }
    }
}

#[cfg(test)]
mod tests;
