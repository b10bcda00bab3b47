//! What the `windlass` binary writes.

use std::path::{Path, PathBuf};

use crate::command::{Place, SHORT, STACKS, contents, inflated, json, names, not_for_quinn, stderr, stdout, windlass};
use serde_json::Value;

#[test]
fn two_processes_write_the_same_bytes() {
    let place = Place::new();
    let short = place.file("short.toml", SHORT);
    let run = |name: &str, jobs: &str| {
        let out = place.path(name);
        let mut args = vec!["run", &short, "-c", "reno,cubic,vegas", "--stack", "sim,quinn"];
        args.extend(["--seed", "7", "--out", &out, "--jobs", jobs]);
        let output = windlass(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        contents(Path::new(&out))
    };
    let (one, other) = (run("one", "1"), run("other", "2"));
    let paths = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&one), paths(&other));
    assert_eq!(one.iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "sqlog")).count(), 12);
    for ((path, bytes), (_, others)) in one.iter().zip(&other) {
        assert!(!bytes.is_empty(), "{} is empty", path.display());
        assert!(bytes == others, "{} differs", path.display());
    }
}

/// Two jobs are two threads of one run, whose network falls into the first and last hop and those between.
#[test]
fn a_run_on_two_threads_writes_the_same_bytes() {
    let mut text = "duration_s = 0.5\nsample_ms = 50\n".to_owned();
    for hop in 0..4 {
        for way in ["forth", "back"] {
            text +=
                &format!("[[link]]\nname = \"{way}-{hop}\"\nrate_mbps = 200\ndelay_ms = 20\nbuffer_packets = 300\n");
        }
    }
    for hops in [vec![0, 1, 2, 3], vec![0], vec![1], vec![2], vec![3]] {
        let links = |way: &str| hops.iter().map(|hop| format!("{way}-{hop}")).collect::<Vec<_>>();
        let (forth, mut back) = (links("forth"), links("back"));
        back.reverse();
        text += &format!("[[flow]]\ncontroller = \"cubic\"\nroute = {forth:?}\nreturn_route = {back:?}\ncount = 2\n");
    }
    let place = Place::new();
    let file = place.file("parking-lot.toml", &text);
    let run = |name: &str, jobs: &str| {
        let out = place.path(name);
        let output = windlass(&["run", &file, "--out", &out, "--jobs", jobs]);
        assert!(output.status.success(), "{}", stderr(&output));
        contents(Path::new(&out))
    };
    let (one, two) = (run("one", "1"), run("two", "2"));
    assert!(one.len() > 10, "{} files", one.len());
    assert!(one == two);
}

#[test]
fn another_seed_is_another_run() {
    let place = Place::new();
    let lossy = place.file("lossy.toml", &SHORT.replace("buffer_bdp = 1", "buffer_bdp = 1\nloss_percent = 2"));
    for stack in STACKS {
        let run = |seed: &str| {
            let output = windlass(&["run", &lossy, "-c", "reno", "--stack", stack, "--seed", seed, "--json"]);
            assert!(output.status.success(), "{}", stderr(&output));
            json(stdout(&output))["runs"].clone()
        };
        let first = run("1");
        assert_eq!(first, run("1"), "{stack}");
        assert_ne!(first, run("2"), "{stack}");
    }
}

/// The value of a CSV cell's column in a run or in one of its flows.
fn looked_up<'a>(run: &'a Value, flow: &'a Value, column: &str) -> &'a Value {
    match column {
        "scenario" | "controller" | "stack" => &run[column],
        "flow" => &flow["name"],
        "flow_controller" => &flow["controller"],
        other => &flow[other],
    }
}

