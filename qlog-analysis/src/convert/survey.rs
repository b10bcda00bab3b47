//! What has to be known of a file before the first line of another can be written.

use std::collections::BTreeSet;
use std::io::Read;

use super::event::{self, split};
use super::node::Node;
use crate::lint::names;
use crate::model::{Era, Form, Trace};
use crate::read::block::{Block, Piece};
use crate::read::dialect::Dialect;
use crate::read::plan::Plan;
use crate::read::{Options, ReadError, record, sequence};

/// A file.
pub(super) struct Survey {
    /// What its header says beside the traces.
    pub(super) top: Node<'static>,
    pub(super) traces: Vec<Surveyed>,
}

/// A trace of it.
pub(super) struct Surveyed {
    /// What the file says of it.
    pub(super) header: Node<'static>,
    pub(super) trace: Trace,
    pub(super) dialect: Dialect,
    /// The namespaces its events have in the IETF form.
    pub(super) namespaces: BTreeSet<String>,
    /// Connections that events name, at most two of them, as they are written.
    pub(super) groups: BTreeSet<Vec<u8>>,
    /// Whether an event names none.
    pub(super) ungrouped: bool,
    /// The time of its first event, ns.
    pub(super) first: Option<i64>,
}

impl Surveyed {
    /// Whether its events have to be put together from the model.
    pub(super) fn is_modelled(&self) -> bool {
        matches!(self.trace.era, Era::Netlog | Era::Ancient)
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

/// Reads a file for what it says of itself.
pub(super) fn survey(input: impl Read) -> Result<Survey, ReadError> {
    let mut plan = Plan::new(Options { frames: true, facts: false, jobs: 1 });
    let mut form = Form::default();
    let mut top = Node::empty();
    let mut traces: Vec<Surveyed> = Vec::new();
    sequence::split(input, &mut |piece| {
        match piece {
            Piece::Form(found) => form = found,
            Piece::Header { trace, text } => {
                plan.header(trace, &text, form)?;
                let Ok(node) = Node::of(&text) else { return Ok(()) };
                let node = node.into_owned();
                match trace {
                    None => extend(&mut top, node),
                    Some(index) => {
                        room(&mut traces, index);
                        extend(&mut traces[index as usize].header, node);
                    }
                }
            }
            Piece::Block(block) => {
                room(&mut traces, block.trace);
                let surveyed = &mut traces[block.trace as usize];
                plan.ensure(block.trace);
                let modelled = plan.trace(block.trace).era == Era::Ancient || form == Form::Netlog;
                if modelled || surveyed.first.is_none() {
                    judge(&mut plan, &block, surveyed, modelled);
                }
                if !modelled {
                    look(&block, plan.dialect(block.trace), surveyed);
                }
            }
        }
        Ok(())
    })?;
    if matches!(form, Form::Sequence | Form::Lines)
        && let Some(first) = traces.first_mut()
    {
        // The header of a sequence holds that of its only trace.
        top = std::mem::replace(&mut first.header, Node::empty());
        first.header = top.take("trace").unwrap_or(Node::empty());
    }
    if form == Form::Netlog {
        // Constants and the state of a browser are no header of a trace.
        top = Node::empty();
        traces.iter_mut().for_each(|surveyed| surveyed.header = Node::empty());
    }
    for (index, surveyed) in traces.iter_mut().enumerate() {
        plan.ensure(index as u32);
        surveyed.trace = plan.trace(index as u32).clone();
        surveyed.dialect = plan.dialect(index as u32).clone();
        if surveyed.is_modelled() {
            surveyed.namespaces.insert("quic".to_owned());
        }
    }
    Ok(Survey { top, traces })
}

/// Lets the reader look at the first events of a trace for their units, and at all of one
/// that is converted through the model for its connections.
fn judge(plan: &mut Plan, block: &Block, surveyed: &mut Surveyed, modelled: bool) {
    let mut batch = match &mut plan.netlog {
        Some(netlog) => netlog.read(block),
        None => record::read(block, plan.dialect(block.trace), &plan.options),
    };
    batch.trace = block.trace;
    plan.settle(&mut batch);
    surveyed.first = surveyed.first.or(batch.events.first().map(|event| event.time));
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
fn look(block: &Block, dialect: &Dialect, surveyed: &mut Surveyed) {
    for (_, text) in block.records() {
        let Ok(told) = event::read(text, dialect) else { continue };
        let (space, kind) = split(&told.name);
        let renewed = names::renewed(space, kind).filter(|_| names::is_old(space));
        let space = renewed.as_deref().map_or(space, |name| split(name).0);
        if !names::is_old(space) && !surveyed.namespaces.contains(space) && surveyed.namespaces.len() < 256 {
            surveyed.namespaces.insert(space.to_owned());
        }
        match told.group {
            Some(group) => surveyed.names(group),
            None => surveyed.ungrouped = true,
        }
    }
}

fn room(traces: &mut Vec<Surveyed>, index: u32) {
    while traces.len() <= index as usize {
        traces.push(Surveyed {
            header: Node::empty(),
            trace: Trace::default(),
            dialect: Dialect::default(),
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
