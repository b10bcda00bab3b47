//! One end of a connection.

use std::collections::VecDeque;
use std::net::{Ipv6Addr, SocketAddr};
use std::time::Instant;

use quiche::external::ecn;
use quiche::{Config, Connection, ConnectionId, RecvInfo};

use crate::choice::Choice;
use crate::net::Codepoint;
use crate::stacks::driver::wire::Role;
use crate::stacks::identity::SERVER_NAME;

/// Addresses of the two ends under virtual time, by their roles. Nothing but quiche reads them.
pub const ADDRESSES: [SocketAddr; 2] = [address(1), address(2)];

const fn address(port: u16) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), port)
}

/// One end of a connection.
pub struct End {
    /// To accept with.
    config: Option<Config>,
    connection: Option<Connection>,
    id: [u8; 8],
    here: SocketAddr,
    there: SocketAddr,
    /// When the next datagram may be asked for, if not at once.
    release: Option<Instant>,
    /// Datagrams quiche made before their time: its own controllers pace so.
    held: VecDeque<(Instant, Vec<u8>)>,
    buffer: Vec<u8>,
}

impl End {
    /// An end between `[here, there]` without a connection yet, for datagrams of `largest`
    /// bytes at most. One with a configuration accepts.
    pub fn new(role: Role, config: Option<Config>, [here, there]: [SocketAddr; 2], largest: usize) -> End {
        End {
            config,
            connection: None,
            // The same in every run.
            id: [role as u8 + 1; 8],
            here,
            there,
            release: None,
            held: VecDeque::new(),
            buffer: vec![0; largest],
        }
    }

    /// Starts to connect.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn connect(&mut self, config: &mut Config, choice: Choice) -> Result<(), String> {
        let id = ConnectionId::from_ref(&self.id);
        self.connection = Some(choice.connect(config, SERVER_NAME, &id, [self.here, self.there])?);
        Ok(())
    }

    /// Where its datagrams go.
    pub fn peer(&self) -> SocketAddr {
        self.there
    }

    /// A datagram comes from `peer`: whoever is first is whom it accepts.
    pub fn heard_from(&mut self, peer: SocketAddr) {
        if self.connection.is_none() {
            self.there = peer;
        }
    }

    /// The connection, once there is one.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut()
    }

    /// The connection, once there is one, for a look.
    pub fn look(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// A datagram arrives.
    ///
    /// # Errors
    /// Why a connection was not accepted.
    pub fn receive(&mut self, codepoint: Codepoint, payload: &mut [u8]) -> Result<(), String> {
        if let (None, Some(config)) = (&self.connection, &mut self.config) {
            let id = ConnectionId::from_ref(&self.id);
            let accepted = quiche::accept(&id, None, self.here, self.there, config);
            self.connection = Some(accepted.map_err(|error| error.to_string())?);
        }
        let Some(connection) = &mut self.connection else { return Ok(()) };
        ecn::tell(told(codepoint));
        // What it cannot read is as good as lost; what breaks the protocol closes it.
        let _ = connection.recv(payload, RecvInfo { from: self.there, to: self.here });
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

    /// Sends the next datagram, if one may leave now; `false` if none may.
    ///
    /// # Errors
    /// Why quiche makes none.
    pub fn transmit(&mut self, now: Instant, send: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        self.release = None;
        if let Some((at, datagram)) = self.held.pop_front() {
            if at > now {
                self.held.push_front((at, datagram));
                return Ok(false);
            }
            send(&datagram);
            return Ok(true);
        }
        let Some(connection) = &mut self.connection else { return Ok(false) };
        // Asked for, a datagram counts as in flight: before its time it is not asked for.
        let release = connection.get_next_release_time().and_then(|release| release.time(now));
        self.release = release.filter(|at| *at > now);
        if self.release.is_some() {
            return Ok(false);
        }
        match connection.send(&mut self.buffer) {
            // Where release times are told beforehand, the time told with a datagram is that of
            // the next.
            Ok((bytes, info)) if info.at > now && connection.gcongestion_enabled() != Some(true) => {
                self.held.push_back((info.at, self.buffer[..bytes].to_vec()));
            }
            Ok((bytes, _)) => send(&self.buffer[..bytes]),
            Err(quiche::Error::Done) => return Ok(false),
            Err(error) => return Err(error.to_string()),
        }
        Ok(true)
    }

    /// When it has to be driven next.
    pub fn timeout(&self) -> Option<Instant> {
        let timer = self.connection.as_ref().and_then(Connection::timeout_instant);
        let held = self.held.front().map(|(at, _)| *at);
        [timer, held, self.release].into_iter().flatten().min()
    }

    /// Why the connection is no more, if so.
    pub fn gone(&self) -> Option<String> {
        let connection = self.connection.as_ref().filter(|connection| connection.is_closed())?;
        Some(match (connection.local_error(), connection.peer_error()) {
            _ if connection.is_timed_out() => "timed out".to_owned(),
            (Some(error), _) => format!("{error:?}"),
            (None, Some(error)) => format!("closed by the peer: {error:?}"),
            (None, None) => "closed".to_owned(),
        })
    }
}

fn told(codepoint: Codepoint) -> ecn::Codepoint {
    match codepoint {
        Codepoint::NotEct => ecn::Codepoint::NotEct,
        Codepoint::Ect0 => ecn::Codepoint::Ect0,
        Codepoint::Ect1 => ecn::Codepoint::Ect1,
        Codepoint::Ce => ecn::Codepoint::Ce,
    }
}
