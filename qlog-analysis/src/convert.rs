//! Traces in another form: another schema version, another framing, several in one file.
//!
//! A file is read twice: once for what it says of itself, once for its events. An event
//! keeps whatever the other schema version has a place for, digit for digit, the order of its fields
//! too; so what is already in the form asked for comes out as it stood. What the other schema version
//! has no place for is left out and counted. Chromium's network logs and traces from before
//! the drafts, whose events are none of qlog's, go through the [model](crate::model).

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

use windlass_qlog::Profile;

use crate::lint::names;
use crate::metrics::paths::Paths;
use crate::model::{Batch, ClockFaults, Event, SchemaVersion};
use crate::read::MAX_CONNECTIONS;
use crate::read::block::{Block, Piece};
use crate::read::clock::Clock;
use crate::read::encoding::Encoding;
use crate::read::{Options, ReadError, UnitSource, read, sequence, twice};

mod acks;
mod data;
mod event;
mod header;
mod model;
mod node;
mod sink;
mod survey;

use acks::Acks;
use event::split;
use node::{Node, field};
use sink::Sink;
use survey::{Survey, Surveyed, survey};

/// Layout of the file written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OutputFraming {
    /// A JSON text sequence, which holds one trace.
    #[default]
    Sequence,
    /// One JSON document, which holds any number.
    Contained,
}

/// Schema version, framing and compression of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Target {
    /// Whose schema version to write.
    pub profile: Profile,
    /// Framing of the output.
    pub framing: OutputFraming,
    /// Only this trace, counted from 0 over all sources.
    pub only: Option<usize>,
    /// Whose word is taken for the units of the sources.
    pub units: UnitSource,
}

/// A file that can be read from its start more than once.
pub trait Source {
    /// Opens it, decompressed.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn open(&self) -> io::Result<Box<dyn Read + '_>>;
}

impl Source for [u8] {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self))
    }
}

/// Result of a conversion.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Converted {
    /// Number of traces written.
    pub traces: usize,
    /// Number of events written.
    pub events: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// What is doubtful about sources, counted from 0: that they were cut, or their clock was set.
    pub doubts: Vec<(usize, String)>,
    /// Events that came so late that they got the time of the one before.
    pub late: u64,
    /// Counts of what was left out or changed.
    pub omitted: BTreeMap<String, u64>,
    /// Traces that qvis shows an empty graph of, since they have no packet sent.
    pub empty: usize,
}

/// Error of a conversion.
#[derive(thiserror::Error)]
pub enum ConvertError {
    /// A source could not be read.
    #[error("{error}")]
    Read {
        /// Number of the source, from 0.
        source_index: usize,
        /// The error of the read.
        error: ReadError,
    },
    /// The output could not be written.
    #[error("{0}")]
    Write(io::Error),
    /// A sequence holds one trace, and there are others.
    #[error("there are {0} traces, and a JSON text sequence holds one")]
    Several(usize),
    /// There is no such trace.
    #[error("there is no trace {asked}; there are {traces}, counted from 0")]
    NoTrace {
        /// Number of the trace asked for, from 0.
        asked: usize,
        /// Number of traces in the sources.
        traces: usize,
    },
}

/// What the target has no place for, by name, with its count.
#[derive(Default)]
struct Omitted(BTreeMap<String, u64>);

impl Omitted {
    fn add(&mut self, what: &str) {
        match self.0.get_mut(what) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(what.to_owned(), 1);
            }
        }
    }
}

/// Says how many traces come of some files. For qvis, which knows one sequence of packet numbers, each path of multipath
/// QUIC becomes a trace.
///
/// # Errors
/// If one cannot be read.
pub fn count(sources: &[&dyn Source], profile: Profile) -> Result<usize, ConvertError> {
    let target = Target { profile, ..Target::default() };
    Ok(surveys(sources, target)?.iter().map(|survey| survey.traces.len()).sum())
}

fn surveys(sources: &[&dyn Source], target: Target) -> Result<Vec<Survey>, ConvertError> {
    let one = |(source_index, source): (usize, &&dyn Source)| {
        let options = Options { jobs: 1, units: target.units, ..Options::default() };
        let open = || source.open().map_err(ReadError::from);
        let by_path = target.profile == Profile::Qvis;
        let found = twice(open, &options, |mut input, options| survey(&mut input, options, by_path));
        found.map_err(|error| ConvertError::Read { source_index, error })
    };
    sources.iter().enumerate().map(one).collect()
}

