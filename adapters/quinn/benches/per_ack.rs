//! Cost of one ACK frame that acknowledges two packets: quinn's own controllers beside
//! ours, as bare functions, through the catalogue's `match`, and through the adapter.
//!
//! The candidates take turns in short rounds and each is compared with its baseline in
//! the same round, so that a noisy machine disturbs both sides alike; the table gives the
//! median over the rounds. `cargo bench -p windlass-quinn --bench per_ack`.

#[path = "../../common/bench/estimator.rs"]
mod estimator;
#[path = "../../common/bench/native.rs"]
mod native;
#[path = "../../common/bench/rounds.rs"]
mod rounds;

mod dialect;

pub use quinn_proto as proto;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use native::{BETWEEN_ACKS, FLOWS, LOSS_EVERY, MTU, Native, RTT};
use quinn_proto::congestion::{self, ControllerFactory};
use rounds::{BLOCK, Candidate, compare};
use windlass_controllers::event::{Acked, LossTrigger, Lost, Rtt};
use windlass_controllers::schemes::{cubic, reno};
use windlass_controllers::{Algorithm, Controller, Engine, Event, Fixed, Path, Span, Table, Time, View, What};

/// The same frame as one event for an engine.
struct Ours<E: Engine> {
    engine: E,
    flows: Vec<(E::State, E::Group)>,
    now: Time,
    pn: u64,
}

impl<E: Engine> Ours<E> {
    fn new(engine: E) -> Ours<E> {
        let now = Time(1_000_000_000);
        let path = Path { now, mtu: MTU as u32, seed: 1 };
        let flows = (0..FLOWS).map(|_| (engine.start(&path), engine.group())).collect();
        Ours { engine, flows, now, pn: 0 }
    }

    fn block(&mut self) -> Duration {
        let rtt_span = Span(RTT.as_nanos() as u64);
        let between = BETWEEN_ACKS.as_nanos() as u64;
        let start = self.now;
        let times: [(Time, Time); BLOCK] = std::array::from_fn(|i| {
            let now = start + Span(between * i as u64);
            (now, Time(now.0 - rtt_span.0))
        });
        self.now = start + Span(between * BLOCK as u64);
        let clock = Instant::now();
        for (i, &(now, newest_sent_at)) in times.iter().enumerate() {
            self.pn += 2;
            let i = i % FLOWS;
            let rtt =
                Rtt { latest: rtt_span, smoothed: rtt_span, variation: Span(0), min: rtt_span, ack_delay: Span::ZERO };
            let acked = Acked {
                bytes: 2 * MTU,
                packets: 2,
                fresh_bytes: 2 * MTU,
                newest_sent_at,
                newest_pn: Some(self.pn),
                newest_in_flight: None,
                in_flight_before: 102 * MTU,
                in_flight: 100 * MTU,
                delivered: self.pn * MTU,
                app_limited: false,
                rtt: Some(rtt),
                one_way: None,
                queueing: None,
                congestion_indication: None,
                delivery: None,
            };
            let event = Event { now, what: What::Acked(acked) };
            self.step(i, &event);
            if self.pn.is_multiple_of(2 * LOSS_EVERY) {
                let lost = Lost {
                    bytes: MTU,
                    packets: 1,
                    newest_sent_at,
                    newest_pn: None,
                    in_flight_before: 100 * MTU,
                    in_flight: 99 * MTU,
                    trigger: LossTrigger::PacketThreshold,
                    transmissions: 1,
                };
                self.step(i, &Event { now, what: What::Lost(lost) });
            }
            let (state, group) = &self.flows[i];
            black_box(self.engine.decide(state, View::solo(group)).cwnd);
        }
        clock.elapsed()
    }

    #[inline]
    fn step(&mut self, i: usize, event: &Event) {
        let engine = black_box(&self.engine);
        let (state, group) = &mut self.flows[i];
        engine.advance(state, Table::solo(group), event);
    }
}

fn fixed<C: Controller + std::fmt::Debug + 'static>() -> Ours<Fixed<C>> {
    Ours::new(Fixed(C::Params::default()))
}

fn main() {
    let rtt = estimator::settled(RTT);
    let quinn = |factory: Arc<dyn ControllerFactory>| Native::new(factory, rtt);
    let adapter = |name: &str| quinn(Arc::new(windlass_quinn::Factory::named(name).expect("runs on quinn")));
    let mut quinn_reno = quinn(Arc::new(congestion::NewRenoConfig::default()));
    let mut quinn_cubic = quinn(Arc::new(congestion::CubicConfig::default()));
    let (mut core_reno, mut core_cubic) = (fixed::<reno::Reno>(), fixed::<cubic::Cubic>());
    let named = |name: &str| Ours::new(Algorithm::named(name).expect("in the catalogue"));
    let mut catalogue: Vec<(String, Ours<Algorithm>)> =
        Algorithm::ALL.iter().map(|entry| (format!("{}, by name", entry.name), named(entry.name))).collect();
    let (mut adapter_reno, mut adapter_cubic) = (adapter("reno"), adapter("cubic"));

    let mut candidates = vec![
        Candidate::new("quinn NewReno", 0, || quinn_reno.block()),
        Candidate::new("quinn Cubic", 1, || quinn_cubic.block()),
        Candidate::new("reno, bare functions", 0, || core_reno.block()),
        Candidate::new("cubic, bare functions", 1, || core_cubic.block()),
        Candidate::new("reno, through the quinn adapter", 0, || adapter_reno.block()),
        Candidate::new("cubic, through the quinn adapter", 1, || adapter_cubic.block()),
    ];
    for (name, ours) in &mut catalogue {
        let baseline = usize::from(!name.starts_with("reno"));
        candidates.push(Candidate::new(name, baseline, || ours.block()));
    }
    compare(candidates);
}
