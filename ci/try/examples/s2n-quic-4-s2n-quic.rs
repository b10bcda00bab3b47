fn show(connection: &s2n_quic::Connection) -> Result<windlass_s2n_quic::Endpoint, Box<dyn std::error::Error>> {
// BLOCK
    Ok(endpoint)
}

fn main() {
    let _ = show;
}
