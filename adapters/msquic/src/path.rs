//! One path of a connection as a windlass flow.

use windlass_abi::{self as abi, msquic, signal};
use windlass_adapter::stack_path::StackPath;
use windlass_adapter::{FellBack, Flow};
use windlass_controllers::{ConfiguredController, Time};

/// What MsQuic reports by `windlass.h`.
const REPORTED: u32 = signal::SENT | signal::PACKET_NUMBERS;

/// A [`StackPath`] as MsQuic has it.
#[derive(Debug)]
pub(crate) struct Path<E: ConfiguredController>(StackPath<E>);

/// A path with any controller. What `windlass.h` calls invalid has no effect.
pub(crate) trait PathEvents: Send {
    /// A packet was sent. True if the flow got an event, so that the decision may have changed.
    fn on_sent(&mut self, sent: &abi::Sent) -> bool;
    /// An ACK frame brings an RTT sample. Its acknowledgements follow.
    fn on_rtt(&mut self, now_ns: u64, rtt: &abi::Rtt);
    /// An ACK frame acknowledged `packets`.
    fn on_acked(&mut self, acked: &abi::Acked, packets: &[abi::Packet]);
    /// The peer reported CE marks of `packets` packets; `newest` is when the newest packet of its frame was sent, and its
    /// number.
    fn on_ecn_ce(&mut self, now_ns: u64, packets: u32, newest: (u64, u64), in_flight: u64);
    /// `packets` are all packets one loss detection declared lost.
    fn on_lost(&mut self, lost: &abi::Lost, packets: &[abi::Packet]);
    /// The last losses were spurious.
    fn on_spurious_loss(&mut self, now_ns: u64, newest_sent_ns: u64);
    /// Packets were discarded (`RFC 9002 §6.4`); `in_flight` bytes remain.
    fn on_discarded(&mut self, now_ns: u64, in_flight: u64);
    /// Datagrams have up to `mtu` bytes from here on.
    fn on_mtu(&mut self, now_ns: u64, mtu: u32);
    /// Has the flow go on with its fallback if the one-way delays that it needs do not come.
    fn fall_back(&mut self) -> Option<FellBack>;
    /// What MsQuic's sender may do.
    fn decision(&self) -> abi::Decision;
}

impl<E: ConfiguredController> Path<E> {
    /// `flow` on a path with datagrams of `mtu` bytes, of which `in_flight` bytes are in flight, from `now` on MsQuic's
    /// clock, where time zero of the flow is `origin`.
    pub(crate) fn new(flow: Flow<E>, now: Time, origin: Time, mtu: u32, in_flight: u64) -> Self {
        let start = Time(now.since(origin).0);
        let path = StackPath::new(flow, start, mtu, REPORTED).with_persistent_congestion_reported().since(origin);
        let mut path = Path(path);
        if in_flight > 0 {
            path.on_discarded(now.0, in_flight);
        }
        path
    }

    /// Whether `flight` bytes left more than half of the window unused although no rate of the
    /// controller limits the sender (`RFC 9002 §7.8`). A sender slower than its path may do so
    /// without being application-limited; MsQuic's own controllers bound their windows by the bytes
    /// in flight for the same reason.
    fn unused(&self, flight: u64) -> bool {
        let flow = self.0.path().flow();
        flow.with_decision(|decision| decision.pacing_rate.is_none() && flight < decision.cwnd / 2)
    }
}

impl<E: ConfiguredController> PathEvents for Path<E> {
    fn on_sent(&mut self, sent: &abi::Sent) -> bool {
        self.0.on_sent(sent).unwrap_or(false)
    }

    fn on_rtt(&mut self, now_ns: u64, rtt: &abi::Rtt) {
        let _ = self.0.on_rtt(now_ns, rtt);
    }

    fn on_acked(&mut self, acked: &abi::Acked, packets: &[abi::Packet]) {
        let unused = if self.unused(acked.in_flight_before) { abi::acked::APP_LIMITED } else { 0 };
        let _ = self.0.on_acked(&abi::Acked { flags: acked.flags | unused, ..*acked }, packets);
    }

    fn on_ecn_ce(&mut self, now_ns: u64, packets: u32, newest: (u64, u64), in_flight: u64) {
        let _ = self.0.on_ecn_ce(now_ns, packets, newest, in_flight);
    }

    fn on_lost(&mut self, lost: &abi::Lost, packets: &[abi::Packet]) {
        let _ = self.0.on_lost(lost, packets);
    }

    fn on_spurious_loss(&mut self, now_ns: u64, newest_sent_ns: u64) {
        self.0.on_spurious_loss(now_ns, newest_sent_ns);
    }

    fn on_discarded(&mut self, now_ns: u64, in_flight: u64) {
        self.0.on_discarded(now_ns, in_flight);
    }

    fn on_mtu(&mut self, now_ns: u64, mtu: u32) {
        let _ = self.0.on_mtu(now_ns, mtu);
    }

    fn fall_back(&mut self) -> Option<FellBack> {
        self.0.fall_back()
    }

    fn decision(&self) -> abi::Decision {
        let path = self.0.path();
        let every = path.wants_packet_sent() || path.in_flight().keeps_snapshots();
        let every = if every { msquic::decision::EVERY_SENT } else { 0 };
        let decision = self.0.decision();
        abi::Decision { flags: decision.flags | every, ..decision }
    }
}

#[cfg(test)]
mod tests;
