//! `windlass qlog convert`: traces in another schema version or framing.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::ValueEnum;
use windlass_lab::output::Folder;
use windlass_qlog::Profile;
use windlass_qlog_analysis::convert::{ConvertError, Converted, OutputFraming, Source, Target, convert, count};
use windlass_qlog_analysis::escape;

use super::files::{Again, Files, Reading, readable};
use super::output::{Compression, Output, Stoppable, unless_stopped, unwritable};
use crate::cli::CliError;
use crate::cli::batch::interrupt;
use crate::cli::error::{shown, unreadable, warn};

/// Convert traces: another schema version, another framing, network logs to qlog, several into
/// one file
///
/// What the other schema version has no place for is left out, and counted on standard error. Traces are counted as they
/// come out: for qvis, each path of multipath QUIC is one.
#[derive(Debug, clap::Args)]
pub(super) struct Convert {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    reading: Reading,
    /// Schema version to convert to
    #[arg(long, value_enum)]
    to: SchemaVersion,
    /// Framing of the output [default: json for a name that ends in .qlog or .json, sequence otherwise]
    #[arg(long, alias = "form", value_enum)]
    framing: Option<Framing>,
    /// File to write to, or a directory (which is there, or ends in /) for a file per trace [default: standard output]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Compress the output [default: by the end of its name, .gz or .zst]
    #[arg(long, value_enum)]
    compress: Option<Compression>,
    /// Only this trace, counted from 0 over all files
    #[arg(long, value_name = "N")]
    trace: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum SchemaVersion {
    /// The IETF drafts
    Ietf,
    /// Version 0.3 as qvis needs it: sorted, every packet with its length, each packet acknowledged once, each path
    /// of multipath QUIC a trace
    Qvis,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Framing {
    /// A JSON text sequence: one trace
    Sequence,
    /// A JSON document: any number of traces
    Json,
}

/// A file of the command line.
struct Named {
    file: Again,
    stop: Arc<AtomicBool>,
}

impl Source for Named {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(Stoppable { input: self.file.open()?, stop: self.stop.clone() }))
    }
}

