//! Delays of the frames of a video.

use std::collections::VecDeque;

use windlass_controllers::{Span, Time};

use super::Histogram;
use crate::outcome::FrameOutcome;
use crate::scenario::{Frames, Writes};

/// Measures each frame from when the application writes it until the receiver has its last byte and all before it.
#[derive(Clone, Debug)]
pub struct FrameMeter {
    frames: Frames,
    /// Frames the receiver does not have, oldest first: when each was written, and where in the data it ends.
    missing: VecDeque<(Time, u64)>,
    /// When the first was written.
    began: Option<Time>,
    written: u64,
    bytes: u64,
    delays: Histogram,
    late: u64,
}

impl FrameMeter {
    /// The meter of an application that `writes` frames; `None` if it writes none.
    #[must_use]
    pub fn new(writes: Option<Writes>) -> Option<FrameMeter> {
        let frames = writes?.frames?;
        let (missing, delays) = (VecDeque::new(), Histogram::new());
        Some(FrameMeter { frames, missing, began: None, written: 0, bytes: 0, delays, late: 0 })
    }

    /// The application has written a frame at `now`, and so many bytes in all.
    pub fn wrote(&mut self, now: Time, bytes: u64) {
        self.began.get_or_insert(now);
        self.missing.push_back((now, bytes));
        self.written += 1;
        self.bytes = bytes;
    }

    /// The receiver has the first so many bytes at `now`.
    pub fn received(&mut self, now: Time, in_order: u64) {
        while let Some((written, _)) = self.missing.front().copied().filter(|(_, end)| *end <= in_order) {
            self.missing.pop_front();
            let delay = now.since(written);
            self.delays.add(delay.0);
            self.late += u64::from(delay > self.frames.late);
        }
    }

    /// What came of the frames that were written until `end`. One that did not arrive is late once it is as old.
    #[must_use]
    pub fn outcome(&self, end: Time) -> FrameOutcome {
        let Some(began) = self.began else { return FrameOutcome::default() };
        let old = self.missing.iter().filter(|(written, _)| end.since(*written) > self.frames.late).count() as u64;
        let ms = |share| self.delays.quantile(share).map(|ns| ns / 1e6);
        let time = end.since(began);
        FrameOutcome {
            written: self.written,
            delivered: self.written - self.missing.len() as u64,
            late: self.late + old,
            delay_median_ms: ms(0.5),
            delay_p95_ms: ms(0.95),
            delay_p99_ms: ms(0.99),
            encoded_mbps: self
                .frames
                .encoder
                .filter(|_| time > Span::ZERO)
                .map(|_| self.bytes as f64 * 8e3 / time.0 as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_late_when_it_came_late_or_did_not_come_in_time() {
        // 10 frames a second of 1000 bytes.
        let frames = Frames { key_every: 1, key_factor: 1.0, late: Span::from_millis(150), encoder: None };
        let writes = Writes { frames: Some(frames), ..Writes::new(1000.0, Span::from_millis(100)) };
        let mut meter = FrameMeter::new(Some(writes)).unwrap();
        let at = |ms: u64| Time::from_micros(1000 * (7000 + ms));
        meter.wrote(at(0), 1000);
        meter.received(at(20), 999);
        meter.received(at(30), 1500);
        meter.wrote(at(100), 2000);
        meter.wrote(at(200), 3000);
        // The second has taken 160 ms, the third 60.
        meter.received(at(260), 3000);
        meter.wrote(at(300), 4000);
        meter.wrote(at(400), 5000);
        let outcome = meter.outcome(at(470));
        // The fourth is 170 ms old, the fifth 70.
        assert_eq!((outcome.written, outcome.delivered, outcome.late), (5, 3, 2));
        assert!((outcome.delay_median_ms.unwrap() - 60.0).abs() < 0.6);
        assert!((outcome.delay_p99_ms.unwrap() - 160.0).abs() < 1.3);
        assert_eq!(outcome.encoded_mbps, None, "its rate is what the scenario says");
        assert!(FrameMeter::new(Some(Writes::new(1.0, Span(1)))).is_none() && FrameMeter::new(None).is_none());
    }
}
