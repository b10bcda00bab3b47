//! The page of traces that are still being written: the sections of a report of traces, sent
//! anew by the server they come from whenever a file has grown.

use std::path::{Path, PathBuf};

use serde::Serialize;
use windlass_qlog_analysis::series::{About, ConnectionSeries};

use super::frame::{Page, packed};
use super::traces::{LINES, SECTION, STYLE};

const SCRIPTS: [&str; 1] = [include_str!("js/live.js")];

/// A connection as the page gets it.
#[derive(Clone, Debug, Serialize)]
pub struct LiveTrace {
    /// Its place among the traces of the page, which it keeps.
    pub id: usize,
    /// Rises with every update.
    pub version: u64,
    /// Description of the connection.
    pub about: About,
    /// Its points, packed.
    pub lines: String,
    /// Where its file is now.
    #[serde(skip)]
    pub at: PathBuf,
}

impl LiveTrace {
    /// A connection of `file`, which is `at` some place, called `name`.
    #[must_use]
    pub fn new(
        (id, version): (usize, u64),
        name: String,
        (file, at): (&str, &Path),
        series: &ConnectionSeries,
        bad: u64,
    ) -> LiveTrace {
        let about = About { name, ..About::new(file, series, bad) };
        LiveTrace { id, version, about, lines: packed(&series.encode()), at: at.to_owned() }
    }
}

/// The page titled `title`. It asks the server it comes from, and no other, for `state` and `events`.
#[must_use]
pub fn page(title: &str) -> String {
    let scripts: Vec<&str> = LINES.into_iter().chain(SECTION).chain(SCRIPTS).collect();
    let page = Page {
        title,
        skip: "Skip to the traces",
        contents: "Traces",
        noscript: "The figures of this page are built by its own script. \
            Allow scripts, or read the lines that `windlass qlog watch` prints.",
        style: STYLE,
        scripts: &scripts,
        data: &[],
        asks: true,
    };
    page.html()
}
