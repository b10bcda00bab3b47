//! Cost of one ACK frame that acknowledges two packets, and of the packets it lets go: loss
//! recovery and congestion control of a path as quiche's connections call them, with quiche's
//! own controllers and with ours.
//!
//! `cargo bench -p windlass-quiche --bench per_ack [-- [ROUNDS] [NAME]…]`.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quiche::external::{CongestionEvent, Controller, Decision, NewPath, PacketSent};
use quiche::harness::bench::PathRecovery;
use windlass_controllers::ConfiguredController;
use windlass_controllers::fixed_window::FixedWindow;
use windlass_quiche::{Definition, PROVIDES, register_as};

use windlass_adapter_testkit::losses::Losses;
use windlass_adapter_testkit::ours::{self, Runs};
use windlass_adapter_testkit::rounds::{BLOCK, Block, Candidate, FLOWS, compare};

/// Bytes of a datagram.
const MTU: usize = 1350;
/// Between the ACK frames of one flow and the next.
const BETWEEN_ACKS: Duration = Duration::from_micros(50);
/// The window that never changes, packets: too few to lose any.
const FIXED_WINDOW: u32 = 90;
/// From the first packets to the first ACK frame.
const RTT: Duration = Duration::from_millis(40);

/// One path, whose packets from `oldest` to `next` are in flight.
struct Path {
    recovery: PathRecovery,
    oldest: u64,
    next: u64,
    losses: Losses,
}

impl Path {
    /// Sends as many packets as the window allows, four at most. The pacing rate is asked for and
    /// not applied.
    #[inline]
    fn send(&mut self, now: Instant) {
        for _ in 0..4 {
            if !self.recovery.send(now, self.next, MTU) {
                break;
            }
            self.next += 1;
        }
    }

    /// A frame acknowledges two packets, and now and then not those before them.
    #[inline]
    fn acknowledge(&mut self, now: Instant) {
        self.oldest += self.losses.next((self.next - self.oldest) as usize) as u64;
        let newest = (self.oldest + 2).min(self.next);
        if newest > self.oldest {
            black_box(self.recovery.acknowledge(now, self.oldest..newest));
            self.oldest = newest;
        }
    }
}

/// Paths taking turns.
struct Paths {
    paths: Vec<Path>,
    now: Instant,
}

impl Paths {
    fn new(controller: &str) -> Paths {
        let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).expect("a version quiche has");
        config.set_max_send_udp_payload_size(MTU);
        config.set_cc_algorithm_name(controller).expect("a controller it knows");
        let now = Instant::now();
        let made = |nth| Path { recovery: PathRecovery::new(&config), oldest: 0, next: 0, losses: Losses::of(nth) };
        let mut paths: Vec<Path> = (0..FLOWS).map(made).collect();
        paths.iter_mut().for_each(|path| (0..3).for_each(|_| path.send(now)));
        Paths { paths, now: now + RTT }
    }

    /// A block of frames.
    fn block(&mut self) -> Block {
        let start = self.now;
        let times: [Instant; BLOCK] = std::array::from_fn(|i| start + BETWEEN_ACKS * i as u32);
        self.now = start + BETWEEN_ACKS * BLOCK as u32;
        let clock = Instant::now();
        for (i, &now) in times.iter().enumerate() {
            let path = black_box(&mut self.paths[i % FLOWS]);
            path.acknowledge(now);
            path.send(now);
        }
        let took = clock.elapsed();
        let lost = self.paths.iter_mut().map(|path| path.losses.take()).sum();
        Block::of(took, lost, self.paths.iter().map(|path| path.recovery.cwnd() as f64 / MTU as f64))
    }
}

/// Runs our controllers, each under a name of its own.
struct Adapter;

impl ours::Runs for Adapter {
    fn run<E: ConfiguredController>(&self, engine: E) -> Box<dyn FnMut() -> Block> {
        static NAMES: AtomicUsize = AtomicUsize::new(0);
        let name = format!("measured {}", NAMES.fetch_add(1, Ordering::Relaxed));
        register_as(&name, Definition::new(engine).expect("quiche reports what it needs")).expect("room for a name");
        let mut paths = Paths::new(&name);
        Box::new(move || paths.block())
    }
}

/// A controller without state that always decides the same: its cost is that of quiche's recovery
/// and pacer.
#[derive(Debug)]
struct Idle;

impl Controller for Idle {
    fn on_packet_sent(&mut self, _: &PacketSent) -> bool {
        false
    }

    fn on_congestion_event(&mut self, _: &CongestionEvent<'_>, _: &mut Decision) {}

    fn on_ack_frame(&mut self, _: Instant, _: &dyn Fn(u64) -> bool) -> bool {
        false
    }

    fn on_app_limited(&mut self, _: usize) {}

    fn on_mtu_update(&mut self, _: usize) {}

    fn decision(&self) -> Decision {
        let cwnd = u64::from(FIXED_WINDOW) * MTU as u64;
        let pacing_rate = Some(cwnd * 10_000 / RTT.as_millis() as u64);
        let shared = false;
        Decision { cwnd, pacing_rate, delivery_rate: pacing_rate, shared, missing: None, skip_packet_sent: true }
    }

    fn ssthresh(&self) -> Option<u64> {
        None
    }

    fn state(&self) -> &'static str {
        "idle"
    }

    fn is_in_recovery(&self) -> bool {
        false
    }
}

impl quiche::external::Algorithm for Idle {
    fn start(&self, _: &NewPath) -> Option<Box<dyn Controller>> {
        Some(Box::new(Idle))
    }
}

fn main() {
    const OWN: [(&str, &str); 3] = [("quiche Reno", "reno"), ("quiche CUBIC", "cubic"), ("quiche BBRv2", "bbr2")];
    let own = OWN.map(|(name, controller)| {
        let mut paths = Paths::new(controller);
        Candidate::new(name, name, move || paths.block())
    });
    quiche::external::register("idle", Arc::new(Idle)).expect("room for a name");
    let mut paths = Paths::new("idle");
    let idle = Candidate::new("a hook that does nothing", OWN[1].0, move || paths.block());
    // The cost of the hook and quiche's recovery where the decision never changes.
    let fixed =
        Candidate::new("a window that never changes", OWN[1].0, Adapter.run(FixedWindow::configured(FIXED_WINDOW)));
    let ours = ours::candidates(&Adapter, PROVIDES, OWN.map(|(name, _)| name));
    compare("per ACK frame of two packets, and those sent", own.into_iter().chain([idle, fixed]).chain(ours).collect());
}
