//! CPU time of a whole server: ours beside noq's own controllers, by turns over loopback.
//! `cargo bench -p windlass-noq --bench server [-- TURNS [MEGABYTES]]`.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use windlass_adapter_testkit::files::{self, Identity};
use windlass_adapter_testkit::server::{self, Stack};

fn main() -> Result<(), Box<dyn Error>> {
    server::beside::<Noq>(&[("cubic", "native:cubic"), ("reno", "native:newreno"), ("bbr", "native:bbr3")])
}

struct Noq;

fn controllers(name: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>, Box<dyn Error>> {
    Ok(match name {
        "native:bbr3" => Arc::new(Bbr3Config::default()),
        "native:cubic" => Arc::new(CubicConfig::default()),
        "native:newreno" => Arc::new(NewRenoConfig::default()),
        ours => Arc::new(windlass_noq::Factory::named(ours)?),
    })
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

impl Stack for Noq {
    fn serve(
        identity: &Identity,
        controller: &str,
        bytes: u64,
        listens: impl FnOnce(SocketAddr),
    ) -> Result<(), Box<dyn Error>> {
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.key.clone()).into();
        let mut config = noq::ServerConfig::with_single_cert(vec![identity.certificate.clone().into()], key)?;
        let mut transport = noq::TransportConfig::default();
        transport.congestion_controller_factory(controllers(controller)?);
        config.transport_config(Arc::new(transport));
        runtime()?.block_on(async {
            let endpoint = noq::Endpoint::server(config, (Ipv4Addr::LOCALHOST, 0).into())?;
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
        let config = noq::ClientConfig::with_root_certificates(Arc::new(roots))?;
        runtime()?.block_on(async {
            let endpoint = noq::Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
            let connection = endpoint.connect_with(config, server, files::NAME)?.await?;
            let mut stream = connection.accept_uni().await?;
            let mut came = 0;
            while let Some(chunk) = stream.read_chunk(usize::MAX).await? {
                came += chunk.len() as u64;
            }
            connection.close(0u32.into(), b"");
            endpoint.wait_idle().await;
            Ok(came)
        })
    }
}
