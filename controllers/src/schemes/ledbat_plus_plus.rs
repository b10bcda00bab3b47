#![doc = include_str!("ledbat_plus_plus.md")]

mod cycle;

use crate::event::{PacketsAcked, RttSample};
use crate::parameters;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::queueing_delay::{QueueingDelay, Rollover};
use crate::parts::vegas::signed;
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Info, Path, Signals, Span, Time};

pub use cycle::Stage;

/// Window of a slowdown, packets (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.4`).
const SLOW: f64 = 2.0;

parameters! {
    /// Parameters of [`LedbatPlusPlus`].
    pub struct Params {
        @base Base = Base { iw: SLOW, ..Base::default() }, paper Base { iw: SLOW, ..Base::default() };
        /// Queueing delay to keep.
        target: f64 = 60.0, in 1.0, 1000.0, unit "ms", source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.5";
        /// Most that the gain is divided by on paths shorter than the target.
        most_divisor: f64 = 16.0, in 1.0, 1000.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.2";
        /// Fraction of the window given up per round trip for each target of delay beyond the first.
        decrease: f64 = 1.0, in 0.01, 10.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.3";
        /// Most of the window given up in a round trip.
        most_decrease: f64 = 0.5, in 0.01, 1.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.3";
        /// Share of the target at which the first slow start ends.
        exit: f64 = 0.75, in 0.01, 10.0, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.1";
        /// How long after the first slow start the first slowdown begins, and how long the window stays down in any.
        slowdown: f64 = 2.0, in 0.0, 100.0, unit "smoothed RTTs", source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4";
        /// How long the flow is left alone after a slowdown, against how long that took; inf is for ever.
        interval: f64 = 9.0, in 1.0, f64::INFINITY, source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.4";
        /// How many one-minute minima the base delay is the least of.
        base_history: u32 = 10, in 3, 19, unit "minutes", source "RFC 6817 §2.4.2";
        /// How many samples the current delay is the least of.
        current_filter: u32 = 4, in 1, 8, unit "samples", source "draft-irtf-iccrg-ledbat-plus-plus-01 §4.5";
    }
}

impl Params {
    fn target(&self) -> f64 {
        self.target * 1e6
    }

    /// `GAIN`: packets per round trip, for a base delay of so many nanoseconds
    /// (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.2`).
    #[must_use]
    pub fn gain(&self, base: f64) -> f64 {
        let divisor = libm::ceil(2.0 * self.target() / base.max(1.0));
        1.0 / divisor.max(1.0).min(self.most_divisor)
    }

    /// What a window of `cwnd` packets changes by in a round trip whose queueing delay is
    /// `queued` nanoseconds (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.3`).
    #[must_use]
    pub fn change(&self, gain: f64, cwnd: f64, queued: f64) -> f64 {
        let excess = (queued / self.target() - 1.0).max(0.0);
        (gain - self.decrease * cwnd * excess).max(-self.most_decrease * cwnd)
    }

    fn span(&self, rtt: Span, times: f64) -> Span {
        Span((times * rtt.0 as f64) as u64)
    }
}

/// What LEDBAT++ remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    delay: QueueingDelay,
    /// RTT sample of the ACK that is being taken in.
    sample: Option<Span>,
    smoothed: Span,
    /// Base delay, nanoseconds; `GAIN` changes with it only.
    base: Option<i64>,
    /// `GAIN`.
    gain: f64,
    /// Packets per round trip the window changes by.
    change: f64,
    stage: Stage,
}

impl Memory {
    /// Takes the sample of an ACK in; gives the queueing delay, nanoseconds.
    fn measure(&mut self, params: &Params, now: Time) -> Option<f64> {
        if let Some(rtt) = self.sample.take().filter(|rtt| *rtt > Span::ZERO) {
            let begins = self.delay.sample(Rollover::Clock, now, signed(rtt));
            let base = match self.base {
                Some(base) if !begins => Some(base.min(signed(rtt))),
                _ => self.delay.base(params.base_history),
            };
            if base != self.base {
                self.base = base;
                self.gain = base.map_or(self.gain, |base| params.gain(base as f64));
            }
        }
        self.delay.over(params.current_filter, self.base?).map(|queued| queued as f64)
    }
}

