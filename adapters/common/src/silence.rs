//! Idle senders: nothing in flight and nothing to send, for longer than a probe timeout.

use windlass_controllers::event::IdleRestart;
use windlass_controllers::{ConfiguredController, Span, Time};

use crate::{Flow, longest_pacing_delay};

/// A time with nothing in flight.
///
/// It alone does not make a sender idle: an acknowledgement of the whole flight empties it, and a
/// pacer whose gap is longer than a round trip empties it after every packet. With nothing in flight
/// the window has room, so that a sender with data waits for its pacer and for nothing else. Where a
/// stack does not report whether there is something to send, a sender that lets the time pass at
/// which its pacer would have let go had nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Silence {
    /// Since when nothing is in flight, and as far as the sender knows nothing is there to send.
    pub since: Time,
    /// When the newest packet before it was sent; zero if that is not known.
    pub newest_sent_at: Time,
}

impl Silence {
    /// The restart for the controller as the silence ends at `now`, if the sender had nothing to send for longer
    /// than its probe timeout `pto`. Its pacer might have blocked a packet until `held_until`.
    #[must_use]
    pub fn end(self, now: Time, held_until: Time, pto: Span) -> Option<IdleRestart> {
        let restart = IdleRestart::new(now.since(self.since.max(held_until)), pto);
        restart.is_long().then_some(restart)
    }

    /// As [`end`](Self::end), for a stack that does not report whether there is something to send. `flow` is on a
    /// path of datagrams of `mtu` bytes whose smoothed RTT is `smoothed`, zero if that is not known.
    #[must_use]
    pub fn end_of<C: ConfiguredController>(
        self,
        flow: &Flow<C>,
        now: Time,
        smoothed: Span,
        mtu: u32,
        pto: Span,
    ) -> Option<IdleRestart> {
        let delay = flow.with_decision(|decision| longest_pacing_delay(decision, smoothed, mtu));
        self.end(now, self.newest_sent_at + delay, pto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_longer_than_a_probe_timeout_without_the_pacers_part() {
        let silence = Silence { since: Time(100), newest_sent_at: Time(60) };
        assert_eq!(silence.end(Time(150), Time(90), Span(50)), None, "no longer than a probe timeout");
        assert_eq!(silence.end(Time(151), Time(90), Span(50)), Some(IdleRestart::new(Span(51), Span(50))));
        assert_eq!(silence.end(Time(1000), Time(960), Span(50)), None, "it waited for its pacer");
        assert_eq!(silence.end(Time(1000), Time(900), Span(50)), Some(IdleRestart::new(Span(100), Span(50))));
        assert_eq!(silence.end(Time(90), Time(0), Span(0)), None, "time that goes back");
    }
}
