//! The part of a quiche program around quiche, server or client: a socket, waiting, and sending
//! datagrams when quiche says they may leave.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use boring::ssl::{SslContextBuilder, SslMethod, SslVerifyMode};
use boring::x509::X509;
use quiche::{Connection, ConnectionId, RecvInfo};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};

pub mod server;

/// The largest datagram sent, bytes.
pub const DATAGRAM: usize = 1350;
/// The name of the protocol of `quiche-serve` and `quiche-fetch` in TLS.
pub const PROTOCOL: &[u8] = b"windlass-files";
/// Size of a socket's buffers, bytes: datagrams that do not fit while the program is busy are lost,
/// which looks like congestion. The system may grant less.
const BUFFER: usize = 4 << 20;
/// A datagram due within this time is sent at once, since waiting takes as long.
const SLACK: Duration = Duration::from_millis(1);

/// A connection whose datagrams leave when quiche's pacer releases them.
pub struct Paced {
    /// The quiche connection.
    pub connection: Connection,
    /// Earliest time of the next datagram; `None` for at once.
    release: Option<Instant>,
}

impl Paced {
    /// Sends `connection`'s packets at the times quiche gives them.
    #[must_use]
    pub fn new(connection: Connection) -> Paced {
        Paced { connection, release: None }
    }

    /// Sends all datagrams that may leave. quiche is asked for one only at its release time, since
    /// it counts as in flight from then on.
    ///
    /// # Errors
    /// The system refuses to send to this peer.
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
                // The datagram counts as lost: no room, or the peer listens no more.
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) => {}
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error()) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Passes a datagram to quiche, which drops what it cannot read.
    pub fn receive(&mut self, datagram: &mut [u8], from: SocketAddr, to: SocketAddr) {
        let _ = self.connection.recv(datagram, RecvInfo { from, to });
    }

    /// Passes all that has arrived at `socket` to quiche, with room for a datagram in `buffer`.
    ///
    /// # Errors
    /// The socket fails.
    pub fn receive_all(&mut self, socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<()> {
        let here = socket.local_addr()?;
        loop {
            match socket.recv_from(buffer) {
                Ok((bytes, from)) => self.receive(&mut buffer[..bytes], from, here),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// How long there is nothing to do; `None` until something arrives.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        let paced = self.release.map(|release| release.saturating_duration_since(Instant::now() + SLACK));
        [paced, self.connection.timeout()].into_iter().flatten().min()
    }

    /// Runs the timers that are due.
    pub fn expire(&mut self) {
        if self.connection.timeout().is_some_and(|left| left.is_zero()) {
            self.connection.on_timeout();
        }
    }
}

/// Waits until something can be received, but not longer than `timeout`.
///
/// # Errors
/// The system cannot wait.
pub fn wait(socket: &UdpSocket, timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match poll(&mut [PollFd::new(socket, PollFlags::IN)], timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A non-blocking socket.
///
/// # Errors
/// The address cannot be bound.
pub fn bind(address: &str) -> Result<UdpSocket, Box<dyn std::error::Error>> {
    let socket = UdpSocket::bind(address).map_err(|error| format!("{address}: {error}"))?;
    socket.set_nonblocking(true)?;
    // A smaller buffer works, too.
    let _ = set_socket_recv_buffer_size(&socket, BUFFER);
    let _ = set_socket_send_buffer_size(&socket, BUFFER);
    Ok(socket)
}

/// A random connection ID.
///
/// # Errors
/// BoringSSL has no randomness.
pub fn connection_id() -> Result<ConnectionId<'static>, boring::error::ErrorStack> {
    let mut id = vec![0; 16];
    boring::rand::rand_bytes(&mut id)?;
    Ok(ConnectionId::from_vec(id))
}

/// The configuration of a client that trusts `certificate`, DER, and no other.
///
/// # Errors
/// BoringSSL refuses the certificate.
pub fn client_config(certificate: &[u8]) -> Result<quiche::Config, Box<dyn std::error::Error>> {
    let mut tls = SslContextBuilder::new(SslMethod::tls())?;
    tls.cert_store_mut().add_cert(X509::from_der(certificate)?)?;
    tls.set_verify(SslVerifyMode::PEER);
    let mut config = quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?;
    config.verify_peer(true);
    Ok(config)
}

/// Sets what server and client have in common.
///
/// # Errors
/// quiche cannot run the controller.
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
