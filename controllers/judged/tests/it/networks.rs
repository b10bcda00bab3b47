//! The tests of others that need a network (`windlass_judged::NETWORKS`), in the simulator.
//!
//! | step | what it is |
//! |---|---|
//! | `run 10` | until 10 s of the scenario |
//! | `complete 30` | until its first flow is over, or 30 s |
//! | `seek 5 full_bw_reached = 1` | until that is so, or 5 s; that it becomes so is an expectation |
//!
//! Anything else is an [`Expectation`] of a flow, the first unless it is named as in `completed_s(main)`: `completed_s`
//! (when its transfer was complete; without a name that of the flow that took longest; infinite if it never was),
//! `goodput_mbps`, `lost` (of the packets sent), `rtt_ms` (the latest sample of the series), `rtt_min_ms`, `queue_bytes`
//! (of the scenario's first link), or a state variable of its controller.

use windlass_controllers::{Algorithm, ConfiguredController, Span, Time};
use windlass_judged::script::Expectation;
use windlass_judged::{Judgement, NETWORKS, Outcome, Test, judge_all, read};
use windlass_network::LinkId;
use windlass_simulator::outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::Simulation;

/// Simulated time between two checks for what a step waits for.
const CHECK_INTERVAL: Span = Span::from_millis(1);

/// What becomes of the tests that need a network.
///
fn networks() -> Result<Vec<Judgement>, String> {
    judge_all(NETWORKS, |test| run(test, &test.controller))
}

/// What a test's steps are about.
struct Run {
    simulation: Simulation,
    names: Vec<String>,
    packet: f64,
    /// Expectations so far; those that wait for the end have none yet.
    outcomes: Vec<Result<Outcome, Expectation>>,
}

/// What becomes of `test` with `controller`.
///
/// # Errors
/// The scenario has mistakes, the controller is none, or a step is none.
fn run(test: &Test, controller: &str) -> Result<Vec<Outcome>, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", test.name);
    let scenario = Scenario::read(&test.name, &test.scenario, Some(controller)).map_err(|error| told(&error))?;
    let simulation = Simulation::new(&scenario).map_err(|error| told(&error))?;
    let names = scenario.flows.iter().map(|flow| flow.name.clone()).collect();
    let packet = scenario.flows.first().map_or(f64::NAN, |flow| f64::from(flow.packet_bytes));
    let mut run = Run { simulation, names, packet, outcomes: Vec::new() };
    for step in &test.steps {
        run.step(step).map_err(|error| told(&format!("{step:?}: {error}")))?;
    }
    run.finish().map_err(|error| told(&error))
}

fn seconds(text: &str) -> Result<Time, String> {
    let s: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    Ok(Time::ZERO + Span::from_secs_f64(s))
}

/// Name of the quantity and the flow it is of, if one is named.
fn of(quantity: &str) -> (&str, Option<&str>) {
    quantity
        .strip_suffix(')')
        .and_then(|text| text.split_once('('))
        .map_or((quantity, None), |(name, flow)| (name, Some(flow)))
}

impl Run {
    fn step(&mut self, text: &str) -> Result<(), String> {
        match text.split_once(' ') {
            Some(("run", until)) => self.simulation.run_until(seconds(until)?),
            Some(("complete", until)) => {
                self.wait(seconds(until)?, |run| {
                    run.simulation.now() > Time::ZERO + CHECK_INTERVAL && !run.simulation.counts(0).is_active
                });
            }
            Some(("seek", rest)) => {
                let (until, wanted) = rest.split_once(' ').ok_or("expected a time and an expectation")?;
                let wanted = Expectation::read(wanted, self.packet)?;
                let number = self.flow(&wanted.quantity)?;
                let mut latest = f64::NAN;
                self.wait(seconds(until)?, |run| {
                    latest = run.now(of(&wanted.quantity).0, number);
                    wanted.outcome(latest).met
                });
                self.outcomes.push(Ok(wanted.outcome(latest)));
            }
            _ => {
                let expectation = Expectation::read(text, self.packet)?;
                let (name, number) = (of(&expectation.quantity).0, self.flow(&expectation.quantity)?);
                let at_end = matches!(name, "completed_s" | "goodput_mbps" | "rtt_min_ms");
                let outcome = if at_end { Err(expectation) } else { Ok(expectation.outcome(self.now(name, number))) };
                self.outcomes.push(outcome);
            }
        }
        Ok(())
    }

    /// Runs until it is so or `until`.
    fn wait(&mut self, until: Time, mut is_so: impl FnMut(&mut Run) -> bool) {
        while self.simulation.now() < until && !is_so(self) {
            let next = (self.simulation.now() + CHECK_INTERVAL).min(until);
            self.simulation.run_until(next);
            if self.simulation.now() < next {
                return;
            }
        }
    }

    /// The place of the flow that `quantity` names, or the first.
    fn flow(&self, quantity: &str) -> Result<usize, String> {
        let Some(wanted) = of(quantity).1 else { return Ok(0) };
        self.names.iter().position(|name| name == wanted).ok_or_else(|| format!("there is no flow {wanted:?}"))
    }

    /// A quantity as it is now; NaN where there is none.
    fn now(&mut self, name: &str, number: usize) -> f64 {
        match name {
            "lost" => {
                let counts = self.simulation.counts(number);
                counts.lost as f64 / counts.sent as f64
            }
            "rtt_ms" => self.simulation.series(number).rtt_ms.iter().rev().find_map(|rtt| *rtt).unwrap_or(f64::NAN),
            "queue_bytes" => self.simulation.waiting(LinkId(0)).1 as f64,
            _ => {
                let mut found = f64::NAN;
                self.simulation.inspect(number, &mut |other, value| {
                    if other == name {
                        found = value;
                    }
                });
                found
            }
        }
    }

