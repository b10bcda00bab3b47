//! Which controller a trace shows: those of the catalogue in the simulator, those of real
//! stacks, all of them without anything that gives the name away.

use std::io::Read;

use rayon::prelude::*;
use windlass_adapter::NamedController;
use windlass_controllers::Algorithm;
use windlass_lab::replay::{
    Answer, Classification, Guess, Identified, Missing, NAMED_FROM, ReplayError, Windows, answer, identify,
    replay_controllers,
};
use windlass_lab::testkit::{
    AtShare, Confusion, KNOWN, SCENARIOS, Unit, all, changed, flows, kept, look, natives, place, received,
    recorded_traces, trace,
};
use windlass_qlog_analysis::identify::{End, Model, NEARER, Sample};
use windlass_qlog_analysis::read::Input;
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
    let engines = [("rovegas".to_owned(), NamedController::named("rovegas").unwrap())];
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
        let engines = [name, "scalable"].map(|name| (name.to_owned(), NamedController::named(name).unwrap()));
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

/// What is said of `trace`.
fn ask(trace: &[u8]) -> Answer {
    answer(&|| Ok::<_, ReplayError>(trace), None).unwrap()
}

/// A recorded trace, unpacked; none where they are not at hand.
fn recorded(name: &str) -> Option<Vec<u8>> {
    let file = std::fs::File::open(recorded_traces().join(name)).ok()?;
    let mut text = Vec::new();
    Input::new(file).unwrap().read_to_end(&mut text).unwrap();
    Some(text)
}

#[test]
fn a_receiver_s_trace_is_refused_by_window_and_judged_by_arrivals() {
    let sent = trace("shallow-buffer", "scalable", Runner::new(&Quinn)).unwrap();
    let found = ask(&received(&sent));
    assert_eq!(found.end, End::Receiver);
    assert!(matches!(found.by_window, Err(Missing::Sender)), "{:?}", found.by_window);
    let by_arrivals = found.by_arrivals.unwrap();
    // What the sender's ACK frames tell of the same flow.
    let of_sender = ask(&sent).by_arrivals.unwrap();
    assert_eq!(by_arrivals.nearest[0].0, of_sender.nearest[0].0, "{by_arrivals:?}, {of_sender:?}");
    // A recorded one, of a short transfer.
    let Some(short) = recorded("qvis-draft01-f5-parallel10.qlog") else { return };
    let found = ask(&short);
    assert_eq!(found.classification, Classification::Unknown);
    assert!(matches!(found.by_window, Err(Missing::Sender)), "{:?}", found.by_window);
    assert!(found.by_arrivals.unwrap_err().contains("1000 are needed"));
}

