//! Any sequence of MsQuic's calls, on every controller.

use std::cell::RefCell;

use windlass_abi::{self as abi, Decision, msquic};
use windlass_adapter::Groups;
use windlass_adapter_testkit::calls::{self, At, Call, Key, Order, Packet, Watch, datagram, digests, run_seeded};
use windlass_controllers::{Algorithm, ConfiguredController, Signals, Time};

use crate::definition::{Definition, NewConnection, StartFlow};
use crate::flow::GuardedPath;

/// The start of a sequence, long enough after the origin of MsQuic's clock, µs.
const START_US: i64 = 80 * 365 * 24 * 3600 * 1_000_000;

/// The shortest and the longest RTT, µs: no estimate is 0, which would say that it is unknown, and none is refused.
const RTT_US: (u64, u64) = (8, 24 * 3600 * 1_000_000);

/// MsQuic's clock has microseconds.
fn ns(at: At) -> u64 {
    u64::try_from(START_US.saturating_add(at / 1000)).unwrap_or(0).saturating_mul(1000)
}

fn u32_of(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// MsQuic with all its settings turned on.
struct Stack<C: ConfiguredController = Algorithm>(Definition<C>);

impl<C: ConfiguredController> calls::Stack<C> for Stack<C> {
    type Path = Path;
    const PROVIDES: Signals = crate::AT_MOST;

    fn new(controller: C, groups: Option<&Groups<C, Key>>, watch: &Watch) -> Self {
        let watch = watch.clone();
        let definition = Definition::new(controller).expect("the stack reports what it needs");
        let definition = definition.seed(1).record_with(move |new| watch.recorder(new.path));
        Stack(match groups {
            Some(groups) => definition.group(groups, |peer| peer.ip()),
            None => definition,
        })
    }

    fn connect(&mut self, now: At, mtu: u16, key: Key) -> Path {
        let new = NewConnection {
            now: Time(ns(now)),
            peer: (key, 443).into(),
            mtu: mtu.into(),
            in_flight: 0,
            app: None,
            ecn: true,
            one_way_delay: true,
            packets: None,
            client: true,
        };
        let mut flow = self.0.start(&new).expect("it starts");
        let mut decision = Decision::default();
        flow.update(&mut decision, |_| {});
        Path { flow: RefCell::new((flow, decision)), in_flight: 0, frame: Frame::default() }
    }
}

/// Acknowledgements and losses of an ACK frame or a timer so far.
#[derive(Default)]
struct Frame {
    latest_ns: Option<u64>,
    marks: Option<(u32, Packet<()>)>,
    lost: Vec<abi::Packet>,
    persistent: bool,
    acked: Vec<abi::Packet>,
    app_limited: bool,
}

/// One connection of MsQuic's.
struct Path {
    flow: RefCell<(GuardedPath, Decision)>,
    in_flight: u64,
    frame: Frame,
}

fn packet(packet: &Packet<()>) -> abi::Packet {
    let bytes = u32_of(packet.bytes).into();
    abi::Packet { number: packet.pn, sent_ns: ns(packet.at), bytes, ..abi::Packet::default() }
}

fn sum(packets: &[abi::Packet]) -> u64 {
    packets.iter().fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes))
}

impl Path {
    fn update(&mut self, event: impl FnOnce(&mut dyn crate::path::PathEvents)) {
        let (flow, decision) = self.flow.get_mut();
        flow.update(decision, event);
        assert_eq!(decision.flags & abi::decision::ENDED, 0, "the controller panicked");
    }

