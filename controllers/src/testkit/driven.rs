//! Flows driven round by round, for the tests of the Vegas schemes.

use std::fmt::Debug;
use std::vec::Vec;

use proptest::prelude::*;

use super::pipe::Pipe;
use super::{MTU, PATH, acked, lost, marked, one_of, rtt, step};
use crate::event::{IdleRestart, OneWay, PacketsAcked, Queueing, RttSample, SpuriousLoss};
use crate::parts::vegas::{ByGradient, Delays, Gradient, RoundMeasurement, Scheme, VegasBased, WindowHistory};
use crate::parts::window::Window;
use crate::{Controller, EventKind, Parameters, Span, Time};

/// A millisecond in nanoseconds.
pub const MS: u64 = 1_000_000;

/// What an ACK of one packet measures.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The RTT, nanoseconds.
    pub rtt: u64,
    /// One-way delays, where there are any.
    pub one_way: Option<OneWay>,
    /// Router queueing times, where there are any.
    pub queueing: Option<Queueing>,
}

/// A round-trip time, nothing else.
pub fn trip(rtt: u64) -> Measured {
    Measured { rtt, one_way: None, queueing: None }
}

/// A round with a backlog of `delta` packets, of which nothing else matters.
pub fn backlog_of(delta: f64) -> RoundMeasurement {
    RoundMeasurement { delta, delays: Delays::new(1.0, 1.0), cwnd: 10.0, late: 0.0 }
}

/// A flow that keeps its window full and whose receiver acknowledges every packet.
#[derive(Debug)]
pub struct Driven<S: Scheme> {
    pub params: S::Params,
    pub state: <VegasBased<S> as Controller>::State,
    pub now: u64,
}

impl<S: Scheme> Clone for Driven<S> {
    fn clone(&self) -> Self {
        Driven { params: self.params, state: self.state, now: self.now }
    }
}

impl<S: Scheme> Driven<S> {
    /// A flow at its start on [`PATH`](super::PATH).
    pub fn new(params: S::Params) -> Self {
        Driven { params, state: VegasBased::<S>::start(&params, &PATH), now: 1 }
    }

    /// A flow at `cwnd` packets with threshold `ssthresh` whose round in progress has
    /// measured `measured`, and which knows `base`.
    pub fn measured(params: S::Params, cwnd: f64, ssthresh: f64, base: Measured, measured: Measured) -> Self {
        let mut driven = Driven::new(params);
        let force = |driven: &mut Self| {
            driven.state.window.cwnd = cwnd;
            driven.state.window.ssthresh = ssthresh;
        };
        for one in [base, measured] {
            force(&mut driven);
            driven.round(&[one]);
        }
        force(&mut driven);
        driven
    }

    /// The decision of such a flow, if it is its turn to act.
    pub fn judged(params: S::Params, cwnd: f64, ssthresh: f64, base: u64, rtt: u64) -> Self {
        let mut driven = Driven::measured(params, cwnd, ssthresh, trip(base), trip(rtt));
        driven.decide();
        driven
    }

    /// A flow in congestion avoidance at `cwnd` packets that knows `base`.
    pub fn avoiding(params: S::Params, cwnd: f64, base: u64) -> Self {
        Driven::measured(params, cwnd, 2.0, trip(base), trip(base))
    }

    pub fn apply(&mut self, kind: EventKind) {
        self.now += 10;
        self.state = step::<VegasBased<S>>(&self.params, self.state, Time(self.now), kind);
    }

    /// The ACK of one packet sent just after the latest event.
    pub fn ack(&self, measured: Measured) -> PacketsAcked {
        let in_flight = self.state.window.cwnd as u64 * u64::from(MTU);
        PacketsAcked {
            in_flight_before: in_flight,
            in_flight: in_flight.saturating_sub(u64::from(MTU)),
            rtt: Some(RttSample { min: Span::ZERO, ..rtt(Span(measured.rtt)) }),
            one_way: measured.one_way,
            queueing: measured.queueing,
            ..acked(1, Time(self.now + 5))
        }
    }

    /// One ACK per entry, the first of which ends the round before; all acknowledge
    /// packets sent before the first.
    pub fn round(&mut self, measured: &[Measured]) {
        let sent_at = Time(self.now + 5);
        for one in measured {
            let ack = PacketsAcked { newest_sent_at: sent_at, ..self.ack(*one) };
            self.apply(EventKind::PacketsAcked(ack));
        }
    }

    /// A round of as many ACKs as the window has packets, all of `measured`.
    pub fn full_round(&mut self, measured: Measured) {
        let sent_at = Time(self.now + 5);
        for _ in 0..self.state.window.cwnd as u32 {
            let ack = PacketsAcked { newest_sent_at: sent_at, ..self.ack(measured) };
            self.apply(EventKind::PacketsAcked(ack));
        }
    }

