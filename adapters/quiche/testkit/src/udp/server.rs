//! A server of many connections on one socket.

use std::collections::HashMap;
use std::error::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};

use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::X509;
use quiche::{Config, Connection};

use super::{Paced, connection_id, wait};

/// A client of the server: one connection and its application.
pub trait Client {
    /// The connection, whose datagrams leave when its pacer releases them.
    fn paced(&mut self) -> &mut Paced;
    /// Reads what arrived and writes as much as there is room for.
    fn work(&mut self);
}

/// The configuration of a server with this certificate and its key, DER.
///
/// # Errors
/// BoringSSL refuses the certificate or the key.
pub fn config(certificate: &[u8], key: &[u8]) -> Result<Config, Box<dyn Error>> {
    let mut tls = SslContextBuilder::new(SslMethod::tls())?;
    tls.set_certificate(X509::from_der(certificate)?.as_ref())?;
    tls.set_private_key(PKey::private_key_from_der(key)?.as_ref())?;
    Ok(Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?)
}

/// Serves at most `max_connections` at once on `socket`, each with what `make` makes of it.
///
/// # Errors
/// The socket or `make` fails.
pub fn serve<C: Client>(
    socket: &UdpSocket,
    config: &mut Config,
    max_connections: usize,
    mut make: impl FnMut(Connection) -> Result<C, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let here = socket.local_addr()?;
    // By the id a client was given, and by the one it began with.
    let mut ids: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut clients: HashMap<Vec<u8>, C> = HashMap::new();
    let mut buffer = vec![0; 65_535];
    loop {
        wait(socket, clients.values_mut().filter_map(|client| client.paced().timeout()).min())?;
        loop {
            let (bytes, from) = match socket.recv_from(&mut buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(error.into()),
            };
            let datagram = &mut buffer[..bytes];
            let Ok(header) = quiche::Header::from_slice(datagram, quiche::MAX_CONN_ID_LEN.min(16)) else { continue };
            let known = ids.get(&header.dcid[..]).cloned();
            let id = match known {
                Some(id) => id,
                None if header.ty == quiche::Type::Initial && clients.len() < max_connections => {
                    if !quiche::version_is_supported(header.version) {
                        refuse_version(socket, &header, from);
                        continue;
                    }
                    let id = connection_id()?;
                    let Ok(connection) = quiche::accept(&id, None, here, from, config) else { continue };
                    clients.insert(id.to_vec(), make(connection)?);
                    ids.insert(id.to_vec(), id.to_vec());
                    ids.insert(header.dcid.to_vec(), id.to_vec());
                    id.to_vec()
                }
                None => continue,
            };
            if let Some(client) = clients.get_mut(&id) {
                client.paced().receive(datagram, from, here);
            }
        }
        for client in clients.values_mut() {
            client.paced().expire();
            client.work();
            client.paced().send(socket)?;
        }
        clients.retain(|id, client| {
            let open = !client.paced().connection.is_closed();
            if !open {
                println!("{}", summary(&client.paced().connection));
                ids.retain(|_, of| of != id);
            }
            open
        });
    }
}

fn refuse_version(socket: &UdpSocket, header: &quiche::Header<'_>, to: SocketAddr) {
    let mut answer = [0; 256];
    if let Ok(bytes) = quiche::negotiate_version(&header.scid, &header.dcid, &mut answer) {
        // If the answer is lost, the client sends again.
        let _ = socket.send_to(&answer[..bytes], to);
    }
}

/// A line about a connection that ended.
fn summary(connection: &Connection) -> String {
    let stats = connection.stats();
    let path = connection.path_stats().next();
    format!(
        "{}: {} bytes sent, {} packets lost, round trip {:?}",
        path.as_ref().map_or_else(|| "unknown peer".to_owned(), |path| path.peer_addr.to_string()),
        stats.sent_bytes,
        stats.lost,
        path.map(|path| path.rtt).unwrap_or_default(),
    )
}
