//! The network of a run, as s2n-quic drives it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use s2n_quic::provider::io::testing::network::{Buffers, Packet as Datagram};
use s2n_quic::provider::io::testing::{self, spawn, time};
use s2n_quic_core::inet::{ExplicitCongestionNotification as Mark, SocketAddress};
use windlass_adapter::{Groups, NamedController};
use windlass_controllers::{Span, Time};

use super::clock::Clock;
use super::ends::QUEUE;
use super::flow::{Notice, Notices, Shared};
use crate::driver::datagrams::{Role, marking};
use windlass_network::{Class, Codepoint, Fate, Network, Packet, Stream, damage};
use windlass_simulator::measure::NetworkMeter;
use windlass_simulator::scenario::{FlowSpec, Scenario, StartSchedule, WeightChanges, set_weight};

/// Virtual time between two checks of whether to stop.
const STOP_CHECK_INTERVAL: Span = Span::from_millis(50);

/// A flow on the network.
pub struct ScenarioFlow<'a> {
    pub spec: &'a FlowSpec,
    pub flow: Shared,
    /// Packets the receiver saw with a CE mark.
    pub marked: u64,
    /// Datagrams with stream data that left the sender.
    data: u64,
    /// The sender's address, which it does not know to change.
    address: Option<SocketAddr>,
}

impl<'a> ScenarioFlow<'a> {
    pub fn new(spec: &'a FlowSpec, flow: Shared) -> ScenarioFlow<'a> {
        ScenarioFlow { spec, flow, marked: 0, data: 0, address: None }
    }

    /// Which of its addresses the sender has at `now`. Until data has arrived, the handshake is not over.
    fn current_address(&self, now: Time) -> u16 {
        if self.flow.lock().received() > 0 { self.spec.address(now) } else { 0 }
    }

    /// The sender's address `number`, as the receiver sees it.
    fn seen_as(&self, number: u16) -> Option<SocketAddr> {
        let address = self.address?;
        Some(SocketAddr::new(address.ip(), address.port().wrapping_add(number)))
    }

    /// The number of a sender's address that the receiver sends to.
    fn number(&self, to: SocketAddr) -> u16 {
        self.address.map_or(0, |address| to.port().wrapping_sub(address.port()))
    }

    /// Notes if the flow does not move as it should.
    fn watch(&self, now: Time) {
        let mut flow = self.flow.lock();
        if self.spec.has_vanished(now) {
            flow.liveness = None;
        }
        flow.watch(now, self.spec.packet_bytes);
    }

    /// Whether the sender's next datagram, of `bytes`, is one the scenario has lost at the
    /// sender's own interface.
    fn drops(&mut self, now: Time, bytes: usize) -> bool {
        if self.spec.drop_packets.is_empty() {
            return false;
        }
        let mut flow = self.flow.lock();
        let reported = flow.sent_datagrams.pop_front();
        if reported.is_none_or(|datagram| datagram.bytes != bytes) {
            let reason = format!("s2n-quic sent {bytes} bytes, but its event says {reported:?}");
            flow.failed.get_or_insert((now, reason));
        }
        let data = reported.is_some_and(|datagram| datagram.data);
        let number = self.data;
        self.data += u64::from(data);
        data && self.spec.drop_packets.binary_search(&number).is_ok()
    }
}

/// A datagram under way.
struct Travelling {
    datagram: Datagram,
    /// Which of the sender's addresses it comes from or goes to.
    address: u16,
    /// Packets of the network that are this datagram.
    copies: u32,
}

/// An end of a flow.
type End = (usize, Role);

/// The network with everything that travels on it, and the meters that watch it.
pub struct World<'a> {
    pub network: Network,
    pub meter: NetworkMeter,
    pub scenario_flows: Vec<ScenarioFlow<'a>>,
    /// Flows that start when others are over.
    pub start_schedule: StartSchedule,
    scenario: &'a Scenario,
    clock: Option<Clock>,
    stop: &'a dyn Fn(Time) -> bool,
    /// Stops the run.
    pub stopped: Arc<AtomicBool>,
    notices: Notices,
    unread: Vec<(usize, Notice)>,
    /// The ends there are, by their addresses; only looked up, never gone through.
    ends: HashMap<SocketAddr, End>,
    groups: Groups<NamedController, String>,
    weight_changes: WeightChanges<NamedController>,
    /// Datagrams under way; the network knows them by their place here.
    travelling: Vec<Option<Travelling>>,
    /// Random numbers of damaged bytes.
    damage: Stream,
    free: Vec<usize>,
    /// The next point of all series.
    point: Time,
    looked: Time,
    /// Time at which the network wakes the run.
    woken_at: Option<Time>,
    /// Datagrams an end could not take in.
    pub overrun: u64,
}

