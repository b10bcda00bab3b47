//! The userspace link by itself: between a server and clients that know nothing of it.
//!
//! It listens at the address that clients take for the server's, and hands every client's datagrams to the
//! server from a socket of their own, so that each client has an address of its own. The
//! scenario's first flow says which way the server's datagrams take and which the clients'.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::event::PollFd;
use serde::Serialize;
use windlass_controllers::Time;

use super::Clock;
use super::relay::wait;
use super::socket::{Inbox, Open, Socket, bind_to};
use crate::driver::datagrams::{Arrival, Datagram, DatagramNetwork, FlowDirection, Role};
use windlass_network::{Class, Network, TopologyError};
use windlass_simulator::measure::{Histogram, NetworkMeter};
use windlass_simulator::outcome::QueueOutcome;
use windlass_simulator::scenario::{FlowSpec, Scenario};

/// Clients at most. Datagrams of further ones are dropped.
const CLIENTS: usize = 256;

/// A link between a server and its clients.
pub struct Link<'a> {
    scenario: &'a Scenario,
    flow: &'a FlowSpec,
    server: SocketAddr,
    front: Open,
    clients: Vec<Client>,
    clock: Clock,
    datagrams: DatagramNetwork,
    meter: NetworkMeter,
    next_sample: Time,
    lateness: Histogram,
    /// Transit times of datagrams, by the end they went to, ns.
    transit: [Histogram; 2],
    refused: u64,
}

/// A client and the socket that stands for it before the server.
struct Client {
    address: SocketAddr,
    socket: Socket,
}

/// Why a link cannot be.
#[derive(thiserror::Error)]
pub enum LinkError {
    /// The scenario has no flow, whose way datagrams could take.
    #[error("the scenario {0:?} has no [[flow]], whose way the server's datagrams would take")]
    NoFlow(String),
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] TopologyError),
    /// No socket to listen on.
    #[error("cannot listen on {address}: {error}")]
    Socket {
        /// The address to bind.
        address: SocketAddr,
        /// The error of the bind.
        error: io::Error,
    },
}

impl std::fmt::Debug for LinkError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// What the link carried until it ended.
#[derive(Debug, Serialize)]
pub struct Carried {
    /// Name of the scenario.
    pub scenario: String,
    /// Duration of the run, s.
    pub duration_s: f64,
    /// Number of clients.
    pub clients: usize,
    /// How late it was when it attended to what was due, 99th percentile, ms.
    pub late_p99_ms: f64,
    /// Datagrams that had no client, or that the system did not take.
    pub refused: u64,
    /// Time of datagrams from socket to socket, ms.
    pub transit_ms: Transit,
    /// Queues of the network.
    pub queues: Vec<QueueOutcome>,
}

/// Medians of the time datagrams took from one socket of the link to the other, ms.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Transit {
    /// From the server to its clients.
    pub forth: Option<f64>,
    /// From clients to the server.
    pub back: Option<f64>,
}

impl<'a> Link<'a> {
    /// A link of `scenario` before `server`, for clients that send to `listen`.
    ///
    /// # Errors
    /// The scenario has no flow, its network cannot be built, or `listen` cannot be bound.
    pub fn new(scenario: &'a Scenario, listen: SocketAddr, server: SocketAddr) -> Result<Link<'a>, LinkError> {
        let flow = scenario.flows.first().ok_or_else(|| LinkError::NoFlow(scenario.name.clone()))?;
        let network = Network::new(&scenario.topology, scenario.seed)?;
        let front =
            bind_to(listen).and_then(Open::new).map_err(|error| LinkError::Socket { address: listen, error })?;
        Ok(Link {
            scenario,
            flow,
            server,
            front,
            clients: Vec::new(),
            clock: Clock::start(),
            datagrams: DatagramNetwork::new(network),
            meter: NetworkMeter::new(scenario),
            next_sample: Time(scenario.sample.0),
            lateness: Histogram::new(),
            transit: [Histogram::new(), Histogram::new()],
            refused: 0,
        })
    }

    /// The address it listens at.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.front.address()
    }

