//! Which controller a trace shows, by whatever it has: a name, windows, or arrivals alone.

use std::io::Read;

use windlass_qlog_analysis::connections::{Connection, connections};
use windlass_qlog_analysis::identify::{Declared, End, Match, Model, Observed, features};
use windlass_qlog_analysis::read::{Options, twice};

use super::{Identified, identify};
use crate::replay::{Missing, ReplayError};

/// What [`answer`] finds, and by what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Classification {
    /// The trace itself tells it.
    Declared(String),
    /// Its window explains the one logged, well enough to be named.
    Window(String),
    /// Flows of it on other stacks arrived alike.
    Arrivals(String),
    /// Nothing is near enough.
    Unknown,
}

impl Classification {
    /// The first that says something: the trace, its windows, its arrivals.
    pub(super) fn of(
        declared: Option<&Declared>,
        by_window: Option<&str>,
        by_arrivals: Option<&Match>,
    ) -> Classification {
        let by_arrivals = by_arrivals.and_then(|found| found.controller.clone());
        declared
            .map(|declared| Classification::Declared(declared.controller.clone()))
            .or_else(|| by_window.map(|name| Classification::Window(name.to_owned())))
            .or_else(|| by_arrivals.map(Classification::Arrivals))
            .unwrap_or(Classification::Unknown)
    }

    /// The controller, and by what: `trace`, `window`, `arrivals`.
    #[must_use]
    pub fn named(&self) -> Option<(&str, &'static str)> {
        match self {
            Classification::Declared(name) => Some((name, "trace")),
            Classification::Window(name) => Some((name, "window")),
            Classification::Arrivals(name) => Some((name, "arrivals")),
            Classification::Unknown => None,
        }
    }
}

/// What a trace shows of its controller.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The connection that was looked at.
    pub connection: String,
    /// How many other connections the file has.
    pub others: usize,
    /// The end it was taken at.
    pub end: End,
    /// The answer.
    pub classification: Classification,
    /// Controller that the trace itself names.
    pub declared: Option<Declared>,
    /// By the congestion window; else why not.
    pub by_window: Result<Identified, Missing>,
    /// By the arrival of data packets; else why not.
    pub by_arrivals: Result<Match, String>,
}

/// Which controller the connection called `asked` shows, or without a name the one with most bytes. `open` is called
/// several times and opens the trace.
///
/// # Errors
/// The trace cannot be read, or has no such connection.
pub fn answer<R: Read>(open: &dyn Fn() -> Result<R, ReplayError>, asked: Option<&str>) -> Result<Answer, ReplayError> {
    let (connection, others) = observe(open, asked)?;
    let Connection { group, follower: observed, .. } = connection;
    let by_window = match identify(open, asked) {
        Ok(found) => Ok(found),
        Err(ReplayError::Missing(missing)) => Err(missing),
        Err(error) => return Err(error),
    };
    let by_arrivals = by_arrivals(&observed);
    let declared = observed.declared();
    let classification = Classification::of(
        declared.as_ref(),
        by_window.as_ref().ok().and_then(Identified::named),
        by_arrivals.as_ref().ok(),
    );
    Ok(Answer { connection: group, others, end: observed.end(), classification, declared, by_window, by_arrivals })
}

/// Which controller the arrivals of a connection show.
///
/// # Errors
/// Why they show none.
pub fn by_arrivals(observed: &Observed) -> Result<Match, String> {
    let features = features(observed.arrivals(), observed.min_rtt()).map_err(|error| error.to_string())?;
    let model = Model::builtin().map_err(|error| format!("the model cannot be read: {error}"))?;
    Ok(model.classify(&features))
}

/// Follows the connection called `asked`, or the one with most arrivals, of what `open` gives; with the number of others.
///
/// # Errors
/// The trace cannot be read, or has no such connection.
pub fn observe<R: Read>(
    open: &dyn Fn() -> Result<R, ReplayError>,
    asked: Option<&str>,
) -> Result<(Connection<Observed>, usize), ReplayError> {
    let options = Options { jobs: 1, ..Options::default() };
    let (_, found) = twice(open, &options, |input, options| connections(input, options, Observed::default))?;
    let others = found.len().saturating_sub(1);
    let known: Vec<String> = found.iter().take(20).map(|one| format!("#{} {}", one.trace.index, one.group)).collect();
    let is_asked = |one: &Connection<Observed>| {
        asked.is_none_or(|asked| {
            one.group == asked || asked.strip_prefix('#') == Some(one.trace.index.to_string().as_str())
        })
    };
    let chosen = found.into_iter().filter(is_asked).max_by_key(|one| one.follower.arrivals().len());
    chosen.map(|one| (one, others)).ok_or_else(|| match asked {
        Some(asked) => ReplayError::NoConnection { asked: asked.to_owned(), known },
        None => ReplayError::Missing(Missing::Packets),
    })
}
