//! What is wrong with a file, and where.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration {}: {source}", path.display())]
    Unreadable {
        /// Path of the configuration file.
        path: PathBuf,
        /// The error of the read.
        source: io::Error,
    },
    /// The directory of recordings cannot be made or written to.
    #[error("cannot write recordings to {}: {source}", directory.display())]
    Recording {
        /// Directory of the recordings.
        directory: PathBuf,
        /// The error of making or writing it.
        source: io::Error,
    },
    /// The file has mistakes: all of them, a line each.
    #[error("{}", lines(.0))]
    Wrong(Vec<Problem>),
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}

impl ConfigError {
    pub(super) fn unless_empty(problems: Vec<Problem>) -> Result<(), ConfigError> {
        if problems.is_empty() { Ok(()) } else { Err(ConfigError::Wrong(problems)) }
    }
}

/// One mistake in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Name of the file, or of the text's origin.
    pub file: String,
    /// Line of the mistake, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// What is wrong, with the value and what was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

/// Where something stands, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The beginning of `span` in `text`; a span outside the text is moved into it.
    pub fn of(text: &str, span: &Range<usize>) -> Place {
        let mut start = span.start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place { line: before.matches('\n').count() + 1, column: before[line..].chars().count() + 1 }
    }
}
