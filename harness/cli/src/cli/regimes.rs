//! `windlass regimes`: controllers over a wide grid of paths, each run held against bounds from theory.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use windlass_adapter::NamedController;

use super::batch::{carry_out_asked, total};
use super::error::print;
use super::text::{Align, aligned};
use super::{CliError, choice};
use crate::report::regimes;
use windlass_lab::grid::{self, Store};
use windlass_lab::output::replace;
use windlass_lab::regimes::{
    AXES, Assessment, Case, Effort, Judged, Kind, Measured, Plan, REFERENCE, Results, Row, judge, measure, table,
};
use windlass_stacks::stack::Runner;

/// Run controllers over a wide grid of paths and hold each run against bounds from theory
///
/// A regime is rate, RTT, buffer, flows, path and packet size. Runs that are done are kept, so that an interrupted
/// command goes on where it stopped.
#[derive(Debug, clap::Args)]
pub(super) struct Regimes {
    /// Controllers, separated by commas; `native:cubic` is a stack's own [default: the whole catalogue]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Stacks, separated by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',', default_value = "sim")]
    stack: Vec<String>,
    /// Only regimes with these values: rate=20M,rtt=50ms. One whose six values are given is run in any case
    #[arg(long, value_name = "VALUES")]
    only: Option<String>,
    /// A cover of all pairs of values in short runs: a minute on two cores for the whole catalogue
    #[arg(long)]
    quick: bool,
    /// A cover of all pairs of values in runs of a few thousand packets, for real stacks
    #[arg(long, conflicts_with = "quick")]
    brief: bool,
    /// Print the scenario of the one regime that --only names, for `windlass run`, and run nothing
    #[arg(long, requires = "only")]
    scenario: bool,
    /// Fail if more runs than this are outside of a bound that the controller's page does not tell of
    #[arg(long, value_name = "N")]
    check: Option<usize>,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Directory for the runs, regimes.csv and regimes.html
    #[arg(long, value_name = "DIR", default_value = "target/windlass/regimes")]
    out: PathBuf,
}

/// Controllers whose maps are printed; of more there is a line each.
const MAPS: usize = 4;

impl Regimes {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let controllers = match choice::controllers(&self.names)? {
            none if none.is_empty() => NamedController::all().map(|entry| entry.name.to_owned()).collect(),
            some => some,
        };
        let stacks = choice::stacks(&self.stack)?;
        let wanted = match &self.only {
            Some(only) => windlass_lab::regimes::Regime::parse(only)
                .map_err(|error| CliError::Usage(format!("--only: {error}")))?,
            None => [None; 6],
        };
        let effort = match (self.brief, self.quick) {
            (true, _) => Effort::Brief,
            (_, true) => Effort::Quick,
            _ => Effort::Full,
        };
        let plan = Plan::new(effort, &wanted);
        if self.scenario {
            return self.print_scenario(&plan);
        }
        if plan.cases.is_empty() {
            return Err(CliError::Usage(format!(
                "no regime of the plan has {}; name a value for each of {}",
                self.only.as_deref().unwrap_or_default(),
                AXES.map(|axis| axis.name).join(", ")
            )));
        }
        let results = self.carry_out(&plan, &controllers, &stacks)?;
        let csv = self.out.join("regimes.csv");
        replace(&csv, table(&results).csv()?)?;
        let html = self.out.join("regimes.html");
        replace(&html, regimes::page(&results, effort))?;
        let rows = &results.rows;
        print(&if controllers.len() * stacks.len() > MAPS { lines(rows) } else { maps(rows, effort) })?;
        print(&format!("report: {}; every number: {}\n", html.display(), csv.display()))?;
        let outside =
            rows.iter().flat_map(|row| &row.judged).filter(|(_, judged)| judged.assessment == Assessment::Outside);
        match outside.count() {
            n if self.check.is_some_and(|most| n > most) => Err(CliError::Failed(format!(
                "{n} runs are outside of their bounds, at most {} may be",
                self.check.unwrap_or(0)
            ))),
            _ => Ok(()),
        }
    }

    fn print_scenario(&self, plan: &Plan) -> Result<(), CliError> {
        match &plan.cases[..] {
            [Case { duration: Ok(duration), regime }] => print(&regime.scenario(*duration)),
            [Case { duration: Err(reason), .. }] => Err(CliError::Usage(format!("it is not run: {reason}"))),
            cases => Err(CliError::Usage(format!("{} regimes have these values; name all six", cases.len()))),
        }
    }

    /// Runs what is missing, the reference on each stack included, and judges all of it.
    fn carry_out(&self, plan: &Plan, controllers: &[String], stacks: &[Runner]) -> Result<Results, CliError> {
        let store: Store<Measured> = Store::open(&self.out)?;
        let mut cells: Vec<grid::Cell> = Vec::new();
        let mut cases: HashMap<String, &Case> = HashMap::new();
        for stack in stacks {
            for controller in controllers.iter().map(String::as_str).chain([REFERENCE]) {
                for case in &plan.cases {
                    let Some(cell) = case.cell(controller, stack.name()) else { continue };
                    cases.insert(cell.scenario.clone(), case);
                    cells.push(cell);
                }
            }
        }
        let tally =
            carry_out_asked(&cells, &cases, &store, self.jobs, |cell, case, stop| measure(cell, &case.regime, stop))?;
        print(&total(&tally))?;
        let read = |case: &Case, controller: &str, stack: &Runner| {
            let cell = case.cell(controller, stack.name())?;
            store.get(&cell.key()).map(|record| (record.read, record.cpu_s))
        };
        let mut rows = Vec::new();
        for stack in stacks {
            let references: Vec<Option<Measured>> =
                plan.cases.iter().map(|case| read(case, REFERENCE, stack).map(|(read, _)| read)).collect();
            for controller in controllers {
                let of = |(case, reference): (&Case, &Option<Measured>)| {
                    let own = read(case, controller, stack);
                    let judged =
                        judge((controller, stack.name()), case, own.as_ref().map(|(read, _)| read), reference.as_ref());
                    ((case.clone(), own.map(|(read, _)| read)), judged)
                };
                let (runs, judged): (Vec<_>, Vec<Judged>) = plan.cases.iter().zip(&references).map(of).unzip();
                let judged = runs.into_iter().zip(judged).collect();
                rows.push(Row { controller: controller.clone(), stack: stack.name().to_owned(), judged });
            }
        }
        Ok(Results { rows })
    }
}

