// One or the other, in a program.
#[allow(unused_variables)]
fn factory(address: std::net::SocketAddr, incoming: quinn::Incoming) -> Result<windlass_quinn::Factory, Box<dyn std::error::Error>> {
// BLOCK
    Ok(factory)
}

fn main() {
    let _ = factory;
}
