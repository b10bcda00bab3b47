//! A program in C that sends by libwindlass, over a link of its own, beside the simulator.

use std::path::{Path, PathBuf};
use std::process::Command;

use windlass_controllers::{Algorithm, Signals};
use windlass_network::Stream;
use windlass_simulator::sim::Simulation;

use crate::common::{each, scenario, watched};

const SECONDS: u64 = 30;

/// What a command prints, on standard output and on standard error.
fn run(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{command:?}\n{err}");
    (out, err)
}

/// `libwindlass.c`, compiled with the static library that belongs to this test.
fn compiled(directory: &Path) -> PathBuf {
    // It is a dependency that Rust code never names.
    let _ = windlass_c::windlass_abi as extern "C" fn() -> u32;
    let program = directory.join("sender");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = std::env::current_exe().unwrap().with_file_name("libwindlass_c.a");
    let mut compile = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
    compile.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]);
    compile.arg(root.join("../../adapters/abi/include")).arg(root.join("tests/it/libwindlass.c")).arg(library);
    run(compile.args(["-lpthread", "-ldl", "-lm", "-o"]).arg(&program));
    program
}

/// What the program prints of `controller`, whose ACKs say when packets arrived if `one_way` is "1".
fn sender(program: &Path, controller: &str, factor: &str, one_way: &str) -> (String, String) {
    let seed = Stream::new(1, "controller flow1").integer().to_string();
    let end = (SECONDS * 1_000_000_000).to_string();
    run(Command::new(program).args([controller, &seed, "20000000", "20000000", "40", &end, factor, one_way]))
}

/// The line of the fates of packets.
fn in_c(program: &Path, controller: &str, factor: &str) -> String {
    sender(program, controller, factor, "1").0.lines().next().unwrap().to_owned()
}

/// The same of the simulator.
fn simulated(controller: &str) -> String {
    let text = format!(
        "duration_s = {SECONDS}\nseed = 1\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_packets = 40\n\
         [[flow]]\ncontroller = \"under-test\"\n"
    );
    let (mut simulation, log) = watched(Simulation::new(&scenario(&text, controller)).unwrap());
    simulation.run_until(simulation.scenario().end());
    let arrived = simulation.counts(0).arrivals.packets;
    let outcome = simulation.finish();
    let (flow, queue) = (&outcome.flows[0], &outcome.queues[0]);
    let hash = log
        .sent()
        .iter()
        .flat_map(|(at, _)| at.0.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!(
        "sent {} lost {} dropped {} arrived {arrived} departures {hash:016x}",
        flow.packets_sent, flow.packets_lost, queue.packets_dropped
    )
}

/// What the program reports to a controller.
const REPORTED: Signals = Signals::ALL
    .without(Signals::ECN)
    .without(Signals::CE_COUNT)
    .without(Signals::QUEUEING_TIME)
    .without(Signals::CONGESTION_INDICATION)
    .without(Signals::PROBE_TRAINS)
    .without(Signals::DATA_TRAINS);

/// `RFC 9002 §7.7`: the pacing rate of a window is the same everywhere.
#[test]
fn a_sender_on_libwindlass_sends_what_the_simulator_does_to_the_packet() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path());
    let reported = |name: &str| Algorithm::named(name).is_some_and(|controller| REPORTED.contains(controller.needs()));
    let controllers: Vec<&str> = Algorithm::ALL.iter().map(|entry| entry.name).filter(|name| reported(name)).collect();
    assert!(["cubic", "reno", "bbr", "copa"].iter().all(|name| controllers.contains(name)) && controllers.len() > 30);
    let differ: Vec<String> = each(&controllers, |controller| {
        let [in_c, simulated] = [in_c(&program, controller, "1"), simulated(controller)];
        (in_c != simulated).then(|| format!("{controller}\n  in C {in_c}\n  simulated {simulated}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    for controller in ["cubic", "reno"] {
        assert_ne!(in_c(&program, controller, "0.625"), simulated(controller), "{controller} at 1.25 in slow start");
        assert_ne!(in_c(&program, controller, "0.999"), simulated(controller), "{controller} a bit too slow");
    }
}

/// A stack that promises one-way delays and has none: the flow goes on with the fallback and says so.
#[test]
fn one_way_delays_that_do_not_come_are_noticed_over_a_link() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(directory.path());
    for (controller, least) in [("ledbat", 0.7), ("tcp-lp", 0.3)] {
        let (out, err) = sender(&program, controller, "1", "0");
        let (counts, name) = out.trim().split_once('\n').unwrap();
        assert_eq!(name, format!("{controller}:fallback=on"));
        let line = format!(
            "windlass: {controller} needs one-way delays, but none came in 8 round trips; the flow starts anew"
        );
        assert!(err.starts_with(&line) && err.lines().count() == 1, "{err}");
        let arrived: f64 = counts.split_once(" arrived ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
        let most = 20e6 * SECONDS as f64 / (8.0 * 1228.0);
        assert!(arrived > least * most, "{controller}: {arrived} of {most}");
        let (out, err) = sender(&program, controller, "1", "1");
        assert!(out.ends_with(&format!("\n{controller}\n")) && err.is_empty(), "where they come it stays: {out}{err}");
    }
}
