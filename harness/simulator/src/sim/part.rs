//! Events of a run in their order: of all of it, or of a part of its network that runs beside the others.

use windlass_adapter::Groups;
use windlass_controllers::{ConfiguredController, Time};

use super::flow::FlowRun;
use crate::scenario::{Runaway, StartSchedule, WeightChanges};
use windlass_network::{Delivery, EventQueue, Fate, Network};

/// Events between two counts of the packets under way.
const EVENTS_BETWEEN_CHECKS: u32 = 1 << 16;
/// Events between two counts of one flow's.
const EVENTS_BETWEEN_FLOW_CHECKS: u32 = 1 << 8;

/// So many flows do not fit into the caches next to a processor.
const FLOWS_BEYOND_CACHE: usize = 32;
/// How many packets of a link before its own the processor is to fetch the state of a packet's flow, and what is
/// remembered of the packet, for which the state must be there.
const FETCH_FLOW: u64 = 3;
const FETCH_PACKET: u64 = 1;

/// A stretch of a run, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    pub from: Time,
    pub end: Time,
    /// Whether the flows' series have a point at its end.
    pub is_sampled: bool,
}

/// A network, flows that begin and end in it, and what comes next of both.
pub(super) struct Part<E: ConfiguredController> {
    pub network: Network,
    pub flows: Vec<FlowRun<E>>,
    /// The place in `flows` of each flow of the run; empty if it is the flow's number.
    places: Vec<u32>,
    /// The earliest timer of each flow.
    event_queue: EventQueue,
    groups: Groups<E, String>,
    pub weight_changes: WeightChanges<E>,
    pub start_schedule: StartSchedule,
    /// No flow waits for another.
    is_set: bool,
    /// Events until the next look at how many packets are under way.
    until_check: u32,
    max_packets_under_way: u64,
    pub runaway: Option<Runaway>,
}

impl<E: ConfiguredController> Part<E> {
    /// `network` and `flows` before their first event.
    pub fn new(
        network: Network,
        flows: Vec<FlowRun<E>>,
        start_schedule: StartSchedule,
        max_packets_under_way: u64,
    ) -> Part<E> {
        let mut part = Part {
            // After the flows' timers, the changes of groups.
            event_queue: EventQueue::new(flows.len() + 1),
            network,
            flows,
            places: Vec::new(),
            groups: Groups::default(),
            weight_changes: WeightChanges::new(&[], |_, _| false),
            is_set: start_schedule.is_set(),
            start_schedule,
            until_check: EVENTS_BETWEEN_CHECKS,
            max_packets_under_way,
            runaway: None,
        };
        for place in 0..part.flows.len() {
            // It may have been on the queue of the whole run.
            part.flows[place].armed = u64::MAX;
            part.arm(place);
        }
        part
    }

    /// Has the flow with number `i` in the whole run lie at `places[i]`.
    pub fn placed(self, places: Vec<u32>) -> Part<E> {
        Part { places, ..self }
    }

    /// Carries out `changes` of groups.
    pub fn change_weights(&mut self, changes: WeightChanges<E>) {
        self.weight_changes = changes;
        self.event_queue.set(self.flows.len(), self.weight_changes.next(Time::ZERO));
    }

    /// Counts an event of a flow, and now and again what all have under way. Returns whether to stop.
    #[inline]
    fn runs_away(&mut self, place: usize, now: u64) -> bool {
        self.until_check -= 1;
        self.until_check.is_multiple_of(EVENTS_BETWEEN_FLOW_CHECKS) && self.look(place, now)
    }

    #[cold]
    fn look(&mut self, place: usize, now: u64) -> bool {
        let own = self.flows.get(place).map_or(0, FlowRun::under_way);
        if self.until_check > 0 && own <= self.max_packets_under_way {
            return false;
        }
        self.until_check = EVENTS_BETWEEN_CHECKS;
        // More than what is under way now was under way when slow start overshot.
        self.network.fit();
        self.flows.iter_mut().for_each(FlowRun::fit);
        self.runaway = Runaway::check(Time(now), self.under_way(), self.max_packets_under_way).err();
        self.runaway.is_some()
    }

