#![doc = include_str!("enhanced_vegas.md")]

use crate::parts::base_delay::BaseDelay;
use crate::parts::vegas::{
    ByOne, Common, Delays, Every, Frame, Mean, NEEDS, RoundTrip, RoundTripMemory, Scheme, Source, Thresholds,
    VegasBased,
};
use crate::parts::windowed::WindowedMin;
use crate::{Info, Signals, Span, Time, parameters};

parameters! {
    /// Parameters of [`EnhancedVegas`]: `enhanced-vegas:NAME=VALUE,…`.
    pub struct Params {
        @base Common, paper Common::paper();
        @with thresholds: Thresholds, "Between which backlogs the window rests.";
        /// How long the least one-way delays are remembered, so that a drift between the clocks does not pass for queueing; 0 is for ever.
        owd_window: f64 = 30.0, paper 0.0, in 0.0, 86_400.0, unit "s", source "spec: chan §5.4";
        /// Ticks of the receiver's clock per tick of the sender's, where known.
        rho: f64 = 1.0, in 0.9, 1.1, source "spec: chan §5.4 O6 (Eq. 4.5)";
        /// Whether it may run as plain Vegas where there are no one-way delays.
        fallback: bool = false, source "spec: chan §5.2";
    }
}

/// One-way delays: what an ACK waited on its way back is not counted, and the base is the
/// sum of the least delays of both directions.
///
/// An ACK without one-way delays counts as a plain RTT sample, and a round that had no
/// others is judged as Vegas judges it (`spec: chan §5.2, §5.5`).
#[derive(Debug)]
pub struct OneWayDelays;

/// What [`OneWayDelays`] remembers; delays in nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Memory {
    plain: RoundTripMemory,
    /// Least forward delay, the clocks' offset included (t_ab_min).
    forward: WindowedMin<6>,
    /// Least backward delay, the clocks' offset taken off (t_ba_min).
    backward: WindowedMin<6>,
    /// Mean of the round's RTTs without backward queueing.
    mean: Mean,
    /// Latest queueing of a data packet and of an ACK.
    queued: Option<(i64, i64)>,
    /// Up to when the minima have followed the drift of the clocks.
    followed: Option<Time>,
}

/// The minima follow the clocks' drift in steps of at least this, so that rounding to
/// whole nanoseconds does not add up.
const DRIFT_STEP: u64 = 1_000;

impl Memory {
    /// `spec: chan §5.4 O6`: the destination's clock went `rho` times as fast.
    fn follow_drift(&mut self, now: Time, rho: f64) {
        let elapsed = now.since(*self.followed.get_or_insert(now));
        let drift = libm::round(elapsed.0 as f64 * (rho - 1.0)) as i64;
        if drift.unsigned_abs() >= DRIFT_STEP {
            self.forward.shift(drift);
            self.backward.shift(drift.saturating_neg());
            self.followed = Some(now);
        }
    }
}

impl Source<Params> for OneWayDelays {
    const NEEDS: Signals = Signals::ONE_WAY_DELAY;
    type Memory = Memory;

    /// `spec: chan §5.4 O2, O3, O6`.
    #[inline(always)]
    fn on_event(params: &Params, memory: &mut Memory, frame: &Frame<'_>) -> bool {
        let longer = RoundTrip::on_event(params, &mut memory.plain, frame);
        let Some(delays) = frame.acked.and_then(|acked| acked.one_way) else {
            return longer && memory.forward.get().is_none();
        };
        memory.follow_drift(frame.now, params.rho);
        let window = (params.owd_window > 0.0).then(|| Span::from_secs_f64(params.owd_window));
        let forward = memory.forward.update(frame.now, window, delays.forward);
        let backward = memory.backward.update(frame.now, window, delays.backward);
        let (q_f, q_b) = (delays.forward.saturating_sub(forward), delays.backward.saturating_sub(backward));
        memory.queued = Some((q_f, q_b));
        if frame.counts {
            // RTT − q_b; their sum is the RTT without the receiver's ACK delay.
            memory.mean.add(delays.forward.saturating_add(backward));
        }
        false
    }

    /// `spec: chan §5.4 O4, O5`; the clamp of `§4.6` is in [`Delays::new`].
    fn round(params: &Params, memory: &mut Memory) -> Option<Delays> {
        let plain = RoundTrip::round(params, &mut memory.plain);
        match (core::mem::take(&mut memory.mean).get(), memory.forward.get(), memory.backward.get()) {
            (Some(rtt), Some(forward), Some(backward)) => {
                Some(Delays::new(forward.saturating_add(backward) as f64, rtt))
            }
            _ => plain,
        }
    }

    /// One-way delays have a window of their own.
    fn base(memory: &Memory) -> Option<&BaseDelay> {
        if memory.forward.get().is_some() { None } else { <RoundTrip as Source<Params>>::base(&memory.plain) }
    }

    fn clear(memory: &mut Memory) {
        <RoundTrip as Source<Params>>::clear(&mut memory.plain);
        memory.mean = Mean::default();
    }

    fn inspect(memory: &Memory, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some((q_f, q_b)) = memory.queued {
            visit("q_f_ms", q_f as f64 / 1e6);
            visit("q_b_ms", q_b as f64 / 1e6);
        }
    }
}

/// The parts Enhanced Vegas is composed of.
#[derive(Debug)]
pub struct Choices;

/// Enhanced Vegas (`spec: chan §5`).
pub type EnhancedVegas = VegasBased<Choices>;

impl Scheme for Choices {
    const INFO: Info = Info {
        name: "enhanced-vegas",
        summary: "Vegas that leaves queueing on the way back out of account, by one-way delays",
        source: "spec: chan §5",
        fallback: Some("plain Vegas, on round-trip times"),
    };
    type Params = Params;
    type Source = OneWayDelays;
    type Step = ByOne;
    type Loss = Every;

    fn needs(params: &Params) -> Signals {
        NEEDS.and(if params.fallback { Signals::RTT } else { OneWayDelays::NEEDS })
    }
}

#[cfg(test)]
mod tests;
