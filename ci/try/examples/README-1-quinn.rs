use std::net::SocketAddr;
use std::sync::Arc;

async fn connect(
    roots: quinn::rustls::RootCertStore,
    address: SocketAddr,
    name: &str,
) -> Result<quinn::Connection, Box<dyn std::error::Error>> {
// BLOCK
    Ok(connection)
}

fn main() {
    drop(connect(quinn::rustls::RootCertStore::empty(), ([127, 0, 0, 1], 4433).into(), "localhost"));
}
