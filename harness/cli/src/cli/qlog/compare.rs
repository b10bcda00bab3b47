//! `windlass qlog compare`: groups of traces against one of them.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::metrics::{Measured, measure};
use windlass_qlog_analysis::read::{ReadError, twice};
use windlass_qlog_analysis::series::{ConnectionSeries, read_series};

use super::files::{Files, Reading};
use super::name::{short, unique};
use super::output::{Csv, cell};
use super::report::most_points;
use crate::cli::CliError;
use crate::cli::choice::did_you_mean;
use crate::cli::error::{print, shown, unreadable, warn};
use crate::cli::text::{Align, aligned};
use crate::report::comparison::page;
use crate::report::traces::Section;
use windlass_lab::compare::{Comparison, Member, Row, compare, groups};
use windlass_lab::output::OutputFile;

/// Compare groups of traces: their measures, confidence intervals of the differences, and
/// the traces overlaid over time
///
/// Each trace is a repetition of its group; flows of one group in one run of windlass count
/// as one. Differences are those of the means, with Welch's t interval where both groups
/// have two repetitions or more.
#[derive(Debug, clap::Args)]
pub(super) struct Compare {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    reading: Reading,
    /// How traces are grouped
    #[arg(long, value_enum, default_value_t = By::Controller)]
    by: By,
    /// The group that the others are compared with [default: that of the first file]
    #[arg(long, value_name = "GROUP")]
    baseline: Option<String>,
    /// Confidence of the intervals, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 95.0)]
    confidence: f64,
    /// Also write an HTML page with the table, and the traces overlaid
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How to print the differences
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum By {
    /// The congestion controller that the trace names
    Controller,
    /// What logged it: the stack, as the trace names it
    Stack,
    /// The directory of the file
    Run,
    /// The file
    File,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// The main measures in aligned columns
    Table,
    /// All measures, as one JSON object
    Json,
    /// All measures, a row per measure and group
    Csv,
}

/// A connection that is compared.
struct One {
    file: String,
    measured: Measured,
    section: Option<Section>,
}

impl One {
    /// What it is called by: file, connection, and where it was taken.
    fn named(&self) -> (&str, &str, &str) {
        let Measured { group, trace, .. } = &self.measured;
        (&self.file, group, trace.vantage.name())
    }
}

impl Compare {
    pub(super) fn run(&self) -> Result<(), CliError> {
        if !(self.confidence > 0.0 && self.confidence < 100.0) {
            let text = format!("--confidence is {}; expected more than 0 and less than 100 percent", self.confidence);
            return Err(CliError::Usage(text));
        }
        let inputs = self.files.inputs()?;
        let output = self.out.as_deref().map(|out| OutputFile::open(out, &inputs)).transpose()?;
        let all = self.read()?;
        let names = self.groups_of(&all);
        let member = |(one, group): (&One, &String)| Member {
            group: group.clone(),
            file: one.file.clone(),
            measures: one.measured.measures.clone(),
        };
        let members: Vec<Member> = all.iter().zip(&names).map(member).collect();
        let comparison = compare(&members, &self.baseline(&members)?, self.confidence / 100.0);
        if let (Some(output), Some(out)) = (output, &self.out) {
            let sections = all.into_iter().zip(names).filter_map(|(one, group)| Some((group, one.section?)));
            let sections: Vec<(String, Section)> = sections.collect();
            let title = comparison.groups.join(", ");
            output.finish_with(page(&title, self.by.word(), &comparison, &sections))?;
            warn(&shown(out));
        }
        print(&match self.format {
            Format::Table => table(&comparison),
            Format::Json => format!("{}\n", serde_json::json!({ "by": self.by.word(), "comparison": comparison })),
            Format::Csv => csv(&comparison)?,
        })
    }

    /// The connections of the files, with their lines if they are to be drawn.
    fn read(&self) -> Result<Vec<One>, CliError> {
        let most = most_points(self.files.paths()?.len());
        let drawing = self.out.is_some();
        let results = self.files.each(|file, open, jobs| {
            let path = file.path();
            let options = self.reading.options(jobs);
            let file = path.display().to_string();
            let failed = |error: ReadError| unreadable(path, &error);
            if drawing {
                let (summary, series) =
                    twice(open, &options, |input, options| read_series(input, options, most)).map_err(failed)?;
                super::print_doubts(path, &summary);
                let one = |series: ConnectionSeries| One {
                    file: file.clone(),
                    measured: series.measured.clone(),
                    section: Some(Section::new(&file, series, summary.bad_records)),
                };
                // Paths are no members of a group.
                return Ok(series.into_iter().filter(|series| series.path.is_none()).map(one).collect::<Vec<_>>());
            }
            let (summary, measured) = twice(open, &options, measure).map_err(failed)?;
            super::print_doubts(path, &summary);
            Ok(measured.into_iter().map(|measured| One { file: file.clone(), measured, section: None }).collect())
        })?;
        let mut all: Vec<One> = results.into_iter().flat_map(|(_, all)| all).collect();
        let names = unique(all.iter().map(One::named));
        for (one, name) in all.iter_mut().zip(names) {
            if let Some(section) = &mut one.section {
                section.call(name);
            }
        }
        Ok(all)
    }

