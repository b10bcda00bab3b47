//! First pass of a conversion: all that the first line of the file written depends on.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;

use memchr::memmem;

use super::event::{self, split};
use super::node::Node;
use crate::lint::names;
use crate::metrics::path_name;
use crate::metrics::paths::Paths;
use crate::model::{Framing, SchemaVersion, Trace};
use crate::read::block::{Block, Piece};
use crate::read::encoding::Encoding;
use crate::read::state::ReadState;
use crate::read::{Headers, Options, ReadError, Records, block, sequence};

/// Result of the first pass over a file.
pub(super) struct Survey {
    /// Its header without the traces.
    pub(super) top: Node<'static>,
    pub(super) traces: Vec<Surveyed>,
    /// Headers of traces that stand behind their events.
    pub(super) headers: Headers,
    /// Reason why the file is incomplete.
    pub(super) damage: Option<String>,
}

/// Result of the first pass for a trace.
#[derive(Clone)]
pub(super) struct Surveyed {
    /// Its header.
    pub(super) header: Node<'static>,
    pub(super) trace: Trace,
    pub(super) encoding: Encoding,
    /// The namespaces its events have in the IETF form.
    pub(super) namespaces: BTreeSet<String>,
    /// Connections that events name, at most two of them, as they are written.
    pub(super) groups: BTreeSet<Vec<u8>>,
    /// Whether an event names none.
    pub(super) ungrouped: bool,
    /// The time of its first event, ns.
    pub(super) first: Option<i64>,
    /// Its place among the traces of the file.
    pub(super) index: u32,
    /// The path whose events are wanted of it, where each is a trace of its own.
    pub(super) path: Option<u32>,
    /// Its paths; those of its connections together.
    paths: HashMap<String, Paths>,
}

impl Surveyed {
    /// Whether its events have to be put together from the model.
    pub(super) fn is_modelled(&self) -> bool {
        matches!(self.trace.schema_version, SchemaVersion::Netlog | SchemaVersion::PreDraft) || self.path.is_some()
    }

    /// The trace as one for each path, where several have packet numbers of their own.
    pub(super) fn by_path(self) -> Vec<Surveyed> {
        let numbered = self.paths.values().any(Paths::simultaneous);
        let paths: BTreeSet<u32> = self.paths.values().flat_map(|paths| paths.known().iter().copied()).collect();
        if !numbered || paths.len() < 2 {
            return vec![self];
        }
        let of_path = |path: u32| {
            let title = format!("{} {}", self.trace.title, path_name(path)).trim_start().to_owned();
            let mut header = self.header.clone();
            header.set("title", Node::word(&title));
            let trace = Trace { title, ..self.trace.clone() };
            Surveyed { header, trace, path: Some(path), ..self.clone() }
        };
        paths.into_iter().map(of_path).collect()
    }

    /// An event names a connection.
    fn names(&mut self, group: &[u8]) {
        if self.groups.len() < 2 && !self.groups.contains(group) {
            self.groups.insert(group.to_vec());
        }
    }

    /// Whether its times count from 1970: nothing runs for a hundred years.
    pub(super) fn is_absolute(&self) -> bool {
        const SINCE_1970: i64 = 100_000_000_000 * 1_000_000;
        self.first.is_some_and(|first| first >= SINCE_1970)
    }
}