    /// ACKs of packets sent before the round in progress.
    pub fn rest(&mut self, acks: u32, measured: Measured) {
        for _ in 0..acks {
            let ack = PacketsAcked { newest_sent_at: Time(1), ..self.ack(measured) };
            self.apply(EventKind::PacketsAcked(ack));
        }
    }

    /// An ACK that ends the round, has no sample, and grows nothing. Makes it a round to
    /// act on.
    pub fn decide(&mut self) {
        self.state.acting = false;
        let ack = self.ack(trip(0)).with_app_limited(true).with_rtt(None);
        self.apply(EventKind::PacketsAcked(ack));
    }

    /// Loses a packet sent at `sent_at` of data transmitted `transmissions` times.
    pub fn lose(&mut self, sent_at: u64, transmissions: u32) {
        self.apply(EventKind::PacketsLost(lost(Time(sent_at)).with_transmissions(transmissions)));
    }

    /// Loses a packet sent just now.
    pub fn lose_one(&mut self, transmissions: u32) {
        self.lose(self.now + 5, transmissions);
    }

    pub fn cwnd(&self) -> f64 {
        self.state.window.cwnd
    }

    pub fn delta(&self) -> Option<f64> {
        self.state.delta.map(|(delta, _)| delta)
    }
}

/// An event of a test, round by round.
#[derive(Clone, Debug)]
pub enum TestEvent {
    /// A round of ACKs with these delays over the base, nanoseconds, forward and backward.
    Round(Vec<(u64, u64)>),
    /// Data transmitted so many times is lost; sent so long ago.
    Loss(u32, u64),
    Mark(u64),
    Timeout,
    Undo,
    IdleRestart(u64),
    Mtu(u32),
}

/// Rounds with and without trouble.
pub fn test_events() -> impl Strategy<Value = Vec<TestEvent>> {
    let delays = prop::collection::vec((0..300 * MS, 0..300 * MS), 1..12);
    let short = prop::collection::vec((0..3 * MS, 0..3 * MS), 1..12);
    prop::collection::vec(
        one_of([
            (8, delays.prop_map(TestEvent::Round).boxed()),
            (8, short.prop_map(TestEvent::Round).boxed()),
            (2, (1u32..4, 0u64..400).prop_map(|(transmissions, age)| TestEvent::Loss(transmissions, age)).boxed()),
            (1, (0u64..400).prop_map(TestEvent::Mark).boxed()),
            (1, Just(TestEvent::Timeout).boxed()),
            (1, Just(TestEvent::Undo).boxed()),
            (1, (0..600 * MS).prop_map(TestEvent::IdleRestart).boxed()),
            (1, (1200u32..9000).prop_map(TestEvent::Mtu).boxed()),
        ]),
        1..30,
    )
}

/// Delays of 60 ms forward and 40 ms back with `queued` on top, read off clocks `offset`
/// apart, and reported by the routers.
pub fn both_ways((forward, backward): (u64, u64), offset: i64) -> Measured {
    Measured {
        rtt: 100 * MS + forward + backward,
        one_way: Some(OneWay::new((60 * MS + forward) as i64 + offset, (40 * MS + backward) as i64 - offset)),
        queueing: Some(Queueing::new(Span(forward), Span(backward))),
    }
}

impl<S: Scheme> Driven<S> {
    /// Turns a test event into the controller's event and steps.
    pub fn on_test_event(&mut self, kind: &TestEvent) {
        let ago = |age: u64| Time(self.now.saturating_sub(age));
        match kind {
            TestEvent::Round(delays) => {
                let measured: Vec<_> = delays.iter().map(|delay| both_ways(*delay, 0)).collect();
                self.round(&measured);
            }
            TestEvent::Loss(transmissions, age) => self.lose(ago(*age).0, *transmissions),
            TestEvent::Mark(age) => self.apply(EventKind::EcnCe(marked(ago(*age)))),
            TestEvent::Timeout => self.apply(EventKind::PersistentCongestion(lost(ago(0)))),
            TestEvent::Undo => self.apply(EventKind::SpuriousLoss(SpuriousLoss::new(ago(0)))),
            TestEvent::IdleRestart(idle) => {
                self.apply(EventKind::IdleRestart(IdleRestart::new(Span(*idle), Span(300 * MS))));
            }
            TestEvent::Mtu(mtu) => self.apply(EventKind::MtuUpdated(*mtu)),
        }
    }

    /// P1: whatever happens, the window stays finite and, once it has reached two
    /// packets, at two or more; and it happens the same way twice.
    pub fn survives(&mut self, test_events: &[TestEvent]) -> Result<(), TestCaseError> {
        let mut twin = self.clone();
        let mut grown = false;
        for kind in test_events {
            self.on_test_event(kind);
            twin.on_test_event(kind);
            grown |= self.cwnd() >= 2.0;
            prop_assert!(self.cwnd().is_finite() && self.cwnd() >= if grown { 2.0 } else { 1.0 }, "{}", self.cwnd());
            prop_assert!(self.state == twin.state);
        }
        Ok(())
    }
}

