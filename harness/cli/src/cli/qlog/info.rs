//! `windlass qlog info`: the format of a file, and what is in it.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Serialize;
use windlass_qlog_analysis::escape;
use windlass_qlog_analysis::model::{Batch, EventKind, SchemaVersion, Trace};
use windlass_qlog_analysis::read::{Check, Options, ReadError, Summary, plural, read, twice};

use super::files::{Files, Reading};
use crate::cli::CliError;
use crate::cli::error::{print, shown, unreadable};

/// Print the format of qlog files and count what is in them
#[derive(Debug, clap::Args)]
pub(super) struct Info {
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    reading: Reading,
    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
}

/// Most connections of a trace, event names of a connection and unknown fields that are
/// counted by name. Further ones are counted together, as [`FURTHER`].
const MOST_NAMES: usize = 2048;

const FURTHER: &str = "(further ones)";

/// What is in one connection of a trace.
#[derive(Default, Serialize)]
struct Content {
    first_ns: Option<i64>,
    last_ns: i64,
    events: BTreeMap<String, u64>,
}

/// Contents of a file.
#[derive(Default, Serialize)]
struct Contents {
    framing: &'static str,
    bytes: u64,
    events: u64,
    bad_records: u64,
    /// The first of them: record and what is wrong.
    bad: Vec<(u64, String)>,
    /// Fields that no table holds.
    unknown: BTreeMap<String, u64>,
    /// What Chromium counted, against what its events add up to.
    checks: Vec<Checked>,
    traces: Vec<About>,
}

#[derive(Serialize)]
struct Checked {
    connection: String,
    counter: &'static str,
    counted: Option<u64>,
    reported: u64,
}

#[derive(Serialize)]
struct About {
    version: String,
    schema_version: &'static str,
    title: String,
    vantage: &'static str,
    implementation: String,
    controller: String,
    /// The version of QUIC, as the trace writes it.
    quic_version: String,
    /// What RTTs are in, if not in milliseconds.
    rtt_unit: Option<&'static str>,
    /// What times are in, if not in the unit that the trace declares.
    time_unit: Option<&'static str>,
    /// What pacing rates are in, if not in bit/s.
    pacing_rate_unit: Option<&'static str>,
    connections: BTreeMap<String, Content>,
}

impl Info {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let results = self.files.each(|file, open, jobs| {
            let done = twice(open, &self.reading.options(jobs), contents);
            let (summary, contents) = done.map_err(|error: ReadError| unreadable(file.path(), &error))?;
            super::print_doubts(file.path(), &Summary { bad_records: 0, ..summary });
            Ok(contents)
        })?;
        for (path, contents) in results {
            print(&if self.json {
                format!("{}\n", serde_json::json!({ "file": path.display().to_string(), "contents": contents }))
            } else {
                text(&shown(&path), &contents)
            })?;
        }
        Ok(())
    }
}

fn contents(input: impl Read, options: &Options) -> Result<(Summary, Contents), ReadError> {
    let mut found = Contents::default();
    let mut connections: Vec<BTreeMap<String, Content>> = Vec::new();
    let summary = read(input, options, &mut |trace, batch| {
        let index = trace.index as usize;
        connections.resize_with(connections.len().max(index + 1), BTreeMap::new);
        count(&batch, &mut connections[index]);
        for (name, count) in &batch.unknown {
            *entry(&mut found.unknown, batch.name(*name)) += count;
        }
        let room = 20_usize.saturating_sub(found.bad.len());
        found.bad.extend(batch.bad.iter().take(room).map(|bad| (bad.record, bad.reason.clone())));
        Ok(())
    })?;
    found.framing = summary.framing.name();
    found.bytes = summary.bytes;
    found.events = summary.events;
    found.bad_records = summary.bad_records;
    let checked = |check: &Check| Checked {
        connection: check.connection.clone(),
        counter: check.counter,
        counted: check.counted,
        reported: check.reported,
    };
    found.checks = summary.checks.iter().map(checked).collect();
    connections.resize_with(summary.traces.len(), BTreeMap::new);
    let about = |(trace, connections): (&Trace, _)| about(trace.clone(), connections);
    found.traces = summary.traces.iter().zip(connections).map(about).collect();
    Ok((summary, found))
}

fn about(trace: Trace, mut connections: BTreeMap<String, Content>) -> About {
    if let Some(content) = connections.remove("") {
        connections.insert(trace.group.clone(), content);
    }
    About {
        version: trace.version,
        schema_version: match trace.schema_version {
            SchemaVersion::PreDraft => "before the drafts",
            SchemaVersion::Draft01 => "drafts 00 and 01, array events",
            SchemaVersion::V03 => "drafts 02 to 0.4",
            SchemaVersion::Ietf => "IETF",
            SchemaVersion::Netlog => "netlog",
        },
        title: trace.title,
        vantage: trace.vantage.name(),
        implementation: trace.implementation,
        controller: trace.controller,
        quic_version: trace.quic_version,
        rtt_unit: trace.units.rtt,
        time_unit: trace.units.time,
        pacing_rate_unit: trace.units.pacing_rate,
        connections,
    }
}

