//! `windlass bbr-cases`: the test cases of the BBR draft on ours and on stacks' own BBR.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use windlass_controllers::ConfiguredController;
use windlass_lab::bbr_cases::{Assessment, Bench, CASES, Case, Findings};
use windlass_lab::output::{Folder, Owned};
use windlass_stacks::stack::Runner;

use super::CliError;
use super::choice::{self, did_you_mean};
use super::error::print;
use super::text::{Align, aligned};

/// Run the test cases of the BBR draft on any implementation and show which are passed, failed or not visible
///
/// A case is not visible where the controller shows neither states nor variables, as stacks' own do not, or the stack
/// cannot run its scenario. The exit code is 1 if a case fails.
#[derive(Debug, clap::Args)]
pub(super) struct BbrCases {
    /// Cases, separated by commas [default: all]
    #[arg(value_name = "CASE", value_delimiter = ',')]
    cases: Vec<String>,
    /// Controllers, separated by commas: bbr with parameters, or a stack's own, native:NAME
    /// [default: bbr, and the stack's own BBR]
    #[arg(long, short, value_name = "NAME")]
    controller: Vec<String>,
    /// Stacks, separated by commas
    #[arg(long, value_name = "STACK", default_value = "sim")]
    stack: Vec<String>,
    /// Print every check with what was found, not those alone that failed
    #[arg(long)]
    each: bool,
    /// Print the matrix in Markdown, as docs/bbr-cases.md has it
    #[arg(long, conflicts_with = "each")]
    markdown: bool,
    /// Write the scenario of each case, what was found, and the traces of those that failed into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A controller on a stack, and what each case found.
struct Column {
    controller: String,
    stack: Runner,
    cells: Vec<(Findings, Vec<String>)>,
}

impl Column {
    fn head(&self) -> String {
        format!("{}@{}", self.controller, self.stack.name())
    }
}

impl BbrCases {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let cases = self.cases()?;
        let mut columns = self.columns()?;
        let out = self.out.as_deref().map(|out| Folder::owned::<&Path>(out, &OWNED, &[])).transpose()?;
        columns.par_iter_mut().for_each(|column| {
            let found = cases.par_iter().map(|case| {
                let bench = Bench::new(&column.controller, column.stack);
                (case.run(&bench), bench.scenarios())
            });
            column.cells = found.collect();
        });
        let checks = self.checks(&cases, &columns);
        if let Some(out) = out {
            out.write(MARKER, matrix(&cases, &columns, true) + "\n" + &checks)?;
            write(&out, &cases, &columns)?;
            out.finish()?;
        }
        let table = matrix(&cases, &columns, self.markdown);
        print(&if self.markdown { table } else { table + &checks })?;
        let failed =
            cells(&cases, &columns).filter(|(_, _, (findings, _))| findings.assessment() == Assessment::Failed);
        match failed.count() {
            0 => Ok(()),
            1 => Err(CliError::Failed("1 case failed".to_owned())),
            failed => Err(CliError::Failed(format!("{failed} cases failed"))),
        }
    }

    fn cases(&self) -> Result<Vec<Case>, CliError> {
        let named = |name: &String| {
            CASES.iter().find(|case| case.name == name).copied().ok_or_else(|| {
                let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
                let meant = did_you_mean(name, names.iter().copied());
                CliError::Usage(format!("unknown case {name:?}{meant}; expected some of {}", names.join(", ")))
            })
        };
        if self.cases.is_empty() { Ok(CASES.to_vec()) } else { self.cases.iter().map(named).collect() }
    }

    fn columns(&self) -> Result<Vec<Column>, CliError> {
        let mut columns = Vec::new();
        for stack in choice::stacks(&self.stack)?.into_iter().map(Runner::preferred) {
            let mut names = choice::controllers(&self.controller)?;
            if names.is_empty() {
                let own = stack.natives().iter().filter(|name| name.starts_with("bbr"));
                names = ["bbr".to_owned()].into_iter().chain(own.map(|name| format!("native:{name}"))).collect();
            }
            for controller in names {
                if choice::is_ours(&controller) && choice::controller(&controller)?.name() != "bbr" {
                    return Err(CliError::Usage(format!(
                        "{controller} is no BBR, whose states the cases judge; expected bbr, bbr:parameter=value,… or native:NAME"
                    )));
                }
                columns.push(Column { controller, stack, cells: Vec::new() });
            }
        }
        Ok(columns)
    }

