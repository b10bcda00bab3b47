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
