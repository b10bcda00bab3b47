//! A run whose speed is measured: paced flows over a 50 ms dumbbell with one BDP of buffer, an ACK for every packet.
//! `cargo run --release -p windlass-simulator --example speed -- FLOWS MBPS SECONDS [TRACES [CONTROLLER]]`, where each
//! flow has its share of MBPS, and TRACES is a directory for a qlog file of each with every packet.

use std::fs::{self, File};

use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{QlogSettings, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flows, mbps, seconds, rest @ ..] = &arguments[..] else {
        return Err("usage: speed FLOWS MBPS SECONDS [TRACES [CONTROLLER]]".into());
    };
    let text = format!(
        "duration_s = {seconds}\n[dumbbell]\nrate_mbps = {mbps}\nrtt_ms = 50\nbuffer_bdp = 1\n\
         [[flow]]\ncontroller = \"under-test\"\ncount = {flows}\n"
    );
    let scenario = Scenario::read("speed", &text, Some(rest.get(1).map_or("reno", String::as_str)))?;
    let mut simulation = Simulation::new(&scenario)?;
    let mut traces = Vec::new();
    if let Some(directory) = rest.first() {
        fs::create_dir_all(directory)?;
        for number in 0..scenario.flows.len() {
            let file = File::create(format!("{directory}/{number}.sqlog"))?;
            traces.push(simulation.qlog(number, file, QlogSettings::default()));
        }
    }
    let outcome = simulation.finish();
    for trace in traces {
        trace.finish()?;
    }
    let packets: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
    println!("packets {packets} utilisation {:.3}", outcome.queues[0].utilisation);
    Ok(())
}
