//! Ours beside a stack's own: two controllers known when compiling, and the whole catalogue
//! by name, whatever of it the stack can run.

use crate::rounds::{Block, Candidate};
use windlass_controllers::schemes::{cubic, reno};
use windlass_controllers::{Algorithm, ConfiguredController, Signals, Static};

/// What makes something to measure of an engine.
pub trait Runs {
    /// Connections that `engine` runs on.
    fn run<E: ConfiguredController>(&self, engine: E) -> Box<dyn FnMut() -> Block>;
}

/// Each of ours that a stack which provides `signals` can run. `reno`, `cubic` and `bbr` name
/// what the stack has of its own to compare them with.
pub fn candidates<'a, R: Runs>(
    runs: &'a R,
    signals: Signals,
    [reno, cubic, bbr]: [&'a str; 3],
) -> impl Iterator<Item = Candidate<'a>> {
    let fixed = [
        Candidate::new("reno, known when compiling", reno, runs.run(Static::<reno::Reno>(Default::default()))),
        Candidate::new("cubic, known when compiling", cubic, runs.run(Static::<cubic::Cubic>(Default::default()))),
    ];
    let named =
        Algorithm::ALL.iter().map(|entry| (entry.default)()).filter(move |engine| signals.contains(engine.needs()));
    fixed.into_iter().chain(named.map(move |engine| {
        let baseline = match engine.name() {
            "reno" => reno,
            name if name.starts_with("bbr") => bbr,
            _ => cubic,
        };
        Candidate::new(format!("{}, by name", engine.name()), baseline, runs.run(engine))
    }))
}
