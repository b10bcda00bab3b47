//! From names a user typed to what they mean, with an error that helps.

use windlass_controllers::{Algorithm, ParseError};

use super::CliError;
use super::suggest::did_you_mean;

/// The controller `text` names.
pub(super) fn controller(text: &str) -> Result<Algorithm, CliError> {
    Algorithm::read(text).map_err(|error| {
        CliError::Usage(match error {
            ParseError::UnknownController(name) => format!(
                "unknown controller {name:?}{}; `windlass list` names all of them",
                did_you_mean(name, Algorithm::ALL.iter().map(|entry| entry.name))
            ),
            other => other.to_string(),
        })
    })
}
