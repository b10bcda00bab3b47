//! The smallest closed loop: one flow through a bottleneck of constant rate.

use std::collections::VecDeque;

use super::{MTU, acked, rtt};
use crate::event::{OneWay, PacketsAcked};
use crate::{Controller, Event, EventKind, Span, Table, Time, View};

/// A path without loss and with an endless queue.
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    /// How long the bottleneck takes for a packet, nanoseconds.
    pub service: u64,
    /// Round-trip time of a packet that meets no queue, nanoseconds; at least `service`,
    /// which is part of it.
    pub base: u64,
    /// Packets per ACK; the last one in flight is acknowledged at once.
    pub every: u32,
}

/// What an observer sees after each ACK and what was sent upon it.
#[derive(Debug)]
pub struct Moment<'a, S> {
    /// State of the flow under test.
    pub state: &'a S,
    /// Packets in flight.
    pub in_flight: f64,
}

impl Pipe {
    /// Packets that fit into the path without waiting.
    pub fn capacity(&self) -> f64 {
        self.base as f64 / self.service as f64
    }

    /// Lets a flow that starts from `state` send all it may until `acks` frames came
    /// back.
    pub fn run<C: Controller<Group = ()>>(
        &self,
        params: &C::Params,
        mut state: C::State,
        acks: u32,
        mut observe: impl FnMut(&Moment<'_, C::State>),
    ) {
        let mut now = 0;
        let mut least = u64::MAX;
        let mut free_at = 0;
        let mut flying: VecDeque<(u64, u64, u64)> = VecDeque::new();
        let mut unacknowledged = 0;
        let mut delivered = 0;
        for _ in 0..acks {
            let room = C::decide(params, &state, View::solo(&())).cwnd / u64::from(MTU);
            while (flying.len() as u64) < room {
                free_at = (now + self.base).max(free_at + self.service);
                let in_flight = (flying.len() as u64 + 1) * u64::from(MTU);
                flying.push_back((now, free_at, in_flight));
            }
            observe(&Moment { state: &state, in_flight: flying.len() as f64 });
            let before = flying.len() as u64;
            let (mut sent, mut with) = (now, None);
            while let Some((sent_at, back_at, in_flight)) = flying.pop_front() {
                (now, sent, with) = (back_at, sent_at, Some(in_flight));
                unacknowledged += 1;
                if unacknowledged == self.every {
                    break;
                }
            }
            least = least.min(now - sent);
            delivered += u64::from(unacknowledged) * u64::from(MTU);
            let frame = PacketsAcked {
                in_flight_before: before * u64::from(MTU),
                in_flight: flying.len() as u64 * u64::from(MTU),
                delivered,
                newest_in_flight: with,
                rtt: Some(crate::event::RttSample { min: Span(least), ..rtt(Span(now - sent)) }),
                one_way: Some(OneWay::new((now - sent) as i64, 0)),
                ..acked(unacknowledged, Time(sent))
            };
            unacknowledged = 0;
            let event = Event::new(Time(now), EventKind::PacketsAcked(frame));
            C::step(params, &mut state, Table::solo(&mut ()), &event);
        }
    }
}
