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
mod params;
mod round;
mod scheme;
mod source;
mod vegas_based;

pub use backlog::{Delays, Rounding, backlog};
pub use gradient::{ByGradient, Finding, Gradient, Pair, WindowHistory};
pub use params::{Common, DeltaWindow, LossArith, Thresholds};
pub use round::{Mean, Round};
pub use scheme::{ByOne, Every, LossRule, NEEDS, RoundMeasurement, Scheme, State, Step, StepRule};
pub(crate) use source::signed;
pub use source::{Frame, RoundTrip, RoundTripMemory, Source};
pub use vegas_based::VegasBased;

use crate::choice;
use crate::event::PacketsAcked;

choice! {
    /// When an ACK may grow the window (`spec: chan §1.3, §1.5, §13 A5`).
    pub enum GrowthGate {
        /// The flow had filled its window, but for `max_gap`, before the ACK.
        PreAck = "pre-ack",
        /// What is in flight after the ACK falls short of the window by at most `max_gap`,
        /// so that an ACK of many packets does not grow it: the document's form, for
        /// receivers that acknowledge every packet.
        PostAck = "post-ack",
        /// The application did not hold the flow back; the window may be unused for other
        /// reasons, as pacing.
        Off = "off",
    }
}

impl GrowthGate {
    /// Whether `acked` may grow a window of `cwnd` packets of `mtu` bytes.
    #[must_use]
    #[inline]
    pub fn open(self, max_gap: f64, cwnd: f64, mtu: f64, acked: &PacketsAcked) -> bool {
        let in_flight = match self {
            GrowthGate::PreAck => acked.in_flight_before,
            GrowthGate::PostAck => acked.in_flight,
            GrowthGate::Off => return true,
        };
        cwnd - in_flight as f64 / mtu <= max_gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;
    use crate::testkit::{MTU, acked};

    #[test]
    fn before_or_after_the_acknowledged_packets_are_taken_out() {
        let mtu = f64::from(MTU);
        let frame = |packets, before: u64| PacketsAcked {
            in_flight_before: before * u64::from(MTU),
            in_flight: (before - u64::from(packets)) * u64::from(MTU),
            ..acked(packets, Time(0))
        };
        // An immediate ACK of a full window of 10.9 leaves a gap of 1.9.
        assert!(GrowthGate::PostAck.open(2.0, 10.9, mtu, &frame(1, 10)));
        assert!(GrowthGate::PostAck.open(2.0, 10.0, mtu, &frame(2, 10)), "exactly the gap");
        // One of two packets leaves 2.9; it is why QUIC looks before the ACK.
        assert!(!GrowthGate::PostAck.open(2.0, 10.9, mtu, &frame(2, 10)));
        assert!(GrowthGate::PreAck.open(2.0, 10.9, mtu, &frame(2, 10)));
        assert!(!GrowthGate::PreAck.open(2.0, 10.9, mtu, &frame(2, 8)));
        assert!(GrowthGate::Off.open(2.0, 10.9, mtu, &frame(1, 1)));
    }
}
