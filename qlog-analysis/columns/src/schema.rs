//! The columns of each table. `docs/datasets.md` describes them.

use std::sync::{Arc, LazyLock};

use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};

/// The tables of a dataset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Table {
    /// Packets sent, received, lost, dropped.
    Packets,
    /// Updates of recovery metrics.
    Recovery,
    /// Events that are neither packets nor recovery metrics.
    Events,
    /// State variables of controllers.
    StateVariables,
    /// Counts of unknown fields and events.
    Unknown,
    /// A row for each connection: its description and its measures.
    Connections,
    /// The same of each path of connections that have several.
    Paths,
}

impl Table {
    /// All tables, in the order help texts name them.
    pub const ALL: [Table; 7] = [
        Table::Packets,
        Table::Recovery,
        Table::Events,
        Table::StateVariables,
        Table::Unknown,
        Table::Connections,
        Table::Paths,
    ];

    /// Its name, which is also that of its folder.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Table::Packets => "packets",
            Table::Recovery => "recovery",
            Table::Events => "events",
            Table::StateVariables => "state_variables",
            Table::Unknown => "unknown",
            Table::Connections => "connections",
            Table::Paths => "paths",
        }
    }

    /// Its columns, without those of the partition.
    #[must_use]
    pub fn schema(self) -> SchemaRef {
        match self {
            Table::Packets => PACKETS.clone(),
            Table::Recovery => RECOVERY.clone(),
            Table::Events => EVENTS.clone(),
            Table::StateVariables => STATE_VARIABLES.clone(),
            Table::Unknown => UNKNOWN.clone(),
            Table::Connections | Table::Paths => crate::connections::SCHEMA.clone(),
        }
    }
}

/// A word that comes again and again.
pub(crate) fn word() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// A column that has a value in every row.
fn always(name: &str, of: DataType) -> Field {
    Field::new(name, of, false)
}

/// A column that may be empty.
fn perhaps(name: &str, of: DataType) -> Field {
    Field::new(name, of, true)
}

/// Columns of a row's file, trace and connection.
fn origin() -> Vec<Field> {
    vec![always("file", word()), always("trace", DataType::UInt32), always("connection", word())]
}

/// Columns of an event's origin, number in its trace and time.
fn event(rest: impl IntoIterator<Item = Field>) -> SchemaRef {
    let mut fields = origin();
    fields.push(always("seq", DataType::UInt64));
    fields.push(always("time_ns", DataType::Int64));
    fields.extend(rest);
    Arc::new(Schema::new(fields))
}

/// The parts of an acknowledged range.
pub(crate) fn range() -> Fields {
    Fields::from(vec![always("low", DataType::UInt64), always("high", DataType::UInt64)])
}

/// The parts of a data frame.
pub(crate) fn stream() -> Fields {
    Fields::from(vec![
        always("id", DataType::UInt64),
        always("offset", DataType::UInt64),
        always("length", DataType::UInt64),
        always("fin", DataType::Boolean),
    ])
}

/// An acknowledged range of a path.
pub(crate) fn path_range() -> Fields {
    let [low, high] = ["low", "high"].map(|name| always(name, DataType::UInt64));
    Fields::from(vec![always("path", DataType::UInt32), low, high])
}

/// Fields of a flow control frame.
pub(crate) fn flow_control() -> Fields {
    Fields::from(vec![
        always("frame_type", DataType::Utf8),
        perhaps("unidirectional", DataType::Boolean),
        perhaps("stream_id", DataType::UInt64),
        perhaps("limit", DataType::UInt64),
    ])
}

/// An element of a list.
pub(crate) fn element(of: Fields) -> Arc<Field> {
    Arc::new(always("element", DataType::Struct(of)))
}

static PACKETS: LazyLock<SchemaRef> = LazyLock::new(|| {
    event([
        always("event", word()),
        always("packet_type", word()),
        perhaps("packet_number", DataType::UInt64),
        perhaps("bytes", DataType::UInt32),
        perhaps("ack_eliciting", DataType::Boolean),
        always("has_ack", DataType::Boolean),
        always("acked_ranges", DataType::List(element(range()))),
        perhaps("ack_delay_ns", DataType::Int64),
        perhaps("ce", DataType::UInt64),
        always("streams", DataType::List(element(stream()))),
        perhaps("trigger", word()),
        always("path", DataType::UInt32),
        perhaps("frames", word()),
        always("flow_control", DataType::List(element(flow_control()))),
        perhaps("path_acks", DataType::List(element(path_range()))),
    ])
});

static RECOVERY: LazyLock<SchemaRef> = LazyLock::new(|| {
    event([
        perhaps("cwnd", DataType::UInt64),
        perhaps("ssthresh", DataType::UInt64),
        perhaps("bytes_in_flight", DataType::UInt64),
        perhaps("packets_in_flight", DataType::UInt64),
        perhaps("min_rtt_ns", DataType::Int64),
        perhaps("smoothed_rtt_ns", DataType::Int64),
        perhaps("latest_rtt_ns", DataType::Int64),
        perhaps("rtt_variance_ns", DataType::Int64),
        perhaps("pacing_rate_bps", DataType::UInt64),
        perhaps("pto_count", DataType::UInt32),
        perhaps("app_limited", DataType::Boolean),
        perhaps("lost_packets", DataType::UInt64),
        always("path", DataType::UInt32),
    ])
});

static EVENTS: LazyLock<SchemaRef> = LazyLock::new(|| {
    event([
        always("event", word()),
        perhaps("value", word()),
        perhaps("number", DataType::UInt32),
        perhaps("trigger", word()),
        perhaps("peer", word()),
    ])
});

static STATE_VARIABLES: LazyLock<SchemaRef> =
    LazyLock::new(|| event([always("name", word()), perhaps("value", DataType::Float64)]));

static UNKNOWN: LazyLock<SchemaRef> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        always("file", word()),
        always("trace", DataType::UInt32),
        always("name", word()),
        always("count", DataType::UInt64),
    ]))
});