    /// Runs to the end where an expectation waits for it.
    fn finish(self) -> Result<Vec<Outcome>, String> {
        if self.outcomes.iter().all(Result::is_ok) {
            return Ok(self.outcomes.into_iter().flatten().collect());
        }
        let (names, outcomes) = (self.names, self.outcomes);
        let flows = self.simulation.finish().flows;
        let read = |expectation: &Expectation| {
            let (name, flow) = of(&expectation.quantity);
            let wanted = flows.iter().filter(|one| flow.map_or(names.contains(&one.name), |flow| one.name == flow));
            let value = |one: &outcome::FlowOutcome| match name {
                "completed_s" if one.completed => one.stop_s,
                "completed_s" => f64::INFINITY,
                "goodput_mbps" => one.goodput_mbps,
                _ => one.rtt_min_ms.unwrap_or(f64::NAN),
            };
            if name == "completed_s" {
                wanted.map(value).fold(0.0, f64::max)
            } else {
                wanted.map(value).next().unwrap_or(f64::NAN)
            }
        };
        Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|waits| waits.outcome(read(&waits)))).collect())
    }
}

/// A test's outcome of each controller.
type Row = Vec<(&'static str, Option<Outcome>)>;

/// Of every controller of the catalogue, what becomes of the tests that judge several: name of the test, and for each
/// controller the first outcome, `None` where it cannot run.
///
/// # Errors
/// A source cannot be read.
fn report() -> Result<Vec<(String, Row)>, String> {
    let mut tests: Vec<Test> = Vec::new();
    for text in NETWORKS {
        let of_several = read(text)?.tests.into_iter().filter(|test| test.name.contains(" of "));
        for mut test in of_several {
            let name = test.name.split(" of ").next().unwrap_or_default().to_owned();
            if !tests.iter().any(|other| other.name == name) {
                test.name = name;
                tests.push(test);
            }
        }
    }
    let of = |test: &Test| {
        let judged = Algorithm::ALL.iter().map(|entry| {
            let outcome = run(test, (entry.default)().name()).ok();
            (entry.name, outcome.and_then(|outcomes| outcomes.into_iter().next()))
        });
        (test.name.clone(), judged.collect())
    };
    Ok(tests.iter().map(of).collect())
}

/// The tables of docs/judged.md about `networks`: the suites, and of every controller that misses a bound which others
/// set theirs how often and how far.
///
fn tables(networks: &[Judgement]) -> Result<String, String> {
    let mut page = windlass_judged::tables(networks);
    let report = report()?;
    let names: Vec<&str> = report.iter().map(|(name, _)| name.as_str()).collect();
    page.push_str("\n### Every controller on Google's networks\n\nSeconds where a bound is missed; ∞ is not in twice the ideal time.\n\n");
    page.push_str(&format!("| controller | {} |\n|---|{}\n", names.join(" | "), "--:|".repeat(names.len())));
    let mut whole = 0;
    for (place, entry) in Algorithm::ALL.iter().enumerate() {
        let outcomes: Vec<Option<&Outcome>> = report.iter().map(|(_, row)| row[place].1.as_ref()).collect();
        if outcomes.iter().all(|outcome| outcome.is_some_and(|outcome| outcome.met)) {
            whole += 1;
            continue;
        }
        let cell = |outcome: &Option<&Outcome>| match outcome {
            Some(outcome) if outcome.met => String::new(),
            Some(outcome) if outcome.ours.is_finite() => format!("{:.1}", outcome.ours),
            Some(_) => "∞".to_owned(),
            None => "–".to_owned(),
        };
        let cells: Vec<String> = outcomes.iter().map(cell).collect();
        page.push_str(&format!("| {} | {} |\n", entry.name, cells.join(" | ")));
    }
    page.push_str(&format!("\n{whole} of {} controllers keep every bound and are left out.\n", Algorithm::ALL.len()));
    Ok(page)
}

#[test]
fn networks_of_others_are_met_or_a_text_decides() {
    let mut wrong = Vec::new();
    for judgement in networks().unwrap_or_else(|error| panic!("{error}")) {
        for (test, outcome) in judgement.outcomes() {
            if outcome.is_fault() || (outcome.met && outcome.decided.is_some()) {
                wrong.push(format!("{}: {}: ours {}", test.name, outcome.expected, outcome.ours));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are not as they should be:\n{}", wrong.len(), wrong.join("\n"));
}

/// A controller that is slower than it should be misses a bound.
#[test]
fn a_wrong_controller_misses_a_network() {
    let source = read(NETWORKS[0]).expect("a source");
    let missed = |name: &str, controller: &str| {
        let test = source.tests.iter().find(|test| test.name.starts_with(name)).expect("a test");
        run(test, controller).expect("a run").iter().any(|outcome| !outcome.met)
    };
    assert!(missed("SatelliteNetworkTransfer", "reno:max_window=40"), "a window of a third of the path");
    assert!(missed("SimpleTransfer", "bbr:cwnd_gain=6,drain_pacing_gain=1"), "losses");
}

#[test]
fn networks_are_as_their_table_says() {
    const MARKER: &str =
        "<!-- below: WINDLASS_ACCEPT_JUDGED=1 cargo test --release -p windlass-judged --test it networks -->\n\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/judged.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (prose, rest) = page.split_once(MARKER).expect("the marker");
    let tables = tables(&networks().expect("the networks")).expect("the tables");
    if std::env::var_os("WINDLASS_ACCEPT_JUDGED").is_some() {
        std::fs::write(path, format!("{prose}{MARKER}{tables}")).expect("the page");
        return;
    }
    assert_eq!(rest, tables, "WINDLASS_ACCEPT_JUDGED=1 writes it anew");
}