#[test]
fn every_output_shows_the_same_numbers() {
    let place = Place::new();
    let short = place.file("short.toml", SHORT);
    let out = place.path("out");
    let args = ["run", &short, "-c", "reno", "-c", "cubic", "--stack", "sim,quinn", "--json", "--out", &out];
    let output = windlass(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), format!("report: {out}/report.html\n"));
    let read = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).unwrap();
    let text = read("results.json");
    assert_eq!(stdout(&output), text);
    let report = read("report.html");
    let embedded = report.split_once("id=\"results\">").unwrap().1.split_once("</script>").unwrap().0;
    let results = json(&text);
    assert_eq!(json(&inflated(embedded)), results);

    let mut csv = csv::Reader::from_path(Path::new(&out).join("flows.csv")).unwrap();
    let heads = csv.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let mut flows: Vec<(&Value, &Value)> = Vec::new();
    for run in results["runs"].as_array().unwrap() {
        flows.extend(run["flows"].as_array().unwrap().iter().map(|flow| (run, flow)));
    }
    assert_eq!((rows.len(), flows.len()), (8, 8));
    for (row, (run, flow)) in rows.iter().zip(&flows) {
        for (head, cell) in heads.iter().zip(row) {
            match looked_up(run, flow, head) {
                Value::Null => assert_eq!(cell, "", "{head}"),
                Value::String(text) => assert_eq!(cell, text, "{head}"),
                number => assert_eq!(cell.parse::<f64>().ok(), number.as_f64(), "{head}"),
            }
        }
        assert!(flow["goodput_mbps"].as_f64().unwrap() > 0.5, "{flow}");
        assert_eq!(run["stack"] == "quinn", flow["sha256"].is_string(), "real bytes have a checksum");
    }
    let head = read("flow_series.csv").lines().next().map(str::to_owned);
    assert_eq!(head.as_deref(), Some("scenario,controller,stack,flow,time_s,cwnd_packets,rtt_ms,goodput_mbps"));
    for run in results["runs"].as_array().unwrap() {
        let qlogs = run["qlogs"].as_array().unwrap();
        assert_eq!(qlogs.len(), 2);
        for qlog in qlogs {
            let log = std::fs::read(Path::new(&out).join(qlog.as_str().unwrap())).unwrap();
            assert!(log.starts_with(b"\x1e{") && log.ends_with(b"\n"), "{qlog}");
        }
    }
}

#[test]
fn what_a_stack_cannot_run_is_a_row_that_says_why() {
    let place = Place::new();
    let short = place.file("short.toml", SHORT);
    let out = place.path("out");
    let lacking = not_for_quinn();
    let output = windlass(&["evaluate", "-c", &format!("reno,{lacking}"), "--scenarios", &short, "--out", &out]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stderr(&output), "", "no progress bar where there is no terminal");
    assert_eq!(stdout(&output).lines().last(), Some(format!("report: {out}/report.html").as_str()));
    let results = json(&std::fs::read_to_string(Path::new(&out).join("results.json")).unwrap());
    let runs = results["runs"].as_array().unwrap();
    let stacks: std::collections::BTreeSet<&str> = runs.iter().map(|run| run["stack"].as_str().unwrap()).collect();
    assert!(stacks.contains("sim") && stacks.contains("quinn"));
    assert_eq!(runs.len(), 2 * stacks.len());
    let in_quinn = |row: &&Value| row["stack"] == "quinn" && row["controller"] == lacking.as_str();
    let unsupported: Vec<&Value> = runs.iter().filter(in_quinn).filter(|run| run["status"] == "unsupported").collect();
    assert_eq!(unsupported.len(), 1);
    let reason = unsupported[0]["reason"].as_str().unwrap();
    assert!(reason.starts_with(&format!("{lacking} needs ")), "{reason}");
    let standing = results["ranking"].as_array().unwrap().iter().find(in_quinn).expect("a row");
    assert_eq!(standing["rank"], Value::Null);
    assert_eq!(standing["reasons"][0], reason);
}

#[test]
fn a_result_is_replaced_by_the_next_one() {
    let place = Place::new();
    let short = place.file("short.toml", SHORT);
    let out = place.path("out");
    for controller in ["reno", "cubic"] {
        let output = windlass(&["run", &short, "-c", controller, "--out", &out]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(names(&Path::new(&out).join("qlog/short")), ["cubic@sim"]);
    assert_eq!(place.entries(), ["out", "short.toml"]);
    let again = windlass(&["report", &format!("{out}/results.json"), "--out", &place.path("again.html")]);
    assert!(again.status.success(), "{}", stderr(&again));
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(read("again.html") == read("out/report.html"), "the rebuilt report differs");
}
