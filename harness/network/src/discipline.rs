//! What active queue management decides when a packet arrives. [CoDel](super::codel)
//! decides when one leaves.

use windlass_controllers::Span;

use super::packet::{Codepoint, Packet};
use super::pcn::Pcn;
use super::random::Stream;
use super::red::{Arrival, Red};
use super::topology::{Queue, StepSpec};

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    /// The packet goes on unchanged.
    Pass,
    /// It is marked if it is ECN-capable.
    Mark,
    /// The packet is dropped.
    Drop,
}

/// Active queue management at work.
pub(super) enum Discipline {
    /// None that acts when packets arrive.
    DropTail,
    Red(Box<Red>),
    Step(StepSpec),
    L4s {
        sojourn: u64,
        classic: Option<Box<Red>>,
    },
    Pcn(Box<Pcn>),
}

impl Discipline {
    pub fn new(queue: &Queue) -> Discipline {
        match queue {
            Queue::DropTail | Queue::CoDel(_) => Discipline::DropTail,
            Queue::Red(spec) => Discipline::Red(Box::new(Red::new(spec.clone()))),
            Queue::Step(spec) => Discipline::Step(*spec),
            Queue::L4s { sojourn, classic } => Discipline::L4s {
                sojourn: sojourn.0,
                classic: classic.as_ref().map(|spec| Box::new(Red::new(spec.clone()))),
            },
            Queue::Pcn(spec) => Discipline::Pcn(Box::new(Pcn::new(spec))),
        }
    }

    /// Whether it never does anything.
    #[inline]
    pub fn is_idle(&self) -> bool {
        matches!(self, Discipline::DropTail)
    }

    /// Takes note of a packet that arrives at `now`, ns, and will wait for `wait` ns.
    pub fn admit(&mut self, now: u64, wait: u64, arrival: Arrival, packet: &Packet, random: &mut Stream) -> Action {
        match self {
            Discipline::DropTail => Action::Pass,
            Discipline::Red(red) => hit(red, arrival, packet, random),
            Discipline::Step(step) => {
                let over = step.threshold.is_some_and(|threshold| arrival.waiting > threshold)
                    || step.sojourn.is_some_and(|sojourn| wait >= sojourn.0);
                if over && step.marks.includes(packet.ecn) { Action::Mark } else { Action::Pass }
            }
            Discipline::L4s { sojourn, classic } => match (classic, packet.ecn) {
                (classic, Codepoint::Ect1 | Codepoint::Ce) => {
                    if let Some(red) = classic {
                        red.note(arrival);
                    }
                    if wait >= *sojourn { Action::Mark } else { Action::Pass }
                }
                (Some(red), _) => hit(red, arrival, packet, random),
                (None, _) => Action::Pass,
            },
            Discipline::Pcn(pcn) => {
                if pcn.marks(now, packet) {
                    Action::Mark
                } else {
                    Action::Pass
                }
            }
        }
    }
}

fn hit(red: &mut Red, arrival: Arrival, packet: &Packet, random: &mut Stream) -> Action {
    if !red.hits(arrival, packet, random) {
        Action::Pass
    } else if red.marks() && packet.ecn.is_capable() {
        Action::Mark
    } else {
        Action::Drop
    }
}

/// Which ECN-capable packets a queue marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Marks {
    /// All ECN-capable packets.
    #[default]
    Any,
    /// Packets with ECT(0) only.
    Ect0,
    /// Packets with ECT(1) only (`RFC 9331 §5.1`).
    Ect1,
}

impl Marks {
    fn includes(self, ecn: Codepoint) -> bool {
        match self {
            Marks::Any => ecn.is_capable(),
            Marks::Ect0 => ecn == Codepoint::Ect0,
            Marks::Ect1 => ecn == Codepoint::Ect1,
        }
    }
}

impl Default for StepSpec {
    /// A queue that marks nothing.
    fn default() -> StepSpec {
        StepSpec { threshold: None, sojourn: None::<Span>, marks: Marks::Any }
    }
}

#[cfg(test)]
mod tests;
