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
mod tests {
    //! `spec: arumaithurai §1.5, §2.1`, Eq. 3.1, A47.

    use super::*;
    use crate::event::{EcnCe, PacketsAcked};
    use crate::testkit::{PATH, acked, lost, marked};

    /// Runs events given as (time, what) and returns the signals.
    fn signals<const N: usize>(params: &Params, events: [(u64, EventKind); N]) -> [Signal; N] {
        let mut state = EarlyEcn::start(params, &PATH);
        events.map(|(now, kind)| EarlyEcn::update(params, &mut state, &Event { now: Time(now), kind }))
    }

    fn mark(sent_at: u64) -> EventKind {
        EventKind::EcnCe(marked(Time(sent_at)))
    }

    fn loss(sent_at: u64) -> EventKind {
        EventKind::PacketsLost(lost(Time(sent_at)))
    }

    fn ack(sent_at: u64) -> EventKind {
        EventKind::PacketsAcked(acked(1, Time(sent_at)))
    }

    #[test]
    fn one_signal_per_flight() {
        use Signal::*;
        let events = [(100, mark(50)), (110, mark(60)), (120, loss(100)), (210, loss(101)), (220, mark(210))];
        assert_eq!(signals(&Params::default(), events), [Mild, Clear, Clear, Strong, Clear]);
    }

    #[test]
    fn persistent_congestion_starts_over() {
        let events = [(100, mark(50)), (110, EventKind::PersistentCongestion(lost(Time(60)))), (120, loss(70))];
        assert_eq!(signals(&Params::default(), events), [Signal::Mild, Signal::TimedOut, Signal::Strong]);
    }

    #[test]
    fn indications_add_up_over_a_round_trip() {
        use Signal::*;
        let params = Params { w2: 0.5, theta: 2.0, ..Params::default() };
        let three = EventKind::EcnCe(EcnCe { packets: 3, ..marked(Time(1)) });
        assert_eq!(signals(&params, [(10, mark(1)), (11, three)]), [Clear, Mild]);
        assert_eq!(signals(&params, [(10, three), (11, loss(2))]), [Clear, Strong]);
        let none = EventKind::EcnCe(EcnCe { packets: 0, ..marked(Time(1)) });
        assert_eq!(signals(&params, [(10, three), (11, none)]), [Clear, Mild], "a report of marks is one at least");
        // The ACK of a packet sent when the round began does not end it.
        assert_eq!(signals(&params, [(10, ack(1)), (20, three), (21, ack(10)), (22, mark(12))])[3], Mild);
        // The ACK of a packet sent after the round began ends it, and what it had counted.
        let events =
            [(10, ack(1)), (20, three), (21, ack(11)), (22, mark(12)), (30, ack(15)), (31, three), (32, mark(14))];
        assert_eq!(signals(&params, events), [Clear, Clear, Clear, Clear, Clear, Mild, Clear]);
    }

    #[test]
    fn a_weight_of_nothing_is_deafness() {
        let params = Params { w1: 0.0, w2: 0.0, w3: 0.0, ..Params::default() };
        assert_eq!(signals(&params, [(10, mark(1)), (11, loss(2))]), [Signal::Clear; 2]);
        assert_eq!(EarlyEcn::needs(&params), Signals::ACKS);
        assert_eq!((EarlyEcn::ecn(&params), EarlyEcn::ecn(&Params::default())), (Ecn::NotEct, Ecn::Ect0));
    }

    #[test]
    fn congestion_indications_count_where_they_weigh() {
        let echo = EventKind::PacketsAcked(PacketsAcked { congestion_indication: Some(true), ..acked(1, Time(5)) });
        assert_eq!(signals(&Params::default(), [(10, echo)]), [Signal::Clear]);
        let params = Params { w3: 1.0, ..Params::default() };
        assert_eq!(signals(&params, [(10, echo), (11, echo)]), [Signal::Mild, Signal::Clear]);
        assert!(EarlyEcn::needs(&params).contains(Signals::CONGESTION_INDICATION));
    }
}
