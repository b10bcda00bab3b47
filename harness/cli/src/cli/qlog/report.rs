//! `windlass qlog report`: connections over time, as a page and as figures; and `windlass qlog share`: a trace as a page
//! for others, without the names in it.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::files::{Again, Files, Reading};
use super::name::{file_names, short, unique};
use crate::cli::CliError;
use crate::cli::error::{print, shown, unreadable, warn};
use crate::report::figure::{drawable, svg};
use crate::report::traces::{Section, page};

use windlass_lab::output::{Folder, OutputFile, refuse_foreign};
use windlass_lab::results::is_report;
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::pseudonyms::Pseudonyms;
use windlass_qlog_analysis::read::{Options, ReadError, Records, twice};
use windlass_qlog_analysis::series::{ConnectionSeries, End, align, read_series_and_packets};

#[cfg(feature = "parquet")]
use super::output::{Stoppable, unless_stopped};
#[cfg(feature = "parquet")]
use std::sync::{Arc, atomic::AtomicBool};
#[cfg(feature = "parquet")]
use windlass_qlog_analysis::series::read_series;

/// Where the page is written to by default.
const PAGE: &str = "report.html";

/// Most points of each line of one trace.
const MOST: usize = 1 << 20;

/// Most points of each line, all files together.
const MOST_OF_ALL: usize = 1 << 22;

/// Draw windows, delays, rates and losses of connections over time, as one HTML page
///
/// Windows, delays, rates, losses and congestion states of every connection, zoomable down
/// to single events. The page holds everything it shows, and needs no network.
#[derive(Debug, clap::Args)]
pub(super) struct Report {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    reading: Reading,
    /// File to write the page to [default: report.html, if there is none but one of windlass's]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Its title [default: the name of the file, or how many there are]
    #[arg(long)]
    title: Option<String>,
    /// Write a figure (SVG) of each connection into this directory too; a page is then
    /// written only if --out is given
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
}

/// A connection as it is written.
struct Made {
    section: Section,
    end: Option<End>,
    figure: Option<String>,
}

impl Report {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let files = self.files.paths()?.len();
        let inputs = self.files.inputs()?;
        let folder = self.svg.as_deref().map(Folder::shared).transpose()?;
        let out = match (self.out.as_deref(), &self.svg) {
            (None, None) => {
                refuse_foreign(Path::new(PAGE), is_report)?;
                Some(Path::new(PAGE))
            }
            (named, _) => named,
        };
        let page_file = out.map(|out| OutputFile::open(out, &inputs)).transpose()?;
        let most = most_points(files);
        let results = self.files.each(|file, open, jobs| {
            let path = file.path();
            let file = path.display().to_string();
            let options = Options { records: Records::WithoutPackets, ..self.reading.options(jobs) };
            let (summary, series) =
                twice(open, &options, |input, options| read_series_and_packets(input, options, most, most))
                    .map_err(|error: ReadError| unreadable(path, &error))?;
            super::print_doubts(path, &summary);
            series.iter().for_each(|series| super::print_doubt(path, &series.measured));
            let made = |series: ConnectionSeries| {
                let wanted = self.svg.is_some() && drawable(&series);
                let figure = wanted.then(|| figure_of(&file, &series)).transpose()?;
                Ok(Made { figure, end: series.end(), section: Section::new(&file, series, summary.bad_records) })
            };
            series.into_iter().map(made).collect::<Result<Vec<Made>, CliError>>()
        })?;
        let mut all: Vec<Made> = results.into_iter().flat_map(|(_, made)| made).collect();
        if all.is_empty() {
            return Err(CliError::Failed("nothing to draw: no file has any event".to_owned()));
        }
        let names = unique(all.iter().map(|made| {
            let section = &made.section;
            (section.file(), section.group(), section.vantage())
        }));
        all.iter_mut().zip(names).for_each(|(made, name)| made.section.call(name));
        let ends: Vec<_> = all.iter().map(|made| made.end.clone()).collect();
        all.iter_mut().zip(align(&ends)).for_each(|(made, aligned)| made.section.align(aligned));
        if let Some(folder) = folder {
            figures(folder, &inputs, &all)?;
        }
        let (Some(out), Some(page_file)) = (out, page_file) else { return Ok(()) };
        let sections: Vec<Section> = all.into_iter().map(|made| made.section).collect();
        let title = self.title.clone().unwrap_or_else(|| title(&sections));
        page_file.finish_with(page(&title, &sections, None))?;
        print(&format!("{}\n", shown(out)))
    }
}

