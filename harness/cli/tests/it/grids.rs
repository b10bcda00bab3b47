//! Commands that run a grid: `harm`, `start-up`, `rfc9743` and `regimes`, each a table, a CSV with every number and a page;
//! `send-rate` and `frame-delay`, a table.

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
    assert!(lines[0].starts_with("controller,stack,rate,rtt,buffer,flows,path,mtu,assessment,"));
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

#[test]
fn schemes_are_compared_on_a_path() {
    let place = Place::new();
    let out = place.path("out");
    let run =
        ["start-up", "reno:slow_start=hystart++,lss=50,cubic+resume", "--rtt", "20", "--buffer", "1", "--out", &out];
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    assert!(text.starts_with("20 runs, 20 of them made now"), "{text}");
    assert!(text.contains("\n50 Mbit/s, RTT 20 ms, buffer 1 BDP\n"), "{text}");
    for scheme in ["reno:slow_start=hystart++,lss=50 ", "cubic+resume "] {
        let line = text.lines().find(|line| line.starts_with(scheme)).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(line.matches(" / ").count(), 7, "{line}");
        // Alone the path is filled; beside another flow half of it need not be.
        assert!(!line.contains("– / "), "{line}");
    }
    let again = windlass(&run);
    assert!(stdout(&again).starts_with("20 runs, 0 of them made now"), "{}", stdout(&again));
    let csv = fs::read_to_string(Path::new(&out).join("start-up.csv")).unwrap();
    assert_eq!(csv.lines().count(), 21);
    let rates = windlass(&[&run[..], &["--rate", "25,50"]].concat());
    let text = stdout(&rates);
    assert!(text.starts_with("40 runs, 20 of them made now"), "{text}");
    assert!(text.contains("\nRTT 20 ms, buffer 1 BDP: means of 2 rates\n"), "{text}");
    assert!(fs::read_to_string(Path::new(&out).join("start-up.html")).unwrap().contains("id=\"start-up\""));
}

/// In real time every number varies, so that turns have a median and an interval.
#[test]
fn turns_over_sockets_are_medians() {
    let place = Place::new();
    let out = place.path("out");
    let path = ["--link", "steady", "--rtt", "20", "--buffer", "10", "--rate", "5"];
    let run =
        [&["start-up", "cubic,reno", "--stack", "quinn", "--wire", "--turns", "6", "--out", &out], &path[..]].concat();
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    assert!(text.starts_with("12 runs, 12 of them made now"), "{text}");
    assert!(text.contains("\n5 Mbit/s, RTT 20 ms, buffer 10 BDP\n"), "{text}");
    for scheme in ["cubic", "reno"] {
        let line = text.lines().find(|line| line.starts_with(scheme)).unwrap_or_else(|| panic!("{text}"));
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..3], [scheme, "quinn-wire", "6"], "{text}");
        assert_eq!(line.matches(" to ").count(), 2, "{text}");
    }
    let csv = fs::read_to_string(Path::new(&out).join("start-up.csv")).unwrap();
    assert_eq!(csv.lines().count(), 13, "a line for each turn: {csv}");
    let again = windlass(&run);
    assert!(stdout(&again).starts_with("12 runs, 0 of them made now"), "{}", stdout(&again));
}

