use windlass_quinn::windlass_controllers;

fn step() -> Result<(), Box<dyn std::error::Error>> {
// BLOCK
    Ok(println!("{}", decision.cwnd))
}

fn main() {
    step().unwrap_or_else(|error| println!("{error}"));
}
