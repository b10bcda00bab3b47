//! Delays of the frames of a video.

use windlass_controllers::{Span, Time};

use super::Histogram;
use crate::outcome::FrameOutcome;
use crate::scenario::{Frames, Writes};

/// Measures each frame from when the application writes it until the receiver has its last byte and all before it.
#[derive(Clone, Debug)]
pub struct FrameMeter {
    writes: Writes,
    frames: Frames,
    /// When the first was written.
    began: Option<Time>,
    /// Frames the receiver has.
    delivered: u64,
    delays: Histogram,
    late: u64,
}

impl FrameMeter {
    /// The meter of an application that `writes` frames; `None` if it writes none.
    #[must_use]
    pub fn new(writes: Option<Writes>) -> Option<FrameMeter> {
        let writes = writes?;
        let frames = writes.frames?;
        Some(FrameMeter { writes, frames, began: None, delivered: 0, delays: Histogram::new(), late: 0 })
    }

    /// The application writes at `now`; the first time it begins.
    pub fn wrote(&mut self, now: Time) {
        self.began.get_or_insert(now);
    }

    /// The receiver has the first so many bytes at `now`.
    pub fn received(&mut self, now: Time, in_order: u64) {
        let Some(began) = self.began else { return };
        let since = now.since(began);
        while self.writes.total(self.delivered + 1) <= in_order {
            let delay = Span(since.0.saturating_sub(self.writes.at(self.delivered).0));
            self.delays.add(delay.0);
            self.late += u64::from(delay > self.frames.late);
            self.delivered += 1;
        }
    }

    /// What came of the frames that were written until `end`. One that did not arrive is late once it is as old.
    #[must_use]
    pub fn outcome(&self, end: Time) -> FrameOutcome {
        let Some(began) = self.began else { return FrameOutcome::default() };
        let since = end.since(began);
        let written = self.writes.count(since);
        let old = since.0.checked_sub(self.frames.late.0 + 1).map_or(0, |until| self.writes.count(Span(until)));
        let ms = |share| self.delays.quantile(share).map(|ns| ns / 1e6);
        FrameOutcome {
            written,
            delivered: self.delivered,
            late: self.late + old.saturating_sub(self.delivered),
            delay_median_ms: ms(0.5),
            delay_p95_ms: ms(0.95),
            delay_p99_ms: ms(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_late_when_it_came_late_or_did_not_come_in_time() {
        // 10 frames a second of 1000 bytes.
        let frames = Frames { key_every: 1, key_factor: 1.0, late: Span::from_millis(150) };
        let writes = Writes { frames: Some(frames), ..Writes::new(1000.0, Span::from_millis(100)) };
        let mut meter = FrameMeter::new(Some(writes)).unwrap();
        let at = |ms: u64| Time::from_micros(1000 * (7000 + ms));
        meter.wrote(at(0));
        meter.wrote(at(100));
        meter.received(at(20), 999);
        meter.received(at(30), 1500);
        // The second has taken 160 ms, the third 60.
        meter.received(at(260), 3000);
        let outcome = meter.outcome(at(470));
        // The fourth is 170 ms old, the fifth 70.
        assert_eq!((outcome.written, outcome.delivered, outcome.late), (5, 3, 2));
        assert!((outcome.delay_median_ms.unwrap() - 60.0).abs() < 0.6);
        assert!((outcome.delay_p99_ms.unwrap() - 160.0).abs() < 1.3);
        assert!(FrameMeter::new(Some(Writes::new(1.0, Span(1)))).is_none() && FrameMeter::new(None).is_none());
    }
}
