//! Which controller a trace shows: those of the catalogue in the simulator, those of real
//! stacks, all of them without anything that gives the name away.

use rayon::prelude::*;
use windlass_controllers::Algorithm;
use windlass_lab::replay::{Identified, Missing, ReplayError, identify, replay_controllers};
use windlass_lab::testkit::{SCENARIOS, look, natives, place, recorded_traces, trace};
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::Runner;

#[test]
fn controllers_that_differ_are_told_apart() {
    // A few of every kind: loss-based, high-speed, by delay, by marks, by rate.
    let cases = [
        ("shallow-buffer", "reno"),
        ("shallow-buffer", "cubic"),
        ("random-loss", "h-tcp"),
        ("random-loss", "westwood"),
        ("ecn-queue", "scalable"),
        ("ecn-queue", "dctcp"),
        ("deep-buffer", "vegas"),
        ("deep-buffer", "ledbat++"),
        ("clean-link", "bbr"),
        ("clean-link", "copa"),
    ];
    cases.par_iter().for_each(|(scenario, controller)| {
        let found = look(&trace(scenario, controller, Runner::SIMULATOR).unwrap());
        assert_eq!(place(&found, controller), 0, "{controller} on {scenario}: {:#?}", &found.guesses[..3]);
        assert!(found.guesses[0].score > 80.0, "{controller} on {scenario}: {:#?}", found.guesses[0]);
    });
}

#[test]
fn a_stack_s_own_cubic_is_known() {
    let found = look(&trace("random-loss", "native:cubic", Runner::new(&Quinn)).unwrap());
    assert_eq!(place(&found, "cubic"), 0, "{:#?}", &found.guesses[..3]);
}

#[test]
fn what_a_trace_lacks_is_told() {
    let trace = trace("shallow-buffer", "reno", Runner::SIMULATOR).unwrap();
    let text = String::from_utf8(trace).unwrap();
    let without = |field: &str| text.replace(field, "nothing").into_bytes();
    for (field, missing) in [
        ("acked_ranges", Missing::Acks),
        ("packet_number", Missing::Numbers),
        ("packet_sent", Missing::Packets),
        ("congestion_window", Missing::Window),
    ] {
        let trace = without(field);
        let found = identify(&|| Ok::<_, ReplayError>(trace.as_slice()), None);
        assert!(matches!(&found, Err(ReplayError::Missing(what)) if *what == missing), "{field}: {found:?}");
    }
    let mut bare = without("congestion_window");
    let engines = [("rovegas".to_owned(), Algorithm::named("rovegas").unwrap())];
    let run = |trace: &[u8], estimates| replay_controllers(&|| Ok::<_, ReplayError>(trace), None, &engines, estimates);
    let error = run(&bare, false).unwrap_err().to_string();
    assert!(error.starts_with("rovegas needs router queueing times; the trace does not report it"), "{error}");
    assert!(run(&bare, true).unwrap().stack.is_none());
    bare.truncate(bare.len() / 2);
    assert!(run(&bare, true).is_ok(), "a trace that breaks off");
}

#[test]
fn the_controller_that_ran_decides_the_same_again() {
    for (scenario, name) in [("random-loss", "reno"), ("shallow-buffer", "cubic"), ("ecn-queue", "dctcp")] {
        let trace = trace(scenario, name, Runner::SIMULATOR).unwrap();
        let engines = [name, "scalable"].map(|name| (name.to_owned(), Algorithm::named(name).unwrap()));
        let found = replay_controllers(&|| Ok::<_, ReplayError>(trace.as_slice()), None, &engines, false).unwrap();
        let points = found.series.points();
        assert!(points.len() > 1000);
        let equal = points.iter().filter(|point| point.stack == Some(point.cwnd[0])).count();
        assert!(equal * 1000 >= points.len() * 999, "{name}: {equal} of {}", points.len());
        let other = points.iter().filter(|point| point.stack == Some(point.cwnd[1])).count();
        assert!(other * 2 < points.len(), "another controller decides otherwise: {other}");
    }
}

/// Prints the table of the documentation. Nine of ten have to be right.
#[test]
#[ignore = "minutes; ci/nightly runs it"]
fn the_whole_catalogue_on_five_scenarios() {
    let cases: Vec<(&str, &str)> =
        Algorithm::ALL.iter().flat_map(|entry| SCENARIOS.map(|scenario| (entry.name, scenario))).collect();
    let found: Vec<Option<Identified>> = cases
        .par_iter()
        .map(|(controller, scenario)| trace(scenario, controller, Runner::SIMULATOR).map(|trace| look(&trace)))
        .collect();
    println!("| controller | {} |", SCENARIOS.join(" | "));
    println!("|---|{}", "---|".repeat(SCENARIOS.len()));
    let mut right = 0;
    for (row, entry) in found.chunks(SCENARIOS.len()).zip(Algorithm::ALL) {
        let cell = |found: &Option<Identified>| {
            let Some(found) = found else { return "cannot run".to_owned() };
            let at = place(found, entry.name);
            let others = found.guesses[at].controllers.len() - 1;
            let equal = if others > 0 { format!(" = {others}") } else { String::new() };
            let better = if at > 0 { format!(" after {}", found.guesses[0].controllers[0]) } else { String::new() };
            format!("{}: {:.0}{equal}{better}", at + 1, found.guesses[at].score)
        };
        println!("| {} | {} |", entry.name, row.iter().map(cell).collect::<Vec<_>>().join(" | "));
        right += row.iter().flatten().filter(|found| place(found, entry.name) == 0).count();
    }
    let of = found.iter().flatten().count();
    println!("\n{right} of {of} right");
    assert!(right * 10 >= of * 9, "{right} of {of}");
}

/// Nine of ten have to be right.
#[test]
#[ignore = "a minute; ci/nightly runs it"]
fn the_stacks_own_controllers() {
    let (wrong, of) = natives(Runner::builtin());
    assert!(wrong.len() * 10 <= of, "{wrong:?}");
}

/// A trace of quiche's own CUBIC, where it is at hand.
#[test]
fn quiche_s_cubic_is_known() {
    let path = recorded_traces().join("selfgen-quiche-0.30-server-cubic.sqlog");
    let Ok(trace) = std::fs::read(&path) else {
        println!("skipped: there is no recorded trace {}", path.display());
        return;
    };
    let found = look(&trace);
    assert_eq!(place(&found, "cubic"), 0, "{:#?}", &found.guesses[..3]);
}
