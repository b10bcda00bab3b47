//! Congestion detection by counting indications: losses, ECN marks, other marks of
//! active queue management (`spec: arumaithurai §2.1 C1`, Eq. 3.1).

use crate::event::{EcnCe, PacketsLost};
use crate::parameters;
use crate::parts::compose::{Detector, Signal};
use crate::parts::recovery::RecoveryPeriod;
use crate::{Ecn, Event, EventKind, Path, Signals, Time};

parameters! {
    /// What an indication weighs, and how much it takes.
    pub struct Params {
        /// Weight of a lost packet.
        w1: f64 = 1.0, in 0.0, 1e6, source "spec: arumaithurai Eq. 3.1, A47";
        /// Weight of a CE mark; at 0 the flow is not sent as ECN-capable and cannot yield before others see congestion.
        w2: f64 = 1.0, in 0.0, 1e6, source "spec: arumaithurai Eq. 3.1, A47, §3.9";
        /// Weight of an ACK that echoes a congestion-indication mark.
        w3: f64 = 0.0, in 0.0, 1e6, source "spec: arumaithurai Eq. 3.1, A47";
        /// The weighted sum over a round trip from which on it is congestion.
        theta: f64 = 1.0, in 1e-6, 1e6, source "spec: arumaithurai Eq. 3.1, A47";
    }
}

/// Signals congestion when the weighted indications of one round trip reach a
/// threshold, at most once per flight.
///
/// Only packets sent after the latest signal count. That is by send time, which comes
/// to the same as `pn > recovery_end` of `spec: arumaithurai §1.5`: numbers rise with
/// send time, and `recovery_end` is the last number sent when the signal is given. The
/// two differ for packets sent after the signal within the same nanosecond, which count
/// as sent before it.
#[derive(Debug)]
pub struct EarlyEcn;

/// State of one flow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// The weighted indications of the current round trip.
    score: f64,
    /// When the round trip began: it ends with the ACK of a packet sent later.
    round: Option<Time>,
    /// The period of the latest indication that counted.
    signalled: RecoveryPeriod,
}

impl State {
    /// Takes in an indication that weighs `weight`, of packets the newest of which was sent
    /// at `sent_at`: the result is `signal` if that makes it congestion.
    #[inline]
    pub fn count(&mut self, params: &Params, now: Time, sent_at: Time, weight: f64, signal: Signal) -> Signal {
        if !self.signalled.accepts(sent_at) {
            return Signal::Clear;
        }
        self.score += weight;
        if self.score < params.theta {
            return Signal::Clear;
        }
        self.signalled.begin(now);
        self.score = 0.0;
        signal
    }
}

impl Detector for EarlyEcn {
    type Params = Params;
    type State = State;

    fn needs(params: &Params) -> Signals {
        let need = |weight: f64, signal| if weight > 0.0 { signal } else { Signals::NONE };
        Signals::ACKS
            | need(params.w1, Signals::LOSS)
            | need(params.w2, Signals::ECN)
            | need(params.w3, Signals::CONGESTION_INDICATION)
    }

    fn ecn(params: &Params) -> Ecn {
        if params.w2 > 0.0 { Ecn::Ect0 } else { Ecn::NotEct }
    }

    fn start(_: &Params, _: &Path) -> State {
        State::default()
    }

    #[inline]
    fn update(params: &Params, state: &mut State, event: &Event) -> Signal {
        let (packets, weight, sent_at, signal) = match event.kind {
            EventKind::EcnCe(EcnCe { packets, newest_sent_at, .. }) => {
                (packets, params.w2, newest_sent_at, Signal::Mild)
            }
            EventKind::PacketsLost(PacketsLost { packets, newest_sent_at, .. }) => {
                (packets, params.w1, newest_sent_at, Signal::Strong)
            }
            EventKind::PacketsAcked(ref acked) => {
                if state.round.is_none_or(|began| acked.newest_sent_at > began) {
                    state.round = Some(event.now);
                    state.score = 0.0;
                }
                if acked.congestion_indication != Some(true) {
                    return Signal::Clear;
                }
                (1, params.w3, acked.newest_sent_at, Signal::Mild)
            }
            EventKind::PersistentCongestion(_) => {
                *state = State::default();
                return Signal::TimedOut;
            }
            _ => return Signal::Clear,
        };
        state.count(params, event.now, sent_at, weight * f64::from(packets.max(1)), signal)
    }

    fn inspect(_: &Params, state: &State, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("congestion_score", state.score);
    }
}

#[cfg(test)]
mod tests;