/// Writes the traces of some files as one file.
///
/// # Errors
/// If a source cannot be read, the output cannot be written, or the framing cannot hold all
/// traces.
pub fn convert(sources: &[&dyn Source], target: Target, out: &mut dyn Write) -> Result<Converted, ConvertError> {
    let surveys = surveys(sources, target)?;
    let traces: usize = surveys.iter().map(|survey| survey.traces.len()).sum();
    match target.only {
        Some(asked) if asked >= traces => return Err(ConvertError::NoTrace { asked, traces }),
        None if target.framing == OutputFraming::Sequence && traces > 1 => return Err(ConvertError::Several(traces)),
        _ => {}
    }
    let mut omitted = Omitted::default();
    let source_top = match surveys.as_slice() {
        [single] => single.top.clone(),
        _ => Node::empty(),
    };
    let top = header::top(source_top, target.profile, target.framing, &mut omitted);
    let mut sink = Sink::new(out, target.framing);
    sink.begin_file(&top);
    let mut done = Converted::default();
    let mut first = 0;
    for (source_index, (source, survey)) in sources.iter().zip(&surveys).enumerate() {
        done.doubts.extend(survey.damage.clone().map(|damage| (source_index, damage)));
        let only = target.only.map(|only| only.checked_sub(first));
        let mut file = File {
            source_index,
            survey,
            target,
            top: &top,
            sink: &mut sink,
            omitted: &mut omitted,
            done: &mut done,
            only,
            at: None,
        };
        file.convert(*source).map_err(|error| match error {
            Stop::Read(error) => ConvertError::Read { source_index, error },
            Stop::Write(error) => ConvertError::Write(error),
        })?;
        first += survey.traces.len();
    }
    sink.end_file().map_err(ConvertError::Write)?;
    done.late = sink.late;
    done.omitted = omitted.0;
    Ok(done)
}

/// Error that stops the conversion of a file.
enum Stop {
    Read(ReadError),
    Write(io::Error),
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Stop::Read(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Write(error)
    }
}

/// One file on its way.
struct File<'a, 'w> {
    source_index: usize,
    survey: &'a Survey,
    target: Target,
    top: &'a Node<'static>,
    sink: &'a mut Sink<'w>,
    omitted: &'a mut Omitted,
    done: &'a mut Converted,
    /// The only trace that is wanted, if one is; `Some(None)` if it is in an earlier file.
    only: Option<Option<usize>>,
    /// The trace that is being written.
    at: Option<Current<'a>>,
}

/// The trace that is being written.
struct Current<'a> {
    index: usize,
    surveyed: &'a Surveyed,
    acks: Acks,
    writer: model::Writer,
    /// The time of the event before, for traces that write differences.
    latest: i64,
    /// The clocks of its connections, as they are written.
    clocks: HashMap<Vec<u8>, Clock>,
    /// The paths of each connection, where only one is wanted.
    paths: HashMap<String, Paths>,
    /// Of its events, what the model does not bring into the form of ours.
    encoding: Encoding,
    /// Subtracted from all times, ns.
    origin: i64,
    drawn: bool,
}

