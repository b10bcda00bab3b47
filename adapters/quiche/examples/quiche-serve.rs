//! Serves the files of one directory:
//! `quiche-serve [--cc NAME] [--connections N] [--report groups] ADDRESS:PORT DIRECTORY KEYS`

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use windlass_adapter_testkit::files;
use windlass_quiche_testkit::udp::{self, Paced};

const USAGE: &str = "quiche-serve [--cc NAME] [--connections N] [--report groups] ADDRESS:PORT DIRECTORY KEYS";

fn main() -> ExitCode {
    files::exit_code(run())
}

/// The state of a stream.
enum Answer {
    /// The request, as far as it arrived.
    Awaited(Vec<u8>),
    /// Bytes that quiche had no room for yet, and the file they are from.
    Sending(Vec<u8>, Option<File>),
}

struct Client {
    paced: Paced,
    /// The directory of its files.
    root: PathBuf,
    answers: HashMap<u64, Answer>,
}

fn run() -> Result<(), Box<dyn Error>> {
    let arguments = files::Arguments::read(&["--cc", "--connections", "--report"], 3, USAGE)?;
    let [address, directory, keys] = &arguments.rest[..] else { return Err(USAGE.into()) };
    let max_connections: usize =
        arguments.option("--connections", "100").parse().map_err(|_| "--connections takes a number")?;
    let root = Path::new(directory).canonicalize().map_err(|error| format!("{directory}: {error}"))?;
    let identity = files::identity(Path::new(keys))?;

    let mut config = udp::server::config(&identity.certificate, &identity.key)?;
    let mut controller = arguments.option("--cc", "cubic");
    if arguments.reports_groups()? {
        let groups = windlass_quiche::Groups::default();
        let definition = windlass_quiche::Definition::named(controller)?.group(&groups, |peer| peer.ip());
        controller = "reported";
        windlass_quiche::register_as(controller, definition)?;
        files::report_groups(move || groups.len());
    }
    udp::prepare(&mut config, controller)?;
    config.set_application_protos(&[udp::PROTOCOL])?;

    let socket = udp::bind(address)?;
    println!("serving {} on {}", root.display(), socket.local_addr()?);
    udp::server::serve(&socket, &mut config, max_connections, |connection| {
        Ok(Client { paced: Paced::new(connection), root: root.clone(), answers: HashMap::new() })
    })
}

impl udp::server::Client for Client {
    fn paced(&mut self) -> &mut Paced {
        &mut self.paced
    }

    /// Reads requests and writes as much of the answers as there is room for.
    fn work(&mut self) {
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
                    *answer = match files::open(&self.root, request) {
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
                            // A reset, so that the client does not take a part for the whole.
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
}

fn refusal(reason: &str) -> Answer {
    Answer::Sending([&[files::REFUSED], reason.as_bytes()].concat(), None)
}
