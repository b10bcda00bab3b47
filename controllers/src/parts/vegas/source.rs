//! Where the delays of a round come from: the first of the three choices.

use core::fmt::Debug;

use super::{Common, Delays, Mean};
use crate::event::PacketsAcked;
use crate::parts::base_delay::{BaseDelay, Sample};
use crate::{Signals, Span, Time};

/// What one ACK frame measured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The time at which the frame arrived.
    pub now: Time,
    /// Its RTT sample, less the receiver's ACK delay.
    pub rtt: Option<Span>,
    /// What it acknowledged; `None` for an RTT sample alone.
    pub acked: Option<&'a PacketsAcked>,
    /// Whether it measured the flow's present window, so that it belongs to the round's
    /// mean, or only of the path.
    pub counts: bool,
}

impl Frame<'_> {
    /// `rtt`, the frame's, as a sample of the path's delay.
    #[must_use]
    #[inline]
    pub(crate) fn sample(&self, rtt: Span) -> Sample {
        let sent_at = self.acked.map_or(Time(self.now.0.saturating_sub(rtt.0)), |acked| acked.newest_sent_at);
        Sample { now: self.now, sent_at, ns: signed(rtt), rtt }
    }
}

/// Measures the path, under parameters `P`.
pub trait Source<P>: Debug + Send + Sync + 'static {
    /// Signals it cannot work without.
    const NEEDS: Signals;
    /// The source's own state of one flow.
    type Memory: Copy + PartialEq + Debug + Default + Send + Sync + 'static;

    /// An ACK frame arrived. Called after the round decision the frame may have set off:
    /// its samples belong to the next round (`spec: chan §1.4 T2`). Returns whether the path has
    /// turned out to be longer.
    fn on_event(params: &P, memory: &mut Self::Memory, frame: &Frame<'_>) -> bool;

    /// A round is over: the delays it measured, `None` without valid samples. The next one
    /// starts without any.
    fn round(params: &P, memory: &mut Self::Memory) -> Option<Delays>;

    /// How many packets of the round in progress were late.
    fn late(memory: &Self::Memory) -> f64 {
        let _ = memory;
        0.0
    }

    /// The delay of the empty path, where the source follows a path that becomes longer.
    #[inline]
    fn base(memory: &Self::Memory) -> Option<&BaseDelay> {
        let _ = memory;
        None
    }

    /// Drops the samples of the round in progress.
    fn clear(memory: &mut Self::Memory);

    /// See [`Controller::inspect`](crate::Controller::inspect).
    fn inspect(memory: &Self::Memory, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = (memory, visit);
    }
}

/// A span as a signed number of nanoseconds.
#[must_use]
pub(crate) fn signed(span: Span) -> i64 {
    i64::try_from(span.0).unwrap_or(i64::MAX)
}

/// Round-trip times, nothing else: BaseRTT is the least ever measured
/// (`spec: chan §3.3`), or within `base_window`.
#[derive(Debug)]
pub struct RoundTrip;

/// State of [`RoundTrip`]: the smallest RTT and the mean of the round's.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct RoundTripMemory {
    base: BaseDelay,
    mean: Mean,
}

impl RoundTripMemory {
    /// BaseRTT; `None` before the first sample.
    #[must_use]
    pub fn base(&self) -> Option<Span> {
        self.base.get().map(|ns| Span(ns.unsigned_abs()))
    }
}

impl<P: AsRef<Common>> Source<P> for RoundTrip {
    const NEEDS: Signals = Signals::RTT;
    type Memory = RoundTripMemory;

    /// `spec: chan §3.6 I2, E4, E5`. The document never raises BaseRTT, however little is in
    /// flight (`§3.8`, `§13 A10`).
    #[inline]
    fn on_event(params: &P, memory: &mut RoundTripMemory, frame: &Frame<'_>) -> bool {
        let Some(rtt) = frame.rtt else { return false };
        if frame.counts {
            memory.mean.add(signed(rtt));
        }
        memory.base.sample(&params.as_ref().path, frame.sample(rtt))
    }

    fn round(_: &P, memory: &mut RoundTripMemory) -> Option<Delays> {
        let mean = core::mem::take(&mut memory.mean);
        Some(Delays::new(memory.base.get()? as f64, mean.get()?))
    }

    #[inline]
    fn base(memory: &RoundTripMemory) -> Option<&BaseDelay> {
        Some(&memory.base)
    }

    fn clear(memory: &mut RoundTripMemory) {
        memory.mean = Mean::default();
    }
}

#[cfg(test)]
mod tests {
    //! `spec: chan §1.3` (RTT of a round), `§3.6 E4, E5`, `§3.8`.

    use super::*;
    use crate::schemes::vegas::Params;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn frame(ms: u64, counts: bool) -> Frame<'static> {
        Frame { now: Time(0), rtt: Some(MS(ms)), acked: None, counts }
    }

    fn round(memory: &mut RoundTripMemory) -> Option<(f64, f64)> {
        RoundTrip::round(&Params::default(), memory).map(|delays| (delays.base / 1e6, delays.rtt / 1e6))
    }

    #[test]
    fn a_round_is_the_mean_of_its_samples_over_the_least_ever() {
        let mut memory = RoundTripMemory::default();
        assert_eq!(round(&mut memory), None);
        for ms in [100, 130, 160] {
            RoundTrip::on_event(&Params::default(), &mut memory, &frame(ms, true));
        }
        assert_eq!(round(&mut memory), Some((100.0, 130.0)));
        assert_eq!(round(&mut memory), None, "no samples left");
        RoundTrip::on_event(&Params::default(), &mut memory, &frame(200, true));
        assert_eq!(round(&mut memory), Some((100.0, 200.0)), "the base is never raised");
    }

    #[test]
    fn a_sample_that_does_not_count_still_tells_of_the_path() {
        let mut memory = RoundTripMemory::default();
        RoundTrip::on_event(&Params::default(), &mut memory, &frame(120, true));
        RoundTrip::on_event(&Params::default(), &mut memory, &frame(90, false));
        assert_eq!(round(&mut memory), Some((90.0, 120.0)));
    }

    #[test]
    fn dropped_samples_leave_the_base() {
        let mut memory = RoundTripMemory::default();
        RoundTrip::on_event(&Params::default(), &mut memory, &frame(100, true));
        <RoundTrip as Source<Params>>::clear(&mut memory);
        assert_eq!(round(&mut memory), None);
        RoundTrip::on_event(&Params::default(), &mut memory, &frame(150, true));
        assert_eq!(round(&mut memory), Some((100.0, 150.0)));
    }
}
