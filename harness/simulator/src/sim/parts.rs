//! A run on several threads, each with a part of the network.
//!
//! Results are equal to the bit: a part has its events in the order of the whole run, and a packet that crosses to
//! another part is there before that part has come to its time (see [`Partition`]).

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use windlass_controllers::{ConfiguredController, Span, Time};

use super::counts::PacketCounts;
use super::flow::FlowRun;
use super::part::Part;
use crate::measure::MeteredNetwork;
use crate::scenario::{Runaway, Scenario, StartSchedule, WeightChanges};
use windlass_network::{Crossing, LinkId, LinkStats, Network, Partition, RouteId, TopologyError};

/// The parts of a run: one, or several that wait for each other.
pub(super) struct Parts<E: ConfiguredController> {
    parts: Vec<Part<E>>,
    /// Part of each flow, and its place there; empty if there is one part.
    places: Vec<(u32, u32)>,
    /// `None` if there is one part.
    partition: Option<Partition>,
    max_packets_under_way: u64,
    runaway: Option<Runaway>,
}

impl<E: ConfiguredController> Parts<E> {
    /// A run on one thread.
    pub fn one(part: Part<E>, max_packets_under_way: u64) -> Parts<E> {
        Parts { parts: vec![part], places: Vec::new(), partition: None, max_packets_under_way, runaway: None }
    }

    /// Divides a run that has not begun among so many threads, if its network can be cut and no two flows depend on
    /// each other but through the network.
    ///
    /// # Errors
    /// Its topology is inconsistent.
    pub fn divide(&mut self, scenario: &Scenario, threads: usize) -> Result<(), TopologyError> {
        let [whole] = &mut self.parts[..] else { return Ok(()) };
        let depends = |flow: &FlowRun<E>| {
            flow.spec.group.is_some() || flow.spec.resume.is_some() || flow.spec.recovery.classifies_losses()
        };
        if !whole.start_schedule.is_set() || !whole.weight_changes.is_empty() || whole.flows.iter().any(depends) {
            return Ok(());
        }
        let Some(partition) = Partition::new(&scenario.topology, &ends(&whole.flows), threads) else { return Ok(()) };
        let mut flows: Vec<Vec<FlowRun<E>>> = (0..partition.parts()).map(|_| Vec::new()).collect();
        for flow in whole.flows.drain(..) {
            let part = partition.of_route(flow.spec.forward);
            self.places.push((part, flows[part as usize].len() as u32));
            flows[part as usize].push(flow);
        }
        let start_schedule = whole.start_schedule.clone();
        self.parts.clear();
        for (number, flows) in (0..).zip(flows) {
            let network = Network::part(&scenario.topology, scenario.seed, &partition, number)?;
            let places = self.places.iter().map(|(part, place)| if *part == number { *place } else { u32::MAX });
            let part = Part::new(network, flows, start_schedule.clone(), scenario.max_packets_under_way);
            self.parts.push(part.placed(places.collect()));
        }
        self.partition = Some(partition);
        Ok(())
    }

    /// Number of parts, which is that of threads.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Carries out `changes` of groups; only of a run that is not divided.
    pub fn change_weights(&mut self, changes: WeightChanges<E>) {
        if let [whole] = &mut self.parts[..] {
            whole.change_weights(changes);
        }
    }

    fn place(&self, number: usize) -> (usize, usize) {
        self.places.get(number).map_or((0, number), |(part, place)| (*part as usize, *place as usize))
    }

    /// The flow with `number` in the run.
    pub fn flow(&self, number: usize) -> &FlowRun<E> {
        let (part, place) = self.place(number);
        &self.parts[part].flows[place]
    }

    /// The same, to change.
    pub fn flow_mut(&mut self, number: usize) -> &mut FlowRun<E> {
        let (part, place) = self.place(number);
        &mut self.parts[part].flows[place]
    }

    /// All flows, part by part.
    pub fn flows_mut(&mut self) -> impl Iterator<Item = &mut FlowRun<E>> {
        self.parts.iter_mut().flat_map(|part| &mut part.flows)
    }

    /// All flows by their numbers, and when they started.
    pub fn into_flows(self) -> (Vec<FlowRun<E>>, StartSchedule) {
        let start_schedule = self.parts[0].start_schedule.clone();
        let mut flows: Vec<_> = self.parts.into_iter().map(|part| part.flows.into_iter()).collect();
        if let [whole] = &mut flows[..] {
            return (whole.collect(), start_schedule);
        }
        // In each part they lie in the order of their numbers.
        let flows = self.places.iter().filter_map(|(part, _)| flows[*part as usize].next()).collect();
        (flows, start_schedule)
    }

