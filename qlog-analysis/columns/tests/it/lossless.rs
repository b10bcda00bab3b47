//! What the readers know of a trace is in its tables, all of it, in its order.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use proptest::prelude::*;
use windlass_qlog_analysis::model::{
    Batch, Event, EventKind, FlowControl, FlowControlKind, HttpField, HttpFrame, HttpFrameKind, Metrics, Packet,
    PacketType, PathAck, Peer, State, StateVariable, Stream, TransportParameters,
};
use windlass_qlog_analysis::read::{Options, ReadError, open, read, twice};
use windlass_qlog_columns::{Table, Tables};

const LIMITS: [FlowControlKind; 8] = [
    FlowControlKind::MaxData,
    FlowControlKind::MaxStreamData,
    FlowControlKind::MaxStreamsBidi,
    FlowControlKind::MaxStreamsUni,
    FlowControlKind::DataBlocked,
    FlowControlKind::StreamDataBlocked,
    FlowControlKind::StreamsBlockedBidi,
    FlowControlKind::StreamsBlockedUni,
];

/// What an event says, in words that the tables can be brought to as well.
fn said(batch: &Batch, index: usize) -> Vec<String> {
    let event = &batch.events[index];
    let time = event.time;
    let packet = |name: &str, index: u32| {
        let packet = &batch.packets[index as usize];
        let streams: Vec<_> =
            batch.streams_of(packet).iter().map(|one| (one.id, one.offset, one.length, one.fin)).collect();
        let acks = batch.path_acks_of(packet).iter();
        let path_acks: Vec<_> = acks
            .flat_map(|ack| batch.ranges_of_path_ack(ack).iter().map(|range| (ack.path, range.0, range.1)))
            .collect();
        format!(
            "{time} {name} {} {:?} {:?} {:?} {} {:?} {:?} {:?} {streams:?} {:?} {} {:?} {:?} {path_acks:?}",
            packet.kind.name(),
            packet.number,
            packet.bytes,
            packet.ack_eliciting,
            packet.acks,
            batch.ranges_of(packet),
            packet.ack_delay,
            packet.ce,
            packet.trigger.map(|name| batch.name(name)),
            packet.path,
            (!packet.frames.is_empty()).then(|| packet.frames.names().collect::<Vec<_>>().join(",")),
            batch.flow_control_of(packet).iter().map(ToString::to_string).collect::<Vec<_>>()
        )
    };
    let other = |name: &str, value: Option<&str>, number: Option<u32>, trigger: Option<&str>| {
        let peer = batch.peers.iter().find(|peer| peer.event as usize == index).map(|peer| batch.name(peer.address));
        format!("{time} {name} {value:?} {number:?} {trigger:?} {peer:?}")
    };
    let line = match event.kind {
        EventKind::PacketSent(index) => packet("sent", index),
        EventKind::PacketReceived(index) => packet("received", index),
        EventKind::PacketLost(index) => packet("lost", index),
        EventKind::PacketDropped(index) => packet("dropped", index),
        EventKind::MetricsUpdated(index) => {
            let one = &batch.metrics[index as usize];
            let sizes = [one.cwnd, one.ssthresh, one.bytes_in_flight, one.packets_in_flight, one.pacing_rate];
            let rtts = [one.min_rtt, one.smoothed_rtt, one.latest_rtt, one.rtt_variance];
            format!(
                "{time} {sizes:?} {rtts:?} {:?} {:?} {:?} {}",
                one.pto_count, one.app_limited, one.lost_packets, one.path
            )
        }
        EventKind::CongestionState(index) => {
            let state = batch.states[index as usize];
            let trigger = state.trigger.map(|name| batch.name(name));
            other("congestion_state_updated", Some(batch.name(state.new)), None, trigger)
        }
        EventKind::Controller(name) => other("congestion_controller", Some(batch.name(name)), None, None),
        EventKind::PacketsAcked(index) => {
            let packet = &batch.packets[index as usize];
            let ranges = batch.ranges_of(packet).iter();
            let ranges: Vec<String> = ranges.map(|(low, high)| format!("{low}-{high}")).collect();
            other("packets_acked", Some(&ranges.join(" ")), Some(packet.path).filter(|&path| path > 0), None)
        }
        EventKind::Migrated => other("migrated", None, None, None),
        EventKind::EcnCe(number) => other("marked", None, Some(number), None),
        EventKind::PacketsLost(number) => other("losses", None, Some(number), None),
        EventKind::MtuUpdated(number) => other("mtu_updated", None, Some(number), None),
        EventKind::DataDelivered(number) => other("delivered", None, Some(number), None),
        EventKind::TransportParameters(index) => {
            other("parameters_set", Some(&batch.parameters[index as usize].to_string()), None, None)
        }
        EventKind::FlowControlSent(index) => {
            other("flow_control_sent", Some(&batch.flow_control[index as usize].to_string()), None, None)
        }
        EventKind::FlowControlReceived(index) => {
            other("flow_control_received", Some(&batch.flow_control[index as usize].to_string()), None, None)
        }
        EventKind::HttpFrameCreated(index) => {
            other("http_frame_created", Some(&batch.http_frame_json(&batch.http[index as usize])), None, None)
        }
        EventKind::HttpFrameParsed(index) => {
            other("http_frame_parsed", Some(&batch.http_frame_json(&batch.http[index as usize])), None, None)
        }
        EventKind::SpuriousLoss => other("spurious_loss", None, None, None),
        EventKind::Other(name) => other(batch.name(name), None, None, None),
    };
    let state_variables = batch.state_variables.iter().filter(|variable| variable.event as usize == index);
    let value = |variable: &StateVariable| (!variable.value.is_nan()).then_some(variable.value);
    std::iter::once(line)
        .chain(state_variables.map(|variable| format!("{time} {} {:?}", batch.name(variable.name), value(variable))))
        .collect()
}

