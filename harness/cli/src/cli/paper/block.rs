//! Tables in Markdown, and the pages that hold them between marks.
//!
//! `<!-- paper table EV-5; M9; across rtt -->` begins a block and `<!-- end -->` ends it; what stands between is
//! made from results. A table says which command made its numbers, and whether that was all of the experiment:
//! full runs are taken where there are any, quick ones else.

use std::path::{Path, PathBuf};

use super::super::error::print;
use super::run::QUICK_REPETITIONS;
use super::table::{digits, number};
use super::{CliError, OUT, place, report};
use windlass_lab::output::replace;
use windlass_papers::documents::{self, DOCUMENTS};
use windlass_papers::{
    Answer, CellResult, Claim, Document, ExperimentResult, ResultCache, Scale, TrialRuns, run_trial, trial_packets,
};
use windlass_stacks::stack::Runner;

const BEGIN: &str = "<!-- paper ";
const END: &str = "<!-- end -->";
/// How the text begins that stands in a block without results.
const MISSING: &str = "Not run:";
/// The directory of trials below the one for results.
const TRIALS: &str = "trials";

/// Print a table of results as Markdown: `EV-5; M9, M6; across rtt; only controller=fast`, `claims`, or `mutants`, which
/// makes the trials
#[derive(Debug, clap::Args)]
pub(super) struct Table {
    /// An experiment, its quantities, the setting whose values are columns, settings that cells
    /// have; or `claims`, or `mutants` with ids
    what: String,
    /// The directory that `windlass paper run` wrote to
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

/// Make the tables of pages anew, from results
#[derive(Debug, clap::Args)]
pub(super) struct Fill {
    /// Pages with `<!-- paper table … -->` and `<!-- end -->`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Change nothing; fail if a table of an experiment that there are results of would be another
    #[arg(long)]
    check: bool,
    /// The directory that `windlass paper run` wrote to
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

impl Table {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let text = match self.what.split_once(' ') {
            _ if self.what == "claims" => claims(&self.out)?,
            Some(("mutants", ids)) => {
                try_claims(&ids.split([',', ' ']).filter(|id| !id.is_empty()).collect::<Vec<_>>(), &self.out)?
            }
            _ if self.what == "mutants" => try_claims(&[], &self.out)?,
            _ => table(&self.what, &self.out)?.ok_or_else(|| {
                CliError::Usage(format!("{} has no such results; `windlass paper run` writes them", self.out.display()))
            })?,
        };
        print(&text)
    }
}

impl Fill {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let mut changed = Vec::new();
        let mut compared = 0;
        for file in &self.files {
            let shown = file.display();
            let text = std::fs::read_to_string(file)
                .map_err(|error| CliError::Failed(format!("cannot read {shown}: {error}")))?;
            let mut filled = String::new();
            let mut lines = text.split_inclusive('\n');
            while let Some(line) = lines.next() {
                filled.push_str(line);
                let Some(what) = line.trim_end().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(" -->")) else {
                    continue;
                };
                let mut old = String::new();
                let end = lines.by_ref().find(|line| {
                    let is_end = line.trim_end() == END;
                    if !is_end {
                        old.push_str(line);
                    }
                    is_end
                });
                let end =
                    end.ok_or_else(|| CliError::Failed(format!("{shown}: no {END} after {}", line.trim_end())))?;
                match self.block(what)? {
                    Some(new) => {
                        compared += 1;
                        if new.trim() != old.trim() {
                            changed.push(format!("{shown}: {what}"));
                        }
                        filled.push_str(&format!("\n{}\n\n", new.trim()));
                    }
                    None if old.trim().is_empty() || old.trim().starts_with(MISSING) => {
                        filled.push_str(&format!("\n{}\n\n", missing(what)));
                    }
                    None => filled.push_str(&old),
                }
                filled.push_str(end);
            }
            if !self.check && filled != text {
                replace(file, &filled)?;
            }
        }
        if self.check && !changed.is_empty() {
            return Err(CliError::Failed(format!(
                "out of date, `windlass paper fill` renews them: {}",
                changed.join("; ")
            )));
        }
        if compared == 0 {
            return Err(CliError::Failed(format!("{} has results for none of their tables", self.out.display())));
        }
        print(&format!("{compared} tables compared, {} changed\n", changed.len()))
    }

    /// The text of a block; `None` where there are no results, or where they take too long for a page.
    fn block(&self, what: &str) -> Result<Option<String>, CliError> {
        match what.split_once(' ').unwrap_or((what, "")) {
            // These need the results of all experiments and trials.
            ("claims" | "mutants", _) if self.check => Ok(None),
            ("claims", _) => claims(&self.out).map(Some),
            ("mutants", _) => mutants(&[], &self.out).map(Some),
            ("table", what) => table(what, &self.out),
            _ => Err(CliError::Failed(format!("unknown block {what:?}; expected table, claims or mutants"))),
        }
    }
}

