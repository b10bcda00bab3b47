//! The command with a controller of another crate, as a program that links it has it.

use std::fs;
use std::process::ExitCode;

use serde_json::Value;
use sha2::{Digest, Sha256};
use windlass_adapter::NamedController;
use windlass_controllers::parts::base::Base;
use windlass_controllers::{Entry, Flow, Info, Response, WindowController, WindowScheme, parameters};
use windlass_lab::grid::{CODE, Cell};

use crate::command::{Place, SHORT, contents, inflated};

parameters! {
    /// Parameters of [`Mine`].
    pub struct Params {
        @base Base, paper Base::default();
        /// Packets added per window.
        a: f64 = 1.0, paper 2.0, in 0.01, 100.0, unit "packets", source "RFC 9002 §7.3.3";
    }
}

/// NewReno (RFC 9002 §7.3) that adds `a` packets a window.
#[derive(Debug)]
struct Mine;

impl WindowScheme for Mine {
    const INFO: Info = Info { name: "mine", summary: "Reno that adds more", source: "RFC 9002 §7", fallback: None };
    type Params = Params;
    type State = ();
    type Group = ();

    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.params.a * acked / flow.cwnd
    }

    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to(0.5 * flow.cwnd)
    }
}

fn controllers() -> Vec<Entry<NamedController>> {
    vec![NamedController::own::<WindowController<Mine>>("Adds `a` packets a window.\n")]
}

fn mine(args: &[&str]) -> ExitCode {
    // This process adds them once, whatever test comes first.
    static ADDED: std::sync::Once = std::sync::Once::new();
    ADDED.call_once(|| NamedController::add(controllers()).unwrap());
    windlass::cli::run([&["mine"], args].concat(), &[], Vec::new())
}

/// The results of each run of a folder, by controller and stack.
fn results(folder: &str) -> Vec<(String, String, Value)> {
    let read = fs::read_to_string(std::path::Path::new(folder).join("results.json")).unwrap();
    let results: Value = serde_json::from_str(&read).unwrap();
    let text = |run: &Value, key: &str| run[key].as_str().unwrap_or_default().to_owned();
    let runs = results["runs"].as_array().unwrap().iter();
    runs.map(|run| (text(run, "controller"), text(run, "stack"), run["metrics"].clone())).collect()
}

#[test]
fn it_runs_beside_the_catalogue_on_every_stack() {
    let place = Place::new();
    let out = place.path("out");
    let command = ["run", "clean-link", "-c", "mine:a=2", "-c", "mine", "-c", "reno", "--out", &out];
    assert_eq!(mine(&[&command[..], &["--stack", "sim,quinn,noq"]].concat()), ExitCode::SUCCESS);
    let all = results(&out);
    let of = |controller: &str, stack: &str| {
        let mut found = all.iter().filter(|(one, on, _)| one == controller && on == stack);
        found.next().unwrap_or_else(|| panic!("{controller} on {stack}: {all:?}")).2.to_string()
    };
    for stack in ["sim", "quinn", "noq"] {
        assert_eq!(of("mine", stack), of("reno", stack), "with a = 1 it is Reno, on {stack}");
        assert_ne!(of("mine:a=2", stack), of("reno", stack), "{stack}");
    }
    // Its logs name it, with its parameters.
    let logs =
        contents(&std::path::Path::new(&out).join("qlog")).into_iter().map(|(_, log)| String::from_utf8(log).unwrap());
    let mut named: Vec<String> = logs
        .map(|log| log.split_once("\"congestion_controller\":\"").unwrap().1.split('"').next().unwrap().to_owned())
        .collect();
    named.sort();
    assert_eq!(named, ["mine", "mine", "mine", "mine:a=2", "mine:a=2", "mine:a=2", "reno", "reno", "reno"]);
    let page = fs::read_to_string(std::path::Path::new(&out).join("report.html")).unwrap();
    let embedded = page.split_once("id=\"results\">").unwrap().1.split_once("</script>").unwrap().0;
    let embedded = inflated(embedded);
    assert!(embedded.contains("mine:a=2") && embedded.contains("Reno that adds more"));
}

#[test]
fn every_command_knows_its_name_and_parameters() {
    let place = Place::new();
    let [svg, regimes, evaluated] = ["mine.svg", "regimes", "evaluated"].map(|name| place.path(name));
    assert_eq!(mine(&["explain", "mine:a=2", "--svg", &svg]), ExitCode::SUCCESS);
    assert!(fs::read_to_string(&svg).unwrap().contains("cwnd"));
    assert_eq!(mine(&["list", "mine"]), ExitCode::SUCCESS);
    let one = "rate=20M,rtt=50ms,buffer=1,flows=1,path=clean,mtu=1200";
    assert_eq!(mine(&["regimes", "mine:a=2", "--quick", "--only", one, "--out", &regimes]), ExitCode::SUCCESS);
    assert!(fs::read_to_string(std::path::Path::new(&regimes).join("regimes.csv")).unwrap().contains("mine:a=2,sim"));
    let evaluate = ["evaluate", "--scenarios", "clean-link", "--stacks", "sim", "-c", "mine,reno", "--out", &evaluated];
    assert_eq!(mine(&evaluate), ExitCode::SUCCESS);
    assert_eq!(results(&evaluated).len(), 2);
    assert_eq!(mine(&["explain", "mine:b=2"]), ExitCode::from(2));
}

/// Its sources are the program's: what another build of it ran is not taken for its own.
#[test]
fn a_kept_run_belongs_to_the_program_that_made_it() {
    mine(&["list", "mine"]);
    let cell = |controller: &str| Cell {
        name: String::new(),
        scenario: SHORT.to_owned(),
        file: String::new(),
        controller: controller.to_owned(),
        stack: "sim".to_owned(),
        seed: 1,
        reads: String::new(),
        work: 1,
    };
    // The name before it was added, as a controller of another name has it.
    let plain = |controller: &str| {
        let mut hash = Sha256::new();
        for part in [SHORT, controller, "sim", "1", "", CODE, ""] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    assert_eq!(cell("cubic").key(), plain("cubic"));
    assert_ne!(cell("mine:a=2").key(), plain("mine:a=2"));
    assert_eq!(cell("mine:a=2").key(), cell("mine:a=2").key());
}
