//! `windlass qlog report`: connections over time, as a page and as figures.

use std::path::{Path, PathBuf};

use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::series::{ConnectionSeries, read_series_and_packets};

use super::files::{Files, Reading, unreadable};
use super::name::{short, unique};
use crate::cli::CliError;
use crate::cli::error::{print, shown, warn};
use crate::report::figure::{drawable, svg};
use crate::report::traces::{Section, page};
use windlass_lab::results::replace;

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
    /// File to write the page to [default: report.html]
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
    figure: Option<String>,
}

impl Report {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let files = self.files.paths()?.len();
        let most = most_points(files);
        let results = self.files.each(|path, input, jobs| {
            let file = path.display().to_string();
            let options = self.reading.options(jobs);
            let (summary, series) =
                read_series_and_packets(input, &options, most, most / 4).map_err(|error| unreadable(path, &error))?;
            super::print_doubts(path, &summary);
            let made = |series: ConnectionSeries| {
                let wanted = self.svg.is_some() && drawable(&series);
                let figure = wanted.then(|| svg(&caption(&file, &series), &series)).transpose();
                let figure = figure.map_err(|error| CliError::Failed(format!("cannot draw {file}: {error}")))?;
                Ok(Made { figure, section: Section::new(&file, series, summary.bad_records) })
            };
            series.into_iter().map(made).collect::<Result<Vec<Made>, CliError>>()
        })?;
        let mut all: Vec<Made> = results.into_iter().flat_map(|(_, made)| made).collect();
        if all.is_empty() {
            return Err(CliError::Failed("nothing to draw: no file has any event".to_owned()));
        }
        let names = unique(all.iter().map(|made| (made.section.file(), made.section.group())));
        all.iter_mut().zip(names).for_each(|(made, name)| made.section.call(name));
        if let Some(directory) = &self.svg {
            figures(directory, &all)?;
        }
        let out = match (&self.out, &self.svg) {
            (Some(out), _) => out.as_path(),
            (None, None) => Path::new("report.html"),
            (None, Some(_)) => return Ok(()),
        };
        let sections: Vec<Section> = all.into_iter().map(|made| made.section).collect();
        let title = self.title.clone().unwrap_or_else(|| title(&sections));
        replace(out, &page(&title, &sections))?;
        print(&format!("{}\n", shown(out)))
    }
}

/// What a figure is called.
fn caption(file: &str, series: &ConnectionSeries) -> String {
    let short = short(&[file]).concat();
    match &series.measured.measures.controller {
        Some(controller) => format!("{short}: {controller}"),
        None => short,
    }
}

/// Writes the figures, each called as its connection.
fn figures(directory: &Path, all: &[Made]) -> Result<(), CliError> {
    let unwritable = |error| CliError::Failed(format!("cannot make {}: {error}", shown(directory)));
    std::fs::create_dir_all(directory).map_err(unwritable)?;
    for made in all {
        let Some(figure) = &made.figure else {
            let file = escape::line(made.section.file());
            warn(&format!("{file}: nothing in it can be series over time"));
            continue;
        };
        let plain = |c: char| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '-' };
        let name: String = made.section.name().chars().map(plain).collect();
        let path = directory.join(format!("{name}.svg"));
        replace(&path, figure)?;
        print(&format!("{}\n", shown(&path)))?;
    }
    Ok(())
}

/// How many points each line of one of `files` may keep.
pub(super) fn most_points(files: usize) -> usize {
    (MOST_OF_ALL / files.max(1)).clamp(1 << 12, MOST)
}

fn title(sections: &[Section]) -> String {
    match sections {
        [only] => Path::new(only.file()).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        many => format!("{} connections", many.len()),
    }
}
