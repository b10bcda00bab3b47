//! The programs of a flow on real sockets: ordinary endpoints of the asynchronous crate.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use windlass_adapter::Groups;
use windlass_adapter::qlog::Level;
use windlass_controllers::{Algorithm, Time};

use super::asynchronous::{Connection, Endpoint, RecvStream, SendStream, TokioRuntime};
use super::config;
use super::dialect::{self, STACK};
use super::proto::{ClientConfig, EndpointConfig, ServerConfig, VarInt};
use super::setup::{Shared, largest, payload};
use super::tls::tls;
use crate::driver::journal::Journal;
use crate::identity::SERVER_NAME;
use crate::wire::{self, Counts, Ends, Program, Report};
use crate::{Log, LogOf, RunError};
use windlass_simulator::measure::Meter;
use windlass_simulator::scenario::{FlowSpec, Scenario};

/// Runs a scenario on real sockets. `log` says where the log of each flow goes, if anywhere.
/// `stop` is told now and then how far the run is, and says whether to give up.
///
/// # Errors
/// The stack cannot run a flow, a flow failed, or it was told to stop.
pub fn run(scenario: &Scenario, log: &mut LogOf<'_>, stop: &dyn Fn(Time) -> bool) -> Result<Report, RunError> {
    let tls = tls().map_err(RunError::Tls)?;
    wire::run(scenario, log, stop, |clock| {
        let (scenario, seed, origin) = (&scenario.name, scenario.seed, clock.origin());
        Ok(Live(Shared { scenario, seed, origin, groups: Groups::default(), tls, sees_packets: false }))
    })
}

/// The stack as a program.
struct Live<'a>(Shared<'a>);

impl Program for Live<'_> {
    const NAME: &'static str = STACK;
    type Sender = Sender;
    type Receiver = Receiver;

    fn ends(&self, spec: &FlowSpec, log: Option<Log>) -> Result<Ends<Sender, Receiver>, RunError> {
        let payload = payload(spec)?;
        let level = log.as_ref().map_or(Level::Recovery, |log| log.settings.level);
        let first = self.0.first_decision(spec, payload)?;
        let trace = log.map(|log| self.0.begin(log, spec, &first));
        // Without packets, which of them were lost is not for the journal to say.
        let journal = Arc::new(Mutex::new(Journal::new(Meter::new(spec.packet_bytes), first, None)));
        let factory = self.0.factory(spec, payload, Arc::clone(&journal), trace.clone(), level)?;
        let transport = || {
            let mut transport = config::transport(spec, payload);
            transport.enable_segmentation_offload(true);
            transport
        };

        let mut sending = transport();
        sending.congestion_controller_factory(factory);
        let mut client = ClientConfig::new(Arc::clone(&self.0.tls.client) as _);
        client.transport_config(Arc::new(sending));
        let server = config::server(self.0.tls, transport(), payload);
        let largest = largest(spec, payload);
        let no_endpoint = |error: io::Error| RunError::Flow {
            flow: spec.name.clone(),
            at_s: 0.0,
            reason: format!("no socket for it: {error}"),
        };
        let (endpoint, address) = bind(largest, None).map_err(no_endpoint)?;
        let sender = Sender { endpoint, address, config: client, connection: None };
        let (endpoint, address) = bind(largest, Some(server)).map_err(no_endpoint)?;
        let receiver = Receiver { endpoint, address, connection: None };
        Ok(Ends { sender, receiver, journal, trace })
    }

    fn groups(&self) -> &Groups<Algorithm, String> {
        &self.0.groups
    }
}

/// An endpoint for datagrams of up to `largest` bytes, and where it is bound.
fn bind(largest: u16, server: Option<ServerConfig>) -> io::Result<(Endpoint, SocketAddr)> {
    let mut config = EndpointConfig::default();
    // In its range: a payload is checked before a flow is made.
    let _ = config.max_udp_payload_size(largest.max(1472));
    let socket = wire::bind()?;
    let address = socket.local_addr()?;
    Ok((Endpoint::new(config, server, socket, Arc::new(TokioRuntime))?, address))
}

/// The end that connects and sends.
pub struct Sender {
    endpoint: Endpoint,
    address: SocketAddr,
    config: ClientConfig,
    connection: Option<(Connection, SendStream)>,
}

impl Sender {
    fn stream(&mut self) -> Result<&mut SendStream, String> {
        self.connection.as_mut().map(|(_, stream)| stream).ok_or_else(|| "not connected".to_owned())
    }
}

impl wire::Sender for Sender {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn connect(&mut self, peer: SocketAddr) -> Result<(), String> {
        let connecting = self.endpoint.connect_with(self.config.clone(), peer, SERVER_NAME);
        let connection = connecting.map_err(|error| error.to_string())?.await.map_err(|error| error.to_string())?;
        let stream = connection.open_uni().await.map_err(|error| error.to_string())?;
        self.connection = Some((connection, stream));
        Ok(())
    }

    async fn write(&mut self, bytes: Bytes) -> Result<(), String> {
        self.stream()?.write_chunk(bytes).await.map_err(|error| error.to_string())
    }

    async fn finish(&mut self) -> Result<(), String> {
        self.stream()?.finish().map_err(|error| error.to_string())
    }

    fn close(&mut self) {
        self.endpoint.close(VarInt::from_u32(0), b"");
    }

    fn counts(&self) -> Counts {
        let (sent, lost) = self.connection.as_ref().map_or((0, 0), |(connection, _)| dialect::live_packets(connection));
        Counts { sent, lost }
    }
}

/// The end that accepts and receives.
pub struct Receiver {
    endpoint: Endpoint,
    address: SocketAddr,
    connection: Option<(Connection, RecvStream)>,
}

impl wire::Receiver for Receiver {
    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn accept(&mut self) -> Result<(), String> {
        let incoming = self.endpoint.accept().await.ok_or_else(|| "its endpoint is closed".to_owned())?;
        let connection = incoming.await.map_err(|error| error.to_string())?;
        let stream = connection.accept_uni().await.map_err(|error| error.to_string())?;
        self.connection = Some((connection, stream));
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<Bytes>, String> {
        let Some((_, stream)) = &mut self.connection else { return Err("not connected".to_owned()) };
        dialect::read(stream).await.map_err(|error| error.to_string())
    }
}
