//! Reading a trace: what `windlass qlog metrics` and `windlass qlog report` say of it.

use std::io::{self, Read, Write};
use std::ops::Range;

use serde::Serialize;
use windlass_qlog_analysis::read::{Input, Options, ReadError, Summary};
use windlass_qlog_analysis::series::{
    About, ConnectionSeries, EventFilter, PacketInfo, PacketLog, read_events, read_packets, read_series_watched, so_far,
};

use crate::Failure;
use crate::output::Output;

/// The page is shown what is read after so many blocks, some four megabytes, then after twice as
/// many, and so on: all of it together is drawn twice at most.
const FIRST_SHOWN: u64 = 13;

/// Packets of a connection; they follow as [`PacketLog::encode`] writes them.
#[derive(Serialize)]
struct Packets {
    kind: &'static str,
    bytes: usize,
    /// Its index among the connections of the last message.
    connection: usize,
    info: PacketInfo,
}

/// Events of a connection; they follow as a list in JSON, each its time, s, its name and its data.
#[derive(Serialize)]
struct Events {
    kind: &'static str,
    bytes: usize,
    /// Further ones that match.
    left_out: u64,
}

/// The connections of a file; their points follow as 64-bit floating point numbers: for each line of
/// each connection the times, s from the connection's first event, then the values.
#[derive(Serialize)]
struct Connections<'a> {
    kind: &'static str,
    bytes: usize,
    /// Whether the file was read to its end.
    complete: bool,
    connections: Vec<About>,
    /// Lines of `windlass qlog metrics --format json`; none before the end.
    metrics: Vec<String>,
    #[serde(flatten)]
    file: Option<FileFacts<'a>>,
}

/// Description of the file.
#[derive(Serialize)]
struct FileFacts<'a> {
    framing: &'static str,
    /// The version of the schema as the file has it.
    schema_version: Option<&'a str>,
    events: u64,
    /// After decompression.
    file_bytes: u64,
    doubts: &'a [String],
}

/// Input that can be read from its start more than once.
pub(crate) trait Source {
    /// Begins at its start, which the page may have to be asked for by a message.
    fn open(&mut self, output: &mut Output<impl Write>) -> io::Result<Box<dyn Read + '_>>;
}

/// Reads `source` with `read`, and once more where what stands behind the events says how to read those.
fn twice<S: Source, W: Write, T>(
    source: &mut S,
    output: &mut Output<W>,
    mut read: impl FnMut(&mut dyn Read, &Options, &mut Output<W>) -> Result<T, ReadError>,
) -> Result<T, Failure> {
    let options = Options { jobs: 1, ..Options::default() };
    let mut input = source.open(output)?;
    let headers = match read(&mut input, &options, output) {
        Err(ReadError::Late(headers)) => headers,
        done => return Ok(done?),
    };
    drop(input);
    let mut input = source.open(output)?;
    Ok(read(&mut input, &Options { headers, ..options }, output)?)
}

/// Reads the trace called `name` and writes its connections, with at most `points` points a line:
/// some on the way, all at the end, after the first `most` packets of all together.
pub(crate) fn read(
    source: &mut impl Source,
    name: &str,
    points: usize,
    most: usize,
    output: &mut Output<impl Write>,
) -> Result<(), Failure> {
    let (summary, series) = twice(source, output, |input, options, output| {
        let (mut blocks, mut next) = (0, FIRST_SHOWN);
        read_series_watched(Input::new(input)?, options, points, Some(most), &mut |progress| {
            blocks += 1;
            if blocks < next {
                return Ok(());
            }
            next *= 2;
            write(name, &so_far(progress), None, output)?;
            Ok(())
        })
    })?;
    for (connection, packets) in series.iter().enumerate().filter_map(|(i, one)| Some((i, one.packets.as_ref()?))) {
        write_packets(connection, packets, output)?;
    }
    Ok(write(name, &series, Some(&summary), output)?)
}

/// Reads a trace again and writes packets of one of its connections, as [`read_packets`] finds them.
pub(crate) fn packets(
    source: &mut impl Source,
    connection: (u32, &str),
    times: Range<i64>,
    most: usize,
    output: &mut Output<impl Write>,
) -> Result<(), Failure> {
    let found = twice(source, output, |input, options, _| {
        read_packets(Input::new(input)?, options, connection, times.clone(), most)
    })?;
    Ok(write_packets(0, &found, output)?)
}

/// Reads a trace again and writes events of one of its connections, as [`read_events`] finds them.
pub(crate) fn events(
    source: &mut impl Source,
    connection: (u32, &str),
    filter: &EventFilter<'_>,
    output: &mut Output<impl Write>,
) -> Result<(), Failure> {
    let found =
        twice(source, output, |input, options, _| read_events(Input::new(input)?, options, connection, filter))?;
    let rows = serde_json::to_vec(&found.rows).map_err(io::Error::from)?;
    output.header(&Events { kind: "events", bytes: rows.len(), left_out: found.left_out })?;
    output.bytes(&rows)?;
    Ok(output.flush()?)
}

