//! Serves the files of one directory over HTTP/3, and accepts uploads, which it answers with their
//! length and SHA-256: `quiche-http3 [--cc NAME] [--config FILE] [--connections N] [--ecn ect0|ect1]
//! [--qlog DIRECTORY] ADDRESS:PORT DIRECTORY KEYS`

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use boring::sha::Sha256;
use quiche::h3::{self, Event};
use windlass_adapter_testkit::files;
use windlass_quiche::{Config, Definition};
use windlass_quiche_testkit::udp::{self, Paced};
use windlass_quiche_testkit::web::{Answer, Request};

const USAGE: &str = "quiche-http3 [--cc NAME] [--config FILE] [--connections N] [--ecn ect0|ect1] [--qlog DIRECTORY] \
    ADDRESS:PORT DIRECTORY KEYS";
/// The name the controllers of a configuration file have in quiche.
const CONFIGURED: &str = "configured";
/// The largest headers of a request, bytes.
const FIELDS: u64 = 16 << 10;
/// Requests of a connection at the same time.
const REQUESTS: u64 = 32;
/// Bytes of an upload that may be under way at first; quiche allows more when they arrive fast.
const UPLOAD: u64 = 1 << 20;

fn main() -> ExitCode {
    files::exit_code(run())
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments = files::Arguments::read(&["--cc", "--config", "--connections", "--ecn", "--qlog"], 3, USAGE)?;
    let [address, directory, keys] = &arguments.rest[..] else { return Err(USAGE.into()) };
    let max_connections: usize =
        arguments.option("--connections", "100").parse().map_err(|_| "--connections takes a number")?;
    let root = Path::new(directory).canonicalize().map_err(|error| format!("{directory}: {error}"))?;
    let identity = files::identity(Path::new(keys))?;
    let socket = udp::bind(address)?;
    match arguments.option("--ecn", "") {
        "" => {}
        "ect0" => set_ect(&socket, 0b10)?,
        "ect1" => set_ect(&socket, 0b01)?,
        other => return Err(format!("--ecn is {other:?}; expected ect0 or ect1").into()),
    }
    let controller = match arguments.option("--config", "") {
        "" => arguments.option("--cc", "cubic"),
        file => {
            windlass_quiche::register_as(CONFIGURED, Definition::from_config(&Config::read(file)?)?)?;
            CONFIGURED
        }
    };
    let mut config = udp::server::config(&identity.certificate, &identity.key)?;
    udp::prepare(&mut config, controller)?;
    config.set_application_protos(h3::APPLICATION_PROTOCOL)?;
    config.set_initial_max_stream_data_bidi_remote(UPLOAD);
    // Control and QPACK streams, and some of unknown types that clients open (RFC 9114 §6.2.3).
    config.set_initial_max_stream_data_uni(1 << 16);
    config.set_initial_max_streams_uni(8);
    config.set_initial_max_streams_bidi(REQUESTS);
    let mut http = h3::Config::new()?;
    http.set_max_field_section_size(FIELDS);
    let http = Rc::new(http);

    let logs = arguments.directory("--qlog")?;
    println!("serving {} on {}", root.display(), socket.local_addr()?);
    udp::server::serve(&socket, &mut config, max_connections, |mut connection| {
        if let Some(logs) = &logs {
            log(&mut connection, logs)?;
        }
        let (root, config) = (root.clone(), Rc::clone(&http));
        Ok(Client { paced: Paced::new(connection), root, config, http: None, exchanges: HashMap::new() })
    })
}

/// Sets an ECT codepoint on everything a socket sends, and allows controllers that need ECN.
fn set_ect(socket: &UdpSocket, codepoint: u8) -> Result<(), Box<dyn Error>> {
    if socket.local_addr()?.is_ipv4() {
        rustix::net::sockopt::set_ip_tos(socket, codepoint)?;
    } else {
        rustix::net::sockopt::set_ipv6_tclass(socket, codepoint.into())?;
    }
    windlass_quiche::sets_ect();
    Ok(())
}

/// Has quiche log a connection into a file of its own.
fn log(connection: &mut quiche::Connection, directory: &Path) -> Result<(), Box<dyn Error>> {
    let path = directory.join(format!("{}.sqlog", connection.trace_id()));
    let file = File::create_new(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let title = format!("quiche-http3 {}", connection.trace_id());
    connection.set_qlog(Box::new(BufWriter::new(file)), title.clone(), title);
    Ok(())
}

/// A connection with its requests.
struct Client {
    paced: Paced,
    /// The directory of its files.
    root: PathBuf,
    config: Rc<h3::Config>,
    /// HTTP/3, once the handshake is done.
    http: Option<h3::Connection>,
    exchanges: HashMap<u64, Exchange>,
}

/// A request under way.
enum Exchange {
    /// Its body is being received.
    Upload { hash: Sha256, bytes: u64 },
    /// Its answer is being sent.
    Answer(Answer),
}

impl udp::server::Client for Client {
    fn paced(&mut self) -> &mut Paced {
        &mut self.paced
    }

    fn work(&mut self) {
        let connection = &mut self.paced.connection;
        if self.http.is_none() && connection.is_established() {
            // quiche closes the connection if that fails.
            self.http = h3::Connection::with_transport(connection, &self.config).ok();
        }
        let Some(http) = &mut self.http else { return };
        let mut piece = [0; 65_536];
        // An error of the protocol closes the connection.
        while let Ok((stream, event)) = http.poll(connection) {
            match event {
                Event::Headers { list, more_frames } => {
                    let exchange = match Request::read(&list) {
                        Ok(Request::Upload) if more_frames => Exchange::Upload { hash: Sha256::new(), bytes: 0 },
                        Ok(Request::Upload) => Exchange::Answer(Answer::received(0, Sha256::new())),
                        Ok(Request::File { path, head }) => Exchange::Answer(Answer::file(&self.root, &path, head)),
                        Err(status) => Exchange::Answer(Answer::refusal(status, "this server takes GET, POST and PUT")),
                    };
                    // Trailers are headers of a stream with an exchange: ignored.
                    self.exchanges.entry(stream).or_insert(exchange);
                }
                Event::Data => {
                    while let Ok(read) = http.recv_body(connection, stream, &mut piece) {
                        if let Some(Exchange::Upload { hash, bytes }) = self.exchanges.get_mut(&stream) {
                            hash.update(&piece[..read]);
                            *bytes += read as u64;
                        }
                    }
                }
                Event::Finished => {
                    if let Some(Exchange::Upload { hash, bytes }) = self.exchanges.get(&stream) {
                        let answer = Answer::received(*bytes, hash.clone());
                        self.exchanges.insert(stream, Exchange::Answer(answer));
                    }
                }
                Event::Reset(_) => {
                    self.exchanges.remove(&stream);
                }
                Event::PriorityUpdate | Event::GoAway => {}
            }
        }
        self.exchanges.retain(|stream, exchange| match exchange {
            Exchange::Upload { .. } => true,
            Exchange::Answer(answer) => answer.write(http, connection, *stream),
        });
    }
}
