//! How a command ends when it cannot do its work.

use std::process::ExitCode;

use crate::results::StoreError;

/// Why a command stopped.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Something asked for does not exist or cannot work.
    #[error("{0}")]
    Usage(String),
    /// A file the user gave is wrong, and where.
    #[error("{0}")]
    Diagnostic(miette::Report),
    /// Output could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run went wrong.
    #[error("{0}")]
    Failed(String),
    /// The user asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// Nobody reads the output any more.
    #[error("output closed")]
    Closed,
}

impl CliError {
    /// Prints the error to standard error and gives the exit code.
    #[must_use]
    pub fn tell(&self) -> ExitCode {
        match self {
            CliError::Diagnostic(report) => eprintln!("{report:?}"),
            CliError::Closed => {}
            other => eprintln!("error: {other}"),
        }
        ExitCode::from(match self {
            CliError::Usage(_) | CliError::Diagnostic(_) => 2,
            CliError::Store(_) | CliError::Failed(_) => 1,
            CliError::Interrupted => 130,
            CliError::Closed => 0,
        })
    }
}

/// Writes to standard output; a reader that went away (`| head`) is no error worth
/// telling.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(CliError::Closed),
        Err(error) => Err(CliError::Failed(format!("cannot write to standard output: {error}"))),
    }
}
