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

use std::io::BufRead;

mod check;
pub(crate) mod names;
mod report;
mod rule;
mod source;

pub use report::{Finding, Place, Report};
pub use rule::{Rule, Severity};
pub use windlass_qlog::Profile;

/// Holds a qlog file against the rules of a profile. It never fails: a file that cannot
/// be read is a finding.
pub fn lint<R: BufRead>(reader: R, profile: Profile) -> Report {
    let mut checker = check::Checker::new(profile);
    source::read(reader, &mut checker);
    checker.finish()
}