struct Row<'a>(&'a RecordBatch, usize);

impl Row<'_> {
    fn column(&self, name: &str) -> &ArrayRef {
        self.0.column_by_name(name).unwrap()
    }

    fn word(&self, name: &str) -> Option<String> {
        let column = self.column(name);
        let words = column.as_dictionary::<Int32Type>();
        let key = words.key(self.1)?;
        Some(words.values().as_string::<i32>().value(key).to_owned())
    }

    fn u64(&self, name: &str) -> Option<u64> {
        let column = self.column(name);
        column.is_valid(self.1).then(|| column.as_primitive::<UInt64Type>().value(self.1))
    }

    fn u32(&self, name: &str) -> Option<u32> {
        let column = self.column(name);
        column.is_valid(self.1).then(|| column.as_primitive::<UInt32Type>().value(self.1))
    }

    fn i64(&self, name: &str) -> Option<i64> {
        let column = self.column(name);
        column.is_valid(self.1).then(|| column.as_primitive::<Int64Type>().value(self.1))
    }

    fn flag(&self, name: &str) -> Option<bool> {
        let column = self.column(name);
        column.is_valid(self.1).then(|| column.as_boolean().value(self.1))
    }

    fn list(&self, name: &str) -> Vec<Vec<u64>> {
        let list = self.column(name).as_list::<i32>().value(self.1);
        let parts = list.as_struct();
        let cell = |column: &ArrayRef, row: usize| match (column.as_boolean_opt(), column.as_primitive_opt()) {
            (Some(flags), _) => u64::from(flags.value(row)),
            (None, Some(small)) => u64::from(PrimitiveArray::<UInt32Type>::value(small, row)),
            (None, None) => column.as_primitive::<UInt64Type>().value(row),
        };
        (0..parts.len()).map(|row| parts.columns().iter().map(|column| cell(column, row)).collect()).collect()
    }

    /// The flow control frames, each as the model shows it.
    fn limits(&self) -> Vec<String> {
        let list = self.column("flow_control").as_list::<i32>().value(self.1);
        let parts = list.as_struct();
        let numbers = |name: &str, row: usize| {
            let column = parts.column_by_name(name).unwrap();
            column.is_valid(row).then(|| column.as_primitive::<UInt64Type>().value(row))
        };
        let one = |row: usize| {
            let frame_type = parts.column_by_name("frame_type").unwrap().as_string::<i32>().value(row);
            let column = parts.column_by_name("unidirectional").unwrap();
            let unidirectional = column.is_valid(row).then(|| column.as_boolean().value(row));
            let kind = LIMITS
                .into_iter()
                .find(|kind| kind.frame_type() == frame_type && kind.unidirectional() == unidirectional)
                .unwrap();
            FlowControl { kind, stream: numbers("stream_id", row), limit: numbers("limit", row) }.to_string()
        };
        (0..parts.len()).map(one).collect()
    }

    /// The row, written as [`said`] writes it.
    fn said(&self, table: Table) -> String {
        let time = self.i64("time_ns").unwrap();
        match table {
            Table::Packets => {
                let ranges: Vec<(u64, u64)> = self.list("acked_ranges").iter().map(|ends| (ends[0], ends[1])).collect();
                let streams: Vec<(u64, u64, u64, bool)> =
                    self.list("streams").iter().map(|one| (one[0], one[1], one[2], one[3] == 1)).collect();
                let path_acks: Vec<(u32, u64, u64)> =
                    self.list("path_acks").iter().map(|ack| (ack[0] as u32, ack[1], ack[2])).collect();
                format!(
                    "{time} {} {} {:?} {:?} {:?} {} {:?} {:?} {:?} {streams:?} {:?} {} {:?} {:?} {path_acks:?}",
                    self.word("event").unwrap(),
                    self.word("packet_type").unwrap(),
                    self.u64("packet_number"),
                    self.u32("bytes"),
                    self.flag("ack_eliciting"),
                    self.flag("has_ack").unwrap(),
                    ranges,
                    self.i64("ack_delay_ns"),
                    self.u64("ce"),
                    self.word("trigger"),
                    self.u32("path").unwrap(),
                    self.word("frames"),
                    self.limits()
                )
            }
            Table::Recovery => {
                let sizes = ["cwnd", "ssthresh", "bytes_in_flight", "packets_in_flight", "pacing_rate_bps"];
                let rtts = ["min_rtt_ns", "smoothed_rtt_ns", "latest_rtt_ns", "rtt_variance_ns"];
                format!(
                    "{time} {:?} {:?} {:?} {:?} {:?} {}",
                    sizes.map(|name| self.u64(name)),
                    rtts.map(|name| self.i64(name)),
                    self.u32("pto_count"),
                    self.flag("app_limited"),
                    self.u64("lost_packets"),
                    self.u32("path").unwrap()
                )
            }
            Table::Events => format!(
                "{time} {} {:?} {:?} {:?} {:?}",
                self.word("event").unwrap(),
                self.word("value").as_deref(),
                self.u32("number"),
                self.word("trigger").as_deref(),
                self.word("peer").as_deref()
            ),
            _ => {
                let column = self.column("value");
                let value = column.is_valid(self.1).then(|| column.as_primitive::<Float64Type>().value(self.1));
                format!("{time} {} {value:?}", self.word("name").unwrap())
            }
        }
    }
}

