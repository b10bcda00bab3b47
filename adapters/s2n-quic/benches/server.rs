//! CPU time of a whole server: ours beside s2n-quic's own controllers, by turns over loopback.
//! `cargo bench -p windlass-s2n-quic --bench server [-- TURNS [MEGABYTES]]`.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::{Bbr, Cubic, Endpoint};
use s2n_quic::{Client, Server};
use windlass_adapter_testkit::files::{self, Identity};
use windlass_adapter_testkit::server::{self, Stack};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    // s2n-quic has no Reno.
    server::beside::<S2nQuic>(&[("cubic", "native:cubic"), ("reno", "native:cubic"), ("bbr", "native:bbr")])
}

struct S2nQuic;

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn serve<C: Endpoint>(identity: &Identity, controllers: C, bytes: u64, listens: impl FnOnce(SocketAddr)) -> Result<()> {
    runtime()?.block_on(async {
        let mut endpoint = Server::builder()
            .with_tls((&identity.certificate[..], &identity.key[..]))?
            .with_io((Ipv4Addr::LOCALHOST, 0))?
            .with_congestion_controller(controllers)?
            .start()?;
        listens(endpoint.local_addr()?);
        let mut connection = endpoint.accept().await.ok_or("the server is closed")?;
        let mut stream = connection.open_send_stream().await?;
        for chunk in server::chunks(bytes) {
            stream.send(chunk.into()).await?;
        }
        stream.finish()?;
        // Until the client has closed it, which is no error here.
        _ = connection.accept().await;
        Ok(())
    })
}

impl Stack for S2nQuic {
    fn serve(identity: &Identity, controller: &str, bytes: u64, listens: impl FnOnce(SocketAddr)) -> Result<()> {
        match controller {
            "native:cubic" => serve(identity, Cubic::default(), bytes, listens),
            "native:bbr" => serve(identity, Bbr::default(), bytes, listens),
            ours => serve(identity, windlass_s2n_quic::Endpoint::named(ours)?, bytes, listens),
        }
    }

    fn fetch(server: SocketAddr, certificate: &[u8], _: u64, came: impl FnOnce(u64)) -> Result<()> {
        runtime()?.block_on(async {
            let mut client = Client::builder().with_tls(certificate)?.with_io((Ipv4Addr::LOCALHOST, 0))?.start()?;
            let mut connection = client.connect(Connect::new(server).with_server_name(files::NAME)).await?;
            let mut stream = connection.accept_receive_stream().await?.ok_or("there is no stream")?;
            let mut bytes = 0;
            while let Some(chunk) = stream.receive().await? {
                bytes += chunk.len() as u64;
            }
            came(bytes);
            connection.close(0u32.into());
            client.wait_idle().await?;
            Ok(())
        })
    }
}
