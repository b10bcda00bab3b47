//! Congestion detection by any of several kinds of indication, joined by their weights:
//! losses, ECN marks, marks of active queue management, delays, backlog
//! (`spec: arumaithurai §2.1 C1`, Eq. 3.1).

use core::mem;

use crate::event::{PacketsAcked, RttSample};
use crate::parts::compose::{Detector, Signal};
use crate::parts::early::{self, EarlyEcn};
use crate::parts::vegas::{self, Delays, signed};
use crate::parts::windowed::WindowedMin;
use crate::{Ecn, Event, EventKind, Path, Signals, Span, Time, parameters, several};

several! {
    /// Kinds of congestion indication, a set.
    pub struct Kinds {
        /// Packets declared lost.
        LOSS = 0, "loss";
        /// CE marks reported by the peer.
        ECN = 1, "ecn";
        /// Congestion-indication marks of routers, `N_AQM`.
        AQM = 2, "aqm";
        /// One-way delay above the least of late.
        DELAY = 3, "delay";
        /// Round-trip time above the least.
        RTT = 4, "rtt";
        /// Packets of the flow's own that wait.
        BACKLOG = 5, "backlog";
    }
}

parameters! {
    /// What counts as an indication, what one weighs, and how much it takes.
    pub struct Params {
        /// What is heeded; joined by `+`. Without `ecn` packets are not sent as ECN-capable.
        detect: Kinds = Kinds::LOSS, source "spec: arumaithurai §2.1";
        /// Weight of a lost packet.
        w1: f64 = 1.0, in 0.0, 1e6, source "spec: arumaithurai Eq. 3.1, A47";
        /// Weight of a CE mark.
        w2: f64 = 1.0, in 0.0, 1e6, source "spec: arumaithurai Eq. 3.1, A47";
        /// Weight of an ACK that echoes a congestion-indication mark.
        w3: f64 = 1.0, in 0.0, 1e6, source "spec: arumaithurai Eq. 3.1, A47";
        /// Weight of an ACK whose delay or round-trip time is late, or that finds a backlog.
        w4: f64 = 1.0, in 0.0, 1e6, source "spec: arumaithurai §2.1; choice";
        /// The weighted sum over a round trip from which on it is congestion.
        theta: f64 = 1.0, in 1e-6, 1e6, source "spec: arumaithurai Eq. 3.1, A47";
        /// Queueing delay from which on an ACK is late.
        late: f64 = 25.0, in 0.001, 10_000.0, unit "ms", source "choice";
        /// How long a one-way delay is remembered as the least.
        base_delay_window: f64 = 600.0, in 1.0, f64::INFINITY, unit "s", source "spec: arumaithurai A22";
        /// Packets waiting from which on there is a backlog.
        most_waiting: f64 = 4.0, in 0.1, 1e6, unit "packets", source "spec: arumaithurai §6.2";
    }
}

impl Params {
    /// Eq. 3.1's own terms; what is not heeded weighs nothing.
    fn counted(&self) -> early::Params {
        let weight = |kind, weight| if self.detect.contains(kind) { weight } else { 0.0 };
        early::Params {
            w1: weight(Kinds::LOSS, self.w1),
            w2: weight(Kinds::ECN, self.w2),
            w3: weight(Kinds::AQM, self.w3),
            theta: self.theta,
        }
    }

    fn is_late(&self, queued: Span) -> bool {
        queued.millis() >= self.late
    }
}

/// [`EarlyEcn`] with delays.
#[derive(Debug)]
pub struct Weighted;

/// State of one flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct State {
    counted: early::State,
    /// One-way delays of late.
    delays: WindowedMin<4>,
    /// The share of the window that waits by the RTT sample whose ACK is still to come; 0
    /// where there is none.
    waiting: f64,
    /// Whether that sample was late.
    late: bool,
    mtu: u32,
}

impl State {
    /// Keeps what a sample says, without the receiver's delay, for its ACK.
    #[inline]
    fn sampled(&mut self, params: &Params, rtt: &RttSample) {
        let (adjusted, least) = (rtt.adjusted(), rtt.min);
        self.late = params.detect.contains(Kinds::RTT) && params.is_late(adjusted - least);
        if params.detect.contains(Kinds::BACKLOG) {
            self.waiting = vegas::backlog(1.0, Delays::new(signed(least) as f64, signed(adjusted) as f64));
        }
    }

