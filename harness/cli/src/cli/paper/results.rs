//! The results that `windlass paper run` wrote, read for tables.

use std::path::Path;

use windlass_papers::{ExperimentResult, Scale, documents};
use windlass_stacks::stack::Runner;

use super::run::QUICK_REPETITIONS;
use super::{CliError, place, report};

/// The result of an experiment in `out`, of full runs if there is one, else of quick ones; `None` if it
/// was not run.
pub(super) fn result(id: &str, out: &Path) -> Result<Option<ExperimentResult>, CliError> {
    for scale in [Scale::Full, Scale::Quick] {
        let path = out.join(place(scale, Runner::SIMULATOR.name())).join(format!("{id}.json"));
        if path.is_file() {
            return report::read(&path).map(Some);
        }
    }
    Ok(None)
}

/// The command that made a result, and what it leaves out.
pub(super) fn origin(result: &ExperimentResult) -> String {
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
pub(super) fn is_single(result: &ExperimentResult) -> bool {
    let planned = documents::experiment(&result.id).map_or(1, |(_, experiment)| experiment.plan.repetitions);
    planned > 1 && result.cells.iter().all(|cell| cell.seeds.len() == 1)
}

/// A table in Markdown.
pub(super) fn markdown(heads: &[String], rows: &[Vec<String>]) -> String {
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
