//! A run on several threads, each with a part of the network.
//!
//! Results are equal to the bit: a part has its events in the order of the whole run, and a packet that crosses to
//! another part is there before that part has come to its time (see [`Partition`]).

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, spawn};

use windlass_adapter::Recorder;
use windlass_controllers::{ConfiguredController, Decision, Path, Span, Time, View};

use super::counts::{FlowCounts, PacketCounts};
use super::flow::FlowRun;
use super::observer::FlowObserver;
use super::part::{Part, Stretch};
use crate::measure::MeteredNetwork;
use crate::outcome::{FlowOutcome, FlowSeries};
use crate::scenario::{FlowSpec, Runaway, Scenario, StartSchedule, WeightChanges};
use windlass_network::{Crossing, LinkId, LinkStats, Network, Partition, RouteId, TopologyError};

/// The parts of a run, whatever the engine of their flows: what runs them is compiled where a run is made, and not again in each crate
/// that makes one of the catalogue's controllers.
pub(super) trait Run: MeteredNetwork + Send {
    /// Handles everything of a stretch that begins where the last one ended.
    fn advance(&mut self, stretch: Stretch);

    /// Whether it goes on as it should.
    fn check(&self) -> Result<(), Runaway>;

    /// Fates of packets so far.
    fn packet_counts(&self) -> PacketCounts;

    /// Number of parts, which is that of threads.
    fn threads(&self) -> usize;

    /// Has `observer` see the packets of flow `number` and `recorder` its controller's steps.
    fn watch(&mut self, number: usize, observer: Option<Box<dyn FlowObserver>>, recorder: Option<Box<dyn Recorder>>);

    /// How flow `number` begins.
    fn beginning(&self, number: usize) -> Beginning;

    /// What flow `number` has done so far.
    fn counts(&self, number: usize) -> FlowCounts;

    /// The series of flow `number` up to now.
    fn series(&self, number: usize) -> &FlowSeries;