    /// How many kinds of lateness the ACK shows.
    fn lateness(&mut self, params: &Params, now: Time, acked: &PacketsAcked) -> u32 {
        let kinds = params.detect;
        let mut found = 0;
        if let Some(one_way) = acked.one_way.filter(|_| kinds.contains(Kinds::DELAY)) {
            let window = Span::from_secs_f64(params.base_delay_window);
            let base = self.delays.update(now, Some(window), one_way.forward);
            let queued = Span(one_way.forward.saturating_sub(base).max(0).unsigned_abs());
            found += u32::from(params.is_late(queued));
        }
        found += u32::from(mem::take(&mut self.late));
        let waiting = mem::take(&mut self.waiting);
        if waiting > 0.0 {
            let packets = acked.in_flight_before as f64 / f64::from(self.mtu);
            found += u32::from(waiting * packets >= params.most_waiting);
        }
        found
    }
}

impl Detector for Weighted {
    type Params = Params;
    type State = State;

    fn needs(params: &Params) -> Signals {
        let kinds = params.detect;
        let need = |kind, signal| if kinds.contains(kind) { signal } else { Signals::NONE };
        EarlyEcn::needs(&params.counted())
            | need(Kinds::DELAY, Signals::ONE_WAY_DELAY)
            | need(Kinds::RTT, Signals::RTT)
            | need(Kinds::BACKLOG, Signals::RTT)
    }

    fn ecn(params: &Params) -> Ecn {
        EarlyEcn::ecn(&params.counted())
    }

    fn start(_: &Params, path: &Path) -> State {
        State {
            counted: early::State::default(),
            delays: WindowedMin::default(),
            waiting: 0.0,
            late: false,
            mtu: path.mtu.max(1),
        }
    }

    #[inline]
    fn update(params: &Params, state: &mut State, event: &Event) -> Signal {
        if let Some(rtt) = event.rtt() {
            state.sampled(params, &rtt);
        }
        if let EventKind::MtuUpdated(mtu) = event.kind {
            state.mtu = mtu.max(1);
        }
        let counted = params.counted();
        let signal = EarlyEcn::update(&counted, &mut state.counted, event);
        let EventKind::PacketsAcked(acked) = &event.kind else { return signal };
        let late = state.lateness(params, event.now, acked);
        if late == 0 {
            return signal;
        }
        let weight = params.w4 * f64::from(late);
        signal.max(state.counted.count(&counted, event.now, acked.newest_sent_at, weight, Signal::Mild))
    }

    fn inspect(params: &Params, state: &State, visit: &mut dyn FnMut(&'static str, f64)) {
        EarlyEcn::inspect(&params.counted(), &state.counted, visit);
    }
}

#[cfg(test)]
mod tests {
    //! `spec: arumaithurai §2.1 C1`, Eq. 3.1; contract rule 4.

    use super::*;
    use crate::param::ParamValue;
    use crate::testkit::{PATH, acked, lost, marked};

    #[test]
    fn without_delays_it_is_the_early_detector() {
        let params = Params { detect: Kinds::LOSS.and(Kinds::ECN), ..Params::default() };
        let (mut ours, mut theirs) = (Weighted::start(&params, &PATH), early::State::default());
        let early = early::Params::default();
        for i in 0..200 {
            let sent_at = Time(i * 7 % 150);
            let kind = match i % 3 {
                0 => EventKind::PacketsAcked(acked(1, sent_at)),
                1 => EventKind::EcnCe(marked(sent_at)),
                _ => EventKind::PacketsLost(lost(sent_at)),
            };
            let event = Event { now: Time(i), kind };
            let signals = Weighted::update(&params, &mut ours, &event);
            assert_eq!(signals, EarlyEcn::update(&early, &mut theirs, &event));
        }
        assert_eq!(ours.counted, theirs);
        assert_eq!(
            (Weighted::needs(&params), Weighted::ecn(&params)),
            (EarlyEcn::needs(&early), EarlyEcn::ecn(&early))
        );
    }

    #[test]
    fn a_set_is_read_and_written_as_words() {
        assert_eq!(Kinds::read("delay+ecn"), Some(Kinds::ECN.and(Kinds::DELAY)));
        assert_eq!((Kinds::read(""), Kinds::read("ecn+"), Kinds::read("ecn,loss")), (None, None, None));
        assert_eq!(std::format!("{}", Kinds::LOSS.and(Kinds::BACKLOG).value()), "loss+backlog");
    }
}
