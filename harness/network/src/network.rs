//! The engine that carries packets over a topology.

use std::collections::VecDeque;

use windlass_controllers::{Span, Time};

use super::event_queue::EventQueue;
use super::fault::{FaultEffect, Faults};
use super::link::{Link, Queued};
use super::packet::{Delivery, Fate, LinkId, Packet, RouteId};
use super::partition::{Crossing, Partition};
use super::stats::LinkStats;
use super::topology::{Change, Topology, TopologyError};
use super::traffic::Traffic;

/// In `Network::hops`: the route ends here; the rest of the bits are its number.
const END: u32 = 1 << 31;

/// In `Network::hops`, beside `END`: what ends here is cross traffic; the rest of the
/// bits are the number of its source.
const SINK: u32 = 1 << 30;

/// Source of the event_queue for changes of links; link `i` is source `1 + i`, and traffic
/// sources follow, and after them what faults hold back.
const CHANGES: usize = 0;

/// A network carrying packets.
///
/// Time only moves forward: `send` and `poll` must not be given a time before that of
/// an earlier call, and everything due before a `send` must have been polled. A caller
/// that breaks this gets its packets delivered late, never a panic.
pub struct Network {
    names: Vec<String>,
    links: Vec<Link>,
    /// The links of all routes one after another, each route ended by `END | route`.
    hops: Vec<u32>,
    /// Index of each route's first hop in `hops`.
    routes: Vec<u32>,
    event_queue: EventQueue,
    traffic: Vec<Traffic>,
    /// Where the route of each traffic source starts in `hops`.
    traffic_routes: Vec<u32>,
    changes: VecDeque<(LinkId, Change)>,
    /// `None` if no link has any.
    faults: Option<Box<Faults>>,
    now: Time,
    /// Deliveries to report before anything else: of empty routes, and fates other than
    /// delivery where asked for.
    pending: VecDeque<Delivery>,
    report_losses: bool,
    carries_bytes: bool,
    sent: u64,
    delivered: u64,
    /// The link from which the last packet was taken.
    polled: usize,
    /// `None` if it carries all packets itself.
    part: Option<Box<Part>>,
}

/// What a network that is a part of one knows of the others.
struct Part {
    number: u32,
    /// The part of each link.
    links: Vec<u32>,
    /// The part in which a packet goes on that has passed a hop.
    after: Vec<u32>,
    /// Packets on their way to other parts.
    crossing: Vec<Crossing>,
}

impl Network {
    /// A network in which nothing travels yet. Equal topologies, seeds and calls give
    /// equal results to the bit.
    ///
    /// # Errors
    /// The topology is inconsistent.
    pub fn new(topology: &Topology, seed: u64) -> Result<Network, TopologyError> {
        topology.check()?;
        let mut hops = Vec::new();
        let mut routes = Vec::new();
        for (number, route) in topology.routes.iter().enumerate() {
            routes.push(hops.len() as u32);
            hops.extend(route.iter().map(|link| link.0));
            hops.push(END | number as u32);
        }
        let mut traffic_routes = Vec::new();
        for (number, traffic) in topology.traffic.iter().enumerate() {
            traffic_routes.push(hops.len() as u32);
            hops.extend(topology.routes[traffic.route.0 as usize].iter().map(|link| link.0));
            hops.push(END | SINK | number as u32);
        }
        let traffic: Vec<Traffic> = topology.traffic.iter().map(|spec| Traffic::new(spec, seed)).collect();
        let mut changes: Vec<(LinkId, Change)> = (0u32..)
            .zip(&topology.links)
            .flat_map(|(id, link)| link.changes.iter().map(move |change| (LinkId(id), *change)))
            .collect();
        changes.sort_by_key(|(id, change)| (change.at, *id));
        let faults = Faults::new(topology.links.iter().map(|link| (&*link.name, &*link.faults)), seed);
        let sources = 1 + topology.links.len() + traffic.len() + usize::from(faults.is_some());
        let mut event_queue = EventQueue::new(sources);
        for (i, traffic) in traffic.iter().enumerate() {
            event_queue.set(1 + topology.links.len() + i, traffic.next());
        }
        event_queue.set(CHANGES, changes.first().map_or(u64::MAX, |(_, change)| change.at.0));
        Ok(Network {
            names: topology.links.iter().map(|link| link.name.clone()).collect(),
            links: topology.links.iter().map(|link| Link::new(link, seed)).collect(),
            hops,
            routes,
            event_queue,
            traffic,
            traffic_routes,
            changes: changes.into(),
            faults,
            now: Time::ZERO,
            pending: VecDeque::new(),
            report_losses: false,
            carries_bytes: false,
            sent: 0,
            delivered: 0,
            polled: 0,
            part: None,
        })
    }

