//! What one ACK costs each controller of the catalogue: `cargo bench -p windlass-controllers`,
//! with `-- NAME…` for some of them only.
//!
//! A flow in congestion avoidance, 2000 packets at 40 ms: an ACK for two packets every
//! 40 µs, each with an RTT sample, and one loss every 20 000 ACKs. The least of many short
//! passes is printed, for a step alone and for a step and a decision.

use std::hint::black_box;
use std::time::Instant;

use windlass_controllers::event::{Delivery, LossTrigger, PacketsAcked, PacketsLost, RttSample};
use windlass_controllers::parts::window_controller::WindowController;
use windlass_controllers::{
    Algorithm, AnyState, ConfiguredController, Event, EventKind, Path, Span, Static, Table, Time, View, schemes,
};

const MTU: u64 = 1200;
const ACKS: u64 = 40_000;
const PASSES: usize = 150;
const RTT: Span = Span::from_millis(40);

fn acked(i: u64, now: Time) -> Event {
    let in_flight = 2000 * MTU;
    let latest = Span(RTT.0 + (i % 64) * 1000);
    let rtt = RttSample::new(latest, latest, Span(latest.0 / 8), RTT);
    let delivery = Delivery::new((2 * MTU * i).saturating_sub(in_flight), Time(now.0 - RTT.0), Time(now.0 - 2 * RTT.0));
    let acked = PacketsAcked::new(2 * MTU, 2, Time(now.0 - RTT.0), in_flight - 2 * MTU, 2 * MTU * i)
        .with_newest_pn(Some(2 * i))
        .with_newest_in_flight(Some(in_flight))
        .with_in_flight_before(in_flight)
        .with_rtt(Some(rtt))
        .with_delivery(Some(delivery));
    Event::new(now, EventKind::PacketsAcked(acked))
}

fn lost(now: Time) -> Event {
    let lost = PacketsLost::new(MTU, 1, Time(now.0 - RTT.0 / 2), 1999 * MTU)
        .with_in_flight_before(2000 * MTU)
        .with_trigger(LossTrigger::PacketThreshold);
    Event::new(now, EventKind::PacketsLost(lost))
}

/// One pass over the script; events are made on the spot, as an adapter makes them, so
/// that the cost of fetching them from memory is not the controller's.
fn pass<E: ConfiguredController>(engine: &E, decide: bool) -> f64 {
    let mut group = engine.group();
    let mut state = engine.start(&Path::new(Time::ZERO, MTU as u32, 1));
    let began = Instant::now();
    for i in 0..ACKS {
        let now = Time(1_000_000_000 + i * 40_000);
        let event = if i % 20_000 == 1000 { lost(now) } else { acked(i, now) };
        engine.step(&mut state, Table::solo(&mut group), black_box(&event));
        if decide {
            black_box(engine.decide(&state, View::solo(&group)));
        }
    }
    black_box(state);
    began.elapsed().as_nanos() as f64 / ACKS as f64
}

fn measure<E: ConfiguredController>(label: &str, engine: &E) {
    let least = |decide| (0..PASSES).map(|_| pass(engine, decide)).fold(f64::INFINITY, f64::min);
    println!("{label:<32} {:>7.1} ns {:>7.1} ns {:>6} B", least(false), least(true), size_of::<E::State>());
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("{:<32} {:>10} {:>10} {:>8}", "controller", "step", "+ decide", "state");
    for entry in Algorithm::ALL.iter().filter(|e| wanted.is_empty() || wanted.iter().any(|w| w == e.name)) {
        measure(entry.name, &(entry.default)());
        if let Ok(paper) = Algorithm::read(&format!("{}:profile=paper", entry.name)) {
            measure(&format!("{}:profile=paper", entry.name), &paper);
        }
    }
    if wanted.is_empty() {
        println!("known when compiling, without the catalogue's match:");
        measure("reno", &Static::<WindowController<schemes::reno::Reno>>(Default::default()));
    }
    println!("a catalogue state is {} B", size_of::<AnyState>());
}
