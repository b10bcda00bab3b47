//! Losses that were none, and losses of everything for long.

use windlass_controllers::{Span, Time};

/// Packets remembered of one loss episode; with more lost, hardly all arrive late.
const MOST: usize = 1024;

/// The packets of the latest loss episode that are still missing. An episode is what one
/// congestion response answers: losses of packets that left before its first loss was found.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Episode {
    found_at: Time,
    newest_sent_at: Time,
    missing: Vec<u64>,
    /// No number missing is below the first or above the second.
    bounds: (u64, u64),
    /// Too many to remember.
    overflown: bool,
}

impl Episode {
    /// Packet `number`, sent at `sent_at`, was found lost at `now`.
    pub(crate) fn lost(&mut self, now: Time, number: u64, sent_at: Time) {
        if sent_at > self.found_at || (self.missing.is_empty() && !self.overflown) {
            let missing = std::mem::take(&mut self.missing);
            *self = Episode { found_at: now, missing, bounds: (number, number), ..Episode::default() };
            self.missing.clear();
        }
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
        if self.missing.len() < MOST {
            self.missing.push(number);
            self.bounds = (self.bounds.0.min(number), self.bounds.1.max(number));
        } else {
            self.overflown = true;
        }
    }

    /// The episode is over if it began more than `span` before `now`, whatever is missing.
    pub(crate) fn expire(&mut self, now: Time, span: Span) {
        if now.since(self.found_at) > span {
            self.missing.clear();
            self.overflown = false;
        }
    }

    /// Packets are missing from the first of these numbers to the second.
    #[inline]
    pub(crate) fn missing(&self) -> Option<(u64, u64)> {
        (!self.missing.is_empty()).then_some(self.bounds)
    }

    /// An ACK frame `acknowledges` packets. When it leaves none of the episode missing: when
    /// the newest of them was sent.
    #[inline]
    pub(crate) fn heard(&mut self, acknowledges: &dyn Fn(u64) -> bool) -> Option<Time> {
        if self.missing.is_empty() {
            return None;
        }
        self.missing.retain(|number| !acknowledges(*number));
        (self.missing.is_empty() && !self.overflown).then_some(self.newest_sent_at)
    }
}

/// A packet lost, as persistent congestion is known by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Missing {
    /// When it left.
    pub(crate) sent_at: Time,
    /// Whether it counted as in flight: it asked for an acknowledgement.
    pub(crate) in_flight: bool,
    /// Whether a packet between it and the one before was acknowledged.
    pub(crate) apart: bool,
}

/// Whether two of the packets lost together span more than `duration` without an acknowledgement
/// between, and left after the first RTT sample was taken at `sampled` (`RFC 9002 §7.6.2`).
pub(crate) fn persistent(lost: impl IntoIterator<Item = Missing>, duration: Span, sampled: Time) -> bool {
    let mut start: Option<Time> = None;
    lost.into_iter().any(|Missing { sent_at, in_flight, apart }| {
        if apart {
            start = None;
        }
        in_flight && sent_at > sampled && sent_at.since(*start.get_or_insert(sent_at)) > duration
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn persistent_congestion_needs_an_unbroken_span() {
        let missing = |sent_at| Missing { sent_at: Time(sent_at), in_flight: true, apart: false };
        let whole = [20, 50, 90].map(missing);
        let spans =
            |lost: &[Missing], duration, sampled| persistent(lost.iter().copied(), Span(duration), Time(sampled));
        assert!(spans(&whole, 69, 0));
        assert!(!spans(&whole, 70, 0), "no longer than the duration");
        assert!(!spans(&whole, 69, 20), "the first left before there was a sample");
        assert!(spans(&whole, 39, 20), "the others are far enough apart");
        assert!(!spans(&[], 0, 0));
        for broken in 1..3 {
            let mut lost = whole;
            lost[broken].apart = true;
            assert!(!spans(&lost, 69, 0), "something arrived in between");
            // Also where the break is told with a packet that asked for nothing.
            lost[broken].in_flight = false;
            assert!(!spans(&lost, 69, 0));
        }
        let mut later = whole;
        later[1].apart = true;
        assert!(spans(&later, 39, 0), "from the second on");
        later[2].in_flight = false;
        assert!(!spans(&later, 39, 0), "the last asked for no acknowledgement");
    }

    #[test]
    fn an_episode_is_over_when_all_of_it_arrived() {
        let mut episode = Episode::default();
        episode.lost(Time(100), 7, Time(10));
        episode.lost(Time(100), 8, Time(12));
        assert_eq!(episode.missing(), Some((7, 8)));
        assert_eq!(episode.heard(&|number| number == 8), None);
        episode.lost(Time(120), 9, Time(13));
        assert_eq!(episode.missing(), Some((7, 9)));
        assert_eq!(episode.heard(&|number| number == 7), None);
        assert_eq!(episode.heard(&|number| number == 9), Some(Time(13)));
        assert_eq!(episode.heard(&|_| true), None, "told once");
        assert_eq!(episode.missing(), None);
    }

    #[test]
    fn a_packet_sent_after_the_response_opens_another_episode() {
        let mut episode = Episode::default();
        episode.lost(Time(100), 7, Time(10));
        episode.lost(Time(300), 20, Time(150));
        assert_eq!(episode.heard(&|number| number == 20), Some(Time(150)), "7 was really lost");
    }

    #[test]
    fn an_episode_expires_whole_and_makes_room_for_another() {
        let mut episode = Episode::default();
        (0..=MOST as u64).for_each(|number| episode.lost(Time(100), number, Time(10)));
        episode.expire(Time(150), Span(50));
        assert_eq!(episode.missing(), Some((0, MOST as u64 - 1)), "not yet longer ago than that");
        episode.expire(Time(151), Span(50));
        assert_eq!(episode.missing(), None);
        assert_eq!(episode.heard(&|_| true), None);
        episode.lost(Time(160), 7, Time(90));
        assert_eq!(episode.heard(&|_| true), Some(Time(90)), "it is no part of what expired");
    }

    #[test]
    fn an_episode_too_large_to_remember_is_never_spurious() {
        let mut episode = Episode::default();
        for number in 0..=MOST as u64 {
            episode.lost(Time(100), number, Time(10));
        }
        assert_eq!(episode.heard(&|_| true), None);
        episode.lost(Time(300), 5000, Time(200));
        assert_eq!(episode.heard(&|_| true), Some(Time(200)));
    }
}