fn count(batch: &Batch, connections: &mut BTreeMap<String, Content>) {
    for event in &batch.events {
        let group = batch.name(event.group);
        let content = entry(connections, group);
        content.first_ns.get_or_insert(event.time);
        content.last_ns = content.last_ns.max(event.time);
        let name = match event.kind {
            EventKind::PacketSent(_) => "packet_sent",
            EventKind::PacketReceived(_) => "packet_received",
            EventKind::PacketLost(_) => "packet_lost",
            EventKind::PacketsAcked(_) => "packets_acked",
            EventKind::Migrated => "migration to another path",
            EventKind::PacketDropped(_) => "packet_dropped",
            EventKind::MetricsUpdated(_) => "recovery_metrics_updated",
            EventKind::CongestionState(_) => "congestion_state_updated",
            EventKind::Controller(_) => "congestion controller named",
            EventKind::EcnCe(_) => "windlass:marked",
            EventKind::PacketsLost(_) => "packets lost together",
            EventKind::TransportParameters(_) => "parameters_set",
            EventKind::FlowControlSent(_) => "flow control limit sent",
            EventKind::FlowControlReceived(_) => "flow control limit received",
            EventKind::HttpFrameCreated(_) => "HTTP/3 frame created",
            EventKind::HttpFrameParsed(_) => "HTTP/3 frame parsed",
            EventKind::SpuriousLoss => "windlass:spurious_loss",
            EventKind::MtuUpdated(_) => "mtu_updated",
            EventKind::DataDelivered(_) => "stream_data_moved to the application",
            EventKind::Other(name) => batch.name(name),
        };
        *entry(&mut content.events, name) += 1;
    }
}

/// The value under a name, or under [`FURTHER`] if there are too many names.
fn entry<'a, T: Default>(kept: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    let known = kept.contains_key(name);
    let name = if known || kept.len() < MOST_NAMES { name } else { FURTHER };
    if !kept.contains_key(name) {
        kept.insert(name.to_owned(), T::default());
    }
    kept.get_mut(name).expect("it was put there")
}

fn text(file: &str, contents: &Contents) -> String {
    let mut text = format!("{file}: {}, {} bytes, {} events\n", contents.framing, contents.bytes, contents.events);
    for trace in &contents.traces {
        let quoted = |label: &str, value: &str| match value {
            "" => String::new(),
            value => format!(", {label} {}", escape::line(value)),
        };
        text.push_str(&format!(
            "  {} ({}), seen at the {}{}{}{}{}\n",
            if trace.version.is_empty() { "no version".into() } else { escape::line(&trace.version) },
            trace.schema_version,
            trace.vantage,
            quoted("by", &trace.implementation),
            quoted("title", &trace.title),
            quoted("controller", &trace.controller),
            quoted("QUIC version", &trace.quic_version),
        ));
        let units = [("RTTs", trace.rtt_unit), ("times", trace.time_unit), ("pacing rates", trace.pacing_rate_unit)];
        for (values, unit) in units.iter().filter_map(|(values, unit)| Some((values, (*unit)?))) {
            text.push_str(&format!(
                "  by its events, its {values} are in {unit}; read as such (--units declared takes its word)\n"
            ));
        }
        for (group, content) in &trace.connections {
            let seconds = content.last_ns.saturating_sub(content.first_ns.unwrap_or(0)) as f64 / 1e9;
            let group = if group.is_empty() { "connection" } else { group };
            text.push_str(&format!("  {}: {seconds:.3} s\n", escape::line(group)));
            for (name, count) in &content.events {
                text.push_str(&format!("    {count:>9}  {}\n", escape::line(name)));
            }
        }
    }
    let agreed = contents.checks.iter().filter(|check| check.counted == Some(check.reported)).count();
    if !contents.checks.is_empty() {
        text.push_str(&format!("  {agreed} of {} totals of Chromium agree with its events\n", contents.checks.len()));
    }
    for (name, count) in &contents.unknown {
        text.push_str(&format!("  {count} × {}: not understood\n", escape::line(name)));
    }
    if contents.bad_records > 0 {
        text.push_str(&format!("  {} could not be read\n", plural(contents.bad_records, "record")));
        for (record, reason) in &contents.bad {
            text.push_str(&format!("    record {record}: {}\n", escape::line(reason)));
        }
    }
    text
}
