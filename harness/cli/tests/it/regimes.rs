//! `windlass regimes`: a map, a table with every number, a page, and the command that runs one again.

use std::fs;
use std::path::Path;

use crate::command::{Place, stderr, stdout, windlass};

const ONE: &str = "rate=20M,rtt=50ms,buffer=0,flows=1,path=clean,mtu=1200";

/// What is outside is named with the command that shows it again; what was run is not run again.
#[test]
fn a_map_names_what_is_outside() {
    let place = Place::new();
    let out = place.path("out");
    let run = ["regimes", "copa:profile=paper", "reno", "--quick", "--only", ONE, "--out", &out];
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    assert!(text.starts_with("2 runs, 2 of them made now"), "{text}");
    assert!(text.contains("copa:profile=paper on sim: 1 outside"), "{text}");
    assert!(text.contains("reno on sim: 0 outside, 0 known limits, 1 inside"), "{text}");
    assert!(text.contains(&format!("outside: windlass regimes copa:profile=paper --quick --only {ONE}")), "{text}");
    let again = windlass(&run);
    assert!(stdout(&again).starts_with("2 runs, 0 of them made now"), "{}", stdout(&again));
    assert_eq!(stdout(&again).split_once('\n').unwrap().1, text.split_once('\n').unwrap().1);

    let csv = fs::read_to_string(Path::new(&out).join("regimes.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("controller,stack,rate,rtt,buffer,flows,path,mtu,verdict,"));
    assert!(lines[1].starts_with("copa:profile=paper,sim,20M,50ms,0,1,clean,1200,outside,"));
    assert!(fs::read_to_string(Path::new(&out).join("regimes.html")).unwrap().contains("id=\"regimes\""));

    let checked = windlass(&[&run[..], &["--check", "0"]].concat());
    assert_eq!(checked.status.code(), Some(1));
    assert!(stderr(&checked).contains("1 runs are outside of their bounds, at most 0 may be"));
    assert!(windlass(&[&run[..], &["--check", "1"]].concat()).status.success());
}

/// The scenario of a regime is one that `run` takes.
#[test]
fn a_regime_is_a_scenario_file() {
    let place = Place::new();
    let file = place.path("one.toml");
    let printed = windlass(&["regimes", "--quick", "--scenario", "--only", ONE]);
    fs::write(&file, stdout(&printed)).unwrap();
    let run = windlass(&["run", &file, "--controller", "reno"]);
    assert!(run.status.success() && stdout(&run).contains("regime, reno, sim"), "{}", stderr(&run));
}

#[test]
fn what_is_no_regime_is_said() {
    let place = Place::new();
    let out = place.path("out");
    for (args, expected) in [
        (vec!["--only", "rate=2G"], "--only: rate cannot be \"2G\"; expected 64k"),
        (vec!["--only", "rtt=1ms", "--scenario"], "regimes have these values; name all six"),
        (vec!["--quick", "--only", "rate=100G,rtt=2s,buffer=10,flows=100,path=ack2"], "no regime of the plan has"),
        (vec!["--stack", "quin"], "unknown stack \"quin\""),
        (vec!["cobic"], "unknown controller \"cobic\" (did you mean"),
    ] {
        let output = windlass(&[&["regimes", "--out", &out], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
    assert!(place.entries().is_empty());
}
