//! The network of a run, as s2n-quic drives it.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use s2n_quic::provider::io::testing::network::{Buffers, Packet as Datagram};
use s2n_quic::provider::io::testing::{self, spawn, time};
use s2n_quic_core::inet::ExplicitCongestionNotification as Mark;
use windlass_controllers::{Decision, Ecn, Span, Time};

use super::clock::Clock;
use super::flow::Shared;
use crate::measure::NetworkMeter;
use crate::net::{Class, Codepoint, Fate, Network, Packet};
use crate::scenario::{FlowSpec, Scenario};

/// Virtual time between two looks at whether to stop.
const LOOK: Span = Span::from_millis(50);

/// Datagrams an end takes in at one instant; s2n-quic's test sockets drop more.
const MOST_AT_ONCE: usize = 1024;

/// A flow on the network.
pub struct Lane<'a> {
    pub spec: &'a FlowSpec,
    pub flow: Shared,
    /// The addresses of the sending and the receiving end.
    pub ends: [SocketAddr; 2],
    /// Packets the receiver saw with a CE mark.
    pub marked: u64,
}

/// The network with everything that travels on it, and the meters that watch it.
pub struct World<'a> {
    pub network: Network,
    pub meter: NetworkMeter,
    pub lanes: Vec<Lane<'a>>,
    scenario: &'a Scenario,
    clock: Option<Clock>,
    stop: &'a dyn Fn(Time) -> bool,
    /// Tells the run to stop.
    pub stopped: Arc<AtomicBool>,
    /// Datagrams under way; the network knows them by their place here.
    travelling: Vec<Option<Datagram>>,
    free: Vec<usize>,
    /// The next point of all series.
    point: Time,
    looked: Time,
    /// When the run is woken for the network.
    woken_at: Option<Time>,
    /// Datagrams an end could not take in.
    pub overrun: u64,
}

