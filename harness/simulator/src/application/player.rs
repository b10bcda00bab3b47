//! The receiver's application of a video in chunks: what it asks for, what it has to play, when it has to wait.

use windlass_controllers::{Span, Time};

use crate::outcome::VideoOutcome;
use crate::scenario::Video;

/// A player chooses by the harmonic mean of the throughputs of so many chunks (Yin et al., SIGCOMM 2015, §5.1).
const SAMPLES: usize = 5;
/// The share of that which a chunk's rate may have (dash.js' throughput rule).
const SAFE: f64 = 0.9;

/// A client that asks for one chunk after the other.
///
/// It begins with the lowest rate; then it takes the highest one that is safe by the throughput of the latest chunks. It plays as soon
/// as it has a chunk, and asks for the next when there is room for it in the buffer.
#[derive(Clone, Debug)]
pub struct Player {
    video: Video,
    began: Option<Time>,
    /// When it asked for the chunk that is under way, and its rate; `None` between two.
    asked: Option<(Time, usize)>,
    /// The rate of the chunk before.
    rate: usize,
    /// Where the chunk that is under way, or the latest, ends in the data, bytes.
    end: u64,
    /// Throughputs of the latest chunks, bit/s, newest last.
    throughputs: Vec<f64>,
    chunks: u64,
    /// Sum of the chunks' rates, bit/s.
    rates: f64,
    switches: u64,
    /// How long until the first chunk was there.
    startup: Option<Span>,
    /// When it has played everything it has, or had.
    played_out: Time,
    stalls: u64,
    stalled: Span,
}

impl Player {
    /// One that has not asked yet.
    #[must_use]
    pub fn new(video: Video) -> Player {
        Player {
            video,
            began: None,
            asked: None,
            rate: 0,
            end: 0,
            throughputs: Vec::new(),
            chunks: 0,
            rates: 0.0,
            switches: 0,
            startup: None,
            played_out: Time::ZERO,
            stalls: 0,
            stalled: Span::ZERO,
        }
    }

    /// When it asks for its next chunk; `None` before the first and while one is under way.
    #[must_use]
    pub fn next(&self) -> Option<Time> {
        let (Some(_), None) = (self.began, self.asked) else { return None };
        // With the next one it is to have no more than the buffer holds.
        let room = (self.played_out + self.video.chunk).0.saturating_sub(self.video.buffer.0);
        Some(Time(room))
    }

