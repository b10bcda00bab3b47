//! The page of qlog traces: what each connection did over time.
//!
//! The page holds every point of every line, packed; its script decodes them into typed
//! arrays and draws of each pixel column the least, the largest and the last value. On
//! zooming in it draws the range that is visible anew, down to single events.

use serde::Serialize;
use windlass_qlog_analysis::metrics::Measures;
use windlass_qlog_analysis::series::{ConnectionSeries, Point};

use super::frame::{Data, Page, packed};

const STYLE: &str = include_str!("page.css");
pub(super) const LINES: [&str; 2] = [include_str!("js/decode.js"), include_str!("js/lines.js")];
const SCRIPTS: [&str; 4] = [
    include_str!("js/data.js"),
    include_str!("js/shared.js"),
    include_str!("js/figure.js"),
    include_str!("js/page.js"),
];

/// A connection as the page holds it.
#[derive(Clone, Debug)]
pub struct Section {
    about: About,
    packed: String,
}

/// What is said of a connection.
#[derive(Clone, Debug, Serialize)]
struct About {
    name: String,
    file: String,
    title: String,
    group: String,
    controller: Option<String>,
    implementation: String,
    vantage: &'static str,
    duration_s: f64,
    states: Vec<String>,
    lines: Vec<LineInfo>,
    measures: Vec<Option<f64>>,
    time_in_states_s: Vec<(String, f64)>,
    bad_records: u64,
}

/// A line: its quantity, how many points it has, and how many logged values those stand for.
#[derive(Clone, Debug, Serialize)]
struct LineInfo {
    name: &'static str,
    points: usize,
    values: u64,
}

impl Section {
    /// A connection of `file`, whose events could be read but for `bad_records`.
    #[must_use]
    pub fn new(file: &str, series: ConnectionSeries, bad_records: u64) -> Section {
        let mut bytes = Vec::new();
        for (_, points, _) in &series.lines {
            encode(points, series.span.0, &mut bytes);
        }
        let lines = series.lines.iter();
        let lines = lines.map(|(quantity, points, values)| LineInfo {
            name: quantity.name(),
            points: points.len(),
            values: *values,
        });
        let lines = lines.collect();
        let measured = series.measured;
        let measures = &measured.measures;
        let about = About {
            name: String::new(),
            file: file.to_owned(),
            title: measured.trace.title,
            group: measured.group,
            controller: measures.controller.clone(),
            implementation: measured.trace.implementation,
            vantage: measured.trace.vantage.name(),
            duration_s: series.span.1.saturating_sub(series.span.0) as f64 / 1e9,
            states: series.states,
            lines,
            measures: Measures::COLUMNS.iter().map(|(_, get)| get(measures)).collect(),
            time_in_states_s: measures.states.iter().map(|(name, &time)| (name.clone(), time)).collect(),
            bad_records,
        };
        Section { about, packed: packed(&bytes) }
    }

    /// The file it is from.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.about.file
    }

    /// Its connection, where the trace names one.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.about.group
    }

    /// What it is called on the page.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// Calls it `name` on the page.
    pub fn call(&mut self, name: String) {
        self.about.name = name;
    }
}

/// The HTML page titled `title`, with a section for each connection.
#[must_use]
pub fn page(title: &str, sections: &[Section]) -> String {
    let scripts: Vec<&str> = LINES.into_iter().chain(SCRIPTS).collect();
    data(&sections.iter().collect::<Vec<_>>(), &[], |data| {
        let page = Page {
            title,
            skip: "Skip to the traces",
            contents: "Traces",
            noscript: "The tables and plots of this page are built by its own script from the data it contains. \
                Allow scripts, or use `windlass qlog metrics` and `windlass qlog report --svg`.",
            style: STYLE,
            scripts: &scripts,
            data,
        };
        page.html()
    })
}

/// Gives `use_it` the data of traces, and `more` JSON under ids of its own.
pub(super) fn data<T>(sections: &[&Section], more: &[(&str, &str)], use_it: impl FnOnce(&[Data<'_>]) -> T) -> T {
    #[derive(Serialize)]
    struct All<'a> {
        windlass: &'static str,
        columns: Vec<&'static str>,
        traces: Vec<&'a About>,
    }
    let all = All {
        windlass: env!("CARGO_PKG_VERSION"),
        columns: Measures::COLUMNS.iter().map(|(name, _)| *name).collect(),
        traces: sections.iter().map(|section| &section.about).collect(),
    };
    // Texts and numbers only: this cannot fail.
    let json = serde_json::to_string(&all).unwrap_or_default();
    let ids: Vec<String> = (0..sections.len()).map(|i| format!("lines-{i}")).collect();
    let mut data = vec![Data::Json { id: "traces", text: &json }];
    data.extend(more.iter().map(|&(id, text)| Data::Json { id, text }));
    data.extend(ids.iter().zip(sections).map(|(id, section)| Data::Packed { id, text: &section.packed }));
    use_it(&data)
}

/// Adds the times of `points` less `start`, then their values, each as the difference to the
/// one before: variable-length integers, seven bits a byte, the lowest first.
/// `js/decode.js` reads them.
fn encode(points: &[Point], start: i64, bytes: &mut Vec<u8>) {
    let mut before = start;
    for point in points {
        varint(zigzag(point.time.wrapping_sub(before)), bytes);
        before = point.time;
    }
    let mut before = 0;
    for point in points {
        varint(zigzag(point.value.wrapping_sub(before)), bytes);
        before = point.value;
    }
}

/// Small numbers for small differences of either sign.
fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests;