impl<'a> World<'a> {
    pub fn new(scenario: &'a Scenario, mut network: Network, stop: &'a dyn Fn(Time) -> bool) -> World<'a> {
        network.tell_losses(true);
        World {
            network,
            meter: NetworkMeter::new(scenario),
            lanes: Vec::new(),
            scenario,
            clock: None,
            stop,
            stopped: Arc::default(),
            travelling: Vec::new(),
            free: Vec::new(),
            point: Time(scenario.sample.0),
            looked: Time::ZERO,
            woken_at: None,
            overrun: 0,
        }
    }

    /// The run begins, by `clock`.
    pub fn begin(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// The run ends at `end`; nothing happens any more.
    pub fn close(&mut self, end: Time) {
        if !self.stopped.load(Ordering::Relaxed) {
            while self.network.poll(end).is_some() {}
            self.sample(end);
        }
        self.clock = None;
    }

    /// The points of all series until `now`.
    pub fn sample(&mut self, now: Time) {
        let end = Time(self.scenario.duration.0);
        while self.point <= now && self.point <= end {
            self.lanes.iter().for_each(|lane| lane.flow.lock().sample(self.point));
            self.meter.sample(self.point, self.scenario, &mut self.network);
            self.point += self.scenario.sample;
        }
    }

    fn look(&mut self, now: Time) {
        if now >= self.looked + LOOK {
            self.looked = now;
            if (self.stop)(now) {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Hands over what the network delivers until `now`. Returns how many datagrams.
    fn deliver(&mut self, now: Time, buffers: &Buffers) -> usize {
        let mut count = 0;
        while let Some(delivery) = self.network.poll(now) {
            let place = delivery.packet.id as usize;
            self.free.push(place);
            let Some(mut datagram) = self.travelling.get_mut(place).and_then(Option::take) else { continue };
            if delivery.fate != Fate::Delivered {
                continue;
            }
            datagram.ecn = Mark::new(delivery.packet.ecn as u8);
            let lane = &mut self.lanes[delivery.packet.flow as usize];
            let to = SocketAddr::from(datagram.path.remote_address.0);
            if to == lane.ends[1] && lane.spec.has_vanished(now) {
                continue;
            }
            if to == lane.ends[1] && delivery.packet.ecn == Codepoint::Ce && lane.flow.lock().over.is_none() {
                lane.marked += 1;
            }
            datagram.switch();
            let overrun = &mut self.overrun;
            buffers.rx(to.into(), |queue| {
                if queue.len() >= MOST_AT_ONCE {
                    *overrun += 1;
                }
                queue.enqueue(datagram);
            });
            count += 1;
        }
        count
    }

    /// Takes what the ends sent, in the flows' order.
    fn collect(&mut self, now: Time, buffers: &Buffers) -> usize {
        let mut count = 0;
        let mut sent = Vec::new();
        for (number, lane) in (0u32..).zip(&self.lanes) {
            let (ecn, class) = marking(lane.spec, &lane.flow.lock().decision);
            for (end, route) in lane.ends.into_iter().zip([lane.spec.forward, lane.spec.backward]) {
                buffers.tx(end.into(), |queue| sent.extend(queue.drain()));
                let forward = end == lane.ends[0];
                if !forward && lane.spec.has_vanished(now) {
                    sent.clear();
                }
                for datagram in sent.drain(..) {
                    let bytes = u32::try_from(datagram.payload.len()).unwrap_or(u32::MAX);
                    let place = self.free.pop().unwrap_or(self.travelling.len());
                    let mut packet = Packet::new(number, place as u64, bytes.saturating_add(lane.spec.overhead_bytes));
                    if ecn || !forward {
                        packet.ecn = codepoint(datagram.ecn);
                    }
                    if forward {
                        packet.class = class;
                    } else if lane.spec.ecn == Some(false) {
                        packet.ecn = Codepoint::NotEct;
                    }
                    match self.travelling.get_mut(place) {
                        Some(free) => *free = Some(datagram),
                        None => self.travelling.push(Some(datagram)),
                    }
                    self.network.send(now, route, packet);
                    count += 1;
                }
            }
        }
        count
    }

    /// Has the run woken when the network has something to do.
    fn wake(&mut self, clock: Clock, now: Time) {
        let Some(next) = self.network.next() else { return };
        // As the run can be woken: by the microsecond.
        let wait = clock.until(next);
        let at = now + Span(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX));
        if wait.is_zero() || self.woken_at.is_some_and(|woken| woken > now && woken <= at) {
            return;
        }
        self.woken_at = Some(at);
        spawn(async move { time::delay(wait).await });
    }
}

/// The world in the hands of s2n-quic's executor, which calls it whenever everything else
/// has come to rest.
pub struct Wire<'a>(pub Rc<RefCell<World<'a>>>);

impl testing::Network for Wire<'_> {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let world = &mut *self.0.borrow_mut();
        let Some(clock) = world.clock else { return 0 };
        let now = clock.now();
        world.sample(now);
        world.look(now);
        let count = world.deliver(now, buffers) + world.collect(now, buffers);
        world.wake(clock, now);
        count
    }
}

/// How a packet of the sender is marked: by the scenario, else as the controller decides.
fn marking(spec: &FlowSpec, decision: &Decision) -> (bool, Class) {
    let ecn = match (spec.ecn, decision.ecn) {
        (Some(false), _) | (_, Ecn::NotEct) | (None, Ecn::Unspecified) => false,
        (_, Ecn::Ect0 | Ecn::Ect1) | (Some(true), Ecn::Unspecified) => true,
    };
    (ecn, Class::of_dscp(decision.dscp))
}

fn codepoint(mark: Mark) -> Codepoint {
    match mark {
        Mark::NotEct => Codepoint::NotEct,
        Mark::Ect1 => Codepoint::Ect1,
        Mark::Ect0 => Codepoint::Ect0,
        Mark::Ce => Codepoint::Ce,
    }
}
