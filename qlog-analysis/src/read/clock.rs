//! The clock of a connection's events, which may be set while they are written.

use crate::model::ClockFaults;

/// A step back by so much is one of the clock, ns; events of several threads are in disorder by less.
const STEP: i64 = 1_000_000_000;

/// So long without an event raises a doubt, ns: the clock may have been set forward. Idle connections end sooner
/// (`RFC 9000 §10.1`; stacks offer seconds to a few minutes).
const WAIT: i64 = 600_000_000_000;

/// After so many events a step back is one of the clock, and not that of a few late events.
const LATE_EVENTS: u32 = 64;

/// Times of one connection, bridged over steps of its clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// The latest time so far, bridged, ns.
    latest: Option<i64>,
    /// Added to written times, ns.
    offset: i64,
    /// The longest wait between two events, ns.
    longest: i64,
    /// The latest step: the time before it as written, its size, and the events since.
    step: Option<(i64, i64, u32)>,
    faults: ClockFaults,
}

impl Clock {
    /// The time of the next event, which was written as `written`, ns.
    #[inline]
    pub(crate) fn bridge(&mut self, written: i64) -> i64 {
        self.faults.events += 1;
        // Nearly all events come after the one before, of a clock that was never set.
        match self.latest {
            Some(latest) if self.is_plain() && written >= latest && written.saturating_sub(latest) < WAIT => {
                self.longest = self.longest.max(written - latest);
                self.latest = Some(written);
                written
            }
            _ => self.bridge_step(written),
        }
    }

    fn is_plain(&self) -> bool {
        self.offset == 0 && self.step.is_none()
    }

    fn bridge_step(&mut self, written: i64) -> i64 {
        let Some(latest) = self.latest else {
            self.latest = Some(written);
            return written;
        };
        if let Some((before, size, events)) = &mut self.step {
            *events += 1;
            if written >= *before && *events <= LATE_EVENTS {
                // The clock never stepped: the events in between came late.
                self.faults.steps -= 1;
                self.faults.late += u64::from(*events);
                self.faults.furthest = self.faults.furthest.max(*size);
                self.offset = self.offset.saturating_sub(*size);
                self.step = None;
            } else if *events > LATE_EVENTS {
                self.step = None;
            }
        }
        let mut time = written.saturating_add(self.offset);
        let back = latest.saturating_sub(time);
        if back >= STEP {
            // Clocks are set by whole seconds mostly; what is left is then the wait between the two events.
            let wait = Some((STEP - back % STEP) % STEP).filter(|wait| *wait <= self.longest).unwrap_or(0);
            let size = back.saturating_add(wait);
            self.step = Some((latest.saturating_sub(self.offset), size, 0));
            self.offset = self.offset.saturating_add(size);
            self.faults.steps += 1;
            self.faults.largest = self.faults.largest.max(size);
            time = written.saturating_add(self.offset);
        } else if back > 0 {
            self.faults.late += 1;
            self.faults.furthest = self.faults.furthest.max(back);
        } else {
            let wait = -back;
            self.longest = self.longest.max(wait);
            self.faults.wait = self.faults.wait.max(Some(wait).filter(|&wait| wait >= WAIT).unwrap_or(0));
        }
        self.latest = Some(time.max(latest));
        time
    }

    /// Faults so far.
    pub(crate) fn faults(&self) -> ClockFaults {
        self.faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn bridged(written: &[i64]) -> (Vec<i64>, ClockFaults) {
        let mut clock = Clock::default();
        (written.iter().map(|ms| clock.bridge(ms * MS) / MS).collect(), clock.faults())
    }

    #[test]
    fn a_step_back_is_bridged_and_counted() {
        let (times, faults) = bridged(&[3_600_000, 3_600_002, 4, 6, 8]);
        assert_eq!(times, [3_600_000, 3_600_002, 3_600_004, 3_600_006, 3_600_008], "an hour, the wait is kept");
        assert_eq!((faults.steps, faults.largest, faults.late), (1, 3_600_000 * MS, 0));
        let (times, _) = bridged(&[90_000, 90_010, 61_500, 61_510]);
        assert_eq!(
            times,
            [90_000, 90_010, 90_010, 90_020],
            "no whole second: the wait is not known and counts as none"
        );
    }

    #[test]
    fn a_few_late_events_are_no_step() {
        let (times, faults) = bridged(&[90_000, 90_010, 61_000, 61_001, 90_020, 90_030]);
        assert_eq!(times[4..], [90_020, 90_030]);
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!((faults.steps, faults.late > 0), (0, true));
    }

    #[test]
    fn disorder_and_long_waits_are_counted() {
        let (times, faults) = bridged(&[10, 20, 15, 25, 700_025]);
        assert_eq!(times, [10, 20, 15, 25, 700_025]);
        assert_eq!((faults.late, faults.furthest, faults.wait), (1, 5 * MS, 700_000 * MS));
    }
}
