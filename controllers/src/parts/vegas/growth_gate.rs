//! A window that is not used does not grow.

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
