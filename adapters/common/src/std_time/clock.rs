//! Instants as times.

use std::time::{Duration, Instant};

use windlass_controllers::{Span, Time};

/// Turns a stack's instants into times since an origin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    origin: Instant,
    /// The instant translated last, and what it came to. Packets leave and frames arrive in
    /// bursts of one instant, and the standard library subtracts instants in a function that is
    /// never inlined.
    latest: (Instant, Time),
}

impl Clock {
    /// A clock that was read `now`, and counts from `origin`.
    #[must_use]
    pub fn new(origin: Instant, now: Instant) -> Clock {
        let mut clock = Clock { origin, latest: (origin, Time::ZERO) };
        clock.read(now);
        clock
    }

    /// The origin of its times, which is time zero.
    #[must_use]
    pub fn origin(&self) -> (Instant, Time) {
        (self.origin, Time::ZERO)
    }

    /// The time read last.
    #[must_use]
    #[inline]
    pub fn latest(&self) -> Time {
        self.latest.1
    }

    /// `now` as a time; zero if it is earlier than the origin.
    #[inline]
    pub fn read(&mut self, now: Instant) -> Time {
        if now != self.latest.0 {
            self.latest = (now, self.time(now));
        }
        self.latest.1
    }

    /// The time `ago` before the one read last; zero if that is earlier than the origin.
    #[must_use]
    #[inline]
    pub fn before_latest(&self, ago: Span) -> Time {
        Time(self.latest.1.0.saturating_sub(ago.0))
    }

    /// `instant` as a time; zero if it is earlier than the origin.
    #[must_use]
    #[inline]
    pub fn time(&self, instant: Instant) -> Time {
        Time(span(instant.saturating_duration_since(self.origin)).0)
    }
}

/// A duration as a span: without the 128-bit numbers of `Duration::as_nanos`.
#[must_use]
#[inline]
pub fn span(duration: Duration) -> Span {
    const NANOS: u64 = 1_000_000_000;
    // One comparison instead of two sums that saturate.
    if duration.as_secs() >= u64::MAX / NANOS {
        endless()
    } else {
        Span(duration.as_secs() * NANOS + u64::from(duration.subsec_nanos()))
    }
}

/// The longest span there is, some 584 years.
#[cold]
fn endless() -> Span {
    Span(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_count_from_the_origin() {
        let origin = Instant::now();
        let mut clock = Clock::new(origin, origin + Duration::from_nanos(5));
        assert_eq!(clock.latest(), Time(5));
        assert_eq!(clock.read(origin + Duration::new(2, 7)), Time(2_000_000_007));
        assert_eq!(clock.time(origin + Duration::from_nanos(9)), Time(9));
    }

    #[test]
    fn no_time_is_before_the_origin() {
        let origin = Instant::now() + Duration::from_secs(1);
        let mut clock = Clock::new(origin, origin - Duration::from_millis(1));
        assert_eq!(clock.latest(), Time(0));
        assert_eq!(clock.read(origin + Duration::from_nanos(8)), Time(8));
        assert_eq!(clock.read(origin + Duration::from_nanos(3)), Time(3));
        assert_eq!(clock.time(origin - Duration::from_millis(2)), Time(0));
        assert_eq!(clock.before_latest(Span(1)), Time(2));
        assert_eq!(clock.before_latest(Span(4)), Time(0));
    }

    #[test]
    fn the_longest_duration_is_a_span() {
        assert_eq!(span(Duration::MAX), Span(u64::MAX));
    }
}
