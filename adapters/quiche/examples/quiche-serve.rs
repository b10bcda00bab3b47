//! Serves the files of one directory:
//! `quiche-serve [--cc NAME] [--connections N] ADDRESS:PORT DIRECTORY KEYS`
#[allow(dead_code)]
#[path = "../../common/files/mod.rs"]
mod files;
mod udp;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::X509;
use udp::Paced;

const USAGE: &str = "quiche-serve [--cc NAME] [--connections N] ADDRESS:PORT DIRECTORY KEYS";

fn main() -> ExitCode {
    files::tell(run())
}

/// What is to be sent on a stream.
enum Answer {
    /// The request, as far as it came.
    Awaited(Vec<u8>),
    /// Bytes that quiche had no room for yet, and the file they are from.
    Sending(Vec<u8>, Option<File>),
}

struct Client {
    paced: Paced,
    answers: HashMap<u64, Answer>,
}

fn run() -> Result<(), Box<dyn Error>> {
    let typed = files::Typed::read(&["--cc", "--connections"], 3, USAGE)?;
    let [address, directory, keys] = &typed.rest[..] else { return Err(USAGE.into()) };
    let room: usize = typed.option("--connections", "100").parse().map_err(|_| "--connections takes a number")?;
    let root = Path::new(directory).canonicalize().map_err(|error| format!("{directory}: {error}"))?;
    let identity = files::identity(Path::new(keys))?;

    let mut tls = SslContextBuilder::new(SslMethod::tls())?;
    tls.set_certificate(X509::from_der(&identity.certificate)?.as_ref())?;
    tls.set_private_key(PKey::private_key_from_der(&identity.key)?.as_ref())?;
    let mut config = quiche::Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, tls)?;
    udp::prepare(&mut config, typed.option("--cc", "cubic"))?;

    let socket = udp::bind(address)?;
    let here = socket.local_addr()?;
    println!("serving {} on {here}", root.display());

    // By the id a client was given, and by the one it began with.
    let mut ids: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut clients: HashMap<Vec<u8>, Client> = HashMap::new();
    let mut buffer = vec![0; 65_535];
    loop {
        udp::wait(&socket, clients.values().filter_map(|client| client.paced.rest()).min())?;
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
                None if header.ty == quiche::Type::Initial && clients.len() < room => {
                    if !quiche::version_is_supported(header.version) {
                        refuse_version(&socket, &header, from)?;
                        continue;
                    }
                    let id = udp::connection_id()?;
                    let Ok(connection) = quiche::accept(&id, None, here, from, &mut config) else { continue };
                    let client = Client { paced: Paced::new(connection), answers: HashMap::new() };
                    clients.insert(id.to_vec(), client);
                    ids.insert(id.to_vec(), id.to_vec());
                    ids.insert(header.dcid.to_vec(), id.to_vec());
                    id.to_vec()
                }
                None => continue,
            };
            if let Some(client) = clients.get_mut(&id) {
                client.paced.receive(datagram, from, here);
            }
        }
        for client in clients.values_mut() {
            client.paced.expire();
            client.answer(&root);
            client.paced.send(&socket)?;
        }
        clients.retain(|id, client| {
            let open = !client.paced.connection.is_closed();
            if !open {
                println!("{}", client.epitaph());
                ids.retain(|_, of| of != id);
            }
            open
        });
    }
}

fn refuse_version(
    socket: &std::net::UdpSocket,
    header: &quiche::Header<'_>,
    to: SocketAddr,
) -> Result<(), Box<dyn Error>> {
    let mut answer = [0; 256];
    if let Ok(bytes) = quiche::negotiate_version(&header.scid, &header.dcid, &mut answer) {
        // A client that cannot be reached asks again.
        let _ = socket.send_to(&answer[..bytes], to);
    }
    Ok(())
}

impl Client {
    /// Reads requests and writes as much of the answers as there is room for.
    fn answer(&mut self, root: &Path) {
        let connection = &mut self.paced.connection;
        let mut piece = [0; 65_536];
        for stream in connection.readable() {
            let answer = self.answers.entry(stream).or_insert(Answer::Awaited(Vec::new()));
            while let Ok((read, end)) = connection.stream_recv(stream, &mut piece) {
                let Answer::Awaited(request) = answer else { continue };
                request.extend_from_slice(&piece[..read]);
                if request.len() > files::LONGEST {
                    *answer = refusal("the request is too long");
                } else if end {
                    *answer = match files::open(root, request) {
                        Ok(file) => Answer::Sending(vec![files::FOUND], Some(file)),
                        Err(reason) => refusal(&reason),
                    };
                }
            }
        }
        self.answers.retain(|stream, answer| {
            let Answer::Sending(waiting, file) = answer else { return true };
            loop {
                if waiting.is_empty()
                    && let Some(from) = file
                {
                    match from.read(&mut piece) {
                        Ok(0) => *file = None,
                        Ok(read) => waiting.extend_from_slice(&piece[..read]),
                        Err(_) => {
                            // The client must not take a part for the whole.
                            let _ = connection.stream_shutdown(*stream, quiche::Shutdown::Write, 1);
                            return false;
                        }
                    }
                }
                let end = file.is_none();
                match connection.stream_send(*stream, waiting, end) {
                    Ok(taken) => {
                        let all = taken == waiting.len();
                        waiting.drain(..taken);
                        if end && all {
                            return false;
                        }
                        if !all {
                            return true;
                        }
                    }
                    Err(quiche::Error::Done) => return true,
                    Err(_) => return false,
                }
            }
        });
    }

    /// What there is to say of a connection that ended.
    fn epitaph(&self) -> String {
        let connection = &self.paced.connection;
        let stats = connection.stats();
        let path = connection.path_stats().next();
        format!(
            "{}: {} bytes sent, {} packets lost, round trip {:?}",
            path.as_ref().map_or_else(|| "somebody".to_owned(), |path| path.peer_addr.to_string()),
            stats.sent_bytes,
            stats.lost,
            path.map(|path| path.rtt).unwrap_or_default(),
        )
    }
}

fn refusal(reason: &str) -> Answer {
    Answer::Sending([&[files::REFUSED], reason.as_bytes()].concat(), None)
}