/// The figures of the connections of `paths` that can be drawn, as `--svg` writes them, for a program.
///
/// # Errors
/// A file that cannot be read, or `stop` was set.
#[cfg(feature = "parquet")]
pub fn drawn(paths: Vec<PathBuf>, stop: &Arc<AtomicBool>) -> Result<Vec<String>, CliError> {
    let files = Files::for_program(paths, stop);
    let most = most_points(files.paths()?.len());
    let drawn = files.each(|file, _, jobs| {
        let path = file.path();
        let open = || Ok(Stoppable { input: file.open()?, stop: Arc::clone(stop) });
        let read = twice(open, &Reading::default().options(jobs), |input, options| read_series(input, options, most));
        let (summary, series) = read.map_err(|error: ReadError| unreadable(path, &error))?;
        super::print_doubts(path, &summary);
        let name = path.display().to_string();
        series.iter().filter(|series| drawable(series)).map(|series| figure_of(&name, series)).collect()
    });
    let drawn: Vec<(PathBuf, Vec<String>)> = unless_stopped(stop, drawn)?;
    Ok(drawn.into_iter().flat_map(|(_, figures)| figures).collect())
}

/// The figure of a connection of `file`.
fn figure_of(file: &str, series: &ConnectionSeries) -> Result<String, CliError> {
    svg(&caption(file, series), series).map_err(|error| CliError::Failed(format!("cannot draw {file}: {error}")))
}

/// Title of a figure.
fn caption(file: &str, series: &ConnectionSeries) -> String {
    let short = short(&[file]).concat();
    match &series.measured.measures.controller {
        Some(controller) => format!("{short}: {controller}"),
        None => short,
    }
}

/// Writes the figures, each called as its connection.
fn figures(folder: Folder, inputs: &[PathBuf], all: &[Made]) -> Result<(), CliError> {
    let mut written = String::new();
    let names = file_names(all.iter().map(|made| made.section.name()), ".svg");
    for (made, name) in all.iter().zip(names) {
        let Some(figure) = &made.figure else {
            let file = escape::line(made.section.file());
            warn(&format!("{file}: nothing in it can be series over time"));
            continue;
        };
        folder.refuse_inputs(&name, inputs)?;
        folder.write(&name, figure)?;
        written.push_str(&format!("{}\n", shown(&folder.shown().join(&name))));
    }
    folder.finish()?;
    print(&written)
}

/// How many points each line of one of `files` may keep.
pub(super) fn most_points(files: usize) -> usize {
    (MOST_OF_ALL / files.max(1)).clamp(1 << 12, MOST)
}

fn title(sections: &[Section]) -> String {
    match sections {
        [only] => Path::new(only.file()).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        many => match many.iter().filter(|section| section.is_connection()).count() {
            1 => Path::new(many[0].file()).file_name().unwrap_or_default().to_string_lossy().into_owned(),
            connections => format!("{connections} connections"),
        },
    }
}

/// Write a trace as one HTML page for a bug report: drawn, with the trace inside
///
/// Connection ids, addresses and host names are replaced, each by the same pseudonym wherever it stands; bytes of the wire
/// and credentials are removed. What is measured stays as it is. Paths of requests and other texts stay: look at the page
/// before it leaves your hands.
#[derive(Debug, clap::Args)]
pub(super) struct Share {
    /// Trace to read, or - for standard input
    #[arg(value_name = "TRACE")]
    path: PathBuf,
    /// File to write the page to
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Leave ids, addresses, host names and everything else as they are
    #[arg(long)]
    keep_names: bool,
}

impl Share {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let path = &self.path;
        let again = Again::at(path)?;
        let page_file = OutputFile::open(&self.out, std::slice::from_ref(path))?;
        let wrong = |error: std::io::Error| unreadable(path, &error);
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let mut name =
            if file == "-" { "trace.qlog" } else { file.trim_end_matches(".gz").trim_end_matches(".zst") }.to_owned();
        let mut trace = Vec::new();
        if self.keep_names {
            again.open().and_then(|mut input| input.read_to_end(&mut trace)).map_err(wrong)?;
        } else {
            let mut names = again.open().and_then(Pseudonyms::of).map_err(wrong)?;
            again.open().and_then(|input| names.rewrite(input, &mut trace)).map_err(wrong)?;
            name = names.text(&name);
        }
        let most = most_points(1);
        let (summary, series) = twice(
            || Ok(trace.as_slice()),
            &Options { records: Records::WithoutPackets, ..Options::default() },
            |input, options| read_series_and_packets(input, options, most, most),
        )
        .map_err(|error: ReadError| unreadable(path, &error))?;
        super::print_doubts(path, &summary);
        if series.is_empty() {
            return Err(CliError::Failed(format!("nothing to draw: {} has no event", shown(path))));
        }
        let section = |series| Section::new(&name, series, summary.bad_records);
        let mut sections: Vec<Section> = series.into_iter().map(section).collect();
        let names = unique(sections.iter().map(|section| (section.file(), section.group(), section.vantage())));
        sections.iter_mut().zip(names).for_each(|(section, name)| section.call(name));
        page_file.finish_with(page(&name, &sections, Some((&name, &trace))))?;
        print(&format!("{}\n", shown(&self.out)))
    }
}