    /// Reports what was found, in MsQuic's order: marks, losses, acknowledgements with the RTT sample.
    fn report(&mut self, now: At, acks: bool, left: Option<u64>) {
        let now_ns = ns(now);
        let frame = std::mem::take(&mut self.frame);
        if let Some((packets, newest)) = frame.marks {
            let in_flight = self.in_flight;
            self.update(|path| path.on_ecn_ce(now_ns, packets, (ns(newest.at), newest.pn), in_flight));
        }
        if !frame.lost.is_empty() {
            let before = self.in_flight;
            self.in_flight = before.saturating_sub(sum(&frame.lost));
            let lost = abi::Lost {
                now_ns,
                in_flight_before: before,
                in_flight: self.in_flight,
                packets: std::ptr::null(),
                packet_count: frame.lost.len() as u32,
                flags: if frame.persistent { abi::lost::PERSISTENT } else { 0 },
            };
            self.update(|path| path.on_lost(&lost, &frame.lost));
        }
        if acks || frame.latest_ns.is_some() || !frame.acked.is_empty() {
            let bytes = sum(&frame.acked);
            let left = left.unwrap_or(self.in_flight.saturating_sub(bytes));
            if let Some(latest_ns) = frame.latest_ns {
                let us = |ns: u64| ns / 1000 * 1000;
                let rtt = abi::Rtt {
                    latest_ns,
                    smoothed_ns: latest_ns,
                    variation_ns: us(latest_ns / 2),
                    min_ns: us(latest_ns / 2),
                    ack_delay_ns: us(latest_ns / 8),
                };
                self.flow.get_mut().0.on_rtt(now_ns, &rtt);
            }
            let one_way = if frame.latest_ns.is_some() { abi::acked::ONE_WAY } else { 0 };
            let acked = abi::Acked {
                now_ns,
                in_flight_before: left.saturating_add(bytes),
                in_flight: left,
                one_way_ns: -200_000,
                delivered: 0,
                packets: std::ptr::null(),
                packet_count: frame.acked.len() as u32,
                flags: one_way | if frame.app_limited { abi::acked::APP_LIMITED } else { 0 },
            };
            self.in_flight = left;
            self.update(|path| path.on_acked(&acked, &frame.acked));
        }
    }
}

impl calls::Path for Path {
    type Kept = ();
    const ORDER: Order = Order::SampleLast;

    fn sent(&mut self, now: At, bytes: u64, pn: u64, app_limited: Option<bool>) {
        self.report(now, false, None);
        let bytes = u32_of(bytes);
        let before = self.in_flight;
        self.in_flight = before.saturating_add(bytes.into());
        let flags = if app_limited == Some(true) { abi::sent::APP_LIMITED } else { 0 };
        let sent = abi::Sent { now_ns: ns(now), number: pn, in_flight: self.in_flight, bytes, flags };
        let (flow, decision) = self.flow.get_mut();
        if before == 0 || decision.flags & msquic::decision::EVERY_SENT != 0 {
            flow.on_sent(decision, &sent);
        }
    }

    fn call(&mut self, now: At, call: &Call<()>) {
        match *call {
            Call::Sampled { latest, .. } => {
                let latest_us = u64::try_from(latest.as_micros()).unwrap_or(u64::MAX).clamp(RTT_US.0, RTT_US.1);
                self.frame.latest_ns = Some(latest_us * 1000);
            }
            Call::Acked { packet: acked, app_limited, .. } => {
                self.frame.acked.push(packet(&acked));
                self.frame.app_limited = app_limited;
            }
            Call::AcksEnd { in_flight, .. } => self.report(now, true, Some(u32_of(in_flight).into())),
            Call::Lost { packet: lost, persistent } => {
                self.frame.lost.push(packet(&lost));
                self.frame.persistent = persistent;
            }
            // The next call shows whether a frame or a timer found them.
            Call::LossesEnd { .. } => {}
            Call::Marked { packets, newest } => self.frame.marks = Some((u32_of(packets), newest)),
            Call::Spurious => {
                self.report(now, false, None);
                self.update(|path| path.on_spurious_loss(ns(now), ns(now)));
            }
            Call::MtuUpdated(mtu) => {
                self.report(now, false, None);
                self.update(|path| path.on_mtu(ns(now), mtu.into()));
                self.report(now, true, None);
            }
            Call::MaxAckDelay(_) => {}
            Call::Discarded(bytes) => {
                self.report(now, false, None);
                self.in_flight = self.in_flight.saturating_sub(u32_of(bytes).into());
                let in_flight = self.in_flight;
                self.update(|path| path.on_discarded(ns(now), in_flight));
            }
            Call::Asked => self.report(now, false, None),
        }
    }

    /// A path that moves keeps its flow.
    fn copy(&self) -> Option<Self> {
        None
    }

    fn window(&self) -> u64 {
        let (flow, decision) = &mut *self.flow.borrow_mut();
        if decision.flags & abi::decision::SHARED != 0 {
            flow.update(decision, |_| {});
        }
        decision.cwnd
    }

    fn answers(&self) -> String {
        format!("{:?}", self.flow.borrow().1)
    }

    fn least_window(mtu: u16, least: u64) -> u64 {
        least * datagram(mtu.into())
    }
}

#[test]
fn every_controller_holds_under_any_sequence_of_calls() {
    run_seeded::<Stack>(360);
}

#[test]
fn the_same_calls_are_the_same_events() {
    assert_eq!(digests::<Stack<_>>(), ["ec79eecc2327ab7e", "f55bde263cfd7f42"]);
}
