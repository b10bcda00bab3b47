//! The userspace link: the network model between sockets, in real time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, Timespec, poll};
use windlass_controllers::{Span, Time};

use super::Clock;
use super::socket::{Inbox, Socket};
use super::transfer::Transfer;
use crate::driver::datagrams::{Arrival, Datagram, DatagramNetwork, FlowDirection, Role, marking};
use windlass_network::{Class, Network};
use windlass_simulator::measure::{Histogram, NetworkMeter};
use windlass_simulator::scenario::Scenario;

/// The system wakes a sleeper up to so much late; the rest of a wait is spun away.
const SPIN: Span = Span::from_micros(50);
/// The longest sleep, so that a request to stop is noticed.
const LONGEST_SLEEP: Span = Span::from_millis(20);

/// A flow as the link sees it.
pub struct Port {
    /// The transfer of the flow.
    pub transfer: Arc<Transfer>,
    /// The sockets facing its ends, by their roles.
    pub sockets: [Socket; 2],
}

/// Result of a run on the link.
pub struct Relayed {
    /// Measures queues and cross traffic.
    pub meter: NetworkMeter,
    /// The network as it is at the end.
    pub network: Network,
    /// Packets of each flow that its receiver was sent with a CE mark.
    pub marked: Vec<u64>,
    /// Lateness of the link's deliveries, ns.
    pub lateness: Histogram,
    /// Datagrams the system did not take.
    pub refused: u64,
}

/// Carries datagrams between sockets through the network model.
pub struct Relay<'a> {
    scenario: &'a Scenario,
    ports: &'a [Port],
    clock: Clock,
    directions: Vec<[FlowDirection; 2]>,
    datagrams: DatagramNetwork,
    meter: NetworkMeter,
    next_sample: Time,
    marked: Vec<u64>,
    lateness: Histogram,
    refused: u64,
}

impl<'a> Relay<'a> {
    /// A link between the ends of `ports` on which nothing travels yet.
    pub fn new(scenario: &'a Scenario, network: Network, ports: &'a [Port], clock: Clock) -> Relay<'a> {
        let directions = (0..).zip(ports).map(|(flow, port)| {
            let spec = &port.transfer.spec;
            let direction = |to, route| FlowDirection {
                flow,
                route,
                to,
                overhead: spec.overhead_bytes,
                ecn: spec.ecn != Some(false),
                class: Class::Normal,
            };
            [direction(Role::Receiver, spec.forward), direction(Role::Sender, spec.backward)]
        });
        Relay {
            scenario,
            ports,
            clock,
            directions: directions.collect(),
            datagrams: DatagramNetwork::new(network),
            meter: NetworkMeter::new(scenario),
            next_sample: Time(scenario.sample.0),
            marked: vec![0; ports.len()],
            lateness: Histogram::new(),
            refused: 0,
        }
    }

    /// Carries datagrams until the scenario's end, until no flow is left, or until `stop` is
    /// true. Without a flow the rest of the scenario is the network's alone and takes no time.
    pub fn run(mut self, stop: &AtomicBool) -> Relayed {
        let ports = self.ports;
        let end = self.scenario.end();
        let mut interests: Vec<PollFd<'_>> =
            ports.iter().flat_map(|port| port.sockets.iter().map(Socket::interest)).collect();
        let mut inbox = Inbox::default();
        let over = || ports.iter().all(|port| port.transfer.over().is_some());
        while self.clock.now() < end && !stop.load(Ordering::Relaxed) && !over() {
            self.advance(self.now());
            wait(&mut interests, self.due(end).since(self.clock.now()));
            for (i, interest) in interests.iter().enumerate() {
                if !interest.revents().is_empty() {
                    self.receive(i / 2, Role::ALL[i % 2], &mut inbox);
                }
            }
        }
        // Nothing is late in the rest, and no socket takes it.
        let (lateness, refused) = (std::mem::take(&mut self.lateness), self.refused);
        self.advance(end);
        let Relay { datagrams, meter, marked, .. } = self;
        Relayed { meter, network: datagrams.network, marked, lateness, refused }
    }

    /// Nothing is later than the end, however late the system lets the link know.
    fn now(&self) -> Time {
        self.clock.now().min(self.scenario.end())
    }

    /// Time at which there is something to do, if nothing arrives before.
    fn due(&self, end: Time) -> Time {
        let in_network = self.datagrams.network.next().unwrap_or(end);
        in_network.min(self.next_sample).min(end)
    }

    /// Attends to everything due until `now`.
    fn advance(&mut self, now: Time) {
        while self.next_sample <= now {
            let point = self.next_sample;
            self.deliver(point);
            self.ports.iter().for_each(|port| port.transfer.sample(point));
            self.meter.sample(point, self.scenario, &mut self.datagrams.network);
            self.next_sample += self.scenario.sample;
        }
        self.deliver(now);
    }

    fn deliver(&mut self, now: Time) {
        while let Some(due) = self.datagrams.network.next().filter(|due| *due <= now) {
            self.lateness.add(self.clock.now().since(due).0);
            let Some(arrival) = self.datagrams.poll(now) else { break };
            self.hand_over(now, &arrival);
        }
    }

    fn hand_over(&mut self, now: Time, arrival: &Arrival) {
        let Some(payload) = &arrival.payload else { return };
        let ecn = arrival.ecn;
        let flow = arrival.flow as usize;
        let port = &self.ports[flow];
        if arrival.role == Role::Receiver {
            if port.transfer.spec.has_vanished(now) {
                return;
            }
            let counts = arrival.marked && port.transfer.over().is_none();
            self.marked[flow] += u64::from(counts);
        }
        self.refused += u64::from(!port.sockets[arrival.role as usize].send(ecn, payload));
    }

    /// Puts what the end `role` of a flow sent on the network.
    fn receive(&mut self, flow: usize, role: Role, inbox: &mut Inbox) {
        // What is due before what arrives now.
        let now = self.now();
        self.advance(now);
        let port = &self.ports[flow];
        let spec = &port.transfer.spec;
        let mut direction = self.directions[flow][role as usize];
        if role == Role::Sender {
            (direction.ecn, direction.class) = marking(spec, &port.transfer.decision());
        }
        let gone = role == Role::Receiver && spec.has_vanished(now);
        let datagrams = &mut self.datagrams;
        port.sockets[role as usize].receive(inbox, |ecn, payload| {
            if !gone {
                datagrams.send(now, &direction, &Datagram { ecn, payload, address: 0 });
            }
        });
    }
}

/// Sleeps until shortly before `span` has passed, or until something arrives.
pub(super) fn wait(interests: &mut [PollFd<'_>], span: Span) {
    let sleep = span.0.min(LONGEST_SLEEP.0).saturating_sub(SPIN.0);
    // As wide as the platform's field: 32 bits on Windows and on processors of 32 bits.
    let tv_nsec = sleep.min(999_999_999) as _;
    let timeout = Timespec { tv_sec: 0, tv_nsec };
    // Interrupted, it looks around and sleeps again.
    let _ = poll(interests, Some(&timeout));
}
