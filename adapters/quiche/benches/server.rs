//! CPU time of a whole server: ours beside quiche's own controllers, by turns over loopback.
//! `cargo bench -p windlass-quiche --bench server [-- TURNS [MEGABYTES]]`, with quiche as in `ci/quiche`.

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};

use windlass_adapter_testkit::files::{self, Identity};
use windlass_adapter_testkit::server::{self, Stack};
use windlass_quiche_testkit::udp::{self, Paced};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The stream of the request and its answer.
const STREAM: u64 = 0;

fn main() -> Result<()> {
    server::beside::<Quiche>(&[("cubic", "native:cubic"), ("reno", "native:reno"), ("bbr", "native:bbr2")])
}

struct Quiche;

/// What quiche calls `controller`.
fn name(controller: &str) -> String {
    controller.strip_prefix("native:").map_or_else(|| format!("windlass/{controller}"), str::to_owned)
}

/// Sends what may leave, waits, runs timers and takes all that has arrived.
fn turn(socket: &UdpSocket, paced: &mut Paced, buffer: &mut [u8]) -> std::io::Result<()> {
    paced.send(socket)?;
    udp::wait(socket, paced.timeout())?;
    paced.expire();
    paced.receive_all(socket, buffer)
}

/// Hands over as much of the answer as quiche has room for: `rest`, then `chunks`; returns whether that was all of it.
fn write<'a>(
    connection: &mut quiche::Connection,
    rest: &mut &'a [u8],
    chunks: &mut impl Iterator<Item = &'a [u8]>,
) -> quiche::Result<bool> {
    loop {
        if rest.is_empty() {
            *rest = chunks.next().unwrap_or_default();
        }
        let last = rest.is_empty();
        match connection.stream_send(STREAM, rest, last) {
            Ok(_) if last => return Ok(true),
            Ok(taken) => *rest = &rest[taken..],
            Err(quiche::Error::Done) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

impl Stack for Quiche {
    fn serve(identity: &Identity, controller: &str, bytes: u64, listens: impl FnOnce(SocketAddr)) -> Result<()> {
        let mut config = udp::server::config(&identity.certificate, &identity.key)?;
        udp::prepare(&mut config, &name(controller))?;
        config.set_application_protos(&[udp::PROTOCOL])?;
        let socket = udp::bind("127.0.0.1:0")?;
        let here = socket.local_addr()?;
        listens(here);
        let mut buffer = vec![0; 65_535];
        udp::wait(&socket, None)?;
        let (first, peer) = socket.recv_from(&mut buffer)?;
        let mut paced = Paced::new(quiche::accept(&udp::connection_id()?, None, here, peer, &mut config)?);
        paced.receive(&mut buffer[..first], peer, here);
        let (mut rest, mut chunks) = (&[][..], server::chunks(bytes));
        let (mut asked, mut written) = (false, false);
        while !paced.connection.is_closed() {
            asked |= paced.connection.stream_readable(STREAM);
            if asked && !written {
                written = write(&mut paced.connection, &mut rest, &mut chunks)?;
            }
            turn(&socket, &mut paced, &mut buffer)?;
        }
        Ok(())
    }

    fn fetch(server: SocketAddr, certificate: &[u8], _: u64, came: impl FnOnce(u64)) -> Result<()> {
        let mut config = udp::client_config(certificate)?;
        udp::prepare(&mut config, "cubic")?;
        config.set_application_protos(&[udp::PROTOCOL])?;
        let socket = udp::bind("127.0.0.1:0")?;
        let id = udp::connection_id()?;
        let mut paced = Paced::new(quiche::connect(Some(files::NAME), &id, socket.local_addr()?, server, &mut config)?);
        let mut buffer = vec![0; 65_535];
        let (mut asked, mut bytes) = (false, 0);
        while !paced.connection.is_closed() {
            if !asked && paced.connection.is_established() {
                asked = paced.connection.stream_send(STREAM, b"?", true)? == 1;
            }
            while let Ok((read, end)) = paced.connection.stream_recv(STREAM, &mut buffer) {
                bytes += read as u64;
                if end {
                    came(bytes);
                    paced.connection.close(true, 0, b"")?;
                    paced.send(&socket)?;
                    return Ok(());
                }
            }
            turn(&socket, &mut paced, &mut buffer)?;
        }
        Err(format!("the connection ended after {bytes} bytes: {:?}", paced.connection.peer_error()).into())
    }
}
