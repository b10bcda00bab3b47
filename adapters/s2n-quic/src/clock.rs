//! s2n-quic's timestamps as times.

use std::time::Duration;

use s2n_quic::provider::congestion_controller::Timestamp;
use windlass_controllers::{Span, Time};

/// A clock that counts as s2n-quic's does, from the same origin, so that times of all
/// connections of an endpoint, and those of its events, compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// The first microsecond a timestamp can represent.
    first: Timestamp,
    /// The latest timestamp translated, with its time: most calls repeat it.
    latest: (Timestamp, Time),
}

impl Clock {
    /// The clock `timestamp` was read from.
    pub(crate) fn of(timestamp: Timestamp) -> Clock {
        // What lies before a timestamp shows only where it refuses to go further back than
        // its origin.
        let back = |micros| timestamp.checked_sub(Duration::from_micros(micros));
        let mut past = 0;
        for bit in (0..u64::BITS).rev() {
            let further = past | 1 << bit;
            if back(further).is_some() {
                past = further;
            }
        }
        // Without any time before it, it is one microsecond after the origin.
        let first = back(past).unwrap_or(timestamp);
        Clock { first, latest: (timestamp, Time::from_micros(past)) }
    }

    /// Time of the latest reading.
    #[inline]
    pub(crate) fn latest(&self) -> Time {
        self.latest.1
    }

    /// Whether `timestamp` is later than any read before.
    #[inline]
    pub(crate) fn is_past(&self, timestamp: Timestamp) -> bool {
        timestamp > self.latest.0
    }

    /// `timestamp` as a time, never before one returned earlier.
    #[inline]
    pub(crate) fn read(&mut self, timestamp: Timestamp) -> Time {
        if self.is_past(timestamp) {
            self.latest = (timestamp, self.latest.1 + short(timestamp - self.latest.0));
        }
        self.latest.1
    }

    /// The first timestamp not before `time`.
    #[inline]
    pub(crate) fn timestamp(&self, time: Time) -> Timestamp {
        self.first + Duration::from_micros(time.0.div_ceil(1000).saturating_sub(1))
    }
}

#[inline]
pub(crate) fn span(duration: Duration) -> Span {
    Span(duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos())))
}

/// `duration` as a span, where it is no longer than 584 years, as RTTs are: a few instructions
/// instead of many.
#[inline]
pub(crate) fn short(duration: Duration) -> Span {
    Span(duration.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use s2n_quic_core::time::{Clock as _, clock::NoopClock};

    use super::*;

    fn timestamp(micros: u64) -> Timestamp {
        NoopClock.get_time() + Duration::from_micros(micros - 1)
    }

    #[test]
    fn times_count_from_the_origin_of_the_stacks_clock() {
        for micros in [1, 2, 3, 999, 1_000_000, 86_400_000_000 * 365 * 50] {
            let mut clock = Clock::of(timestamp(micros));
            assert_eq!(clock.latest(), Time::from_micros(micros));
            assert_eq!(clock.read(timestamp(micros + 7)), Time::from_micros(micros + 7));
            assert_eq!(clock.timestamp(Time::from_micros(micros)), timestamp(micros));
        }
    }

    #[test]
    fn time_never_goes_back() {
        let mut clock = Clock::of(timestamp(1000));
        assert_eq!(clock.read(timestamp(2000)), Time::from_micros(2000));
        assert!(!clock.is_past(timestamp(1500)));
        assert_eq!(clock.read(timestamp(1500)), Time::from_micros(2000));
    }

    #[test]
    fn a_time_between_two_timestamps_becomes_the_later() {
        let clock = Clock::of(timestamp(1000));
        assert_eq!(clock.timestamp(Time(5_000_001)), timestamp(5001));
        assert_eq!(clock.timestamp(Time(5_000_000)), timestamp(5000));
        assert_eq!(clock.timestamp(Time::ZERO), timestamp(1));
    }

    #[test]
    fn differences_add_up_to_the_time_since_the_origin() {
        let mut clock = Clock::of(timestamp(1000));
        for micros in [1001, 999_999_999, 1 << 50] {
            assert_eq!(clock.read(timestamp(micros)), Time::from_micros(micros));
        }
    }
}
