//! Cost of one ACK frame that acknowledges two packets, and of the packets sent for it:
//! s2n-quic's own controllers beside ours through the adapter, all through s2n-quic's trait.
//!
//! The candidates take turns in short rounds and each is compared with its baseline in
//! the same round, so that a noisy machine disturbs both sides alike. A round is the median
//! of its blocks, which are too short to be interrupted often; the table gives the
//! median over the rounds. `cargo bench -p windlass-s2n-quic --bench per_ack`.

#[path = "../tests/driver/mod.rs"]
mod driver;

use std::collections::VecDeque;
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
/// A loss whenever this many packets of a flow are in flight keeps it near there.
const MOST: usize = 100;
const BETWEEN_ACKS_US: u64 = 50;

type Flying<C> = VecDeque<(Timestamp, <C as CongestionController>::PacketInfo)>;

/// One connection: its controller and what s2n-quic keeps of its packets.
struct Connection<C: CongestionController> {
    controller: C,
    rtt: RttEstimator,
    flying: Flying<C>,
}

impl<C: CongestionController> Connection<C> {
    /// Sends what the window lets go, asking what s2n-quic asks for each packet. Pacing is
    /// asked and not obeyed: as many packets leave as are acknowledged.
    #[inline]
    fn send(&mut self, now: Timestamp) {
        let controller = &mut self.controller;
        for _ in 0..4 {
            black_box(controller.earliest_departure_time());
            if controller.is_congestion_limited() {
                break;
            }
            black_box((controller.congestion_window(), controller.bytes_in_flight()));
            let info = controller.on_packet_sent(now, MTU.into(), Some(false), &self.rtt, &mut Deaf);
            self.flying.push_back((now, info));
        }
    }

    /// A frame acknowledges two packets, and sometimes loses one.
    #[inline]
    fn ack(&mut self, now: Timestamp) {
        let lost = if self.flying.len() >= MOST { self.flying.pop_front() } else { None };
        let (Some(older), Some(newer)) = (self.flying.pop_front(), self.flying.pop_front()) else { return };
        black_box(older);
        let (controller, rtt) = (&mut self.controller, &mut self.rtt);
        let sample = now.saturating_duration_since(newer.0);
        rtt.update_rtt(Duration::ZERO, sample, now, true, PacketNumberSpace::ApplicationData);
        controller.on_rtt_update(newer.0, now, rtt, &mut Deaf);
        if let Some((_, info)) = lost {
            controller.on_packet_lost(MTU.into(), info, false, true, &mut Zeros, now, &mut Deaf);
        }
        controller.on_ack(newer.0, 2 * usize::from(MTU), newer.1, rtt, &mut Zeros, now, &mut Deaf);
        black_box((controller.congestion_window(), controller.bytes_in_flight()));
    }
}

/// Connections taking turns.
struct Stack<C: CongestionController> {
    connections: Vec<Connection<C>>,
    now: u64,
}

impl<C: CongestionController> Stack<C> {
    fn new<E: Endpoint<CongestionController = C>>(mut endpoint: E) -> Self {
        let address = SocketAddress::default();
        let config = mtu::Config::builder().with_initial_mtu(MTU + 28).and_then(|b| b.build()).expect("a valid MTU");
        let mut made = || Connection {
            controller: endpoint.new_congestion_controller(PathInfo::new(&config, &address)),
            rtt: RttEstimator::new(Duration::from_millis(40)),
            flying: VecDeque::with_capacity(2 * MOST),
        };
        let connections = (0..FLOWS).map(|_| made()).collect();
        let mut stack = Stack { connections, now: 0 };
        for connection in &mut stack.connections {
            connection.send(timestamp(0));
        }
        stack.now = 10_000;
        stack
    }

    fn block(&mut self) -> Duration {
        let start = self.now;
        let times: [Timestamp; BLOCK] = std::array::from_fn(|i| timestamp(start + BETWEEN_ACKS_US * i as u64));
        self.now = start + BETWEEN_ACKS_US * BLOCK as u64;
        let clock = Instant::now();
        for (i, &now) in times.iter().enumerate() {
            let connection = black_box(&mut self.connections[i % FLOWS]);
            connection.ack(now);
            connection.send(now);
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
            let blocks = (0..BLOCKS).map(|_| (candidate.run)().as_nanos() as f64 / BLOCK as f64).collect();
            candidate.nanos.push(median(blocks));
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