    /// Part `number` of a network, in which nothing travels yet. It carries packets from the ends of routes and over
    /// links that belong to it, and those that [cross](Self::take_crossing) to it from other parts.
    ///
    /// # Errors
    /// The topology is inconsistent.
    pub fn part(topology: &Topology, seed: u64, partition: &Partition, number: u32) -> Result<Network, TopologyError> {
        let mut network = Network::new(topology, seed)?;
        let links: Vec<u32> = (0..topology.links.len()).map(|id| partition.of_link(LinkId(id as u32))).collect();
        let hops = &network.hops;
        let after = hops.iter().enumerate().map(|(hop, link)| match hops.get(hop + 1) {
            Some(next) if link & END == 0 && next & END == 0 => links[*next as usize],
            Some(next) if link & END == 0 && next & SINK == 0 => partition.of_route(RouteId(next & !END)),
            _ => number,
        });
        let after = after.collect();
        network.changes.retain(|(link, _)| links[link.0 as usize] == number);
        network.event_queue.set(CHANGES, network.changes.front().map_or(u64::MAX, |(_, change)| change.at.0));
        for (source, first) in network.traffic_routes.iter().enumerate() {
            let first = network.hops[*first as usize];
            if first & END == 0 && links[first as usize] != number {
                network.event_queue.set(1 + links.len() + source, u64::MAX);
            }
        }
        network.part = Some(Box::new(Part { number, links, after, crossing: Vec::new() }));
        Ok(network)
    }

    /// Hands over the packets that went on their way to other parts, in the order in which they were sent.
    pub fn crossing(&mut self) -> impl Iterator<Item = Crossing> {
        self.part.iter_mut().flat_map(|part| part.crossing.drain(..))
    }

    /// Takes a packet that is on its way from another part.
    pub fn take_crossing(&mut self, crossing: &Crossing) {
        let link = &mut self.links[crossing.link.0 as usize];
        link.carry(&crossing.entry);
        if link.has_one() {
            self.event_queue.set(1 + crossing.link.0 as usize, link.next());
        }
    }

    fn owns(&self, link: LinkId) -> bool {
        self.part.as_ref().is_none_or(|part| part.links[link.0 as usize] == part.number)
    }

    /// Whether [`poll`](Self::poll) also returns packets that were dropped or lost, with
    /// their [`Fate`], at the instant it happens; never those of cross traffic. Off at first.
    pub fn report_losses(&mut self, report: bool) {
        self.report_losses = report;
    }

    /// Whether the caller's packets have bytes, which faults change: then damaged packets are delivered and
    /// packets are copied. Otherwise damaged ones are lost and copies are not made, as a receiver discards both.
    /// Off at first.
    pub fn carry_bytes(&mut self, carry: bool) {
        self.carries_bytes = carry;
    }

    /// Puts a packet on a route at `now`. A route the topology does not have swallows it.
    #[inline(always)]
    pub fn send(&mut self, now: Time, route: RouteId, mut packet: Packet) {
        self.now = self.now.max(now);
        let Some(&first) = self.routes.get(route.0 as usize) else {
            debug_assert!(false, "no route {route:?}");
            return;
        };
        packet.sent_at = self.now;
        self.sent += 1;
        if let Some(route) = self.forward(first, &packet) {
            self.pending.push_back(Delivery { at: self.now, route, packet, fate: Fate::Delivered });
        }
    }

    /// When something happens next; `None` if nothing ever will. It may be an inner
    /// event that [`poll`](Self::poll) has nothing to show for.
    #[must_use]
    #[inline]
    pub fn next(&self) -> Option<Time> {
        if !self.pending.is_empty() {
            return Some(self.now);
        }
        let (at, _) = self.event_queue.first();
        (at < u64::MAX).then_some(Time(at))
    }

