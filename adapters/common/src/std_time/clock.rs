//! Instants as times.

use std::time::{Duration, Instant};

use windlass_controllers::{Span, Time};

use super::ticks;

/// Turns a stack's instants into times since an origin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    origin: Instant,
    /// What [`ticks`] reads of the origin, if it can be relied upon.
    ticks: Option<u64>,
    now: Time,
}

impl Clock {
    /// A clock that stands at `now`, which is so far from `origin`; an origin in the
    /// future is taken for now.
    #[must_use]
    pub fn new(origin: Instant, now: Instant) -> Clock {
        let ticks = ticks::readable(origin).then(|| ticks::read(origin));
        let start = Clock { origin, ticks, now: Time::ZERO };
        Clock { now: start.time(now), ..start }
    }

    /// The latest time heard of.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// `now` as a time that never goes back.
    #[inline]
    pub fn advance(&mut self, now: Instant) -> Time {
        self.reach(self.time(now));
        self.now
    }

    /// It is `now` or later.
    #[inline]
    pub(super) fn reach(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// `instant` as a time; the origin of time if it is earlier.
    #[must_use]
    #[inline]
    pub fn time(&self, instant: Instant) -> Time {
        self.read(instant).unwrap_or_else(|| self.subtract(instant))
    }

    /// What [`time`](Self::time) says, where instants can be read.
    #[inline]
    pub(super) fn read(&self, instant: Instant) -> Option<Time> {
        self.reader().map(|reader| reader.time(instant))
    }

    /// What reads many instants, where they can be read.
    #[must_use]
    #[inline]
    pub fn reader(&self) -> Option<Reader> {
        self.ticks.map(Reader)
    }

    /// What [`time`](Self::time) says, in any case.
    #[cold]
    pub(super) fn subtract(&self, instant: Instant) -> Time {
        Time(span(instant.saturating_duration_since(self.origin)).0)
    }
}

/// Reads instants as times since a clock's origin.
#[derive(Clone, Copy, Debug)]
pub struct Reader(u64);

impl Reader {
    /// `instant` as a time; the origin of time if it is earlier.
    #[must_use]
    #[inline]
    pub fn time(self, instant: Instant) -> Time {
        // Earlier instants come out as negative.
        Time(ticks::read(instant).wrapping_sub(self.0).cast_signed().max(0).cast_unsigned())
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
        assert_eq!(clock.now(), Time(5));
        assert_eq!(clock.advance(origin + Duration::new(2, 7)), Time(2_000_000_007));
        assert_eq!(clock.time(origin + Duration::from_nanos(9)), Time(9));
    }

    #[test]
    fn time_never_goes_back_nor_before_the_origin() {
        let origin = Instant::now() + Duration::from_secs(1);
        let mut clock = Clock::new(origin, origin - Duration::from_millis(1));
        assert_eq!(clock.now(), Time(0));
        assert_eq!(clock.advance(origin + Duration::from_nanos(8)), Time(8));
        assert_eq!(clock.advance(origin + Duration::from_nanos(3)), Time(8));
        assert_eq!(clock.time(origin - Duration::from_millis(2)), Time(0));
    }

    #[test]
    fn reading_and_subtracting_agree() {
        let origin = Instant::now();
        let clock = Clock::new(origin, origin);
        let subtracting = Clock { ticks: None, ..clock };
        for nanos in [0, 1, 999_999_999, 1_000_000_000, 1_234_567_890_123, 1 << 55] {
            let instant = origin + Duration::from_nanos(nanos);
            assert_eq!(clock.time(instant), Time(nanos));
            assert_eq!(subtracting.time(instant), Time(nanos));
        }
    }

    #[test]
    fn the_longest_duration_is_a_span() {
        assert_eq!(span(Duration::MAX), Span(u64::MAX));
    }
}
