//! Facts about a controller that the catalogue and the stacks hold.

use windlass_controllers::param::Param;
use windlass_controllers::{Algorithm, ConfiguredController, Entry, Signals};

use windlass_stacks::stack::Runner;

/// What the catalogue says of `algorithm`.
#[must_use]
pub fn entry(algorithm: &Algorithm) -> &'static Entry {
    let name = ConfiguredController::name(algorithm);
    Algorithm::ALL.iter().find(|entry| entry.name == name).unwrap_or(&Algorithm::ALL[0])
}

/// Its parameters with their values.
#[must_use]
pub fn params(algorithm: &Algorithm) -> Vec<Param> {
    let mut all = Vec::new();
    algorithm.describe(&mut |param| all.push(*param));
    all
}

/// Its parameters under the profiles `quic` and `paper`.
#[must_use]
pub fn profiles(algorithm: &Algorithm) -> [Vec<Param>; 2] {
    ["quic", "paper"].map(|profile| {
        let text = format!("{}:profile={profile}", ConfiguredController::name(algorithm));
        Algorithm::read(&text).map(|algorithm| params(&algorithm)).unwrap_or_default()
    })
}

/// The names of the stacks that provide `needs`.
#[must_use]
pub fn runs_on(needs: Signals) -> Vec<&'static str> {
    Runner::builtin().iter().filter(|stack| stack.provides().contains(needs)).map(|stack| stack.name()).collect()
}
