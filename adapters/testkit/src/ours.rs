//! Ours beside a stack's own: two controllers known when compiling, and the whole catalogue
//! by name, whatever of it the stack can run; and whether names make just those.

use std::fmt::Display;

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

/// Controllers by name on `stack`, which provides `signals`: each that it can run is made, and of each other, and of one that there
/// is not, the error says why not.
///
/// # Panics
/// That is not so.
pub fn check_names<T, E: Display>(stack: &str, signals: Signals, named: impl Fn(&str) -> Result<T, E>) {
    let refused = |name: &str| named(name).err().map(|error| error.to_string());
    let error = refused("renno").unwrap_or_default();
    assert!(error.contains("unknown controller \"renno\" (did you mean \"reno\"?)"), "{error}");
    for entry in Algorithm::ALL {
        let missing = (entry.default)().needs().without(signals);
        match refused(entry.name) {
            None => assert!(missing.is_empty(), "{}", entry.name),
            Some(error) => {
                assert!(!missing.is_empty(), "{}: {error}", entry.name);
                assert!(error.contains(&format!("{stack} does not report")), "{error}");
            }
        }
    }
}