/// What stands in a block without results.
fn missing(what: &str) -> String {
    let id = what.trim_start_matches("table").split(';').next().unwrap_or_default().trim();
    format!("{MISSING} `windlass paper run {id}` and `windlass paper fill` make this table.")
}

/// The result of an experiment in `out`, of full runs if there is one, else of quick ones; `None` if it
/// was not run.
fn result(id: &str, out: &Path) -> Result<Option<ExperimentResult>, CliError> {
    for scale in [Scale::Full, Scale::Quick] {
        let path = out.join(place(scale, Runner::SIMULATOR.name())).join(format!("{id}.json"));
        if path.is_file() {
            return report::read(&path).map(Some);
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

/// The runs that a claim was tried on, below `out`; `None` if it was not tried as it is written.
fn trial(document: &Document, claim: &Claim, out: &Path) -> Result<Option<TrialRuns>, CliError> {
    let path = out.join(TRIALS).join(format!("{}.json", claim.id));
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let runs: TrialRuns = serde_json::from_str(&text)
        .map_err(|error| CliError::Failed(format!("{} is not a trial: {error}", path.display())))?;
    Ok(runs.are_of(document, claim).then_some(runs))
}

/// The table that `what` describes; `None` without results.
fn table(what: &str, out: &Path) -> Result<Option<String>, CliError> {
    let mut parts = what.split(';').map(str::trim);
    let id = parts.next().unwrap_or_default();
    documents::experiment(id).ok_or_else(|| CliError::Usage(format!("unknown experiment {id:?} in {what:?}")))?;
    let (mut quantities, mut across, mut only, mut follows) = (Vec::new(), None, Vec::new(), None);
    for part in parts {
        match part.split_once(' ') {
            Some(("across", setting)) => across = Some(setting),
            Some(("follows", ids)) => follows = Some(ids.split(',').map(str::trim).collect::<Vec<_>>()),
            Some(("only", pairs)) => only.extend(pairs.split(',').filter_map(|pair| pair.trim().split_once('='))),
            _ => quantities.extend(part.split(',').map(str::trim).filter(|name| !name.is_empty())),
        }
    }
    let Some(result) = result(id, out)? else { return Ok(None) };
    let fits = |cell: &&CellResult| only.iter().all(|(name, value)| cell.setting(name) == Some(value));
    let cells: Vec<&CellResult> = result.cells.iter().filter(fits).collect();
    let mut text = String::new();
    if let Some(ids) = &follows {
        let rows = result.derived.iter().filter(|one| ids.contains(&one.id.as_str()));
        let rows: Vec<Vec<String>> =
            rows.map(|one| vec![one.id.clone(), one.of.clone(), digits(one.value), one.unit.clone()]).collect();
        text.push_str(&markdown(
            &["follows".to_owned(), "of".to_owned(), "value".to_owned(), "unit".to_owned()],
            &rows,
        ));
    }
    match across {
        Some(setting) => quantities.iter().for_each(|id| text.push_str(&over(&cells, setting, id, &only))),
        None if !quantities.is_empty() || follows.is_none() => text.push_str(&by_cell(&cells, &quantities)),
        None => {}
    }
    Ok((!text.is_empty()).then(|| format!("{}.\n\n{text}", origin(&result))))
}

/// Cells by rows, quantities by columns.
fn by_cell(cells: &[&CellResult], wanted: &[&str]) -> String {
    let mut ids: Vec<(&str, &str)> = Vec::new();
    for mean in cells.iter().flat_map(|cell| &cell.means) {
        let is_wanted = wanted.is_empty() || wanted.contains(&mean.id.as_str());
        if is_wanted && !ids.iter().any(|(id, _)| *id == mean.id) {
            ids.push((&mean.id, &mean.unit));
        }
    }
    let heads: Vec<String> =
        ["cell".to_owned()].into_iter().chain(ids.iter().map(|(id, unit)| super::table::named(id, unit))).collect();
    let row = |cell: &&CellResult| {
        let numbers = ids.iter().map(|(id, _)| cell.mean(id).map_or_else(|| "–".to_owned(), number));
        [cell.cell.clone()].into_iter().chain(numbers).collect()
    };
    markdown(&heads, &cells.iter().map(row).collect::<Vec<_>>())
}

/// One quantity, the values of a setting by columns.
fn over(cells: &[&CellResult], setting: &str, id: &str, only: &[(&str, &str)]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    let mut rows: Vec<(String, Vec<&CellResult>)> = Vec::new();
    let mut unit = "";
    for cell in cells.iter().filter(|cell| cell.mean(id).is_some()) {
        let Some(value) = cell.setting(setting) else { continue };
        unit = cell.mean(id).map_or(unit, |mean| &mean.unit);
        if !columns.contains(&value) {
            columns.push(value);
        }
        let others =
            cell.settings.iter().filter(|(name, _)| name != setting && !only.iter().any(|(known, _)| known == name));
        let row = others.map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(", ");
        match rows.iter_mut().find(|(name, _)| *name == row) {
            Some((_, cells)) => cells.push(cell),
            None => rows.push((row, vec![cell])),
        }
    }
    let corner = format!("{} by {setting}", super::table::named(id, unit));
    let heads: Vec<String> = [corner].into_iter().chain(columns.iter().map(|value| (*value).to_owned())).collect();
    let line = |(name, cells): &(String, Vec<&CellResult>)| {
        let at = |value: &&str| {
            let cell = cells.iter().find(|cell| cell.setting(setting) == Some(value));
            cell.and_then(|cell| cell.mean(id)).map_or_else(|| "–".to_owned(), number)
        };
        [name.clone()].into_iter().chain(columns.iter().map(at)).collect()
    };
    markdown(&heads, &rows.iter().map(line).collect::<Vec<_>>())
}

fn markdown(heads: &[String], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> =
        heads.iter().enumerate().map(|(i, _)| if i == 0 { "---" } else { "---:" }.to_owned()).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{}{body}\n", line(heads), line(&rule))
}

fn verdict(holds: Option<bool>) -> &'static str {
    match holds {
        Some(true) => "holds",
        Some(false) => "**fails**",
        None => "undetermined",
    }
}

fn margin(answer: &Answer) -> String {
    answer.margin.map_or_else(|| "–".to_owned(), |margin| format!("{:+.0} %", 100.0 * margin))
}

/// All statements of the documents.
fn claims(out: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    for document in DOCUMENTS {
        text.push_str(&format!("### {}\n\n", document.name));
        let heads = ["", "from", "by", "statement", "answer", "margin", "closest comparison"].map(str::to_owned);
        let mut rows = Vec::new();
        for claim in document.claims {
            let result = result(claim.experiment, out)?.filter(|result| result.scale == Scale::Full);
            let (holds, margin, evidence) = match &result {
                Some(result) => {
                    let mut answer = claim.answer_in(result);
                    let mut evidence = answer.evidence.clone();
                    if let Some((_, part)) = origin(result).split_once("**a part of it**: ") {
                        evidence.push_str(&format!(" ({part})"));
                    }
                    if is_single(result) && answer.holds.is_some() {
                        let says = if answer.holds == Some(true) { "holds" } else { "fails" };
                        evidence.push_str(&format!("; by this one run it {says}"));
                        answer.holds = None;
                    }
                    if let Some(why) = claim.why.filter(|_| answer.holds != Some(true)) {
                        evidence.push_str(&format!(": {why}"));
                    }
                    (verdict(answer.holds).to_owned(), margin(&answer), evidence)
                }
                None => {
                    let tried = trial(document, claim, out)?.map(|runs| runs.answers(claim).without);
                    let with = change(claim);
                    let says = |answer: Answer| {
                        format!("no full run; its trial{with}: {}, {}", verdict(answer.holds), margin(&answer))
                    };
                    let evidence = tried.map_or_else(|| "no full run".to_owned(), says);
                    ("undetermined".to_owned(), "–".to_owned(), evidence)
                }
            };
            rows.push(vec![
                claim.id.to_owned(),
                claim.source.to_owned(),
                claim.experiment.to_owned(),
                claim.text.to_owned(),
                holds,
                margin,
                evidence,
            ]);
        }
        for (source, statement, why) in document.undetermined {
            let cells = ["–", source, "–", statement, "undetermined", "–", why];
            rows.push(cells.map(str::to_owned).to_vec());
        }
        text.push_str(&left(&heads, &rows));
    }
    Ok(text)
}

fn left(heads: &[String], rows: &[Vec<String>]) -> String {
    markdown(heads, rows).replace("---:", "---")
}

/// Claims with these ids or of these documents; all if there are none.
fn chosen(ids: &[&str]) -> Result<Vec<(&'static Document, &'static Claim)>, CliError> {
    let all = DOCUMENTS.iter().flat_map(|document| document.claims.iter().map(move |claim| (document, claim)));
    let all: Vec<_> = all.collect();
    let is = |id: &str, document: &Document, claim: &Claim| claim.id == id || document.name == id;
    if let Some(id) = ids.iter().find(|id| !all.iter().any(|(document, claim)| is(id, document, claim))) {
        return Err(CliError::Usage(format!("no claim and no document is called {id:?}")));
    }
    let wanted =
        |(document, claim): &(&Document, &Claim)| ids.is_empty() || ids.iter().any(|id| is(id, document, claim));
    Ok(all.into_iter().filter(wanted).collect())
}

/// Runs the trials of claims and keeps them in `out`, each run as soon as it is over; the table of what became of them.
fn try_claims(ids: &[&str], out: &Path) -> Result<String, CliError> {
    let dir = out.join(TRIALS);
    let cache = ResultCache::open(&dir)?;
    for (document, claim) in chosen(ids)? {
        let runs = run_trial(document, claim, Some(&cache)).map_err(|error| CliError::Failed(error.to_string()))?;
        let json =
            serde_json::to_string(&runs).map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))?;
        replace(&dir.join(format!("{}.json", claim.id)), &(json + "\n"))?;
    }
    mutants(ids, out)
}

