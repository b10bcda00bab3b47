//! Serves the files of one directory over HTTP/3, on tokio-quiche:
//! `tokio-quiche-http3 [--cc NAME] [--connections N] [--qlog DIRECTORY] ADDRESS:PORT DIRECTORY KEYS`

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use tokio::net::UdpSocket;
use windlass_quiche_tokio::{files, serve, settings};

const USAGE: &str = "tokio-quiche-http3 [--cc NAME] [--connections N] [--qlog DIRECTORY] ADDRESS:PORT DIRECTORY KEYS";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    files::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments = files::Arguments::read(&["--cc", "--connections", "--qlog"], 3, USAGE)?;
    let [address, directory, keys] = &arguments.rest[..] else { return Err(USAGE.into()) };
    let max_connections: usize =
        arguments.option("--connections", "100").parse().map_err(|_| "--connections takes a number")?;
    let root = Path::new(directory).canonicalize().map_err(|error| format!("{directory}: {error}"))?;
    let identity = files::identity(Path::new(keys))?;
    let mut settings = settings(arguments.option("--cc", "cubic"))?;
    settings.qlog_dir = arguments.directory("--qlog")?.map(|logs| logs.display().to_string());
    let socket = UdpSocket::bind(address).await.map_err(|error| format!("{address}: {error}"))?;
    println!("serving {} on {}", root.display(), socket.local_addr()?);
    serve(socket, settings, identity, &root, max_connections, |path| {
        println!(
            "{}: {} bytes sent, {} packets lost, round trip {:?}, window {} bytes",
            path.peer_addr, path.sent_bytes, path.lost, path.rtt, path.cwnd
        );
    })
    .await
}
