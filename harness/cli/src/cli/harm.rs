//! `windlass harm`: what every controller does to every other.

use std::collections::HashMap;
use std::path::PathBuf;

use super::batch::{carry_out_asked, total};
use super::error::print;
use super::{CliError, choice};
use crate::report::harm;
use windlass_adapter::NamedController;
use windlass_lab::grid::{Cell, Store};
use windlass_lab::harm::{DEPLOYED, PLACES, Results, csv, pair, solo};
use windlass_lab::output::replace;
use windlass_lab::rfc9743::{Measured, measure};
use windlass_stacks::stack::Runner;

/// Measure the harm that every controller does to every other, to goodput and RTT
///
/// Two flows over 8 and 50 Mbit/s, 50 ms, buffers of one and four BDP, with tail drop and FQ-CoDel, beside what each has alone. Says
/// of each controller whether it does no more harm to Reno and CUBIC, or those of --against, than they do to each other.
/// Runs that are done are kept, so that an interrupted command goes on where it stopped.
#[derive(Debug, clap::Args)]
pub(super) struct Harm {
    /// Controllers, separated by commas; native:NAME is a stack's own [default: all ours]. Those of --against are always among them
    #[arg(value_name = "NAME")]
    controllers: Vec<String>,
    /// Controllers that are deployed, separated by commas: their harm to each other is the bound, and pairs without one of them are not
    /// run [default: reno,cubic, and every pair is run]
    #[arg(long, value_name = "NAME")]
    against: Vec<String>,
    /// Stacks, separated by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',', default_value = "sim")]
    stack: Vec<String>,
    /// Print the sentences as in docs/harm.md
    #[arg(long)]
    markdown: bool,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Directory for the runs, harm.csv and harm.html
    #[arg(long, value_name = "DIR", default_value = "target/windlass/harm")]
    out: PathBuf,
}

impl Harm {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let stacks = choice::stacks(&self.stack)?;
        let mut controllers = choice::controllers(&self.controllers)?;
        if controllers.is_empty() {
            controllers = NamedController::all().map(|entry| entry.name.to_owned()).collect();
        }
        let mut against = choice::controllers(&self.against)?;
        if against.is_empty() {
            against = DEPLOYED.map(str::to_owned).into();
        }
        let missing: Vec<String> = against.iter().filter(|name| !controllers.contains(name)).cloned().collect();
        controllers.splice(0..0, missing);
        let results = self.carry_out(&controllers, &against, &stacks)?;
        let table = self.out.join("harm.csv");
        replace(&table, csv(&results))?;
        let html = self.out.join("harm.html");
        replace(&html, harm::page(&results))?;
        print(&results.iter().map(|one| self.sentences(one)).collect::<String>())?;
        if self.markdown {
            return Ok(());
        }
        print(&format!("figure: {}; every number: {}\n", html.display(), table.display()))
    }

    fn sentences(&self, results: &Results) -> String {
        let of = |(number, name): (usize, &String)| {
            let on = if results.stack == "sim" { String::new() } else { format!(" on {}", results.stack) };
            let sentence = results.sentence(number);
            if self.markdown { format!("* `{name}`{on}: {sentence}\n") } else { format!("{name}{on}: {sentence}\n") }
        };
        results.controllers.iter().enumerate().map(of).collect()
    }

    /// Runs what is missing and gathers all of it, by stack.
    fn carry_out(
        &self,
        controllers: &[String],
        against: &[String],
        stacks: &[Runner],
    ) -> Result<Vec<Results>, CliError> {
        let store: Store<Measured> = Store::open(&self.out)?;
        // What is wanted, by stack, place and the numbers of one or two controllers.
        let mut wanted = Vec::new();
        let mut cells: Vec<Cell> = Vec::new();
        let mut packet_times: HashMap<String, f64> = HashMap::new();
        for (on, stack) in stacks.iter().enumerate() {
            for (place, at) in PLACES.iter().enumerate() {
                for (number, name) in controllers.iter().enumerate() {
                    let asked = |other: &String| {
                        self.against.is_empty() || [name, other].iter().any(|one| against.contains(one))
                    };
                    let others = controllers.iter().enumerate().skip(number).filter(|(_, other)| asked(other));
                    let pairs = others.map(|(other, beside)| (Some(other), pair(at, name, beside, stack.name())));
                    for (other, cell) in [(None, solo(at, name, stack.name()))].into_iter().chain(pairs) {
                        wanted.push(((on, place, number, other), cell.key()));
                        packet_times.insert(cell.scenario.clone(), at.packet_time());
                        cells.push(cell);
                    }
                }
            }
        }
        let tally = carry_out_asked(&cells, &packet_times, &store, self.jobs, |cell, packet_s, stop| {
            measure(cell, *packet_s, stop)
        })?;
        if !self.markdown {
            print(&total(&tally))?;
        }
        let of = |stack: &Runner| Results {
            stack: stack.name().to_owned(),
            controllers: controllers.to_vec(),
            against: against.to_vec(),
            ..Results::default()
        };
        let mut gathered: Vec<Results> = stacks.iter().map(of).collect();
        for ((on, place, number, other), key) in wanted {
            let Some(record) = store.get(&key) else { continue };
            let Results { solo, pairs, .. } = &mut gathered[on];
            match other {
                None => drop(solo.insert((place, number), record.read)),
                Some(other) => drop(pairs.insert((place, number, other), record.read)),
            }
        }
        Ok(gathered)
    }
}