impl<'a> World<'a> {
    pub fn new(
        scenario: &'a Scenario,
        mut network: Network,
        start_schedule: StartSchedule,
        notices: &Notices,
        groups: &Groups<NamedController, String>,
        stop: &'a dyn Fn(Time) -> bool,
    ) -> World<'a> {
        network.report_losses(true);
        network.carry_bytes(true);
        World {
            network,
            meter: NetworkMeter::new(scenario),
            scenario_flows: Vec::new(),
            start_schedule,
            scenario,
            clock: None,
            stop,
            stopped: Arc::default(),
            notices: notices.clone(),
            unread: Vec::new(),
            ends: HashMap::new(),
            groups: groups.clone(),
            weight_changes: WeightChanges::new(&scenario.weight_changes, set_weight),
            travelling: Vec::new(),
            damage: Stream::new(0, "damage"),
            free: Vec::new(),
            point: Time(scenario.sample.0),
            looked: Time::ZERO,
            woken_at: None,
            overrun: 0,
        }
    }

    /// The run begins, by `clock`, with the flows of `scenario_flows`.
    pub fn begin(&mut self, clock: Clock, scenario_flows: Vec<ScenarioFlow<'a>>) {
        self.scenario_flows = scenario_flows;
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
        let end = self.scenario.end();
        while self.point <= now && self.point <= end {
            self.scenario_flows.iter().for_each(|scenario_flow| scenario_flow.flow.lock().sample(self.point));
            self.meter.sample(self.point, self.scenario, &mut self.network);
            self.point += self.scenario.sample;
        }
    }

    fn look(&mut self, now: Time) {
        if now >= self.looked + STOP_CHECK_INTERVAL {
            self.looked = now;
            self.scenario_flows.iter().for_each(|flow| flow.watch(now));
            if (self.stop)(now) {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Takes the flows' notices: addresses of ends, and flows that are over, for which others
    /// have waited.
    fn take_notices(&mut self, now: Time) {
        self.notices.read(&mut self.unread);
        for (number, item) in self.unread.drain(..) {
            match item {
                Notice::Made(addresses) => {
                    self.scenario_flows[number].address = Some(addresses[Role::Sender as usize]);
                    self.ends.extend(addresses.into_iter().zip(Role::ALL.map(|role| (number, role))));
                }
                Notice::Over => {
                    for (waiting, at) in self.start_schedule.over(number, now) {
                        self.scenario_flows[waiting].flow.lock().start_at(at);
                    }
                }
            }
        }
        if !self.weight_changes.is_empty() {
            // A flow that sent its first packet just now may be the first of its group.
            self.weight_changes.apply(now, &self.groups);
        }
    }

    /// Hands over what the network delivers until `now`. Returns how many datagrams.
    fn deliver(&mut self, now: Time, buffers: &Buffers) -> usize {
        let mut count = 0;
        while let Some(delivery) = self.network.poll(now) {
            let place = delivery.packet.id as usize;
            let Some(Some(travelling)) = self.travelling.get_mut(place) else { continue };
            if matches!(delivery.fate, Fate::Copied(_)) {
                travelling.copies += 1;
                continue;
            }
            travelling.copies -= 1;
            let address = travelling.address;
            let mut datagram = if travelling.copies == 0 {
                self.free.push(place);
                let Some(travelling) = self.travelling[place].take() else { continue };
                travelling.datagram
            } else {
                travelling.datagram.clone()
            };
            if delivery.fate != Fate::Delivered {
                continue;
            }
            if delivery.packet.damaged {
                damage(&mut self.damage, &mut datagram.payload);
            }
            // s2n-quic marks a packet itself now and then (RFC 9002 §8.3).
            let marked = delivery.packet.ecn == Codepoint::Ce && datagram.ecn != Mark::Ce;
            datagram.ecn = Mark::new(delivery.packet.ecn as u8);
            let scenario_flow = &mut self.scenario_flows[delivery.packet.flow as usize];
            let to = SocketAddr::from(datagram.path.remote_address.0);
            let to_receiver = self.ends.get(&to).is_some_and(|(_, role)| *role == Role::Receiver);
            if to_receiver && scenario_flow.spec.has_vanished(now) {
                continue;
            }
            if to_receiver && marked && scenario_flow.flow.lock().over.is_none() {
                scenario_flow.marked += 1;
            }
            if to_receiver {
                if let Some(seen) = scenario_flow.seen_as(address).filter(|_| address > 0) {
                    datagram.path.local_address = SocketAddress::from(seen).into();
                }
            } else if address != scenario_flow.current_address(now) {
                // That address is not in use any more.
                continue;
            }
            if !delivery.packet.damaged {
                scenario_flow.flow.lock().received_at[usize::from(to_receiver)] = now;
            }
            datagram.switch();
            let overrun = &mut self.overrun;
            buffers.rx(to.into(), |queue| {
                if queue.len() >= QUEUE {
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
        // Of all ends few have something at one instant. They are found in any order.
        let mut ready: BTreeSet<(usize, usize, SocketAddr)> = BTreeSet::new();
        buffers.pending_transmission(|datagram| {
            let address = SocketAddr::from(datagram.path.local_address.0);
            if let Some((number, role)) = self.ends.get(&address) {
                ready.insert((*number, *role as usize, address));
            }
        });
        let mut count = 0;
        let mut sent = Vec::new();
        for (number, role, address) in ready {
            buffers.tx(address.into(), |queue| sent.extend(queue.drain()));
            for datagram in sent.drain(..) {
                count += usize::from(self.take(now, number, Role::ALL[role], datagram));
            }
        }
        count
    }

    /// Takes a datagram the end `role` of flow `number` sent. Returns whether the network took it.
    fn take(&mut self, now: Time, number: usize, role: Role, mut datagram: Datagram) -> bool {
        let scenario_flow = &mut self.scenario_flows[number];
        let spec = scenario_flow.spec;
        let (route, ecn, class) = match role {
            Role::Sender => {
                let (ecn, class) = marking(spec, &scenario_flow.flow.lock().decision);
                (spec.forward, ecn, class)
            }
            Role::Receiver => (spec.backward, spec.ecn != Some(false), Class::Normal),
        };
        let lost = match role {
            Role::Sender => scenario_flow.drops(now, datagram.payload.len()),
            Role::Receiver => spec.has_vanished(now),
        };
        if lost {
            return false;
        }
        let address = match role {
            Role::Sender => scenario_flow.current_address(now),
            Role::Receiver => {
                let number = scenario_flow.number(datagram.path.remote_address.0.into());
                if let Some(address) = scenario_flow.address.filter(|_| number > 0) {
                    datagram.path.remote_address = SocketAddress::from(address).into();
                }
                number
            }
        };
        let bytes = u32::try_from(datagram.payload.len()).unwrap_or(u32::MAX);
        let place = self.free.pop().unwrap_or(self.travelling.len());
        let flow = u32::try_from(number).unwrap_or(u32::MAX);
        let mut packet = Packet::new(flow, place as u64, bytes.saturating_add(spec.overhead_bytes));
        packet.class = class;
        if ecn {
            packet.ecn = codepoint(datagram.ecn);
        }
        let travelling = Travelling { datagram, address, copies: 1 };
        match self.travelling.get_mut(place) {
            Some(free) => *free = Some(travelling),
            None => self.travelling.push(Some(travelling)),
        }
        self.network.send(now, route, packet);
        true
    }

    /// Has the run woken when the network or a group has something to do.
    fn wake(&mut self, clock: Clock, now: Time) {
        let next = self.network.next().unwrap_or(Time(u64::MAX)).min(Time(self.weight_changes.next(now)));
        if next == Time(u64::MAX) {
            return;
        }
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

/// The world as s2n-quic's test executor sees it, which calls it when no task can make
/// progress.
pub struct SharedWorld<'a>(pub Rc<RefCell<World<'a>>>);

impl testing::Network for SharedWorld<'_> {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let world = &mut *self.0.borrow_mut();
        let Some(clock) = world.clock else { return 0 };
        let now = clock.now();
        world.sample(now);
        world.look(now);
        world.take_notices(now);
        let count = world.deliver(now, buffers) + world.collect(now, buffers);
        world.wake(clock, now);
        count
    }
}

fn codepoint(mark: Mark) -> Codepoint {
    match mark {
        Mark::NotEct => Codepoint::NotEct,
        Mark::Ect1 => Codepoint::Ect1,
        Mark::Ect0 => Codepoint::Ect0,
        Mark::Ce => Codepoint::Ce,
    }
}
