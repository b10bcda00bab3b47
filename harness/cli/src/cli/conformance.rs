//! `windlass conformance`: the same controllers on every stack, compared.

use std::path::{Path, PathBuf};

use windlass_controllers::ConfiguredController;

use super::CliError;
use super::batch::{Batch, failures};
use super::choice;
use super::error::print;
use super::markdown::rendered;
use super::text::width;
use windlass_lab::conformance::{CONTROLLERS, SCENARIOS, compare, page, tables};
use windlass_lab::output::{Folder, Owned};
use windlass_lab::results::Results;
use windlass_stacks::stack::Runner;

/// Run the same controllers on every stack and compare goodput, RTT and loss
#[derive(Debug, clap::Args)]
pub(super) struct Compare {
    /// Controllers, separated by commas. Where a stack lacks a signal one needs, its
    /// documented fallback is compared too [default: reno,cubic,vegas,nf-tcp,ledbat]
    #[arg(long, short, value_name = "NAME")]
    controller: Vec<String>,
    /// Stacks, separated by commas; the others are compared with the first
    /// [default: all]
    #[arg(long, value_name = "STACK")]
    stack: Vec<String>,
    /// Scenarios, built-in names or files, separated by commas
    /// [default: clean-link,random-loss,delayed-acks,delayed-acks-loss,two-flows]
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    scenario: Vec<String>,
    /// How often each combination is run: with the seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Differences of more than this many percent are listed
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    limit: f64,
    /// Write conformance.json, conformance.csv, distances.csv and conformance.md into this
    /// directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print conformance.json instead of tables
    #[arg(long)]
    json: bool,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
}

impl Compare {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let stacks = match choice::stacks(&self.stack)? {
            none if none.is_empty() => Runner::all(),
            some => some,
        };
        let stacks: Vec<Runner> = stacks.into_iter().map(Runner::preferred).collect();
        if stacks.len() < 2 {
            return Err(CliError::Usage("--stack: one stack cannot be compared; give two or more".to_owned()));
        }
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let typed = if self.controller.is_empty() { owned(CONTROLLERS) } else { self.controller.clone() };
        let controllers = with_fallbacks(choice::controllers(&typed)?, &stacks)?;
        let names = if self.scenario.is_empty() { owned(SCENARIOS) } else { self.scenario.clone() };
        let sources = choice::scenarios(&names)?;
        let batch = |seed| Batch {
            title: format!("Conformance with seed {seed}"),
            sources: &sources,
            controllers: &controllers,
            stacks: &stacks,
            seed: Some(seed),
            jobs: self.jobs,
            logs: None,
        };
        let scenarios = batch(1).check(false)?;
        let out = self.out.as_deref().map(|out| Folder::owned::<&Path>(out, &OWNED, &[])).transpose()?;
        let seeds = (1..=self.seeds).map(|seed| batch(seed).run(&scenarios, None));
        let seeds: Vec<Results> = seeds.collect::<Result<_, _>>()?;
        let conformance = compare(&seeds);
        let json = serde_json::to_string_pretty(&conformance)
            .map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
        if let Some(out) = out {
            for table in tables(&conformance) {
                out.write(&format!("{}.csv", table.name), table.csv()?)?;
            }
            out.write("conformance.md", page(&conformance, self.limit, 2))?;
            out.write(JSON, &json)?;
            out.finish()?;
        }
        let text = page(&conformance, self.limit, 2);
        print(&if self.json { json + "\n" } else { rendered(&text, "", width()) })?;
        seeds.iter().try_for_each(failures)
    }
}

const JSON: &str = "conformance.json";

const OWNED: Owned<'_> = Owned {
    marker: JSON,
    is_marker: &Path::is_file,
    is_entry: &|path| {
        let name = path.file_name().unwrap_or_default();
        [JSON, "conformance.csv", "distances.csv", "conformance.md"].iter().any(|ours| name == *ours)
    },
};

/// `names`, each followed by its fallback if a stack lacks its signals and can run the
/// fallback.
fn with_fallbacks(names: Vec<String>, stacks: &[Runner]) -> Result<Vec<String>, CliError> {
    let mut all = Vec::new();
    for name in names {
        // The stacks' own controllers are compared as they are.
        let algorithm = choice::is_ours(&name).then(|| choice::controller(&name)).transpose()?;
        all.push(name.clone());
        let Some(algorithm) = algorithm.filter(|algorithm| algorithm.fallback().is_some()) else { continue };
        let text = windlass_adapter::with_fallback(&name);
        let Ok(fallback) = choice::controller(&text) else { continue };
        let helped = |stack: &Runner| {
            !stack.provides().contains(algorithm.needs()) && stack.provides().contains(fallback.needs())
        };
        if stacks.iter().any(helped) && !all.contains(&text) {
            all.push(text);
        }
    }
    Ok(all)
}
