//! A path's queueing delay as LEDBAT measures it: what the least of the latest few samples
//! exceeds the least of the latest few minutes by.

use crate::Time;
use crate::parts::windowed::Minima;

/// Most minutes a base delay can be remembered for (`spec: arumaithurai §5.2`: below 20).
pub const MOST_MINUTES: usize = 19;

/// Most samples the current delay can be the least of.
pub const MOST_SAMPLES: usize = 8;

const MINUTE: u64 = 60_000_000_000;

/// When a new minute begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rollover {
    /// As soon as the clock's minute is another than at the latest rollover
    /// (`spec: arumaithurai §5.2` 2a; `RFC 6817 §3.4.2`).
    Clock,
    /// Once more than a minute has passed since the latest rollover (the ns-2 module,
    /// `spec: arumaithurai §5.2`).
    Elapsed,
}

/// Base delay by minutes and current delay by samples, nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueingDelay {
    minutes: Minima<MOST_MINUTES>,
    /// The least delay of the minutes that count.
    base: Option<i64>,
    current: Latest,
    rolled_over: Option<Time>,
}

/// The latest samples, in a ring: a row that moves up for each one would be read back before
/// it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Latest {
    /// `i64::MAX` where nothing came, or it was forgotten.
    slots: [i64; MOST_SAMPLES],
    /// When each came.
    times: [Time; MOST_SAMPLES],
    next: u8,
}

impl Default for Latest {
    fn default() -> Self {
        Latest { slots: [i64::MAX; MOST_SAMPLES], times: [Time::ZERO; MOST_SAMPLES], next: 0 }
    }
}

impl Latest {
    #[inline]
    fn push(&mut self, now: Time, ns: i64) {
        let next = usize::from(self.next) % MOST_SAMPLES;
        (self.slots[next], self.times[next]) = (ns, now);
        self.next = (self.next + 1) % MOST_SAMPLES as u8;
    }

    /// Forgets those of the latest `samples` that came before `since`.
    #[inline]
    fn forget_before(&mut self, samples: usize, since: Time) {
        // The usual case: that many came since.
        let oldest = (usize::from(self.next) + MOST_SAMPLES - samples.min(MOST_SAMPLES)) % MOST_SAMPLES;
        if self.times[oldest] < since {
            self.forget(since);
        }
    }

    #[cold]
    fn forget(&mut self, since: Time) {
        for (slot, time) in self.slots.iter_mut().zip(self.times) {
            if time < since {
                *slot = i64::MAX;
            }
        }
    }

    /// The least of the latest `samples`; none of nothing.
    #[inline]
    fn least(&self, samples: usize) -> Option<i64> {
        let mut least = i64::MAX;
        for back in 1..=samples.min(MOST_SAMPLES) {
            least = least.min(self.slots[(usize::from(self.next) + MOST_SAMPLES - back) % MOST_SAMPLES]);
        }
        (least < i64::MAX).then_some(least)
    }
}

impl Rollover {
    fn is_due(self, last: Time, now: Time) -> bool {
        match self {
            Rollover::Clock => now.0 / MINUTE != last.0 / MINUTE,
            Rollover::Elapsed => now.since(last).0 > MINUTE,
        }
    }
}

/// The base delay alone: the least of the latest few minutes, nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BaseDelayMinutes {
    minutes: Minima<MOST_BASE_MINUTES>,
    rolled_over: Time,
}

/// Most minutes that [`BaseDelayMinutes`] remembers (`RFC 6817 §2.4.2`).
pub const MOST_BASE_MINUTES: usize = 10;

impl BaseDelayMinutes {
    /// The least of the latest `minutes`; `None` before a sample.
    #[inline]
    pub fn get(&self, minutes: u32) -> Option<i64> {
        self.minutes.least(minutes as usize)
    }

    /// Takes a sample in. Returns the least of the latest `minutes`, by the clock, which it is no less than.
    #[inline]
    pub fn sample(&mut self, minutes: u32, now: Time, ns: i64) -> i64 {
        if Rollover::Clock.is_due(self.rolled_over, now) {
            self.rolled_over = now;
            self.minutes.roll(1);
        }
        self.minutes.take(ns);
        self.get(minutes).unwrap_or(ns)
    }
}

impl QueueingDelay {
    /// Takes a sample in, with the least delay of the latest `minutes` as base. However long the
    /// pause before it, it drops one minute at most (`spec: arumaithurai §5.2` 2a, 2b). Returns
    /// whether the base is another.
    #[inline]
    pub fn sample(&mut self, rollover: Rollover, minutes: u32, now: Time, ns: i64) -> bool {
        let begins = self.rolled_over.is_none_or(|last| rollover.is_due(last, now));
        if begins {
            self.rolled_over = Some(now);
            self.minutes.roll(1);
        }
        self.minutes.take(ns);
        self.current.push(now, ns);
        (begins || self.base.is_some_and(|base| ns < base)) && self.find_base(minutes)
    }

    #[cold]
    fn find_base(&mut self, minutes: u32) -> bool {
        let base = self.minutes.least(minutes as usize);
        core::mem::replace(&mut self.base, base) != base
    }

    /// The base delay.
    #[must_use]
    #[inline]
    pub fn base(&self) -> Option<i64> {
        self.base
    }

    /// What the least of the latest `samples` exceeds the base by; never below zero, where
    /// it is only if the base was forgotten between two samples. None without samples.
    #[must_use]
    #[inline]
    pub fn get(&self, samples: u32) -> Option<i64> {
        let current = self.current.least(samples as usize)?;
        Some(current.saturating_sub(self.base?).max(0))
    }

    /// Forgets those of the latest `samples` that came before `since`: none may be older than a
    /// round trip (`RFC 6817 §2.4.2`), and what was acknowledged last tells when that began.
    #[inline]
    pub fn forget_before(&mut self, samples: u32, since: Time) {
        self.current.forget_before(samples as usize, since);
    }

    /// Forgets the current delay and keeps the base (`spec: arumaithurai §5.2` 3, after idle
    /// periods).
    pub fn pause(&mut self) {
        self.current = Latest::default();
    }
}

#[cfg(test)]
mod tests;
