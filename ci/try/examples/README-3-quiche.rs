fn choose(config: &mut quiche::Config) -> Result<(), Box<dyn std::error::Error>> {
// BLOCK
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    choose(&mut quiche::Config::new(quiche::PROTOCOL_VERSION)?)
}
