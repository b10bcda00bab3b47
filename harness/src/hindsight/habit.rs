//! What a stack makes of a standard's rules.

use windlass_controllers::event::{Lost, SpuriousLoss};
use windlass_controllers::{Decision, Time};

use super::frame::Frame;

/// Of a window's packets less than this part may be lost, and the reduction is taken back.
const PART: u64 = 5;

/// Or less than this, packets, where that is more.
const TWO: u64 = 2;

/// Something a stack does beside a controller's own rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Habit {
    /// Nothing.
    Standard,
    /// quiche's CUBIC takes a reduction back once packets sent after it are acknowledged,
    /// if few packets were lost until then and slow start was over before: it treats them as
    /// losses that were none (`RFC 9438 §4.9`).
    TakesBack,
}

/// A controller's latest reduction, if it may be taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reductions {
    habit: Habit,
    latest: Option<Reduction>,
}

#[derive(Clone, Copy, Debug)]
struct Reduction {
    at: Time,
    newest_sent_at: Time,
    /// The window before it, bytes.
    cwnd: u64,
    slow_start: bool,
    /// Packets lost with it and since.
    lost: u64,
}

impl Reductions {
    /// None yet.
    pub fn new(habit: Habit) -> Reductions {
        Reductions { habit, latest: None }
    }

    /// At `now` packets are lost, of which the controller, which decided `before`, hears next.
    pub fn lost(&mut self, now: Time, lost: &Lost, before: &Decision) {
        if self.habit == Habit::Standard {
            return;
        }
        let packets = u64::from(lost.packets);
        match &mut self.latest {
            Some(latest) if lost.newest_sent_at <= latest.at => {
                latest.lost += packets;
                latest.newest_sent_at = latest.newest_sent_at.max(lost.newest_sent_at);
            }
            latest => {
                *latest = Some(Reduction {
                    at: now,
                    newest_sent_at: lost.newest_sent_at,
                    cwnd: before.cwnd,
                    slow_start: before.ssthresh.is_none_or(|ssthresh| before.cwnd < ssthresh),
                    lost: packets,
                });
            }
        }
    }

    /// What the controller, whose window is `cwnd` bytes of packets of `mtu`, is told to have
    /// been no loss, as `frame` comes.
    pub fn taken_back(&mut self, frame: &Frame, cwnd: u64, mtu: u32) -> Option<SpuriousLoss> {
        let latest = self.latest?;
        let (newest_sent_at, _) = frame.newest?;
        if newest_sent_at <= latest.at || frame.app_limited {
            return None;
        }
        let few = (cwnd / u64::from(mtu.max(1)) / PART).max(TWO);
        if latest.slow_start || latest.lost >= few || cwnd >= latest.cwnd {
            return None;
        }
        self.latest = None;
        Some(SpuriousLoss { newest_sent_at: latest.newest_sent_at })
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::event::LossTrigger;
    use windlass_controllers::fixed_window::FixedWindow;
    use windlass_controllers::{Engine, Path, View};

    use super::*;

    const MTU: u32 = 1000;

    fn lost(packets: u32, newest_sent_at: u64) -> Lost {
        Lost {
            bytes: u64::from(packets * MTU),
            packets,
            newest_sent_at: Time(newest_sent_at),
            newest_pn: None,
            in_flight_before: 0,
            in_flight: 0,
            trigger: LossTrigger::Unknown,
            transmissions: 1,
        }
    }

    fn decided(cwnd: u64, ssthresh: Option<u64>) -> Decision {
        let engine = FixedWindow::engine(1);
        let state = engine.start(&Path { now: Time::ZERO, mtu: MTU, seed: 0 });
        Decision { cwnd, ssthresh, ..engine.decide(&state, View::solo(&())) }
    }

    /// A frame that acknowledges what was sent at `sent_at`.
    fn frame(sent_at: u64) -> Frame {
        Frame { newest: Some((Time(sent_at), 1)), ..Frame::default() }
    }

    /// Whether a loss of `packets` at 100 of a window of 50 packets is taken back.
    fn taken_back(habit: Habit, packets: u32, ssthresh: Option<u64>) -> bool {
        let mut reductions = Reductions::new(habit);
        reductions.lost(Time(100), &lost(packets, 90), &decided(50_000, ssthresh));
        assert_eq!(reductions.taken_back(&frame(99), 35_000, MTU), None, "packets from before it tell nothing");
        let told = reductions.taken_back(&frame(101), 35_000, MTU);
        assert!(told.is_none_or(|told| told.newest_sent_at == Time(90)));
        assert!(reductions.taken_back(&frame(102), 35_000, MTU).is_none(), "once");
        told.is_some()
    }

    #[test]
    fn a_reduction_is_taken_back_if_less_than_a_fifth_was_lost_outside_slow_start() {
        let avoidance = Some(40_000);
        assert!(taken_back(Habit::TakesBack, 6, avoidance));
        assert!(!taken_back(Habit::TakesBack, 7, avoidance));
        assert!(!taken_back(Habit::TakesBack, 1, None), "slow start is over for good");
        assert!(!taken_back(Habit::TakesBack, 1, Some(60_000)));
        assert!(!taken_back(Habit::Standard, 1, avoidance));
    }

    #[test]
    fn losses_of_one_round_trip_count_together() {
        let mut reductions = Reductions::new(Habit::TakesBack);
        reductions.lost(Time(100), &lost(4, 90), &decided(50_000, Some(40_000)));
        reductions.lost(Time(110), &lost(3, 95), &decided(35_000, Some(35_000)));
        assert_eq!(reductions.taken_back(&frame(120), 35_000, MTU), None);
        reductions.lost(Time(130), &lost(1, 120), &decided(35_000, Some(35_000)));
        assert!(reductions.taken_back(&frame(140), 24_500, MTU).is_some(), "a reduction of its own");
    }

    #[test]
    fn a_window_that_grew_past_it_stays() {
        let mut reductions = Reductions::new(Habit::TakesBack);
        reductions.lost(Time(100), &lost(1, 90), &decided(50_000, Some(40_000)));
        assert_eq!(reductions.taken_back(&frame(120), 50_000, MTU), None);
    }
}
