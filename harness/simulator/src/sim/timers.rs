//! The timers of one flow.

/// What a flow can wait for, in the order they are handled at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(super) enum Timer {
    /// The scenario's start time of the flow has come.
    Start,
    /// The scenario's stop time of the flow has come.
    Stop,
    /// The receiver has held back an ACK long enough.
    Ack,
    /// A packet is lost by time, or a probe is due (`RFC 9002 §6.2.1`).
    Recovery,
    /// The controller asked to be called.
    Wake,
    /// A probe of a train is due.
    Train,
    /// The next packet may leave.
    Pace,
    /// What an ACK permitted leaves, after its random time.
    Send,
    /// The application writes.
    Write,
}

const COUNT: usize = 9;
const ALL: [Timer; COUNT] = [
    Timer::Start,
    Timer::Stop,
    Timer::Ack,
    Timer::Recovery,
    Timer::Wake,
    Timer::Train,
    Timer::Pace,
    Timer::Send,
    Timer::Write,
];

/// A time after all others.
pub(super) const NEVER: u64 = u64::MAX;

/// Deadlines, of which only the earliest is anybody else's business, and that one lazily:
/// a deadline that moves later is noticed when its old time comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    at: [u64; COUNT],
    /// A time no deadline precedes.
    soonest: u64,
}

impl Timers {
    pub fn new() -> Timers {
        Timers { at: [NEVER; COUNT], soonest: NEVER }
    }

    /// Sets a deadline; [`NEVER`] for none.
    #[inline]
    pub fn set(&mut self, timer: Timer, at: u64) {
        self.at[timer as usize] = at;
        self.soonest = self.soonest.min(at);
    }

    /// A time not after any deadline: when to call [`due`](Self::due).
    #[inline]
    pub fn soonest(&self) -> u64 {
        self.soonest
    }

    /// A timer that is due at `now`, which is then off; `None` if there is no more.
    #[inline]
    pub fn due(&mut self, now: u64) -> Option<Timer> {
        if self.soonest > now {
            return None;
        }
        let due = ALL.into_iter().find(|timer| self.at[*timer as usize] <= now);
        if let Some(timer) = due {
            self.at[timer as usize] = NEVER;
        }
        self.soonest = self.at.into_iter().min().unwrap_or(NEVER);
        due
    }

    /// Cancels all timers.
    pub fn clear(&mut self) {
        *self = Timers::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_in_order_and_later_deadlines_are_noticed() {
        let mut timers = Timers::new();
        timers.set(Timer::Pace, 5);
        timers.set(Timer::Recovery, 5);
        timers.set(Timer::Stop, 100);
        assert_eq!(timers.soonest(), 5);
        timers.set(Timer::Recovery, 50);
        assert_eq!((timers.due(5), timers.due(5)), (Some(Timer::Pace), None));
        assert_eq!(timers.soonest(), 50);
        assert_eq!(
            (timers.due(49), timers.due(200), timers.due(200), timers.due(200)),
            (None, Some(Timer::Stop), Some(Timer::Recovery), None)
        );
        assert_eq!(timers.soonest(), NEVER);
    }
}