/// Reads a file for what it says of itself; with `by_path`, each path of multipath QUIC is a trace.
pub(super) fn survey(input: &mut dyn Read, options: &Options, by_path: bool) -> Result<Survey, ReadError> {
    let mut state = ReadState::new(options);
    let mut framing = Framing::default();
    let mut top = Node::empty();
    let mut traces: Vec<Surveyed> = Vec::new();
    let ended = sequence::split(input, &mut |piece| {
        match piece {
            Piece::Framing(found) => framing = found,
            Piece::Document => state.document(),
            Piece::Header { trace, text } => {
                state.header(trace, &text, framing)?;
                let Ok(node) = Node::of(&text) else { return Ok(()) };
                let node = node.into_owned();
                match trace {
                    None => extend(&mut top, node),
                    Some(index) => {
                        ensure_trace(&mut traces, index);
                        extend(&mut traces[index as usize].header, node);
                    }
                }
            }
            Piece::Block(block) => {
                ensure_trace(&mut traces, block.trace);
                if state.is_late() {
                    return Ok(());
                }
                let surveyed = &mut traces[block.trace as usize];
                state.ensure(block.trace);
                let modelled =
                    state.trace(block.trace).schema_version == SchemaVersion::PreDraft || framing == Framing::Netlog;
                let on_paths = by_path && names_paths(&block);
                if modelled || surveyed.first.is_none() || on_paths {
                    read_first(&mut state, &block, surveyed, modelled);
                }
                if !modelled {
                    note_names(&block, state.encoding(block.trace), surveyed);
                }
            }
        }
        Ok(())
    })?;
    if state.is_late() {
        return Err(ReadError::Late(state.headers()));
    }
    if matches!(framing, Framing::Sequence | Framing::Lines) {
        // The header of a sequence holds that of its trace.
        for (index, surveyed) in traces.iter_mut().enumerate() {
            let mut whole = std::mem::replace(&mut surveyed.header, Node::empty());
            surveyed.header = whole.take("trace").unwrap_or(Node::empty());
            if index == 0 {
                top = whole;
            }
        }
    }
    if framing == Framing::Netlog {
        // Constants and the state of a browser are no header of a trace.
        top = Node::empty();
        traces.iter_mut().for_each(|surveyed| surveyed.header = Node::empty());
    }
    let headers = options.headers.clone();
    for (index, surveyed) in traces.iter_mut().enumerate() {
        state.ensure(index as u32);
        surveyed.trace = state.trace(index as u32).clone();
        surveyed.encoding = state.encoding(index as u32).clone();
        if surveyed.is_modelled() {
            surveyed.namespaces.insert("quic".to_owned());
        }
    }
    if by_path {
        traces = traces.into_iter().flat_map(Surveyed::by_path).collect();
    }
    Ok(Survey { top, traces, headers, damage: ended.damage })
}

/// Lets the reader look at the first events of a trace for their units, and at all of one
/// that is converted through the model for its connections.
fn read_first(state: &mut ReadState, block: &Block, surveyed: &mut Surveyed, modelled: bool) {
    state.begin(block);
    let mut batch = match &mut state.netlog {
        Some(netlog) => netlog.read(block, Records::None),
        None => block::read(block, state.encoding(block.trace), &state.options),
    };
    batch.trace = block.trace;
    state.complete(&mut batch);
    surveyed.first = surveyed.first.or(batch.events.first().map(|event| event.time));
    if modelled && !batch.http.is_empty() {
        surveyed.namespaces.insert("http3".to_owned());
    }
    for event in &batch.events {
        super::path_of(&mut surveyed.paths, &batch, event);
    }
    for event in batch.events.iter().filter(|_| modelled) {
        match batch.name(event.group) {
            "" => surveyed.ungrouped = true,
            group => surveyed.names(&group_text(group)),
        }
    }
}

/// A connection as events name it.
pub(super) fn group_text(group: &str) -> Vec<u8> {
    serde_json::Value::from(group).to_string().into_bytes()
}

/// Notes names and connections of events.
fn note_names(block: &Block, encoding: &Encoding, surveyed: &mut Surveyed) {
    for (_, text) in block.records() {
        let Ok(found) = event::read(text, encoding) else { continue };
        let (space, kind) = split(&found.name);
        let renewed = names::ietf_name(space, kind).filter(|_| names::is_pre_ietf(space));
        let space = renewed.as_deref().map_or(space, |name| split(name).0);
        if !names::is_pre_ietf(space) && !surveyed.namespaces.contains(space) && surveyed.namespaces.len() < 256 {
            surveyed.namespaces.insert(space.to_owned());
        }
        match found.group {
            Some(group) => surveyed.names(group),
            None => surveyed.ungrouped = true,
        }
    }
}

/// Whether records may say which path they are about.
fn names_paths(block: &Block) -> bool {
    [&b"\"path"[..], b"\"tuple\"", b"ack_mp", b"mp_ack"].iter().any(|word| memmem::find(&block.text, word).is_some())
}

fn ensure_trace(traces: &mut Vec<Surveyed>, index: u32) {
    while traces.len() <= index as usize {
        let index = traces.len() as u32;
        traces.push(Surveyed {
            index,
            path: None,
            paths: HashMap::new(),
            header: Node::empty(),
            trace: Trace::default(),
            encoding: Encoding::default(),
            namespaces: BTreeSet::new(),
            groups: BTreeSet::new(),
            ungrouped: false,
            first: None,
        });
    }
}

/// Adds the fields of `more`.
fn extend(node: &mut Node<'static>, more: Node<'static>) {
    if let (Node::Object(fields), Node::Object(more)) = (node, more) {
        fields.extend(more);
    }
}
