//! The bound that losses put on a window whose growth is ruled by something else, as delay.
//!
//! A delay signal reads "no queue" where a queue cannot form (a policer, no buffer), where it is
//! always there (many flows, a path that was longer for a while) or where it fills within one
//! round trip. Losses are all that is left then, and a window must not grow against them: `RFC
//! 2914 §5`, `RFC 8085 §3.1`; `RFC 9743 §5.1.1, §5.1.3`.
//!
//! Round trip by round trip, the packets lost are held against the share `loss_bound` of those that
//! were lost or acknowledged. What exceeds it adds up, what falls short of it is taken off, and once
//! the sum exceeds two packets (half of one while a bound holds) the window carries too much: it falls to
//! half of what was in flight, as Reno's does (`RFC 5681 §3.1` eq. 4), or to what arrived of it,
//! whichever is less.
//! That is a bound from then on. It rises by a packet per round trip, as Reno's window does (`RFC
//! 5681 §3.1`), but not in a round trip that loses more than the share, and is lifted once it has
//! passed twice the flight that was too much. Below it the scheme rules.
//!
//! Random loss of less than the share does not act, but by rare chance on windows of a few packets.
//! Where nothing at all arrives there is no round trip to judge, and
//! persistent congestion with its probe timeouts that double is the full backoff (`RFC 9743
//! §5.1.1`; `RFC 9002 §6.2.1, §7.6`).

use crate::parts::limits::Limits;
use crate::parts::recovery::Reduction;
use crate::parts::window::Window;
use crate::{Event, EventKind, Time, parameters};

parameters! {
    /// The [`Backstop`]'s.
    pub struct Settings {
        /// Share of a round trip's packets of which no more may be lost for long: losses beyond it bound the window, whatever makes it grow; 0 is off.
        loss_bound: f64 = 0.05, paper 0.0, in 0.0, 1.0, source "RFC 9743 §5.1.3; RFC 2914 §5; 5 % as in mvfst's Copa2";
    }
}

/// Packets lost beyond the share that are too many; as few may be chance.
const EXCESS: f64 = 2.0;

/// As many while losses bound the window already: chance is no longer the likelier cause, and in flights of less
/// than ten packets one loss acts, as it does on Reno's (`RFC 5681 §3.1`).
const EXCESS_BOUND: f64 = 0.5;

/// What is kept of the losses of late, and the bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Backstop {
    /// Largest window, packets; infinite where losses bound nothing.
    bound: f64,
    /// The bound before the latest response, for when its losses turn out spurious.
    before: f64,
    /// Where the bound is lifted, packets.
    lifted_at: f64,
    /// Packets lost beyond the share of those sent, over the round trips of late.
    excess: f64,
    /// Packets acknowledged in the round trip under way.
    acked: u32,
    /// Packets lost in it.
    lost: u32,
    /// When it began; a packet sent since then ends it.
    since: Time,
    /// When the latest response was taken, or zero: what was sent before it is not judged again.
    responded: Time,
    /// When the response before that was.
    earlier: Time,
    /// Packets by which the latest response's losses exceeded what it takes; as few may prove spurious.
    over: f64,
    /// When the first loss of the latest loss episode was found: packets lost that left before.
    episode: Time,
    /// Packets of it that were counted and have not proved spurious.
    episode_lost: u32,
    /// A mark came since the latest loss: what answers that loss is final.
    marked: bool,
    /// Datagram size the bound is in, bytes.
    mtu: f64,
}

impl Default for Backstop {
    fn default() -> Self {
        Backstop {
            bound: f64::INFINITY,
            before: f64::INFINITY,
            lifted_at: 0.0,
            excess: 0.0,
            acked: 0,
            lost: 0,
            since: Time::ZERO,
            responded: Time::ZERO,
            earlier: Time::ZERO,
            over: 0.0,
            episode: Time::ZERO,
            episode_lost: 0,
            marked: false,
            mtu: 0.0,
        }
    }
}

impl Backstop {
    /// Takes an event in, before the scheme does. Returns whether losses have just now lowered `window`, or
    /// would have, were it not lower already.
    #[inline]
    pub fn on_event(&mut self, settings: &Settings, limits: &Limits, window: &mut Window, event: &Event) -> bool {
        let lowered = self.judge(settings, limits.min_window, window.mtu, event);
        if lowered {
            self.reduce(limits, window, event.now);
        }
        lowered
    }

    /// As [`on_event`](Self::on_event) for a scheme without a [`Window`], of which `least` packets of `mtu` bytes may
    /// be in flight whatever is lost. Returns whether [`bound`](Self::bound) has just now been lowered.
    #[inline]
    pub fn judge(&mut self, settings: &Settings, least: f64, mtu: f64, event: &Event) -> bool {
        match &event.kind {
            EventKind::PacketsAcked(acked) => {
                self.acked = self.acked.saturating_add(acked.packets);
                acked.newest_sent_at >= self.since
                    && self.end_round(settings, (least, mtu), event.now, acked.newest_sent_at)
            }
            _ => {
                if settings.loss_bound > 0.0 {
                    self.on_rare_event(event);
                }
                false
            }
        }
    }

