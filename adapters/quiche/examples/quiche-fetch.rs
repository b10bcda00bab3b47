//! Fetches a file from `quiche-serve` and writes it to standard output:
//! `quiche-fetch [--cc NAME] ADDRESS:PORT CERTIFICATE.der PATH`

use std::error::Error;
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;

use windlass_adapter_testkit::files;
use windlass_quiche_testkit::udp::{self, Paced};

const USAGE: &str = "quiche-fetch [--cc NAME] ADDRESS:PORT CERTIFICATE.der PATH";
/// The stream of the request.
const STREAM: u64 = 0;

fn main() -> ExitCode {
    files::exit_code(run())
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments = files::Arguments::read(&["--cc"], 3, USAGE)?;
    let [address, certificate, path] = &arguments.rest[..] else { return Err(USAGE.into()) };
    let trusted = std::fs::read(certificate).map_err(|error| format!("{certificate}: {error}"))?;
    let there: SocketAddr = address.parse().map_err(|error| format!("{address}: {error}"))?;

    let mut config = udp::client_config(&trusted)?;
    udp::prepare(&mut config, arguments.option("--cc", "cubic"))?;
    config.set_application_protos(&[udp::PROTOCOL])?;

    let socket = udp::bind(if there.is_ipv4() { "127.0.0.1:0" } else { "[::1]:0" })
        .ok()
        .filter(|_| there.ip().is_loopback())
        .map_or_else(|| udp::bind(if there.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }), Ok)?;
    let here = socket.local_addr()?;
    let connection = quiche::connect(Some(files::NAME), &udp::connection_id()?, here, there, &mut config)?;
    let mut paced = Paced::new(connection);

    let mut buffer = vec![0; 65_535];
    let mut asked = false;
    let mut answer = Answer::default();
    while !paced.connection.is_closed() {
        if !asked && paced.connection.is_established() {
            asked = paced.connection.stream_send(STREAM, path.as_bytes(), true)? == path.len();
        }
        while let Ok((read, end)) = paced.connection.stream_recv(STREAM, &mut buffer) {
            answer.add(&buffer[..read])?;
            if end {
                answer.whole = true;
                paced.connection.close(true, 0, b"")?;
            }
        }
        paced.send(&socket)?;
        if answer.whole {
            break;
        }
        udp::wait(&socket, paced.timeout())?;
        paced.expire();
        paced.receive_all(&socket, &mut buffer).map_err(|error| format!("{there}: {error}"))?;
    }
    if !answer.whole {
        return Err(end_reason(&paced.connection).into());
    }
    let bytes = answer.end()?;
    eprintln!(
        "{bytes} bytes, round trip {:?}",
        paced.connection.path_stats().next().map(|path| path.rtt).unwrap_or_default()
    );
    Ok(())
}

fn end_reason(connection: &quiche::Connection) -> String {
    match (connection.local_error(), connection.peer_error()) {
        (Some(error), _) => format!("the connection failed: {error:?}"),
        (None, Some(error)) => format!("the server ended the connection: {error:?}"),
        (None, None) => "the server does not answer".to_owned(),
    }
}

/// The answer; its first byte says whether a file or a reason follows.
#[derive(Default)]
struct Answer {
    found: Option<bool>,
    reason: Vec<u8>,
    bytes: usize,
    whole: bool,
}

impl Answer {
    fn add(&mut self, mut piece: &[u8]) -> Result<(), Box<dyn Error>> {
        if let (None, [first, rest @ ..]) = (self.found, piece) {
            self.found = Some(*first == files::FOUND);
            piece = rest;
        }
        if self.found == Some(true) {
            std::io::stdout().write_all(piece)?;
            self.bytes += piece.len();
        } else if self.reason.len() < 2 * files::LONGEST {
            self.reason.extend_from_slice(piece);
        }
        Ok(())
    }

    /// Size of the file, bytes.
    fn end(&self) -> Result<usize, Box<dyn Error>> {
        match self.found {
            Some(true) => Ok(self.bytes),
            Some(false) => Err(String::from_utf8_lossy(&self.reason).into()),
            None => Err("the answer is empty".into()),
        }
    }
}
