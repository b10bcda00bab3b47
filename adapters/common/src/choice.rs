//! From a user's text to a controller that the stack can run, and the peer it may be chosen for.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;

use windlass_controllers::{ConfiguredController, Signals};

use crate::NamedController;

/// A stack as far as choosing a controller for it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stack {
    /// Its name in errors and logs.
    pub name: &'static str,
    /// What it reports to a controller, with the bookkeeping of its adapter.
    pub provides: Signals,
}

/// The peer of a flow, as far as the stack reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer<'a> {
    /// Remote address and port of the path.
    pub address: SocketAddr,
    /// The host name it was reached by, where known.
    pub name: Option<&'a str>,
}

impl<T: Into<SocketAddr>> From<T> for Peer<'static> {
    fn from(address: T) -> Self {
        Peer { address: address.into(), name: None }
    }
}

/// Error of choosing a controller.
#[derive(Clone, PartialEq, thiserror::Error)]
pub enum ChoiceError {
    /// The text is not a controller of the catalogue with valid parameters.
    #[error("{0}")]
    Unreadable(String),
    /// The stack does not provide what the controller needs.
    #[error("{controller} needs {missing}; {stack} does not report {them}; {remedy}", them = if missing.names().count() > 1 { "them" } else { "it" }, remedy = remedy(controller, *fallback, advice.as_deref()))]
    MissingSignals {
        /// Name and parameters as the user typed them.
        controller: String,
        /// Signals the controller needs and the stack does not report.
        missing: Signals,
        /// Name of the stack, as in its qlog.
        stack: &'static str,
        /// What the controller's documented fallback does, if it has one.
        fallback: Option<&'static str>,
        /// What the program can do to have the signals reported, if anything.
        advice: Option<Cow<'static, str>>,
    },
}

impl ChoiceError {
    /// The same, with the advice `text` how a program has the signals reported, where any of `signals` is missing.
    #[must_use]
    pub fn advised(mut self, signals: Signals, text: impl Into<Cow<'static, str>>) -> Self {
        if let ChoiceError::MissingSignals { missing, advice, .. } = &mut self {
            if *missing != missing.without(signals) {
                *advice = Some(text.into());
            }
        }
        self
    }

    /// Signals that the controller needs and the stack does not report.
    #[must_use]
    pub fn missing(&self) -> Signals {
        if let ChoiceError::MissingSignals { missing, .. } = self { *missing } else { Signals::NONE }
    }
}

impl fmt::Debug for ChoiceError {
    /// The text, since `main` prints errors with `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn remedy(controller: &str, fallback: Option<&str>, advice: Option<&str>) -> String {
    let fallback =
        fallback.map(|does| format!("ask for its fallback by name, \"{}\" ({does})", with_fallback(controller)));
    let all: Vec<String> = advice.map(str::to_owned).into_iter().chain(fallback).collect();
    match all.as_slice() {
        [] => "run it in the simulator".to_owned(),
        all => format!("{}, or run it in the simulator", all.join(", or ")),
    }
}

/// `controller`, as a user types it, with its documented fallback asked for.
#[must_use]
pub fn with_fallback(controller: &str) -> String {
    if let Some((name, parameters)) = controller.split_once(':') {
        let others: Vec<&str> = parameters.split(',').filter(|one| !one.starts_with("fallback=")).collect();
        if others.len() < parameters.split(',').count() {
            let others = others.iter().map(|one| format!("{one},")).collect::<String>();
            return format!("{name}:{others}fallback=on");
        }
    }
    with_parameter(controller, "fallback", "on")
}

/// `controller`, as a user types it, with another parameter.
#[must_use]
pub fn with_parameter(controller: &str, name: &str, value: &str) -> String {
    let separator = if controller.contains(':') { ',' } else { ':' };
    format!("{controller}{separator}{name}={value}")
}

/// Whether a text `name:parameter=value,…` has a value for `parameter`.
#[must_use]
pub fn assigns(text: &str, parameter: &str) -> bool {
    let (_, assignments) = text.split_once(':').unwrap_or_default();
    assignments.split(',').any(|one| one.split_once('=').is_some_and(|(name, _)| name == parameter))
}

/// Reads a controller of the catalogue and checks that `stack` can run it.
///
/// # Errors
/// The text cannot be read, or a needed signal is not among `provides`.
pub fn choose(text: &str, stack: &'static str, provides: Signals) -> Result<NamedController, ChoiceError> {
    let algorithm = NamedController::read(text).map_err(|error| ChoiceError::Unreadable(error.to_string()))?;
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
    // A fallback that is asked for already, or that the stack cannot run either, is no remedy.
    let helps = || NamedController::read(&with_fallback(text)).map_or(true, |other| provides.contains(other.needs()));
    let fallback = controller.fallback().filter(|_| helps());
    Err(ChoiceError::MissingSignals { controller: text.to_owned(), missing, stack, fallback, advice: None })
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
    fn a_fallback_that_is_no_remedy_is_not_advised() {
        let both = Signals::ALL.without(Signals::PROBE_TRAINS);
        let error = choose("nf-tcp:profile=paper", "a stack", both).unwrap_err().to_string();
        assert!(error.contains("\"nf-tcp:profile=paper,fallback=on\""), "{error}");
        let error = choose("nf-tcp:fallback=off", "a stack", both).unwrap_err().to_string();
        assert!(error.contains("\"nf-tcp:fallback=on\""), "{error}");
        for asked in ["nf-tcp", "nf-tcp:fallback=on"] {
            let error = choose(asked, "a stack", Signals::ACKS).unwrap_err().to_string();
            assert!(!error.contains("ask for") && error.ends_with("; run it in the simulator"), "{error}");
        }
    }

    #[test]
    fn advice_is_given_where_it_helps() {
        let error = choose("dctcp", "a stack", Signals::ALL.without(Signals::ECN.and(Signals::CE_COUNT))).unwrap_err();
        let advised = error.clone().advised(Signals::ECN, "call sets_ect()").to_string();
        assert!(advised.contains("; call sets_ect(), or ask for its fallback by name"), "{advised}");
        assert_eq!(error.clone().advised(Signals::PROBE_TRAINS, "call sets_ect()"), error);
    }

    #[test]
    fn what_main_prints_is_the_text() {
        let error = choose("renno", "a stack", Signals::ALL).unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
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
