//! The kinds of queues there are.

use windlass_controllers::Span;

use super::bucket::{BucketSpec, Policer};
use super::codel::{CoDel, CoDelSpec};
use super::discipline::{Admission, Scheduler};
use super::dual_pi2::{DualPi2, DualPi2Spec};
use super::fq_codel::{FqCoDel, FqCoDelSpec};
use super::out_of_range::OutOfRange;
use super::pcn::{Pcn, PcnSpec};
use super::pie::{Pie, PieSpec};
use super::red::{Red, RedSpec};
use super::step::{L4s, StepSpec};

/// How a queue is managed. What finds no room is dropped in all of them.
#[derive(Clone, PartialEq, Debug)]
pub enum Queue {
    /// Drops what does not fit.
    DropTail,
    /// By random early detection, for one class or two.
    Red(RedSpec),
    /// By a threshold that needs no average.
    Step(StepSpec),
    /// For two kinds of traffic in one queue: ECT(1) packets, and those marked before, are
    /// marked if they wait for `sojourn` or longer (`RFC 9332 §2.5`, the native L4S step);
    /// `classic` manages the others.
    L4s {
        /// Waiting time from which ECT(1) packets are marked.
        sojourn: Span,
        /// For all others; `None` is drop-tail.
        classic: Option<RedSpec>,
    },
    /// CoDel (`RFC 8289`).
    CoDel(CoDelSpec),
    /// A queue for each flow with CoDel in it (`RFC 8290`).
    FqCoDel(FqCoDelSpec),
    /// A queue for each flow, served by deficit round robin; what overflows is taken from the longest.
    Drr {
        /// Bytes that a queue may send in its turn.
        quantum: u32,
        /// Queues that flows are hashed into.
        queues: u32,
    },
    /// Two coupled queues, for L4S and for all other traffic (`RFC 9332`).
    DualPi2(DualPi2Spec),
    /// By a probability that keeps the waiting time at a target (`RFC 8033`).
    Pie(PieSpec),
    /// By the two token buckets of adapted pre-congestion notification.
    Pcn(PcnSpec),
    /// Drops what exceeds a token bucket.
    Policer(BucketSpec),
}

/// A queue at work.
pub(super) enum Discipline {
    DropTail,
    Admission(Box<dyn Admission>),
    Scheduler(Box<dyn Scheduler>),
}

impl Queue {
    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        match self {
            Queue::Red(red) | Queue::L4s { classic: Some(red), .. } => red.check(),
            Queue::Pcn(pcn) => pcn.check(),
            Queue::Pie(pie) => pie.check(),
            Queue::Policer(bucket) => bucket.check(),
            Queue::CoDel(codel) => codel.check(),
            Queue::FqCoDel(spec) => spec.check(),
            Queue::Drr { quantum, queues } => FqCoDelSpec::plain(*quantum, *queues).check(),
            Queue::DualPi2(spec) => spec.check(),
            Queue::DropTail | Queue::Step(_) | Queue::L4s { classic: None, .. } => Ok(()),
        }
    }

    pub(super) fn discipline(&self) -> Discipline {
        match self {
            Queue::DropTail => Discipline::DropTail,
            Queue::Red(spec) => Discipline::Admission(Box::new(Red::new(spec.clone()))),
            Queue::Step(spec) => Discipline::Admission(Box::new(*spec)),
            Queue::L4s { sojourn, classic } => Discipline::Admission(Box::new(L4s::new(*sojourn, classic.as_ref()))),
            Queue::Pcn(spec) => Discipline::Admission(Box::new(Pcn::new(spec))),
            Queue::Pie(spec) => Discipline::Admission(Box::new(Pie::new(*spec))),
            Queue::Policer(spec) => Discipline::Admission(Box::new(Policer::new(*spec))),
            Queue::CoDel(spec) => Discipline::Scheduler(Box::new(CoDel::new(*spec))),
            Queue::FqCoDel(spec) => Discipline::Scheduler(Box::new(FqCoDel::new(*spec))),
            Queue::Drr { quantum, queues } => Discipline::Scheduler(Box::new(FqCoDel::plain(*quantum, *queues))),
            Queue::DualPi2(spec) => Discipline::Scheduler(Box::new(DualPi2::new(*spec))),
        }
    }
}
