//! The test cases of the BBR draft's appendix (`draft-ietf-ccwg-bbr`, *BBR Example Test Cases*), run on any implementation.
//!
//! A case is a scenario, or two where the second depends on when the first came to a state, and checks on what the run shows.
//! Ours shows every step with the variables of the draft. A stack's own controller shows rates and losses alone, so that of
//! many cases nothing can be said of it: such a check is *not visible*, which is neither passed nor failed.

mod bench;
mod paths;
mod probing;
mod seen;
mod startup;

use bench::Ended;
pub use bench::{Assessment, Bench, Check, Findings};

/// A test case of the draft.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// What it is asked for by.
    pub name: &'static str,
    /// Title of its section in the draft.
    pub section: &'static str,
    run: fn(&Bench<'_>, &mut Findings) -> Result<(), Ended>,
}

impl Case {
    /// Carries it out. What the stack cannot run is not visible, with the reason.
    pub fn run(&self, bench: &Bench<'_>) -> Findings {
        let mut findings = Findings::default();
        match (self.run)(bench, &mut findings) {
            Ok(()) => {}
            Err(Ended::NotVisible(why)) => findings.unseen("the rest of the case", why),
            Err(Ended::NotReached(why)) => findings.check("the flow comes to what the case is about", false, why),
        }
        findings
    }
}

/// The cases, in the draft's order.
pub const CASES: [Case; 22] = [
    case("startup-plateau", "Exiting STARTUP on Bandwidth Plateau", startup::plateau),
    case("startup-loss", "Exiting STARTUP on Loss When Application-Limited", startup::loss),
    case("drain-inflight", "Exiting DRAIN Based on Inflight", startup::drain_by_inflight),
    case("drain-time", "Exiting DRAIN Based on Time", startup::drain_by_time),
    case("up-plateau", "Exiting PROBE_UP on Bandwidth Plateau", probing::up_plateau),
    case("up-loss", "Exiting PROBE_UP on Loss When Application-Limited", probing::up_loss),
    case(
        "app-limited",
        "Never Exiting PROBE_UP (or STARTUP) When Application-Limited With No Loss",
        probing::app_limited,
    ),
    case("down-inflight", "Exiting PROBE_DOWN on Inflight", probing::down_by_inflight),
    case("down-time", "Exiting PROBE_DOWN After Max Time", probing::down_by_time),
    case("probe-rtt", "Entering and Exiting PROBE_RTT", probing::probe_rtt),
    case("probe-rtt-skipped", "Skipping PROBE_RTT Due to Application-Limited Sending", probing::probe_rtt_skipped),
    case(
        "startup-aggregation",
        "Achieving Expected STARTUP Bandwidth on a Link With Aggregation",
        paths::startup_aggregation,
    ),
    case(
        "cruise-aggregation",
        "Achieving Expected Cruise Bandwidth on a Link With Aggregation",
        paths::cruise_aggregation,
    ),
    case("sub-packet", "Correctly Managing Sub-Packet BDPs", paths::sub_packet),
    case("up-10x", "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached", paths::up_10x),
    case("down-10x", "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down", paths::down_10x),
    case("policer", "Handling Token Bucket Policers", paths::policer),
    case("spurious-recovery", "Handling Spurious Fast Recovery", paths::spurious_recovery),
    case("spurious-rto", "Handling Spurious RTO Recovery", paths::spurious_rto),
    case("probe-rtt-in-startup", "Entering and Exiting PROBE_RTT During STARTUP", startup::probe_rtt_in_startup),
    case("up-loss-bounded", "Handling Loss During PROBE_UP After inflight_longterm is Set", probing::up_loss_bounded),
    case("refill-app-limited", "Handling Application-Limited Sending During PROBE_REFILL", probing::refill_app_limited),
];

const fn case(
    name: &'static str,
    section: &'static str,
    run: fn(&Bench<'_>, &mut Findings) -> Result<(), Ended>,
) -> Case {
    Case { name, section, run }
}

#[cfg(test)]
mod tests {
    use windlass_stacks::stack::Runner;

    use super::*;

    fn assessments(controller: &str, stack: Runner) -> Vec<(&'static str, Findings)> {
        CASES.iter().map(|case| (case.name, case.run(&Bench::new(controller, stack)))).collect()
    }

    #[test]
    fn ours_passes_every_case_in_the_simulator() {
        let mut wrong = Vec::new();
        for (name, findings) in assessments("bbr", Runner::SIMULATOR) {
            if findings.assessment() != Assessment::Passed {
                wrong.push(format!("{name}: {findings:#?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    /// Each rule that is taken away fails the cases that are about it.
    #[test]
    fn mutants_fail_the_cases_of_their_rule() {
        let mutants = [
            ("bbr:loss_threshold=1", ["startup-loss", "up-loss", "up-loss-bounded"].as_slice()),
            ("bbr:drain_pacing_gain=0.9", &["drain-inflight"]),
            ("bbr:down_pacing_gain=1", &["down-inflight"]),
            ("bbr:probe_rtt_interval=100", &["probe-rtt", "probe-rtt-in-startup"]),
            ("bbr:up_pacing_gain=1,up_cwnd_gain=1", &["up-10x"]),
        ];
        for (mutant, expected) in mutants {
            let cases = CASES.iter().filter(|case| expected.contains(&case.name));
            for case in cases {
                let findings = case.run(&Bench::new(mutant, Runner::SIMULATOR));
                assert_eq!(findings.assessment(), Assessment::Failed, "{mutant}, {}: {findings:#?}", case.name);
            }
        }
    }

    /// A stack's own controller is judged by what comes of it, and passes no check on what it does not show.
    #[test]
    fn of_a_controller_without_variables_only_outcomes_are_judged() {
        let noq = Runner::builtin().iter().find(|stack| stack.name() == "noq").expect("a stack");
        let bench = Bench::new("native:bbr3", *noq);
        let plateau = CASES[0].run(&bench);
        assert_eq!((plateau.assessment(), plateau.passed()), (Assessment::Passed, (1, 2)), "{plateau:#?}");
        let drain = CASES[2].run(&bench);
        assert_eq!(
            (drain.assessment(), drain.0.len(), bench.scenarios().len()),
            (Assessment::NotVisible, 1, 1),
            "{drain:#?}"
        );
    }
}
