//! What delays say of the path: groups of packets, the variation of their delay, and the over-use detector (§5.1 to §5.4).
//! Milliseconds.

use super::Params;
use crate::Time;
use crate::parts::windowed::Minima;

/// Groups of which the shortest time between departures counts: the draft's K has no value; as in libwebrtc.
const K: u32 = 60;
/// Longest that packets which catch up with a group make it: the draft has no limit; as in libwebrtc.
const MAX_BURST: f64 = 100.0;
/// Variation beyond the threshold that it does not follow, and its range (§5.4).
const MAX_EXCESS: f64 = 15.0;
const THRESHOLDS: (f64, f64) = (6.0, 600.0);
/// Time that a group counts at most for the threshold, so that it approaches the variation and does not pass it: as in libwebrtc.
const MAX_TIME: f64 = 100.0;

/// What the detector signals.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Signal {
    Normal,
    OverUse,
    UnderUse,
}

/// Packets that left or came in a burst (§5.2). Delays are nanoseconds, up to a constant of the path.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Group {
    first_sent: Time,
    first_delay: i64,
    /// Of its last packet.
    sent: Time,
    delay: i64,
}

/// From one group to the next (§5.1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Variation {
    /// T(i) − T(i−1), ns.
    pub departure: i64,
    /// t(i) − t(i−1).
    pub arrival: f64,
    /// d(i).
    pub d: f64,
}

fn ms(ns: i64) -> f64 {
    1e-6 * ns as f64
}

fn between(earlier: Time, later: Time) -> i64 {
    i64::try_from(later.since(earlier).0).unwrap_or(i64::MAX)
}

impl Group {
    fn new(sent: Time, delay: i64) -> Group {
        Group { first_sent: sent, first_delay: delay, sent, delay }
    }

    /// Whether the next packet is one of the group (§5.2).
    fn takes(&self, burst_time: f64, sent: Time, delay: i64) -> bool {
        let departure = ms(between(self.first_sent, sent));
        let d = ms(delay.saturating_sub(self.delay));
        departure <= burst_time
            || d < 0.0
                && ms(between(self.sent, sent)) + d < burst_time
                && departure + ms(delay.saturating_sub(self.first_delay)) < MAX_BURST
    }

    fn variation(&self, previous: &Group) -> Variation {
        let departure = between(previous.sent, self.sent);
        let d = ms(self.delay.saturating_sub(previous.delay));
        Variation { departure, arrival: ms(departure) + d, d }
    }
}

/// The group that arrives, and the one before it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    previous: Option<Group>,
}

impl Groups {
    /// A packet arrived. Returns what the group that it ends differs from the one before by.
    #[inline]
    pub fn on_packet(&mut self, burst_time: f64, sent: Time, delay: i64) -> Option<Variation> {
        let Some(current) = &mut self.current else {
            self.current = Some(Group::new(sent, delay));
            return None;
        };
        // What arrives out of order is ignored (§5.1).
        if sent < current.sent {
            return None;
        }
        if current.takes(burst_time, sent, delay) {
            (current.sent, current.delay) = (sent, delay);
            return None;
        }
        let over = core::mem::replace(current, Group::new(sent, delay));
        self.previous.replace(over).map(|previous| over.variation(&previous))
    }
}

/// Arrival-time filter and over-use detector.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Delay {
    groups: Groups,
    /// Variations so far.
    pub(super) count: u32,
    /// Shortest departures of the latest [`K`] groups, by halves.
    shortest: Minima<2>,
    pub(super) m_hat: f64,
    pub(super) e: f64,
    pub(super) var_v_hat: f64,
    pub(super) threshold: f64,
    /// How long the variation has exceeded the threshold; `None` while it does not.
    over: Option<f64>,
}

impl Delay {
    pub fn new(params: &Params) -> Delay {
        Delay {
            groups: Groups::default(),
            count: 0,
            shortest: Minima::default(),
            m_hat: 0.0,
            e: params.e0,
            var_v_hat: 1.0,
            threshold: params.del_var_th,
            over: None,
        }
    }

    /// m(i) as the threshold sees it.
    pub fn m(&self, gain: f64) -> f64 {
        f64::from(self.count).min(gain) * self.m_hat
    }

    /// Delays before this one cannot be compared with those that follow.
    #[cold]
    pub fn forget_groups(&mut self) {
        self.groups = Groups::default();
    }

    /// A packet arrived. Returns whether that ends a group, with what the detector signals: nothing while the variation exceeds
    /// the threshold without being over-use.
    #[inline]
    pub fn on_packet(&mut self, params: &Params, sent: Time, delay: i64) -> Option<Option<Signal>> {
        let variation = self.groups.on_packet(params.burst_time, sent, delay)?;
        let before = self.m_hat;
        self.filter(params, &variation);
        Some(self.detect(params, variation.arrival, self.m_hat >= before))
    }

    /// The Kalman filter (§5.3).
    pub(super) fn filter(&mut self, params: &Params, variation: &Variation) {
        if self.count % (K / 2) == 0 {
            self.shortest.roll(1);
        }
        self.count = self.count.saturating_add(1);
        self.shortest.take(variation.departure);
        let shortest = ms(self.shortest.least(2).unwrap_or(variation.departure));
        // f_max is one over the shortest time, ms.
        let alpha = libm::pow(1.0 - params.chi, 30.0 * shortest / 1000.0);
        let most = 3.0 * libm::sqrt(self.var_v_hat);
        // The filter, not its variance alone, is updated with no more: a path that becomes another is seen in one group.
        let z = (variation.d - self.m_hat).clamp(-most, most);
        self.var_v_hat = (alpha * self.var_v_hat + (1.0 - alpha) * z * z).max(1.0);
        let error = self.e + params.q;
        let k = error / (self.var_v_hat + error);
        self.m_hat += z * k;
        self.e = (1.0 - k) * error;
    }

    /// The detector (§5.4): the variation is held against the threshold first, which then follows it.
    pub(super) fn detect(&mut self, params: &Params, arrival: f64, is_rising: bool) -> Option<Signal> {
        let m = self.m(params.gain);
        let arrival = arrival.max(0.0);
        self.over = (m > self.threshold).then(|| self.over.map_or(0.0, |over| over + arrival));
        let signal = match self.over {
            Some(over) if over >= params.overuse_time_th && is_rising => Some(Signal::OverUse),
            Some(_) => None,
            None if m < -self.threshold => Some(Signal::UnderUse),
            None => Some(Signal::Normal),
        };
        let excess = m.abs() - self.threshold;
        if excess <= MAX_EXCESS {
            let k = if excess < 0.0 { params.k_d } else { params.k_u };
            let (least, most) = THRESHOLDS;
            self.threshold = (self.threshold + arrival.min(MAX_TIME) * k * excess).clamp(least, most);
        }
        signal
    }
}
