//! Applications of flows at work, on the simulator's ends as on those of a real stack: the
//! sender's, what it has written, and when it writes next; groups of frames; a player.

mod groups;
mod player;

use std::collections::VecDeque;

use crate::scenario::Writes;

use windlass_controllers::Span;

pub use groups::Groups;
pub use player::Player;

/// An application that writes now and again.
#[derive(Clone, Debug)]
pub struct Source {
    writes: Writes,
    count: u64,
    total: u64,
    /// Estimates of the send rate, bit/s, and when they were made after the first write. The first is the one in use once
    /// it is old enough. Only of an encoder that follows them.
    estimates: VecDeque<(Span, f64)>,
}

impl Source {
    /// One that has not written yet.
    #[must_use]
    pub fn new(writes: Writes) -> Source {
        Source { writes, count: 0, total: 0, estimates: VecDeque::new() }
    }

    /// Writes once, at its [time](Self::next), while the [send rate](windlass_adapter::SendRate) is estimated at `estimate`
    /// bit/s. Returns all bytes it has written.
    pub fn write(&mut self, estimate: Option<u64>) -> u64 {
        let number = self.count;
        self.total = match self.rate(estimate) {
            Some(rate) => self.total.saturating_add(self.writes.encoded(number, rate)),
            None => self.writes.total(number + 1),
        };
        self.count += 1;
        self.total
    }

    /// Writes all that is due so long after the first write, where it does not matter when each came.
    pub fn write_until(&mut self, since: Span) {
        self.count = self.writes.count(since);
        self.total = self.writes.total(self.count);
    }

    /// Whether it writes frames, of which each has a time of its own.
    #[must_use]
    pub fn has_frames(&self) -> bool {
        self.writes.frames.is_some()
    }

    /// The rate of an encoder that follows estimates, bit/s.
    fn rate(&mut self, estimate: Option<u64>) -> Option<f64> {
        let encoder = self.writes.frames?.encoder?;
        let now = self.next();
        self.estimates.extend(estimate.map(|rate| (now, rate as f64)));
        let is_old = |(at, _): &(Span, f64)| now.0 >= at.0 + encoder.lag.0;
        while self.estimates.get(1).is_some_and(is_old) {
            self.estimates.pop_front();
        }
        let most = self.writes.bits_per_s();
        let known = self.estimates.front().filter(|estimate| is_old(estimate));
        Some(known.map_or(0.0, |(_, rate)| encoder.share * rate).clamp(encoder.least * most, most))
    }

    /// When it writes next, after the first write.
    #[must_use]
    pub fn next(&self) -> Span {
        self.writes.at(self.count)
    }

    /// How long after the latest write it writes next.
    #[must_use]
    pub fn pause(&self) -> Span {
        self.next() - self.writes.at(self.count.saturating_sub(1))
    }

    /// Bytes it has written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether it follows estimates.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.writes.frames.is_some_and(|frames| frames.encoder.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Encoder, Frames};

    #[test]
    fn an_encoder_follows_what_was_estimated_a_while_ago() {
        let encoder = Encoder { least: 0.25, share: 0.5, lag: Span::from_millis(200) };
        let frames = Frames {
            key_every: 1,
            key_factor: 1.0,
            late: Span::from_millis(150),
            encoder: Some(encoder),
            objects: None,
        };
        // 10 frames a second, at 800 kbit/s at most.
        let mut source = Source::new(Writes { frames: Some(frames), ..Writes::every(0.8, Span::from_millis(100)) });
        let mut before = 0;
        let mut write = |estimate| {
            let total = source.write(estimate);
            total - std::mem::replace(&mut before, total)
        };
        // 100 ms of 200, 400 and 800 kbit/s.
        let sizes = [None, Some(800_000), Some(9_000_000), None, None, Some(100_000), None, None].map(&mut write);
        assert_eq!(sizes, [2500, 2500, 2500, 5000, 10_000, 10_000, 10_000, 2500]);
        assert_eq!(source.next(), Span::from_millis(800));
    }

    #[test]
    fn key_frames_weigh_more_at_any_rate() {
        let encoder = Encoder { least: 0.5, share: 1.0, lag: Span::ZERO };
        let frames = Frames {
            key_every: 4,
            key_factor: 5.0,
            late: Span::from_millis(150),
            encoder: Some(encoder),
            objects: None,
        };
        let mut source = Source::new(Writes { frames: Some(frames), ..Writes::every(1.6, Span::from_millis(100)) });
        let totals: Vec<u64> = (0..5).map(|_| source.write(Some(800_000))).collect();
        // Four frames of 10 kB on average: one of 25 kB, three of a fifth of that.
        assert_eq!(totals, [25_000, 30_000, 35_000, 40_000, 65_000]);
    }
}
