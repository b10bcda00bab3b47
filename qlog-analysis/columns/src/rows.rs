//! Growing columns, a table each.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, BooleanBuilder, Float64Builder, Int64Builder, ListArray, RecordBatch, StringArray,
    StringDictionaryBuilder, StructArray, UInt32Array, UInt32Builder, UInt64Array, UInt64Builder,
};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{Fields, Int32Type};
use windlass_qlog_analysis::model::{Batch, FlowControl, Metrics, Packet, Stream};

use crate::Error;
use crate::schema::{Table, element, flow_control, path_range, range, stream};

pub(crate) type Words = StringDictionaryBuilder<Int32Type>;

/// File, connection and place of an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) file: &'a str,
    pub(crate) trace: u32,
    pub(crate) connection: &'a str,
    /// Number of the trace's events before it.
    pub(crate) seq: u64,
    pub(crate) time: i64,
}

/// The columns every event has.
#[derive(Default)]
struct Origins {
    file: Words,
    trace: UInt32Builder,
    connection: Words,
    seq: UInt64Builder,
    time: Int64Builder,
}

impl Origins {
    fn add(&mut self, origin: &Origin<'_>) {
        self.file.append_value(origin.file);
        self.trace.append_value(origin.trace);
        self.connection.append_value(origin.connection);
        self.seq.append_value(origin.seq);
        self.time.append_value(origin.time);
    }

    fn take(&mut self) -> Vec<ArrayRef> {
        vec![
            Arc::new(self.file.finish()),
            Arc::new(self.trace.finish()),
            Arc::new(self.connection.finish()),
            Arc::new(self.seq.finish()),
            Arc::new(self.time.finish()),
        ]
    }
}

/// Lists of structs, as their parts and where each list ends.
#[derive(Debug)]
struct Lists<T> {
    parts: Vec<T>,
    ends: Vec<i32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { parts: Vec::new(), ends: vec![0] }
    }
}

impl<T: Copy> Lists<T> {
    fn add(&mut self, list: &[T]) {
        self.parts.extend_from_slice(list);
        self.ends.push(self.parts.len() as i32);
    }

    fn extend(&mut self, list: impl Iterator<Item = T>) {
        self.parts.extend(list);
        self.ends.push(self.parts.len() as i32);
    }

    fn take(&mut self, fields: Fields, columns: impl FnOnce(&[T]) -> Vec<ArrayRef>) -> Result<ArrayRef, Error> {
        let Lists { parts, ends } = std::mem::take(self);
        let values = StructArray::try_new(fields.clone(), columns(&parts), None)?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        Ok(Arc::new(ListArray::try_new(element(fields), offsets, Arc::new(values), None)?))
    }
}

/// Rows of the table `packets`.
#[derive(Default)]
pub(crate) struct Packets {
    origins: Origins,
    event: Words,
    kind: Words,
    number: UInt64Builder,
    bytes: UInt32Builder,
    ack_eliciting: BooleanBuilder,
    has_ack: BooleanBuilder,
    ranges: Lists<(u64, u64)>,
    ack_delay: Int64Builder,
    ce: UInt64Builder,
    streams: Lists<Stream>,
    trigger: Words,
    path: UInt32Builder,
    frames: Words,
    flow_control: Lists<FlowControl>,
    path_acks: Lists<(u32, u64, u64)>,
    rows: usize,
}

