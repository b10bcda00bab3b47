//! A server of many connections on one socket.

use std::collections::HashMap;
use std::error::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::X509;
use quiche::{Config, Connection, ConnectionId};

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

/// Datagrams read before the connections are served again.
const BATCH: usize = 1024;
/// Time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// A connection of the server.
struct Place<C> {
    client: C,
    since: Instant,
    /// Whether the client has shown that it receives at its address: by the token of a Retry packet, or by
    /// completing the handshake (RFC 9000 §8.1).
    validated: bool,
    /// Reason to end the connection; `None` while it may go on.
    error: Option<String>,
}

/// The connections of a server.
struct Places<C> {
    open: HashMap<Vec<u8>, Place<C>>,
    /// By the id a client was given, and by the one it began with.
    ids: HashMap<Vec<u8>, Vec<u8>>,
    max: usize,
}

impl<C: Client> Places<C> {
    /// Whether there is room for a connection whose client's address is not validated: so many that others
    /// find room, too.
    fn has_room_unvalidated(&self) -> bool {
        let unvalidated = self.open.values().filter(|place| !place.validated).count();
        self.open.len() < self.max && unvalidated < (self.max / 4).max(1)
    }

    /// Makes room for a client whose address is validated: only connections whose handshake is complete hold
    /// their places. `false` if all do.
    fn make_room(&mut self) -> bool {
        if self.open.len() < self.max {
            return true;
        }
        let handshakes = self.open.iter_mut().filter_map(|(id, place)| {
            (!place.client.paced().connection.is_established()).then(|| (place.since, id.clone()))
        });
        let Some((_, id)) = handshakes.min() else { return false };
        self.open.remove(&id);
        self.ids.retain(|_, of| *of != id);
        true
    }

    fn insert(&mut self, id: &[u8], first: &[u8], client: C, validated: bool) {
        self.open.insert(id.to_vec(), Place { client, since: Instant::now(), validated, error: None });
        self.ids.insert(id.to_vec(), id.to_vec());
        self.ids.insert(first.to_vec(), id.to_vec());
    }

    /// Runs timers and applications, sends what may leave, and forgets what ended. An error of one connection
    /// ends that connection only.
    fn work(&mut self, socket: &UdpSocket) {
        self.open.retain(|id, place| {
            let client = &mut place.client;
            client.paced().expire();
            client.work();
            if let Err(error) = client.paced().send(socket) {
                place.error = Some(error.to_string());
            }
            let connection = &client.paced().connection;
            place.validated |= connection.is_established();
            if !connection.is_established() && place.since.elapsed() > HANDSHAKE {
                place.error.get_or_insert_with(|| format!("no handshake within {HANDSHAKE:?}"));
            }
            let open = !connection.is_closed() && place.error.is_none();
            if !open {
                let error = place.error.as_ref().map(|error| format!(", {error}")).unwrap_or_default();
                println!("{}{error}", summary(connection));
                self.ids.retain(|_, of| of != id);
            }
            open
        });
    }

    fn timeout(&mut self) -> Option<Duration> {
        let timeouts = self.open.values_mut().filter_map(|place| {
            let handshake = HANDSHAKE.saturating_sub(place.since.elapsed()) + Duration::from_millis(1);
            let left = (!place.client.paced().connection.is_established()).then_some(handshake);
            [place.client.paced().timeout(), left].into_iter().flatten().min()
        });
        timeouts.min()
    }
}

/// Makes and checks the tokens of Retry packets, so that nothing has to be kept for a client whose address is
/// not validated (RFC 9000 §8.1.2).
struct Tokens {
    key: [u8; 32],
    started: Instant,
}

impl Tokens {
    /// Validity of a token, s.
    const LIFETIME: u64 = 10;

    fn new() -> Result<Tokens, boring::error::ErrorStack> {
        let mut key = [0; 32];
        boring::rand::rand_bytes(&mut key)?;
        Ok(Tokens { key, started: Instant::now() })
    }

    /// Authentication code of a token over its peer and connection IDs.
    fn code(&self, peer: SocketAddr, id: &[u8], seconds: u64, first: &[u8]) -> Option<[u8; 32]> {
        let peer = format!("{}|", SocketAddr::new(peer.ip().to_canonical(), peer.port()));
        let lengths = [id.len() as u8, first.len() as u8];
        let parts = [peer.as_bytes(), &lengths, &seconds.to_be_bytes(), id, first];
        boring::hash::hmac_sha256(&self.key, &parts.concat()).ok()
    }

