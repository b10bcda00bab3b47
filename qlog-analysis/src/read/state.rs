//! What is known of the traces of a file, and the blocks that wait to be read.

#[cfg(feature = "parallel")]
use rayon::{ThreadPool, ThreadPoolBuilder, prelude::*};
use serde_json::{Map, Value};

use super::block::{self, BLOCK, Block, HEADER};
use super::encoding::Encoding;
use super::netlog::{Check, Netlog};
use super::units::Judgement;
use super::{Options, ReadError, UnitSource, encoding};
use crate::model::{Batch, EventKind, Framing, SchemaVersion, Trace, Vantage};

/// Blocks per thread that are read together.
#[cfg(feature = "parallel")]
const AHEAD: usize = 4;

/// Traces that a file may contain.
const TRACES: u32 = 1 << 16;

pub(crate) struct TraceState {
    trace: Trace,
    encoding: Encoding,
    /// The time of the last event, for traces that write differences; ns.
    last: i64,
    /// Whether the first events were looked at for their units.
    unit_checked: bool,
}

pub(crate) struct ReadState {
    pub(crate) options: Options,
    #[cfg(feature = "parallel")]
    pool: Option<ThreadPool>,
    /// What the file says of all its traces.
    top: Map<String, Value>,
    traces: Vec<TraceState>,
    waiting: Vec<Block>,
    framing: Framing,
    /// What puts packets together again, if it is a network log.
    pub(crate) netlog: Option<Netlog>,
}

impl ReadState {
    pub(crate) fn new(options: Options) -> Self {
        ReadState {
            options,
            #[cfg(feature = "parallel")]
            pool: match options.jobs {
                1 => None,
                jobs => ThreadPoolBuilder::new().num_threads(jobs).build().ok(),
            },
            top: Map::new(),
            traces: Vec::new(),
            waiting: Vec::new(),
            framing: Framing::default(),
            netlog: None,
        }
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
        match trace {
            None => {
                for known in &mut self.traces {
                    encoding::apply(&fields, &mut known.trace, &mut known.encoding);
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
                encoding::apply(&fields, &mut known.trace, &mut known.encoding);
            }
        }
        Ok(())
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
            let mut trace = Trace { index: self.traces.len() as u32, framing: self.framing, ..Trace::default() };
            let mut encoding = Encoding::default();
            encoding::apply(&self.top, &mut trace, &mut encoding);
            self.traces.push(TraceState { trace, encoding, last: 0, unit_checked: false });
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
        let traces = self.traces.into_iter().map(|known| known.trace).collect();
        (traces, self.netlog.map(Netlog::into_checks).unwrap_or_default())
    }

    /// Takes a block; says whether it is time to read those that wait. The first block of a
    /// trace is read alone, for it decides how the others are read.
    pub(crate) fn push(&mut self, block: Block) -> bool {
        let unit_checked = self.ensure(block.trace).unit_checked;
        self.waiting.push(block);
        let most = self.blocks_at_once();
        // Blocks of very long records are larger than others.
        let bytes: usize = self.waiting.iter().map(|block| block.text.len()).sum();
        !unit_checked || self.waiting.len() >= most || bytes > 2 * most * BLOCK
    }

    /// Blocks that are read together.
    fn blocks_at_once(&self) -> usize {
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            return pool.current_num_threads() * AHEAD;
        }
        1
    }

    /// Reads blocks, on all threads there are.
    pub(crate) fn read(&self, blocks: &[Block]) -> Vec<Batch> {
        let read = |block: &Block| block::read(block, self.encoding(block.trace), &self.options);
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            return pool.install(|| blocks.par_iter().map(read).collect());
        }
        blocks.iter().map(read).collect()
    }

    pub(crate) fn take(&mut self) -> Vec<Block> {
        std::mem::take(&mut self.waiting)
    }

    /// Gives back the place of blocks that were read.
    pub(crate) fn recycle(&mut self, mut blocks: Vec<Block>) {
        blocks.clear();
        self.waiting = blocks;
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
        if !known.unit_checked {
            known.unit_checked = true;
            if self.options.units == UnitSource::Evidence {
                let judgement = Judgement::of(batch);
                known.encoding.rtt_places += judgement.rtt_places();
                known.encoding.time_places += judgement.time_places();
                known.encoding.pacing_factor = judgement.pacing_factor();
                known.trace.units = judgement.units();
                known.last = batch.events.last().map_or(known.last, |event| event.time);
            }
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
