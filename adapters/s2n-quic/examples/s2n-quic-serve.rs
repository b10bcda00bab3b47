//! Serves the files of one directory:
//! `s2n-quic-serve [--cc NAME] [--connections N] [--report groups] ADDRESS:PORT DIRECTORY KEYS`
use windlass_adapter_testkit::files;

use std::{error::Error, path::Path, path::PathBuf, process::ExitCode, sync::Arc};

use s2n_quic::{Connection, Server, provider::endpoint_limits, provider::limits::Limits};
use tokio::{io::AsyncWriteExt, sync::Semaphore};

const USAGE: &str = "s2n-quic-serve [--cc NAME] [--connections N] [--report groups] ADDRESS:PORT DIRECTORY KEYS";

#[tokio::main]
async fn main() -> ExitCode {
    files::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let typed = files::Arguments::read(&["--cc", "--connections", "--report"], 3, USAGE)?;
    let [address, directory, keys] = &typed.rest[..] else { return Err(USAGE.into()) };
    let room: usize = typed.option("--connections", "100").parse().map_err(|_| "--connections takes a number")?;
    let root = Path::new(directory).canonicalize().map_err(|error| format!("{directory}: {error}"))?;
    let identity = files::identity(Path::new(keys))?;

    let mut controllers = windlass_s2n_quic::Endpoint::named(typed.option("--cc", "cubic"))?;
    if typed.reports_groups()? {
        let groups = windlass_s2n_quic::Groups::default();
        controllers = controllers.group(&groups, |peer| peer.ip());
        files::report_groups(move || groups.len());
    }
    let limits =
        Limits::new().with_max_open_remote_bidirectional_streams(8)?.with_max_open_remote_unidirectional_streams(0)?;
    // s2n-quic hands over connections whose handshakes are complete, and only those hold a place. With this many
    // handshakes under way, clients are sent a Retry packet (RFC 9000 §8.1).
    let handshakes = endpoint_limits::Default::builder().with_inflight_handshake_limit((room / 4).max(1))?.build()?;
    let mut server = Server::builder()
        .with_tls((&identity.certificate[..], &identity.key[..]))?
        .with_io(address.as_str())?
        .with_congestion_controller(controllers)?
        .with_limits(limits)?
        .with_endpoint_limits(handshakes)?
        .start()?;
    println!("serving {} on {}", root.display(), server.local_addr()?);

    let room = Arc::new(Semaphore::new(room));
    while let Some(connection) = server.accept().await {
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            connection.close(1u32.into());
            continue;
        };
        let root = root.clone();
        tokio::spawn(async move {
            let peer = connection.remote_addr();
            let end = serve(connection, root).await.map_or_else(|error| error.to_string(), |()| "closed".to_owned());
            println!("{}: {end}", peer.map_or_else(|_| "unknown peer".to_owned(), |peer| peer.to_string()));
            drop(place);
        });
    }
    Ok(())
}

async fn serve(mut connection: Connection, root: PathBuf) -> Result<(), s2n_quic::connection::Error> {
    while let Some(stream) = connection.accept_bidirectional_stream().await? {
        let root = root.clone();
        tokio::spawn(async move {
            let (mut incoming, mut answer) = stream.split();
            let mut request = Vec::new();
            while let Some(bytes) = incoming.receive().await? {
                request.extend_from_slice(&bytes);
                if request.len() > files::LONGEST {
                    return Err("the request is too long".into());
                }
            }
            match files::open(&root, &request) {
                Ok(file) => {
                    answer.write_all(&[files::FOUND]).await?;
                    tokio::io::copy(&mut tokio::fs::File::from_std(file), &mut answer).await?;
                }
                Err(reason) => {
                    answer.write_all(&[files::REFUSED]).await?;
                    answer.write_all(reason.as_bytes()).await?;
                }
            }
            answer.shutdown().await?;
            Ok::<(), Box<dyn Error + Send + Sync>>(())
        });
    }
    Ok(())
}
