//! Every expectation of others is met, or a text decides against it.

mod networks;

use windlass_judged::{Judgement, Outcome, SOURCES, Test, judge, judge_all, read, tables};

fn judgements() -> Vec<Judgement> {
    judge_all(SOURCES, |test| test.run(&test.controller)).unwrap_or_else(|error| panic!("{error}"))
}

/// The outcomes that are `wanted`, a line each.
fn lines(wanted: impl Fn(&Outcome) -> bool) -> Vec<String> {
    let line = |judgement: &Judgement, test: &Test, outcome: &Outcome| {
        format!("{}: {}: {}: ours {}", judgement.source.repository, test.name, outcome.expected, outcome.ours)
    };
    let judgements = judgements();
    let all =
        judgements.iter().flat_map(|judgement| judgement.outcomes().map(move |(test, row)| (judgement, test, row)));
    all.filter(|(.., row)| wanted(row)).map(|(judgement, test, row)| line(judgement, test, row)).collect()
}

#[test]
fn what_others_expect_is_met_or_a_text_decides_against_it() {
    let faults = lines(Outcome::is_fault);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_text_decides_against_nothing_that_is_met() {
    let idle = lines(|outcome| outcome.met && outcome.decided.is_some());
    assert!(idle.is_empty(), "met without the text:\n{}", idle.join("\n"));
}

/// Repositories, controllers, and parameters that make them wrong: each has to show.
const MUTANTS: &[(&str, &str, &str)] = &[
    ("aws/s2n-quic", "cubic", "beta=0.8"),
    ("aws/s2n-quic", "cubic", "c=0.5"),
    ("aws/s2n-quic", "cubic", "fast_convergence=off"),
    ("google/quiche", "cubic", "beta=0.8"),
    ("google/quiche", "reno", "timeout_window=3"),
    ("quic-go/quic-go", "aimd", "b=0.4"),
    ("mozilla/neqo", "reno", "growth=acks"),
    ("mozilla/neqo", "cubic", "beta=0.75"),
    ("microsoft/msquic", "cubic", "slow_start=standard"),
    ("microsoft/msquic", "cubic", "fast_convergence=off"),
    ("facebook/mvfst", "copa", "delta=1"),
    ("facebook/mvfst", "reno", "timeout_window=4"),
    ("smoltcp-rs/smoltcp", "cubic", "beta=0.8"),
    ("google/packetdrill", "cubic", "idle_restart=off"),
    ("google/packetdrill", "cubic", "alpha_rises=off,beta=0.8"),
    ("nsnam/ns-3-dev-git", "highspeed", "high_decrease=0.2"),
    ("nsnam/ns-3-dev-git", "scalable", "b=0.25"),
    ("nsnam/ns-3-dev-git", "bic", "divisor=8"),
    ("nsnam/ns-3-dev-git", "ledbat", "gain=0.5"),
    ("nsnam/ns-3-dev-git", "tcp-lp", "inference=0"),
    ("nsnam/ns-3-dev-git", "ctcp", "gamma=40"),
    ("nsnam/ns-3-dev-git", "reno", "growth=acks"),
    ("nsnam/ns-3-dev-git", "vegas", "beta=100"),
];

#[test]
fn wrong_controllers_fail() {
    let mut missed = Vec::new();
    for (repository, wrong, parameters) in MUTANTS {
        let mutated = |controller: &str| {
            let (name, rest) = controller.split_once(':').unwrap_or((controller, ""));
            if name != *wrong {
                return controller.to_owned();
            }
            let changed = parameters.split_once('=').map_or("", |(parameter, _)| parameter);
            let kept = rest.split(',').filter(|text| !text.is_empty() && !text.starts_with(&format!("{changed}=")));
            format!("{name}:{}", kept.chain([*parameters]).collect::<Vec<_>>().join(","))
        };
        let source = SOURCES.iter().map(|text| read(text).expect("a source"));
        let source = source.into_iter().find(|source| source.repository == *repository).expect("a source");
        if judge(source, |test| test.run(&mutated(&test.controller))).expect("a judgement").faults() == 0 {
            missed.push((repository, wrong, parameters));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn the_page_has_the_tables() {
    const MARKER: &str =
        "<!-- below: WINDLASS_ACCEPT_JUDGED=1 cargo test --release -p windlass-judged --test it page -->\n\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/judged.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (prose, rest) = page.split_once(MARKER).expect("the marker");
    let (rest, after) = rest.split_once("\n## Networks").map_or((rest, ""), |(rest, after)| (rest, after));
    let after = if after.is_empty() { String::new() } else { format!("\n## Networks{after}") };
    let tables = tables(&judgements());
    if std::env::var_os("WINDLASS_ACCEPT_JUDGED").is_some() {
        std::fs::write(path, format!("{prose}{MARKER}{tables}{after}")).expect("the page");
        return;
    }
    assert_eq!(rest, tables, "WINDLASS_ACCEPT_JUDGED=1 writes it anew");
}