impl Packets {
    pub(crate) fn add(&mut self, origin: &Origin<'_>, event: &str, packet: &Packet, batch: &Batch) {
        self.rows += 1;
        self.origins.add(origin);
        self.event.append_value(event);
        self.kind.append_value(packet.kind.name());
        self.number.append_option(packet.number);
        self.bytes.append_option(packet.bytes);
        self.ack_eliciting.append_option(packet.ack_eliciting);
        self.has_ack.append_value(packet.acks);
        self.ranges.add(batch.ranges_of(packet));
        self.ack_delay.append_option(packet.ack_delay);
        self.ce.append_option(packet.ce);
        self.streams.add(batch.streams_of(packet));
        self.trigger.append_option(packet.trigger.map(|name| batch.name(name)));
        self.path.append_value(packet.path);
        let frames: Vec<&str> = packet.frames.names().collect();
        self.frames.append_option((!frames.is_empty()).then(|| frames.join(",")));
        self.flow_control.add(batch.flow_control_of(packet));
        let acks = batch.path_acks_of(packet).iter();
        let ranges =
            acks.flat_map(|ack| batch.ranges_of_path_ack(ack).iter().map(|&(low, high)| (ack.path, low, high)));
        self.path_acks.extend(ranges);
    }

    /// Rows, and with them parts of lists.
    pub(crate) fn size(&self) -> usize {
        self.rows + (self.ranges.parts.len() + self.streams.parts.len()) / 4
    }

    pub(crate) fn take(&mut self) -> Result<RecordBatch, Error> {
        self.rows = 0;
        let mut columns = self.origins.take();
        columns.push(Arc::new(self.event.finish()));
        columns.push(Arc::new(self.kind.finish()));
        columns.push(Arc::new(self.number.finish()));
        columns.push(Arc::new(self.bytes.finish()));
        columns.push(Arc::new(self.ack_eliciting.finish()));
        columns.push(Arc::new(self.has_ack.finish()));
        columns.push(self.ranges.take(range(), |parts| {
            vec![whole(parts.iter().map(|part| part.0)), whole(parts.iter().map(|part| part.1))]
        })?);
        columns.push(Arc::new(self.ack_delay.finish()));
        columns.push(Arc::new(self.ce.finish()));
        columns.push(self.streams.take(stream(), |parts| {
            vec![
                whole(parts.iter().map(|part| part.id)),
                whole(parts.iter().map(|part| part.offset)),
                whole(parts.iter().map(|part| part.length)),
                Arc::new(BooleanArray::from_iter(parts.iter().map(|part| Some(part.fin)))),
            ]
        })?);
        columns.push(Arc::new(self.trigger.finish()));
        columns.push(Arc::new(self.path.finish()));
        columns.push(Arc::new(self.frames.finish()));
        columns.push(self.flow_control.take(flow_control(), |parts| {
            vec![
                Arc::new(StringArray::from_iter_values(parts.iter().map(|part| part.kind.frame_type()))),
                Arc::new(BooleanArray::from_iter(parts.iter().map(|part| part.kind.unidirectional()))),
                Arc::new(UInt64Array::from_iter(parts.iter().map(|part| part.stream))),
                Arc::new(UInt64Array::from_iter(parts.iter().map(|part| part.limit))),
            ]
        })?);
        columns.push(self.path_acks.take(path_range(), |parts| {
            vec![
                Arc::new(UInt32Array::from_iter_values(parts.iter().map(|part| part.0))),
                whole(parts.iter().map(|part| part.1)),
                whole(parts.iter().map(|part| part.2)),
            ]
        })?);
        Ok(RecordBatch::try_new(Table::Packets.schema(), columns)?)
    }
}

