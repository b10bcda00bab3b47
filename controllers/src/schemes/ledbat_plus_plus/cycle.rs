//! The cycle of slowdowns: now and then the window goes down to two packets for two round
//! trips, so that the queue empties and every flow sees the path's true delay
//! (`draft-irtf-iccrg-ledbat-plus-plus-01 §4.4`).

use super::{Params, SLOW};
use crate::parts::window::Window;
use crate::{Span, Time};

/// Where in the cycle a flow is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Before the end of the first slow start.
    First,
    /// Between slowdowns; none is due before then.
    Steady(Time),
    /// In a slowdown since the one time, at the smallest window until the other.
    Down(Time, Time),
    /// Back up to where the window was, in a slowdown that began then.
    Up(Time),
}

impl Stage {
    /// Whether congestion avoidance's rules apply.
    #[must_use]
    #[inline]
    pub fn is_steady(&self) -> bool {
        matches!(self, Stage::Steady(_))
    }

    /// Whether the window is held down.
    #[must_use]
    #[inline]
    pub fn is_down(&self) -> bool {
        matches!(self, Stage::Down(..))
    }

    /// Goes on to the next stage where that is due, at an ACK. The window is moved down
    /// here, and comes up again by slow start.
    pub(super) fn advance(&mut self, params: &Params, window: &mut Window, now: Time, smoothed: Span) {
        let pause = params.span(smoothed, params.slowdown);
        *self = match *self {
            Stage::First if !window.in_slow_start() => Stage::Steady(now + pause),
            Stage::Steady(next) if now >= next => {
                window.ssthresh = window.cwnd.max(SLOW);
                window.lower(&params.base, SLOW);
                window.discard_undo();
                Stage::Down(now, now + pause)
            }
            Stage::Down(since, until) if now >= until => Stage::Up(since),
            Stage::Up(since) if !window.in_slow_start() => {
                Stage::Steady(now + params.span(now.since(since), params.interval))
            }
            stage => stage,
        };
    }

    /// Time in which nothing was sent is no part of a slowdown's length.
    pub(super) fn idled(&mut self, now: Time, idle: Span) {
        if let Stage::Down(since, _) | Stage::Up(since) = self {
            *since = (*since + idle).min(now);
        }
    }

    /// Names the facts worth logging.
    pub(super) fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("slowdown", f64::from(u8::from(matches!(self, Stage::Down(..) | Stage::Up(_)))));
        if let Stage::Steady(next) = self {
            visit("next_slowdown_s", next.0 as f64 / 1e9);
        }
    }
}
