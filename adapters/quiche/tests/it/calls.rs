//! Any sequence of quiche's calls, on every controller.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use quiche::external::{
    self, AckFrame, Acked, Algorithm as _, CongestionEvent, Controller, EcnCounts, Lost, NewPath, PacketSent, Space,
};
use quiche::harness::RttEstimate;
use windlass_adapter_testkit::calls::{
    self, At, Call, Key, Order, Packet, Watch, datagram, digests, instant, run_seeded,
};
use windlass_quiche::{Algorithm, ConfiguredController, Definition, Groups, PROVIDES_WITH_ECT, Signals};

/// quiche, whose program sets ECT codepoints.
struct Stack<C: ConfiguredController = Algorithm>(Definition<C>);

impl<C: ConfiguredController> calls::Stack<C> for Stack<C> {
    type Path = Path;
    const PROVIDES: Signals = PROVIDES_WITH_ECT;

    fn new(controller: C, groups: Option<&Groups<C, Key>>, watch: &Watch) -> Self {
        let watch = watch.clone();
        let definition = Definition::new(controller).expect("the stack reports what it needs");
        let definition = definition.origin(instant(0)).seed(1).record_with(move |new| watch.recorder(new.path));
        Stack(match groups {
            Some(groups) => definition.group(groups, |peer| peer.ip()),
            None => definition,
        })
    }

    fn connect(&mut self, now: At, mtu: u16, key: Key) -> Path {
        let here = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
        let path = NewPath { now: instant(now), addresses: Some((here, (key, 443).into())), mtu: mtu.into() };
        let controller = self.0.start(&path).expect("it starts");
        let decision = controller.decision();
        Path {
            controller,
            decision,
            rtt: RttEstimate::new(Duration::from_millis(25)),
            in_flight: 0,
            ce: 0,
            sampled: false,
            acked: Vec::new(),
            lost: Vec::new(),
        }
    }
}

/// One path of a connection of quiche's.
struct Path {
    controller: Box<dyn Controller>,
    /// The latest decision, which quiche keeps.
    decision: external::Decision,
    rtt: RttEstimate,
    in_flight: u64,
    /// CE marks the peer has reported.
    ce: u64,
    /// Contents of the next congestion event.
    sampled: bool,
    acked: Vec<Acked>,
    lost: Vec<Lost>,
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Path {
    /// quiche reports all of a frame, or of what a timer finds, at once; `frame` says whether it was a frame, and
    /// `left` what is in flight after it.
    fn report(&mut self, now: At, frame: bool, left: Option<u64>) {
        if self.acked.is_empty() && self.lost.is_empty() && !self.sampled {
            return;
        }
        let sum =
            |bytes: &mut dyn Iterator<Item = usize>| bytes.fold(0_u64, |sum, bytes| sum.saturating_add(bytes as u64));
        let gone =
            sum(&mut self.acked.iter().map(Acked::bytes)).saturating_add(sum(&mut self.lost.iter().map(Lost::bytes)));
        let left = left.unwrap_or(self.in_flight.saturating_sub(gone));
        let counts = EcnCounts { ect0: 0, ect1: 0, ce: self.ce };
        let ack_frame = AckFrame { space: Space::Application, ack_delay: 0, ecn: Some(counts) };
        let event = CongestionEvent {
            now: instant(now),
            ack_frame: frame.then_some(&ack_frame),
            acked: &self.acked,
            lost: &self.lost,
            in_flight_before: size(left.saturating_add(gone)),
            in_flight: size(left),
            rtt: self.rtt.get(),
            rtt_updated: std::mem::take(&mut self.sampled),
        };
        self.controller.on_congestion_event(&event, &mut self.decision);
        self.in_flight = left;
        self.acked.clear();
        self.lost.clear();
    }

    fn ask(&mut self) {
        self.decision = self.controller.decision();
    }

    /// Its controller runs, and quiche remembers what it decides.
    fn check(&self) {
        assert_ne!(self.controller.state(), "stopped", "the controller panicked");
        let decision = self.controller.decision();
        if !self.decision.shared {
            // Once in a round trip the adapter says again that packets may be skipped; until then it gets more than it needs.
            let skips = decision.skip_packet_sent;
            assert!(skips || !self.decision.skip_packet_sent, "packets are skipped that the controller needs");
            assert_eq!(external::Decision { skip_packet_sent: skips, ..self.decision }, decision);
        }
        _ = (self.controller.ssthresh(), self.controller.is_in_recovery());
    }
}

impl calls::Path for Path {
    type Kept = ();
    const ORDER: Order = Order::LossesFirst;
    const ESTABLISHES_PERSISTENT_CONGESTION: bool = true;

