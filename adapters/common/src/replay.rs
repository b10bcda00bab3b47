//! Running recorded flows again: the same controllers on the same events must decide the
//! same, bit for bit, on any machine.
//!
//! Flows of one group are replayed together, in the order of their group's steps, so the
//! logs of all its members are needed. Of a process that was killed they end at different
//! steps, and are replayed up to the first that is in none.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::BufRead;
use std::iter::Peekable;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_controllers::{Decision, Event, EventKind};

use crate::step::{Entry, ReadError, Start, Step, Steps, fields};
use crate::{Flow, GroupStep, Groups, NamedController, Recorder, StateVariables};

/// Result of replaying one log.
#[derive(Debug)]
pub enum Outcome {
    /// Every decision was the recorded one.
    Equal {
        /// The controller's name and parameters, as recorded.
        controller: String,
        /// How many steps it took.
        steps: u64,
    },
    /// A decision differs from the recorded one.
    Differs(Box<Difference>),
    /// No steps are recorded in it.
    NoSteps,
    /// Steps come before the record of how the flow began.
    NoStart,
    /// A record of it cannot be read.
    Unreadable(ReadError),
    /// The catalogue has no such controller, or not with these parameters.
    UnknownController(String),
    /// The flow waits for a step of its group that is in no log.
    Missing {
        /// Number of the group in the log.
        group: u64,
        /// The step that is missing.
        step: u64,
    },
    /// Every decision was the recorded one up to a step of its group that was not written any more: the log of another member
    /// ends without the member leaving, as those of a process do that was killed.
    Cut {
        /// The controller's name and parameters, as recorded.
        controller: String,
        /// How many steps it took.
        steps: u64,
        /// Number of the group in the log.
        group: u64,
        /// The step of the group that is missing.
        step: u64,
    },
}

impl Outcome {
    /// Whether what is recorded was decided again, bit for bit.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        matches!(self, Outcome::Equal { .. } | Outcome::Cut { .. })
    }
}

/// The first decision that was another.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The controller's name and parameters, as recorded.
    pub controller: String,
    /// Which step, from 1; 0 is the decision before the first event.
    pub step: u64,
    /// The event the controller got.
    pub event: Option<Event>,
    /// The fields that differ: name, as recorded, as replayed.
    pub fields: Vec<(String, String, String)>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Equal { controller, steps } => write!(f, "{controller}: {steps} steps, all equal"),
            Outcome::Differs(difference) => difference.fmt(f),
            Outcome::NoSteps => f.write_str("no steps are recorded; record with all of them (level \"steps\")"),
            Outcome::NoStart => f.write_str("windlass:started is missing before the first step"),
            Outcome::Unreadable(error) => error.fmt(f),
            Outcome::UnknownController(name) => write!(f, "{name:?} is not in the catalogue of this version"),
            Outcome::Missing { group, step } => {
                write!(f, "step {step} of group {group} is in none of the logs; replay all members of a group together")
            }
            Outcome::Cut { controller, steps, group, step } => write!(
                f,
                "{controller}: {steps} steps, all equal; what follows waits for step {step} of group {group}, where the log of another member was cut"
            ),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: step {} differs", self.controller, self.step)?;
        for (name, recorded, replayed) in &self.fields {
            write!(f, "\n  {name}: recorded {recorded}, replayed {replayed}")?;
        }
        if let Some(event) = &self.event {
            write!(f, "\n  after {event:?}")?;
        }
        Ok(())
    }
}

/// The latest decision of a flow.
#[derive(Clone, Default)]
struct Latest(Arc<Mutex<Option<Decision>>>);