    /// Whether it asks for a chunk at `now`.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        self.began.is_none() || self.next().is_some_and(|next| next <= now)
    }

    /// Asks for a chunk at `now`, the first time to begin. Returns its bytes.
    pub fn ask(&mut self, now: Time) -> u64 {
        self.began.get_or_insert(now);
        let rate = self.choose();
        self.switches += u64::from(self.chunks > 0 && rate != self.rate);
        self.rate = rate;
        self.asked = Some((now, rate));
        let bytes = self.video.bytes(rate);
        self.end += bytes;
        bytes
    }

    /// The highest safe rate.
    fn choose(&self) -> usize {
        if self.throughputs.is_empty() {
            return 0;
        }
        let slowness: f64 = self.throughputs.iter().map(|rate| 1.0 / rate).sum();
        let safe = SAFE * self.throughputs.len() as f64 / slowness;
        self.video.rates.iter().rposition(|rate| *rate <= safe).unwrap_or(0)
    }

    /// It has the first so many bytes of all chunks at `now`.
    pub fn received(&mut self, now: Time, in_order: u64) {
        let Some((asked, rate)) = self.asked.filter(|_| in_order >= self.end) else { return };
        self.asked = None;
        if self.throughputs.len() == SAMPLES {
            self.throughputs.remove(0);
        }
        self.throughputs.push(self.video.bytes(rate) as f64 * 8e9 / now.since(asked).0.max(1) as f64);
        self.chunks += 1;
        self.rates += self.video.rates[rate];
        if self.startup.is_none() {
            self.startup = self.began.map(|began| now.since(began));
        } else if now > self.played_out {
            self.stalls += 1;
            self.stalled = self.stalled + now.since(self.played_out);
        }
        self.played_out = self.played_out.max(now) + self.video.chunk;
    }

    /// What its user saw until `end`.
    #[must_use]
    pub fn outcome(&self, end: Time) -> VideoOutcome {
        let waits = self.startup.is_some() && end > self.played_out;
        let waited = if waits { end.since(self.played_out) } else { Span::ZERO };
        VideoOutcome {
            chunks: self.chunks,
            startup_s: self.startup.map(Span::secs),
            stalls: self.stalls + u64::from(waits),
            stalled_s: (self.stalled + waited).secs(),
            switches: self.switches,
            rate_mbps: (self.chunks > 0).then(|| self.rates / self.chunks as f64 / 1e6),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span::from_millis(1000);

    /// A player of chunks of 2 s with 0.8, 2.4 and 8 Mbit/s, and 5 s of buffer.
    fn player() -> Player {
        Player::new(Video {
            chunk: Span::from_millis(2000),
            rates: vec![0.8e6, 2.4e6, 8e6],
            buffer: Span::from_millis(5000),
        })
    }

    fn at(ms: u64) -> Time {
        Time::from_micros(1000 * (50_000 + ms))
    }

    #[test]
    fn it_takes_what_the_latest_chunks_allow_and_waits_for_room() {
        let mut player = player();
        assert_eq!(player.next(), None);
        assert_eq!(player.ask(at(0)), 200_000);
        player.received(at(300), 199_999);
        assert_eq!(player.next(), None, "under way");
        // 1.6 Mbit in 0.5 s, and 0.9 of it is between 2.4 and 8 Mbit/s.
        player.received(at(500), 200_000);
        assert!(player.next().is_some_and(|next| next <= at(500)));
        assert_eq!(player.ask(at(500)), 600_000);
        // 4.8 Mbit/s; it has 2.5 s to play.
        player.received(at(1500), 800_000);
        // With the next it has 6 of 5 s at 0.5 + 4 - 3.
        assert_eq!(player.next(), Some(at(1500)));
        player.ask(at(1500));
        player.received(at(1600), 1_400_000);
        assert_eq!(player.next(), Some(at(3500)));
        let outcome = player.outcome(at(3500));
        assert_eq!((outcome.chunks, outcome.startup_s, outcome.stalls, outcome.stalled_s), (3, Some(0.5), 0, 0.0));
        assert_eq!(outcome.switches, 1);
        assert!(outcome.rate_mbps.is_some_and(|rate| (rate - (0.8 + 2.4 + 2.4) / 3.0).abs() < 1e-9), "{outcome:?}");
    }

    #[test]
    fn it_stalls_where_a_chunk_comes_too_late() {
        let mut player = player();
        player.ask(at(0));
        player.received(at(1000), 200_000);
        // It plays until 3 s.
        let bytes = player.ask(at(1000));
        player.received(at(4500), 200_000 + bytes);
        let outcome = player.outcome(at(4500));
        assert_eq!((outcome.stalls, outcome.stalled_s), (1, 1.5));
        player.ask(at(4500));
        // It plays until 6.5 s; what is missing then is missed until the end.
        let outcome = player.outcome(at(7000));
        assert_eq!((outcome.stalls, outcome.stalled_s), (2, 2.0));
    }

    #[test]
    fn one_slow_chunk_brings_the_rate_down() {
        let mut player = player();
        let mut end = player.ask(at(0));
        let mut now = 0;
        // Five chunks at 20 Mbit/s.
        for _ in 0..5 {
            now += 1;
            player.received(at(now), end);
            end += player.ask(at(now));
        }
        assert_eq!(player.rate, 2);
        player.received(at(now) + SECOND + SECOND + SECOND + SECOND, end);
        // 4 Mbit/s once weigh more than much more four times: 20 Mbit/s in the mean.
        player.ask(at(now) + SECOND);
        assert_eq!(player.rate, 2);
        player.throughputs = vec![4e6, 40e6, 40e6, 40e6, 40e6];
        assert_eq!(player.choose(), 2, "14 Mbit/s");
        player.throughputs = vec![4e6, 40e6, 4e6, 4e6, 40e6];
        assert_eq!(player.choose(), 1, "6.25 Mbit/s, where the mean is 18");
    }
}
