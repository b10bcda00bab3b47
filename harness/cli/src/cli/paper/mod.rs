//! `windlass paper`: the documents' own evaluation scenarios, their list, the pages about their results, and what
//! tables read of these.

mod block;
mod claims;
mod run;
mod table;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::CliError;
use super::error::print;
use crate::report::papers;
use run::{QUICK_REPETITIONS, results};
use windlass_lab::output::replace;
use windlass_papers::documents::{self, DOCUMENTS};
use windlass_papers::{Cell, Experiment, ExperimentResult, SCHEMA, Scale};
use windlass_stacks::stack::Runner;

/// Run the documents' own evaluation scenarios and report the results
#[derive(Debug, clap::Args)]
pub(super) struct Paper {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(List),
    Run(run::Run),
    Report(Report),
    Table(block::Table),
    Fill(block::Fill),
}

/// Default of `--out`.
const OUT: &str = "target/windlass/papers";

/// The directory below `--out` for runs of `scale` by `stack`.
fn place(scale: Scale, stack: &str) -> String {
    match stack {
        "sim" => scale.name().to_owned(),
        stack => format!("{}-{stack}", scale.name()),
    }
}

impl Paper {
    pub(super) fn run(&self) -> Result<(), CliError> {
        match &self.command {
            Command::List(command) => command.run(),
            Command::Run(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Table(command) => command.run(),
            Command::Fill(command) => command.run(),
        }
    }
}

/// List the experiments of the documents
#[derive(Debug, clap::Args)]
pub(super) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(&self) -> Result<(), CliError> {
        if self.json {
            return print(&json()?);
        }
        let mut text = String::new();
        for document in DOCUMENTS {
            let _ = writeln!(text, "{}: {}\n", document.name, document.title);
            for experiment in document.experiments {
                let _ = writeln!(
                    text,
                    "  {:<7} {}\n          varied: {}\n          recovery: {}: {}",
                    experiment.id,
                    experiment.title,
                    experiment.varied,
                    experiment.transport.recovery.join(", "),
                    experiment.transport.why
                );
                let (runs, packets) = effort(experiment);
                let _ = writeln!(
                    text,
                    "          {runs} runs, up to {:.3} million packets; {}",
                    packets / 1e6,
                    experiment.spec
                );
            }
            text.push('\n');
        }
        print(&text)
    }
}

/// Runs of an experiment in full, and packets the bottlenecks could send in them.
fn effort(experiment: &Experiment) -> (u64, f64) {
    let plan = &experiment.plan;
    let cells = (plan.cells)(Scale::Full);
    let repetitions = plan.repetitions;
    (cells.len() as u64 * repetitions, cells.iter().map(Cell::packets).sum::<f64>() * repetitions as f64)
}

fn json() -> Result<String, CliError> {
    let rows: Vec<serde_json::Value> = DOCUMENTS
        .iter()
        .flat_map(|document| document.experiments.iter().map(move |experiment| (document, experiment)))
        .map(|(document, experiment)| {
            let (runs, packets) = effort(experiment);
            serde_json::json!({
                "document": document.name, "id": experiment.id, "title": experiment.title,
                "spec": experiment.spec, "varied": experiment.varied,
                "recovery": experiment.transport.recovery, "recovery_why": experiment.transport.why,
                "runs": runs, "packets": packets,
            })
        })
        .collect();
    let text =
        serde_json::to_string_pretty(&rows).map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
    Ok(text + "\n")
}