/// The default and the `paper` profile, in equal parts.
pub fn profiles<P: Parameters + Debug>() -> impl Strategy<Value = P> {
    prop::bool::ANY.prop_map(|document| if document { P::paper() } else { P::default() })
}

/// Rounds of queueing delays, forward and backward, one per ACK.
pub type Rounds = Vec<Vec<(u64, u64)>>;

/// Rounds that queue up to 100 ms forward and `backward` back.
pub fn rounds(backward: u64) -> impl Strategy<Value = Rounds> {
    let queued = (one_of([(1, (0..2 * MS).boxed()), (1, (0..100 * MS).boxed())]), 0..=backward);
    prop::collection::vec(prop::collection::vec(queued, 1..12), 1..16)
}

/// Everything a flow decides by.
pub fn outcome<S: Scheme>(flow: &Driven<S>) -> (Window, f64, bool, Option<f64>) {
    (flow.state.window, flow.state.incr, flow.state.acting, flow.delta())
}

/// Two flows that measure `rounds` as `of_one` and `of_other` have it of a packet's place in
/// its round and its delays decide the same, round by round. Both lose a packet before round
/// `lossy`.
pub fn alike<A: Scheme, B: Scheme>(
    (one, other): (&mut Driven<A>, &mut Driven<B>),
    rounds: &Rounds,
    lossy: Option<usize>,
    of_one: impl Fn(usize, (u64, u64)) -> Measured,
    of_other: impl Fn(usize, (u64, u64)) -> Measured,
) -> Result<(), TestCaseError> {
    for (i, round) in rounds.iter().enumerate() {
        if lossy == Some(i) {
            one.lose_one(1);
            other.lose_one(1);
        }
        let measured: Vec<_> = round.iter().enumerate().map(|(place, queued)| of_one(place, *queued)).collect();
        one.round(&measured);
        let measured: Vec<_> = round.iter().enumerate().map(|(place, queued)| of_other(place, *queued)).collect();
        other.round(&measured);
        prop_assert_eq!(outcome(one), outcome(other));
    }
    Ok(())
}

impl<S: Scheme> Driven<S> {
    /// P2: a full round in congestion avoidance moves the window by a packet at most.
    pub fn moves_by_at_most_one(&mut self, rounds: impl IntoIterator<Item = Measured>) -> Result<(), TestCaseError> {
        for measured in rounds {
            let before = self.cwnd();
            self.full_round(measured);
            let moved = self.cwnd() - before;
            prop_assert!((-1.0..=1.0 + 1e-9).contains(&moved), "{moved}");
        }
        Ok(())
    }
}

/// How a scheme that steps by the gradient between two windows fares: the decision, at the
/// second of two windows with their RTTs in ms; the window and what is left to grow.
pub fn compared<S>(params: S::Params, before: (f64, u64), now: (f64, u64)) -> (f64, f64)
where
    S: Scheme<Step = ByGradient, Params: Gradient>,
{
    let mut flow = Driven::<S>::avoiding(params, before.0, 100 * MS);
    for (cwnd, rtt) in [before, now] {
        flow.state.window.cwnd = cwnd;
        // Two rounds: the first one's samples are cleared by what decides on the one before.
        flow.decide();
        flow.state.window.cwnd = cwnd;
        flow.state.incr = 0.0;
        flow.round(&[trip(rtt * MS)]);
        flow.state.window.cwnd = cwnd;
        flow.state.step.skip_settling();
        flow.decide();
    }
    (flow.cwnd(), flow.state.incr)
}

/// A loss halves a window of 40, and the paper's of 41 by the whole part of its half; what
/// was measured before it is no longer compared with.
pub fn a_loss_halves_and_forgets<S>()
where
    S: Scheme<Step = ByGradient, Params: Gradient>,
{
    let mut flow = Driven::<S>::avoiding(S::Params::default(), 40.0, 100 * MS);
    flow.lose_one(1);
    assert_eq!(flow.cwnd(), 20.0);
    assert_eq!(flow.state.step, WindowHistory::default());
    let mut paper = Driven::<S>::avoiding(S::Params::paper(), 41.0, 100 * MS);
    paper.lose_one(1);
    assert_eq!(paper.cwnd(), 21.0);
}

/// The windows a flow alone comes to move between on a path that 100 packets fill.
pub fn settled_between<S: Scheme>() -> (f64, f64) {
    let pipe = Pipe { service: MS, base: 100 * MS, every: 1 };
    let params = S::Params::default();
    let start = VegasBased::<S>::start(&params, &PATH);
    let (mut acks, mut least, mut most) = (0u32, f64::INFINITY, 0.0f64);
    pipe.run::<VegasBased<S>>(&params, start, 200_000, |moment| {
        acks += 1;
        if acks > 100_000 {
            least = least.min(moment.state.window.cwnd);
            most = most.max(moment.state.window.cwnd);
        }
    });
    (least, most)
}