/// The rows of each event, over all tables.
fn tabled(batches: &[(Table, RecordBatch)]) -> BTreeMap<u64, Vec<String>> {
    let mut events: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (table, batch) in batches {
        for row in 0..batch.num_rows() {
            let row = Row(batch, row);
            events.entry(row.u64("seq").unwrap()).or_default().push(row.said(*table));
        }
    }
    events
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "recovery", "loss", "quic:x", "ü\"\\"]).prop_map(str::to_owned)
}

/// One event with what belongs to it: its kind, the rows it may have, words, a number, a fact.
type Made = (u8, Packet, Metrics, Vec<(u64, u64)>, Vec<Stream>, [String; 2], u32, Option<f64>);

fn event() -> impl Strategy<Value = Made> {
    let some = || prop::option::of(any::<u64>());
    let span = || prop::option::of(any::<i64>());
    let kinds = [
        PacketType::Initial,
        PacketType::Handshake,
        PacketType::ZeroRtt,
        PacketType::OneRtt,
        PacketType::Unnumbered,
        PacketType::Unknown,
    ];
    let flag = || prop::option::of(any::<bool>());
    let packet = (
        prop::sample::select(kinds.to_vec()),
        some(),
        prop::option::of(any::<u32>()),
        flag(),
        any::<bool>(),
        span(),
        some(),
    )
        .prop_map(|(kind, number, bytes, ack_eliciting, acks, ack_delay, ce)| Packet {
            kind,
            number,
            bytes,
            ack_eliciting,
            acks,
            ack_delay,
            ce,
            path: bytes.unwrap_or(0),
            ..Packet::default()
        });
    let metrics = ([some(), some(), some(), some(), some()], [span(), span(), span(), span()], flag()).prop_map(
        |(
            [cwnd, ssthresh, bytes_in_flight, packets_in_flight, pacing_rate],
            [min, smoothed, latest, variance],
            app_limited,
        )| {
            Metrics {
                cwnd,
                ssthresh,
                bytes_in_flight,
                packets_in_flight,
                min_rtt: min,
                smoothed_rtt: smoothed,
                latest_rtt: latest,
                rtt_variance: variance,
                pacing_rate,
                pto_count: cwnd.map(|cwnd| cwnd as u32),
                app_limited,
                lost_packets: pacing_rate,
                path: 1,
            }
        },
    );
    let stream = (any::<u64>(), any::<u64>(), any::<u64>(), any::<bool>())
        .prop_map(|(id, offset, length, fin)| Stream { id, offset, length, fin });
    let ranges = prop::collection::vec((any::<u64>(), any::<u64>()), 0..4);
    let streams = prop::collection::vec(stream, 0..3);
    (0..18_u8, packet, metrics, ranges, streams, [names(), names()], any::<u32>(), prop::option::of(-1e9..1e9_f64))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_the_model_has_is_lost(events in prop::collection::vec(event(), 1..40)) {
        let mut batch = Batch { trace: 3, ..Batch::default() };
        for (time, (kind, mut packet, metrics, ranges, streams, words, number, fact)) in events.into_iter().enumerate() {
            let [one, other] = words.map(|word| batch.names.add(&word));
            packet.ranges = (batch.ranges.len() as u32, ranges.len() as u32);
            packet.streams = (batch.streams.len() as u32, streams.len() as u32);
            packet.path_acks = (batch.path_acks.len() as u32, 1);
            batch.path_acks.push(PathAck { path: number, ranges: (batch.path_ranges.len() as u32, ranges.len() as u32) });
            batch.path_ranges.extend(&ranges);
            packet.trigger = fact.map(|_| other);
            let limit = FlowControl {
                kind: LIMITS[number as usize % LIMITS.len()],
                stream: packet.number,
                limit: packet.ce,
            };
            let what = match kind {
                0 => EventKind::PacketSent(batch.packets.len() as u32),
                1 => EventKind::PacketReceived(batch.packets.len() as u32),
                2 => EventKind::PacketLost(batch.packets.len() as u32),
                3 => EventKind::PacketDropped(batch.packets.len() as u32),
                4 => EventKind::MetricsUpdated(batch.metrics.len() as u32),
                5 => EventKind::CongestionState(batch.states.len() as u32),
                6 => EventKind::Controller(one),
                7 => EventKind::EcnCe(number),
                8 => EventKind::PacketsLost(number),
                9 => EventKind::SpuriousLoss,
                10 => EventKind::MtuUpdated(number),
                11 => EventKind::DataDelivered(number),
                13 => EventKind::TransportParameters(batch.parameters.len() as u32),
                14 => EventKind::FlowControlSent(batch.flow_control.len() as u32),
                15 => EventKind::FlowControlReceived(batch.flow_control.len() as u32),
                16 => EventKind::HttpFrameCreated(batch.http.len() as u32),
                17 => EventKind::HttpFrameParsed(batch.http.len() as u32),
                _ => EventKind::Other(one),
            };
            let index = batch.events.len() as u32;
            match kind {
                0..=3 => {
                    batch.ranges.extend(ranges);
                    batch.streams.extend(streams);
                    packet.flow_control = (batch.flow_control.len() as u32, number % 2);
                    batch.flow_control.extend((number % 2 == 1).then_some(limit));
                    batch.packets.push(packet);
                }
                4 => batch.metrics.push(metrics),
                16 | 17 => {
                    let fields = (batch.fields.len() as u32, u32::from(kind == 17));
                    batch.fields.extend((kind == 17).then_some(HttpField { name: one, value: other }));
                    let kinds = [HttpFrameKind::Headers, HttpFrameKind::Data, HttpFrameKind::PriorityUpdate(number.into())];
                    let kind = kinds[number as usize % 3];
                    batch.http.push(HttpFrame { kind, stream: number.into(), length: packet.number, fields });
                }
                5 => batch.states.push(State { new: one, trigger: packet.trigger }),
                12 => batch.peers.push(Peer { event: index, address: other, local: one }),
                13 => batch.parameters.push(TransportParameters {
                    remote: number % 2 == 0,
                    max_data: packet.number,
                    ..TransportParameters::default()
                }),
                14 | 15 => batch.flow_control.push(limit),
                _ => {}
            }
            if let Some(value) = fact {
                let value = if number % 5 == 0 { f64::NAN } else { value };
                batch.state_variables.push(StateVariable { event: index, name: one, value });
            }
            batch.events.push(Event { time: time as i64 - 5, group: one, kind: what });
        }
        let mut tables = Tables::default();
        (0..batch.events.len()).for_each(|index| tables.add("f", "c", 100, &batch, index));
        let tabled = tabled(&tables.take().unwrap());
        prop_assert_eq!(tabled.len(), batch.events.len());
        for index in 0..batch.events.len() {
            prop_assert_eq!(&tabled[&(100 + index as u64)], &said(&batch, index));
        }
        prop_assert!(tables.take().unwrap().is_empty(), "what was taken is gone");
    }
}