impl Convert {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let stop = interrupt()?;
        let named = |path: PathBuf| Ok(Named { file: Again::at(&path)?, stop: stop.clone() });
        let sources = readable(self.files.paths()?.into_iter().map(named))?;
        unless_stopped(&stop, self.write(&sources, &self.files.inputs()?))
    }

    fn write(&self, sources: &[Named], inputs: &[PathBuf]) -> Result<(), CliError> {
        let directory =
            self.out.as_deref().filter(|out| out.is_dir() || out.as_os_str().to_string_lossy().ends_with('/'));
        // Files that cannot be read are left out before anything is written.
        let counted = |source| match count(&[source as &dyn Source], self.profile()) {
            Ok(traces) => Ok((source, traces)),
            Err(error) => Err(self.failed(&[source], error)),
        };
        let sources = match sources {
            [_] if directory.is_none() => sources.iter().map(|source| (source, 1)).collect(),
            _ => readable(sources.iter().map(counted))?,
        };
        let Some(directory) = directory else {
            let all: Vec<&Named> = sources.iter().map(|(source, _)| *source).collect();
            let out = self.out.as_deref();
            let compression = self.compress.unwrap_or_else(|| out.map_or(Compression::None, Compression::of));
            if compression != Compression::None {
                Output::refuse_terminal(out, "a compressed file")?;
            }
            let output = Output::open(out, compression, inputs)?;
            return self.one(&all, self.trace, out, output, self.output_framing(out));
        };
        if self.trace.is_some() {
            return Err(CliError::Usage("--trace picks one trace, so name a file with --out".to_owned()));
        }
        let folder = Folder::shared(directory)?;
        let mut names = BTreeSet::new();
        let mut planned = Vec::new();
        for (source, traces) in sources {
            for index in 0..traces {
                let name = self.name(source.file.path(), (traces > 1).then_some(index));
                if !names.insert(name.clone()) {
                    let message = format!("two traces would be called {name}; convert them into different directories");
                    return Err(CliError::Usage(message));
                }
                folder.refuse_inputs(&name, inputs)?;
                planned.push((source, index, name));
            }
        }
        for (source, index, name) in planned {
            let output = Output::open(Some(&folder.path().join(&name)), self.compress.unwrap_or_default(), &[])?;
            self.one(&[source], Some(index), Some(&directory.join(&name)), output, self.output_framing(None))?;
        }
        Ok(folder.finish()?)
    }

    /// Name of the file of a trace.
    fn name(&self, source: &Path, index: Option<usize>) -> String {
        let last = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut stem = last.as_str();
        for ending in [".gz", ".zst", ".js", ".json", ".netlog", ".qlog", ".sqlog"] {
            stem = stem.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(stem);
        }
        let index = index.map_or_else(String::new, |index| format!("-{index}"));
        let form = if self.output_framing(None) == OutputFraming::Sequence { "sqlog" } else { "qlog" };
        let packed = match self.compress {
            None | Some(Compression::None) => "",
            Some(Compression::Gzip) => ".gz",
            Some(Compression::Zstd) => ".zst",
        };
        let stem = if stem == "-" { "stdin" } else { stem };
        format!("{stem}{index}.{form}{packed}")
    }

    fn output_framing(&self, out: Option<&Path>) -> OutputFraming {
        match (self.framing, out) {
            (Some(Framing::Sequence), _) => OutputFraming::Sequence,
            (Some(Framing::Json), _) => OutputFraming::Contained,
            (None, Some(path)) => {
                let name = path.to_string_lossy().to_ascii_lowercase();
                let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
                if name.ends_with(".qlog") || name.ends_with(".json") {
                    OutputFraming::Contained
                } else {
                    OutputFraming::Sequence
                }
            }
            (None, None) => OutputFraming::Sequence,
        }
    }

    fn profile(&self) -> Profile {
        match self.to {
            SchemaVersion::Ietf => Profile::Ietf,
            SchemaVersion::Qvis => Profile::Qvis,
        }
    }

    fn one(
        &self,
        sources: &[&Named],
        only: Option<usize>,
        out: Option<&Path>,
        mut output: Output,
        output_framing: OutputFraming,
    ) -> Result<(), CliError> {
        let target =
            Target { profile: self.profile(), framing: output_framing, only, units: self.reading.options(1).units };
        let dynamic: Vec<&dyn Source> = sources.iter().map(|source| *source as &dyn Source).collect();
        let done = convert(&dynamic, target, &mut output).map_err(|error| match error {
            ConvertError::Write(error) => unwritable(out, &error),
            other => self.failed(sources, other),
        })?;
        output.finish()?;
        for (source, doubt) in &done.doubts {
            let path = shown(sources[*source].file.path());
            warn(&format!("{path}: {}", escape::line(doubt)));
        }
        let name = match (sources, out) {
            (_, Some(out)) if out != Path::new("-") => shown(out),
            ([single], _) => shown(single.file.path()),
            _ => format!("{} files", sources.len()),
        };
        print_losses(&name, &done, self.to);
        Ok(())
    }

    fn failed(&self, sources: &[&Named], error: ConvertError) -> CliError {
        match error {
            ConvertError::Read { source_index, error } => match sources.get(source_index) {
                Some(source) => unreadable(source.file.path(), &error),
                None => CliError::Failed(error.to_string()),
            },
            ConvertError::Several(_) => CliError::Usage(format!(
                "{error}; use --framing json, --trace N for one of them, or --out DIR/ for a file each"
            )),
            error @ ConvertError::NoTrace { .. } => CliError::Usage(error.to_string()),
            ConvertError::Write(error) => unwritable(None, &error),
        }
    }
}

/// Says on standard error what was lost.
fn print_losses(shown: &str, done: &Converted, to: SchemaVersion) {
    for (what, count) in &done.omitted {
        warn(&format!("{shown}: lost {count} × {}", escape::line(what)));
    }
    if done.bad_records > 0 {
        warn(&format!("{shown}: lost {} × records that could not be read", done.bad_records));
    }
    if done.late > 0 {
        warn(&format!(
            "{shown}: {} events came too late to be sorted; they have the time of the one before",
            done.late
        ));
    }
    if to == SchemaVersion::Qvis && done.empty > 0 {
        warn(&format!(
            "warning: {shown}: {} of {} traces have no packet sent: qvis shows nothing",
            done.empty, done.traces
        ));
    }
}
