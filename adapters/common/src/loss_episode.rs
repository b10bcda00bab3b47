//! Whether losses turn out spurious, for senders that see late acknowledgements packet by packet.

use windlass_controllers::Time;

/// The latest loss episode: packets lost that left before its first loss was found. All of them acknowledged
/// after all make it spurious; a loss found later, or of a packet sent later, then begins another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LossEpisode {
    found_at: Time,
    /// Packets declared lost and not acknowledged late.
    outstanding: u32,
    newest_sent_at: Time,
}

impl LossEpisode {
    /// `packets` were declared lost at `now`, the newest of them sent at `newest_sent_at`.
    pub fn on_packets_lost(&mut self, now: Time, newest_sent_at: Time, packets: u32) {
        if self.outstanding == 0 || newest_sent_at > self.found_at {
            *self = LossEpisode { found_at: now, ..LossEpisode::default() };
        }
        self.outstanding = self.outstanding.saturating_add(packets);
        self.newest_sent_at = self.newest_sent_at.max(newest_sent_at);
    }

    /// Whether a packet declared lost at `lost_at` belongs to it.
    #[must_use]
    #[inline]
    pub fn includes(&self, lost_at: Time) -> bool {
        self.outstanding > 0 && lost_at >= self.found_at
    }

    /// `packets` that belong to it are acknowledged. Returns when the newest packet of the episode was
    /// sent if it has proved spurious.
    #[must_use]
    pub fn on_late_acks(&mut self, packets: u32) -> Option<Time> {
        let spurious = packets > 0 && packets >= self.outstanding;
        self.outstanding = self.outstanding.saturating_sub(packets);
        spurious.then_some(self.newest_sent_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_spurious_once_all_of_it_has_arrived() {
        let mut episode = LossEpisode::default();
        episode.on_packets_lost(Time(100), Time(50), 2);
        episode.on_packets_lost(Time(110), Time(60), 1);
        assert!(episode.includes(Time(100)) && episode.includes(Time(110)) && !episode.includes(Time(99)));
        assert_eq!([2, 0, 1, 0].map(|packets| episode.on_late_acks(packets)), [None, None, Some(Time(60)), None]);
    }

    /// Losses of the same flight after the first of them proved spurious are an episode of their own.
    #[test]
    fn the_same_flight_may_lose_again_and_be_spurious_again() {
        let mut episode = LossEpisode::default();
        episode.on_packets_lost(Time(100), Time(50), 1);
        assert_eq!(episode.on_late_acks(1), Some(Time(50)));
        assert!(!episode.includes(Time(100)), "settled");
        episode.on_packets_lost(Time(105), Time(60), 1);
        assert!(!episode.includes(Time(100)) && episode.includes(Time(105)));
        assert_eq!(episode.on_late_acks(1), Some(Time(60)));
    }

    #[test]
    fn a_packet_sent_after_the_first_loss_was_found_begins_another() {
        let mut episode = LossEpisode::default();
        episode.on_packets_lost(Time(100), Time(50), 7);
        episode.on_packets_lost(Time(200), Time(101), 1);
        assert!(!episode.includes(Time(100)));
        assert_eq!(episode.on_late_acks(1), Some(Time(101)), "the seven no longer matter");
    }
}
