use std::net::SocketAddr;
use std::sync::Arc;

use windlass_quinn::Factory;

fn both(
    (client, peer, name): (&quinn::Endpoint, SocketAddr, &str),
    incoming: quinn::Incoming,
    controller: &str,
    config_with: fn(Factory) -> quinn::ClientConfig,
    server_config_with: fn(Factory) -> Arc<quinn::ServerConfig>,
) -> Result<(), Box<dyn std::error::Error>> {
// BLOCK
    Ok(())
}

fn main() {
    let _ = both;
}
