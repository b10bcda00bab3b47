//! What kept a sender from sending, over time: its window, its application, the other end's
//! flow control, or its pacer.

use serde::Serialize;

/// What keeps a sender from sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitedBy {
    /// The congestion window has no room for a packet.
    Window,
    /// There is nothing to send.
    Application,
    /// The connection or the stream is at the limit that the other end granted.
    FlowControl,
    /// The pacer holds packets back.
    Pacer,
}

impl LimitedBy {
    /// All of them, in the order of their numbers in a series.
    pub const ALL: [LimitedBy; 4] =
        [LimitedBy::Window, LimitedBy::Application, LimitedBy::FlowControl, LimitedBy::Pacer];

    /// Name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            LimitedBy::Window => "window",
            LimitedBy::Application => "application",
            LimitedBy::FlowControl => "flow control",
            LimitedBy::Pacer => "pacer",
        }
    }
}

/// Shares of the time that a sender was kept from sending by each, percent.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LimitedTimes {
    /// By the congestion window.
    pub window: f64,
    /// By the application.
    pub application: f64,
    /// By the other end's flow control.
    pub flow_control: f64,
    /// By the pacer.
    pub pacer: f64,
}

/// Packets closer together than this left in one burst, ns.
const TOGETHER: i64 = 50_000;

/// A gap counts as the pacer's up to so many times its length at the logged rate: timers are coarse.
const COARSE: f64 = 2.0;

/// Condition of the sender since the latest event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Condition {
    /// The trace lacks what decides it.
    #[default]
    Unknown,
    /// It has credit and room in its window.
    Room,
    /// Its window is full.
    Full,
    /// It is at a limit of flow control.
    Blocked,
}

/// Data by which the gap to the next packet is judged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// Logged pacing rate, bit/s.
    pub(super) rate: Option<f64>,
    /// Smoothed RTT, ns, and congestion window, bytes: a pacer without a logged rate keeps to a
    /// window a round trip or more (`RFC 9002 §7.7`).
    pub(super) window: Option<(f64, f64)>,
    /// Whether the trace says that the sender has too little to send.
    pub(super) app_limited: bool,
}

impl Pace {
    /// The longest gap, ns, after `bytes` that a pacer explains.
    fn gap(&self, bytes: f64) -> f64 {
        match (self.rate, self.window) {
            (Some(rate), _) if rate > 0.0 => COARSE * bytes * 8e9 / rate,
            (None, Some((rtt, window))) if window > 0.0 => bytes * rtt / window,
            _ => 0.0,
        }
    }
}

/// Since when, ns, and what limits; `None` if the trace lacks what decides it.
pub(crate) type Change = (i64, Option<LimitedBy>);

/// Adds up what a sender was limited by.
#[derive(Clone, Debug, Default)]
pub(super) struct Limited {
    condition: Condition,
    /// Time since which the condition holds, ns.
    since: i64,
    /// Whether any was known before.
    known: bool,
    /// When the latest packet that asks for an ACK left, and bytes that left with it.
    burst: (i64, f64),
    times: [i64; 4],
    /// What limited in gaps that the latest event ended, and since when; for the line of a series.
    changes: [Option<Change>; 3],
}

impl Limited {
    /// Forgets the changes of the event before.
    pub(super) fn begin(&mut self) {
        self.changes = [None; 3];
    }

    /// A packet that asks for an ACK leaves, which ends a gap.
    pub(super) fn sent(&mut self, now: i64, bytes: u32, pace: &Pace) {
        self.end(now, pace);
        let (last, before) = self.burst;
        let bytes = f64::from(bytes);
        let together = now.saturating_sub(last) < TOGETHER;
        self.burst = (now, if together { before + bytes } else { bytes });
    }

    /// The condition from `now` on.
    pub(super) fn set(&mut self, now: i64, condition: Condition, pace: impl FnOnce() -> Pace) {
        if condition != self.condition {
            if self.condition != Condition::Unknown {
                self.end(now, &pace());
            }
            // A time that goes back is no reason to count a span twice.
            self.since = if self.known { now.max(self.since) } else { now };
            self.known = true;
            self.condition = condition;
            if condition == Condition::Unknown {
                self.change(None);
            }
        }
    }

    /// What limits in the gap that `now` would end, and since when; `None` if there is no gap, or nothing is known of it.
    pub(super) fn gap(&self, now: i64, pace: &Pace) -> Option<(i64, LimitedBy)> {
        let gap = now.saturating_sub(self.since);
        if gap <= 0 {
            return None;
        }
        let by = match self.condition {
            Condition::Unknown => return None,
            Condition::Full => LimitedBy::Window,
            Condition::Blocked => LimitedBy::FlowControl,
            Condition::Room if pace.app_limited => LimitedBy::Application,
            Condition::Room if gap as f64 <= pace.gap(self.burst.1) => LimitedBy::Pacer,
            Condition::Room => LimitedBy::Application,
        };
        Some((self.since, by))
    }

    /// The gap so far is over.
    fn end(&mut self, now: i64, pace: &Pace) {
        let Some((since, by)) = self.gap(now, pace) else { return };
        let gap = now.saturating_sub(since);
        let time = &mut self.times[by as usize];
        *time = time.saturating_add(gap);
        self.change(Some(by));
        self.since = now;
    }

    fn change(&mut self, by: Option<LimitedBy>) {
        if let Some(place) = self.changes.iter_mut().find(|change| change.is_none()) {
            *place = Some((self.since, by));
        }
    }

    /// What limited the sender in gaps that the latest event ended, and since when each.
    pub(super) fn changes(&self) -> [Option<Change>; 3] {
        self.changes
    }

    /// The shares of the time until `now`; `None` if nothing is known of it.
    pub(super) fn finish(&mut self, now: i64, pace: &Pace) -> Option<LimitedTimes> {
        self.end(now, pace);
        let all: f64 = self.times.iter().map(|&time| time as f64).sum();
        let [window, application, flow_control, pacer] = self.times.map(|time| 100.0 * time as f64 / all);
        (all > 0.0).then_some(LimitedTimes { window, application, flow_control, pacer })
    }
}
