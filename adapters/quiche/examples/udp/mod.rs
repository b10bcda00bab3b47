//! What a quiche program does around quiche, server or client: a socket, waiting, and
//! letting datagrams leave when quiche says they may.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use quiche::{Connection, ConnectionId, RecvInfo};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};

#[allow(dead_code, reason = "a client serves nobody")]
pub mod server;

/// The largest datagram sent, bytes.
pub const DATAGRAM: usize = 1350;
/// The name of the protocol of `quiche-serve` and `quiche-fetch` in TLS.
#[allow(dead_code, reason = "HTTP/3 has another")]
pub const PROTOCOL: &[u8] = b"windlass-files";
/// What a socket may hold for a reader that is busy, bytes: what does not fit is lost, and
/// answered as congestion. The system may grant less.
const BUFFER: usize = 4 << 20;
/// What is due so soon leaves at once: waiting takes as long.
const SLACK: Duration = Duration::from_millis(1);

/// A connection, and what keeps it from sending.
pub struct Paced {
    pub connection: Connection,
    release: Option<Instant>,
}

impl Paced {
    pub fn new(connection: Connection) -> Paced {
        Paced { connection, release: None }
    }

    /// Sends all that may leave by now. quiche is asked for a datagram only when it may: what
    /// was asked for counts as in flight, and holding it would lengthen the round trip.
    pub fn send(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let mut datagram = [0; DATAGRAM];
        loop {
            let now = Instant::now();
            let release = self.connection.get_next_release_time().and_then(|release| release.time(now));
            self.release = release.filter(|release| *release > now + SLACK);
            if self.release.is_some() {
                return Ok(());
            }
            let Ok((bytes, info)) = self.connection.send(&mut datagram) else { return Ok(()) };
            match socket.send_to(&datagram[..bytes], info.to) {
                Ok(_) => {}
                // As good as lost on the way: no room, or nobody who listens any more.
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes a datagram. What quiche cannot read is dropped, as the network could have.
    pub fn receive(&mut self, datagram: &mut [u8], from: SocketAddr, to: SocketAddr) {
        let _ = self.connection.recv(datagram, RecvInfo { from, to });
    }

    /// How long nothing has to be done.
    pub fn rest(&self) -> Option<Duration> {
        let held = self.release.map(|release| release.saturating_duration_since(Instant::now() + SLACK));
        [held, self.connection.timeout()].into_iter().flatten().min()
    }

    /// Does what has become due.
    pub fn expire(&mut self) {
        if self.connection.timeout().is_some_and(|left| left.is_zero()) {
            self.connection.on_timeout();
        }
    }
}

/// Waits until something can be received, but not longer than `rest`.
pub fn wait(socket: &UdpSocket, rest: Option<Duration>) -> io::Result<()> {
    let rest = rest.and_then(|rest| Timespec::try_from(rest).ok());
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], rest.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A socket that never waits.
pub fn bind(address: &str) -> Result<UdpSocket, Box<dyn std::error::Error>> {
    let socket = UdpSocket::bind(address).map_err(|error| format!("{address}: {error}"))?;
    socket.set_nonblocking(true)?;
    // A smaller buffer works too.
    let _ = set_socket_recv_buffer_size(&socket, BUFFER);
    let _ = set_socket_send_buffer_size(&socket, BUFFER);
    Ok(socket)
}

/// A connection id nobody can guess.
pub fn connection_id() -> Result<ConnectionId<'static>, boring::error::ErrorStack> {
    let mut id = vec![0; 16];
    boring::rand::rand_bytes(&mut id)?;
    Ok(ConnectionId::from_vec(id))
}

/// What server and client have in common.
pub fn prepare(config: &mut quiche::Config, controller: &str) -> Result<(), Box<dyn std::error::Error>> {
    windlass_quiche::register_all();
    // quiche's error has no room for a reason.
    config.set_cc_algorithm_name(controller).map_err(|error| match windlass_quiche::check(controller) {
        Err(reason) => reason.to_string(),
        Ok(()) => error.to_string(),
    })?;
    config.set_max_idle_timeout(30_000);
    config.set_max_recv_udp_payload_size(65_527);
    config.set_max_send_udp_payload_size(DATAGRAM);
    config.set_initial_max_data(16 << 20);
    config.set_initial_max_stream_data_bidi_local(8 << 20);
    config.set_initial_max_stream_data_bidi_remote(1 << 16);
    config.set_initial_max_streams_bidi(8);
    config.set_disable_active_migration(true);
    Ok(())
}
