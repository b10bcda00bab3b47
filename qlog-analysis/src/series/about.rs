//! What a page that draws a connection is told of it beside its points.

use serde::{Serialize, Serializer};

use super::ConnectionSeries;
use crate::metrics::Measures;

/// What is said of a connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct About {
    /// What it is called on the page; empty until it is given a name.
    pub name: String,
    /// The file it is from.
    pub file: String,
    /// Title of the trace; empty if it has none.
    pub title: String,
    /// Its connection, where the trace names one.
    pub group: String,
    /// The congestion controller, where the trace names it.
    pub controller: Option<String>,
    /// What logged it; empty if the trace does not say.
    pub implementation: String,
    /// Where it was taken, as qlog spells it.
    pub vantage: &'static str,
    /// From the first event to the last, s.
    pub duration_s: f64,
    /// Names of congestion states, by the index points hold.
    pub states: Vec<String>,
    /// Its lines, in the order of their points.
    pub lines: Vec<LineInfo>,
    /// Measures by name, those of [`Measures::COLUMNS`] in their order.
    #[serde(serialize_with = "as_map")]
    pub measures: Vec<(&'static str, Option<f64>)>,
    /// Time in each congestion state, s.
    pub time_in_states_s: Vec<(String, f64)>,
    /// Records of the file that could not be read.
    pub bad_records: u64,
}

/// A line: its quantity, how many points it has, and how many logged values those stand for.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LineInfo {
    /// Name of the quantity ([`super::Quantity::name`]).
    pub name: &'static str,
    /// Number of points.
    pub points: usize,
    /// Number of logged values.
    pub values: u64,
}

impl About {
    /// Of a connection of `file`, of whose records `bad_records` could not be read.
    #[must_use]
    pub fn new(file: &str, series: &ConnectionSeries, bad_records: u64) -> About {
        let measured = &series.measured;
        let measures = &measured.measures;
        let lines = series.lines.iter();
        let lines = lines.map(|(quantity, points, values)| LineInfo {
            name: quantity.name(),
            points: points.len(),
            values: *values,
        });
        About {
            name: String::new(),
            file: file.to_owned(),
            title: measured.trace.title.clone(),
            group: measured.group.clone(),
            controller: measures.controller.clone(),
            implementation: measured.trace.implementation.clone(),
            vantage: measured.trace.vantage.name(),
            duration_s: series.span.1.saturating_sub(series.span.0) as f64 / 1e9,
            states: series.states.clone(),
            lines: lines.collect(),
            measures: Measures::COLUMNS.iter().map(|(name, get)| (*name, get(measures))).collect(),
            time_in_states_s: measures.states.iter().map(|(name, &time)| (name.clone(), time)).collect(),
            bad_records,
        }
    }
}

fn as_map<S: Serializer>(measures: &[(&'static str, Option<f64>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(measures.iter().copied())
}
