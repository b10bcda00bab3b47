//! Errors of commands: their messages and exit codes.

use std::path::Path;
use std::process::ExitCode;

use windlass_lab::output::StoreError;
use windlass_qlog_analysis::escape;
use windlass_simulator::scenario::ScenarioError;

/// Why a command stopped.
#[derive(thiserror::Error)]
pub enum CliError {
    /// An argument names something that does not exist or cannot work.
    #[error("{0}")]
    Usage(String),
    /// A scenario cannot be used.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Output could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The work failed, as the text says.
    #[error("{0}")]
    Failed(String),
    /// A file cannot be read. Commands go on without it where others are left.
    #[error("{reason}")]
    Unreadable {
        /// Which file, and what is wrong with it.
        reason: String,
        /// Exit code where nothing is left: 2 if there is no such file, 1 otherwise.
        code: u8,
    },
    /// The work is done, but for files that were left out.
    #[error("{0} files could not be read and are left out")]
    LeftOut(usize),
    /// The user asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The user asked to stop; finished runs are cached.
    #[error("interrupted; {done} of {runs} runs are done and cached; the same command goes on from there")]
    Paused {
        /// Runs that are done and cached.
        done: usize,
        /// All runs of the command.
        runs: usize,
    },
    /// The reader of standard output is gone.
    #[error("output closed")]
    Closed,
}

impl std::fmt::Debug for CliError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Mistakes of a scenario that are shown with their lines; each shows the file anew, so further ones take a line each.
const DRAWN: usize = 20;

impl CliError {
    /// Prints the error to standard error and gives the exit code.
    #[must_use]
    pub fn report(self) -> ExitCode {
        let code = match &self {
            CliError::Usage(_) | CliError::Scenario(_) => 2,
            CliError::Store(_) | CliError::Failed(_) => 1,
            CliError::Unreadable { code, .. } => *code,
            CliError::LeftOut(_) => 3,
            CliError::Interrupted | CliError::Paused { .. } => 130,
            CliError::Closed => 0,
        };
        match self {
            CliError::Closed => {}
            CliError::Scenario(ScenarioError::Wrong { problems }) => {
                let count = match problems.len() {
                    1 => "a mistake".to_owned(),
                    n => format!("{n} mistakes"),
                };
                let file = problems.first().map_or_else(String::new, |problem| shown(Path::new(&problem.file)));
                warn(&format!("error: {count} in the scenario {file}"));
                for (number, problem) in problems.into_iter().enumerate() {
                    if number >= DRAWN {
                        warn(&problem.line());
                        continue;
                    }
                    // It has colours of its own, so that nothing can be escaped any more.
                    let shown = problem.masked(|c| c != '\n' && c != '\t' && escape::is_unsafe(c));
                    to_stderr(&format!("{:?}", miette::Report::new(shown)));
                }
            }
            CliError::Scenario(ScenarioError::Unreadable { path, source }) => {
                warn(&format!("error: cannot read the scenario {}: {source}", shown(&path)));
            }
            CliError::LeftOut(1) => warn("error: 1 file could not be read and is left out"),
            other => warn(&format!("error: {other}")),
        }
        ExitCode::from(code)
    }
}

/// A path as one line of text.
pub(super) fn shown(path: &Path) -> String {
    escape::line(&path.display().to_string()).into_owned()
}

/// Writes a line to standard error. What comes from files and their names moves no cursor.
pub(super) fn warn(text: &str) {
    to_stderr(&escape::lines(text));
}

/// Writes a line to standard error, whether or not it has a reader (`2>&1 | head`): what the exit code tells stays so.
fn to_stderr(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes to standard output, as [`warn`]. A reader that is gone (`| head`) gives [`CliError::Closed`],
/// which is reported as success.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(escape::lines(text).as_bytes()).and_then(|()| out.flush()).map_err(|error| unprintable(&error))
}

/// The error of a standard output that cannot be written to.
pub(super) fn unprintable(error: &std::io::Error) -> CliError {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => CliError::Closed,
        _ => CliError::Failed(format!("cannot write to standard output: {error}")),
    }
}

/// The error of a file that cannot be read.
pub(in crate::cli) fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> CliError {
    let text = error.to_string();
    // The library's error names its own option.
    let text =
        text.replace("Limits::max_bytes", "--max-decompressed").replace("Limits::max_ratio", "--max-decompressed");
    CliError::Unreadable { reason: format!("cannot read {}: {}", shown(path), escape::line(&text)), code: 1 }
}
