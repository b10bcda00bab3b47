//! The rules, each with its fault and the remedy.

use std::fmt;

use serde::{Serialize, Serializer};
use windlass_qlog::Profile;

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Tools may show less, or be misled.
    Warning,
    /// Tools show nothing or stand still, or the schema forbids it.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

use Severity::{Error, Warning};

macro_rules! rules {
    ($($variant:ident $id:literal [$ietf:expr, $qvis:expr] $about:literal, $fix:literal;)+) => {
        /// A rule of the lint.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!($about, ".")] $variant,)+
        }

        impl Rule {
            /// Every rule, in the order they are listed.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),+];

            /// Name of the rule in reports.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$variant => $id,)+ }
            }

            /// The fault that the rule finds, one sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Rule::$variant => $about,)+ }
            }

            /// The remedy, one sentence.
            #[must_use]
            pub const fn fix(self) -> &'static str {
                match self { $(Rule::$variant => $fix,)+ }
            }

            /// How bad it is under a profile; `None` where the rule does not hold.
            #[must_use]
            pub const fn severity(self, profile: Profile) -> Option<Severity> {
                let (ietf, qvis): (Option<Severity>, Option<Severity>) = match self { $(Rule::$variant => ($ietf, $qvis),)+ };
                match profile { Profile::Ietf => ietf, Profile::Qvis => qvis }
            }
        }
    };
}