/// What is changed in the trial of `claim`, behind a comma; empty where nothing is.
fn change(claim: &Claim) -> String {
    claim.trial.change.map_or_else(String::new, |change| format!(", with {}", change.what))
}

/// Claims with and without their mutants, as the trials in `out` have it.
fn mutants(ids: &[&str], out: &Path) -> Result<String, CliError> {
    let heads = ["", "trial", "without", "mutant", "with", "caught", "closest comparison with it"].map(str::to_owned);
    let mut rows = Vec::new();
    for (document, claim) in chosen(ids)? {
        let packets = format!("{:.1} million packets", trial_packets(document, claim) / 1e6);
        let dash = || "–".to_owned();
        let (without, with, caught, evidence) = match trial(document, claim, out)?.map(|runs| runs.answers(claim)) {
            Some(tried) => {
                let answered = |answer: &Answer| format!("{}, {}", verdict(answer.holds), margin(answer));
                let caught = match tried.without.holds {
                    Some(true) if tried.with.holds.is_none() && tried.with.margin.is_none() => {
                        "**not caught**: with it there is nothing to compare"
                    }
                    Some(true) if tried.is_caught() => "caught",
                    Some(true) => "**not caught**",
                    Some(false) => "not tried: the claim fails without it",
                    None => "not tried: the trial does not decide the claim",
                };
                (answered(&tried.without), answered(&tried.with), caught.to_owned(), tried.with.evidence)
            }
            None => {
                (dash(), dash(), format!("not tried: `windlass paper table \"mutants {}\"` does", claim.id), dash())
            }
        };
        rows.push(vec![
            claim.id.to_owned(),
            format!("{}, {packets}{}", claim.experiment, change(claim)),
            without,
            claim.mutant.what.to_owned(),
            with,
            caught,
            evidence,
        ]);
    }
    Ok(left(&heads, &rows))
}