    /// The next packet that leaves the network until `now`, in order of time; `None`
    /// when there is no more.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Delivery> {
        let mut delivery = Delivery::default();
        self.poll_into(now, &mut delivery).then_some(delivery)
    }

    /// The same, without moving packets about: whether there was one, which is then in `delivery`.
    #[inline]
    pub fn poll_into(&mut self, now: Time, delivery: &mut Delivery) -> bool {
        loop {
            if !self.pending.is_empty() {
                if let Some(first) = self.pending.pop_front() {
                    *delivery = first;
                    return true;
                }
            }
            let (at, source) = self.event_queue.first();
            if at > now.0 || at == u64::MAX {
                self.now = self.now.max(now);
                return false;
            }
            self.now = self.now.max(Time(at));
            if source == CHANGES {
                self.change();
                continue;
            }
            let id = source - 1;
            if id >= self.links.len() {
                match id - self.links.len() {
                    traffic if traffic < self.traffic.len() => self.generate(traffic),
                    _ => self.release(),
                }
                continue;
            }
            self.polled = id;
            let link = &mut self.links[id];
            let (mut hop, mut lost, mut taken) = (0, false, false);
            if let Some(entry) = link.take(Time(at)) {
                delivery.packet = entry.packet;
                (hop, lost, taken) = (entry.hop, entry.lost, true);
            }
            self.event_queue.set(source, link.next());
            if !taken {
                self.report_dropped(LinkId(id as u32));
                continue;
            }
            if self.part.as_ref().is_some_and(|part| part.after[hop as usize] != part.number) {
                // It goes on in another part.
                continue;
            }
            if lost {
                self.report(hop, &delivery.packet, Fate::Lost(LinkId(id as u32)));
                continue;
            }
            if let Some(route) = self.forward(hop + 1, &delivery.packet) {
                (delivery.at, delivery.route, delivery.fate) = (self.now, route, Fate::Delivered);
                return true;
            }
        }
    }

    /// The packet that comes `after` as many others from the link of the last one that was polled, if it is about to reach
    /// the end of its route; to have what it needs at hand.
    #[inline]
    pub fn upcoming(&self, after: u64) -> Option<&Packet> {
        let entry = self.links.get(self.polled)?.upcoming(after)?;
        let next = self.hops.get(entry.hop as usize + 1)?;
        (next & (END | SINK) == END).then_some(&entry.packet)
    }

    /// Lets go of memory for many more packets than there are. To be called now and again: what comes and goes in less
    /// memory is found in the caches.
    pub fn fit(&mut self) {
        self.links.iter_mut().for_each(Link::fit);
    }

    /// Moves a packet to `hop`: a link, or the end of its route, which is returned.
    #[inline(always)]
    fn forward(&mut self, hop: u32, packet: &Packet) -> Option<RouteId> {
        let target = self.hops[hop as usize];
        if target & END != 0 {
            self.delivered += 1;
            if target & SINK != 0 {
                self.traffic[(target & !(END | SINK)) as usize].delivered += 1;
                return None;
            }
            return Some(RouteId(target & !END));
        }
        if self.faults.is_some() {
            self.apply_faults(hop, target, packet);
        } else {
            self.arrive(hop, target, packet);
        }
        None
    }

    /// A packet reaches the queue of a link.
    #[inline(always)]
    fn arrive(&mut self, hop: u32, target: u32, packet: &Packet) {
        let link = &mut self.links[target as usize];
        match link.arrive(self.now, packet, hop) {
            Queued::Accepted => {
                if let Some(part) = &mut self.part {
                    let goes_to = part.after[hop as usize];
                    if let Some(entry) = link.newest().filter(|_| goes_to != part.number) {
                        part.crossing.push(Crossing { part: goes_to, link: LinkId(target), entry: *entry });
                    }
                }
                // Behind others it changes nothing about what comes next.
                if link.has_one() {
                    self.event_queue.set(1 + target as usize, link.next());
                }
            }
            Queued::Dropped => {
                let packet = *packet;
                self.report(hop, &packet, Fate::Dropped(LinkId(target)));
            }
            Queued::Held => {
                self.event_queue.set(1 + target as usize, link.next());
                self.report_dropped(LinkId(target));
            }
        }
    }

    /// A packet meets the faults of a link.
    #[cold]
    fn apply_faults(&mut self, hop: u32, target: u32, packet: &Packet) {
        let (now, carried) = (self.now, self.carries_bytes && packet.flow != u32::MAX);
        let Some(faults) = &mut self.faults else { return };
        match faults.apply(target as usize, now, packet, carried) {
            FaultEffect::Lost => self.report(hop, packet, Fate::Lost(LinkId(target))),
            FaultEffect::Passes { packet, after, copy } => {
                // A copy is reported before a queue may drop either.
                if copy.is_some() {
                    self.sent += 1;
                    let route = self.hops[hop as usize..].iter().find(|target| **target & END != 0);
                    let route = RouteId(route.map_or(0, |end| end & !END));
                    let fate = Fate::Copied(LinkId(target));
                    self.pending.push_back(Delivery { at: now, route, packet, fate });
                }
                self.pass(hop, target, &packet, after);
                if let Some(after) = copy {
                    self.pass(hop, target, &packet, after);
                }
            }
        }
    }

    /// A packet goes on to a link, now or `after` a while.
    fn pass(&mut self, hop: u32, target: u32, packet: &Packet, after: Span) {
        match &mut self.faults {
            Some(faults) if after > Span::ZERO => {
                faults.hold(self.now + after, hop, *packet);
                self.arm_faults();
            }
            _ => self.arrive(hop, target, packet),
        }
    }

    /// Lets go what a fault has held back until now.
    fn release(&mut self) {
        let released = self.faults.as_mut().and_then(|faults| faults.release(self.now));
        self.arm_faults();
        if let Some(held) = released {
            self.arrive(held.hop, self.hops[held.hop as usize], &held.packet);
        }
    }

    fn arm_faults(&mut self) {
        let next = self.faults.as_ref().map_or(u64::MAX, |faults| faults.next());
        self.event_queue.set(1 + self.links.len() + self.traffic.len(), next);
    }

    /// Sends the packet of a traffic source that is due.
    fn generate(&mut self, number: usize) {
        let traffic = &mut self.traffic[number];
        let packet = Packet { sent_at: self.now, ..Packet::new(u32::MAX, traffic.sent, traffic.spec.bytes) };
        traffic.sent();
        self.event_queue.set(1 + self.links.len() + number, traffic.next());
        self.sent += 1;
        self.forward(self.traffic_routes[number], &packet);
    }

    /// Reports what a queue that owns its packets dropped.
    #[cold]
    fn report_dropped(&mut self, link: LinkId) {
        while let Some((hop, packet)) = self.links[link.0 as usize].dropped() {
            self.report(hop, &packet, Fate::Dropped(link));
        }
    }

    #[cold]
    fn report(&mut self, hop: u32, packet: &Packet, fate: Fate) {
        if self.report_losses {
            let end = self.hops[hop as usize..].iter().find(|target| **target & END != 0);
            if let Some(end) = end.filter(|end| **end & SINK == 0) {
                self.pending.push_back(Delivery { at: self.now, route: RouteId(end & !END), packet: *packet, fate });
            }
        }
    }

    #[cold]
    fn change(&mut self) {
        if let Some((id, change)) = self.changes.pop_front() {
            let link = &mut self.links[id.0 as usize];
            link.change(self.now, &change.set);
            self.event_queue.set(1 + id.0 as usize, link.next());
        }
        self.event_queue.set(CHANGES, self.changes.front().map_or(u64::MAX, |(_, change)| change.at.0));
    }

    /// The link of that name; `None` if there is none.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.names.iter().position(|other| other == name).map(|i| LinkId(i as u32))
    }

    /// The name of a link.
    #[must_use]
    pub fn name(&self, link: LinkId) -> &str {
        &self.names[link.0 as usize]
    }

    /// Counters of a link until `now`.
    #[must_use]
    pub fn stats(&self, link: LinkId, now: Time) -> LinkStats {
        self.links[link.0 as usize].stats(now)
    }

    /// Packets and bytes waiting at a link at `now`.
    pub fn waiting(&mut self, link: LinkId, now: Time) -> (u64, u64) {
        self.links[link.0 as usize].waiting(now)
    }

    /// Packets a traffic source, by its number in the topology, sent and got delivered so far.
    #[must_use]
    pub fn traffic(&self, number: usize) -> (u64, u64) {
        self.traffic.get(number).map_or((0, 0), |traffic| (traffic.sent, traffic.delivered))
    }

    /// Packets put on routes so far, cross traffic and copies included.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Packets that reached the end of their routes so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets dropped or lost so far.
    #[must_use]
    pub fn gone(&self) -> u64 {
        self.own_links().map(|link| link.gone()).sum::<u64>() + self.faults.as_ref().map_or(0, |faults| faults.lost)
    }

    /// Packets queued, in transmission, under way or held back. At every instant,
    /// `sent = delivered + gone + holds`.
    #[must_use]
    pub fn holds(&self) -> u64 {
        let held = self.faults.as_ref().map_or(0, |faults| faults.holds());
        self.own_links().map(|link| link.holds() as u64).sum::<u64>() + held
    }

    fn own_links(&self) -> impl Iterator<Item = &Link> {
        let own = |number: &usize| self.owns(LinkId(*number as u32));
        (0..self.links.len()).filter(own).map(|number| &self.links[number])
    }
}

#[cfg(test)]
mod tests;
