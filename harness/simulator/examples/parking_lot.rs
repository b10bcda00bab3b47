//! A run on several threads whose speed is measured: paced flows over a parking lot of four hops, a fifth of them over
//! all, the others over one, each with its share; 20 ms and one BDP of buffer a hop, an ACK for every packet.
//! `cargo run --release -p windlass-simulator --example parking_lot -- FLOWS SECONDS THREADS [CONTROLLER]`.

use std::fmt::Write as _;
use std::time::Instant;

use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::Simulation;

const HOPS: usize = 4;
/// Of each flow, Mbit/s.
const SHARE: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flows, seconds, threads, rest @ ..] = &arguments[..] else {
        return Err("usage: parking_lot FLOWS SECONDS THREADS [CONTROLLER]".into());
    };
    let each = flows.parse::<usize>()? / (HOPS + 1);
    // Of those over one hop and those over all.
    let rate = 2 * each * SHARE;
    let mut text = format!("duration_s = {seconds}\n");
    for hop in 0..HOPS {
        for way in ["forth", "back"] {
            let link = format!("rate_mbps = {rate}\ndelay_ms = 10\nbuffer_packets = {}", 34 * each);
            write!(text, "[[link]]\nname = \"{way}-{hop}\"\n{link}\n")?;
        }
    }
    let mut flow = |hops: std::ops::Range<usize>| {
        let forth: Vec<String> = hops.clone().map(|hop| format!("forth-{hop}")).collect();
        let back: Vec<String> = hops.rev().map(|hop| format!("back-{hop}")).collect();
        let route = format!("route = {forth:?}\nreturn_route = {back:?}");
        write!(text, "[[flow]]\ncontroller = \"under-test\"\ncount = {each}\n{route}\n")
    };
    flow(0..HOPS)?;
    for hop in 0..HOPS {
        flow(hop..hop + 1)?;
    }
    let mut scenario = Scenario::read("parking lot", &text, Some(rest.first().map_or("reno", String::as_str)))?;
    scenario.threads = threads.parse()?;
    let simulation = Simulation::new(&scenario)?;
    let (threads, began) = (simulation.threads(), Instant::now());
    let outcome = simulation.finish();
    let took = began.elapsed().as_secs_f64();
    let packets: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
    println!(
        "packets {packets} threads {threads} elapsed {took:.3} million_packets_per_s {:.3}",
        packets as f64 / took / 1e6
    );
    Ok(())
}
