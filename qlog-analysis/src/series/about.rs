//! A connection for the page that draws it: a description, and its points packed.

use serde::{Serialize, Serializer};

use super::packets::differences;
use super::{ConnectionSeries, EndpointInfo, LeftOut, PacketInfo, PacketLog, PathInfo, Point, Quantity, RequestInfo};
use crate::metrics::{LimitedBy, LossSource, Measures};

/// Quantities that are lanes of events or of states.
const LANES: [Quantity; 5] =
    [Quantity::Lost, Quantity::Marked, Quantity::AppLimited, Quantity::LimitedBy, Quantity::Blocked];

/// Description of a connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct About {
    /// Its name on the page; empty until it is given one.
    pub name: String,
    /// The file it is from.
    pub file: String,
    /// Title of the trace; empty if it has none.
    pub title: String,
    /// Its trace of the file, from 0.
    pub trace: u32,
    /// Its connection, where the trace names one.
    pub group: String,
    /// Number of the path, if it is one of a connection's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<u32>,
    /// The congestion controller, where the trace names it.
    pub controller: Option<String>,
    /// Name of the program that logged it; empty if unknown.
    pub implementation: String,
    /// Vantage point, as qlog spells it.
    pub vantage: &'static str,
    /// The version of QUIC, as the trace writes it; empty if it does not.
    pub quic_version: String,
    /// Its start on a clock that other connections share, s.
    pub later_s: f64,
    /// Lead of its clock over the other end's, s; `None` without the other end's trace.
    pub ahead_s: Option<f64>,
    /// From the first event to the last, s.
    pub duration_s: f64,
    /// Names of congestion states, by the index points hold.
    pub states: Vec<String>,
    /// Its lines, in the order of their points.
    pub lines: Vec<LineInfo>,
    /// Lanes without points, by the name of their quantity, and why: `none` or `not logged`.
    pub empty: Vec<(&'static str, &'static str)>,
    /// Names of what limits a sender, by the index points hold.
    pub limits: Vec<&'static str>,
    /// Whether losses are `logged` or `inferred`; `None` if the trace allows neither.
    pub losses: Option<&'static str>,
    /// Units that RTTs, times and pacing rates were read in, where those are not the declared ones.
    pub units: Vec<(&'static str, &'static str)>,
    /// Measures by name, those of [`Measures::COLUMNS`] in their order.
    #[serde(serialize_with = "as_map")]
    pub measures: Vec<(&'static str, Option<f64>)>,
    /// Time in each congestion state, s.
    pub time_in_states_s: Vec<(String, f64)>,
    /// Records of the file that could not be read.
    pub bad_records: u64,
    /// Its HTTP/3 requests, in the order they were made.
    pub requests: Vec<RequestInfo>,
    /// Further requests, for which there was no room.
    pub requests_left_out: u64,
    /// Addresses of its two ends and their changes; none of a path alone.
    pub endpoints: Vec<EndpointInfo>,
    /// The paths that packets took; none of a path alone.
    pub paths: Vec<PathInfo>,
    /// Its packets, where they were kept.
    pub packets: Option<PacketInfo>,
    /// Of its other events, where they were kept, those for which there was no room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_left_out: Option<Vec<LeftOut>>,
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
            trace: measured.trace.index,
            group: measured.group.clone(),
            path: series.path,
            controller: measures.controller.clone(),
            implementation: measured.trace.implementation.clone(),
            vantage: measured.trace.vantage.name(),
            quic_version: measured.trace.quic_version.clone(),
            later_s: 0.0,
            ahead_s: None,
            duration_s: series.span.1.saturating_sub(series.span.0) as f64 / 1e9,
            states: series.states.clone(),
            lines: lines.collect(),
            empty: LANES.into_iter().filter_map(|lane| Some((lane.name(), series.status(lane).reason()?))).collect(),
            limits: LimitedBy::ALL.map(LimitedBy::name).into(),
            losses: measures.losses.map(LossSource::name),
            units: measured.trace.units.named().collect(),
            measures: Measures::COLUMNS.iter().map(|(name, get)| (*name, get(measures))).collect(),
            time_in_states_s: measures.states.iter().map(|(name, &time)| (name.clone(), time)).collect(),
            bad_records,
            requests: series.requests.clone(),
            requests_left_out: series.requests_left_out,
            endpoints: series.endpoints.clone(),
            paths: series.used_paths.clone(),
            packets: series.packets.as_ref().map(PacketLog::info),
            events_left_out: series.events.as_ref().map(|events| events.left_out.clone()),
        }
    }
}

fn as_map<S: Serializer>(measures: &[(&'static str, Option<f64>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(measures.iter().copied())
}

impl ConnectionSeries {
    /// The lines as bytes: of each the times less the start of the span, ns, then the values, each as
    /// the difference to the one before; variable-length integers, seven bits a byte, the lowest
    /// first, small for small differences of either sign.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (_, points, _) in &self.lines {
            encode(points, self.span.0, &mut bytes);
        }
        bytes
    }
}

fn encode(points: &[Point], start: i64, bytes: &mut Vec<u8>) {
    differences(points.iter().map(|point| point.time), start, bytes);
    differences(points.iter().map(|point| point.value), 0, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_take_few_bytes() {
        let mut bytes = Vec::new();
        let points = [Point { time: 1000, value: 12_000 }, Point { time: 1001, value: 11_999 }];
        encode(&points, 1000, &mut bytes);
        // 0 and 1, zigzag: 0 and 2; 12000: 24000 = 0x5dc0; −1: 1.
        assert_eq!(bytes, [0, 2, 0xc0, 0xbb, 0x01, 1]);
    }
}
