//! The network model: links with rate, delay, loss, jitter and a queue; routes over
//! them; one seeded, deterministic engine that both the packet simulator and real
//! stacks under virtual time drive.
//!
//! Describe it with a [`Topology`], build a [`Network`], then alternate:
//!
//! ```
//! use windlass_network::{LinkSpec, Network, Packet, Topology};
//! use windlass_controllers::{Span, Time};
//!
//! let mut topology = Topology::default();
//! let bottleneck = topology.link(LinkSpec::new("bottleneck", 100e6, Span::from_millis(25)));
//! let forward = topology.route(vec![bottleneck]);
//! let mut network = Network::new(&topology, 7).unwrap();
//!
//! network.send(Time::ZERO, forward, Packet::new(0, 42, 1250));
//! let at = network.next().unwrap();
//! let delivery = network.poll(at).unwrap();
//! assert_eq!((delivery.packet.id, delivery.at), (42, Time::from_micros(25_100)));
//! ```
//!
//! The caller's loop is: take the earliest of [`Network::next`] and its own timers;
//! [`poll`](Network::poll) the network at that time until it returns `None`, handling
//! each delivery; run the timers that are due; hand what they send to
//! [`send`](Network::send). Everything the network does happens inside `send` and
//! `poll`; events of one instant are handled in a fixed order (changes of links, then
//! links in the topology's order, then cross traffic), so a run is repeatable to the bit.
//!
//! # Model of a link
//!
//! Output-queued and FIFO. A packet that finds the link idle starts at once, any other
//! waits; the packet in transmission is not part of the queue
//! (`spec: chan §8.0`, `spec: arumaithurai §4.1`). Transmission takes `8·bytes/rate`,
//! then the propagation delay follows, then the packet enters the next link of its
//! route. Random loss strikes after transmission: a lost packet has used queue and link.
//! [Faults](Fault) strike before the queue.

mod batches;
mod bucket;
mod burst_loss;
mod codel;
mod discipline;
mod dual_pi2;
mod event_queue;
mod fault;
mod fq_codel;
mod link;
mod network;
mod packet;
mod partition;
mod pcn;
mod pie;
mod queue;
mod random;
mod red;
pub mod ring;
mod stats;
mod step;
mod topology;
mod trace;
mod traffic;

pub use batches::BatchSpec;
pub use bucket::BucketSpec;
pub use burst_loss::BurstLoss;
pub use codel::CoDelSpec;
pub use dual_pi2::DualPi2Spec;
pub use event_queue::EventQueue;
pub use fault::{Fault, FaultKind, damage};
pub use fq_codel::FqCoDelSpec;
pub use network::Network;
pub use out_of_range::OutOfRange;
pub use packet::{Class, Codepoint, Delivery, Fate, LinkId, Packet, RouteId};
pub use partition::{Crossing, Partition};
pub use pcn::PcnSpec;
pub use pie::PieSpec;
pub use queue::Queue;
pub use random::Stream;
pub use red::{Ramp, RedSpec};
pub use stats::LinkStats;
pub use step::{Marks, StepSpec};
pub use topology::{Change, Jitter, Limit, LinkSpec, Service, Set, Topology, TopologyError};
pub use trace::{Trace, TraceError};
pub use traffic::{Pattern, Redraw, TrafficSpec};

/// A number of a description that is out of its range.
mod out_of_range {
    /// A number that is out of its range, without the name of the link or source it belongs to.
    #[derive(Clone, Copy, PartialEq, thiserror::Error)]
    #[error("{what} is {value}; expected {expected}")]
    pub struct OutOfRange {
        /// Name of the field.
        pub what: &'static str,
        /// Value of the field.
        pub value: f64,
        /// The values the field may have.
        pub expected: &'static str,
    }

    impl std::fmt::Debug for OutOfRange {
        /// What `?` in `main` prints: the text.
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            std::fmt::Display::fmt(self, f)
        }
    }

    /// An error unless `within`.
    pub(super) fn check(
        within: bool,
        what: &'static str,
        value: f64,
        expected: &'static str,
    ) -> Result<(), OutOfRange> {
        if within { Ok(()) } else { Err(OutOfRange { what, value, expected }) }
    }
}

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
