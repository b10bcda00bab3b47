//! From what a user typed to a controller the stack can run.

use windlass_controllers::{Algorithm, ConfiguredController, Signals};

/// A stack as far as choosing a controller for it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Its name in errors and logs.
    pub name: &'static str,
    /// What it reports to a controller, with the bookkeeping of its adapter.
    pub provides: Signals,
}

/// Why a controller cannot be used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The text is not a controller of the catalogue with valid parameters.
    #[error("{0}")]
    Unreadable(String),
    /// The stack does not provide what the controller needs.
    #[error("{controller} needs {missing}; {stack} does not report {them}; {remedy}", them = if missing.names().count() > 1 { "them" } else { "it" }, remedy = remedy(controller, *fallback))]
    MissingSignals {
        /// Name and parameters as the user typed them.
        controller: String,
        /// Signals the controller needs and the stack does not report.
        missing: Signals,
        /// Name of the stack, as in its qlog.
        stack: &'static str,
        /// What the controller's documented fallback does, if it has one.
        fallback: Option<&'static str>,
    },
}

fn remedy(controller: &str, fallback: Option<&str>) -> String {
    match fallback {
        Some(does) => {
            let text = with_fallback(controller);
            format!("ask for its fallback by name, \"{text}\" ({does}), or run it in the simulator")
        }
        None => "run it in the simulator".to_owned(),
    }
}

/// `controller`, as a user types it, with its documented fallback asked for.
#[must_use]
pub fn with_fallback(controller: &str) -> String {
    let separator = if controller.contains(':') { ',' } else { ':' };
    format!("{controller}{separator}fallback=on")
}

/// Reads a controller of the catalogue and checks that `stack` can run it.
///
/// # Errors
/// The text cannot be read, or a needed signal is not among `provides`.
pub fn choose(text: &str, stack: &'static str, provides: Signals) -> Result<Algorithm, ChoiceError> {
    let algorithm = Algorithm::read(text).map_err(|error| ChoiceError::Unreadable(error.to_string()))?;
    require(&algorithm, text, stack, provides)?;
    Ok(algorithm)
}

/// Checks that `stack`, which reports `provides`, can run `controller`, which the user
/// called `text`.
///
/// # Errors
/// A needed signal is not among `provides`.
pub fn require<C: ConfiguredController>(
    controller: &C,
    text: &str,
    stack: &'static str,
    provides: Signals,
) -> Result<(), ChoiceError> {
    let missing = controller.needs().without(provides);
    if missing.is_empty() {
        return Ok(());
    }
    Err(ChoiceError::MissingSignals { controller: text.to_owned(), missing, stack, fallback: controller.fallback() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_signals_are_named() {
        let error = choose("reno", "a stack", Signals::ACKS).unwrap_err();
        assert_eq!(error.to_string(), "reno needs loss; a stack does not report it; run it in the simulator");
    }

    #[test]
    fn says_what_is_wrong_with_a_parameter() {
        let error = choose("reno:iw=0", "a stack", Signals::ALL).unwrap_err();
        assert_eq!(error.to_string(), "reno: iw is \"0\"; expected 1 to 10000");
        assert!(
            choose("renoo", "a stack", Signals::ALL).unwrap_err().to_string().contains("unknown controller \"renoo\"")
        );
    }
}
