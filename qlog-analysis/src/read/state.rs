//! State of a file's traces, and the blocks that wait to be read.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

#[cfg(feature = "parallel")]
use super::ahead::Ahead;
use super::block::{self, Block, HEADER};
use super::clock::Clock;
use super::encoding::Encoding;
use super::netlog::{Check, Netlog};
use super::units::{self, Judgement};
use super::{Headers, Options, ReadError, UnitSource, encoding};
use crate::model::{Batch, ClockFaults, Event, EventKind, Framing, SchemaVersion, Trace, Vantage};
use crate::read::MAX_CONNECTIONS;

/// Traces that a file may contain.
const TRACES: u32 = 1 << 16;

/// Header of a trace: what holds for all its events.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Header {
    trace: Trace,
    encoding: Encoding,
}

impl Header {
    /// Whether events mean the same by both.
    fn reads_as(&self, other: &Header) -> bool {
        let meaning = |header: &Header| (header.trace.vantage, header.trace.flow, header.trace.schema_version);
        self.encoding == other.encoding && meaning(self) == meaning(other)
    }
}

pub(crate) struct TraceState {
    trace: Trace,
    /// As it is declared, with what the first events show.
    encoding: Arc<Encoding>,
    declared: Header,
    /// Whether events of it were read.
    begun: bool,
    /// The time of the last event, for traces that write differences; ns.
    last: i64,
    /// Whether it has several paths.
    on_paths: bool,
    /// Whether the first events were looked at for their units.
    unit_checked: bool,
    /// The clock of each connection, and which one a connection has.
    clocks: Vec<Clock>,
    clock_of: HashMap<String, usize>,
}

impl TraceState {
    fn new(declared: Header) -> Self {
        let Header { trace, encoding } = declared.clone();
        TraceState {
            trace,
            encoding: Arc::new(encoding),
            declared,
            begun: false,
            last: 0,
            on_paths: false,
            unit_checked: false,
            clocks: Vec::new(),
            clock_of: HashMap::new(),
        }
    }

    /// Applies a part of the header. Returns whether that changes the meaning of events already read.
    fn apply(&mut self, fields: &Map<String, Value>) -> bool {
        let before = self.declared.clone();
        encoding::apply(fields, &mut self.declared.trace, &mut self.declared.encoding);
        if !self.begun {
            self.encoding = Arc::new(self.declared.encoding.clone());
        }
        let Trace { controller, quic_version, units, pathless_losses, windows, .. } = std::mem::take(&mut self.trace);
        self.trace = Trace { controller, quic_version, units, pathless_losses, windows, ..self.declared.trace.clone() };
        self.begun && !self.declared.reads_as(&before)
    }

    /// Finds the paths of losses that do not say it, in a trace of several: noq writes next the metrics of the path that
    /// a loss changes.
    fn place_losses(&mut self, batch: &mut Batch) {
        self.on_paths |= batch.on_paths;
        if !self.on_paths {
            return;
        }
        let mut next: Option<(Event, u32)> = None;
        let mut lost = batch.pathless.iter().rev().map(|&at| at as usize).peekable();
        for at in (0..batch.events.len()).rev() {
            let event = batch.events[at];
            if let EventKind::MetricsUpdated(index) = event.kind {
                next = Some((event, batch.metrics[index as usize].path));
            }
            let EventKind::PacketLost(index) = event.kind else { continue };
            if lost.next_if_eq(&at).is_none() {
                continue;
            }
            match next.filter(|(next, _)| next.time == event.time && next.group == event.group) {
                Some((_, path)) => batch.packets[index as usize].path = path,
                None => self.trace.pathless_losses += 1,
            }
        }
    }

    /// Bridges times over steps of the clocks.
    fn bridge(&mut self, batch: &mut Batch) {
        // Which clock each name of the batch has.
        let mut known: Vec<Option<usize>> = Vec::new();
        let names = &batch.names;
        for run in batch.events.chunk_by_mut(|one, next| one.group == next.group) {
            let group = run[0].group;
            known.resize(known.len().max(group.index() + 1), None);
            let name = names.get(group);
            let at = match known[group.index()].or_else(|| self.clock_of.get(name).copied()) {
                Some(at) => at,
                None if self.clocks.len() < MAX_CONNECTIONS => {
                    self.clock_of.insert(name.to_owned(), self.clocks.len());
                    self.clocks.push(Clock::default());
                    self.clocks.len() - 1
                }
                None => continue,
            };
            known[group.index()] = Some(at);
            let clock = &mut self.clocks[at];
            run.iter_mut().for_each(|event| event.time = clock.bridge(event.time));
        }
    }
}