    /// Carries datagrams until the scenario's end, or until `stop` asks for its end.
    pub fn run(mut self, stop: &dyn Fn(Time) -> bool) -> Carried {
        let end = self.scenario.end();
        let mut inbox = Inbox::default();
        while self.clock.now() < end && !stop(self.clock.now()) {
            self.advance(self.now());
            let due = self.datagrams.network.next().unwrap_or(end).min(self.next_sample).min(end);
            let ready: Vec<bool> = {
                let sockets = self.clients.iter().map(|client| client.socket.interest());
                let mut interests: Vec<PollFd<'_>> = std::iter::once(self.front.interest()).chain(sockets).collect();
                wait(&mut interests, due.since(self.clock.now()));
                interests.iter().map(|interest| !interest.revents().is_empty()).collect()
            };
            for (i, _) in ready.iter().enumerate().filter(|(_, ready)| **ready) {
                // What is due before what arrives now.
                self.advance(self.now());
                match i {
                    0 => self.receive_from_clients(&mut inbox),
                    i => self.receive_from_server(i - 1, &mut inbox),
                }
            }
        }
        let now = self.now();
        self.advance(now);
        let (_, queues) = self.meter.finish(now, self.scenario, &self.datagrams.network);
        let late_p99_ms = self.lateness.quantile(0.99).unwrap_or(0.0) / 1e6;
        let median = |to: Role| self.transit[to as usize].quantile(0.5).map(|ns| ns / 1e6);
        let transit_ms = Transit { forth: median(Role::Receiver), back: median(Role::Sender) };
        Carried {
            scenario: self.scenario.name.clone(),
            duration_s: now.0 as f64 / 1e9,
            clients: self.clients.len(),
            late_p99_ms,
            refused: self.refused,
            transit_ms,
            queues,
        }
    }

    /// Nothing is later than the end, however late the system lets the link know.
    fn now(&self) -> Time {
        self.clock.now().min(self.scenario.end())
    }

    /// Attends to everything due until `now`.
    fn advance(&mut self, now: Time) {
        while self.next_sample <= now {
            let point = self.next_sample;
            self.deliver(point);
            self.meter.sample(point, self.scenario, &mut self.datagrams.network);
            self.next_sample += self.scenario.sample;
        }
        self.deliver(now);
    }

    fn deliver(&mut self, now: Time) {
        while let Some(due) = self.datagrams.network.next().filter(|due| *due <= now) {
            self.lateness.add(self.clock.now().since(due).0);
            let Some(Arrival { flow, role, payload, ecn, since, .. }) = self.datagrams.poll(now) else { break };
            let (Some(payload), Some(client)) = (payload, self.clients.get(flow as usize)) else { continue };
            self.transit[role as usize].add(self.clock.now().since(since).0);
            let taken = match role {
                Role::Sender => client.socket.send(ecn, &payload),
                Role::Receiver => self.front.send(client.address, ecn, &payload),
            };
            self.refused += u64::from(!taken);
        }
    }

    /// How the datagrams of client `number` travel to the end `to`: the server is the one
    /// that sends most, and so the sender.
    fn direction(&self, number: usize, to: Role) -> FlowDirection {
        FlowDirection {
            flow: u32::try_from(number).unwrap_or(u32::MAX),
            route: if to == Role::Receiver { self.flow.forward } else { self.flow.backward },
            to,
            overhead: self.flow.overhead_bytes,
            ecn: self.flow.ecn != Some(false),
            class: Class::Normal,
        }
    }

    fn receive_from_clients(&mut self, inbox: &mut Inbox) {
        let now = self.now();
        let mut received = Vec::new();
        self.front.receive(inbox, |from, ecn, payload| received.push((from, ecn, payload.to_vec())));
        for (from, ecn, payload) in received {
            match self.client(from) {
                Some(number) => {
                    let direction = self.direction(number, Role::Sender);
                    self.datagrams.send(now, &direction, &Datagram { ecn, payload: &payload, address: 0 });
                }
                None => self.refused += 1,
            }
        }
    }

    fn receive_from_server(&mut self, number: usize, inbox: &mut Inbox) {
        let now = self.now();
        let direction = self.direction(number, Role::Receiver);
        let datagrams = &mut self.datagrams;
        self.clients[number]
            .socket
            .receive(inbox, |ecn, payload| datagrams.send(now, &direction, &Datagram { ecn, payload, address: 0 }));
    }

    /// The number of the client at `address`, who may be new.
    fn client(&mut self, address: SocketAddr) -> Option<usize> {
        let known = self.clients.iter().position(|client| client.address == address);
        if known.is_some() || self.clients.len() >= CLIENTS {
            return known;
        }
        let here: IpAddr = match self.server.ip() {
            ip if ip.is_loopback() => ip,
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = bind_to((here, 0).into()).and_then(|socket| Socket::new(socket, self.server)).ok()?;
        self.clients.push(Client { address, socket });
        Some(self.clients.len() - 1)
    }
}