/// LEDBAT++'s rules.
#[derive(Debug)]
pub struct LedbatPlusPlusRules;

/// LEDBAT++ (`draft-irtf-iccrg-ledbat-plus-plus-01`).
pub type LedbatPlusPlus = LossBased<LedbatPlusPlusRules>;

impl Rules for LedbatPlusPlusRules {
    const INFO: Info = Info {
        name: "ledbat++",
        summary: "LEDBAT on round-trip times that slows down now and then to see the path empty",
        source: "draft-irtf-iccrg-ledbat-plus-plus-01; RFC 6817",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(params: &Params, _: &Path) -> Memory {
        Memory {
            delay: QueueingDelay::default(),
            sample: None,
            smoothed: Span::ZERO,
            base: None,
            gain: 1.0 / params.most_divisor,
            change: 0.0,
            stage: Stage::First,
        }
    }

    fn heard(_: &Params, memory: &mut Memory, _: &Window, event: &Event) {
        match event.kind {
            EventKind::IdleRestart(idle) if idle.is_long() => {
                memory.delay.pause();
                memory.stage.idled(event.now, idle.idle);
            }
            _ => {}
        }
    }

    fn sampled(_: &Params, memory: &mut Memory, _: Time, rtt: &RttSample) {
        memory.sample = Some(rtt.adjusted());
        memory.smoothed = rtt.smoothed;
    }

    /// The cycle of slowdowns (`§4.4`), the end of the first slow start (`§4.1`) and the
    /// half of the controller that shrinks (`§4.3`).
    fn acknowledged(params: &Params, memory: &mut Memory, window: &mut Window, now: Time, acked: &PacketsAcked) {
        let queued = memory.measure(params, now);
        if memory.stage == Stage::First
            && window.in_slow_start()
            && queued.is_some_and(|queued| queued > params.exit * params.target())
        {
            window.ssthresh = window.cwnd.max(2.0);
        }
        memory.stage.advance(params, window, now, memory.smoothed);
        memory.change = match queued {
            Some(queued) if memory.stage.is_steady() => params.change(memory.gain, window.cwnd, queued),
            _ => 0.0,
        };
        if memory.change < 0.0 {
            let windows = acked.bytes as f64 / window.mtu / window.cwnd;
            window.lower(&params.base, window.cwnd + memory.change * windows.min(1.0));
            window.ssthresh = window.ssthresh.min(window.cwnd).max(SLOW);
            window.discard_undo();
        }
    }

    /// `§4.1`: by the gain, to the threshold and no further.
    fn slow_start(_: &Params, memory: &mut Memory, window: &Window, _: Time, units: f64) -> f64 {
        if memory.stage.is_down() { 0.0 } else { (memory.gain * units).min(window.ssthresh - window.cwnd) }
    }

    /// `§4.2`.
    fn increase(_: &Params, memory: &mut Memory, window: &Window, _: Time, units: f64) -> f64 {
        memory.change.max(0.0) * (units / window.cwnd).min(1.0)
    }

    /// Reno's response, also to the window a slowdown will return to: what is lost while
    /// the window is down was sent before.
    fn decrease(_: &Params, memory: &mut Memory, window: &Window, _: &Event) -> Reduction {
        if memory.stage.is_down() {
            return Reduction { cwnd: window.cwnd, ssthresh: 0.5 * window.ssthresh };
        }
        Reduction::to(0.5, window.cwnd)
    }

    fn timeout(_: &Params, memory: &mut Memory, _: &Window, _: &Event) -> f64 {
        memory.stage = Stage::First;
        0.5
    }

    fn restarted(_: &Params, memory: &mut Memory, _: &Window) {
        memory.stage = Stage::First;
    }

    fn inspect(params: &Params, memory: &Memory, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(queued) = memory.delay.get(params.current_filter, params.base_history) {
            visit("queueing_delay_ms", queued as f64 / 1e6);
        }
        if let Some(base) = memory.delay.base(params.base_history) {
            visit("base_rtt_ms", base as f64 / 1e6);
        }
        visit("gain", memory.gain);
        memory.stage.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
