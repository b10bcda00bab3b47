fn endpoint() -> Result<windlass_s2n_quic::Endpoint, Box<dyn std::error::Error>> {
// BLOCK
    Ok(endpoint)
}

fn main() {
    let _ = endpoint;
}
