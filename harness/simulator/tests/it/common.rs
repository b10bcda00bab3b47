//! What tests of the simulator share.
#![allow(dead_code, clippy::large_enum_variant)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::fixed_window::FixedWindow;
use windlass_controllers::{Decision, Event, EventKind, Span, Time};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{AckSeen, FlowObserver, LossSeen, PacketSeen, Simulation};

/// Reads a scenario in which flows under test run `controller`.
pub fn scenario(text: &str, controller: &str) -> Scenario {
    Scenario::read("test", text, Some(controller)).unwrap_or_else(|error| panic!("{error}"))
}

/// Something a flow did or heard.
#[derive(Clone, PartialEq, Debug)]
pub enum Seen {
    Sent(PacketSeen),
    Acked { ranges: Vec<(u64, u64)>, delay: Span, ecn: Option<[u64; 3]> },
    Lost(LossSeen),
    Event(Event, Decision),
}

/// Everything a flow did and heard, with times.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<(Time, Seen)>>>);

impl Log {
    fn push(&self, now: Time, seen: Seen) {
        self.0.lock().unwrap().push((now, seen));
    }

    /// Everything seen so far.
    pub fn all(&self) -> Vec<(Time, Seen)> {
        self.0.lock().unwrap().clone()
    }

    /// The controller's events so far.
    pub fn events(&self) -> Vec<Event> {
        let event = |(_, seen)| if let Seen::Event(event, _) = seen { Some(event) } else { None };
        self.all().into_iter().filter_map(event).collect()
    }

    /// The packets sent so far.
    pub fn sent(&self) -> Vec<(Time, PacketSeen)> {
        let sent = |(at, seen)| if let Seen::Sent(packet) = seen { Some((at, packet)) } else { None };
        self.all().into_iter().filter_map(sent).collect()
    }
}

impl FlowObserver for Log {
    fn sent(&mut self, now: Time, packet: &PacketSeen) {
        self.push(now, Seen::Sent(*packet));
    }
    fn acked(&mut self, now: Time, ack: &AckSeen<'_>) {
        self.push(now, Seen::Acked { ranges: ack.ranges.to_vec(), delay: ack.delay, ecn: ack.ecn });
    }
    fn lost(&mut self, now: Time, loss: &LossSeen) {
        self.push(now, Seen::Lost(*loss));
    }
}

impl Recorder for Log {
    fn record(&mut self, event: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.push(event.now, Seen::Event(*event, *decision));
    }
}

/// A simulation with a constant window of `packets` in every flow, and flow 0's log.
pub fn with_constant(text: &str, packets: u32) -> (Simulation, Log) {
    watched(Simulation::with(&scenario(text, "reno"), |_| FixedWindow::configured(packets)).unwrap())
}

/// The same simulation with flow 0 watched.
pub fn watched(mut simulation: Simulation) -> (Simulation, Log) {
    let log = Log::default();
    simulation.watch(0, Some(Box::new(log.clone())), Some(Box::new(log.clone())));
    (simulation, log)
}

/// What kind of event, in a word.
pub fn kind(event: &Event) -> &'static str {
    match event.kind {
        EventKind::PacketSent(_) => "sent",
        EventKind::RttSampled(_) => "sampled",
        EventKind::PacketsAcked(_) => "acked",
        EventKind::EcnCe(_) => "marked",
        EventKind::PacketsLost(_) => "lost",
        EventKind::PersistentCongestion(_) => "persistent",
        EventKind::SpuriousLoss(_) => "spurious",
        EventKind::TimerExpired => "tick",
        EventKind::ProbeReceived(_) => "probed",
        EventKind::Joined => "joined",
        EventKind::Left => "left",
        _ => "other",
    }
}

/// All of `of`, on all processors; results in the order of `of`.
pub fn each<T: Sync, R: Send>(of: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(one) = of.get(place) else { return };
                    let result = work(one);
                    results.lock().expect("nobody panics with it").push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("nobody panics with it");
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
