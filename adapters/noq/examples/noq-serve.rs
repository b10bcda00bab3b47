//! Serves the files of one directory:
//! `noq-serve [--cc NAME] [--connections N] ADDRESS:PORT DIRECTORY KEYS`
use windlass_adapter_testkit::files;

use std::{convert::Infallible, error::Error, path::Path, path::PathBuf, process::ExitCode, sync::Arc};

use tokio::{io::AsyncWriteExt, sync::Semaphore};

const USAGE: &str = "noq-serve [--cc NAME] [--connections N] ADDRESS:PORT DIRECTORY KEYS";

#[tokio::main]
async fn main() -> ExitCode {
    files::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let typed = files::Arguments::read(&["--cc", "--connections"], 3, USAGE)?;
    let [address, directory, keys] = &typed.rest[..] else { return Err(USAGE.into()) };
    let room: usize = typed.option("--connections", "100").parse().map_err(|_| "--connections takes a number")?;
    let root = Path::new(directory).canonicalize().map_err(|error| format!("{directory}: {error}"))?;
    let identity = files::identity(Path::new(keys))?;

    let mut transport = noq::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(windlass_noq::Factory::named(typed.option("--cc", "cubic"))?));
    transport.max_concurrent_bidi_streams(8u32.into()).max_concurrent_uni_streams(0u32.into());
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.key).into();
    let mut config = noq::ServerConfig::with_single_cert(vec![identity.certificate.into()], key)?;
    config.transport_config(Arc::new(transport));
    let endpoint = noq::Endpoint::server(config, address.parse()?)?;
    println!("serving {} on {}", root.display(), endpoint.local_addr()?);

    let room = Arc::new(Semaphore::new(room));
    while let Some(incoming) = endpoint.accept().await {
        let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
            incoming.refuse();
            continue;
        };
        let root = root.clone();
        tokio::spawn(async move {
            let peer = incoming.remote_address();
            let Err(end) = async { serve(incoming.await?, root).await }.await;
            println!("{peer}: {end}");
            drop(place);
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