pub(crate) struct ReadState {
    pub(crate) options: Options,
    /// Blocks that several threads read; `None` with one.
    #[cfg(feature = "parallel")]
    pub(super) ahead: Option<Ahead>,
    /// Headers of all the file's traces.
    top: Map<String, Value>,
    /// The first trace that this is about.
    first: usize,
    traces: Vec<TraceState>,
    /// The first block of a trace, which is read before any other: it decides how those are read.
    waiting: Option<Block>,
    framing: Framing,
    /// Whether what stands behind events that were read changes their meaning.
    late: bool,
    /// What puts packets together again, if it is a network log.
    pub(crate) netlog: Option<Netlog>,
}

impl ReadState {
    pub(crate) fn new(options: &Options) -> Self {
        ReadState {
            options: options.clone(),
            #[cfg(feature = "parallel")]
            ahead: Ahead::new(options),
            top: Map::new(),
            first: 0,
            traces: Vec::new(),
            waiting: None,
            framing: Framing::default(),
            late: false,
            netlog: None,
        }
    }

    /// Whether the file has to be read again.
    pub(crate) fn is_late(&self) -> bool {
        self.late
    }

    /// Headers of the file's traces.
    pub(crate) fn headers(self) -> Headers {
        Headers(Some(Arc::new(self.traces.into_iter().map(|known| known.declared).collect())))
    }

    /// Whether the first block of the trace, or of any, waits for a part of its header.
    pub(crate) fn is_waiting_for(&self, trace: Option<u32>) -> bool {
        self.waiting.as_ref().is_some_and(|block| trace.is_none_or(|trace| block.trace == trace))
    }

    /// Takes over a part of the header.
    pub(crate) fn header(&mut self, trace: Option<u32>, text: &[u8], framing: Framing) -> Result<(), ReadError> {
        self.framing = framing;
        if text.len() > HEADER + 2 {
            let message = format!("the header has {} bytes; expected {HEADER} at most", text.len());
            return Err(ReadError::NotQlog(message));
        }
        let fields = match serde_json::from_slice::<Value>(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(ReadError::NotQlog("the header is no JSON object".to_owned())),
            // A network log that broke off in what follows its events.
            Err(_) if self.netlog.is_some() => return Ok(()),
            Err(error) => return Err(ReadError::NotQlog(format!("the header cannot be read: {error}"))),
        };
        if framing == Framing::Netlog {
            self.network_log(&fields);
            return Ok(());
        }
        let informed = self.options.headers.0.is_some();
        match trace {
            None => {
                for known in self.traces.iter_mut().skip(self.first).filter(|_| !informed) {
                    self.late |= known.apply(&fields);
                }
                self.top.extend(fields);
            }
            Some(index) => {
                if matches!(framing, Framing::Sequence | Framing::Lines) && !encoding::is_qlog(&fields) {
                    let message = "the first record is no qlog header: it has neither file_schema nor qlog_version";
                    return Err(ReadError::NotQlog(message.to_owned()));
                }
                if index >= TRACES {
                    return Err(ReadError::NotQlog(format!("there are more than {TRACES} traces in it")));
                }
                let known = self.ensure(index);
                self.late |= !informed && known.apply(&fields);
            }
        }
        Ok(())
    }

    /// Another document begins.
    pub(crate) fn document(&mut self) {
        self.top.clear();
        self.first = self.traces.len();
    }

    fn network_log(&mut self, fields: &Map<String, Value>) {
        let constants = fields.get("constants").and_then(Value::as_object);
        if let Some(constants) = constants {
            self.netlog = Some(Netlog::new(constants));
        }
        if let (Some(netlog), Some(polled)) = (&mut self.netlog, fields.get("polledData")) {
            netlog.polled(polled);
        }
        let Some(constants) = constants else { return };
        let trace = &mut self.ensure(0).trace;
        trace.framing = Framing::Netlog;
        trace.schema_version = SchemaVersion::Netlog;
        trace.vantage = Vantage::Client;
        trace.implementation = "Chromium".to_owned();
        let version = constants.get("logFormatVersion");
        trace.version = version.map_or_else(String::new, |version| format!("netlog {version}"));
    }

    pub(crate) fn ensure(&mut self, index: u32) -> &mut TraceState {
        while self.traces.len() <= index as usize {
            let at = self.traces.len();
            let known = self.options.headers.0.as_ref().and_then(|headers| headers.get(at)).cloned();
            let declared = known.unwrap_or_else(|| {
                let mut trace = Trace { index: at as u32, framing: self.framing, ..Trace::default() };
                let mut encoding = Encoding::default();
                encoding::apply(&self.top, &mut trace, &mut encoding);
                Header { trace, encoding }
            });
            self.traces.push(TraceState::new(declared));
        }
        &mut self.traces[index as usize]
    }

