//! The two ends of a flow: s2n-quic's client and its server.

use std::net::SocketAddr;
use std::sync::Arc;

use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Endpoint};
use s2n_quic::provider::event::Subscriber;
use s2n_quic::provider::io::testing::{Handle, Io};
use s2n_quic::{Client, Server};
use windlass_adapter::{Groups, NamedController, SavedPaths};
use windlass_s2n_quic::Qlog;

use super::clock::{Clock, ConnectionIds, Random};
use super::config::Choice;
use super::config::{Error, Sizes, limits};
use super::flow::Notifier;
use super::flow::Shared;
use super::native::ObservedEndpoint;
use super::observe::{FlowObserver, FlowRecorder, PacketCounter};
use crate::driver::datagrams::Role;
use crate::identity::Identity;
use windlass_network::Stream;
use windlass_simulator::scenario::FlowSpec;

/// Datagrams an end's queues hold: as many as its socket takes in at once.
pub const QUEUE: usize = 1024;

/// Setup shared by the ends of all flows of a run.
#[derive(Clone)]
pub struct Setup {
    pub handle: Handle,
    pub identity: &'static Identity,
    pub seed: u64,
    pub clock: Clock,
    pub groups: Groups<NamedController, String>,
    pub saved_paths: SavedPaths<String>,
}

/// Parts of a flow's two ends.
pub struct Ends {
    pub setup: Setup,
    pub spec: Arc<FlowSpec>,
    pub choice: Choice,
    pub log: Option<Qlog>,
    pub notifier: Notifier,
}

/// An end as s2n-quic has it.
enum End {
    Server(Server),
    Client(Client),
}

impl Ends {
    /// Makes the ends of `flow`: server and client, and the address of the former. The client sends, unless the server
    /// answers requests.
    ///
    /// # Errors
    /// s2n-quic's.
    pub fn make(self, flow: &Shared) -> Result<(Server, Client, SocketAddr), Error> {
        let notifier = self.notifier.clone();
        let receiver = self.receiver()?;
        let (server, client, sends) = match (receiver, self.sender(flow)?) {
            (End::Server(server), End::Client(client)) => (server, client, Role::Sender),
            (End::Client(client), End::Server(server)) => (server, client, Role::Receiver),
            _ => return Err("both ends are the same".into()),
        };
        let (of_server, of_client) = (server.local_addr()?, client.local_addr()?);
        notifier.made(if sends == Role::Sender { [of_client, of_server] } else { [of_server, of_client] });
        Ok((server, client, of_server))
    }

    fn receiver(&self) -> Result<End, Error> {
        let (io, (random, ids), limits) = (self.io()?, self.random("receiver"), limits(&self.spec)?);
        let Identity { certificate, key } = self.setup.identity;
        Ok(match self.spec.requests {
            Some(_) => {
                let client = Client::builder().with_tls(&certificate[..])?.with_io(io)?;
                End::Client(client.with_random(random)?.with_connection_id(ids)?.with_limits(limits)?.start()?)
            }
            None => {
                let server = Server::builder().with_tls((&certificate[..], &key[..]))?.with_io(io)?;
                End::Server(server.with_random(random)?.with_connection_id(ids)?.with_limits(limits)?.start()?)
            }
        })
    }

    fn sender(mut self, flow: &Shared) -> Result<End, Error> {
        // A log that is never asked for costs nothing.
        let log = self.log.take().unwrap_or_else(|| Qlog::to(|_| None));
        let watch = PacketCounter::new(flow, !self.spec.drop_packets.is_empty());
        match self.choice.clone() {
            Choice::Ours(endpoint) => {
                let listen = flow.clone();
                let seed = Stream::new(self.setup.seed, &format!("controller {}", self.spec.name)).integer();
                let mut endpoint = endpoint.seed(seed).record_with(move |_| Box::new(FlowRecorder::new(&listen)));
                if let Some(group) = self.spec.group.clone() {
                    endpoint = endpoint.group(&self.setup.groups, move |_| group.clone());
                }
                if let Some(resume) = self.spec.resume.clone() {
                    endpoint = endpoint.resume(&self.setup.saved_paths, move |_| resume.path.clone());
                }
                self.sending(endpoint.record_in(&log), (log, watch))
            }
            Choice::Cubic => self.native(Cubic::default(), flow, (log, watch)),
            Choice::Bbr => self.native(Bbr::default(), flow, (log, watch)),
        }
    }

    fn native<E: Endpoint>(&self, inner: E, flow: &Shared, (log, watch): (Qlog, PacketCounter)) -> Result<End, Error> {
        let observer = FlowObserver { flow: flow.clone(), clock: self.setup.clock };
        self.sending(ObservedEndpoint { inner, observer }, (log.controller(&self.spec.controller), watch))
    }

    fn sending(&self, endpoint: impl Endpoint, events: impl Subscriber) -> Result<End, Error> {
        let (io, (random, ids), limits) = (self.io()?, self.random("sender"), limits(&self.spec)?);
        let Identity { certificate, key } = self.setup.identity;
        Ok(match self.spec.requests {
            Some(_) => {
                let server = Server::builder().with_tls((&certificate[..], &key[..]))?.with_io(io)?;
                let server = server.with_congestion_controller(endpoint)?.with_event(events)?;
                End::Server(server.with_random(random)?.with_connection_id(ids)?.with_limits(limits)?.start()?)
            }
            None => {
                let client = Client::builder().with_tls(&certificate[..])?.with_io(io)?;
                let client = client.with_congestion_controller(endpoint)?.with_event(events)?;
                End::Client(client.with_random(random)?.with_connection_id(ids)?.with_limits(limits)?.start()?)
            }
        })
    }

    /// A socket for datagrams of the flow's size, and larger ones if it may discover them.
    fn io(&self) -> Result<Io, Error> {
        let Sizes { first, largest } = Sizes::of(&self.spec);
        let builder = self.setup.handle.builder().with_max_mtu(largest).with_initial_mtu(first).with_base_mtu(first);
        Ok(builder.with_internal_recv_buffer_size(QUEUE * usize::from(largest))?.build()?)
    }

    fn random(&self, part: &str) -> (Random, ConnectionIds) {
        let stream = |of: &str| Stream::new(self.setup.seed, &format!("{of} {part} {}", self.spec.name));
        (Random(stream("s2n-quic")), ConnectionIds(stream("connection IDs")))
    }
}
