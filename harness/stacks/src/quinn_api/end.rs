//! One end of a connection: an endpoint with a single connection.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Instant;

use bytes::BytesMut;
use windlass_network::Codepoint;

use super::{ConnectionEvent, QuinnApi, Sent};
use crate::driver::datagrams::{Datagram, Role};

/// Address of the receiver. Nothing but the endpoints reads addresses.
const RECEIVER: SocketAddr = address(1);
/// Port of the sender's first address; the others follow.
const SENDER_PORT: u16 = 2;

const fn address(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), port)
}

/// The sender's address `number`.
const fn sender(number: u16) -> SocketAddr {
    address(SENDER_PORT.saturating_add(number))
}

/// The number of the sender's address; 0 if it is none.
const fn number(address: SocketAddr) -> u16 {
    address.port().saturating_sub(SENDER_PORT)
}

/// One end of a connection.
pub struct End<S: QuinnApi> {
    endpoint: S::Endpoint,
    role: Role,
    connection: Option<(S::Handle, S::Connection)>,
    buffer: Vec<u8>,
}

impl<S: QuinnApi> End<S> {
    /// An end without a connection yet.
    pub fn new(endpoint: S::Endpoint, role: Role) -> Self {
        End { endpoint, role, connection: None, buffer: Vec::new() }
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// The stack's.
    pub fn connect(&mut self, now: Instant, config: S::ClientConfig) -> Result<(), String> {
        let peer = self.peer(0);
        self.connection = Some(S::connect(&mut self.endpoint, now, config, peer)?);
        Ok(())
    }

    /// The other end; the sender has its address number `from`.
    fn peer(&self, from: u16) -> SocketAddr {
        if self.role == Role::Sender { RECEIVER } else { sender(from) }
    }

    /// The connection, once there is one.
    pub fn connection(&mut self) -> Option<&mut S::Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    /// A datagram arrives, at the receiver from the sender's address `from`. `send` takes what the endpoint answers at once.
    ///
    /// # Errors
    /// The reason why a connection was not accepted.
    pub fn receive(
        &mut self,
        now: Instant,
        ecn: Codepoint,
        from: u16,
        payload: BytesMut,
        send: &mut dyn FnMut(Datagram<'_>),
    ) -> Result<(), String> {
        self.buffer.clear();
        let peer = self.peer(from);
        let End { endpoint, connection, buffer, .. } = self;
        if let Some(Sent { ecn, bytes, to }) = S::handle(endpoint, connection, now, peer, ecn, payload, buffer)? {
            send(Datagram { ecn, payload: &self.buffer[..bytes], address: number(to) });
        }
        Ok(())
    }

    /// Runs the timers that are due.
    pub fn expire(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection
            && S::timeout(connection).is_some_and(|at| at <= now)
        {
            S::handle_timeout(connection, now);
        }
    }

    /// The next event for the application.
    pub fn poll(&mut self) -> Option<ConnectionEvent> {
        S::poll(&mut self.connection.as_mut()?.1)
    }

    /// Sends everything that may be sent at `now`, a datagram at a time.
    pub fn transmit(&mut self, now: Instant, send: &mut dyn FnMut(Datagram<'_>)) {
        let Some(connection) = &mut self.connection else { return };
        loop {
            self.buffer.clear();
            let Some(Sent { ecn, bytes, to }) = S::transmit(&mut self.endpoint, connection, now, &mut self.buffer)
            else {
                return;
            };
            send(Datagram { ecn, payload: &self.buffer[..bytes], address: number(to) });
        }
    }

    /// Expiry of its next timer; `None` if none is set.
    pub fn timeout(&mut self) -> Option<Instant> {
        S::timeout(&mut self.connection.as_mut()?.1)
    }
}
