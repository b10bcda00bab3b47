//! Random faults on a real stack in virtual time: whatever happens to its path and its ends, what arrives is what was
//! sent or the connection closes cleanly, it moves again within three probe timeouts of a fault's end, and no state of
//! a controller outlives its connection. The run itself checks all of it.
//!
//! `WINDLASS_SCHEDULES` says how many schedules are run, `WINDLASS_FIRST_SCHEDULE` the seed of the first, by
//! default 0. `WINDLASS_FAULTS` names a file that gets a line for each controller: stack, controller, schedules, how many
//! it survived.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use windlass_controllers::{Algorithm, Time};
use windlass_simulator::scenario::{NATIVE, Scenario};
use windlass_simulator::schedule::{Abilities, Schedule};

use crate::stack::Runner;

/// Failures that are shrunk and shown.
const SHOWN: usize = 3;
/// Time limit of a schedule in real time.
const LONGEST_REAL_RUN: Time = Time::from_micros(120_000_000);

/// A number of the environment, or `default`.
fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}; expected a whole number")),
        Err(_) => default,
    }
}

/// What `stack` runs: the catalogue's controllers for which it reports enough, and its own.
fn controllers(stack: Runner) -> Vec<String> {
    let able = Algorithm::ALL.iter().filter(|entry| stack.provides().contains((entry.default)().needs()));
    let own = stack.natives().iter().map(|name| format!("{NATIVE}{name}"));
    able.map(|entry| entry.name.to_owned()).chain(own).collect()
}

/// Runs a schedule.
///
/// # Errors
/// The rule that was broken.
pub fn examine(stack: Runner, schedule: &Schedule) -> Result<(), String> {
    examine_until(stack, schedule, &|_| false)
}

/// The same, unless `stop` says that it took too long.
fn examine_until(stack: Runner, schedule: &Schedule, stop: &(dyn Fn(Time) -> bool + Sync)) -> Result<(), String> {
    let scenario = Scenario::read("schedule", &schedule.to_toml(), None).map_err(|error| format!("{error:?}"))?;
    let run = catch_unwind(AssertUnwindSafe(|| stack.run(&scenario, None, stop)));
    let outcome = match run {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it says no more");
            return Err(format!("a panic: {text}"));
        }
    };
    let Some(flow) = outcome.flows.first() else { return Err("there is no flow".to_owned()) };
    if flow.sha256.is_none() {
        return Err("nothing says that what arrived is what was sent".to_owned());
    }
    if !flow.completed && !schedule.vanishes() {
        return Err(format!("not done after {:.0} s at {:.6} Mbit/s", flow.stop_s, flow.goodput_mbps));
    }
    Ok(())
}

/// Shrinks a schedule that fails for `reason` to one that fails in the same way: it does not move after a fault, or
/// anything else.
#[must_use]
pub fn shrink(stack: Runner, schedule: &Schedule, reason: &str) -> Schedule {
    let rests = |reason: &str| reason.contains("nothing arrived for");
    schedule.shrink(&mut |simpler| examine(stack, simpler).is_err_and(|other| rests(&other) == rests(reason)))
}

/// What failed, what is left of it once it is shrunk, and the scenario file that repeats it.
#[must_use]
pub fn explain(stack: Runner, schedule: &Schedule, reason: &str) -> String {
    let shrunk = shrink(stack, schedule, reason);
    let why = examine(stack, &shrunk).err().unwrap_or_default();
    let mut text = String::new();
    let _ = write!(
        text,
        "schedule {} of {} on {}: {reason}\nleft of its {} faults: {}. This scenario file repeats it: {why}\n\n{}",
        schedule.seed,
        schedule.controller,
        stack.name(),
        schedule.faults.len(),
        shrunk.faults.len(),
        shrunk.to_toml()
    );
    text
}

/// A schedule that a stack is known not to survive, by a fault of its own.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its seed.
    pub seed: u64,
    /// The controller it is run with.
    pub controller: &'static str,
    /// The reason that is known.
    pub reason: &'static str,
}

