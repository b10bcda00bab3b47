//! What a sample of the delay exceeds the empty path's by, for schemes whose texts take the least of ten minutes for that
//! (`RFC 6817 §2.4.2`). A path that has become longer is found out by [`BaseDelay`], and the minutes begin anew.

use crate::event::{PacketsAcked, RttSample};
use crate::parts::base_delay::{BaseDelay, Sample, Settings};
use crate::parts::delay_signal::DelaySignal;
use crate::parts::queueing_delay::BaseDelayMinutes;
use crate::{Decision, Time};

/// One-way delays where events carry them, else round-trip times less the receiver's ACK delay.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct QueueSignal {
    signal: DelaySignal,
    minutes: BaseDelayMinutes,
    path: BaseDelay,
}

/// A sample beside the base delay, ns, up to a constant of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued {
    /// The sample.
    pub delay: i64,
    /// The base delay.
    pub base: i64,
    /// By how much that is more than before.
    pub risen: i64,
    /// Samples before this one were of another kind and cannot be compared with it.
    pub anew: bool,
}

impl Queued {
    /// The queueing delay, ns.
    #[must_use]
    #[inline]
    pub fn ns(&self) -> i64 {
        self.delay.saturating_sub(self.base).max(0)
    }
}

impl QueueSignal {
    /// An RTT sample arrived, with its ACK or ahead of it.
    #[inline]
    pub fn on_rtt_sample(&mut self, rtt: &RttSample) {
        self.signal.on_rtt_sample(rtt);
    }

    /// The sample of an ACK, if it has one, beside the least of the latest `minutes`.
    #[inline]
    pub fn read(&mut self, settings: &Settings, minutes: u32, now: Time, acked: &PacketsAcked) -> Option<Queued> {
        let sample = self.signal.read(true, acked)?;
        if sample.anew {
            (self.minutes, self.path) = (BaseDelayMinutes::default(), BaseDelay::default());
        }
        let sent_at = acked.newest_sent_at;
        let taken = Sample { now, sent_at, ns: sample.ns, rtt: now.since(sent_at) };
        let before = self.minutes.get(minutes);
        if self.path.sample(settings, taken) {
            self.minutes = BaseDelayMinutes::default();
        }
        let base = self.minutes.sample(minutes, now, sample.ns);
        let risen = before.map_or(0, |before| base.saturating_sub(before));
        Some(Queued { delay: sample.ns, base, risen, anew: sample.anew })
    }

    /// Leaves part of `decision`'s window unused while the path is looked at, but for `least` bytes.
    #[inline]
    pub fn hold(&self, least: f64, decision: &mut Decision) {
        self.path.hold(least, decision);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;
    use crate::Span;
    use crate::event::OneWay;
    use crate::testkit::{acked, rtt};

    const MS: u64 = 1_000_000;

    /// Base and queueing delay, ms, after an ACK in each of `rounds` round trips of a path of `path_ms` with no queue, the
    /// first at `from` ms.
    fn run(signal: &mut QueueSignal, settings: &Settings, from: u64, rounds: u64, path_ms: u64) -> (i64, i64) {
        let mut latest = (0, 0);
        for round in 0..rounds {
            let now = Time((from + round * path_ms) * MS);
            signal.on_rtt_sample(&rtt(Span::from_millis(path_ms)));
            let acked = acked(1, Time(now.0.saturating_sub(path_ms * MS)));
            let queued = signal.read(settings, 10, now, &acked).unwrap();
            latest = (queued.base / MS as i64, queued.ns() / MS as i64);
        }
        latest
    }

    #[test]
    fn a_longer_path_is_no_queue() {
        for (settings, found) in [(Settings::default(), (200, 0)), (Settings::paper(), (40, 160))] {
            let mut signal = QueueSignal::default();
            assert_eq!(run(&mut signal, &settings, 1000, 500, 40), (40, 0));
            assert_eq!(run(&mut signal, &settings, 21_000, 45, 200), (40, 160), "ten seconds are not over");
            assert_eq!(run(&mut signal, &settings, 30_000, 100, 200), found);
            assert_eq!(run(&mut signal, &settings, 50_000, 3500, 200), (200, 0), "after ten minutes");
        }
    }

    #[test]
    fn what_was_learnt_of_round_trips_is_void_once_there_are_one_way_delays() {
        let mut signal = QueueSignal::default();
        run(&mut signal, &Settings::default(), 1000, 20, 40);
        let one_way = PacketsAcked { one_way: Some(OneWay { forward: 70, backward: 0 }), ..acked(1, Time(2000 * MS)) };
        let queued = signal.read(&Settings::default(), 10, Time(2040 * MS), &one_way);
        assert_eq!(queued, Some(Queued { delay: 70, base: 70, risen: 0, anew: true }));
    }

    /// Half of what the path of 40 of the 200 ms carries.
    #[test]
    fn a_part_of_the_path_is_left_while_it_is_looked_at() {
        let (mut signal, settings) = (QueueSignal::default(), Settings::default());
        run(&mut signal, &settings, 1000, 500, 40);
        let held: [u64; 100] = core::array::from_fn(|round| {
            run(&mut signal, &settings, 21_000 + 200 * round as u64, 1, 200);
            let mut decision = Decision::new(100_000);
            signal.hold(3000.0, &mut decision);
            decision.cwnd.next_multiple_of(10)
        });
        let changes = held.windows(2).filter(|two| two[0] != two[1]).count();
        assert_eq!((changes, held.iter().min()), (2, Some(&10_000)), "{held:?}");
    }
}