fn write_packets(connection: usize, packets: &PacketLog, output: &mut Output<impl Write>) -> std::io::Result<()> {
    let bytes = packets.encode();
    output.header(&Packets { kind: "packets", bytes: bytes.len(), connection, info: packets.info() })?;
    output.bytes(&bytes)?;
    output.flush()
}

fn write(
    name: &str,
    series: &[ConnectionSeries],
    summary: Option<&Summary>,
    output: &mut Output<impl Write>,
) -> std::io::Result<()> {
    let bad_records = summary.map_or(0, |summary| summary.bad_records);
    let doubts = summary.map(Summary::doubts).unwrap_or_default();
    let points: usize = series.iter().flat_map(|one| &one.lines).map(|(_, points, _)| points.len()).sum();
    // Those of a connection hold those of its paths.
    let metrics = series.iter().filter(|one| summary.is_some() && one.path.is_none());
    output.header(&Connections {
        kind: "connections",
        bytes: points * 16,
        complete: summary.is_some(),
        connections: series.iter().map(|one| About::new(name, one, bad_records)).collect(),
        metrics: metrics.map(|one| one.measured.to_json(name).to_string()).collect(),
        file: summary.map(|summary| FileFacts {
            framing: summary.framing.name(),
            schema_version: summary
                .traces
                .first()
                .map(|trace| trace.version.as_str())
                .filter(|version| !version.is_empty()),
            events: summary.events,
            file_bytes: summary.bytes,
            doubts: &doubts,
        }),
    })?;
    for one in series {
        for (_, points, _) in &one.lines {
            output.numbers(points.iter().map(|point| point.time.saturating_sub(one.span.0) as f64 * 1e-9))?;
            output.numbers(points.iter().map(|point| point.value as f64))?;
        }
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::messages;
    use windlass_qlog_analysis::metrics::measure;

    const PACKETS: usize = 1 << 16;
    const HEADER: &str = "\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\"trace\":{}}\n";

    fn trace(events: usize) -> String {
        let event = |i: usize| {
            let data = format!("{{\"congestion_window\":{},\"latest_rtt\":{}.25}}", 12_000 + i % 7000, 40 + i % 9);
            format!("\x1e{{\"time\":{i},\"name\":\"quic:recovery_metrics_updated\",\"data\":{data}}}\n")
        };
        HEADER.chars().chain((0..events).flat_map(|i| event(i).chars().collect::<Vec<_>>())).collect()
    }

    impl Source for &[u8] {
        fn open(&mut self, _: &mut Output<impl Write>) -> io::Result<Box<dyn Read + '_>> {
            Ok(Box::new(*self))
        }
    }

    fn shown(trace: &str, points: usize) -> Vec<(serde_json::Value, Vec<u8>)> {
        let mut written = Vec::new();
        read(&mut trace.as_bytes(), "a.sqlog", points, PACKETS, &mut Output::new(&mut written)).unwrap();
        let mut shown = messages(&written);
        shown.retain(|(message, _)| message["kind"] == "connections");
        shown
    }

    #[test]
    fn packets_are_written_before_the_end_and_again_for_some_times() {
        let packet = |time: usize| {
            format!(
                "\x1e{{\"time\":{time},\"name\":\"quic:packet_sent\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{time}}}}}}}\n"
            )
        };
        let trace: String = std::iter::once(HEADER.to_owned()).chain((10..30).map(packet)).collect();
        let mut written = Vec::new();
        read(&mut trace.as_bytes(), "a.sqlog", 100, PACKETS, &mut Output::new(&mut written)).unwrap();
        let messages_read = messages(&written);
        let kinds: Vec<&str> = messages_read.iter().map(|(message, _)| message["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["packets", "connections"]);
        assert_eq!(
            (&messages_read[0].0["connection"], &messages_read[0].0["info"]["packets"]),
            (&0.into(), &20.into())
        );
        assert_eq!(messages_read[1].0["connections"][0]["packets"], messages_read[0].0["info"]);
        let mut written = Vec::new();
        packets(&mut trace.as_bytes(), (0, ""), 5_000_000..8_000_000, 2, &mut Output::new(&mut written)).unwrap();
        let again = &messages(&written)[0].0;
        assert_eq!((&again["info"]["packets"], &again["info"]["left_out"]), (&2.into(), &1.into()));
        let mut written = Vec::new();
        let filter = EventFilter { times: 0..i64::MAX, words: vec!["\"packet_number\":2"], packets: true, most: 3 };
        events(&mut trace.as_bytes(), (0, ""), &filter, &mut Output::new(&mut written)).unwrap();
        let (message, rows) = &messages(&written)[0];
        let rows: Vec<(f64, String, String)> = serde_json::from_slice(rows).unwrap();
        assert_eq!((&message["kind"], &message["left_out"], rows.len()), (&"events".into(), &7.into(), 3));
        assert_eq!((rows[0].0, rows[0].1.as_str()), (0.01, "quic:packet_sent"));
    }

    #[test]
    fn measures_and_points_are_those_of_the_library() {
        let trace = trace(1000);
        let shown = shown(&trace, 1 << 20);
        assert_eq!(shown.len(), 1);
        let (message, bytes) = &shown[0];
        let (summary, measured) = measure(trace.as_bytes(), &Options::default()).unwrap();
        assert_eq!(message["metrics"][0], measured[0].to_json("a.sqlog").to_string());
        assert_eq!(
            (&message["complete"], &message["events"], &message["framing"]),
            (&true.into(), &summary.events.into(), &"JSON-SEQ".into())
        );
        let line = &message["connections"][0]["lines"][0];
        assert_eq!((&line["name"], &line["points"]), (&"congestion_window".into(), &1000.into()));
        let number = |i: usize| f64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap());
        assert_eq!((number(0), number(999), number(1000), number(1999)), (0.0, 999e6 * 1e-9, 12_000.0, 12_999.0));
        assert_eq!(bytes.len(), 2 * 2 * 8 * 1000);
    }

    #[test]
    fn paths_are_drawn_by_themselves_and_measured_within_their_connection() {
        let sent = |path: u64, number: u64| {
            let header = format!("{{\"packet_type\":\"1RTT\",\"packet_number\":{number},\"path_id\":{path}}}");
            format!("\x1e{{\"time\":{number},\"name\":\"quic:packet_sent\",\"data\":{{\"header\":{header}}}}}\n")
        };
        let packets = (0..10).flat_map(|number| [sent(0, number), sent(1, number)]);
        let trace: String = std::iter::once(HEADER.to_owned()).chain(packets).collect();
        let message = &shown(&trace, 100)[0].0;
        let paths: Vec<_> = message["connections"].as_array().unwrap().iter().map(|one| one.get("path")).collect();
        assert_eq!(paths, [None, Some(&0.into()), Some(&1.into())]);
        let (_, measured) = measure(trace.as_bytes(), &Options::default()).unwrap();
        assert_eq!(message["metrics"], serde_json::json!([measured[0].to_json("a.sqlog").to_string()]));
    }

    #[test]
    fn a_long_trace_is_shown_on_the_way() {
        let trace = trace(100_000);
        let shown = shown(&trace, 4096);
        assert!(trace.len() > 9 << 20 && shown.len() == 3, "{} bytes, shown {} times", trace.len(), shown.len());
        let complete: Vec<bool> = shown.iter().map(|(message, _)| message["complete"].as_bool().unwrap()).collect();
        assert_eq!(complete, [false, false, true]);
        let duration = |i: usize| shown[i].0["connections"][0]["duration_s"].as_f64().unwrap();
        assert!(duration(0) > 10.0 && duration(0) < duration(1) && duration(1) < duration(2));
        assert!(shown.iter().all(|(message, bytes)| message["bytes"] == bytes.len()));
        assert!(shown[0].0["metrics"].as_array().unwrap().is_empty() && shown[0].0.get("events").is_none());
    }

    /// Of a document that is larger than what is read at once, the members behind the events count, too.
    #[test]
    fn members_behind_the_events_are_honoured() {
        let trace = trace(20_000);
        let events: Vec<&str> = trace.lines().skip(1).map(|line| line.trim_start_matches('\x1e')).collect();
        let body = events.join(",");
        let head = r#"{"qlog_version":"0.3","qlog_format":"JSON","traces":[{"#;
        let common = r#""common_fields":{"time_format":"delta"}"#;
        let files =
            [format!(r#"{head}{common},"events":[{body}]}}]}}"#), format!(r#"{head}"events":[{body}],{common}}}]}}"#)];
        assert!(body.len() > 2 << 20);
        let [before, behind] = files.map(|file| shown(&file, 100).pop().unwrap());
        assert!(before.0["connections"][0]["duration_s"].as_f64().unwrap() > 1000.0, "differences");
        assert_eq!(before, behind);
    }

    #[test]
    fn what_is_no_trace_is_an_error() {
        let mut written = Vec::new();
        let error = read(&mut &b"a picture"[..], "a.png", 100, PACKETS, &mut Output::new(&mut written)).unwrap_err();
        assert!(error.to_string().contains("no qlog"), "{error}");
        assert!(written.is_empty());
    }
}
