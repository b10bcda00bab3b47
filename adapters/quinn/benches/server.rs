//! CPU time of a whole server: ours beside quinn's own controllers, by turns over loopback.
//! `cargo bench -p windlass-quinn --bench server [-- TURNS [MEGABYTES]]`.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use windlass_adapter_testkit::files::{self, Identity};
use windlass_adapter_testkit::server::{self, Stack};

fn main() -> Result<(), Box<dyn Error>> {
    // Ours has no BBR here: quinn lacks a signal that it needs.
    server::beside::<Quinn>(&[("cubic", "native:cubic"), ("reno", "native:newreno")])
}

struct Quinn;

fn controllers(name: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>, Box<dyn Error>> {
    Ok(match name {
        "native:cubic" => Arc::new(CubicConfig::default()),
        "native:newreno" => Arc::new(NewRenoConfig::default()),
        ours => Arc::new(windlass_quinn::Factory::named(ours)?),
    })
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

impl Stack for Quinn {
    fn serve(
        identity: &Identity,
        controller: &str,
        bytes: u64,
        listens: impl FnOnce(SocketAddr),
    ) -> Result<(), Box<dyn Error>> {
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.key.clone()).into();
        let mut config = quinn::ServerConfig::with_single_cert(vec![identity.certificate.clone().into()], key)?;
        let mut transport = quinn::TransportConfig::default();
        transport.congestion_controller_factory(controllers(controller)?);
        config.transport_config(Arc::new(transport));
        runtime()?.block_on(async {
            let endpoint = quinn::Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into())?;
            listens(endpoint.local_addr()?);
            let connection = endpoint.accept().await.ok_or("the endpoint is closed")?.await?;
            let mut stream = connection.open_uni().await?;
            for chunk in server::chunks(bytes) {
                stream.write_all(chunk).await?;
            }
            stream.finish()?;
            connection.closed().await;
            Ok(())
        })
    }

    fn fetch(server: SocketAddr, certificate: &[u8]) -> Result<u64, Box<dyn Error>> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.to_vec().into())?;
        let config = quinn::ClientConfig::with_root_certificates(Arc::new(roots))?;
        runtime()?.block_on(async {
            let endpoint = quinn::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
            let connection = endpoint.connect_with(config, server, files::NAME)?.await?;
            let mut stream = connection.accept_uni().await?;
            let mut came = 0;
            while let Some(chunk) = stream.read_chunk(usize::MAX, true).await? {
                came += chunk.bytes.len() as u64;
            }
            connection.close(0u32.into(), b"");
            endpoint.wait_idle().await;
            Ok(came)
        })
    }
}