    /// Names the private facts of the controller of flow `number`.
    fn inspect(&self, number: usize, visit: &mut dyn FnMut(&'static str, f64));

    /// The results of all flows by their numbers, and when they started.
    fn finish(self: Box<Self>, end: Time) -> (Vec<FlowOutcome>, StartSchedule);
}

/// How a flow begins.
pub(super) struct Beginning {
    pub spec: FlowSpec,
    pub path: Path,
    /// What its controller decides first.
    pub decision: Decision,
    /// The private facts of its controller then.
    pub state_variables: Vec<(&'static str, f64)>,
}

/// The parts of a run: one, or several that wait for each other.
pub(super) struct Parts<E: ConfiguredController> {
    parts: Vec<Part<E>>,
    /// Part of each flow, and its place there; empty if there is one part.
    places: Vec<(u32, u32)>,
    /// `None` if there is one part.
    partition: Option<Partition>,
    /// The line of the first part and the threads of the others; `None` before they have begun.
    threads: Option<(Line, Vec<Worker<E>>)>,
    max_packets_under_way: u64,
    runaway: Option<Runaway>,
}

impl<E: ConfiguredController> Parts<E> {
    /// A run on one thread.
    pub fn one(part: Part<E>, max_packets_under_way: u64) -> Parts<E> {
        Parts {
            parts: vec![part],
            places: Vec::new(),
            partition: None,
            threads: None,
            max_packets_under_way,
            runaway: None,
        }
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

    fn owner(&self, link: LinkId) -> usize {
        self.partition.as_ref().map_or(0, |partition| partition.of_link(link) as usize)
    }
}

impl<E: ConfiguredController> Run for Parts<E> {
    fn advance(&mut self, stretch: Stretch) {
        let Some(partition) = &self.partition else {
            self.parts[0].run(stretch);
            self.runaway = self.parts[0].runaway;
            return;
        };
        if self.runaway.is_some() {
            return self.parts.iter_mut().for_each(|part| part.sample(stretch));
        }
        let lookahead = partition.lookahead;
        let (line, workers) = self.threads.get_or_insert_with(|| {
            let mut lines = lines(self.parts.len()).into_iter();
            let own = lines.next().unwrap_or_default();
            (own, lines.map(|line| Worker::new(line, lookahead)).collect())
        });
        let mut parts = std::mem::take(&mut self.parts).into_iter();
        let own = parts.next();
        for (worker, part) in workers.iter().zip(parts) {
            // One that has ended is found below.
            let _ = worker.stretches.send((part, stretch));
        }
        self.parts.extend(own.map(|mut own| {
            run(&mut own, line, stretch, lookahead);
            own
        }));
        self.parts.extend(workers.iter_mut().map(Worker::finished));
        let under_way = self.parts.iter().map(Part::under_way).sum();
        let of_parts = self.parts.iter().find_map(|part| part.runaway);
        self.runaway = of_parts.or(Runaway::check(stretch.end, under_way, self.max_packets_under_way).err());
    }

    fn check(&self) -> Result<(), Runaway> {
        self.runaway.map_or(Ok(()), Err)
    }

    fn packet_counts(&self) -> PacketCounts {
        self.parts.iter().map(|part| &part.network).fold(PacketCounts::default(), |sum, network| PacketCounts {
            sent: sum.sent + network.sent(),
            delivered: sum.delivered + network.delivered(),
            gone: sum.gone + network.gone(),
            held: sum.held + network.holds(),
        })
    }

    fn threads(&self) -> usize {
        self.parts.len()
    }

    fn watch(&mut self, number: usize, observer: Option<Box<dyn FlowObserver>>, recorder: Option<Box<dyn Recorder>>) {
        let (part, place) = self.place(number);
        let flow = &mut self.parts[part].flows[place];
        (flow.observer, flow.recorder) = (observer, recorder);
    }

    fn beginning(&self, number: usize) -> Beginning {
        let flow = self.flow(number);
        let (engine, path) = (flow.engine(), flow.path());
        let (state, group) = (engine.start(&path), engine.group());
        let mut state_variables = Vec::new();
        engine.inspect(&state, View::solo(&group), &mut |name, value| state_variables.push((name, value)));
        Beginning {
            spec: (*flow.spec).clone(),
            path,
            decision: engine.decide(&state, View::solo(&group)),
            state_variables,
        }
    }

    fn counts(&self, number: usize) -> FlowCounts {
        self.flow(number).counts()
    }

    fn series(&self, number: usize) -> &FlowSeries {
        self.flow(number).series()
    }

    fn inspect(&self, number: usize, visit: &mut dyn FnMut(&'static str, f64)) {
        self.flow(number).inspect(visit);
    }

    fn finish(self: Box<Self>, end: Time) -> (Vec<FlowOutcome>, StartSchedule) {
        let start_schedule = self.parts[0].start_schedule.clone();
        let mut flows: Vec<_> = self.parts.into_iter().map(|part| part.flows.into_iter()).collect();
        let flows: Vec<FlowRun<E>> = match &mut flows[..] {
            [whole] => whole.collect(),
            // In each part they lie in the order of their numbers.
            _ => self.places.iter().filter_map(|(part, _)| flows[*part as usize].next()).collect(),
        };
        (flows.into_iter().map(|flow| flow.outcome(end.0)).collect(), start_schedule)
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

/// A thread of a part, which is there as long as a stretch is run: what it needs stays in the caches of one processor.
struct Worker<E: ConfiguredController> {
    stretches: Sender<(Part<E>, Stretch)>,
    parts: Receiver<Part<E>>,
    thread: Option<JoinHandle<()>>,
}

impl<E: ConfiguredController> Worker<E> {
    fn new(line: Line, lookahead: Span) -> Worker<E> {
        let (stretches, begun) = channel::<(Part<E>, Stretch)>();
        let (ended, parts) = channel();
        let thread = spawn(move || {
            for (mut part, stretch) in begun {
                run(&mut part, &line, stretch, lookahead);
                if ended.send(part).is_err() {
                    return;
                }
            }
        });
        Worker { stretches, parts, thread: Some(thread) }
    }

    /// Its part at the end of the stretch.
    ///
    /// # Panics
    /// Running it did.
    fn finished(&mut self) -> Part<E> {
        self.parts.recv().unwrap_or_else(|error| match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => resume_unwind(panic),
            _ => panic!("the thread of a part has ended: {error}"),
        })
    }
}

/// Runs a part over a stretch: for as long as a lookahead at a time, after which it waits for what the others have sent
/// to it until then. It gives up where another has.
fn run<E: ConfiguredController>(part: &mut Part<E>, line: &Line, stretch: Stretch, lookahead: Span) {
    let (senders, receivers) = line;
    let mut from = stretch.from;
    loop {
        let end = stretch.end.min(Time((from + lookahead).0 - 1));
        part.run(Stretch { from, end, is_sampled: stretch.is_sampled && end == stretch.end });
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
        if end >= stretch.end {
            return;
        }
        from = Time(end.0 + 1);
    }
}