fn whole(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

/// Rows of the table `recovery`: updates of recovery metrics.
#[derive(Default)]
pub(crate) struct Recovery {
    origins: Origins,
    /// Window, threshold, bytes and packets in flight, pacing rate.
    sizes: [UInt64Builder; 5],
    /// Minimum, smoothed, latest RTT, variation.
    rtts: [Int64Builder; 4],
    pto_count: UInt32Builder,
    app_limited: BooleanBuilder,
    lost_packets: UInt64Builder,
    path: UInt32Builder,
    rows: usize,
}

impl Recovery {
    pub(crate) fn add(&mut self, origin: &Origin<'_>, metrics: &Metrics) {
        self.rows += 1;
        self.origins.add(origin);
        let Metrics { cwnd, ssthresh, bytes_in_flight, packets_in_flight, pacing_rate, .. } = *metrics;
        let sizes = [cwnd, ssthresh, bytes_in_flight, packets_in_flight, pacing_rate];
        self.sizes.iter_mut().zip(sizes).for_each(|(column, value)| column.append_option(value));
        let rtts = [metrics.min_rtt, metrics.smoothed_rtt, metrics.latest_rtt, metrics.rtt_variance];
        self.rtts.iter_mut().zip(rtts).for_each(|(column, value)| column.append_option(value));
        self.pto_count.append_option(metrics.pto_count);
        self.app_limited.append_option(metrics.app_limited);
        self.lost_packets.append_option(metrics.lost_packets);
        self.path.append_value(metrics.path);
    }

    pub(crate) fn size(&self) -> usize {
        self.rows
    }

    pub(crate) fn take(&mut self) -> Result<RecordBatch, Error> {
        self.rows = 0;
        let mut columns = self.origins.take();
        let mut sizes = self.sizes.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef).into_iter();
        columns.extend(sizes.by_ref().take(4));
        columns.extend(self.rtts.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
        columns.extend(sizes);
        columns.push(Arc::new(self.pto_count.finish()));
        columns.push(Arc::new(self.app_limited.finish()));
        columns.push(Arc::new(self.lost_packets.finish()));
        columns.push(Arc::new(self.path.finish()));
        Ok(RecordBatch::try_new(Table::Recovery.schema(), columns)?)
    }
}

/// An event that has no table of its own.
#[derive(Clone, Default, Debug)]
pub(crate) struct OtherRow<'a> {
    pub(crate) event: &'a str,
    pub(crate) value: Option<Cow<'a, str>>,
    pub(crate) number: Option<u32>,
    pub(crate) trigger: Option<&'a str>,
    pub(crate) peer: Option<&'a str>,
}

/// Rows of the table `events`: all other events.
#[derive(Default)]
pub(crate) struct Events {
    origins: Origins,
    event: Words,
    value: Words,
    number: UInt32Builder,
    trigger: Words,
    peer: Words,
    rows: usize,
}

impl Events {
    pub(crate) fn add(&mut self, origin: &Origin<'_>, row: &OtherRow<'_>) {
        self.rows += 1;
        self.origins.add(origin);
        self.event.append_value(row.event);
        self.value.append_option(row.value.as_deref());
        self.number.append_option(row.number);
        self.trigger.append_option(row.trigger);
        self.peer.append_option(row.peer);
    }

    pub(crate) fn size(&self) -> usize {
        self.rows
    }

    pub(crate) fn take(&mut self) -> Result<RecordBatch, Error> {
        self.rows = 0;
        let mut columns = self.origins.take();
        columns.push(Arc::new(self.event.finish()));
        columns.push(Arc::new(self.value.finish()));
        columns.push(Arc::new(self.number.finish()));
        columns.push(Arc::new(self.trigger.finish()));
        columns.push(Arc::new(self.peer.finish()));
        Ok(RecordBatch::try_new(Table::Events.schema(), columns)?)
    }
}

/// State variables of controllers.
#[derive(Default)]
pub(crate) struct StateVariables {
    origins: Origins,
    name: Words,
    value: Float64Builder,
    rows: usize,
}

impl StateVariables {
    pub(crate) fn add(&mut self, origin: &Origin<'_>, name: &str, value: f64) {
        self.rows += 1;
        self.origins.add(origin);
        self.name.append_value(name);
        self.value.append_option((!value.is_nan()).then_some(value));
    }

    pub(crate) fn size(&self) -> usize {
        self.rows
    }

    pub(crate) fn take(&mut self) -> Result<RecordBatch, Error> {
        self.rows = 0;
        let mut columns = self.origins.take();
        columns.push(Arc::new(self.name.finish()));
        columns.push(Arc::new(self.value.finish()));
        Ok(RecordBatch::try_new(Table::StateVariables.schema(), columns)?)
    }
}
