//! Any sequence of MsQuic's calls, on every controller.

use std::cell::RefCell;

use windlass_adapter::Groups;
use windlass_adapter_testkit::calls::{self, At, Call, Key, Order, Packet, Watch, datagram, digests, run_seeded};
use windlass_controllers::{Algorithm, ConfiguredController, Signals};
use windlass_msquic_abi as abi;

use crate::definition::{Definition, NewConnection, StartFlow};
use crate::flow::GuardedPath;
use crate::path::time;

/// The start of a sequence, long enough after the origin of MsQuic's clock, µs.
const START_US: i64 = 80 * 365 * 24 * 3600 * 1_000_000;

fn us(at: At) -> u64 {
    u64::try_from(START_US.saturating_add(at / 1000)).unwrap_or(0)
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
            now: time(us(now)),
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
        let mut control = abi::Control::default();
        flow.update(&mut control, |_| {});
        Path { flow: RefCell::new((flow, control)), mtu: mtu.into(), in_flight: 0, frame: Frame::default() }
    }
}

/// Acknowledgements and losses of an ACK frame or a timer so far.
#[derive(Default)]
struct Frame {
    latest_us: Option<u64>,
    marks: Option<(u32, Packet<()>)>,
    lost: Vec<abi::Packet>,
    persistent: bool,
    acked: Vec<abi::Packet>,
    app_limited: bool,
}

/// One connection of MsQuic's.
struct Path {
    flow: RefCell<(GuardedPath, abi::Control)>,
    mtu: u32,
    in_flight: u32,
    frame: Frame,
}

fn packet(packet: &Packet<()>) -> abi::Packet {
    abi::Packet { number: packet.pn, sent_us: us(packet.at), bytes: u32_of(packet.bytes), ..abi::Packet::default() }
}

fn sum(packets: &[abi::Packet]) -> u32 {
    packets.iter().fold(0, |sum: u32, packet| sum.saturating_add(packet.bytes))
}

impl Path {
    fn update(&mut self, event: impl FnOnce(&mut dyn crate::path::PathEvents)) {
        let (flow, control) = self.flow.get_mut();
        flow.update(control, event);
        assert_eq!(control.flags & abi::control::ENDED, 0, "the controller panicked");
    }

    /// Reports what was found, in MsQuic's order: marks, losses, acknowledgements.
    fn report(&mut self, now: At, acks: bool, left: Option<u32>) {
        let (now_us, mtu) = (us(now), self.mtu);
        let frame = std::mem::take(&mut self.frame);
        if let Some((packets, newest)) = frame.marks {
            let in_flight = self.in_flight;
            let (newest_number, newest_sent_us) = (newest.pn, us(newest.at));
            let marks = abi::EcnCe { now_us, newest_number, newest_sent_us, packets, in_flight, mtu, reserved: 0 };
            self.update(|path| path.on_ecn_ce(&marks));
        }
        if !frame.lost.is_empty() {
            let bytes = sum(&frame.lost);
            let before = self.in_flight;
            self.in_flight = before.saturating_sub(bytes);
            let lost = abi::Lost {
                now_us,
                bytes,
                in_flight_before: before,
                in_flight: self.in_flight,
                mtu,
                flags: if frame.persistent { abi::lost::PERSISTENT } else { 0 },
                packet_count: frame.lost.len() as u32,
                packets: std::ptr::null(),
            };
            self.update(|path| path.on_lost(&lost, &frame.lost));
        }
        if acks || frame.latest_us.is_some() || !frame.acked.is_empty() {
            let bytes = sum(&frame.acked);
            let left = left.unwrap_or(self.in_flight.saturating_sub(bytes));
            let latest_us = frame.latest_us.unwrap_or_default();
            let rtt = abi::Rtt {
                latest_us,
                smoothed_us: latest_us,
                variation_us: latest_us / 2,
                min_us: latest_us / 2,
                ack_delay_us: latest_us / 8,
            };
            let sampled = if frame.latest_us.is_some() { abi::acked::RTT | abi::acked::ONE_WAY } else { 0 };
            let acked = abi::Acked {
                now_us,
                largest_sent: frame.acked.last().map_or(0, |newest| newest.number),
                rtt,
                one_way_us: 1000 - i64::from(mtu),
                posted: 0,
                bytes,
                in_flight_before: left.saturating_add(bytes),
                in_flight: left,
                mtu,
                flags: sampled | if frame.app_limited { abi::acked::APP_LIMITED } else { 0 },
                packet_count: frame.acked.len() as u32,
                packets: std::ptr::null(),
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
        self.in_flight = before.saturating_add(bytes);
        let flags = if app_limited == Some(true) { abi::sent::APP_LIMITED } else { 0 };
        let sent = abi::Sent { now_us: us(now), number: pn, bytes, in_flight: self.in_flight, mtu: self.mtu, flags };
        let (flow, control) = self.flow.get_mut();
        if before == 0 || control.flags & abi::control::EVERY_SENT != 0 {
            flow.on_sent(control, &sent);
        }
    }

    fn call(&mut self, now: At, call: &Call<()>) {
        match *call {
            Call::Sampled { latest, .. } => {
                self.frame.latest_us = Some(u64::try_from(latest.as_micros()).unwrap_or(u64::MAX));
            }
            Call::Acked { packet: acked, app_limited, .. } => {
                self.frame.acked.push(packet(&acked));
                self.frame.app_limited = app_limited;
            }
            Call::AcksEnd { in_flight, .. } => self.report(now, true, Some(u32_of(in_flight))),
            Call::Lost { packet: lost, persistent } => {
                self.frame.lost.push(packet(&lost));
                self.frame.persistent = persistent;
            }
            // The next call shows whether a frame or a timer found them.
            Call::LossesEnd { .. } => {}
            Call::Marked { packets, newest } => self.frame.marks = Some((u32_of(packets), newest)),
            Call::Spurious => {
                self.report(now, false, None);
                let (in_flight, mtu) = (self.in_flight, self.mtu);
                let spurious = abi::SpuriousLoss { now_us: us(now), newest_sent_us: us(now), in_flight, mtu };
                self.update(|path| path.on_spurious_loss(&spurious));
            }
            Call::MtuUpdated(mtu) => {
                self.report(now, false, None);
                self.mtu = mtu.into();
                // It comes with the next call, whatever that is.
                self.report(now, true, None);
            }
            Call::MaxAckDelay(_) => {}
            Call::Discarded(bytes) => {
                self.report(now, false, None);
                self.in_flight = self.in_flight.saturating_sub(u32_of(bytes));
                let in_flight = self.in_flight;
                self.update(|path| path.on_discarded(us(now), in_flight));
            }
            Call::Asked => self.report(now, false, None),
        }
    }

    /// A path that moves keeps its flow.
    fn copy(&self) -> Option<Self> {
        None
    }

    fn window(&self) -> u64 {
        let (flow, control) = &mut *self.flow.borrow_mut();
        if control.flags & abi::control::SHARED != 0 {
            flow.update(control, |_| {});
        }
        control.cwnd.into()
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
    assert_eq!(digests::<Stack<_>>(), ["8151dd70d4f3cc22", "f853e1b9b5316b84"]);
}
