//! Tables in Markdown, and the pages that hold them between marks.
//!
//! `<!-- paper table EV-5; M9; across rtt -->` begins a block and `<!-- end -->` ends it; what stands between is
//! made from results. A table says which command made its numbers, and whether that was all of the experiment:
//! full runs are taken where there are any, quick ones else.

use std::path::{Path, PathBuf};

use super::super::error::print;
use super::table::{digits, number};
use super::{CliError, OUT, claims};
use super::{markdown, origin, result};
use windlass_lab::output::replace;
use windlass_papers::CellResult;
use windlass_papers::documents;

const BEGIN: &str = "<!-- paper ";
const END: &str = "<!-- end -->";
/// How the text begins that stands in a block without results.
const MISSING: &str = "Not run:";

/// Print a table of results as Markdown: `EV-5; M9, M6; across rtt; only controller=fast`, or `mutants`, which makes
/// the trials; `claims` as CSV
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
            _ if self.what == "claims" => claims::csv(&self.out)?,
            Some(("mutants", ids)) => {
                claims::mutants(&ids.split([',', ' ']).filter(|id| !id.is_empty()).collect::<Vec<_>>(), &self.out)?
            }
            _ if self.what == "mutants" => claims::mutants(&[], &self.out)?,
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
            // This needs the results of all experiments and trials.
            ("claims", _) if self.check => Ok(None),
            ("claims", _) => claims::summary(&self.out).map(Some),
            ("table", what) => table(what, &self.out),
            _ => Err(CliError::Failed(format!("unknown block {what:?}; expected table or claims"))),
        }
    }
}

/// What stands in a block without results.
fn missing(what: &str) -> String {
    let id = what.trim_start_matches("table").split(';').next().unwrap_or_default().trim();
    format!("{MISSING} `windlass paper run {id}` and `windlass paper fill` make this table.")
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