/// Runs `schedules` schedules on `stack` in virtual time, each with one of the controllers in turn, and prints how many
/// it survived. Those of `known` count as not survived.
///
/// # Panics
/// It did not survive another, or fails one of `known` in another way.
pub fn survive(stack: Runner, schedules: u64, abilities: Abilities, known: &[Known]) {
    let schedules = number("WINDLASS_SCHEDULES", schedules);
    let first = number("WINDLASS_FIRST_SCHEDULE", 0);
    let controllers = controllers(stack);
    let seeds: Vec<u64> = (first..first + schedules).collect();
    let results = seeds.into_par_iter().map(|seed| {
        let controller = &controllers[(seed % controllers.len() as u64) as usize];
        let schedule = Schedule::random(seed, controller, abilities);
        let result = examine(stack, &schedule);
        (schedule, result)
    });
    conclude(stack, &results.collect::<Vec<_>>(), known, explain);
}

/// The same in real time over UDP sockets, one after another, with each of `controllers` in turn. Only the path has
/// faults, and each run may take two minutes. One that fails is shown as it is: in real time the next may not fail.
/// `WINDLASS_LIVE_SCHEDULES` says how many are run.
///
/// # Panics
/// It did not survive one.
pub fn survive_live(stack: Runner, schedules: u64, controllers: &[&str]) {
    let schedules = number("WINDLASS_LIVE_SCHEDULES", schedules);
    let abilities = Abilities { rebinding: false, clock_jumps: false };
    let any = (0..).map(|seed| {
        let controller = controllers[(seed % controllers.len() as u64) as usize];
        Schedule::random(seed, controller, abilities)
    });
    let results = any.filter(|schedule| !schedule.vanishes()).take(schedules as usize).map(|schedule| {
        let result = examine_until(stack, &schedule, &|now| now > LONGEST_REAL_RUN);
        (schedule, result)
    });
    conclude(stack, &results.collect::<Vec<_>>(), &[], |stack, schedule, reason| {
        format!(
            "schedule {} of {} on {}: {reason}\n\n{}",
            schedule.seed,
            schedule.controller,
            stack.name(),
            schedule.to_toml()
        )
    });
}

/// Prints and files how many schedules were survived, and shows those that were not as `explain` does.
fn conclude(
    stack: Runner,
    results: &[(Schedule, Result<(), String>)],
    known: &[Known],
    explain: impl Fn(Runner, &Schedule, &str) -> String,
) {
    assert!(!results.is_empty(), "no schedule was run");
    let mut rows: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (schedule, result) in results {
        let (tried, survived) = rows.entry(&schedule.controller).or_default();
        *tried += 1;
        *survived += u64::from(result.is_ok());
    }
    if let Ok(path) = std::env::var("WINDLASS_FAULTS") {
        let mut file = std::fs::File::options().append(true).create(true).open(&path).unwrap();
        for (controller, (tried, survived)) in &rows {
            writeln!(file, "{}\t{controller}\t{tried}\t{survived}", stack.name()).unwrap();
        }
    }
    let failed: Vec<(&Schedule, &String)> =
        results.iter().filter_map(|(schedule, result)| Some((schedule, result.as_ref().err()?))).collect();
    println!("{}: {} of {} schedules survived", stack.name(), results.len() - failed.len(), results.len());
    for (schedule, reason) in &failed {
        println!("{} {}: {reason}", schedule.seed, schedule.controller);
    }
    let known = |schedule: &Schedule, reason: &str| {
        let same = |known: &&Known| known.seed == schedule.seed && known.controller == schedule.controller;
        known.iter().find(same).is_some_and(|known| reason.contains(known.reason))
    };
    let (expected, failed): (Vec<_>, Vec<_>) =
        failed.into_iter().partition(|(schedule, reason)| known(schedule, reason));
    println!("of those not survived {} are known", expected.len());
    let shown: Vec<String> =
        failed.iter().take(SHOWN).map(|(schedule, reason)| explain(stack, schedule, reason)).collect();
    assert!(failed.is_empty(), "{} schedules failed\n\n{}", failed.len(), shown.join("\n\n"));
}
