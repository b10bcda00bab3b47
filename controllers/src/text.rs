//! Controllers as text, `name:parameter=value,…`: what a user types, and what is written.

use core::fmt;

use crate::param::{Param, ParamError, Parameters, Range, Value};

/// A prefix that the name of every controller of the catalogue may have.
pub(crate) const PREFIX: &str = "windlass/";

/// A controller whose parameters have names.
pub trait Configurable {
    /// The controller's name ([`Info::name`](crate::Info::name)).
    fn name(&self) -> &'static str;
    /// Sets the parameter called `name`; `profile` sets all of them.
    ///
    /// # Errors
    /// There is no such parameter, or it does not take `value`.
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParamError>;
    /// Names every parameter with its current value.
    fn describe(&self, visit: &mut dyn FnMut(&Param));
    /// A parameter whose value another one forbids; see [`Parameters::limit`].
    fn limit(&self) -> Option<(&'static str, Range)>;
    /// The names of its parameters.
    fn parameters(&self) -> Names;
}

/// What is called with each parameter.
type Visit<'a> = &'a mut dyn FnMut(&Param);

/// The parameters of one controller, with their defaults.
#[derive(Clone, Copy)]
pub struct Names(fn(Visit<'_>));

impl Names {
    /// Those of the set `P`.
    #[must_use]
    pub fn of<P: Parameters>() -> Names {
        Names(|visit| P::default().describe(visit))
    }
}

impl PartialEq for Names {
    /// An error names the controller they are of beside them.
    fn eq(&self, _: &Names) -> bool {
        true
    }
}

/// Why the text of a controller could not be read.
#[derive(Clone, Copy, PartialEq)]
pub enum ParseError<'a> {
    /// There is no controller of that name.
    UnknownController {
        /// The name as typed.
        name: &'a str,
        /// The names of the catalogue.
        catalogue: &'static [&'static str],
        /// The names there are beside those of the catalogue.
        own: &'static [&'static str],
    },
    /// The controller has no such parameter.
    UnknownParameter {
        /// Name of the controller.
        controller: &'static str,
        /// The parameter name as typed.
        parameter: &'a str,
        /// The parameters it has.
        known: Names,
    },
    /// A parameter does not take that value.
    BadValue {
        /// Name of the controller.
        controller: &'static str,
        /// Name of the parameter.
        parameter: &'a str,
        /// The value as typed.
        value: &'a str,
        /// The values it accepts.
        expected: Range,
    },
    /// A parameter stands there twice.
    Twice {
        /// Name of the controller.
        controller: &'static str,
        /// Name of the parameter.
        parameter: &'a str,
    },
    /// A part of the text is not `parameter=value`.
    NotAnAssignment(&'a str),
}

impl fmt::Debug for ParseError<'_> {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ParseError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::UnknownController { name, catalogue, own } => {
                write!(f, "unknown controller {name:?}")?;
                let all = || catalogue.iter().chain(own.iter()).copied();
                if let Some(near) = nearest(name, all()) {
                    write!(f, " (did you mean {near:?}?)")?;
                }
                f.write_str("; the catalogue has ")?;
                for (i, name) in all().enumerate() {
                    write!(f, "{}{name}", if i > 0 { ", " } else { "" })?;
                }
                Ok(())
            }
            ParseError::UnknownParameter { controller, parameter, known } => {
                write!(f, "{controller} has no parameter {parameter:?}; it has profile")?;
                let mut result = Ok(());
                (known.0)(&mut |param| result = result.and_then(|()| write!(f, ", {}", param.name)));
                result
            }
            ParseError::BadValue { controller, parameter, value, expected } => {
                write!(f, "{controller}: {parameter} is {value:?}; expected {expected}")
            }
            ParseError::Twice { controller, parameter } => {
                write!(f, "{controller}: {parameter} is given twice; expected one value")
            }
            ParseError::NotAnAssignment(text) => {
                write!(f, "{text:?} is not of the form parameter=value")
            }
        }
    }
}

impl core::error::Error for ParseError<'_> {}

/// The profiles of a controller, whose document may be a draft and of which Linux may have a module.
const fn profiles(draft: bool, linux: bool) -> crate::param::Range {
    crate::param::Range::Words(match (draft, linux) {
        (false, false) => &["quic", "paper"],
        (false, true) => &["quic", "paper", "linux"],
        (true, false) => &["quic", "paper", "draft"],
        (true, true) => &["quic", "paper", "draft", "linux"],
    })
}