/// How many of each assessment, the worst last.
fn counts(row: &Row) -> [usize; 4] {
    Assessment::ALL.map(|assessment| row.judged.iter().filter(|(_, judged)| judged.assessment == assessment).count())
}

/// A line for each controller and stack.
fn lines(rows: &[Row]) -> String {
    use Align::{Left, Right};
    let mut heads = vec![("controller", Left), ("stack", Left)];
    heads.extend(Assessment::ALL.iter().rev().map(|assessment| (assessment.name(), Right)));
    heads.push(("outside by", Left));
    let line = |row: &Row| {
        let mut by: BTreeMap<Kind, usize> = BTreeMap::new();
        let outside = row.judged.iter().filter(|(_, judged)| judged.assessment == Assessment::Outside);
        for broken in outside.flat_map(|(_, judged)| &judged.broken).filter(|broken| broken.known_limit.is_none()) {
            *by.entry(broken.kind).or_default() += 1;
        }
        let by: Vec<String> = by.iter().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
        let counted = counts(row).into_iter().rev().map(|count| count.to_string());
        [row.controller.clone(), row.stack.clone()].into_iter().chain(counted).chain([by.join(", ")]).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(line).collect();
    aligned(&heads, &rows).iter().map(|line| format!("{line}\n")).collect()
}

/// The sign of an assessment in a map.
fn sign(assessment: Assessment) -> char {
    match assessment {
        Assessment::NotRun => '-',
        Assessment::Inside => '.',
        Assessment::KnownLimit => 'k',
        Assessment::Outside => 'X',
    }
}

/// The map of each controller, and what is outside, and its known limits.
fn maps(rows: &[Row], effort: Effort) -> String {
    let [rates, rtts, buffers] = [AXES[0].values, AXES[1].values, AXES[2].values];
    let mut text = format!(
        "rate from left to right, RTT from top to bottom, in each field buffers of {}; the worst of all flows, paths and packets:\n\
        . inside, k known limit, X outside, - not run\n",
        buffers.join(", ")
    );
    for row in rows {
        let [not_run, inside, known, outside] = counts(row);
        text.push_str(&format!(
            "\n{} on {}: {outside} outside, {known} known limits, {inside} inside, {not_run} not run\n{:8}",
            row.controller, row.stack, ""
        ));
        rates.iter().for_each(|rate| text.push_str(&format!("{rate:<7}")));
        text.push('\n');
        for (y, rtt) in rtts.iter().enumerate() {
            let mut line = format!("{rtt:>6}  ");
            for x in 0..rates.len() {
                for buffer in 0..buffers.len() {
                    let here = row
                        .judged
                        .iter()
                        .filter(|((case, _), _)| case.regime.0[..3] == [x as u8, y as u8, buffer as u8]);
                    line.push(here.map(|(_, judged)| judged.assessment).max().map_or(' ', sign));
                }
                line.push_str("  ");
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push_str(&broken(row, effort));
    }
    text
}

/// What of a controller is outside, and its known limits, with the command that runs it again.
fn broken(row: &Row, effort: Effort) -> String {
    let mut text = String::new();
    for ((case, _), judged) in &row.judged {
        if matches!(judged.assessment, Assessment::Inside | Assessment::NotRun) {
            continue;
        }
        text.push_str(&format!("{}: {}\n", judged.assessment.name(), command(row, case, effort)));
        if !judged.reason.is_empty() {
            text.push_str(&format!("    {}\n", judged.reason));
        }
        for broken in &judged.broken {
            let rule = if broken.kind.is_least() { "least" } else { "most" };
            let value = broken.value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
            text.push_str(&format!(
                "    {} {value}, at {rule} {:.4}: {}\n",
                broken.kind.name(),
                broken.limit,
                broken.known_limit.unwrap_or(&broken.source)
            ));
        }
    }
    text
}

/// The command that runs `case` again.
fn command(row: &Row, case: &Case, effort: Effort) -> String {
    let stack = if row.stack == Runner::SIMULATOR.name() { String::new() } else { format!(" --stack {}", row.stack) };
    format!("windlass regimes {}{stack}{} --only {}", row.controller, effort.option(), case.regime)
}
