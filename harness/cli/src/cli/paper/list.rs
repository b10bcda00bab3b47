//! `windlass paper list`: the experiments of the documents.

use std::fmt::Write;

use super::super::error::print;
use super::CliError;
use windlass_papers::documents::DOCUMENTS;
use windlass_papers::{Cell, Experiment, Scale};

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