/// [`Configurable::set`] for the parameters of a controller that is built from the document `source`.
pub(crate) fn set<P: Parameters>(params: &mut P, source: &str, name: &str, value: &str) -> Result<(), ParamError> {
    if name != "profile" {
        return params.set(name, value);
    }
    let draft = source.starts_with("draft-");
    let linux = P::linux();
    *params = match (value, linux) {
        ("quic", _) => Default::default(),
        ("paper", _) => Parameters::paper(),
        ("draft", _) if draft => Parameters::paper(),
        ("linux", Some(linux)) => linux,
        _ => return Err(ParamError::Expected(profiles(draft, linux.is_some()))),
    };
    Ok(())
}

/// Sets the parameters that `assignments`, `parameter=value,…`, names.
///
/// # Errors
/// What is wrong with the text, and what was expected.
pub fn assign<'a>(to: &mut dyn Configurable, assignments: &'a str) -> Result<(), ParseError<'a>> {
    let controller = to.name();
    for assignment in assignments.split(',').filter(|a| !a.is_empty()) {
        let (parameter, value) = assignment.split_once('=').ok_or(ParseError::NotAnAssignment(assignment))?;
        to.set(parameter, value).map_err(|error| match error {
            ParamError::Unknown => ParseError::UnknownParameter { controller, parameter, known: to.parameters() },
            ParamError::Expected(expected) => ParseError::BadValue { controller, parameter, value, expected },
        })?;
        // A name that is not refused is one of the controller's few.
        let name = |other: &str| other.split_once('=').is_some_and(|(name, _)| name == parameter);
        if assignments.split(',').filter(|other| name(other)).count() > 1 {
            return Err(ParseError::Twice { controller, parameter });
        }
    }
    if let Some((parameter, expected)) = to.limit() {
        let mut assigned = assignments.rsplit(',').filter_map(|a| a.split_once('='));
        let value = assigned.find(|(name, _)| *name == parameter).map_or("", |(_, value)| value);
        return Err(ParseError::BadValue { controller, parameter, value, expected });
    }
    Ok(())
}

/// Writes what a user would type to get `controller`: its name and every parameter that differs from its default.
/// `reference` is another one of its kind, with any parameters.
///
/// # Errors
/// Those of `f`.
pub fn write(f: &mut dyn fmt::Write, controller: &dyn Configurable, reference: &mut dyn Configurable) -> fmt::Result {
    f.write_str(controller.name())?;
    // Every controller has this profile: its defaults.
    let _ = reference.set("profile", "quic");
    let mut separator = ':';
    let mut result = Ok(());
    controller.describe(&mut |param| {
        let mut default = false;
        reference.describe(&mut |other| default |= other.name == param.name && other.value == param.value);
        if default {
            return;
        }
        // A word may bring parameters of its own along, with their defaults.
        if let Value::Word(word) = param.value {
            let _ = reference.set(param.name, word);
        }
        result = result.and_then(|()| write!(f, "{separator}{}={}", param.name, param.value));
        separator = ',';
    });
    result
}

/// The one of `names` that a user who typed `name`, which may have the catalogue's prefix, most likely meant.
pub(crate) fn nearest(name: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let near = names.map(|other| (edits_between(name, other), other)).min()?;
    (near.0 <= (name.len() / 3).min(3)).then_some(near.1)
}

/// How many letters are to be typed, left out, replaced or swapped with their neighbour to get from `a` to `b`
/// (optimal string alignment), in any case; `usize::MAX` for texts longer than any name.
fn edits_between(a: &str, b: &str) -> usize {
    const LONGEST: usize = 32;
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    let same = |i: usize, j: usize| a[i].eq_ignore_ascii_case(&b[j]);
    let mut rows = [[0; LONGEST + 1]; 3];
    rows[1] = core::array::from_fn(|j| j);
    for i in 0..a.len() {
        rows[2][0] = i + 1;
        for j in 0..b.len() {
            let replaced = rows[1][j] + usize::from(!same(i, j));
            let mut edits = replaced.min(rows[1][j + 1] + 1).min(rows[2][j] + 1);
            if i > 0 && j > 0 && same(i, j - 1) && same(i - 1, j) {
                edits = edits.min(rows[0][j - 1] + 1);
            }
            rows[2][j + 1] = edits;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}