    pub(crate) fn encoding(&self, trace: u32) -> &Encoding {
        &self.traces[trace as usize].encoding
    }

    pub(crate) fn trace(&self, trace: u32) -> &Trace {
        &self.traces[trace as usize].trace
    }

    pub(crate) fn into_traces(self) -> (Vec<Trace>, Vec<Check>) {
        let trace = |known: TraceState| {
            let clock = known.clocks.iter().map(Clock::faults).fold(ClockFaults::default(), ClockFaults::and);
            Trace { clock, ..known.trace }
        };
        let traces = self.traces.into_iter().map(trace).collect();
        (traces, self.netlog.map(Netlog::into_checks).unwrap_or_default())
    }

    /// Whether `block` is the first of its trace.
    pub(crate) fn is_first(&mut self, block: &Block) -> bool {
        !self.ensure(block.trace).begun
    }

    /// Keeps the first block of a trace until its header is complete. Returns whether it is: that of a document may go on behind.
    pub(crate) fn wait(&mut self, block: Block) -> bool {
        self.waiting = Some(block);
        self.framing != Framing::Contained
    }

    /// Reads a block on this thread.
    pub(crate) fn read(&mut self, block: &Block) -> Batch {
        match &mut self.netlog {
            Some(netlog) => netlog.read(block, self.options.records),
            None => block::read(block, self.encoding(block.trace), &self.options),
        }
    }

    /// Reads a block of a trace of which the first was read, on any thread. Gives it back where there is but this one.
    #[cfg(feature = "parallel")]
    pub(crate) fn read_ahead(&mut self, block: Block) -> Option<Block> {
        let Some(ahead) = self.ahead.as_mut().filter(|_| self.netlog.is_none()) else { return Some(block) };
        let encoding = &self.traces[block.trace as usize].encoding;
        ahead.read(block, encoding);
        None
    }

    /// The first block of a trace that waits; its events are read from now on.
    pub(crate) fn take_first(&mut self) -> Option<Block> {
        let block = self.waiting.take()?;
        self.begin(&block);
        Some(block)
    }

    /// Events of a trace are read from now on, the first of them those of `block`.
    pub(crate) fn begin(&mut self, block: &Block) {
        let known = &mut self.traces[block.trace as usize];
        if !std::mem::replace(&mut known.begun, true) && self.options.units == UnitSource::Evidence {
            let unpadded = units::unpadded(block, &known.encoding);
            Arc::make_mut(&mut known.encoding).unpadded = unpadded;
        }
    }

    /// Does to a batch what needs to know the ones before it.
    pub(crate) fn complete(&mut self, batch: &mut Batch) {
        let known = &mut self.traces[batch.trace as usize];
        batch.vantage = known.trace.vantage;
        batch.schema_version = known.trace.schema_version;
        if known.encoding.delta {
            for event in &mut batch.events {
                event.time = event.time.saturating_add(known.last);
            }
            known.last = batch.events.last().map_or(known.last, |event| event.time);
        }
        known.place_losses(batch);
        let (logged, largest) = &mut known.trace.windows;
        for window in batch.metrics.iter().filter_map(|metrics| metrics.cwnd) {
            *logged += 1;
            *largest = window.max(*largest);
        }
        if !known.unit_checked {
            known.unit_checked = true;
            if self.options.units == UnitSource::Evidence {
                let judgement = Judgement::of(batch);
                known.trace.units = judgement.units(&known.encoding);
                let encoding = Arc::make_mut(&mut known.encoding);
                encoding.rtt_places += judgement.rtt_places();
                encoding.time_places += judgement.time_places();
                encoding.pacing_factor = judgement.pacing_factor();
                encoding.half_open = judgement.half_open;
                known.last = batch.events.last().map_or(known.last, |event| event.time);
            }
        }
        if known.trace.framing != Framing::Netlog {
            known.bridge(batch);
        }
        if known.trace.quic_version.is_empty()
            && let Some(version) = batch.quic_version
        {
            known.trace.quic_version = encoding::short(batch.name(version));
        }
        if known.trace.controller.is_empty() {
            let name = batch.events.iter().find_map(|event| match event.kind {
                EventKind::Controller(name) => Some(name),
                _ => None,
            });
            if let Some(name) = name {
                known.trace.controller = encoding::short(batch.name(name));
            }
        }
    }
}
