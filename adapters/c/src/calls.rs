//! Any sequence of the calls of a stack in another language, on every controller.

use std::cell::RefCell;

use windlass_adapter::{Flow, Groups};
use windlass_adapter_testkit::calls::{self, At, Call, Key, Order, Packet, Watch, datagram, digests, run_seeded};
use windlass_controllers::{Algorithm, ConfiguredController, Path as Start, Signals, Time};

use crate::guard::{Failure, GuardedFlow};
use windlass_abi as abi;
use windlass_adapter::stack_path::{Invalid, StackPath};

/// What the stacks report that take turns: everything, numbers alone, no numbers but deliveries.
const REPORTED: [u32; 3] = [0x1ff & !32, abi::signal::PACKET_NUMBERS | 8, 1 | 32 | 256];

/// The start of a sequence, long enough after the origin of the stack's clock, ns.
const START: At = 80 * 365 * 24 * 3600 * 1_000_000_000;

fn ns(at: At) -> u64 {
    u64::try_from(START.saturating_add(at)).unwrap_or(0)
}

fn u32_of(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

struct Stack<C: ConfiguredController = Algorithm> {
    controller: C,
    groups: Option<Groups<C, Key>>,
    watch: Watch,
    made: u64,
}

impl<C: ConfiguredController> calls::Stack<C> for Stack<C> {
    type Path = Path<C>;
    const PROVIDES: Signals = Signals::ACKS
        .and(Signals::LOSS)
        .and(Signals::PERSISTENT_CONGESTION)
        .and(Signals::RTT)
        .and(Signals::GROUPS)
        .and(Signals::WINDOW_AT_SEND)
        .and(Signals::DELIVERY_RATE)
        .and(Signals::ECN)
        .and(Signals::CE_COUNT)
        .and(Signals::SPURIOUS_LOSS)
        .and(Signals::PACKET_NUMBERS)
        .and(Signals::PACING)
        .and(Signals::ONE_WAY_DELAY);

    fn new(controller: C, groups: Option<&Groups<C, Key>>, watch: &Watch) -> Self {
        Stack { controller, groups: groups.cloned(), watch: watch.clone(), made: 0 }
    }

    fn connect(&mut self, now: At, mtu: u16, key: Key) -> Path<C> {
        let start = Start::new(Time(ns(now)), mtu.max(1).into(), self.made);
        let turns = REPORTED.into_iter().cycle().skip(self.made as usize % REPORTED.len()).take(REPORTED.len());
        let runs = |bits: &u32| {
            crate::definition::provides(*bits).is_some_and(|provided| provided.contains(self.controller.needs()))
        };
        let signals = turns.into_iter().find(runs).unwrap_or(REPORTED[0]);
        self.made += 1;
        let recorder = Some(self.watch.recorder(&start));
        let flow = match &self.groups {
            Some(groups) => Flow::grouped_with(self.controller.clone(), &start, groups, key, recorder),
            None => Flow::ungrouped_with(self.controller.clone(), &start, recorder),
        };
        let path = StackPath::new(flow, start.now, start.mtu, signals);
        let flow = RefCell::new(GuardedFlow::new(path, "probe"));
        Path {
            flow,
            signals,
            in_flight: 0,
            delivered: (signals & 32 != 0).then_some(0),
            acked: Vec::new(),
            lost: Vec::new(),
            app_limited: false,
            persistent: false,
        }
    }
}

/// One path of a connection.
struct Path<C: ConfiguredController> {
    flow: RefCell<GuardedFlow<C>>,
    signals: u32,
    in_flight: u64,
    /// Bytes delivered, where it reports them.
    delivered: Option<u64>,
    /// What the frame or the timer found so far.
    acked: Vec<abi::Packet>,
    lost: Vec<abi::Packet>,
    app_limited: bool,
    persistent: bool,
}

/// `packet` after `delivered` bytes, if the stack reports those.
fn packet(packet: &Packet<()>, delivered: Option<u64>) -> abi::Packet {
    let limited = if packet.pn % 3 == 0 { abi::packet::APP_LIMITED } else { 0 };
    let flags = delivered.map_or(0, |_| abi::packet::DELIVERY | limited);
    let sent_ns = ns(packet.at);
    abi::Packet {
        number: packet.pn,
        sent_ns,
        bytes: packet.bytes,
        count: (packet.pn % 4) as u32,
        flags,
        delivered: delivered.unwrap_or_default(),
        delivered_ns: sent_ns.saturating_sub(7),
        delivered_sent_ns: sent_ns.saturating_sub(1_000_000),
        lost: packet.bytes / 2,
        in_flight: packet.bytes,
    }
}

fn sum(packets: &[abi::Packet]) -> u64 {
    packets.iter().fold(0, |sum: u64, packet| sum.saturating_add(packet.bytes))
}

impl<C: ConfiguredController> Path<C> {
    /// Passes a call on. One that cannot be has no effect.
    fn event(&mut self, event: impl FnOnce(&mut StackPath<C>) -> Result<(), Invalid>) {
        assert_ne!(self.flow.get_mut().on_event(event), Err(Failure::Panicked));
    }

    /// Reports what was found lost before the next call of another kind.
    fn report_lost(&mut self, now: At) {
        let packets = std::mem::take(&mut self.lost);
        if packets.is_empty() {
            return;
        }
        let before = self.in_flight;
        self.in_flight = before.saturating_sub(sum(&packets));
        let lost = abi::Lost {
            now_ns: ns(now),
            in_flight_before: before,
            in_flight: self.in_flight,
            packets: std::ptr::null(),
            packet_count: u32_of(packets.len() as u64),
            flags: if self.persistent { abi::lost::PERSISTENT } else { 0 },
        };
        self.event(|path| path.on_lost(&lost, &packets));
    }
}

impl<C: ConfiguredController> calls::Path for Path<C> {
    type Kept = ();
    const ORDER: Order = Order::LossesFirst;
    const ESTABLISHES_PERSISTENT_CONGESTION: bool = true;

    fn sent(&mut self, now: At, bytes: u64, pn: u64, app_limited: Option<bool>) {
        self.report_lost(now);
        let bytes = u32_of(bytes);
        let before = self.in_flight;
        self.in_flight = before.saturating_add(bytes.into());
        let flags = if app_limited == Some(true) { abi::sent::APP_LIMITED } else { 0 };
        let sent = abi::Sent { now_ns: ns(now), number: pn, in_flight: self.in_flight, bytes, flags };
        if before == 0 || self.signals & abi::signal::SENT != 0 {
            self.event(|path| path.on_sent(&sent).map(drop));
        }
    }

    fn call(&mut self, now: At, call: &Call<()>) {
        let now_ns = ns(now);
        // Losses come after marks and before acknowledgements.
        if !matches!(call, Call::Lost { .. } | Call::LossesEnd { .. } | Call::Marked { .. } | Call::Acked { .. }) {
            self.report_lost(now);
        }
        match *call {
            Call::Sampled { latest, newest } => {
                let latest_ns = u64::try_from(latest.as_nanos()).unwrap_or(u64::MAX);
                // Some estimates are left to the adapter.
                let reported = |known: bool, span: u64| if known { span } else { 0 };
                let rtt = abi::Rtt {
                    latest_ns,
                    smoothed_ns: reported(newest.pn % 2 == 0, latest_ns),
                    variation_ns: reported(newest.pn % 3 == 0, latest_ns / 2),
                    min_ns: reported(newest.pn % 5 == 0, latest_ns / 3),
                    ack_delay_ns: latest_ns / 8,
                };
                self.event(|path| path.on_rtt(now_ns, &rtt));
            }
            Call::Acked { packet: acked, app_limited, .. } => {
                self.acked.push(packet(&acked, self.delivered));
                self.app_limited = app_limited;
            }
            Call::AcksEnd { bytes, in_flight, .. } => {
                let packets = std::mem::take(&mut self.acked);
                self.delivered = self.delivered.map(|delivered| delivered.saturating_add(sum(&packets)));
                let one_way = if self.signals & 256 != 0 { abi::acked::ONE_WAY } else { 0 };
                let acked = abi::Acked {
                    now_ns,
                    in_flight_before: in_flight.saturating_add(bytes),
                    in_flight,
                    one_way_ns: 1000 - (now_ns % 5000) as i64,
                    delivered: self.delivered.unwrap_or_default(),
                    packets: std::ptr::null(),
                    packet_count: u32_of(packets.len() as u64),
                    flags: one_way | if self.app_limited { abi::acked::APP_LIMITED } else { 0 },
                };
                self.in_flight = in_flight;
                self.event(|path| path.on_acked(&acked, &packets));
            }
            Call::Lost { packet: lost, persistent } => {
                self.lost.push(packet(&lost, self.delivered));
                self.persistent = persistent;
            }
            Call::LossesEnd { .. } => {}
            Call::Marked { packets, newest } => {
                let (newest, in_flight) = ((ns(newest.at), newest.pn), self.in_flight);
                self.event(|path| path.on_ecn_ce(now_ns, u32_of(packets), newest, in_flight));
            }
            Call::Spurious => self.event(|path| {
                path.on_spurious_loss(now_ns, now_ns / 2);
                Ok(())
            }),
            Call::MtuUpdated(mtu) => self.event(|path| path.on_mtu(now_ns, mtu.into())),
            Call::MaxAckDelay(_) => self.event(|path| {
                path.on_timer(now_ns);
                Ok(())
            }),
            Call::Discarded(bytes) => {
                self.in_flight = self.in_flight.saturating_sub(bytes);
                let in_flight = self.in_flight;
                self.event(|path| {
                    path.on_discarded(now_ns, in_flight);
                    Ok(())
                });
            }
            Call::Asked => _ = self.flow.get_mut().decision(),
        }
    }

    /// A path that moves keeps its flow.
    fn copy(&self) -> Option<Self> {
        None
    }

    fn window(&self) -> u64 {
        self.flow.borrow_mut().decision().cwnd
    }

    fn answers(&self) -> String {
        format!("{:?}", self.flow.borrow_mut().decision())
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
    assert_eq!(digests::<Stack<_>>(), ["dc1df078c3a5ee22", "423eeb21be39cc70"]);
}
