//! Ports that nobody else has.

use std::io;
use std::net::{IpAddr, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Below the ports that systems choose from.
const PORTS: std::ops::Range<u16> = 12_000..32_000;

/// Reserves a port for a socket that MsQuic is to bind; to be dropped just before.
///
/// MsQuic lets the processors of a server share its port (`SO_REUSEPORT`), and asked for port 0 such a socket may get the
/// port of another server's: Linux takes all of one user's that allow it for one group, over which it spreads the datagrams.
/// A client's address has to be known before MsQuic binds it.
///
/// # Errors
/// No port of 20 000 can be bound; the last error.
pub fn reserve_port(address: IpAddr) -> io::Result<UdpSocket> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // Processes that run at the same time begin at different ports.
    let begin = std::process::id() as usize * 997;
    let count = PORTS.len();
    let mut last = io::ErrorKind::AddrInUse.into();
    for _ in 0..count {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + ((begin + step) % count) as u16;
        match UdpSocket::bind((address, port)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}
