//! Fetches a file from `s2n-quic-serve` and writes it to standard output:
//! `s2n-quic-fetch [--cc NAME] ADDRESS:PORT CERTIFICATE.der PATH`
use windlass_adapter_testkit::files;

use std::{error::Error, net::SocketAddr, process::ExitCode};

use s2n_quic::{Client, client::Connect};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const USAGE: &str = "s2n-quic-fetch [--cc NAME] ADDRESS:PORT CERTIFICATE.der PATH";

#[tokio::main]
async fn main() -> ExitCode {
    files::exit_code(run().await)
}

async fn run() -> Result<(), Box<dyn Error>> {
    let typed = files::Arguments::read(&["--cc"], 3, USAGE)?;
    let [address, certificate, path] = &typed.rest[..] else { return Err(USAGE.into()) };
    let trusted = std::fs::read(certificate).map_err(|error| format!("{certificate}: {error}"))?;
    let mut client = Client::builder()
        .with_tls(&trusted[..])?
        .with_io("0.0.0.0:0")?
        .with_congestion_controller(windlass_s2n_quic::Endpoint::named(typed.option("--cc", "cubic"))?)?
        .start()?;
    let address: SocketAddr = address.parse()?;
    let mut connection = client.connect(Connect::new(address).with_server_name(files::NAME)).await?;
    let (mut answer, mut request) = connection.open_bidirectional_stream().await?.split();
    request.write_all(path.as_bytes()).await?;
    request.shutdown().await?;
    let mut first = [0];
    answer.read_exact(&mut first).await?;
    if first[0] != files::FOUND {
        let mut reason = String::new();
        answer.take(files::LONGEST as u64 * 2).read_to_string(&mut reason).await?;
        connection.close(0u32.into());
        client.wait_idle().await?;
        return Err(reason.into());
    }
    let bytes = tokio::io::copy(&mut answer, &mut tokio::io::stdout()).await?;
    connection.close(0u32.into());
    client.wait_idle().await?;
    eprintln!("{bytes} bytes");
    Ok(())
}
