//! TCP Vegas and its relatives, taken apart (`spec: chan §10`).
//!
//! Once per round trip a Vegas flow estimates its backlog Δ, the packets of its own that
//! wait in the path's queues, and moves its window so that Δ stays between α and β. Its
//! relatives each change one thing, and the changes are independent, so a scheme is a
//! choice of three:
//!
//! | | plain | instead |
//! |---|---|---|
//! | where the delays come from | [`RoundTrip`] | one-way delays, router queueing times |
//! | how the window follows Δ | [`ByOne`] | Quick Vegas' steps; steps by the [gradient](Pair) between two windows |
//! | which losses are answered | [`Every`] | those known to be congestion |
//!
//! [`VegasBased`] is the rest: rounds, slow start, growth spread over a round, loss.
//!
//! # What is left to the transport
//! Loss detection, and with it the fine-grained timer, the checks after a
//! retransmission and the inflated window of fast recovery (`spec: chan §3.7 L1–L4`), is
//! the transport's. A QUIC stack has its own; a TCP-like simulation brings them along and
//! reports what it finds as [`EventKind::PacketsLost`](crate::EventKind::PacketsLost). Here a reduction takes
//! effect when the loss is reported (`spec: chan §3.7 Q1, §13 A16`). A probe timeout
//! changes nothing (`Q2`).

mod backlog;
mod gradient;
mod growth_gate;
mod loss;
mod params;
mod round;
mod scheme;
mod source;
mod step;
mod vegas_based;

pub use backlog::{Delays, Rounding, backlog};
pub use gradient::{ByGradient, Finding, Gradient, Pair, WindowHistory};
pub use growth_gate::GrowthGate;
pub use loss::{Every, LossArith, LossRule};
pub use params::{Common, Compared, DeltaWindow, Limits};
pub use round::{Mean, Round};
pub use scheme::{NEEDS, Scheme, State};
pub(crate) use source::signed;
pub use source::{Frame, RoundTrip, RoundTripMemory, Source};
pub use step::{ByOne, RoundMeasurement, Step, StepRule};
pub use vegas_based::VegasBased;
