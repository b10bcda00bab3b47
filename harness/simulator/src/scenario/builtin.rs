//! The scenarios that are part of the program.

/// A scenario that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Name on the command line.
    pub name: &'static str,
    /// Its file, word for word.
    pub text: &'static str,
    /// Whether `windlass evaluate` runs it by default.
    pub evaluated: bool,
}

impl Builtin {
    /// The built-in scenario of that name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Builtin> {
        BUILTIN.iter().find(|scenario| scenario.name == name)
    }
}

macro_rules! builtin {
    ($($name:literal $evaluated:literal,)+) => {
        /// The built-in scenarios: those of the evaluation in its order, then examples.
        pub const BUILTIN: &[Builtin] = &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../../scenarios/", $name, ".toml")),
            evaluated: $evaluated,
        },)+];
    };
}

builtin! {
    "clean-link" true,
    "random-loss" true,
    "shallow-buffer" true,
    "deep-buffer" true,
    "two-flows" true,
    "against-cubic" true,
    "ecn-queue" true,
    "halved-capacity" true,
    "many-flows" true,
    "slow-link" true,
    "bursts" true,
    "capacity-drop" false,
    "dumbbell" false,
    "parallel" false,
    "parking-lot" false,
    "two-class" false,
    "step-marking" false,
    "l4s" false,
    "codel" false,
    "pcn" false,
    "poisson-load" false,
    "pareto-load" false,
    "two-way" false,
    "asymmetric" false,
    "access-links" false,
    "varying-path" false,
    "several-bottlenecks" false,
    "flash-crowd" false,
    "web" false,
    "short-transfers" false,
    "group-strength" false,
    "vanished-member" false,
    "delayed-acks" false,
    "delayed-acks-loss" false,
    "lte-like" false,
    "geo-satellite" false,
    "leo-satellite" false,
    "policed-plan" false,
    "shaped-plan" false,
    "wifi-batches" false,
    "bursty-loss" false,
    "handover" false,
    "pie" false,
    "dualpi2" false,
    "per-flow-fairness" false,
    "constant-rate-rival" false,
    "media-objects" false,
}

/// The link traces that are part of the program, by their names.
pub(super) const TRACES: &[(&str, &str)] = &[("lte-like", include_str!("../../traces/lte-like.trace"))];