/// Our own traces, and the recorded ones in the directory that `WINDLASS_TRACES` names or in `shared/traces` beside the
/// workspace, where they are at hand.
fn recorded() -> Vec<std::path::PathBuf> {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let others = std::env::var_os("WINDLASS_TRACES").map_or_else(|| here.join("../../../shared/traces"), Into::into);
    let mut files = Vec::new();
    for folder in [here.join("../tests/traces"), others] {
        let Ok(entries) = folder.read_dir() else {
            println!("skipped: there are no recorded traces at {}; our own are read", folder.display());
            continue;
        };
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.extension().is_none_or(|ending| ending != "md"));
    assert!(files.len() >= 15, "only {} traces", files.len());
    files
}

#[test]
fn recorded_traces_are_in_their_tables() {
    for path in recorded() {
        let options = Options { state_variables: true, ..Options::default() };
        let (summary, count) = twice(
            || open(&path).map_err(ReadError::from),
            &options,
            |input, options| {
                let mut before: BTreeMap<u32, u64> = BTreeMap::new();
                let mut count = 0;
                let summary = read(input, options, &mut |trace, batch| {
                    let before = before.entry(trace.index).or_default();
                    let mut tables = Tables::default();
                    (0..batch.events.len()).for_each(|index| tables.add("f", "c", *before, &batch, index));
                    let tabled = tabled(&tables.take().unwrap());
                    for index in 0..batch.events.len() {
                        assert_eq!(tabled[&(*before + index as u64)], said(&batch, index), "{}", path.display());
                        count += 1;
                    }
                    *before += batch.events.len() as u64;
                    Ok(())
                })?;
                Ok((summary, count))
            },
        )
        .unwrap();
        assert_eq!(summary.events, count, "{}", path.display());
    }
}
