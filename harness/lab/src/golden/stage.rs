//! Which scenario shows a controller's character.

use windlass_controllers::{Algorithm, ConfiguredController, Signals};

use windlass_simulator::scenario::{Scenario, ScenarioError};

/// A scenario of golden traces.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! stages {
    ($($name:literal,)+) => {
        /// The scenarios of golden traces.
        pub const STAGES: &[Stage] =
            &[$(Stage { name: $name, text: include_str!(concat!("../../golden/scenarios/", $name, ".toml")) },)+];
    };
}

stages! {
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

/// Controllers whose signals do not tell where they are at home.
const AT_HOME: &[(&str, &[&str])] = &[
    (
        "long-fat",
        &["cubic", "ctcp", "cubic-2005", "highspeed", "tcp-africa", "scalable", "aimd", "bic", "h-tcp", "fast"],
    ),
    ("two-class", &["nf-tcp", "nf-tcp-prime"]),
    ("background", &["ledbat", "ledbat++", "tcp-lp", "nice"]),
    ("background", &["ledbat", "ledbat++", "tcp-lp", "rapid"]),
];

/// What a controller that needs a signal is shown with; the first that applies.
const BY_SIGNAL: &[(Signals, &str)] = &[
    (Signals::GROUPS, "group"),
    (Signals::CONGESTION_INDICATION, "indicated"),
    (Signals::QUEUEING_TIME, "way-back"),
    (Signals::ONE_WAY_DELAY, "way-back"),
    (Signals::CE_COUNT, "step"),
    (Signals::ECN, "marked"),
];

impl Stage {
    /// The stage called `name`.
    fn named(name: &str) -> Stage {
        STAGES.iter().copied().find(|stage| stage.name == name).unwrap_or(STAGES[0])
    }

    /// Where `algorithm` shows what it is: the stage its name or its needs call for, or
    /// else a link shared with Reno.
    #[must_use]
    pub fn of(algorithm: &Algorithm) -> Stage {
        let name = ConfiguredController::name(algorithm);
        let at_home = AT_HOME.iter().find(|(_, names)| names.contains(&name)).map(|(stage, _)| stage);
        let by_signal = || BY_SIGNAL.iter().find(|(signal, _)| algorithm.needs().contains(*signal)).map(|(_, s)| s);
        Stage::named(at_home.or_else(by_signal).unwrap_or(&"shared"))
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
    fn every_stage_can_be_read_and_every_name_is_one_of_the_catalogue() {
        for stage in STAGES {
            assert!(!stage.scenario("reno").unwrap().description.is_empty(), "{}", stage.name);
        }
        for (stage, names) in AT_HOME {
            assert_eq!(Stage::named(stage).name, *stage);
            assert!(names.iter().all(|name| Algorithm::named(name).is_some()), "{names:?}");
        }
        for (_, stage) in BY_SIGNAL {
            assert_eq!(Stage::named(stage).name, *stage);
        }
    }

    #[test]
    fn needs_and_names_choose_the_stage() {
        for (controller, stage) in
            [("reno", "shared"), ("tcp-p", "group"), ("rovegas", "way-back"), ("bic", "long-fat")]
        {
            assert_eq!(Stage::of(&Algorithm::named(controller).unwrap()).name, stage);
        }
    }
}
