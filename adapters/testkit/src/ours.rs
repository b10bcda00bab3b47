//! Ours beside a stack's own: two controllers known when compiling, and the whole catalogue
//! by name, whatever of it the stack can run.

use crate::rounds::{Block, Candidate};
use windlass_controllers::schemes::{cubic, reno};
use windlass_controllers::{Algorithm, ConfiguredController, Signals, Static, WindowController};

/// Makes a benchmark of a controller.
pub trait Runs {
    /// Connections that `controller` runs on.
    fn run<C: ConfiguredController>(&self, controller: C) -> Box<dyn FnMut() -> Block>;
}

/// Each of ours that a stack which provides `signals` can run. `reno`, `cubic` and `bbr` name
/// what the stack has of its own to compare them with.
pub fn candidates<'a, R: Runs>(
    runs: &'a R,
    signals: Signals,
    [reno, cubic, bbr]: [&'a str; 3],
) -> impl Iterator<Item = Candidate<'a>> {
    let fixed = [
        Candidate::new(
            "reno, known when compiling",
            reno,
            runs.run(Static::<WindowController<reno::Reno>>(Default::default())),
        ),
        Candidate::new(
            "cubic, known when compiling",
            cubic,
            runs.run(Static::<WindowController<cubic::Cubic>>(Default::default())),
        ),
    ];
    let named = Algorithm::ALL
        .iter()
        .map(|entry| (entry.default)())
        .filter(move |controller| signals.contains(controller.needs()));
    fixed.into_iter().chain(named.map(move |controller| {
        let baseline = match controller.name() {
            "reno" => reno,
            name if name.starts_with("bbr") => bbr,
            _ => cubic,
        };
        Candidate::new(format!("{}, by name", controller.name()), baseline, runs.run(controller))
    }))
}
