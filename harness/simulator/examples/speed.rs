//! How many data packets the simulator carries per second of CPU time: flows on a 50 ms dumbbell
//! with 10 Mbit/s for each and one BDP of buffer, paced, an ACK for every packet.
//!
//! `cargo bench -p windlass-simulator --bench sim_speed [-- SECONDS [CONTROLLER [FLOWS [MBPS]]]]`

use std::time::Instant;

use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::Simulation;

/// Packets per second of CPU time that ns-2 reaches on this scenario.
const NS2: f64 = 0.63e6;

fn main() {
    // Cargo passes --bench.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number =
        |i: usize, default: u32| arguments.get(i).map_or(default, |text| text.parse().expect("a whole number"));
    let seconds = number(0, 1000);
    let (flows, mbps) = (number(2, 1), number(3, 10));
    let controllers = arguments.get(1).map_or(vec!["reno", "cubic"], |name| vec![name.as_str()]);
    for controller in controllers {
        let text = format!(
            "duration_s = {seconds}\n[dumbbell]\nrate_mbps = {}\nrtt_ms = 50\nbuffer_bdp = 1\n\
             [[flow]]\ncontroller = \"under-test\"\ncount = {flows}\n",
            mbps * flows
        );
        let scenario = match Scenario::read("bench", &text, Some(controller)) {
            Ok(scenario) => scenario,
            Err(error) => panic!("{error}"),
        };
        let simulation = Simulation::new(&scenario).expect("a consistent topology");
        let start = Cpu::now();
        let outcome = simulation.finish();
        let cpu = start.passed();
        let packets: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
        let speed = packets as f64 / cpu;
        println!(
            "{controller}: {flows} flow(s), {seconds} s simulated, {:.1} million packets in {cpu:.2} s of CPU: {:.2} million packets/s, \
             {:.1} x ns-2, {:.0} x real time; utilisation {:.3}, peak memory {:.0} MB",
            packets as f64 / 1e6,
            speed / 1e6,
            speed / NS2,
            scenario.duration.secs() / cpu,
            outcome.queues[0].utilisation,
            peak_memory_mb(),
        );
    }
}

/// CPU time of this process where the system tells (Linux), else elapsed time.
enum Cpu {
    Ticks(f64),
    Wall(Instant),
}

impl Cpu {
    fn now() -> Cpu {
        cpu_seconds().map_or_else(|| Cpu::Wall(Instant::now()), Cpu::Ticks)
    }

    fn passed(&self) -> f64 {
        match self {
            Cpu::Ticks(start) => cpu_seconds().unwrap_or(*start) - start,
            Cpu::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}

/// From the scheduler's statistics: nanoseconds on a CPU.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns / 1e9)
}

fn peak_memory_mb() -> f64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("VmHWM:").map(str::to_owned)))
        .and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok())
        .map_or(0.0, |kb| kb / 1024.0)
}