    /// Handles everything from `from`, where the last call ended, until `end`.
    pub fn advance(&mut self, from: Time, end: Time) {
        if self.runaway.is_some() {
            return;
        }
        let Some(partition) = &self.partition else {
            self.parts[0].advance(end);
            self.runaway = self.parts[0].runaway;
            return;
        };
        let lookahead = partition.lookahead;
        let lines = lines(self.parts.len());
        thread::scope(|scope| {
            let mut parts = self.parts.iter_mut().zip(lines);
            let own = parts.next();
            for (part, line) in parts {
                scope.spawn(move || run(part, &line, from, end, lookahead));
            }
            if let Some((part, line)) = own {
                run(part, &line, from, end, lookahead);
            }
        });
        let under_way = self.parts.iter().map(Part::under_way).sum();
        let of_parts = self.parts.iter().find_map(|part| part.runaway);
        self.runaway = of_parts.or(Runaway::check(end, under_way, self.max_packets_under_way).err());
    }

    /// Whether it goes on as it should.
    pub fn check(&self) -> Result<(), Runaway> {
        self.runaway.map_or(Ok(()), Err)
    }

    /// What became of packets so far.
    pub fn packet_counts(&self) -> PacketCounts {
        self.parts.iter().map(|part| &part.network).fold(PacketCounts::default(), |sum, network| PacketCounts {
            sent: sum.sent + network.sent(),
            delivered: sum.delivered + network.delivered(),
            gone: sum.gone + network.gone(),
            held: sum.held + network.holds(),
        })
    }

    fn owner(&self, link: LinkId) -> usize {
        self.partition.as_ref().map_or(0, |partition| partition.of_link(link) as usize)
    }
}

impl<E: ConfiguredController> MeteredNetwork for Parts<E> {
    fn waiting(&mut self, link: LinkId, now: Time) -> (u64, u64) {
        let owner = self.owner(link);
        self.parts[owner].network.waiting(link, now)
    }

    fn stats(&self, link: LinkId, now: Time) -> LinkStats {
        self.parts[self.owner(link)].network.stats(link, now)
    }

    fn traffic(&self, number: usize) -> (u64, u64) {
        let each = self.parts.iter().map(|part| part.network.traffic(number));
        each.fold((0, 0), |sum, (sent, delivered)| (sum.0 + sent, sum.1 + delivered))
    }
}

/// The routes that flows send their data and ACKs on, each pair once, and how many flows use it.
fn ends<E: ConfiguredController>(flows: &[FlowRun<E>]) -> Vec<(Vec<RouteId>, usize)> {
    let mut ends: Vec<[RouteId; 2]> = flows.iter().map(|flow| [flow.spec.forward, flow.spec.backward]).collect();
    ends.sort_unstable();
    ends.chunk_by(|one, other| one == other).map(|same| (same[0].to_vec(), same.len())).collect()
}

/// What a part sends to each part and gets from it, once for each lookahead: what crosses. To itself that is nothing.
type Line = (Vec<Sender<Vec<Crossing>>>, Vec<Receiver<Vec<Crossing>>>);

/// A line for each of so many parts.
fn lines(parts: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = (0..parts).map(|_| (Vec::new(), Vec::new())).collect();
    for to in 0..parts {
        for from in 0..parts {
            let (sender, receiver) = channel();
            lines[from].0.push(sender);
            lines[to].1.push(receiver);
        }
    }
    lines
}

/// Runs a part until `end`: for as long as a lookahead at a time, after which it waits for what the others have sent
/// to it until then. It gives up where another has.
fn run<E: ConfiguredController>(
    part: &mut Part<E>,
    (senders, receivers): &Line,
    mut from: Time,
    end: Time,
    lookahead: Span,
) {
    loop {
        let until = end.min(Time((from + lookahead).0 - 1));
        part.advance(until);
        let mut crossing: Vec<Vec<Crossing>> = senders.iter().map(|_| Vec::new()).collect();
        part.network.crossing().for_each(|packet| crossing[packet.part as usize].push(packet));
        for (sender, crossing) in senders.iter().zip(crossing) {
            if sender.send(crossing).is_err() {
                return;
            }
        }
        for receiver in receivers {
            let Ok(crossing) = receiver.recv() else { return };
            crossing.iter().for_each(|packet| part.network.take_crossing(packet));
        }
        if until >= end {
            return;
        }
        from = Time(until.0 + 1);
    }
}
