use std::net::SocketAddr;

use windlass_s2n_quic::Endpoint;

fn grouped(peer: SocketAddr) -> Result<Endpoint, Box<dyn std::error::Error>> {
// BLOCK
    Ok(endpoint)
}

fn main() {
    grouped(([127, 0, 0, 1], 4433).into()).map(drop).unwrap_or_else(|error| println!("{error}"));
}
