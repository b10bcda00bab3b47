#![doc = include_str!("cubic.md")]

use crate::event::Rtt;
use crate::parameters;
use crate::parts::base::Base;
use crate::parts::cubic_curve::{Stage, friendly_increase, next_maximum, pause};
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::slow_start::SlowStart;
use crate::parts::window::{Cut, Window};
use crate::{Event, Path, Signals, Span, Time};

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
    }
}

impl AsRef<Base> for Params {
    fn as_ref(&self) -> &Base {
        &self.base
    }
}

/// What CUBIC knows of the path's capacity; all that §4.9.2 saves and restores.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Track {
    course: Course,
    /// `W_max`, packets; 0 while there is none.
    w_max: f64,
    /// `cwnd_prior`, packets; 0 while there is none.
    prior: f64,
}

/// Where CUBIC is along its curve.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Course {
    /// In a stage of congestion avoidance.
    Stage(Stage),
    /// Before one.
    Before,
    /// Before one that starts on its plateau: no congestion event or a timeout went before.
    Flat,
}

/// What CUBIC remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    track: Track,
    /// `track` as the latest response found it.
    before: Track,
    /// Smoothed RTT; zero before the first sample.
    srtt: Span,
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

impl Track {
    fn stage(&self) -> Option<&Stage> {
        if let Course::Stage(stage) = &self.course { Some(stage) } else { None }
    }

    fn stage_mut(&mut self) -> Option<&mut Stage> {
        if let Course::Stage(stage) = &mut self.course { Some(stage) } else { None }
    }

    /// A stage that was under way is over.
    fn end(&mut self) {
        if let Course::Stage(_) = self.course {
            self.course = Course::Before;
        }
    }

    /// Congestion avoidance begins (`RFC 9438 §4.2`; after a timeout §4.8; after a first
    /// slow start without congestion §4.10).
    #[cold]
    fn begin(&mut self, params: &Params, window: &Window, now: Time) -> Stage {
        if self.course == Course::Flat {
            self.w_max = window.cwnd;
        }
        if self.prior <= 0.0 {
            self.prior = window.cwnd;
        }
        let stage = Stage::begin(params.c, now, window.cwnd, self.w_max);
        self.course = Course::Stage(stage);
        stage
    }
}

impl Rules for CubicRules {
    const NAME: &'static str = "cubic";
    const SUMMARY: &'static str = "grows along a cubic of the time since the last congestion event";
    const SOURCE: &'static str = "RFC 9438; spec: arumaithurai §6.5";
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(_: &Params, _: &Path) -> Memory {
        let track = Track { course: Course::Flat, w_max: 0.0, prior: 0.0 };
        Memory { track, before: track, srtt: Span::ZERO }
    }

    #[inline]
    fn sampled(_: &Params, memory: &mut Memory, _: Time, rtt: &Rtt) {
        memory.srtt = rtt.smoothed;
    }

    /// `RFC 9438 §4.2–§4.5`. One ACK is worth a window at most.
    #[inline]
    fn increase(params: &Params, memory: &mut Memory, window: &Window, now: Time, units: f64) -> f64 {
        let Memory { track, srtt, .. } = memory;
        let cwnd = window.cwnd;
        let windows = (units / cwnd).min(1.0);
        if track.stage().is_none() {
            track.begin(params, window, now);
        }
        let Course::Stage(stage) = &mut track.course else { return 0.0 };
        let increase = if stage.reno >= track.prior { 1.0 } else { friendly_increase(params.beta) };
        stage.count(increase, windows);
        let t = stage.elapsed(now);
        if stage.at(params.c, t) < stage.reno {
            // Reno-friendly region, §4.3; never a step back.
            return (stage.reno - cwnd).max(0.0);
        }
        let target = stage.at(params.c, t + srtt.secs()).max(cwnd).min(1.5 * cwnd);
        (target - cwnd) * windows
    }

    /// `RFC 9438 §4.6, §4.7`.
    fn decrease(params: &Params, memory: &mut Memory, window: &Window, event: &Event) -> Cut {
        memory.before = memory.track;
        let track = &mut memory.track;
        track.w_max = next_maximum(window.cwnd, track.w_max, params.beta, params.fast_convergence);
        track.prior = window.cwnd;
        track.course = Course::Before;
        Cut::to(1.0, params.kept(window, event))
    }

    /// `RFC 9438 §4.8`.
    fn timeout(params: &Params, memory: &mut Memory, window: &Window, event: &Event) -> f64 {
        let track = &mut memory.track;
        track.prior = window.cwnd;
        track.course = Course::Flat;
        params.kept(window, event) / window.cwnd
    }

    /// `RFC 9438 §4.9.2`.
    fn undone(_: &Params, memory: &mut Memory, _: &Window) {
        memory.track = memory.before;
    }

    /// `RFC 9438 §4.2, §5.8`: time the flow did not use its window is not part of `t`.
    fn paused(_: &Params, memory: &mut Memory, now: Time, span: Span) {
        pause(memory.track.stage_mut(), now, span);
        pause(memory.before.stage_mut(), now, span);
    }

    /// The stage ended with the window it was about.
    fn restarted(_: &Params, memory: &mut Memory, _: &Window) {
        memory.track.end();
    }

    /// The next ACK begins a stage at the resized window; below the plateau that is the
    /// same curve, beyond it the probing starts over.
    fn resized(memory: &mut Memory, ratio: f64) {
        let track = &mut memory.track;
        track.w_max *= ratio;
        track.prior *= ratio;
        track.end();
    }

    fn inspect(_: &Params, memory: &Memory, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("w_max", memory.track.w_max);
        visit("cwnd_prior", memory.track.prior);
        visit("srtt_ms", 1e3 * memory.srtt.secs());
        if let Some(stage) = memory.track.stage() {
            stage.inspect(visit);
        }
    }
}

#[cfg(test)]
mod tests;