    /// The token for a client that began with the id `first` and is to go on with `id`.
    fn make(&self, peer: SocketAddr, id: &[u8], first: &[u8]) -> Option<Vec<u8>> {
        let seconds = self.started.elapsed().as_secs();
        Some([&self.code(peer, id, seconds, first)?[..], &seconds.to_be_bytes(), first].concat())
    }

    /// The id that the client with this token began with; `None`: the token is none of ours, too old, or another
    /// client's.
    fn check<'a>(&self, peer: SocketAddr, id: &[u8], token: &'a [u8]) -> Option<&'a [u8]> {
        let (code, rest) = token.split_first_chunk::<32>()?;
        let (seconds, first) = rest.split_first_chunk::<8>()?;
        let seconds = u64::from_be_bytes(*seconds);
        let age = self.started.elapsed().as_secs().checked_sub(seconds)?;
        let right = self.code(peer, id, seconds, first)?;
        (age <= Self::LIFETIME && boring::memcmp::eq(code, &right)).then_some(first)
    }
}

/// Serves at most `max_connections` at once on `socket`, each with what `make` makes of it. What
/// concerns one client, an error of `make` included, ends at most its connection. A quarter of the places is
/// for clients whose addresses are not validated; beyond it they are sent a Retry packet. If all places are taken, a
/// client with a validated address gets that of the oldest handshake.
///
/// # Errors
/// The socket fails.
pub fn serve<C: Client>(
    socket: &UdpSocket,
    config: &mut Config,
    max_connections: usize,
    mut make: impl FnMut(Connection) -> Result<C, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let here = socket.local_addr()?;
    let tokens = Tokens::new()?;
    let mut places = Places { open: HashMap::new(), ids: HashMap::new(), max: max_connections };
    let mut buffer = vec![0; 65_535];
    let mut failures = 0;
    loop {
        wait(socket, places.timeout())?;
        for _ in 0..BATCH {
            let (bytes, from) = match socket.recv_from(&mut buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // That of a datagram sent before, to any peer; without end if it is the socket's.
                Err(error) => {
                    failures += 1;
                    if failures > BATCH {
                        return Err(error.into());
                    }
                    continue;
                }
            };
            failures = 0;
            let datagram = &mut buffer[..bytes];
            let Ok(header) = quiche::Header::from_slice(datagram, quiche::MAX_CONN_ID_LEN.min(16)) else { continue };
            let known = places.ids.get(&header.dcid[..]).cloned();
            let id = match known {
                Some(id) => id,
                None if header.ty == quiche::Type::Initial => {
                    if !quiche::version_is_supported(header.version) {
                        refuse_version(socket, &header, from);
                        continue;
                    }
                    let token = header.token.as_deref().unwrap_or_default();
                    let first = tokens.check(from, &header.dcid, token).map(|first| first.to_vec());
                    let accepted = match &first {
                        // With the id of the Retry packet, which quiche repeats to the client (RFC 9000 §7.3).
                        Some(first) if places.make_room() => {
                            let first = ConnectionId::from_ref(first);
                            quiche::accept(&header.dcid, Some(&first), here, from, config)
                                .map(|connection| (header.dcid.to_vec(), connection))
                        }
                        Some(_) => continue,
                        None if places.has_room_unvalidated() => {
                            let Ok(id) = connection_id() else { continue };
                            quiche::accept(&id, None, here, from, config).map(|connection| (id.to_vec(), connection))
                        }
                        None => {
                            send_retry(socket, &tokens, &header, from);
                            continue;
                        }
                    };
                    let Ok((id, connection)) = accepted else { continue };
                    match make(connection) {
                        Ok(client) => places.insert(&id, &header.dcid, client, first.is_some()),
                        Err(error) => {
                            println!("{from}: {error}");
                            continue;
                        }
                    }
                    id
                }
                None => continue,
            };
            if let Some(place) = places.open.get_mut(&id) {
                place.client.paced().receive(datagram, from, here);
            }
        }
        places.work(socket);
    }
}

/// Asks a client for another Initial packet, with a token that shows it receives at `to`.
fn send_retry(socket: &UdpSocket, tokens: &Tokens, header: &quiche::Header<'_>, to: SocketAddr) {
    let mut answer = [0; 256];
    let Ok(id) = connection_id() else { return };
    let Some(token) = tokens.make(to, &id, &header.dcid) else { return };
    if let Ok(bytes) = quiche::retry(&header.scid, &header.dcid, &id, &token, header.version, &mut answer) {
        // If it is lost, the client sends again.
        let _ = socket.send_to(&answer[..bytes], to);
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