    fn sent(&mut self, now: At, bytes: u64, pn: u64, app_limited: Option<bool>) {
        self.report(now, false, None);
        if app_limited == Some(true) {
            self.controller.on_app_limited(size(self.in_flight));
            self.ask();
        }
        if !self.decision.skip_packet_sent || self.in_flight == 0 {
            let packet =
                PacketSent { number: pn, bytes: size(bytes), at: instant(now), in_flight: size(self.in_flight) };
            if self.controller.on_packet_sent(&packet) {
                self.ask();
            }
        }
        self.in_flight = self.in_flight.saturating_add(bytes);
    }

    fn call(&mut self, now: At, call: &Call<()>) {
        match *call {
            Call::Sampled { latest, .. } => {
                self.rtt.sample(instant(now), latest);
                self.sampled = true;
            }
            Call::Acked { packet, .. } => self.acked.push(acked(&packet)),
            Call::AcksEnd { in_flight, .. } => self.report(now, true, Some(in_flight)),
            Call::Lost { packet, .. } => {
                self.lost.push(Lost::new(packet.pn, instant(packet.at), size(packet.bytes), packet.pn % 5 == 0));
            }
            // The next call shows whether a frame or a timer found them.
            Call::LossesEnd { .. } => {}
            Call::Marked { packets, .. } => self.ce = self.ce.saturating_add(packets),
            Call::Spurious => {
                self.report(now, false, None);
                if self.controller.on_ack_frame(instant(now), &|_| true) {
                    self.ask();
                }
            }
            Call::MtuUpdated(mtu) => {
                self.report(now, false, None);
                self.controller.on_mtu_update(mtu.into());
                self.ask();
            }
            Call::MaxAckDelay(_) => {}
            Call::Discarded(bytes) => {
                self.report(now, false, None);
                self.in_flight = self.in_flight.saturating_sub(bytes);
            }
            Call::Asked => {
                self.report(now, false, None);
                self.controller.on_probe_timeout();
                self.check();
            }
        }
    }

    /// A path that moves is a new one for quiche.
    fn copy(&self) -> Option<Self> {
        None
    }

    fn window(&self) -> u64 {
        self.check();
        if self.decision.shared { self.controller.decision().cwnd } else { self.decision.cwnd }
    }

    fn answers(&self) -> String {
        format!(
            "{:?}",
            (self.decision, self.controller.decision(), self.controller.ssthresh(), self.controller.state())
        )
    }

    fn least_window(mtu: u16, least: u64) -> u64 {
        least * datagram(mtu.into())
    }
}

fn acked(packet: &Packet<()>) -> Acked {
    Acked::new(packet.pn, instant(packet.at), size(packet.bytes))
}

#[test]
fn every_controller_holds_under_any_sequence_of_calls() {
    if !crate::in_own_process("calls::every_controller_holds_under_any_sequence_of_calls") {
        return;
    }
    windlass_quiche::sets_ect();
    run_seeded::<Stack>(360);
}

#[test]
fn the_same_calls_are_the_same_events() {
    if !crate::in_own_process("calls::the_same_calls_are_the_same_events") {
        return;
    }
    windlass_quiche::sets_ect();
    assert_eq!(digests::<Stack<_>>(), ["d585591c9190efae", "f58e7b04b32ec031"]);
}
