//! What `replay --controller` and `identify` share.

use std::io::Read;
use std::path::Path;

use windlass_qlog_analysis::read::{Input, ReadError};

use super::files::Again;
use crate::cli::CliError;
use windlass_lab::hindsight::{HindsightError, LossSource};

type Opened = Result<Input<Box<dyn Read + Send>>, HindsightError>;

/// What opens a file, as often as it is asked to.
pub(super) fn opener(file: &Again) -> impl Fn() -> Opened + '_ {
    move || file.open().map_err(|error| HindsightError::Read(ReadError::Stopped(error.to_string())))
}

/// What went wrong with a file.
pub(super) fn failed(file: &Path, error: &HindsightError) -> CliError {
    match error {
        HindsightError::Read(error) => CliError::Failed(format!("cannot read {}: {error}", file.display())),
        HindsightError::NoConnection { .. } | HindsightError::Controller(_) => {
            CliError::Usage(format!("{}: {error}", file.display()))
        }
        HindsightError::Missing(_) => CliError::Failed(format!("{}: {error}", file.display())),
    }
}

/// What has to be said with every window that was not in force.
pub(super) fn caveat(losses: LossSource) -> String {
    let source = match losses {
        LossSource::Told => "",
        LossSource::Detected => " The trace tells no lost packets; RFC 9002's thresholds found them.",
    };
    format!("The network does not react: windows are what a controller would have decided on these events.{source}")
}