#[test]
fn a_name_that_the_trace_tells_is_the_answer() {
    let trace = trace("shallow-buffer", "reno", Runner::SIMULATOR).unwrap();
    let text = String::from_utf8(trace).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let with = |event: &str| ask(format!("{header}\n\u{1e}{event}\n{rest}").as_bytes());
    let found = with(r#"{"time":0,"name":"quic:recovery_parameters_set","data":{"congestion_controller":"cubic"}}"#);
    assert_eq!(found.classification, Classification::Declared("cubic".to_owned()));
    let found = with(r#"{"time":0,"name":"quic:congestion_state_updated","data":{"new":"bbr_startup"}}"#);
    assert_eq!(found.classification, Classification::Declared("bbr".to_owned()));
    assert!(found.declared.unwrap().by_state);
    let Some(netlog) = recorded("chromium156-sample-small.netlog.json") else { return };
    let found = ask(&netlog);
    assert_eq!(found.classification, Classification::Declared("cubic".to_owned()));
    assert!(matches!(found.by_window, Err(Missing::Window | Missing::Sender)), "{:?}", found.by_window);
}

#[test]
fn of_two_within_a_point_the_plainer_is_named() {
    let trace = trace("shallow-buffer", "compose", Runner::SIMULATOR).unwrap();
    let found = look(&trace);
    assert!(found.guesses[0].controllers.len() > 1, "{:?}", found.guesses[0]);
    assert_eq!(found.named(), Some("reno"));
    let Some(aioquic) = recorded("aioquic-0.9.25-server.qlog.gz") else { return };
    let found = look(&aioquic);
    assert_ne!(found.guesses[0].plainest(), "reno", "{:?}", found.guesses[0]);
    assert_eq!(found.named(), Some("reno"), "{:#?}", &found.guesses[..3]);
}

/// BBR of stacks that were not looked at when it was modelled.
#[test]
fn bbr_is_known_by_rate_and_rtt_or_not_named() {
    let native = look(&trace("clean-link", "native:bbr", Runner::new(&Quinn)).unwrap());
    assert_eq!((native.named(), place(&native, "bbr")), (Some("bbr"), 0), "{:#?}", &native.guesses[..3]);
    assert!(native.guesses[0].by_model.is_some_and(|distance| distance < 0.05), "{:?}", native.guesses[0]);
    for (name, named) in [("tquic-1.6-server-bbr.sqlog.gz", Some("bbr")), ("ngtcp2-server-reno.sqlog.gz", Some("reno"))]
    {
        let Some(trace) = recorded(name) else { return };
        let found = look(&trace);
        assert_eq!(found.named(), named, "{name}: {:#?}", &found.guesses[..3]);
    }
    // Too noisy to be named with another name than one of BBR's two versions.
    for name in ["ngtcp2-server-bbr.sqlog.gz", "picoquic-ssinghjah-server.qlog", "qvis-draft00-quictrace.qlog.gz"] {
        let Some(trace) = recorded(name) else { return };
        let found = look(&trace);
        let is_bbr = |named: &str| ["bbr", "bbr1"].contains(&named);
        assert!(found.named().is_none_or(is_bbr), "{name}: {:#?}", &found.guesses[..3]);
    }
}

/// With other parameters than ours, as stacks ship it: the document's rules alone, 1/δ of 25 packets, and others.
#[test]
fn copa_is_known_by_its_steps_whatever_its_delta() {
    let cases = [
        ("clean-link", "copa:profile=paper,delta=0.04", Runner::new(&Quinn)),
        ("deep-buffer", "copa:profile=paper,delta=0.2", Runner::SIMULATOR),
        ("shallow-buffer", "copa:profile=paper,delta=0.1", Runner::new(&Quinn)),
        // Of short steps; and of a queue that hides the smallest RTT for more than 10 s.
        ("ecn-queue", "copa:profile=paper,delta=1", Runner::new(&Quinn)),
        ("random-loss", "copa:profile=paper,delta=0.02", Runner::new(&Quinn)),
    ];
    for (scenario, controller, stack) in cases {
        let found = look(&trace(scenario, controller, stack).unwrap());
        let copa = &found.guesses[place(&found, "copa")];
        assert!(copa.by_model.is_some_and(|distance| distance < 0.04), "{controller} on {scenario}: {copa:?}");
        assert_eq!(found.named(), Some("copa"), "{controller} on {scenario}: {:#?}", &found.guesses[..3]);
    }
    for controller in ["vegas", "fast", "ledbat", "nice", "tri-s", "card"] {
        let found = look(&trace("deep-buffer", controller, Runner::SIMULATOR).unwrap());
        assert_eq!(found.guesses[place(&found, "copa")].by_model, None, "{controller}");
    }
}

/// Prints the table of the documentation: Copa on quinn by its document, with the δ that stacks ship and others.
#[test]
#[ignore = "a minute; ci/nightly runs it"]
fn copa_with_every_delta() {
    let deltas = ["0.02", "0.04", "0.05", "0.1", "0.2", "1"];
    let cases: Vec<_> = deltas.iter().flat_map(|delta| SCENARIOS.map(|scenario| (*delta, scenario))).collect();
    let found: Vec<Identified> = cases
        .par_iter()
        .map(|(delta, scenario)| {
            look(&trace(scenario, &format!("copa:profile=paper,delta={delta}"), Runner::new(&Quinn)).unwrap())
        })
        .collect();
    println!("| δ | {} |\n|---|{}", SCENARIOS.join(" | "), "---|".repeat(SCENARIOS.len()));
    let mut wrong = 0;
    for (delta, row) in deltas.iter().zip(found.chunks(SCENARIOS.len())) {
        let cell = |found: &Identified| {
            let at = place(found, "copa");
            let copa = &found.guesses[at];
            // What it would come to as the other schemes do.
            let otherwise = copa.by_epoch.map_or(copa.whole, |again| copa.whole.min(again + 0.02));
            format!("{}: {:.0} ({:.0})", at + 1, copa.score, 100.0 * libm::exp(-otherwise / 0.1))
        };
        println!("| {delta} | {} |", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
        wrong += row.iter().filter(|found| found.named().is_some_and(|named| named != "copa")).count();
    }
    println!("\n{wrong} of {} named otherwise", found.len());
    assert!(wrong <= 1, "{wrong} flows of Copa are named otherwise");
}

/// A few flows of the simulator; all of every stack are `flows_are_named_by_those_of_other_stacks`.
#[test]
fn controllers_are_distinguished_by_arrivals() {
    let found = flows(&[Runner::SIMULATOR], &["reno", "scalable", "vegas", "ledbat++"], false);
    let model = Model::builtin().unwrap();
    let mut confusion = Confusion::default();
    confusion.add(&model, &found, Unit::Flow);
    let (right, _, of) = confusion.score(true);
    assert_eq!((right, of), (8, 8), "{}", confusion.table());
}

const PAGE: &str = include_str!("../../../../docs/identify-arrivals.md");

/// Prints a table of the documentation, which has to have it.
fn print_as_documented(table: &str) {
    println!("{table}");
    assert!(PAGE.contains(table), "docs/identify-arrivals.md has another table than this");
}

/// Prints the matrix and the documented table by stacks, and gives what all come to: flows that are kept, each stack's named by the others'.
fn named_by_other_stacks(unit: Unit) -> Confusion {
    let by_stack = Confusion::across_stacks(&kept(), unit);
    let all = Confusion::sum(by_stack.iter().map(|(_, confusion)| confusion));
    let mut table =
        "| stack | named rightly | not named | named wrongly | unknown, of those held out |\n|---|---|---|---|---|\n"
            .to_owned();
    for (stack, confusion) in &by_stack {
        table.push_str(&format!("| {stack} | {} |\n", confusion.cells()));
    }
    table.push_str(&format!("| all | {} |\n", all.cells()));
    println!("{}", all.table());
    print_as_documented(&table);
    all
}

#[test]
fn flows_are_named_by_those_of_other_stacks() {
    let (right, unknown, of) = named_by_other_stacks(Unit::Flow).score(true);
    assert!(right * 100 >= (of - unknown) * 95, "of those that are named, 19 of 20 rightly");
}

#[test]
fn senders_are_named_by_their_flows_over_two_networks() {
    let one = Confusion::sum(Confusion::across_stacks(&kept(), Unit::Flow).iter().map(|(_, confusion)| confusion));
    let two = named_by_other_stacks(Unit::Sender);
    let ((flows, _, of_flows), (senders, unknown, of)) = (one.score(true), two.score(true));
    assert!(senders * 100 >= (of - unknown) * 95, "of those that are named, 19 of 20 rightly");
    assert!(senders * of_flows > flows * of, "two flows say more than one: {senders} of {of}, {flows} of {of_flows}");
}

/// Prints what the share [`NEARER`] was chosen by: neither quiche's and MsQuic's flows nor controllers that are held out.
#[test]
fn the_share_that_flows_are_named_by() {
    let known = |flow: &Sample| KNOWN.contains(&flow.controller.as_str());
    let chosen_on = ["sim", "quinn/noq", "s2n-quic"];
    let flows: Vec<Sample> =
        kept().into_iter().filter(|flow| known(flow) && chosen_on.contains(&flow.stack.as_str())).collect();
    let shares = [0.4, 0.5, NEARER, 0.7, 0.8, 0.9];
    let [one, two] = [Unit::Flow, Unit::Sender].map(|unit| AtShare::calibration(&flows, unit, &shares));
    let mut table = format!(
        "| share | of {} flows: right | wrong | refused | of {} senders: right | wrong | refused |\n|---|{}\n",
        one[0].of,
        two[0].of,
        "---|".repeat(6)
    );
    for ((share, one), two) in shares.iter().zip(&one).zip(&two) {
        let cells = [one, two].map(|at| format!("{} | {} | {}", at.right, at.wrong, at.refused));
        table.push_str(&format!("| {share} | {} |\n", cells.join(" | ")));
    }
    println!("{table}");
    let at = shares.iter().position(|share| *share == NEARER).unwrap();
    assert!(one[at].refused * 5 >= one[at].of * 4, "four of five that are not known are refused: {:?}", one[at]);
    assert!(two[at].refused * 5 >= two[at].of * 4, "four of five that are not known are refused: {:?}", two[at]);
}

/// The flows that are kept of the stacks of this workspace are what runs give. `WINDLASS_ACCEPT_MODEL=1` keeps them anew.
#[test]
#[ignore = "minutes; ci/nightly runs it"]
fn passive_flows_are_what_runs_give() {
    let mut changed = changed(&flows(Runner::builtin(), &all(), true));
    // noq's BBR draws random numbers of its own.
    changed.retain(|flow| flow != "bbr on quinn/noq");
    assert!(changed.is_empty() || std::env::var_os("WINDLASS_ACCEPT_MODEL").is_some(), "{changed:#?}");
}

/// Prints the calibration of [`NAMED_FROM`]: quinn and noq calibrate it, s2n-quic tests it.
#[test]
#[ignore = "minutes; ci/nightly runs it"]
fn the_score_from_which_a_controller_is_named() {
    let (mut rows, mut senders, mut wrong, mut wrong_senders, mut of) = (Vec::new(), Vec::new(), 0, 0, 0);
    for stack in Runner::builtin().iter().copied() {
        for native in stack.natives() {
            let name = if native.starts_with("bbr") { "bbr" } else { native.trim_start_matches("new") };
            let mut traces = Vec::new();
            for scenario in SCENARIOS {
                let found = look(&trace(scenario, &format!("native:{native}"), stack).unwrap());
                let right = found.guesses[place(&found, name)].score;
                let others = found.guesses.iter().filter(|guess| !guess.controllers.iter().any(|other| other == name));
                let other = others.map(|guess| guess.score).fold(0.0, f64::max);
                rows.push((stack.name(), *native, scenario, right, other));
                of += 1;
                wrong += usize::from(found.named().is_some_and(|named| named != name));
                traces.push(found);
            }
            senders.push((stack.name(), *native, name, traces));
        }
    }
    println!("| stack | controller | scenario | its score | the best other's |\n|---|---|---|---|---|");
    for (stack, native, scenario, right, other) in &rows {
        println!("| {stack} | {native} | {scenario} | {right:.0} | {other:.0} |");
    }
    // What the five traces of one sender show together.
    println!("\n| stack | controller | its score | the best other's | named |\n|---|---|---|---|---|");
    for (stack, native, name, traces) in &senders {
        let windows = Windows::of(&traces.iter().collect::<Vec<_>>()).unwrap();
        let is_it = |guess: &&Guess| guess.controllers.iter().any(|other| other == name);
        let score = |is: bool| {
            windows.guesses.iter().filter(|guess| is_it(guess) == is).map(|guess| guess.score).fold(0.0, f64::max)
        };
        let named = windows.named().unwrap_or("unknown");
        println!("| {stack} | {native} | {:.0} | {:.0} | {named} |", score(true), score(false));
        wrong_senders += usize::from(named != "unknown" && named != *name);
    }
    println!("\nNamed from | right, quinn and noq | without it, another | right, s2n-quic | without it, another");
    for from in [20.0, 30.0, 40.0, NAMED_FROM, 60.0, 70.0] {
        let share = |test: bool, right: bool| {
            let rows = || rows.iter().filter(|row| (row.0 == "s2n-quic") == test);
            let over = rows().filter(|row| if right { row.3 >= from && row.3 > row.4 } else { row.4 >= from }).count();
            format!("{over} of {}", rows().count())
        };
        println!(
            "{from} | {} | {} | {} | {}",
            share(false, true),
            share(false, false),
            share(true, true),
            share(true, false)
        );
    }
    assert!(wrong * 10 <= of, "{wrong} of {of} named wrongly");
    assert_eq!(wrong_senders, 0, "senders by all their traces");
}
