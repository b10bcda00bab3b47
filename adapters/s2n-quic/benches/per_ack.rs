//! Cost of one ACK frame that acknowledges two packets, and of the two packets sent for it:
//! s2n-quic's own controllers beside ours through the adapter, all through s2n-quic's trait.
//!
//! The candidates take turns in short rounds and each is compared with its baseline in
//! the same round, so that a noisy machine disturbs both sides alike; the table gives the
//! median over the rounds. `cargo bench -p windlass-s2n-quic --bench per_ack`.

#[path = "../tests/driver/mod.rs"]
mod driver;

use std::hint::black_box;
use std::time::{Duration, Instant};

use driver::{Deaf, MTU, Zeros, timestamp};
use s2n_quic::provider::congestion_controller::{
    Bbr, CongestionController, Cubic, Endpoint, PathInfo, RttEstimator, Timestamp,
};
use s2n_quic_core::inet::SocketAddress;
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::path::mtu;
use windlass_controllers::Algorithm;
use windlass_controllers::schemes::{cubic, reno};
use windlass_s2n_quic::{Fixed, PROVIDES};

const ROUNDS: usize = 41;
/// ACK frames per round, in blocks whose times are worked out before the clock starts:
/// in a stack they are at hand.
const BLOCKS: usize = 100;
const BLOCK: usize = 256;
/// Connections taking turns, as on a server: the next ACK is not this one's.
const FLOWS: usize = 16;
/// A loss every so many ACKs keeps the windows near a steady state; odd, so that every
/// flow gets its turn.
const LOSS_EVERY: usize = 501;
const RTT_US: u64 = 40_000;
const BETWEEN_ACKS_US: u64 = 200;
/// Packets of one flow in flight.
const FLIGHT: usize = 2 * RTT_US as usize / BETWEEN_ACKS_US as usize / FLOWS;

/// The controllers of some connections and what s2n-quic keeps of their packets.
struct Stack<C: CongestionController> {
    flows: Vec<(C, RttEstimator)>,
    /// Of the packets in flight, oldest first, for all flows in turn.
    infos: std::collections::VecDeque<(C::PacketInfo, C::PacketInfo)>,
    now: u64,
    acks: usize,
}

impl<C: CongestionController> Stack<C> {
    fn new<E: Endpoint<CongestionController = C>>(mut endpoint: E) -> Self {
        let address = SocketAddress::default();
        let config = mtu::Config::builder().with_initial_mtu(MTU + 28).and_then(|b| b.build()).expect("a valid MTU");
        let mut made = || endpoint.new_congestion_controller(PathInfo::new(&config, &address));
        let flows = (0..FLOWS).map(|_| (made(), RttEstimator::new(Duration::from_micros(RTT_US)))).collect();
        let mut stack = Stack { flows, infos: Default::default(), now: 0, acks: 0 };
        for i in 0..FLOWS * FLIGHT {
            let at = timestamp(stack.now);
            let info = stack.send(i % FLOWS, at);
            stack.infos.push_back(info);
            stack.now += BETWEEN_ACKS_US;
        }
        stack
    }

    /// Two packets, and what s2n-quic asks before, between and after them.
    #[inline]
    fn send(&mut self, flow: usize, now: Timestamp) -> (C::PacketInfo, C::PacketInfo) {
        let (controller, rtt) = &mut self.flows[flow];
        let mut one = || {
            black_box(controller.earliest_departure_time());
            black_box(controller.is_congestion_limited());
            black_box((controller.congestion_window(), controller.bytes_in_flight()));
            controller.on_packet_sent(now, MTU.into(), Some(false), rtt, &mut Deaf)
        };
        (one(), one())
    }

    fn block(&mut self) -> Duration {
        let start = self.now;
        let times: [(Timestamp, Timestamp); BLOCK] = std::array::from_fn(|i| {
            let now = start + BETWEEN_ACKS_US * i as u64;
            (timestamp(now), timestamp(now - RTT_US))
        });
        self.now = start + BETWEEN_ACKS_US * BLOCK as u64;
        let clock = Instant::now();
        for (i, &(now, sent)) in times.iter().enumerate() {
            let flow = i % FLOWS;
            let (older, newer) = self.infos.pop_front().expect("packets are in flight");
            let (controller, rtt) = black_box(&mut self.flows[flow]);
            let sample = Duration::from_micros(RTT_US);
            rtt.update_rtt(Duration::ZERO, sample, now, true, PacketNumberSpace::ApplicationData);
            controller.on_rtt_update(sent, now, rtt, &mut Deaf);
            let mut bytes = 2 * usize::from(MTU);
            self.acks += 1;
            if self.acks.is_multiple_of(LOSS_EVERY) {
                controller.on_packet_lost(MTU.into(), older, false, true, &mut Zeros, now, &mut Deaf);
                bytes -= usize::from(MTU);
            }
            controller.on_ack(sent, bytes, newer, rtt, &mut Zeros, now, &mut Deaf);
            black_box((controller.congestion_window(), controller.bytes_in_flight()));
            let infos = self.send(flow, now);
            self.infos.push_back(infos);
        }
        clock.elapsed()
    }
}

struct Candidate<'a> {
    name: String,
    baseline: usize,
    run: Box<dyn FnMut() -> Duration + 'a>,
    nanos: Vec<f64>,
}

fn candidate<'a, E: Endpoint>(name: &str, baseline: usize, endpoint: E) -> Candidate<'a>
where
    E::CongestionController: 'a,
{
    let mut stack = Stack::new(endpoint);
    Candidate { name: name.to_owned(), baseline, run: Box::new(move || stack.block()), nanos: Vec::new() }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    const CUBIC: usize = 0;
    const BBR: usize = 1;
    let named = |name: &str| windlass_s2n_quic::Endpoint::named(name).expect("runs on s2n-quic");
    let cubic = windlass_s2n_quic::Endpoint::new(Fixed::<cubic::Cubic>(Default::default())).expect("runs on s2n-quic");
    let reno = windlass_s2n_quic::Endpoint::new(Fixed::<reno::Reno>(Default::default())).expect("runs on s2n-quic");
    let mut candidates = vec![
        candidate("s2n-quic's CUBIC", CUBIC, Cubic::default()),
        candidate("s2n-quic's BBRv2", BBR, Bbr::default()),
        candidate("reno, one controller known when compiling", CUBIC, reno),
        candidate("cubic, one controller known when compiling", CUBIC, cubic),
    ];
    for entry in Algorithm::ALL.iter().filter(|entry| PROVIDES.contains((entry.default)().needs())) {
        let baseline = if entry.name.starts_with("bbr") { BBR } else { CUBIC };
        candidates.push(candidate(&format!("{}, by name", entry.name), baseline, named(entry.name)));
    }
    for _ in 0..ROUNDS {
        for candidate in &mut candidates {
            let elapsed: Duration = (0..BLOCKS).map(|_| (candidate.run)()).sum();
            candidate.nanos.push(elapsed.as_nanos() as f64 / (BLOCKS * BLOCK) as f64);
        }
    }

    println!("| per ACK frame of two packets, and two sent | ns | beside | ratio |");
    println!("|---|---|---|---|");
    for candidate in &candidates {
        let baseline = &candidates[candidate.baseline];
        let ratios = candidate.nanos.iter().zip(&baseline.nanos).map(|(own, other)| own / other).collect();
        let (nanos, ratio) = (median(candidate.nanos.clone()), median(ratios));
        println!("| {} | {nanos:.1} | {} | {ratio:.2} |", candidate.name, baseline.name);
    }
}
