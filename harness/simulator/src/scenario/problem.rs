//! What is wrong with a scenario file, and where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

/// Why a scenario cannot be used.
#[derive(thiserror::Error, Diagnostic)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read the scenario {path}")]
    Unreadable {
        /// Path of the scenario file.
        path: PathBuf,
        /// The error of the read.
        source: std::io::Error,
    },
    /// The file has mistakes, listed in the order of their lines.
    #[error("{}", summary(.problems))]
    Wrong {
        /// All of them, in the file's order.
        #[related]
        problems: Vec<Problem>,
    },
}

impl fmt::Debug for ScenarioError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScenarioError::Unreadable { source, .. } => write!(f, "{self}: {source}"),
            ScenarioError::Wrong { .. } => fmt::Display::fmt(self, f),
        }
    }
}

fn summary(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::line).collect();
    lines.join("\n")
}

/// One mistake in a scenario file.
#[derive(thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct Problem {
    /// What is wrong, with the value and what was expected.
    pub message: String,
    #[source_code]
    text: NamedSource<Arc<str>>,
    #[label("{label}")]
    span: SourceSpan,
    label: String,
    /// How to mend it; `None` if there is nothing to add.
    #[help]
    pub help: Option<String>,
    /// Name of the file, or of the built-in scenario.
    pub file: String,
    /// Line of the mistake, from 1.
    pub at_line: usize,
    /// Column, from 1, in characters.
    pub at_column: usize,
}

impl fmt::Debug for Problem {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line())
    }
}

impl Problem {
    /// The problem in one line: `file:line:column: message (help)`.
    #[must_use]
    pub fn line(&self) -> String {
        let help = self.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}:{}:{}: {}{help}", self.file, self.at_line, self.at_column, self.message)
    }

    /// The problem with question marks in place of the characters that are to be hidden, for whoever shows a file
    /// of others. Every place in it stays where it is.
    #[must_use]
    pub fn masked(self, hide: impl Fn(char) -> bool) -> Problem {
        let mask = |text: &str| -> String {
            let shown = |c: char| if hide(c) { "?".repeat(c.len_utf8()) } else { c.to_string() };
            text.chars().map(shown).collect()
        };
        let file = mask(&self.file).replace('\n', "?");
        Problem {
            message: mask(&self.message),
            text: NamedSource::new(&file, mask(self.text.inner()).into()).with_language("toml"),
            label: mask(&self.label),
            help: self.help.as_deref().map(mask),
            file,
            ..self
        }
    }
}

/// Collects the problems of one file.
pub(super) struct Problems {
    file: String,
    text: Arc<str>,
    list: Vec<Problem>,
    /// Every key anybody asked for, to compare with what is documented.
    pub asked: std::collections::BTreeSet<&'static str>,
}

impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list.fmt(f)
    }
}

impl Problems {
    pub fn new(file: &str, text: &str) -> Problems {
        Problems { file: file.to_owned(), text: text.into(), list: Vec::new(), asked: Default::default() }
    }

    /// Adds one. A span outside the text is moved into it. Which line it is on is found out at the end, for all at once.
    pub fn add(&mut self, span: Range<usize>, label: &str, message: String, help: Option<String>) {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let end = span.end.clamp(start, self.text.len());
        self.list.push(Problem {
            message,
            text: NamedSource::new(&self.file, Arc::clone(&self.text)).with_language("toml"),
            span: (start..end).into(),
            label: label.to_owned(),
            help,
            file: self.file.clone(),
            at_line: 1,
            at_column: 1,
        });
    }

    /// The folder of the file, which names in it are relative to.
    pub fn folder(&self) -> PathBuf {
        Path::new(&self.file).parent().map_or_else(PathBuf::new, Path::to_owned)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn into_error(mut self) -> ScenarioError {
        self.list.sort_by_key(|problem| problem.span.offset());
        let (mut at, mut line, mut column) = (0, 1, 1);
        for problem in &mut self.list {
            for c in self.text[at..problem.span.offset()].chars() {
                (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            at = problem.span.offset();
            (problem.at_line, problem.at_column) = (line, column);
        }
        ScenarioError::Wrong { problems: self.list }
    }
}

/// The word of `known` a person may have meant by `typed`.
pub(super) fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|word| (strsim::jaro_winkler(typed, word), word))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}
