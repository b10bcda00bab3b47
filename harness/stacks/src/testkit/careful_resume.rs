//! Careful resume (`RFC 9959`) on a real stack in virtual time.

use windlass_adapter::{NamedController, require};
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;

use super::Logs;
use crate::stack::Stack;

/// Schemes of windows, and controllers whose window follows from a rate.
const CONTROLLERS: [&str; 10] = ["cubic", "reno", "prague", "copa", "bbr", "bbr1", "c4", "scream", "nada", "gcc"];

/// Controllers of every kind that `stack` has the signals for: those of rates where it takes a pacing rate, Prague where it
/// counts CE marks.
///
/// # Panics
/// If it has them for none.
#[must_use]
pub fn resuming(stack: &dyn Stack) -> Vec<&'static str> {
    let fits = |name: &&str| {
        let controller = NamedController::read(name).expect("a controller");
        require(&controller, name, stack.name(), stack.provides()).is_ok()
    };
    let controllers: Vec<_> = CONTROLLERS.into_iter().filter(fits).collect();
    assert!(!controllers.is_empty(), "{} runs none of them", stack.name());
    controllers
}

/// A path of 50 Mbit/s and 100 ms that two transfers of `controller` use one after the other, and the log of the
/// second.
fn two_transfers(stack: &dyn Stack, controller: &str, resume: &str, buffer: f64, changes: &str) -> (Outcome, String) {
    let flow = |start: u32| {
        format!("[[flow]]\ncontroller = \"{controller}\"\nstart_s = {start}\ntransfer_bytes = 8_000_000\n{resume}\n")
    };
    let text = format!(
        "duration_s = 60\nsample_ms = 10\n[dumbbell]\nrate_mbps = 50\nrtt_ms = 100\nbuffer_bdp = {buffer}\n{changes}\n{}{}",
        flow(0),
        flow(20)
    );
    let scenario = Scenario::read("test", &text, None).unwrap_or_else(|error| panic!("{error}"));
    let logs = Logs::default();
    let outcome = stack.run(&scenario, &mut |spec| logs.open(spec), &|_| false).unwrap();
    for flow in &outcome.flows {
        assert!(flow.completed && flow.sha256.is_some(), "{}: {} is not intact", stack.name(), flow.name);
    }
    let log = String::from_utf8(logs.of(&outcome.flows[1].name).unwrap()).unwrap();
    (outcome, log)
}

/// Seconds from the flow's first data until its goodput over a round-trip time is 90 % of what 50 Mbit/s carry, or until it
/// is complete where it never is.
fn filled_after(flow: &FlowOutcome) -> f64 {
    let (series, window) = (&flow.series, 10);
    let first = series.goodput_mbps.iter().position(|mbps| *mbps > 0.0).expect("something arrived");
    let most = 50.0 * 1150.0 / 1228.0;
    let filled = (window..=series.goodput_mbps.len())
        .find(|end| series.goodput_mbps[end - window..*end].iter().sum::<f64>() / window as f64 >= 0.9 * most);
    filled.map_or(flow.stop_s, |filled| series.time_s[filled - 1]) - series.time_s[first]
}

/// The phases that a log tells of, in order, each with its trigger.
fn phases(log: &str) -> Vec<(String, Option<String>)> {
    let events = log.lines().filter(|line| line.contains("\"quic:careful_resume_phase_updated\""));
    let value = |line: &str, key: &str| {
        let rest = line.split_once(&format!("\"{key}\":\""))?.1;
        Some(rest.split('"').next()?.to_owned())
    };
    events.map(|line| (value(line, "new").unwrap(), value(line, "trigger"))).collect()
}

/// The second transfer over a path fills it in half the time of the first, and loses no more.
///
/// # Panics
/// If it does not.
pub fn fills_in_half_the_time(stack: &dyn Stack) {
    for controller in resuming(stack) {
        let (outcome, log) = two_transfers(stack, controller, "resume = \"peer\"", 1.0, "");
        let [first, second] = [0, 1].map(|flow: usize| filled_after(&outcome.flows[flow]));
        let [lost_first, lost_second] = [0, 1].map(|flow: usize| outcome.flows[flow].packets_lost);
        println!(
            "{} {controller}: {first:.2} s, then {second:.2} s; {lost_first} lost, then {lost_second}",
            stack.name()
        );
        assert!(second <= 0.5 * first, "{} {controller}: {first} s, then {second} s", stack.name());
        assert!(lost_second <= lost_first, "{} {controller}: {lost_first} lost, then {lost_second}", stack.name());
        let names: Vec<String> = phases(&log).into_iter().map(|(phase, _)| phase).collect();
        assert_eq!(names, ["reconnaissance", "unvalidated", "validating", "normal"], "{}", stack.name());
    }
}

/// On a path that shrank tenfold a flow that resumes retreats: it loses less than half of what the path carried, and its transfer takes
/// a tenth longer at most than one that resumed nothing.
///
/// # Panics
/// If it does not.
pub fn retreats_on_a_path_that_shrank(stack: &dyn Stack) {
    let shrunk = "[[dumbbell.change]]\nat_s = 19\nrate_mbps = 5\n";
    for controller in resuming(stack) {
        let (outcome, log) = two_transfers(stack, controller, "resume = \"peer\"", 0.1, shrunk);
        let (unresumed, _) = two_transfers(stack, controller, "", 0.1, shrunk);
        let (flow, other) = (&outcome.flows[1], &unresumed.flows[1]);
        println!("{} {controller}: {} lost, {:?}", stack.name(), flow.packets_lost, phases(&log));
        let retreats = phases(&log).iter().any(|(phase, _)| phase == "safe_retreat");
        assert!(retreats, "{}: {:?}", stack.name(), phases(&log));
        let bdp = 50e6 / 8.0 * 0.1 / 1200.0;
        assert!((flow.packets_lost as f64) < 0.5 * bdp, "{}: {} lost", stack.name(), flow.packets_lost);
        let [took, would] = [flow, other].map(|flow| flow.stop_s - flow.start_s);
        assert!(took <= 1.1 * would, "{}: {took} s, unresumed {would} s", stack.name());
    }
}
