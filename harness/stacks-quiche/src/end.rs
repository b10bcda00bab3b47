//! One end of a connection.

use std::collections::VecDeque;
use std::net::{Ipv6Addr, SocketAddr};
use std::time::Instant;

use quiche::external::EcnCodepoint;
use quiche::{Config, Connection, ConnectionId, RecvInfo};
use windlass_network::Codepoint;
use windlass_stacks::driver::datagrams::Role;
use windlass_stacks::identity::SERVER_NAME;

use crate::controller::Choice;

/// Port of the sender's first address under virtual time; the others follow.
const SENDER_PORT: u16 = 2;

/// Addresses of the two ends under virtual time, by their roles. Only quiche reads them.
pub const ADDRESSES: [SocketAddr; 2] = [sender(0), address(1)];

const fn address(port: u16) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), port)
}

/// The sender's address `number` under virtual time.
pub const fn sender(number: u16) -> SocketAddr {
    address(SENDER_PORT.saturating_add(number))
}

/// The number of the sender's address; 0 if it is none.
pub const fn number(address: SocketAddr) -> u16 {
    address.port().saturating_sub(SENDER_PORT)
}

/// One end of a connection.
pub struct End {
    /// The configuration to accept with; `None` for the end that connects.
    config: Option<Config>,
    connection: Option<Connection>,
    id: [u8; 8],
    here: SocketAddr,
    there: SocketAddr,
    /// When the next datagram may be asked for, if not at once.
    release: Option<Instant>,
    /// Datagrams quiche made before their send time, as it does with its own controllers.
    paced: VecDeque<(Instant, SocketAddr, Vec<u8>)>,
    buffer: Vec<u8>,
}

impl End {
    /// An end between `[here, there]` without a connection yet, for datagrams of `largest`
    /// bytes at most. One with a configuration accepts.
    pub fn new(role: Role, config: Option<Config>, [here, there]: [SocketAddr; 2], largest: usize) -> End {
        End {
            config,
            connection: None,
            // Connection IDs are the same in every run.
            id: [role as u8 + 1; 8],
            here,
            there,
            release: None,
            paced: VecDeque::new(),
            buffer: vec![0; largest],
        }
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// quiche refuses the connection.
    pub fn connect(&mut self, config: &mut Config, choice: Choice) -> Result<(), String> {
        let id = ConnectionId::from_ref(&self.id);
        self.connection = Some(choice.connect(config, SERVER_NAME, &id, [self.here, self.there])?);
        Ok(())
    }

    /// Address of the other end.
    pub fn peer(&self) -> SocketAddr {
        self.there
    }

    /// A datagram came from `peer`; the first one is from the peer to accept.
    pub fn on_datagram_from(&mut self, peer: SocketAddr) {
        if self.connection.is_none() {
            self.there = peer;
        }
    }

    /// The connection, once there is one.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut()
    }

    /// The connection, once there is one, to read.
    pub fn connection_ref(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// A datagram arrives from `from`.
    ///
    /// # Errors
    /// quiche does not accept the connection.
    pub fn receive(&mut self, codepoint: Codepoint, from: SocketAddr, payload: &mut [u8]) -> Result<(), String> {
        let first = self.connection.is_none();
        if let (None, Some(config)) = (&self.connection, &mut self.config) {
            let id = ConnectionId::from_ref(&self.id);
            let accepted = quiche::accept(&id, None, self.here, self.there, config);
            self.connection = Some(accepted.map_err(|error| error.to_string())?);
        }
        let Some(connection) = &mut self.connection else { return Ok(()) };
        connection.set_received_ecn(match codepoint {
            Codepoint::NotEct => EcnCodepoint::NotEct,
            Codepoint::Ect0 => EcnCodepoint::Ect0,
            Codepoint::Ect1 => EcnCodepoint::Ect1,
            Codepoint::Ce => EcnCodepoint::Ce,
        });
        // A datagram it cannot read counts as lost; one that breaks the protocol closes it.
        let read = connection.recv(payload, RecvInfo { from, to: self.here });
        if first && read.is_err() {
            // quiche closes a connection whose first datagram it cannot read (`drop_pkt_on_err` in `src/lib.rs`). A server
            // may discard such a datagram (RFC 9000 §5.2), and accept the client's next.
            self.connection = None;
        }
        Ok(())
    }

    /// Runs the timers that are due.
    pub fn expire(&mut self) {
        if let Some(connection) = &mut self.connection
            && connection.timeout().is_some_and(|left| left.is_zero())
        {
            connection.on_timeout();
        }
    }

    /// Sends the next datagram, and says where to, if one may leave at `now`; returns whether one may.
    ///
    /// # Errors
    /// quiche fails to make one.
    pub fn transmit(&mut self, now: Instant, send: &mut dyn FnMut(&[u8], SocketAddr)) -> Result<bool, String> {
        self.release = None;
        if let Some((at, to, datagram)) = self.paced.pop_front() {
            if at > now {
                self.paced.push_front((at, to, datagram));
                return Ok(false);
            }
            send(&datagram, to);
            return Ok(true);
        }
        let Some(connection) = &mut self.connection else { return Ok(false) };
        // A datagram counts as in flight when quiche makes it, so none is made before its time.
        let release = connection.get_next_release_time().and_then(|release| release.time(now));
        self.release = release.filter(|at| *at > now);
        if self.release.is_some() {
            return Ok(false);
        }
        match connection.send(&mut self.buffer) {
            // With `get_next_release_time`, the time given with a datagram is the next one's.
            Ok((bytes, info)) if info.at > now && connection.gcongestion_enabled() != Some(true) => {
                self.paced.push_back((info.at, info.to, self.buffer[..bytes].to_vec()));
            }
            Ok((bytes, info)) => send(&self.buffer[..bytes], info.to),
            Err(quiche::Error::Done) => return Ok(false),
            Err(error) => return Err(error.to_string()),
        }
        Ok(true)
    }

    /// When it has work next; `None` if only a datagram can bring some.
    pub fn timeout(&self) -> Option<Instant> {
        let timer = self.connection.as_ref().and_then(Connection::timeout_instant);
        let paced = self.paced.front().map(|(at, ..)| *at);
        [timer, paced, self.release].into_iter().flatten().min()
    }

    /// Why the connection is closed; `None` if it is not.
    pub fn closed(&self) -> Option<String> {
        let connection = self.connection.as_ref().filter(|connection| connection.is_closed())?;
        Some(match (connection.local_error(), connection.peer_error()) {
            _ if connection.is_timed_out() => "timed out".to_owned(),
            (Some(error), _) => format!("{error:?}"),
            (None, Some(error)) => format!("closed by the peer: {error:?}"),
            (None, None) => "closed".to_owned(),
        })
    }
}
