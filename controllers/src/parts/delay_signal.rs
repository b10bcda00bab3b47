//! Where a delay-based scheme's samples come from: forward one-way delays, or round-trip
//! times for stacks that have no others.

use crate::event::{PacketsAcked, RttSample};
use crate::{Signals, Span};

/// One sample of a path's delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// Nanoseconds, up to a constant of the path.
    pub ns: i64,
    /// Samples before this one were of another kind and cannot be compared with it.
    pub anew: bool,
}

/// Picks the sample of each ACK.
///
/// Forward one-way delays are what is wanted, as queueing on the way back is none of the
/// sender's. With the fallback, round-trip times less the receiver's ACK delay stand in
/// for them (`spec: arumaithurai §1.7`) as long as no one-way delay was ever reported:
/// then those take over, and what was learnt from the others is void.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DelaySignal {
    one_way: bool,
    /// Not read yet; zero is none.
    rtt: Span,
}

impl DelaySignal {
    /// What it cannot work without.
    #[must_use]
    pub const fn needs(fallback: bool) -> Signals {
        if fallback { Signals::RTT } else { Signals::ONE_WAY_DELAY }
    }

    /// An RTT sample arrived, with its ACK or ahead of it.
    #[inline]
    pub fn on_rtt_sample(&mut self, rtt: &RttSample) {
        self.rtt = rtt.adjusted();
    }

    /// The sample of an ACK, if it has one.
    #[inline]
    pub fn read(&mut self, fallback: bool, acked: &PacketsAcked) -> Option<Delay> {
        let rtt = core::mem::take(&mut self.rtt);
        if let Some(one_way) = acked.one_way {
            let anew = !self.one_way;
            self.one_way = true;
            return Some(Delay { ns: one_way.forward, anew });
        }
        // A sample of nothing is none (spec: arumaithurai §5.0).
        let counts = fallback && !self.one_way && rtt > Span::ZERO;
        counts.then(|| Delay { ns: i64::try_from(rtt.0).unwrap_or(i64::MAX), anew: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use crate::event::OneWay;
    use crate::testkit::{acked, rtt};

    #[test]
    fn one_way_delays_take_over_for_good() {
        let mut signal = DelaySignal::default();
        let without = acked(1, Time(0));
        let with = PacketsAcked { one_way: Some(OneWay { forward: -3, backward: 5 }), ..without };
        signal.on_rtt_sample(&RttSample { min: Span(1), ack_delay: Span(4), ..rtt(Span(10)) });
        assert_eq!(signal.read(true, &without), Some(Delay { ns: 6, anew: false }));
        assert_eq!(signal.read(true, &without), None, "each sample counts once");
        signal.on_rtt_sample(&rtt(Span(10)));
        assert_eq!(signal.read(true, &with), Some(Delay { ns: -3, anew: true }));
        assert_eq!(signal.read(true, &with), Some(Delay { ns: -3, anew: false }));
        signal.on_rtt_sample(&rtt(Span(10)));
        assert_eq!(signal.read(true, &without), None);
    }

    #[test]
    fn round_trip_times_count_on_request_only() {
        let mut signal = DelaySignal::default();
        signal.on_rtt_sample(&rtt(Span(10)));
        assert_eq!(signal.read(false, &acked(1, Time(0))), None);
        signal.on_rtt_sample(&rtt(Span(0)));
        assert_eq!(signal.read(true, &acked(1, Time(0))), None, "no time at all is no sample");
        assert_eq!(DelaySignal::needs(false), Signals::ONE_WAY_DELAY);
        assert_eq!(DelaySignal::needs(true), Signals::RTT);
    }
}
