#![doc = include_str!("cubic.md")]

use crate::event::RttSample;
use crate::parameters;
use crate::parts::base::Base;
use crate::parts::cubic_curve::{Track, Tracks, friendly_increase, next_maximum};
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::slow_start::SlowStart;
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Signals, Span, Time};

parameters! {
    /// Parameters of [`Cubic`].
    pub struct Params {
        @base Base = Base { slow_start: SlowStart::HyStart, ..Base::default() }, paper Base::arumaithurai();
        /// Steepness of the cubic.
        c: f64 = 0.4, in 0.001, 1000.0, unit "packets/s³", source "RFC 9438 §5.1";
        /// Fraction of the window kept on congestion.
        beta: f64 = 0.7, in 0.1, 0.99, source "RFC 9438 §4.6";
        /// Whether a flow whose maximum shrinks gives up more.
        fast_convergence: bool = true, source "RFC 9438 §4.7";
        /// Whether the response starts from the bytes in flight where they are fewer than the window.
        flight_size: bool = false, source "RFC 9438 §4.6";
        /// Whether the curve starts from `beta` of its maximum and not from the window, which is the
        /// higher one after fast convergence and then waits for the curve, as in many stacks.
        k_from_w_max: bool = false, source "RFC 8312 §4.1 eq. 2";
        /// Whether Reno's estimate grows by a whole packet a window once it is where the window was
        /// before the response, and not for ever by the less that makes up for `beta`.
        alpha_rises: bool = true, source "RFC 9438 §4.3; RFC 8312 §4.2 has none of it";
        /// Part of the window of which less may be lost, slow start over, and the response is taken
        /// back after its recovery; 0 is none, 0.2 what quiche's CUBIC does.
        rollback: f64 = 0.0, in 0.0, 0.5, source "choice; what comes back RFC 9438 §4.9.2";
    }
}

/// What CUBIC remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct Memory {
    /// Smoothed RTT; zero before the first sample.
    srtt: Span,
    /// With `cwnd_prior`, packets; 0 while there is none.
    tracks: Tracks<f64>,
}

/// CUBIC's rules.
#[derive(Debug)]
pub struct CubicRules;

/// CUBIC (`RFC 9438`; `spec: arumaithurai §6.5`).
pub type Cubic = LossBased<CubicRules>;

impl Params {
    /// What the response keeps of the window, packets, before the floor (`RFC 9438 §4.6
    /// fig. 5`).
    fn kept(&self, window: &Window, event: &Event) -> f64 {
        let flight = event.flight().filter(|_| self.flight_size);
        self.beta * flight.map_or(window.cwnd, |bytes| (bytes as f64 / window.mtu).min(window.cwnd))
    }
}

/// Congestion avoidance begins (`RFC 9438 §4.2`; after a timeout §4.8; after a first
/// slow start without congestion §4.10).
#[cold]
fn begin(track: &mut Track<f64>, params: &Params, window: &Window, now: Time) {
    if track.is_flat() {
        track.w_max = window.cwnd;
    }
    if track.more <= 0.0 {
        track.more = window.cwnd;
    }
    let least = params.beta * track.w_max;
    let lower = params.k_from_w_max && !track.is_flat() && least < window.cwnd;
    let from = if lower { least } else { window.cwnd };
    track.begin(params.c, now, from);
}

impl Rules for CubicRules {
    const INFO: Info = Info {
        name: "cubic",
        summary: "grows along a cubic of the time since the last congestion event",
        source: "RFC 9438; spec: arumaithurai §6.5",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(_: &Params, _: &Path) -> Memory {
        Memory { tracks: Tracks::new(0.0), srtt: Span::ZERO }
    }

    #[inline]
    fn sampled(_: &Params, memory: &mut Memory, _: Time, rtt: &RttSample) {
        memory.srtt = rtt.smoothed;
    }

    /// `RFC 9438 §4.2–§4.5`. One ACK is worth a window at most.
    #[inline(always)]
    fn increase(params: &Params, memory: &mut Memory, window: &Window, now: Time, units: f64) -> f64 {
        let Memory { tracks: Tracks { now: track, .. }, srtt } = memory;
        let cwnd = window.cwnd;
        let windows = (units / cwnd).min(1.0);
        if track.stage().is_none() {
            begin(track, params, window, now);
        }
        let prior = track.more;
        let Some(stage) = track.stage_mut() else { return 0.0 };
        let increase = if params.alpha_rises && stage.reno >= prior { 1.0 } else { friendly_increase(params.beta) };
        stage.count(increase, windows);
        let t = stage.elapsed(now);
        if stage.at(params.c, t) < stage.reno {
            // Reno-friendly region, §4.3; never a step back.
            return (stage.reno - cwnd).max(0.0);
        }
        let target = stage.at(params.c, t + srtt.secs());
        // Comparisons, not `max` and `min`, which mind a NaN that cannot be while the window waits.
        let target = if target > cwnd { target } else { cwnd };
        let most = 1.5 * cwnd;
        let target = if target < most { target } else { most };
        (target - cwnd) * windows
    }

    /// `RFC 9438 §4.6, §4.7`.
    fn decrease(params: &Params, memory: &mut Memory, window: &Window, event: &Event) -> Reduction {
        let track = memory.tracks.respond();
        track.w_max = next_maximum(window.cwnd, track.w_max, params.beta, params.fast_convergence);
        track.more = window.cwnd;
        Reduction::to(1.0, params.kept(window, event))
    }

    /// `RFC 9438 §4.8`.
    fn timeout(params: &Params, memory: &mut Memory, window: &Window, event: &Event) -> f64 {
        memory.tracks.now.more = window.cwnd;
        memory.tracks.now.flatten();
        params.kept(window, event) / window.cwnd
    }

    #[inline]
    fn rollback(params: &Params) -> f64 {
        params.rollback
    }

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
        memory.tracks.now.more *= ratio;
    }

    fn inspect(_: &Params, memory: &Memory, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        let track = &memory.tracks.now;
        visit("w_max", track.w_max);
        visit("cwnd_prior", track.more);
        visit("srtt_ms", 1e3 * memory.srtt.secs());
        if let Some(stage) = track.stage() {
            stage.inspect(visit);
        }
    }
}

#[cfg(test)]
mod tests;
