//! Fetches a file from `noq-serve` and writes it to standard output:
//! `noq-fetch [--cc NAME] ADDRESS:PORT CERTIFICATE.der PATH`
use windlass_adapter_testkit::files;

use std::{error::Error, process::ExitCode, sync::Arc};

const USAGE: &str = "noq-fetch [--cc NAME] ADDRESS:PORT CERTIFICATE.der PATH";

#[tokio::main]
async fn main() -> ExitCode {
    files::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let typed = files::Arguments::read(&["--cc"], 3, USAGE)?;
    let [address, certificate, path] = &typed.rest[..] else { return Err(USAGE.into()) };
    let mut transport = noq::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(windlass_noq::Factory::named(typed.option("--cc", "cubic"))?));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(std::fs::read(certificate).map_err(|error| format!("{certificate}: {error}"))?.into())?;
    let mut config = noq::ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));

    let endpoint = noq::Endpoint::client("[::]:0".parse()?)?;
    let connection = endpoint.connect_with(config, address.parse()?, files::NAME)?.await?;
    let (mut request, mut answer) = connection.open_bi().await?;
    request.write_all(path.as_bytes()).await?;
    request.finish()?;
    let mut first = [0];
    answer.read_exact(&mut first).await?;
    if first[0] != files::FOUND {
        let reason = answer.read_to_end(files::LONGEST * 2).await?;
        connection.close(0u32.into(), b"");
        endpoint.wait_idle().await;
        return Err(String::from_utf8_lossy(&reason).into());
    }
    let bytes = tokio::io::copy(&mut answer, &mut tokio::io::stdout()).await?;
    connection.close(0u32.into(), b"");
    endpoint.wait_idle().await;
    eprintln!("{bytes} bytes, round trip {:?}", connection.rtt(noq::PathId::ZERO).unwrap_or_default());
    Ok(())
}