/// Write an HTML page for each document with results
#[derive(Debug, clap::Args)]
pub(super) struct Report {
    /// Documents, separated by commas [default: all that have results]
    #[arg(value_name = "DOCUMENT", value_delimiter = ',')]
    documents: Vec<String>,
    /// Report the results of quick runs
    #[arg(long)]
    quick: bool,
    /// The directory that `windlass paper run` wrote to
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

impl Report {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let scale = if self.quick { Scale::Quick } else { Scale::Full };
        let dir = self.out.join(place(scale, Runner::SIMULATOR.name()));
        if let Some(name) = self.documents.iter().find(|name| documents::named(name).is_none()) {
            let names: Vec<&str> = DOCUMENTS.iter().map(|document| document.name).collect();
            return Err(CliError::Usage(format!("unknown document {name:?}; expected {}", names.join(", "))));
        }
        let mut pages = String::new();
        for document in DOCUMENTS {
            if !self.documents.is_empty() && !self.documents.iter().any(|name| name == document.name) {
                continue;
            }
            let files = results(&dir, document);
            if files.is_empty() {
                continue;
            }
            let results = files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            let mut others = Vec::new();
            for stack in Runner::builtin().iter().skip(1).map(|stack| stack.name()) {
                let files = run::results(&self.out.join(place(scale, stack)), document);
                if !files.is_empty() {
                    others.push((stack, files.iter().map(read).collect::<Result<Vec<_>, _>>()?));
                }
            }
            let path = dir.join(format!("{}.html", document.name));
            replace(&path, papers::page(document, scale, &results, &others))?;
            pages.push_str(&format!("{}\n", path.display()));
        }
        if pages.is_empty() {
            let quick = if self.quick { " --quick" } else { "" };
            let dir = dir.display();
            return Err(CliError::Usage(format!("{dir} has no results; `windlass paper run ID{quick}` writes them")));
        }
        print(&pages)
    }
}

/// The result in a file.
fn read(path: &PathBuf) -> Result<ExperimentResult, CliError> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| CliError::Failed(format!("cannot read {shown}: {error}")))?;
    let result: ExperimentResult = serde_json::from_str(&text)
        .map_err(|error| CliError::Failed(format!("{shown} is not the result of an experiment: {error}")))?;
    if result.schema != SCHEMA {
        return Err(CliError::Failed(format!("{shown} has schema {:?}; expected {SCHEMA:?}", result.schema)));
    }
    Ok(result)
}

/// What `windlass paper run` wrote, for tables: the result of an experiment in `out`, of full runs if there is one, else
/// of quick ones; `None` if it was not run.
fn result(id: &str, out: &Path) -> Result<Option<ExperimentResult>, CliError> {
    for scale in [Scale::Full, Scale::Quick] {
        let path = out.join(place(scale, Runner::SIMULATOR.name())).join(format!("{id}.json"));
        if path.is_file() {
            return read(&path).map(Some);
        }
    }
    Ok(None)
}

/// The command that made a result, and what it leaves out.
fn origin(result: &ExperimentResult) -> String {
    let (mut command, mut parts) = (format!("windlass paper run {}", result.id), Vec::new());
    let planned = documents::experiment(&result.id).map(|(_, experiment)| &experiment.plan);
    let repetitions = result.cells.iter().map(|cell| cell.seeds.len() as u64).min().unwrap_or(0);
    if result.scale == Scale::Quick {
        command.push_str(" --quick");
        parts.push("a tenth of the document's times, not to be compared with it".to_owned());
    }
    for only in &result.only {
        command.push_str(&format!(" --only {only}"));
    }
    if let Some(plan) = planned {
        let all = (plan.cells)(result.scale).len();
        if result.cells.len() < all {
            parts.push(format!("{} of {all} cells", result.cells.len()));
        }
        if repetitions < plan.repetitions {
            parts.push(format!("{repetitions} of {} runs a cell", plan.repetitions));
        }
        let most = if result.scale == Scale::Quick { QUICK_REPETITIONS } else { u64::MAX };
        if repetitions != plan.repetitions.min(most) {
            command.push_str(&format!(" --reps {repetitions}"));
        }
    }
    let runs = if repetitions == 1 { "run" } else { "runs" };
    if parts.is_empty() {
        format!("`{command}`: full times, {repetitions} {runs} a cell")
    } else {
        let full = if result.scale == Scale::Full { "full times, " } else { "" };
        format!("`{command}`, **a part of it**: {full}{}", parts.join(", "))
    }
}

/// Whether each cell was run once where chance asks for more: such a result decides nothing.
fn is_single(result: &ExperimentResult) -> bool {
    let planned = documents::experiment(&result.id).map_or(1, |(_, experiment)| experiment.plan.repetitions);
    planned > 1 && result.cells.iter().all(|cell| cell.seeds.len() == 1)
}

/// A table in Markdown.
fn markdown(heads: &[String], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule: Vec<String> =
        heads.iter().enumerate().map(|(i, _)| if i == 0 { "---" } else { "---:" }.to_owned()).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{}{body}\n", line(heads), line(&rule))
}
