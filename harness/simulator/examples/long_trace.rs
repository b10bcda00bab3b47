//! Writes a long trace of a simulated flow, as a JSON text sequence of the canonical
//! profile with every packet and every change of a metric:
//! `cargo run --release -p windlass-simulator --example long_trace -- FILE MEGABYTES`. Equal sizes,
//! equal bytes.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windlass_controllers::Span;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{QlogSettings, Simulation};

/// A flow that no trace outlasts.
const SCENE: &str = "
duration_s = 1000000
sample_ms = 1000000
[dumbbell]
rate_mbps = 100
rtt_ms = 40
buffer_bdp = 1
loss_percent = 0.01
[[flow]]
controller = \"cubic\"
";

/// A file whose size is known while it is written.
struct Counted {
    file: File,
    bytes: Arc<AtomicU64>,
}

impl Write for Counted {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.file.write(data)?;
        self.bytes.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let usage = "usage: long_trace FILE MEGABYTES";
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or(usage)?;
    let megabytes: u64 = arguments.next().ok_or(usage)?.parse().map_err(|_| usage)?;
    let scenario = Scenario::read("long trace", SCENE, None)?;
    let mut simulation = Simulation::new(&scenario)?;
    let bytes = Arc::new(AtomicU64::new(0));
    let writer = Counted { file: File::create(path)?, bytes: Arc::clone(&bytes) };
    let trace = simulation.qlog(0, writer, QlogSettings::default());
    let mut until = simulation.now();
    while bytes.load(Ordering::Relaxed) < megabytes * 1_000_000 {
        until += Span::from_millis(10);
        simulation.run_until(until);
    }
    drop(simulation);
    trace.finish()?;
    Ok(())
}
