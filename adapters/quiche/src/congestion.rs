//! Signals of congestion that quiche does not establish itself: new CE marks, spurious losses.

use quiche::external::{EcnCounts, Space};
use windlass_controllers::{Span, Time};

/// The CE counts the peer reported last, by packet number space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CeCounts([u64; 3]);

impl CeCounts {
    /// The CE marks that an ACK frame of `space` with these counts newly reports. ACK frames may
    /// arrive out of order (`RFC 9000 §13.4.2.1`).
    #[inline]
    pub(crate) fn new_marks(&mut self, space: Space, counts: Option<&EcnCounts>) -> u32 {
        let Some(counts) = counts else { return 0 };
        let reported = &mut self.0[space as usize];
        let new = counts.ce.saturating_sub(*reported);
        *reported = counts.ce.max(*reported);
        u32::try_from(new).unwrap_or(u32::MAX)
    }
}

/// Packets remembered of one loss episode; of more lost, hardly all arrive late.
const MAX_PACKETS: usize = 1024;

/// The packets of the latest loss episode that are still missing. An episode is what one
/// congestion response answers: losses of packets that left before its first loss was found.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Episode {
    /// Time at which its first loss was found.
    found_at: Time,
    newest_sent_at: Time,
    missing: Vec<u64>,
    /// No number missing is below the first or above the second.
    bounds: (u64, u64),
    /// Whether more were lost than are remembered.
    overflowed: bool,
}

impl Episode {
    /// Packet `number`, sent at `sent_at`, was found lost at `now`.
    pub(crate) fn on_packet_lost(&mut self, now: Time, number: u64, sent_at: Time) {
        if sent_at > self.found_at || (self.missing.is_empty() && !self.overflowed) {
            let missing = std::mem::take(&mut self.missing);
            *self = Episode { found_at: now, missing, bounds: (number, number), ..Episode::default() };
            self.missing.clear();
        }
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
        if self.missing.len() < MAX_PACKETS {
            self.missing.push(number);
            self.bounds = (self.bounds.0.min(number), self.bounds.1.max(number));
        } else {
            self.overflowed = true;
        }
    }

    /// Ends the episode if it began more than `span` before `now`.
    pub(crate) fn expire(&mut self, now: Time, span: Span) {
        if now.since(self.found_at) > span {
            self.end();
        }
    }

    /// Ends the episode: what is missing of it no longer matters.
    pub(crate) fn end(&mut self) {
        self.missing.clear();
        self.overflowed = false;
    }

    /// Bounds of the missing packets' numbers; `None` if none is missing.
    #[inline]
    pub(crate) fn missing(&self) -> Option<(u64, u64)> {
        (!self.missing.is_empty()).then_some(self.bounds)
    }

    /// An ACK frame `acknowledges` packets. If none of the episode is missing any more, all its
    /// losses were spurious: returns when the newest of them was sent.
    #[inline]
    pub(crate) fn on_ack_frame(&mut self, acknowledges: &dyn Fn(u64) -> bool) -> Option<Time> {
        if self.missing.is_empty() {
            return None;
        }
        self.missing.retain(|number| !acknowledges(*number));
        (self.missing.is_empty() && !self.overflowed).then_some(self.newest_sent_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ce(ce: u64) -> Option<EcnCounts> {
        Some(EcnCounts { ect0: 0, ect1: 0, ce })
    }

    #[test]
    fn spaces_count_separately_and_counts_never_go_back() {
        let mut counts = CeCounts::default();
        assert_eq!(counts.new_marks(Space::Application, ce(3).as_ref()), 3);
        assert_eq!(counts.new_marks(Space::Handshake, ce(1).as_ref()), 1);
        assert_eq!(counts.new_marks(Space::Application, ce(2).as_ref()), 0, "an older frame");
        assert_eq!(counts.new_marks(Space::Application, None), 0);
        assert_eq!(counts.new_marks(Space::Application, ce(5).as_ref()), 2);
        assert_eq!(counts.new_marks(Space::Initial, ce(u64::MAX).as_ref()), u32::MAX);
    }

    #[test]
    fn an_episode_is_over_when_all_of_it_arrived() {
        let mut episode = Episode::default();
        episode.on_packet_lost(Time(100), 7, Time(10));
        episode.on_packet_lost(Time(100), 8, Time(12));
        assert_eq!(episode.missing(), Some((7, 8)));
        assert_eq!(episode.on_ack_frame(&|number| number == 8), None);
        episode.on_packet_lost(Time(120), 9, Time(13));
        assert_eq!(episode.missing(), Some((7, 9)));
        assert_eq!(episode.on_ack_frame(&|number| number == 7), None);
        assert_eq!(episode.on_ack_frame(&|number| number == 9), Some(Time(13)));
        assert_eq!(episode.on_ack_frame(&|_| true), None, "reported once");
        assert_eq!(episode.missing(), None);
    }

    #[test]
    fn an_episode_that_ended_is_not_reported() {
        let mut episode = Episode::default();
        episode.on_packet_lost(Time(100), 7, Time(10));
        episode.end();
        assert_eq!((episode.missing(), episode.on_ack_frame(&|_| true)), (None, None));
        episode.on_packet_lost(Time(110), 8, Time(12));
        assert_eq!(episode.on_ack_frame(&|_| true), Some(Time(12)), "the next is one of its own");
    }

    #[test]
    fn a_packet_sent_after_the_response_opens_another_episode() {
        let mut episode = Episode::default();
        episode.on_packet_lost(Time(100), 7, Time(10));
        episode.on_packet_lost(Time(300), 20, Time(150));
        assert_eq!(episode.on_ack_frame(&|number| number == 20), Some(Time(150)), "7 was really lost");
    }

    #[test]
    fn an_episode_expires_whole_and_makes_room_for_another() {
        let mut episode = Episode::default();
        (0..=MAX_PACKETS as u64).for_each(|number| episode.on_packet_lost(Time(100), number, Time(10)));
        episode.expire(Time(150), Span(50));
        assert_eq!(episode.missing(), Some((0, MAX_PACKETS as u64 - 1)), "not yet longer ago than that");
        episode.expire(Time(151), Span(50));
        assert_eq!(episode.missing(), None);
        assert_eq!(episode.on_ack_frame(&|_| true), None);
        episode.on_packet_lost(Time(160), 7, Time(90));
        assert_eq!(episode.on_ack_frame(&|_| true), Some(Time(90)), "it is no part of what expired");
    }

    #[test]
    fn an_episode_too_large_to_remember_is_never_spurious() {
        let mut episode = Episode::default();
        for number in 0..=MAX_PACKETS as u64 {
            episode.on_packet_lost(Time(100), number, Time(10));
        }
        assert_eq!(episode.on_ack_frame(&|_| true), None);
        episode.on_packet_lost(Time(300), 5000, Time(200));
        assert_eq!(episode.on_ack_frame(&|_| true), Some(Time(200)));
    }
}