    /// Keeps the window within the bound, after the scheme has taken the event in.
    #[inline]
    pub fn hold(&self, limits: &Limits, window: &mut Window) {
        if window.cwnd > self.bound {
            window.lower(limits, self.bound);
        }
    }

    #[cold]
    fn on_rare_event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::PacketsLost(lost) if lost.newest_sent_at > self.responded || self.responded == Time::ZERO => {
                if self.episode_lost == 0 || lost.newest_sent_at > self.episode {
                    (self.episode, self.episode_lost) = (event.now, 0);
                }
                self.episode_lost = self.episode_lost.saturating_add(lost.packets);
                self.lost = self.lost.saturating_add(lost.packets);
                self.marked = false;
            }
            EventKind::PacketsLost(_) => self.marked = false,
            EventKind::SpuriousLoss(spurious) => self.take_back(spurious.newest_sent_at),
            EventKind::PersistentCongestion(_) | EventKind::IdleRestart(_) => self.begin(event.now),
            // Windows keep their bytes.
            EventKind::MtuUpdated(mtu) if self.is_bounding() => {
                let ratio = self.mtu / f64::from((*mtu).max(1));
                self.bound *= ratio;
                self.before *= ratio;
                self.lifted_at *= ratio;
                self.mtu = f64::from((*mtu).max(1));
            }
            // A mark makes what was answered certain.
            EventKind::EcnCe(_) => {
                self.before = self.bound;
                self.marked = true;
            }
            _ => {}
        }
    }

    /// The losses of the latest episode, the newest of packets sent at `sent_at`, were none: they are not counted, and a
    /// response that would not have been without them is taken back.
    fn take_back(&mut self, sent_at: Time) {
        let spurious = core::mem::take(&mut self.episode_lost);
        let under_way = spurious.min(self.lost);
        self.lost -= under_way;
        if sent_at > self.responded || self.responded == Time::ZERO {
            self.excess = (self.excess - f64::from(spurious - under_way)).max(0.0);
        } else if sent_at > self.earlier || self.earlier == Time::ZERO {
            self.over -= f64::from(spurious);
            if self.over <= 0.0 {
                self.bound = self.bound.max(self.before);
            }
        }
    }

    fn begin(&mut self, now: Time) {
        self.since = now;
        (self.acked, self.lost) = (0, 0);
    }

    /// A round trip is over, by the ACK of a packet sent at `sent_at`.
    #[cold]
    fn end_round(&mut self, settings: &Settings, (least, mtu): (f64, f64), now: Time, sent_at: Time) -> bool {
        if settings.loss_bound <= 0.0 {
            self.since = Time(u64::MAX);
            return false;
        }
        let (acked, lost) = (f64::from(self.acked), f64::from(self.lost));
        let flight = acked + lost;
        self.begin(now);
        let beyond = lost - settings.loss_bound * flight;
        self.excess = (self.excess + beyond).max(0.0);
        let over = self.excess - if self.is_bounding() { EXCESS_BOUND } else { EXCESS };
        if over > 0.0 {
            self.over = over;
            self.lower((0.5 * flight).min(acked).max(least), 2.0 * flight, now);
            self.mtu = mtu;
            return true;
        }
        if beyond <= 0.0 && sent_at > self.responded {
            self.bound += 1.0;
            if self.bound > self.lifted_at {
                self.bound = f64::INFINITY;
            }
        }
        false
    }

    fn lower(&mut self, bound: f64, lifted_at: f64, now: Time) {
        self.before = if self.marked { bound } else { self.bound };
        (self.bound, self.lifted_at) = (bound, lifted_at);
        self.excess = 0.0;
        (self.earlier, self.responded) = (self.responded, now);
    }

    #[cold]
    fn reduce(&self, limits: &Limits, window: &mut Window, now: Time) {
        if window.cwnd > self.bound {
            window.reduce(limits, now, Reduction { cwnd: self.bound, ssthresh: self.bound.min(window.ssthresh) });
        }
        if self.marked {
            window.discard_undo();
        }
    }

    /// Largest window, packets; infinite where losses bound nothing.
    #[must_use]
    #[inline]
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Whether losses bound the window.
    #[must_use]
    pub fn is_bounding(&self) -> bool {
        self.bound < f64::INFINITY
    }

    /// Names the state variables worth logging.
    pub fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        if self.bound < f64::INFINITY {
            visit("loss_bound", self.bound);
        }
    }
}

#[cfg(test)]
mod tests;
