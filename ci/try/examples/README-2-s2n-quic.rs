fn serve(tls: (&std::path::Path, &std::path::Path)) -> Result<s2n_quic::Server, Box<dyn std::error::Error>> {
// BLOCK
    Ok(server)
}

fn main() {
    serve(("certificate.pem".as_ref(), "key.pem".as_ref())).map(drop).unwrap_or_else(|error| println!("{error}"));
}