#[test]
fn what_cannot_be_compared_is_said() {
    let place = Place::new();
    let out = place.path("out");
    for (args, expected) in [
        (vec!["cobic"], "unknown controller \"cobic\" (did you mean"),
        (vec!["native:cubic+resume"], "native:cubic+resume: a stack's own controller does not resume"),
        (vec!["--link", "wifi"], "--link wifi: expected steady, policer, batches, cellular"),
        (vec!["--link", "policer", "--rtt", "20"], "no path has all of these; links other than steady have --rtt 100"),
        (vec!["--rtt", "21"], "--rtt 21: expected 20, 100, 600"),
        (vec!["--rate", "50,0"], "--rate 0: expected a rate in Mbit/s, 0.1 to 100000"),
        (vec!["--buffer", "2"], "--buffer 2: expected 0.1, 1, 10, 100"),
        (vec!["--stack", "quin"], "unknown stack \"quin\""),
    ] {
        let output = windlass(&[&["start-up", "--out", &out], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
    assert!(place.entries().is_empty());
}

#[test]
fn a_controller_is_evaluated_on_a_path() {
    let place = Place::new();
    let out = place.path("out");
    let some = ["--quick", "--path", "iot", "--criterion", "queue,fairness,cubic-goodput", "--out", &out];
    let run = [&["rfc9743", "copa,cubic"], &some[..]].concat();
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    assert!(text.starts_with("27 runs, 27 of them made now"), "{text}");
    let cubic = text.split_once("\ncubic on sim\n").unwrap_or_else(|| panic!("{text}")).1;
    for criterion in ["5.1.2  queue ", "5.1.4  fairness ", "5.2.1  cubic-goodput "] {
        let line = cubic.lines().find(|line| line.starts_with(criterion)).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(
            line.split_whitespace().skip(2).collect::<Vec<_>>(),
            ["–", "–", "1", "–", "–"],
            "CUBIC bounds itself"
        );
    }
    assert!(text.contains("§7.10 Multipath Transport: a controller here has one path"), "{text}");
    let again = windlass(&[&run[..], &["--markdown"]].concat());
    assert!(stdout(&again).starts_with("| § | criterion | `copa` | `cubic` |\n"), "{}", stdout(&again));
    let csv = fs::read_to_string(Path::new(&out).join("rfc9743.csv")).unwrap();
    assert_eq!(csv.lines().count(), 7);
    assert!(fs::read_to_string(Path::new(&out).join("rfc9743.html")).unwrap().contains("id=\"rfc9743\""));
}

#[test]
fn what_does_not_exist_is_said() {
    let place = Place::new();
    let out = place.path("out");
    for (args, expected) in [
        (vec!["cobic"], "unknown controller \"cobic\" (did you mean"),
        (vec!["cubic", "--path", "moon"], "--path moon: expected tail-drop, shallow"),
        (vec!["cubic", "--criterion", "beauty"], "--criterion beauty: expected overload, outage"),
        (vec!["cubic", "--stack", "quin"], "unknown stack \"quin\""),
    ] {
        let output = windlass(&[&["rfc9743", "--out", &out], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
    assert!(place.entries().is_empty());
}

#[test]
fn a_controller_is_held_against_what_is_deployed() {
    let place = Place::new();
    let out = place.path("out");
    let run = ["harm", "ledbat++", "--out", &out];
    let first = windlass(&run);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    // Three alone and six pairs at eight places.
    assert!(text.starts_with("72 runs, 72 of them made now"), "{text}");
    for name in ["reno", "cubic", "ledbat++"] {
        assert!(text.contains(&format!("\n{name}: Safe to deploy against Reno and CUBIC:")), "{text}");
    }
    let again = windlass(&[&run[..], &["--markdown"]].concat());
    assert!(stdout(&again).starts_with("* `reno`: Safe"), "{}", stdout(&again));
    let csv = fs::read_to_string(Path::new(&out).join("harm.csv")).unwrap();
    assert!(csv.starts_with(
        "stack,measure,rate_mbps,buffer_bdp,queue,to,reno,cubic,ledbat++\nsim,goodput,8,1,tail-drop,reno,"
    ));
    assert_eq!(csv.lines().count(), 49);
    assert!(fs::read_to_string(Path::new(&out).join("harm.html")).unwrap().contains("id=\"harm\""));
    // Something else is deployed: three alone and three pairs, all of which are there.
    let against = windlass(&["harm", "reno,cubic,ledbat++", "--against", "ledbat++", "--out", &out]);
    let text = stdout(&against);
    assert!(text.starts_with("48 runs, 0 of them made now"), "{text}");
    assert!(text.contains("\nledbat++: Safe to deploy against ledbat++:"), "{text}");
    let csv = fs::read_to_string(Path::new(&out).join("harm.csv")).unwrap();
    assert!(csv.contains("\nsim,goodput,8,1,tail-drop,reno,,,"), "pairs without it are not run: {csv}");
}

#[test]
fn estimates_follow_the_bottleneck() {
    let place = Place::new();
    let out = place.path("out");
    let done = windlass(&["send-rate", "reno,cubic", "--stack", "sim", "--out", &out]);
    assert!(done.status.success(), "{}", stderr(&done));
    let text = stdout(&done);
    for name in ["reno", "cubic"] {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(line.matches(" ms").count() + line.matches("never").count(), 4, "{line}");
    }
    let lacks = windlass(&["send-rate", "bbr", "--stack", "quinn", "--out", &out]);
    assert!(stdout(&lacks).contains("–: bbr needs controller-driven pacing"), "{}", stdout(&lacks));
    let wrong = windlass(&["send-rate", "cobic", "--out", &out]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("unknown controller \"cobic\""), "{}", stderr(&wrong));
}

#[test]
fn frames_wait_in_the_buffer_that_a_flow_beside_them_fills() {
    let place = Place::new();
    let out = place.path("out");
    let done = windlass(&["frame-delay", "copa", "--beside", "cubic", "--stack", "sim,quinn", "--out", &out]);
    assert!(done.status.success(), "{}", stderr(&done));
    let text = stdout(&done);
    for stack in ["sim", "quinn"] {
        let line = text.lines().find(|line| line.starts_with("copa") && line.contains(stack));
        let line = line.unwrap_or_else(|| panic!("{text}"));
        assert_eq!(line.matches('%').count(), 7, "{line}");
    }
    let lacks = windlass(&["frame-delay", "reno", "--stack", "quinn", "--beside", "bbr", "--out", &out]);
    assert!(stdout(&lacks).contains("–: bbr needs controller-driven pacing"), "{}", stdout(&lacks));
    let wrong = windlass(&["frame-delay", "--beside", "cobic", "--out", &out]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("unknown controller \"cobic\""), "{}", stderr(&wrong));
}

#[test]
fn frames_are_objects_of_groups_that_a_timeout_drops() {
    let place = Place::new();
    let out = place.path("out");
    let done =
        windlass(&["frame-delay", "copa", "--group-order", "descending", "--delivery-timeout", "500", "--out", &out]);
    assert!(done.status.success(), "{}", stderr(&done));
    let text = stdout(&done);
    assert!(text.contains("share of dropped ones"), "{text}");
    let line = text.lines().find(|line| line.starts_with("copa")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(line.matches('%').count(), 14, "late and dropped ones: {line}");
    let wrong = windlass(&["frame-delay", "copa", "--delivery-timeout", "500", "--out", &out]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("--group-order"), "{}", stderr(&wrong));
}