impl Latest {
    fn take(&self) -> Option<Decision> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Recorder for Latest {
    fn record(&mut self, _: &Event, decision: &Decision, _: &StateVariables<'_>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*decision);
    }
}

/// One log on its way.
struct Replayed<R: BufRead> {
    entries: Peekable<Steps<R>>,
    start: Option<(Start, NamedController)>,
    flow: Option<Flow>,
    latest: Latest,
    steps: u64,
    /// Number of its group in the log.
    group: Option<u64>,
    outcome: Option<Outcome>,
}

/// Replays logs, those of one group together. The outcomes are in the order of the logs.
pub fn replay<R: BufRead>(logs: Vec<R>) -> Vec<Outcome> {
    let mut logs: Vec<Replayed<R>> = logs.into_iter().map(Replayed::new).collect();
    let groups = Groups::<NamedController, u64>::default();
    let mut next_steps: BTreeMap<u64, u64> = BTreeMap::new();
    loop {
        let mut moved = false;
        for log in &mut logs {
            while log.outcome.is_none() && log.advance(&groups, &mut next_steps) {
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let cut: BTreeSet<Option<u64>> = logs.iter().filter_map(Replayed::cut).collect();
    let end = |mut log: Replayed<R>| {
        let waits = log.next_group_step();
        log.outcome.take().unwrap_or_else(|| match waits {
            Some(GroupStep { group, .. }) => {
                let step = next_steps.get(&group).copied().unwrap_or(0);
                match log.start {
                    Some((start, _)) if cut.contains(&Some(group)) || cut.contains(&None) => {
                        Outcome::Cut { controller: start.controller, steps: log.steps, group, step }
                    }
                    _ => Outcome::Missing { group, step },
                }
            }
            None => Outcome::NoSteps,
        })
    };
    logs.into_iter().map(end).collect()
}

impl<R: BufRead> Replayed<R> {
    fn new(reader: R) -> Self {
        let entries = Steps::new(reader).peekable();
        Replayed { entries, start: None, flow: None, latest: Latest::default(), steps: 0, group: None, outcome: None }
    }

    /// Whether the log is at its end though the flow has not left, and the group it is of, if it has a step.
    fn cut(&self) -> Option<Option<u64>> {
        match self.outcome {
            Some(Outcome::Equal { .. }) if self.flow.is_some() => Some(Some(self.group?)),
            Some(Outcome::NoSteps) => Some(None),
            _ => None,
        }
    }

    /// The group the next entry is a step of, and the number of the step there.
    fn next_group_step(&mut self) -> Option<GroupStep> {
        match self.entries.peek() {
            Some(Ok(Entry::Step(step, _))) => step.group_step,
            _ => None,
        }
    }

    /// Takes the next entry if it is the next step of its group; returns whether it did.
    fn advance(&mut self, groups: &Groups<NamedController, u64>, next_steps: &mut BTreeMap<u64, u64>) -> bool {
        if let Some(at) = self.next_group_step() {
            let next = next_steps.entry(at.group).or_default();
            if at.step != *next {
                return false;
            }
            *next += 1;
            self.group = Some(at.group);
        }
        match self.entries.next() {
            None => {
                self.outcome = Some(match &self.start {
                    Some((start, _)) if self.steps > 0 => {
                        Outcome::Equal { controller: start.controller.clone(), steps: self.steps }
                    }
                    _ => Outcome::NoSteps,
                });
            }
            Some(Err(error)) => self.outcome = Some(Outcome::Unreadable(error)),
            Some(Ok(Entry::Start(start))) => match NamedController::read(&start.controller) {
                Ok(algorithm) => self.start = Some((start, algorithm)),
                Err(_) => self.outcome = Some(Outcome::UnknownController(start.controller)),
            },
            Some(Ok(Entry::Step(step, _))) => self.step(&step, groups),
        }
        true
    }

    fn step(&mut self, step: &Step, groups: &Groups<NamedController, u64>) {
        let Some((start, algorithm)) = &self.start else {
            self.outcome = Some(Outcome::NoStart);
            return;
        };
        if self.flow.is_none() {
            let recorder = Box::new(self.latest.clone());
            let flow = match step.group_step {
                None => {
                    let mut flow = Flow::ungrouped(*algorithm, &start.path);
                    self.compare(0, None, &start.decision.clone(), Some(flow.decision()));
                    flow.record(recorder);
                    flow
                }
                // This makes it join, which is an event, too.
                Some(at) => Flow::grouped_with(*algorithm, &start.path, groups, at.group, Some(recorder)),
            };
            self.flow = Some(flow);
        }
        match step.event.kind {
            EventKind::Joined => {}
            EventKind::Left => self.flow = None,
            _ => {
                if let Some(flow) = &mut self.flow {
                    flow.on_event(&step.event);
                }
            }
        }
        self.steps += 1;
        let replayed = self.latest.take();
        self.compare(self.steps, Some(step.event), &step.decision, replayed);
    }

    fn compare(&mut self, step: u64, event: Option<Event>, recorded: &Decision, replayed: Option<Decision>) {
        if self.outcome.is_some() || replayed.as_ref() == Some(recorded) {
            return;
        }
        let controller = self.start.as_ref().map(|(start, _)| start.controller.clone()).unwrap_or_default();
        let there = fields(recorded);
        let here = replayed.as_ref().map(fields).unwrap_or_default();
        let of =
            |name: &String, all: &BTreeMap<String, String>| all.get(name).cloned().unwrap_or_else(|| "none".into());
        let names = there.keys().chain(here.keys().filter(|name| !there.contains_key(*name)));
        let fields = names
            .map(|name| (name.clone(), of(name, &there), of(name, &here)))
            .filter(|(_, recorded, replayed)| recorded != replayed)
            .collect();
        self.outcome = Some(Outcome::Differs(Box::new(Difference { controller, step, event, fields })));
    }
}

#[cfg(test)]
mod tests;