    /// The name of the group of each connection.
    fn groups_of(&self, all: &[One]) -> Vec<String> {
        let or = |name: &str, otherwise: &str| if name.is_empty() { otherwise.to_owned() } else { name.to_owned() };
        match self.by {
            By::Controller => {
                let controller =
                    |one: &One| or(one.measured.measures.controller.as_deref().unwrap_or(""), "unnamed controller");
                all.iter().map(controller).collect()
            }
            By::Stack => all.iter().map(|one| or(&one.measured.trace.implementation, "unnamed stack")).collect(),
            By::Run => {
                let directory =
                    |one: &One| Path::new(&one.file).parent().unwrap_or(Path::new("")).display().to_string();
                let directories: Vec<String> = all.iter().map(directory).collect();
                short(&directories.iter().map(String::as_str).collect::<Vec<_>>())
            }
            By::File => unique(all.iter().map(One::named)),
        }
    }

    fn baseline(&self, members: &[Member]) -> Result<String, CliError> {
        let groups = groups(members);
        let listed = || escape::line(&groups.join(", ")).into_owned();
        match (&self.baseline, groups.as_slice()) {
            (_, []) => Err(CliError::Failed("nothing to compare: no file has any event".to_owned())),
            (_, [only]) => Err(CliError::Usage(format!(
                "nothing to compare: all traces are of one group by {}, {}; group them by another of controller, \
                 stack, run, file",
                self.by.word(),
                escape::line(only)
            ))),
            (None, [first, ..]) => Ok(first.clone()),
            (Some(wanted), _) if groups.contains(wanted) => Ok(wanted.clone()),
            (Some(wanted), _) => Err(CliError::Usage(format!(
                "no group is called {wanted:?}{}; there are {}",
                escape::line(&did_you_mean(wanted, groups.iter().map(String::as_str))),
                listed()
            ))),
        }
    }
}

impl By {
    fn word(self) -> &'static str {
        match self {
            By::Controller => "controller",
            By::Stack => "stack",
            By::Run => "run",
            By::File => "file",
        }
    }
}

/// Measures that the table for people has, with decimals.
const SHOWN: [(&str, usize); 11] = [
    ("throughput_mbps", 3),
    ("goodput_mbps", 3),
    ("received_goodput_mbps", 3),
    ("loss_percent", 3),
    ("spurious_percent", 2),
    ("rtt_p50_ms", 2),
    ("rtt_p95_ms", 2),
    ("queueing_p95_ms", 2),
    ("cwnd_mean_bytes", 0),
    ("reductions", 1),
    ("app_limited_percent", 1),
];

fn table(comparison: &Comparison) -> String {
    let confidence = format!("{} % interval", 100.0 * comparison.confidence);
    let heads = [
        ("measure", Align::Left),
        ("group", Align::Left),
        ("runs", Align::Right),
        ("mean", Align::Right),
        ("deviation", Align::Right),
        ("difference", Align::Right),
        ("%", Align::Right),
        (confidence.as_str(), Align::Right),
    ];
    let mut lines = Vec::new();
    for (metric, decimals) in SHOWN {
        let rows: Vec<&Row> = comparison.rows.iter().filter(|row| row.metric == metric).collect();
        // What no group ever had is not worth a line.
        if rows.iter().all(|row| row.mean == 0.0) {
            continue;
        }
        lines.extend(rows.into_iter().enumerate().map(|(i, row)| line(row, i == 0, decimals)));
    }
    let mut text: String = aligned(&heads, &lines).iter().map(|line| format!("{line}\n")).collect();
    text.push_str(&format!("differences are to {}; intervals are Welch's t\n", escape::line(&comparison.baseline)));
    if comparison.rows.iter().any(|row| row.repetitions == 1) {
        text.push_str("with one repetition no interval can be given: repeat the runs with other seeds\n");
    }
    text
}

fn line(row: &Row, first: bool, decimals: usize) -> Vec<String> {
    let dash = || "–".to_owned();
    let difference = row.difference;
    let interval = difference.and_then(|difference| difference.interval);
    vec![
        if first { row.metric.to_owned() } else { String::new() },
        row.group.clone(),
        row.repetitions.to_string(),
        format!("{:.decimals$}", row.mean),
        row.deviation.map_or_else(dash, |deviation| format!("{deviation:.decimals$}")),
        difference.map_or_else(dash, |difference| format!("{:+.decimals$}", difference.absolute)),
        difference.and_then(|difference| difference.percent).map_or_else(dash, |percent| format!("{percent:+.1}")),
        interval.map_or_else(dash, |(low, high)| format!("{low:+.decimals$} … {high:+.decimals$}")),
    ]
}

fn csv(comparison: &Comparison) -> Result<String, CliError> {
    let mut csv = Csv::new();
    let heads = [
        "measure",
        "group",
        "repetitions",
        "mean",
        "deviation",
        "difference",
        "percent",
        "interval_low",
        "interval_high",
    ];
    csv.row(heads)?;
    for row in &comparison.rows {
        let interval = row.difference.and_then(|difference| difference.interval);
        let cells = [
            row.metric.to_owned(),
            row.group.clone(),
            row.repetitions.to_string(),
            row.mean.to_string(),
            cell(row.deviation),
            cell(row.difference.map(|difference| difference.absolute)),
            cell(row.difference.and_then(|difference| difference.percent)),
            cell(interval.map(|interval| interval.0)),
            cell(interval.map(|interval| interval.1)),
        ];
        csv.row(&cells)?;
    }
    csv.finish()
}
