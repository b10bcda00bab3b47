//! `windlass qlog share`: a trace as a page for others, without the names in it.

use std::io::Read;
use std::path::PathBuf;

use windlass_lab::output::OutputFile;
use windlass_qlog_analysis::pseudonyms::Pseudonyms;
use windlass_qlog_analysis::read::{Options, ReadError, Records, twice};
use windlass_qlog_analysis::series::read_series_and_packets;

use super::files::Again;
use super::name::unique;
use super::report::most_points;
use crate::cli::CliError;
use crate::cli::error::{print, shown, unreadable};
use crate::report::traces::{Section, page};

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