rules! {
    FileRead "file-read" [Some(Error), Some(Error)] "the file could not be read to its end", "make the file readable";
    FileEmpty "file-empty" [Some(Error), Some(Error)] "the file holds no record", "write at least the header and one event";
    NotQlog "not-qlog" [Some(Error), Some(Error)] "the file is something else than qlog", "convert it to qlog first";
    RecordSeparator "record-separator" [Some(Error), Some(Error)] "a record has no separator before it", "write the byte 0x1E before every record";
    RecordNewline "record-newline" [Some(Warning), Some(Warning)] "a record does not end with a newline, so it may be cut off", "write a newline after every record";
    RecordEmpty "record-empty" [Some(Warning), None] "there is nothing between two separators", "write one separator a record";
    RecordJson "record-json" [Some(Error), Some(Error)] "a record is not JSON; qvis waits for ever on it", "write the record as one JSON object, or leave it out";
    RecordObject "record-object" [Some(Error), Some(Error)] "a record is JSON but no object", "write every record as a JSON object";
    RecordSize "record-size" [Some(Warning), Some(Warning)] "a record is larger than what is looked at", "write smaller records";
    HeaderOld "header-old" [Some(Error), None] "the header is of a draft before the file schemas", "replace qlog_version and qlog_format by file_schema and serialization_format";
    HeaderNew "header-new" [None, Some(Error)] "the header is of the IETF form, which qvis does not read", "write the qvis profile: qlog_version 0.3 and qlog_format";
    FileSchema "file-schema" [Some(Error), None] "file_schema is missing, no absolute URI, or not that of the file's form", "set file_schema to urn:ietf:params:qlog:file:sequential (contained for plain JSON)";
    SerializationFormat "serialization-format" [Some(Error), None] "serialization_format is missing or not the media type of the file's form", "set serialization_format to application/qlog+json-seq (application/qlog+json for plain JSON)";
    QlogVersion "qlog-version" [None, Some(Error)] "qlog_version is missing or unknown to qvis", "set qlog_version to \"0.3\"";
    QlogFormat "qlog-format" [None, Some(Error)] "qlog_format is not that of the file's form", "set qlog_format to \"JSON-SEQ\" (\"JSON\" for plain JSON, \"NDJSON\" for a record a line)";
    HeaderLate "header-late" [Some(Warning), Some(Error)] "what identifies the file comes late in it", "put the identifying fields first: within 256 bytes, for qvis within 1024";
    TraceMissing "trace-missing" [Some(Error), Some(Error)] "the header has no trace", "add trace to the header (traces in plain JSON)";
    VantagePoint "vantage-point" [Some(Warning), Some(Warning)] "the trace has no vantage point", "set vantage_point.type to client, server or network";
    EventSchemas "event-schemas" [Some(Error), None] "event_schemas is missing, empty or no list of texts", "list the schema of every namespace in trace.event_schemas";
    SchemaUri "schema-uri" [Some(Error), None] "an event schema is no absolute URI, or claims to be a finished standard", "use urn:ietf:params:qlog:events:quic-13 and the like, or an absolute URI of your own";
    ReferenceTime "reference-time" [Some(Error), Some(Warning)] "reference_time does not say what times count from", "for the IETF form an object: clock_type monotonic and epoch unknown, or clock_type system and an RFC 3339 epoch; for qvis a number";
    TimeFormat "time-format" [Some(Error), Some(Warning)] "time_format is unknown", "relative_to_epoch or relative_to_previous_event; for qvis absolute, relative or delta";
    HeaderLeftover "header-leftover" [Some(Warning), None] "the header has a field of an earlier draft", "leave the field out";
    EventTime "event-time" [Some(Error), Some(Error)] "an event has no time, or it is no number", "give every event a time, a number of milliseconds";
    EventName "event-name" [Some(Error), Some(Error)] "an event has no name of the form namespace:type", "name the event namespace:type";
    EventData "event-data" [Some(Error), Some(Error)] "an event has no data object", "give every event a data object, if an empty one";
    EventForm "event-form" [Some(Error), Some(Warning)] "an event is an array, as in drafts before 02", "write events as objects with time, name and data";
    NameOld "name-old" [Some(Error), None] "an event has a name of an earlier draft", "use the name in the quic, http3 or own namespace";
    NameNew "name-new" [None, Some(Error)] "an event has a name that qvis does not know and does not show", "use the transport: and recovery: names of version 0.3";
    NameUnknown "name-unknown" [Some(Warning), None] "the schema of the namespace has no such event", "correct the name, or put the event into a namespace of its own";
    NamespaceUnlisted "namespace-unlisted" [Some(Error), None] "a private namespace is not in event_schemas", "add an absolute URI that contains the namespace to event_schemas";
    SchemaUnlisted "schema-unlisted" [Some(Warning), None] "a standard namespace is not in event_schemas", "add its urn:ietf:params:qlog:events: URN to event_schemas";
    FieldCase "field-case" [Some(Warning), None] "a field name has upper-case letters", "write field names in lower case";
    TimeOrder "time-order" [Some(Warning), Some(Error)] "an event is earlier than the one before it", "sort events by time";
    TimeNegative "time-negative" [Some(Warning), Some(Warning)] "a time is negative", "count time from the start of the trace or earlier";
    GroupId "group-id" [None, Some(Error)] "some events have a group_id and others not, so qvis splits the trace wrongly", "write group_id in every event, or once in common_fields";
    FieldMissing "field-missing" [Some(Error), Some(Error)] "a field that the event must have is missing", "add the field";
    FieldType "field-type" [Some(Error), Some(Error)] "a field has the wrong type or an impossible value", "write it as the schema has it: sizes and counts as whole numbers, delays as numbers of milliseconds";
    FieldOld "field-old" [Some(Error), None] "a field has the name or place of an earlier draft", "use the name of the schema";
    CwndName "cwnd-name" [Some(Error), Some(Warning)] "the congestion window has the name of the other schema version", "write congestion_window in the IETF form, cwnd for qvis";
    SsthreshInfinite "ssthresh-infinite" [Some(Error), Some(Error)] "the slow start threshold is an integer that stands for infinity", "leave ssthresh out while there is none";
    RttUnit "rtt-unit" [Some(Error), Some(Error)] "RTTs are not in milliseconds", "write RTTs in milliseconds";
    RttOrder "rtt-order" [Some(Warning), Some(Warning)] "the minimum RTT is above the latest sample", "check what is written as min_rtt and latest_rtt";
    PacketTypePlace "packet-type-place" [None, Some(Warning)] "packet_type stands beside the header; qvis complains and moves it", "move packet_type into data.header";
    PacketSizePlace "packet-size-place" [None, Some(Warning)] "the packet's size stands in the header; qvis complains and moves it", "write it as data.raw.length";
    RawLength "raw-length" [Some(Warning), Some(Error)] "a packet has no length; qvis leaves it out", "write the packet's bytes as raw.length";
    NoPackets "no-packets" [None, Some(Error)] "no packet is sent; qvis shows an empty graph", "write at least one packet_sent with raw.length";
    NoEvents "no-events" [Some(Warning), Some(Error)] "the trace has no events", "write at least one event";
    FrameType "frame-type" [Some(Warning), Some(Warning)] "a frame has no frame_type, or an unknown one", "use the frame_type of the schema";
    FrameLength "frame-length" [Some(Error), Some(Warning)] "a data frame has no length", "write raw.length in the frame in the IETF form, length for qvis";
    FramesEmpty "frames-empty" [None, Some(Error)] "the list of a packet's frames is empty; qvis' packetization view stops at it", "leave frames out, or write those that were in the packet";
    PacketRoom "packet-room" [None, Some(Warning)] "a packet has no room for the data in it; qvis' packetization view loses its frames", "write as raw.length the whole packet: 20 bytes or more beside its frames";
    RequestStreams "request-streams" [None, Some(Warning)] "no data is on a stream that qvis' multiplexing view draws", "take the trace at the end that sends the data, as a server's, with the data on streams a client opened for requests";
    RequestFirst "request-first" [None, Some(Warning)] "the first data of a stream is not the request, so qvis' waterfall leaves the stream out", "log the packets that carry the requests, too";
    AckRange "ack-range" [Some(Error), Some(Error)] "an acknowledged range is not one or two ascending packet numbers", "write each range as [lowest, highest]";
    AckSpan "ack-span" [Some(Warning), Some(Error)] "acknowledged ranges span so many numbers that qvis, which visits each, stands still", "acknowledge only packets that exist, and name each once";
    AckUnsent "ack-unsent" [Some(Warning), None] "a packet is acknowledged that was not sent", "log every packet sent, or no acked_ranges";
    LostHeader "lost-header" [Some(Warning), Some(Error)] "a lost packet has no packet number; qvis does not draw it", "write header.packet_type and header.packet_number";
    Trigger "trigger" [Some(Warning), Some(Warning)] "a trigger is not one of the schema", "use a trigger of the schema, or none";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
