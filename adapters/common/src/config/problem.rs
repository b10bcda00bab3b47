//! Errors in configuration files, with their places.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// Error of a configuration file.
#[derive(thiserror::Error)]
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

impl fmt::Debug for ConfigError {
    /// The text, since `main` prints errors with `Debug`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
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

/// Line and column, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub line: usize,
    pub column: usize,
}

/// A text whose places are looked up.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Offset of each line, bytes.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Lines<'a> {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(after).collect() }
    }

    /// The beginning of `span`; a span outside the text is moved into it.
    pub fn place(&self, span: &Range<usize>) -> Place {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let line = self.starts.partition_point(|&line| line <= start);
        Place { line, column: self.text[self.starts[line - 1]..start].chars().count() + 1 }
    }
}