impl<'a> File<'a, '_> {
    fn convert(&mut self, source: &dyn Source) -> Result<(), Stop> {
        let survey = self.survey;
        if survey.traces.iter().any(|surveyed| surveyed.path.is_some()) {
            // The file is read for each trace, since paths take turns in it.
            for (at, surveyed) in survey.traces.iter().enumerate() {
                if !self.wants(at) {
                    continue;
                }
                self.pass(source, surveyed.is_modelled(), &|index| (index == surveyed.index).then_some(at))?;
            }
        } else {
            self.pass(source, survey.traces.iter().any(Surveyed::is_modelled), &|index| Some(index as usize))?;
        }
        self.go_to(survey.traces.len())?;
        Ok(())
    }

    /// Reads the file once; `at` is the place of each of its traces among those that are written.
    fn pass(
        &mut self,
        source: &dyn Source,
        through_model: bool,
        at: &dyn Fn(u32) -> Option<usize>,
    ) -> Result<(), Stop> {
        let mut input = source.open().map_err(ReadError::Io)?;
        let mut failed = None;
        let result = if through_model {
            let headers = self.survey.headers.clone();
            let options = Options { jobs: 1, units: self.target.units, headers, ..Options::default() };
            read(input, &options, &mut |trace, batch| {
                let Some(index) = at(trace.index) else { return Ok(()) };
                self.batch(index, &batch).map_err(|error| stop(error, &mut failed))
            })
            .map(drop)
        } else {
            sequence::split(&mut input, &mut |piece| {
                let Piece::Block(block) = piece else { return Ok(()) };
                let Some(index) = at(block.trace) else { return Ok(()) };
                self.block(index, &block).map_err(|error| stop(error, &mut failed))
            })
            .map(drop)
        };
        if let Some(error) = failed {
            return Err(Stop::Write(error));
        }
        Ok(result?)
    }

    /// Ends the present trace and begins those up to `index`; says whether that one is
    /// wanted.
    fn go_to(&mut self, index: usize) -> io::Result<bool> {
        let mut next = match &self.at {
            Some(current) if current.index == index => return Ok(self.wants(index)),
            Some(current) => current.index + 1,
            None => 0,
        };
        if let Some(current) = self.at.take().filter(|current| self.wants(current.index)) {
            self.done.empty += usize::from(!current.drawn);
            let clock = current.clocks.values().map(Clock::faults).fold(ClockFaults::default(), ClockFaults::and);
            self.done.doubts.extend(clock.doubts().map(|doubt| (self.source_index, doubt)));
            self.sink.end_trace()?;
        }
        while next <= index && next < self.survey.traces.len() {
            let surveyed = &self.survey.traces[next];
            if self.wants(next) {
                let header = header::trace(surveyed, self.target.profile, self.omitted);
                self.sink.begin_trace(self.top, &header);
                self.done.traces += 1;
                if next < index {
                    self.done.empty += 1;
                    self.sink.end_trace()?;
                }
            }
            if next == index {
                self.at = Some(Current {
                    index,
                    surveyed,
                    acks: Acks::default(),
                    writer: model::Writer::new(surveyed.trace.schema_version == SchemaVersion::Netlog),
                    latest: 0,
                    clocks: HashMap::new(),
                    paths: HashMap::new(),
                    encoding: if surveyed.is_modelled() { Encoding::default() } else { surveyed.encoding.clone() },
                    origin: header::origin(surveyed, self.target.profile),
                    drawn: false,
                });
            }
            next += 1;
        }
        Ok(self.wants(index))
    }

    fn wants(&self, index: usize) -> bool {
        self.only.is_none_or(|only| only == Some(index))
    }

    fn block(&mut self, index: usize, block: &Block) -> io::Result<()> {
        if !self.go_to(index)? {
            return Ok(());
        }
        for (_, text) in block.records() {
            let Some(current) = &mut self.at else { return Ok(()) };
            let raw = event::read(text, &current.encoding);
            let (Ok(raw), true) = (raw, self.target.framing == OutputFraming::Sequence || text != b"{}") else {
                self.done.bad_records += 1;
                continue;
            };
            let mut time = raw.time;
            if current.encoding.delta {
                time = current.latest.saturating_add(time);
                current.latest = time;
            }
            let group = raw.group.unwrap_or_default();
            if !current.clocks.contains_key(group) && current.clocks.len() < MAX_CONNECTIONS {
                current.clocks.insert(group.to_vec(), Clock::default());
            }
            if let Some(clock) = current.clocks.get_mut(group) {
                time = clock.bridge(time);
            }
            let event = Named { time, name: &raw.name, group: raw.group, rest: &raw.rest, data: raw.data };
            self.event(&event)?;
        }
        Ok(())
    }

    fn batch(&mut self, index: usize, batch: &Batch) -> io::Result<()> {
        // What belongs to no path stands in the trace of the first.
        let source = self.survey.traces[index].index;
        let first = self.survey.traces[..index].iter().all(|before| before.index != source);
        self.done.bad_records += if first { batch.bad_records } else { 0 };
        if !self.go_to(index)? {
            return Ok(());
        }
        for (&name, &count) in batch.unknown.iter().filter(|_| first) {
            *self.omitted.0.entry(format!("fields {}", batch.name(name))).or_default() += count;
        }
        let mut events = Vec::new();
        for event in &batch.events {
            let Some(current) = &mut self.at else { return Ok(()) };
            let mut of = None;
            if let Some(wanted) = current.surveyed.path {
                let path = path_of(&mut current.paths, batch, event);
                if path.is_none() && !first {
                    continue;
                }
                of = Some((wanted, path.is_none_or(|path| path == wanted)));
            }
            current.writer.events(batch, event, of, self.omitted, &mut |name, group, data| {
                events.push((name.to_owned(), group.map(<[u8]>::to_vec), data.to_vec()));
            });
            for (name, group, data) in events.drain(..) {
                self.event(&Named { time: event.time, name: &name, group: group.as_deref(), rest: &[], data: &data })?;
            }
        }
        Ok(())
    }

    /// Writes an event in the form that is wanted.
    fn event(&mut self, named: &Named<'_>) -> io::Result<()> {
        let Some(current) = &mut self.at else { return Ok(()) };
        let (space, kind) = split(named.name);
        let old = names::is_pre_ietf(space);
        // What it is called in the IETF's schema decides what is done to its data.
        let ietf_name = if old { names::ietf_name(space, kind) } else { Some(named.name.to_owned()) };
        let (ietf_space, ietf_kind) = ietf_name.as_deref().map_or(("", ""), split);
        let name = match self.target.profile {
            Profile::Ietf => ietf_name.clone(),
            Profile::Qvis => match names::v03_name(ietf_space, ietf_kind) {
                Some(name) => Some(name),
                None if space == "quic" => None,
                None => Some(named.name.to_owned()),
            },
        };
        let Some(name) = name else {
            self.omitted.add(&format!("events {}", named.name));
            return Ok(());
        };
        let Ok(mut data) = Node::of(named.data) else {
            self.done.bad_records += 1;
            return Ok(());
        };
        if named.name == "windlass:lost" {
            data::losses(&mut data);
        }
        if ietf_space == "quic" {
            data::to_ietf(ietf_kind, &mut data, current.surveyed.trace.schema_version, &current.encoding);
            if self.target.profile == Profile::Qvis {
                if !data::to_v03(ietf_kind, &mut data, self.omitted) {
                    return Ok(());
                }
                if ietf_kind == "packet_sent" {
                    current.acks.sent(&data);
                }
                if matches!(ietf_kind, "packet_sent" | "packet_received") {
                    current.acks.rewrite(&mut data, ietf_kind == "packet_received", self.omitted);
                }
            }
            current.drawn |= ietf_kind == "packet_sent" && data.get("raw").is_some_and(|raw| raw.has("length"));
        }
        if ietf_space == "http3" {
            match self.target.profile {
                Profile::Ietf => data::http_to_ietf(&mut data),
                Profile::Qvis => data::http_to_v03(&mut data),
            }
        }
        let mut body = Vec::with_capacity(named.data.len() + 64);
        field(b"name", &Node::word(&name), &mut body);
        if let Some(group) = group(named.group, current.surveyed, self.target.profile) {
            body.extend_from_slice(b",\"group_id\":");
            body.extend_from_slice(&group);
        }
        for (key, value) in named.rest.iter().filter(|(key, _)| !key.is_empty()) {
            body.extend_from_slice(b",\"");
            body.extend_from_slice(key);
            body.extend_from_slice(b"\":");
            body.extend_from_slice(value);
        }
        named.rest.iter().filter(|(key, _)| key.is_empty()).for_each(|_| self.omitted.add("columns of array events"));
        body.push(b',');
        field(b"data", &data, &mut body);
        self.done.events += 1;
        self.sink.event(named.time.saturating_sub(current.origin), body)
    }
}

