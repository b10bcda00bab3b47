//! Cost of one ACK frame and of the packets sent for it: s2n-quic's own controllers beside ours
//! through the adapter, all through s2n-quic's trait. A frame acknowledges ten packets, as
//! s2n-quic's receivers have it, or two, as most others do.
//!
//! `cargo bench -p windlass-s2n-quic --bench per_ack [-- [ROUNDS] [NAME]…]`.

#[path = "../tests/it/driver.rs"]
mod driver;

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

use driver::{MTU, NullPublisher, Zeros, timestamp};
use s2n_quic::provider::congestion_controller::{
    Bbr, CongestionController, Cubic, Endpoint, PathInfo, RttEstimator, Timestamp,
};
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::path::mtu;
use windlass_controllers::ConfiguredController;
use windlass_s2n_quic::PROVIDES;

use windlass_adapter_testkit::losses::{Losses, MOST};
use windlass_adapter_testkit::ours;
use windlass_adapter_testkit::rounds::{BLOCK, Block, Candidate, FLOWS, compare};

const BETWEEN_ACKS_US: u64 = 50;

type Flying<C> = VecDeque<(Timestamp, <C as CongestionController>::PacketInfo)>;

/// One connection: its controller and what s2n-quic keeps of its packets.
struct Connection<C: CongestionController> {
    controller: C,
    rtt: RttEstimator,
    flying: Flying<C>,
    losses: Losses,
    /// Packets each ACK frame acknowledges.
    packets: usize,
}

impl<C: CongestionController> Connection<C> {
    /// Sends what the window allows, with the calls that s2n-quic makes for each packet. The pacing
    /// rate is asked for and not applied: as many packets leave as are acknowledged.
    #[inline]
    fn send(&mut self, now: Timestamp) {
        let controller = &mut self.controller;
        for _ in 0..self.packets + 2 {
            black_box(controller.earliest_departure_time());
            if controller.is_congestion_limited() {
                break;
            }
            black_box((controller.congestion_window(), controller.bytes_in_flight()));
            let info = controller.on_packet_sent(now, MTU.into(), Some(false), &self.rtt, &mut NullPublisher);
            self.flying.push_back((now, info));
        }
    }

    /// A frame acknowledges packets, and sometimes not those before them.
    #[inline]
    fn ack(&mut self, now: Timestamp) {
        let lost = self.losses.next(self.flying.len());
        // Fewer where the window holds fewer: the receiver's timer sends the frame.
        let packets = self.packets.min(self.flying.len());
        let Some(&newer) = self.flying.range(lost..lost + packets).next_back() else { return };
        let (controller, rtt) = (&mut self.controller, &mut self.rtt);
        let sample = now.saturating_duration_since(newer.0);
        rtt.update_rtt(Duration::ZERO, sample, now, true, PacketNumberSpace::ApplicationData);
        controller.on_rtt_update(newer.0, now, rtt, &mut NullPublisher);
        for (i, (_, info)) in self.flying.drain(..lost).enumerate() {
            controller.on_packet_lost(MTU.into(), info, false, i == 0, &mut Zeros, now, &mut NullPublisher);
        }
        controller.on_ack(newer.0, packets * usize::from(MTU), newer.1, rtt, &mut Zeros, now, &mut NullPublisher);
        self.flying.drain(..packets);
        black_box((controller.congestion_window(), controller.bytes_in_flight()));
    }
}

/// The controllers of many connections, driven in turns.
struct Stack<C: CongestionController> {
    connections: Vec<Connection<C>>,
    now: u64,
}

impl<C: CongestionController> Stack<C> {
    fn new<E: Endpoint<CongestionController = C>>(mut endpoint: E, packets: usize) -> Self {
        let address = SocketAddress::default();
        let config = mtu::Config::builder().with_initial_mtu(MTU + 28).and_then(|b| b.build()).expect("a valid MTU");
        let mut made = |nth| Connection {
            controller: endpoint.new_congestion_controller(PathInfo::new(&config, &address)),
            rtt: RttEstimator::new(Duration::from_millis(40)),
            flying: VecDeque::with_capacity(2 * MOST),
            losses: Losses::of(nth),
            packets,
        };
        let connections = (0..FLOWS).map(&mut made).collect();
        let mut stack = Stack { connections, now: 0 };
        for connection in &mut stack.connections {
            connection.send(timestamp(0));
        }
        stack.now = 10_000;
        stack
    }

    fn block(&mut self) -> Block {
        let start = self.now;
        let times: [Timestamp; BLOCK] = std::array::from_fn(|i| timestamp(start + BETWEEN_ACKS_US * i as u64));
        self.now = start + BETWEEN_ACKS_US * BLOCK as u64;
        let clock = Instant::now();
        for (i, &now) in times.iter().enumerate() {
            let connection = black_box(&mut self.connections[i % FLOWS]);
            connection.ack(now);
            connection.send(now);
        }
        let took = clock.elapsed();
        let lost = self.connections.iter_mut().map(|connection| connection.losses.take()).sum();
        let window = |connection: &Connection<C>| f64::from(connection.controller.congestion_window()) / f64::from(MTU);
        Block::of(took, lost, self.connections.iter().map(window))
    }
}

struct Adapter {
    packets: usize,
}

impl ours::Runs for Adapter {
    fn run<E: ConfiguredController>(&self, engine: E) -> Box<dyn FnMut() -> Block> {
        let endpoint = windlass_s2n_quic::Endpoint::new(engine).expect("s2n-quic reports what it needs");
        let mut stack = Stack::new(endpoint, self.packets);
        Box::new(move || stack.block())
    }
}

fn own<E: Endpoint>(name: &'static str, endpoint: E, packets: usize) -> Candidate<'static>
where
    E::CongestionController: 'static,
{
    let mut stack = Stack::new(endpoint, packets);
    Candidate::new(name, name, move || stack.block())
}

fn main() {
    for (number, packets) in [("ten", 10), ("two", 2)] {
        let (cubic, bbr) = ("s2n-quic CUBIC", "s2n-quic BBRv2");
        let own = [own(cubic, Cubic::default(), packets), own(bbr, Bbr::default(), packets)];
        // It has no Reno.
        let adapter = Adapter { packets };
        let ours = ours::candidates(&adapter, PROVIDES, [cubic, cubic, bbr]);
        compare(
            &format!("per ACK frame of {number} packets, and {number} sent"),
            own.into_iter().chain(ours).collect(),
        );
        println!();
    }
}
