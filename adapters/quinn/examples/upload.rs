//! Uploads a file to a quinn server through the controller of your choice:
//! `upload CONTROLLER ADDRESS:PORT SERVER_NAME CERTIFICATE.der FILE`
use std::{error::Error, sync::Arc};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = std::env::args().skip(1).collect::<Vec<_>>();
    let [controller, address, name, certificate, file] = &args[..] else {
        return Err("usage: upload CONTROLLER ADDRESS:PORT SERVER_NAME CERTIFICATE.der FILE".into());
    };
    let mut transport = quinn::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(windlass_quinn::Factory::named(controller)?));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(std::fs::read(certificate)?.into())?;
    let mut config = quinn::ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    let connection = quinn::Endpoint::client("[::]:0".parse()?)?.connect_with(config, address.parse()?, name)?.await?;
    let mut stream = connection.open_uni().await?;
    stream.write_all(&std::fs::read(file)?).await?;
    stream.finish()?;
    stream.stopped().await?; // all of it was acknowledged
    println!("{:?}", connection.stats().path);
    Ok(())
}
