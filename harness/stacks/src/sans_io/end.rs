//! One end of a connection: an endpoint with a single connection.

use std::net::{Ipv6Addr, SocketAddr};
use std::time::Instant;

use bytes::BytesMut;

use super::dialect;
use super::proto::{
    ClientConfig, ConnectError, Connection, ConnectionEvent, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint,
    Event,
};
use crate::driver::wire::{Datagram, Role};
use crate::identity::SERVER_NAME;
use windlass_network::Codepoint;

/// Addresses of the two ends. Nothing but the endpoints reads them.
const ADDRESSES: [SocketAddr; 2] = [address(1), address(2)];

const fn address(port: u16) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), port)
}

/// One end of a connection.
pub struct End {
    endpoint: Endpoint,
    peer: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
    buffer: Vec<u8>,
}

impl End {
    /// An end without a connection yet.
    pub fn new(endpoint: Endpoint, role: Role) -> End {
        let peer = ADDRESSES[1 - role as usize];
        End { endpoint, peer, connection: None, buffer: Vec::new() }
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// The stack's.
    pub fn connect(&mut self, now: Instant, config: ClientConfig) -> Result<(), ConnectError> {
        self.connection = Some(self.endpoint.connect(now, config, self.peer, SERVER_NAME)?);
        Ok(())
    }

    /// The connection, once there is one.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// A datagram arrives. `send` takes what the endpoint answers at once.
    ///
    /// # Errors
    /// Why a connection was not accepted.
    pub fn receive(
        &mut self,
        now: Instant,
        ecn: Codepoint,
        payload: BytesMut,
        send: impl FnOnce(Datagram<'_>),
    ) -> Result<(), String> {
        self.buffer.clear();
        match dialect::handle(&mut self.endpoint, now, self.peer, codepoint(ecn), payload, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => self.handle(event),
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut self.buffer, None);
                self.connection = Some(accepted.map_err(|error| error.cause.to_string())?);
            }
            Some(DatagramEvent::Response(transmit)) => {
                send(Datagram { ecn: told(transmit.ecn), payload: &self.buffer[..transmit.size] });
            }
            None => {}
        }
        Ok(())
    }

    fn handle(&mut self, event: ConnectionEvent) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_event(event);
        }
    }

    /// Runs the timers that are due.
    pub fn expire(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|at| at <= now)
        {
            connection.handle_timeout(now);
        }
    }

    /// The next thing the connection has to tell the application.
    pub fn poll(&mut self) -> Option<Event> {
        self.connection.as_mut()?.1.poll()
    }

    /// Sends everything that may be sent now, a datagram at a time. Returns how many.
    pub fn transmit(&mut self, now: Instant, mut send: impl FnMut(Datagram<'_>)) -> usize {
        let Some((handle, connection)) = &mut self.connection else { return 0 };
        let mut sent = 0;
        loop {
            while let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            self.buffer.clear();
            let Some(transmit) = dialect::transmit(connection, now, &mut self.buffer) else { return sent };
            send(Datagram { ecn: told(transmit.ecn), payload: &self.buffer[..transmit.size] });
            sent += 1;
        }
    }

    /// When its next timer is due.
    pub fn timeout(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout()
    }
}

fn told(ecn: Option<EcnCodepoint>) -> Codepoint {
    match ecn {
        None => Codepoint::NotEct,
        Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
        Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
        Some(EcnCodepoint::Ce) => Codepoint::Ce,
    }
}

fn codepoint(ecn: Codepoint) -> Option<EcnCodepoint> {
    match ecn {
        Codepoint::NotEct => None,
        Codepoint::Ect0 => Some(EcnCodepoint::Ect0),
        Codepoint::Ect1 => Some(EcnCodepoint::Ect1),
        Codepoint::Ce => Some(EcnCodepoint::Ce),
    }
}