/// The path that an event belongs to, of those of its connection.
fn path_of(paths: &mut HashMap<String, Paths>, batch: &Batch, event: &Event) -> Option<u32> {
    let group = batch.name(event.group);
    if !paths.contains_key(group) && paths.len() < MAX_CONNECTIONS {
        paths.insert(group.to_owned(), Paths::default());
    }
    paths.get_mut(group)?.on_event(batch, event)
}

/// Notes why a visit stopped.
fn stop(error: io::Error, failed: &mut Option<io::Error>) -> ReadError {
    let text = error.to_string();
    *failed = Some(error);
    ReadError::Stopped(text)
}

/// An event with a name of any schema version.
struct Named<'a> {
    time: i64,
    name: &'a str,
    group: Option<&'a [u8]>,
    rest: &'a [(&'a [u8], &'a [u8])],
    data: &'a [u8],
}

/// The connection that an event names: qvis wants all of them to name one, or none.
fn group(group: Option<&[u8]>, surveyed: &Surveyed, profile: Profile) -> Option<Vec<u8>> {
    if profile == Profile::Ietf || surveyed.groups.is_empty() {
        return group.map(<[u8]>::to_vec);
    }
    if header::single_group(surveyed).is_some() {
        return None;
    }
    let rest = || match surveyed.trace.group.as_str() {
        "" => b"\"unknown\"".to_vec(),
        group => survey::group_text(group),
    };
    Some(group.map_or_else(rest, <[u8]>::to_vec))
}
