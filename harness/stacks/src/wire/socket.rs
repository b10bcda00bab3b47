//! UDP sockets on the loopback interface that show and set ECN codepoints.

use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::event::{PollFd, PollFlags};

use windlass_network::Codepoint;

/// What a socket may hold for a reader that is not there just now, bytes: some 100 ms of
/// 100 Mbit/s. The system may grant less.
const BUFFER: usize = 4 << 20;
/// The largest datagram, or run of equal datagrams the system hands over as one.
const LARGEST: usize = 1 << 16;

/// A socket on 127.0.0.1, with a port of the system's choice.
///
/// # Errors
/// The system has none to give.
pub fn bind() -> io::Result<UdpSocket> {
    bind_to(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

/// A socket on `address`.
///
/// # Errors
/// The system does not give it.
pub fn bind_to(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    let state = UdpSocketState::new(UdpSockRef::from(&socket)).map_err(explained)?;
    // A smaller buffer works too.
    let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), BUFFER);
    let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), BUFFER);
    Ok(socket)
}

/// The error of a system whose sockets lack an option, which it reports by a number alone.
pub(super) fn explained(error: io::Error) -> io::Error {
    // WSAENOPROTOOPT and WSAEOPNOTSUPP: a Windows before IP_RECVECN, or Wine.
    if cfg!(windows) && matches!(error.raw_os_error(), Some(10042 | 10045)) {
        let text =
            format!("this Windows shows no ECN codepoints of datagrams (IP_RECVECN), which real sockets need: {error}");
        return io::Error::new(io::ErrorKind::Unsupported, text);
    }
    error
}

/// A socket that talks to anybody.
pub struct Open {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Open {
    /// Takes `socket`, which from now on never waits.
    ///
    /// # Errors
    /// It cannot be set up.
    pub fn new(socket: UdpSocket) -> io::Result<Open> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket)).map_err(explained)?;
        Ok(Open { socket, state })
    }

    /// Its local address.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sends a datagram with a codepoint; `false` if the system did not take it.
    pub fn send(&self, to: SocketAddr, ecn: Codepoint, contents: &[u8]) -> bool {
        let transmit = Transmit { destination: to, ecn: to_udp(ecn), contents, segment_size: None, src_ip: None };
        self.state.try_send(UdpSockRef::from(&self.socket), &transmit).is_ok()
    }

    /// Hands to `take` what waits and whom it is from, at most one batch; `false` if nothing
    /// did.
    pub fn receive(&self, inbox: &mut Inbox, mut take: impl FnMut(SocketAddr, Codepoint, &[u8])) -> bool {
        let mut rest = inbox.bytes.as_mut_slice();
        let mut slices: [IoSliceMut<'_>; BATCH_SIZE] = std::array::from_fn(|_| {
            let (slice, after) = std::mem::take(&mut rest).split_at_mut(LARGEST);
            rest = after;
            IoSliceMut::new(slice)
        });
        let socket = UdpSockRef::from(&self.socket);
        // An error a datagram sent before caused is news about a peer that is gone.
        let Ok(count) = self.state.recv(socket, &mut slices, &mut inbox.meta) else { return false };
        for (meta, slice) in inbox.meta[..count].iter().zip(&slices) {
            for datagram in slice[..meta.len].chunks(meta.stride.max(1)) {
                take(meta.addr, from_udp(meta.ecn), datagram);
            }
        }
        true
    }

    /// Notified when something waits.
    pub fn interest(&self) -> PollFd<'_> {
        PollFd::new(&self.socket, PollFlags::IN)
    }
}

/// A socket that talks to one peer.
pub struct Socket {
    open: Open,
    peer: SocketAddr,
}

impl Socket {
    /// `socket`, connected to `peer`, so that it receives from `peer` only.
    ///
    /// # Errors
    /// It cannot be set up.
    pub fn new(socket: UdpSocket, peer: SocketAddr) -> io::Result<Socket> {
        Ok(Socket { open: Open::new(socket)?, peer })
    }

    /// Sends a datagram with a codepoint; `false` if the system did not take it.
    pub fn send(&self, ecn: Codepoint, contents: &[u8]) -> bool {
        self.open.send(self.peer, ecn, contents)
    }

    /// Hands to `take` what waits, at most one batch; `false` if nothing did.
    pub fn receive(&self, inbox: &mut Inbox, mut take: impl FnMut(Codepoint, &[u8])) -> bool {
        self.open.receive(inbox, |from, ecn, datagram| {
            if from == self.peer {
                take(ecn, datagram);
            }
        })
    }

    /// Notified when something waits.
    pub fn interest(&self) -> PollFd<'_> {
        self.open.interest()
    }
}

/// Room for a batch of datagrams.
pub struct Inbox {
    bytes: Vec<u8>,
    meta: [RecvMeta; BATCH_SIZE],
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox { bytes: vec![0; BATCH_SIZE * LARGEST], meta: [RecvMeta::default(); BATCH_SIZE] }
    }
}

fn to_udp(codepoint: Codepoint) -> Option<EcnCodepoint> {
    EcnCodepoint::from_bits(codepoint as u8)
}

fn from_udp(ecn: Option<EcnCodepoint>) -> Codepoint {
    match ecn {
        None => Codepoint::NotEct,
        Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
        Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
        Some(EcnCodepoint::Ce) => Codepoint::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Socket, Socket) {
        let (one, other) = (bind().unwrap(), bind().unwrap());
        let (first, second) = (one.local_addr().unwrap(), other.local_addr().unwrap());
        (Socket::new(one, second).unwrap(), Socket::new(other, first).unwrap())
    }

    fn received(socket: &Socket) -> Vec<(Codepoint, Vec<u8>)> {
        let mut inbox = Inbox::default();
        let mut all = Vec::new();
        while socket.receive(&mut inbox, |ecn, bytes| all.push((ecn, bytes.to_vec()))) {}
        all
    }

    #[test]
    fn codepoints_and_datagrams_arrive_as_they_were_sent() {
        let (one, other) = pair();
        let sent: Vec<_> = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce]
            .into_iter()
            .enumerate()
            .map(|(i, ecn)| (ecn, vec![i as u8; 1200 + i]))
            .collect();
        for (ecn, bytes) in &sent {
            assert!(one.send(*ecn, bytes));
        }
        assert_eq!(received(&other), sent);
        assert!(other.interest().revents().is_empty());
    }

    #[test]
    fn datagrams_of_strangers_are_dropped() {
        let (one, other) = pair();
        let stranger = bind().unwrap();
        stranger.send_to(b"hello", other.open.address().unwrap()).unwrap();
        assert!(one.send(Codepoint::NotEct, b"known"));
        assert_eq!(received(&other), [(Codepoint::NotEct, b"known".to_vec())]);
    }

    #[test]
    fn sockets_are_reachable_from_this_machine_only() {
        assert!(bind().unwrap().local_addr().unwrap().ip().is_loopback());
    }
}
