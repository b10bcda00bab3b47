//! Where a command writes to: a file that is complete or not there, or standard output; and
//! rows as CSV.

use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::write::GzEncoder;
use windlass_lab::output::OutputFile;
use windlass_qlog_analysis::escape;
use zstd::stream::write::Encoder as ZstdEncoder;

use crate::cli::CliError;
use crate::cli::error::{shown, unprintable};

/// What a file is compressed with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(super) enum Compression {
    /// Uncompressed
    #[default]
    None,
    /// gzip
    Gzip,
    /// Zstandard
    Zstd,
}

impl Compression {
    /// By the end of a file name: `.gz`, `.zst`, or none.
    pub(super) fn of(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

/// The output through its compressor.
enum Stream {
    Plain(BufWriter<Sink>),
    Gzip(GzEncoder<BufWriter<Sink>>),
    Zstd(ZstdEncoder<'static, BufWriter<Sink>>),
}

/// The destination of an output.
enum Sink {
    Standard(io::Stdout),
    File(OutputFile),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Standard(out) => out.write(bytes),
            Sink::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Standard(out) => out.flush(),
            Sink::File(file) => file.flush(),
        }
    }
}

/// An output. Dropped before [`Output::finish`], a file is not there.
pub(super) struct Output {
    stream: Stream,
    path: Option<PathBuf>,
}

impl Output {
    /// Opens `path`, which is none of `inputs`, or the standard output if it is none or `-`.
    pub(super) fn open(path: Option<&Path>, compression: Compression, inputs: &[PathBuf]) -> Result<Output, CliError> {
        let path = path.filter(|path| *path != Path::new("-"));
        let sink = match path {
            None => Sink::Standard(io::stdout()),
            Some(path) => Sink::File(OutputFile::open(path, inputs)?),
        };
        let buffered = BufWriter::with_capacity(1 << 16, sink);
        let stream = match compression {
            Compression::None => Stream::Plain(buffered),
            Compression::Gzip => Stream::Gzip(GzEncoder::new(buffered, flate2::Compression::default())),
            Compression::Zstd => Stream::Zstd(ZstdEncoder::new(buffered, 3).map_err(|error| unwritable(path, &error))?),
        };
        Ok(Output { stream, path: path.map(Path::to_owned) })
    }

    /// Refuses to write bytes that are not text to a terminal.
    pub(super) fn refuse_terminal(path: Option<&Path>, what: &str) -> Result<(), CliError> {
        if path.is_none_or(|path| path == Path::new("-")) && io::stdout().is_terminal() {
            return Err(CliError::Usage(format!("{what} is no text for a terminal; name a file with --out")));
        }
        Ok(())
    }

    /// Puts the file into its place.
    pub(super) fn finish(self) -> Result<(), CliError> {
        let path = self.path;
        let wrong = |error: io::Error| unwritable(path.as_deref(), &error);
        let buffered = match self.stream {
            Stream::Plain(buffered) => buffered,
            Stream::Gzip(encoder) => encoder.finish().map_err(wrong)?,
            Stream::Zstd(encoder) => encoder.finish().map_err(wrong)?,
        };
        match buffered.into_inner().map_err(|error| wrong(error.into_error()))? {
            Sink::Standard(mut out) => out.flush().map_err(wrong),
            Sink::File(file) => Ok(file.finish()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Plain(out) => out.write(bytes),
            Stream::Gzip(out) => out.write(bytes),
            Stream::Zstd(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.stream {
            Stream::Plain(out) => out.flush(),
            Stream::Gzip(out) => out.flush(),
            Stream::Zstd(out) => out.flush(),
        }
    }
}

/// The error of an output that cannot be written.
pub(super) fn unwritable(path: Option<&Path>, error: &io::Error) -> CliError {
    match path {
        None => unprintable(error),
        Some(path) => CliError::Failed(format!("cannot write to {}: {error}", shown(path))),
    }
}

/// A stream that ends when the user asks to stop.
pub(super) struct Stoppable<R> {
    /// The stream that is read.
    pub(super) input: R,
    /// Set by an interrupt.
    pub(super) stop: Arc<AtomicBool>,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        self.input.read(buffer)
    }
}

/// `result`, or [`CliError::Interrupted`] if the user has asked to stop.
pub(super) fn unless_stopped<T>(stop: &AtomicBool, result: Result<T, CliError>) -> Result<T, CliError> {
    if stop.load(Ordering::Relaxed) { Err(CliError::Interrupted) } else { result }
}

/// Rows of cells, quoted where need be.
pub(super) struct Csv(csv::Writer<Vec<u8>>);

impl Csv {
    pub(super) fn new() -> Self {
        Csv(csv::Writer::from_writer(Vec::new()))
    }

    /// Appends a row. A cell is one line, and none is a formula to a spreadsheet, whatever file it comes from.
    pub(super) fn row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) -> Result<(), CliError> {
        for text in cells {
            self.0.write_field(escape::cell(text.as_ref()).as_bytes()).map_err(|error| failed(&error))?;
        }
        self.0.write_record(None::<&[u8]>).map_err(|error| failed(&error))
    }

    /// The text of all rows.
    pub(super) fn finish(self) -> Result<String, CliError> {
        let bytes = self.0.into_inner().map_err(|error| failed(&error))?;
        String::from_utf8(bytes).map_err(|error| failed(&error))
    }
}

/// A number as a cell; empty for `None`.
pub(super) fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn failed(error: &dyn std::fmt::Display) -> CliError {
    CliError::Failed(format!("cannot write CSV: {error}"))
}
