//! Scripts of what happens to one sender, and a flow that lives through them.

use crate::shared::Flows;
use crate::shared::one_of;
use proptest::prelude::*;
use windlass_controllers::event::{
    EcnCe, IdleRestart, LossTrigger, PacketsAcked, PacketsLost, RttSample, SpuriousLoss,
};
use windlass_controllers::{Algorithm, Decision, Event, EventKind, Path, Span, Time};

/// Datagram size, bytes.
pub const MTU: u64 = 1200;

/// Something that happens to a sender; times in µs, `ago` back from now.
#[derive(Clone, Debug)]
pub enum TestEvent {
    Ack { packets: u32, ago: u64, limited: bool, rtt: Option<u64> },
    Loss { ago: u64 },
    Mark { ago: u64 },
    PersistentCongestion,
    SpuriousLoss,
    Idle { idle: u64, pto: u64 },
    RttSample { rtt: u64 },
}

/// Test events, each with how long after the one before it comes, µs.
pub type Script = Vec<(u64, TestEvent)>;

fn rtt(us: u64) -> RttSample {
    let latest = Span::from_micros(us);
    RttSample::new(latest, latest, Span(latest.0 / 8), latest)
}

fn lost(newest_sent_at: Time) -> PacketsLost {
    let in_flight_before = 10 * MTU;
    let in_flight = in_flight_before - MTU;
    let trigger = LossTrigger::PacketThreshold;
    PacketsLost::new(MTU, 1, newest_sent_at, in_flight).with_in_flight_before(in_flight_before).with_trigger(trigger)
}

fn acked(packets: u32, newest_sent_at: Time) -> PacketsAcked {
    let bytes = u64::from(packets) * MTU;
    PacketsAcked::new(bytes, packets, newest_sent_at, 0, bytes)
}

impl TestEvent {
    /// The event, with all times `stretch` times as long.
    fn event(&self, now: Time, stretch: u64) -> Event {
        let sent = |ago: u64| Time(now.0.saturating_sub(1000 * stretch * ago));
        let kind = match *self {
            TestEvent::Ack { packets, ago, limited, rtt: sample } => {
                let rtt = sample.map(|us| rtt(us * stretch));
                EventKind::PacketsAcked(acked(packets, sent(ago)).with_app_limited(limited).with_rtt(rtt))
            }
            TestEvent::Loss { ago } => EventKind::PacketsLost(lost(sent(ago))),
            TestEvent::Mark { ago } => EventKind::EcnCe(EcnCe::new(1, sent(ago), 10 * MTU)),
            TestEvent::PersistentCongestion => EventKind::PersistentCongestion(lost(sent(1))),
            TestEvent::SpuriousLoss => EventKind::SpuriousLoss(SpuriousLoss::new(sent(1))),
            TestEvent::Idle { idle, pto } => EventKind::IdleRestart(IdleRestart::new(
                Span::from_micros(idle * stretch),
                Span::from_micros(pto * stretch),
            )),
            TestEvent::RttSample { rtt: us } => EventKind::RttSampled(rtt(us * stretch)),
        };
        Event::new(now, kind)
    }
}

fn test_event() -> impl Strategy<Value = TestEvent> {
    let ago = 0..60_000u64;
    let sample = one_of([(1, Just(None).boxed()), (1, (1000..200_000u64).prop_map(Some).boxed())]);
    one_of([
        (
            30,
            (1..9u32, ago.clone(), prop::bool::weighted(0.1), sample)
                .prop_map(|(packets, ago, limited, rtt)| TestEvent::Ack { packets, ago, limited, rtt })
                .boxed(),
        ),
        (3, ago.clone().prop_map(|ago| TestEvent::Loss { ago }).boxed()),
        (2, ago.prop_map(|ago| TestEvent::Mark { ago }).boxed()),
        (1, Just(TestEvent::PersistentCongestion).boxed()),
        (1, Just(TestEvent::SpuriousLoss).boxed()),
        (1, (0..10_000_000u64, 1000..1_000_000u64).prop_map(|(idle, pto)| TestEvent::Idle { idle, pto }).boxed()),
        (1, (1000..200_000u64).prop_map(|rtt| TestEvent::RttSample { rtt }).boxed()),
    ])
}

pub fn script() -> impl Strategy<Value = Script> {
    prop::collection::vec((0..40_000u64, test_event()), 1..60)
}

/// One flow of one controller, on a clock that may run `stretch` times as fast.
pub struct Flow {
    pub flows: Flows<Algorithm>,
    pub now: Time,
    pub stretch: u64,
}

impl Flow {
    pub fn new(algorithm: Algorithm, stretch: u64) -> Flow {
        let mut flows = Flows::new(algorithm);
        let now = Time(1_000_000_000 * stretch);
        flows.join(&Path::new(now, MTU as u32, 1));
        Flow { flows, now, stretch }
    }

    pub fn step(&mut self, after: u64, test_event: &TestEvent) -> Event {
        self.now += Span::from_micros(after * self.stretch);
        let event = test_event.event(self.now, self.stretch);
        self.flows.step(0, &event);
        event
    }

    pub fn fork(&self) -> Flow {
        let mut flow = Flow::new(self.flows.engine, self.stretch);
        flow.flows.shared = self.flows.shared;
        flow.flows.members.clone_from(&self.flows.members);
        flow.flows.states.clone_from(&self.flows.states);
        flow.now = self.now;
        flow
    }

    pub fn decision(&self) -> Decision {
        self.flows.decide(0)
    }

    pub fn state_variable(&self, wanted: impl Fn(&str) -> bool) -> Option<f64> {
        let mut found = None;
        self.flows.engine.inspect(&self.flows.states[0], self.flows.view(0), &mut |name, value| {
            if found.is_none() && wanted(name) {
                found = Some(value);
            }
        });
        found
    }

    pub fn window(&self) -> f64 {
        self.state_variable(|name| name == "window").expect("every window scheme shows its window")
    }

    /// A smoothed or smallest RTT, for schemes that keep one.
    pub fn rtt(&self) -> Option<f64> {
        self.state_variable(|name| name.contains("rtt") || name.contains("d_min"))
    }
}