    /// The checks that failed, or all of them.
    fn checks(&self, cases: &[Case], columns: &[Column]) -> String {
        let mut text = String::new();
        for (column, case, (findings, _)) in cells(cases, columns) {
            let shown = findings.0.iter().filter(|check| self.each || check.assessment == Assessment::Failed);
            for (index, check) in shown.enumerate() {
                if index == 0 {
                    text.push_str(&format!("\n{} on {}: {}\n", case.name, column.head(), case.section));
                }
                let assessment = match check.assessment {
                    Assessment::Passed => "passed",
                    Assessment::Failed => "FAILED",
                    Assessment::NotVisible => "not visible",
                };
                text.push_str(&format!("  {assessment}: {}: {}\n", check.what, check.found));
            }
        }
        text
    }
}

/// The scenario that each case was judged by, and the traces of those that failed.
fn write(out: &Folder, cases: &[Case], columns: &[Column]) -> Result<(), CliError> {
    for (column, case, (findings, scenarios)) in cells(cases, columns) {
        let Some(scenario) = scenarios.last() else { continue };
        let directory = column.head().replace(':', "_");
        std::fs::create_dir_all(out.path().join(&directory))
            .map_err(|error| CliError::Failed(format!("cannot make {directory}: {error}")))?;
        out.write(&format!("{directory}/{}.toml", case.name), scenario)?;
        if findings.assessment() == Assessment::Failed {
            let trace = Bench::new(&column.controller, column.stack).trace(scenario).map_err(CliError::Failed)?;
            out.write(&format!("{directory}/{}.sqlog", case.name), trace)?;
        }
    }
    Ok(())
}

/// Each case on each column.
fn cells<'a>(
    cases: &'a [Case],
    columns: &'a [Column],
) -> impl Iterator<Item = (&'a Column, &'a Case, &'a (Findings, Vec<String>))> {
    columns.iter().flat_map(move |column| cases.iter().zip(&column.cells).map(move |(case, cell)| (column, case, cell)))
}

/// The assessments, a row for each case.
fn matrix(cases: &[Case], columns: &[Column], markdown: bool) -> String {
    let cell = |findings: &Findings| {
        let (passed, all) = findings.passed();
        match findings.assessment() {
            Assessment::Passed if passed == all => "pass".to_owned(),
            Assessment::Passed => format!("pass, {passed} of {all} visible"),
            Assessment::Failed => if markdown { "**fail**" } else { "FAIL" }.to_owned(),
            Assessment::NotVisible => "–".to_owned(),
        }
    };
    let heads: Vec<String> = ["case".to_owned()].into_iter().chain(columns.iter().map(Column::head)).collect();
    let rows = cases.iter().enumerate().map(|(index, case)| {
        let assessments = columns.iter().map(|column| cell(&column.cells[index].0));
        [case.name.to_owned()].into_iter().chain(assessments).collect::<Vec<String>>()
    });
    if markdown {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        return line(&heads)
            + &format!("|{}\n", "---|".repeat(heads.len()))
            + &rows.map(|row| line(&row)).collect::<String>();
    }
    let heads: Vec<(&str, Align)> = heads.iter().map(|head| (head.as_str(), Align::Left)).collect();
    aligned(&heads, &rows.collect::<Vec<_>>()).join("\n") + "\n"
}

const MARKER: &str = "bbr-cases.md";

const OWNED: Owned<'_> = Owned {
    marker: MARKER,
    is_marker: &Path::is_file,
    is_entry: &|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == MARKER || path.is_dir() && name.contains('@')
    },
};
