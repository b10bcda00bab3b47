//! Serves the files of one directory:
//! `noq-serve [--cc NAME] [--connections N] [--report groups] ADDRESS:PORT DIRECTORY KEYS`
use windlass_adapter_testkit::files;

use std::{convert::Infallible, error::Error, path::Path, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use tokio::{io::AsyncWriteExt, sync::Semaphore};

const USAGE: &str = "noq-serve [--cc NAME] [--connections N] [--report groups] ADDRESS:PORT DIRECTORY KEYS";
/// Time limit of a handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

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

    let mut factory = windlass_noq::Factory::named(typed.option("--cc", "cubic"))?;
    if typed.reports_groups()? {
        let groups = windlass_noq::Groups::default();
        factory = factory.group(&groups, "clients");
        files::report_groups(move || groups.len());
    }
    let mut transport = noq::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    transport.max_concurrent_bidi_streams(8u32.into()).max_concurrent_uni_streams(0u32.into());
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.key).into();
    let mut config = noq::ServerConfig::with_single_cert(vec![identity.certificate.into()], key)?;
    config.transport_config(Arc::new(transport));
    let endpoint = noq::Endpoint::server(config, address.parse()?)?;
    println!("serving {} on {}", root.display(), endpoint.local_addr()?);

    // Only a connection whose handshake is complete holds a place. Of those that are not, a quarter as many may be
    // of clients whose addresses are not validated; beyond it they are sent a Retry packet (RFC 9000 §8.1).
    let unvalidated = Arc::new(Semaphore::new((room / 4).max(1)));
    let handshakes = Arc::new(Semaphore::new(room));
    let room = Arc::new(Semaphore::new(room));
    while let Some(incoming) = endpoint.accept().await {
        let validated = incoming.remote_address_validated();
        let kind = if validated { &handshakes } else { &unvalidated };
        let Ok(handshake) = Arc::clone(kind).try_acquire_owned() else {
            if validated {
                incoming.refuse();
            } else if let Err(error) = incoming.retry() {
                error.into_incoming().refuse();
            }
            continue;
        };
        let (root, room) = (root.clone(), Arc::clone(&room));
        tokio::spawn(async move {
            let peer = incoming.remote_address();
            let end: Result<Infallible, Box<dyn Error + Send + Sync>> = async {
                let connection = tokio::time::timeout(HANDSHAKE, incoming).await??;
                drop(handshake);
                let Ok(_place) = room.try_acquire_owned() else {
                    connection.close(1u32.into(), b"all places are taken");
                    return Err("all places are taken".into());
                };
                Ok(serve(connection, root).await?)
            }
            .await;
            let Err(end) = end;
            println!("{peer}: {end}");
        });
    }
    Ok(())
}

async fn serve(connection: noq::Connection, root: PathBuf) -> Result<Infallible, noq::ConnectionError> {
    loop {
        let (mut answer, mut request) = connection.accept_bi().await?;
        let root = root.clone();
        tokio::spawn(async move {
            let request = request.read_to_end(files::LONGEST).await?;
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
}
