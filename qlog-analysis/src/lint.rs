//! What is wrong with a qlog file, where, and what would fix it.
//!
//! The file is read once, in a stream, and held against the rules of one [`Profile`]:
//! the IETF drafts (`draft-ietf-quic-qlog-main-schema`,
//! `draft-ietf-quic-qlog-quic-events-13`), or what qvis needs to show anything at all.
//! A record that cannot be read costs that record only; in plain JSON, whatever comes
//! after a syntax error is lost.
//!
//! ```
//! use windlass_qlog_analysis::lint::{Rule, lint};
//! use windlass_qlog::Profile;
//!
//! let file = b"\x1e{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"trace\":{\"vantage_point\":{\"type\":\"server\"}}}\n";
//! let report = lint(&file[..], Profile::Qvis);
//! let broken: Vec<Rule> = report.counts.keys().copied().collect();
//! assert_eq!(broken, [Rule::NoPackets, Rule::NoEvents]);
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;

use serde::Serialize;

use crate::escape;

mod check;
pub(crate) mod names;
mod rule;
mod source;

pub use rule::{Rule, Severity};
pub use windlass_qlog::Profile;

/// Holds a qlog file against the rules of a profile. It never fails: a file that cannot
/// be read is a finding.
pub fn lint(mut reader: impl BufRead, profile: Profile) -> Report {
    let mut checker = check::Checker::new(profile);
    source::read(&mut reader, &mut checker);
    checker.finish()
}

/// Findings kept of one rule; the others are only counted.
const KEPT: u64 = 20;

/// Place of a finding in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Place {
    /// Record, from 1 (the header is the first); of a plain JSON file, the event, and
    /// 0 for what is outside events.
    pub record: u64,
    /// Line, from 1.
    pub line: u64,
}

/// A rule that an event or a file violates.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// Whether it is an error or a warning.
    pub severity: Severity,
    /// The rule that is violated.
    pub rule: Rule,
    /// Place in the file.
    #[serde(flatten)]
    pub place: Place,
    /// The fault, with the value at fault.
    pub message: String,
    /// The remedy, one sentence.
    pub fix: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { severity, rule, place, message, fix } = self;
        let message = escape::line(message);
        write!(f, "line {}, record {}: {severity} [{rule}]: {message}; {fix}", place.line, place.record)
    }
}

/// The findings of one file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    #[serde(skip)]
    profile: Profile,
    /// Findings in the order they were made, at most 20 of a rule.
    pub findings: Vec<Finding>,
    /// Number of findings of each rule.
    pub counts: BTreeMap<Rule, u64>,
    /// Records read, of a plain JSON file the events.
    pub records: u64,
    /// Events among the records.
    pub events: u64,
}

impl Report {
    fn new(profile: Profile) -> Self {
        Report { profile, findings: Vec::new(), counts: BTreeMap::new(), records: 0, events: 0 }
    }

    /// Notes that `rule` is broken, if it holds under the profile.
    fn add(&mut self, rule: Rule, place: Place, message: impl FnOnce() -> String) {
        let Some(severity) = rule.severity(self.profile) else { return };
        let count = self.counts.entry(rule).or_default();
        *count += 1;
        if *count <= KEPT {
            self.findings.push(Finding { severity, rule, place, message: message(), fix: rule.fix() });
        }
    }

    /// The profile the file was held against.
    #[must_use]
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Number of findings that are errors, those not kept included.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.of(Severity::Error)
    }

    /// How many findings are warnings, those not kept included.
    #[must_use]
    pub fn warnings(&self) -> u64 {
        self.of(Severity::Warning)
    }

    fn of(&self, severity: Severity) -> u64 {
        self.counts
            .iter()
            .filter(|(rule, _)| rule.severity(self.profile) == Some(severity))
            .map(|(_, count)| count)
            .sum()
    }

    /// True if there are no findings.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.counts.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for (rule, &count) in self.counts.iter().filter(|&(_, &count)| count > KEPT) {
            writeln!(f, "[{rule}]: {} more", count - KEPT)?;
        }
        let (errors, warnings) = (self.errors(), self.warnings());
        write!(f, "{} events: {errors} errors, {warnings} warnings", self.events)
    }
}
