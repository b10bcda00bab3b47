//! Losses that were none.

use windlass_controllers::Time;

/// Packets remembered of one loss episode; with more lost, hardly all arrive late.
const MOST: usize = 1024;

/// The packets of the latest loss episode that are still missing. An episode is what one
/// congestion response answers: losses of packets that left before its first loss was found.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Episode {
    found_at: Time,
    newest_sent_at: Time,
    missing: Vec<u64>,
    /// Too many to remember.
    overflown: bool,
}

impl Episode {
    /// Packet `number`, sent at `sent_at`, was found lost at `now`.
    pub(crate) fn lost(&mut self, now: Time, number: u64, sent_at: Time) {
        if sent_at > self.found_at || (self.missing.is_empty() && !self.overflown) {
            *self = Episode { found_at: now, missing: std::mem::take(&mut self.missing), ..Episode::default() };
            self.missing.clear();
        }
        self.newest_sent_at = self.newest_sent_at.max(sent_at);
        if self.missing.len() < MOST {
            self.missing.push(number);
        } else {
            self.overflown = true;
        }
    }

    /// Whether something is missing.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        !self.missing.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_is_over_when_all_of_it_arrived() {
        let mut episode = Episode::default();
        episode.lost(Time(100), 7, Time(10));
        episode.lost(Time(100), 8, Time(12));
        assert_eq!(episode.heard(&|number| number == 8), None);
        episode.lost(Time(120), 9, Time(13));
        assert_eq!(episode.heard(&|number| number == 7), None);
        assert_eq!(episode.heard(&|number| number == 9), Some(Time(13)));
        assert_eq!(episode.heard(&|_| true), None, "told once");
    }

    #[test]
    fn a_packet_sent_after_the_response_opens_another_episode() {
        let mut episode = Episode::default();
        episode.lost(Time(100), 7, Time(10));
        episode.lost(Time(300), 20, Time(150));
        assert_eq!(episode.heard(&|number| number == 20), Some(Time(150)), "7 was really lost");
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