    /// Packets under way of all flows.
    pub fn under_way(&self) -> u64 {
        self.flows.iter().map(FlowRun::under_way).sum()
    }

    #[inline]
    fn arm(&mut self, place: usize) {
        let flow = &mut self.flows[place];
        let soonest = flow.timers.soonest();
        if soonest < flow.armed {
            flow.armed = soonest;
            self.event_queue.set(place, soonest);
        }
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        if self.places.is_empty() { number as usize } else { self.places[number as usize] as usize }
    }

    /// Handles everything of a stretch.
    pub fn run(&mut self, stretch: Stretch) {
        self.advance(stretch.end);
        self.sample(stretch);
    }

    /// A point of the flows' series, if one is due at the end of a stretch.
    pub fn sample(&mut self, stretch: Stretch) {
        if stretch.is_sampled {
            self.flows.iter_mut().for_each(|flow| flow.sample(stretch.end.0));
        }
    }

    /// Handles everything until `end`. At one instant the network comes first, then the
    /// flows in order.
    fn advance(&mut self, end: Time) {
        let mut delivery = Delivery::default();
        let prefetches = self.flows.len() >= FLOWS_BEYOND_CACHE;
        loop {
            let in_network = self.network.next().map_or(u64::MAX, |at| at.0);
            let (in_flows, place) = self.event_queue.first();
            let now = in_network.min(in_flows);
            if now > end.0 || now == u64::MAX || self.runaway.is_some() {
                return;
            }
            if in_network <= in_flows {
                if prefetches && let Some(flow) = self.flows.get(place) {
                    flow.prefetch_send();
                }
                while self.network.poll_into(Time(now), &mut delivery) {
                    let place = self.place(delivery.packet.flow);
                    if delivery.fate != Fate::Delivered {
                        self.flows[place].gone(&delivery.packet, delivery.fate);
                        continue;
                    }
                    if prefetches {
                        if let Some(next) = self.network.upcoming(FETCH_FLOW) {
                            self.flows[self.place(next.flow)].prefetch(next);
                        }
                        if let Some(next) = self.network.upcoming(FETCH_PACKET) {
                            self.flows[self.place(next.flow)].prefetch_packet(next);
                        }
                    }
                    self.flows[place].delivered(now, &delivery.packet, &mut self.network);
                    self.arm(place);
                    if !self.is_set {
                        self.call(place, now);
                    }
                    if self.runs_away(place, now) {
                        return;
                    }
                }
            } else {
                if !self.weight_changes.is_empty() && self.change(place, now) {
                    continue;
                }
                let flow = &mut self.flows[place];
                flow.due(now, &mut self.network, &self.groups);
                flow.armed = flow.timers.soonest();
                self.event_queue.set(place, flow.armed);
                if !self.is_set {
                    self.call(place, now);
                }
                if self.runs_away(place, now) {
                    return;
                }
            }
        }
    }

    /// Changes groups, if that is what is due, and gives a flow that may join now a group
    /// that is as it should be.
    #[cold]
    fn change(&mut self, place: usize, now: u64) -> bool {
        let now = Time(now);
        let Some(flow) = self.flows.get_mut(place) else {
            self.weight_changes.apply(now, &self.groups);
            self.event_queue.set(place, self.weight_changes.next(now));
            return true;
        };
        if flow.spec.group.is_some() && !flow.has_started() {
            flow.due(now.0, &mut self.network, &self.groups);
            flow.armed = flow.timers.soonest();
            self.weight_changes.apply(now, &self.groups);
            self.event_queue.set(place, flow.armed);
            return true;
        }
        false
    }

    /// Starts what waits for a flow, if that is over.
    #[cold]
    fn call(&mut self, place: usize, now: u64) {
        if self.flows[place].is_newly_over() {
            for (waiting, at) in self.start_schedule.over(place, Time(now)) {
                self.flows[waiting].start_at(at);
                self.arm(waiting);
            }
        }
    }
}
