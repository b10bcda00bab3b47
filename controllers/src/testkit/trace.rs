//! Random traces of a flow: what happens, and the events a sender makes of it.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::{MTU, acked, lost, marked, one_of, rtt};
use crate::event::{Delivery, IdleRestart, ProbeReceived, SpuriousLoss};
use crate::{Decision, Event, EventKind, Span, Time};

/// Something that happens to a flow. Ages are how long ago, in microseconds, the newest
/// packet concerned was sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Act {
    /// So many packets are acknowledged.
    Ack { packets: u32, age: u64, app_limited: bool },
    /// One packet is reported as CE-marked.
    Mark { age: u64 },
    /// One packet is declared lost.
    Loss { age: u64 },
    /// Persistent congestion.
    Timeout,
    /// The latest losses were spurious.
    Spurious { age: u64 },
    /// The maximum datagram size becomes so many bytes.
    Mtu(u32),
    /// An idle period ends, as long or not as the probe timeout of 300 ms.
    IdleRestart { ms: u64 },
    /// A wake-up call, wanted or not.
    Tick,
    /// The train under way is answered. A bit per probe says which were marked and
    /// which were lost.
    Train { marked: u64, lost: u64 },
}

/// An act and how many microseconds after the one before.
pub type Script = Vec<(u64, Act)>;

/// Scripts of up to `length` acts.
pub fn scripts(length: usize) -> impl Strategy<Value = Script> {
    let age = 0u64..250_000;
    let ack = (1u32..40, age.clone(), prop::bool::weighted(0.1));
    let act = one_of([
        (12, ack.prop_map(|(packets, age, app_limited)| Act::Ack { packets, age, app_limited }).boxed()),
        (2, age.clone().prop_map(|age| Act::Mark { age }).boxed()),
        (2, age.clone().prop_map(|age| Act::Loss { age }).boxed()),
        (1, Just(Act::Timeout).boxed()),
        (1, age.prop_map(|age| Act::Spurious { age }).boxed()),
        (1, prop::sample::select(vec![1000, 1200, 1452, 9000]).prop_map(Act::Mtu).boxed()),
        (1, (0u64..600).prop_map(|ms| Act::IdleRestart { ms }).boxed()),
        (4, Just(Act::Tick).boxed()),
        (4, Just(Act::Train { marked: 0, lost: 0 }).boxed()),
        (3, any::<u64>().prop_map(|marked| Act::Train { marked, lost: 0 }).boxed()),
        (2, (0u32..15).prop_map(|clean| Act::Train { marked: u64::MAX << clean, lost: 0 }).boxed()),
        (
            2,
            (any::<u64>(), any::<u64>(), any::<u64>())
                .prop_map(|(marked, a, b)| Act::Train { marked, lost: a & b })
                .boxed(),
        ),
    ]);
    prop::collection::vec((0u64..120_000, act), 1..length)
}

impl Act {
    /// Its events for a flow whose latest decision is `decision`.
    pub fn events(&self, now: Time, decision: &Decision) -> Vec<Event> {
        let sent = |age: u64| Time(now.0.saturating_sub(Span::from_micros(age).0));
        let sample = |age: u64| Some(rtt(Span::from_micros(age.max(1))));
        let one = |kind| vec![Event::new(now, kind)];
        match *self {
            Act::Ack { packets, age, app_limited } => {
                let acked = acked(packets, sent(age));
                let fresh = decision.recovery_start.is_none_or(|start| acked.newest_sent_at > start);
                let fresh_bytes = if fresh { acked.bytes } else { 0 };
                let delivery = Delivery::new(0, sent(age), sent(2 * age)).with_app_limited(app_limited);
                let delivery = Some(delivery);
                one(EventKind::PacketsAcked(
                    acked
                        .with_app_limited(app_limited)
                        .with_fresh_bytes(fresh_bytes)
                        .with_rtt(sample(age))
                        .with_delivery(delivery),
                ))
            }
            Act::Mark { age } => one(EventKind::EcnCe(marked(sent(age)))),
            Act::Loss { age } => one(EventKind::PacketsLost(lost(sent(age)))),
            Act::Timeout => one(EventKind::PersistentCongestion(lost(sent(0)))),
            Act::Spurious { age } => one(EventKind::SpuriousLoss(SpuriousLoss::new(sent(age)))),
            Act::Mtu(mtu) => one(EventKind::MtuUpdated(mtu)),
            Act::IdleRestart { ms } => {
                one(EventKind::IdleRestart(IdleRestart::new(Span::from_millis(ms), Span::from_millis(300))))
            }
            Act::Tick => one(EventKind::TimerExpired),
            Act::Train { marked, lost } => {
                let (train, packets) = decision.train.map_or((0, 0), |plan| (plan.id, plan.packets));
                let bit = |bits: u64, index: u32| bits >> index.min(63) & 1 == 1;
                (0..packets)
                    .filter(|&index| !bit(lost, index))
                    .map(|index| ProbeReceived::new(train, index, now).with_ce(bit(marked, index)))
                    .map(|probed| Event::new(now, EventKind::ProbeReceived(probed)))
                    .collect()
            }
        }
    }
}

/// Runs `script` on a flow that starts at the origin of time with datagrams of
/// [`MTU`](super::MTU) bytes. `observe` sees the state before and after each event.
pub fn run<C: crate::Controller<Group = ()>>(
    params: &C::Params,
    seed: u64,
    script: &[(u64, Act)],
    mut observe: impl FnMut(&C::State, &Event, &C::State),
) -> C::State {
    let mut state = C::start(params, &crate::Path::new(Time::ZERO, MTU, seed));
    let mut now = Time::ZERO;
    for (passed, act) in script {
        now += Span::from_micros(*passed);
        for event in act.events(now, &C::decide(params, &state, crate::View::solo(&()))) {
            let after = super::step::<C>(params, state, event.now, event.kind);
            observe(&state, &event, &after);
            state = after;
        }
    }
    state
}
