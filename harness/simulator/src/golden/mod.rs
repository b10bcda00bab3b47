//! Golden traces: what every controller does on the scenario that shows what is particular to
//! it, frozen as text in `harness/simulator/golden/`.
//!
//! `tests/it/golden.rs` runs them again and compares; it says how to look at a change and how
//! to accept it. `windlass explain` and the book draw them. Here are the golden scenarios, and which of them
//! shows what is particular to a controller.

mod record;
mod trace;

use crate::scenario::{Scenario, ScenarioError};

use windlass_adapter::NamedController;
use windlass_controllers::{ConfiguredController, Signals};

pub use record::record;
pub use trace::{Line, Malformed, Trace};

/// A scenario of golden traces.
#[derive(Clone, Copy, Debug)]
pub struct GoldenScenario {
    /// Its name, the stem of its file in `golden/scenarios/`.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! scenarios {
    ($($name:literal,)+) => {
        /// The scenarios of golden traces.
        pub const SCENARIOS: &[GoldenScenario] =
            &[$(GoldenScenario { name: $name, text: include_str!(concat!("../../golden/scenarios/", $name, ".toml")) },)+];
    };
}

scenarios! {
    "shared",
    "group",
    "marked",
    "step",
    "two-class",
    "indicated",
    "way-back",
    "long-fat",
    "background",
}

/// Controllers whose scenario is chosen by name, because the signals they need do not
/// determine it.
const BY_NAME: &[(&str, &[&str])] = &[
    (
        "long-fat",
        &["cubic", "ctcp", "cubic-2005", "highspeed", "tcp-africa", "scalable", "aimd", "bic", "h-tcp", "fast"],
    ),
    ("two-class", &["nf-tcp", "nf-tcp-prime"]),
    ("background", &["ledbat", "ledbat++", "tcp-lp", "nice"]),
    ("background", &["ledbat", "ledbat++", "tcp-lp", "rapid"]),
];

/// The scenario of controllers that need a signal; the first entry that applies counts.
const BY_SIGNAL: &[(Signals, &str)] = &[
    (Signals::GROUPS, "group"),
    (Signals::CONGESTION_INDICATION, "indicated"),
    (Signals::QUEUEING_TIME, "way-back"),
    (Signals::ONE_WAY_DELAY, "way-back"),
    (Signals::CE_COUNT, "step"),
    (Signals::ECN, "marked"),
];

impl GoldenScenario {
    fn named(name: &str) -> GoldenScenario {
        SCENARIOS.iter().copied().find(|scenario| scenario.name == name).unwrap_or(SCENARIOS[0])
    }

    /// The scenario for `algorithm`: by its name, by the signals it needs, or else a link
    /// shared with Reno.
    #[must_use]
    pub fn of(algorithm: &NamedController) -> GoldenScenario {
        let name = ConfiguredController::name(algorithm);
        let by_name = BY_NAME.iter().find(|(_, names)| names.contains(&name)).map(|(scenario, _)| scenario);
        let by_signal = || BY_SIGNAL.iter().find(|(signal, _)| algorithm.needs().contains(*signal)).map(|(_, s)| s);
        GoldenScenario::named(by_name.or_else(by_signal).unwrap_or(&"shared"))
    }

    /// The scenario with `controller` under test.
    ///
    /// # Errors
    /// There is no such controller.
    pub fn scenario(&self, controller: &str) -> Result<Scenario, ScenarioError> {
        Scenario::read(self.name, self.text, Some(controller))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_read_and_every_name_is_one_of_the_catalogue() {
        for scenario in SCENARIOS {
            assert!(!scenario.scenario("reno").unwrap().description.is_empty(), "{}", scenario.name);
        }
        for (scenario, names) in BY_NAME {
            assert_eq!(GoldenScenario::named(scenario).name, *scenario);
            assert!(names.iter().all(|name| NamedController::named(name).is_some()), "{names:?}");
        }
        for (_, scenario) in BY_SIGNAL {
            assert_eq!(GoldenScenario::named(scenario).name, *scenario);
        }
    }

    #[test]
    fn needs_and_names_choose_the_scenario() {
        for (controller, scenario) in
            [("reno", "shared"), ("tcp-p", "group"), ("rovegas", "way-back"), ("bic", "long-fat")]
        {
            assert_eq!(GoldenScenario::of(&NamedController::named(controller).unwrap()).name, scenario);
        }
    }
}
