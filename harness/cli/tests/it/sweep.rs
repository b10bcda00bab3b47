//! `windlass sweep`: a plan, its cells in a store, one dataset; killed, shared and told about.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::command::{Place, start, stderr, stdout, windlass};

/// 60 cells of some hundredths of a second.
const PLAN: &str = "controllers = [\"reno\", { name = \"copa\", delta = [0.1, 0.5] }]\nseeds = 5\n\
                    [axes]\n\"dumbbell.rate_mbps\" = [5, 10]\n\"dumbbell.rtt_ms\" = [10, 50]\n\
                    [scenario]\nduration_s = 10\nsample_ms = 100\n[scenario.dumbbell]\nbuffer_bdp = 1\n\
                    [[scenario.flow]]\ncontroller = \"under-test\"\n";

const DATASET: [&str; 3] = ["runs.csv", "flows.csv", "queues.csv"];

fn dataset(out: &str) -> [String; 3] {
    DATASET.map(|name| fs::read_to_string(Path::new(out).join(name)).unwrap())
}

/// The records of `out` and when each was written.
fn records(out: &str) -> Vec<(std::ffi::OsString, std::time::SystemTime)> {
    let Ok(entries) = fs::read_dir(Path::new(out).join("cache")) else { return Vec::new() };
    let files = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
    let mut all: Vec<_> =
        files.map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap())).collect();
    all.sort();
    all
}

/// A small generator: when a process is killed.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// The process is killed again and again; what was done then is not done again, and the dataset is that of an undisturbed run.
#[test]
fn a_sweep_that_is_killed_goes_on_where_it_was() {
    let place = Place::new();
    let plan = place.file("plan.toml", PLAN);
    let [whole, killed] = ["whole", "killed"].map(|name| place.path(name));
    let first = windlass(&["sweep", &plan, "--out", &whole]);
    assert!(first.status.success(), "{}", stderr(&first));
    let text = stdout(&first);
    assert!(
        text.starts_with("60 cells: 2 of dumbbell.rate_mbps × 2 of dumbbell.rtt_ms × 3 of controller × 5 of seed\n"),
        "{text}"
    );
    assert!(
        text.contains("\n0 done, 0 failed, 60 missing\nleft: about ") && text.contains("\n60 cells run now: "),
        "{text}"
    );

    let mut random = 7;
    for _ in 0..8 {
        let before = records(&killed);
        let mut child = start(&["sweep", &plan, "--out", &killed, "--jobs", "2"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + next(&mut random) % 150));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = records(&killed);
        assert!(before.iter().all(|record| after.contains(record)), "a record was written twice");
    }
    let before = records(&killed);
    // Two processes at once, of which one has all cells.
    let mut beside =
        start(&["sweep", &plan, "--out", &killed, "--shard", "2/3"]).stdout(Stdio::null()).spawn().unwrap();
    let last = windlass(&["sweep", &plan, "--out", &killed]);
    assert!(last.status.success() && beside.wait().unwrap().success(), "{}", stderr(&last));
    assert!(before.iter().all(|record| records(&killed).contains(record)));
    assert_eq!(records(&killed).len(), 60);
    let collected = windlass(&["sweep", "collect", &plan, "--out", &killed]);
    assert!(collected.status.success(), "{}", stderr(&collected));
    assert_eq!(dataset(&killed), dataset(&whole));
    assert_eq!(dataset(&whole)[0].lines().count(), 61);
}

#[test]
fn shares_fill_one_store_and_status_tells_what_is_left() {
    let place = Place::new();
    let plan = place.file("plan.toml", &PLAN.replace("seeds = 5", "seeds = 1"));
    let out = place.path("out");
    let sweep = |args: &[&str]| windlass(&[&["sweep"], args, &["--out", &out]].concat());
    let told = sweep(&[&plan, "--dry-run"]);
    assert!(stdout(&told).contains("12 missing\nleft: about "), "{}", stdout(&told));
    assert!(stdout(&sweep(&["status", &plan])).contains("\n0 done, 0 failed, 12 missing\n"));
    assert!(!Path::new(&out).exists(), "what only tells makes nothing");
    assert!(sweep(&[&plan, "--shard", "1/4"]).status.success());
    let status = sweep(&["status", &plan]);
    assert!(status.status.success(), "{}", stderr(&status));
    assert!(stdout(&status).contains("\n3 done, 0 failed, 9 missing\n"), "{}", stdout(&status));
    assert!(stdout(&status).contains("reckoned by the cells that are done"), "{}", stdout(&status));
    assert_eq!(stdout(&sweep(&["status", &plan, "--shards", "4"])), "2,3,4\n");
    let part = sweep(&["collect", &plan]);
    assert_eq!((part.status.code(), stderr(&part)), (Some(1), "error: 9 of 12 cells are missing\n"));
    assert_eq!(dataset(&out)[0].lines().count(), 4);
    for share in ["2/4", "3/4", "4/4"] {
        assert!(sweep(&[&plan, "--shard", share]).status.success());
    }
    assert_eq!(stdout(&sweep(&["status", &plan, "--shards", "4"])), "");
    assert!(sweep(&["collect", &plan]).status.success());
    assert_eq!(dataset(&out)[0].lines().count(), 13);

    // Any cell can be run again with its traces, and has the same numbers.
    let traced = place.path("traced");
    let trace = windlass(&["sweep", "trace", &plan, "7", "--out", &traced]);
    assert!(trace.status.success(), "{}", stderr(&trace));
    let runs = fs::read_to_string(Path::new(&traced).join("runs.csv")).unwrap();
    let cell = dataset(&out)[0].lines().nth(7).unwrap().to_owned();
    let numbers = |line: &str| line.split_once(",done,").map(|(_, numbers)| numbers.to_owned());
    assert!(cell.starts_with("7,10,10,1,plan,reno,sim,done,"), "{cell}");
    assert_eq!(numbers(runs.lines().nth(1).unwrap()), numbers(&cell));
    assert!(Path::new(&traced).join("qlog").is_dir());
}

#[test]
fn what_fails_is_counted_and_what_is_wrong_is_said() {
    let place = Place::new();
    let plan = place.file("plan.toml", &PLAN.replace("seeds = 5", "seeds = 1").replace("[10, 50]", "[10, 0]"));
    let out = place.path("out");
    let failed = windlass(&["sweep", &plan, "--out", &out]);
    assert_eq!(failed.status.code(), Some(1));
    let text = stderr(&failed);
    assert!(text.contains("error: 6 of 12 cells failed; the first, cell 4, plan dumbbell.rate_mbps=5"), "{text}");
    assert!(text.contains("rtt_ms is 0; expected a number above 0"), "{text}");
    let status = windlass(&["sweep", "status", &plan, "--out", &out]);
    assert_eq!(status.status.code(), Some(1));
    assert!(stdout(&status).contains("6 done, 6 failed, 0 missing"), "{}", stdout(&status));
    assert_eq!(dataset(&out)[0].lines().count(), 13);
    assert!(windlass(&["sweep", "collect", &plan, "--out", &out]).status.success());
    for (option, runs) in [(None, "0 cells run now"), (Some("--retry-failed"), "6 cells that failed are run again\n")] {
        let again = windlass(&[&["sweep", &plan, "--out", &out][..], option.as_slice()].concat());
        assert_eq!(again.status.code(), Some(1));
        assert!(stdout(&again).contains(runs), "{option:?}: {}", stdout(&again));
    }

    let wrong = place.file("wrong.toml", &PLAN.replace("rtt_ms\" =", "rtt\" ="));
    for (args, expected) in [
        (vec![wrong.as_str()], "wrong.toml:5: axis dumbbell.rtt: [dumbbell] has no key rtt (did you mean rtt_ms?)"),
        (vec!["none.toml"], "cannot read the plan none.toml: No such file"),
        (vec![&plan, "--shard", "3/2"], "3/2; expected I/N, I from 1 to N"),
        (vec!["trace", &plan, "13", "--out", &out], "cell 13: the plan has cells 1 to 12"),
        (vec![], "<PLAN>"),
    ] {
        let output = windlass(&[&["sweep"], args.as_slice()].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
    }
}

/// Two machines that share nothing but a store; a third collects.
#[cfg(feature = "object-store")]
#[test]
fn machines_share_a_store() {
    let place = Place::new();
    let plan = place.file("plan.toml", &PLAN.replace("seeds = 5", "seeds = 1"));
    let [alone, store, one, other, third] = ["alone", "store", "one", "other", "third"].map(|name| place.path(name));
    assert!(windlass(&["sweep", &plan, "--out", &alone]).status.success());
    let sweep = |args: &[&str]| windlass(&[&["sweep"], args, &["--store", &store]].concat());
    let at_once = |place: &str, runs: [&[&str]; 2]| {
        runs.map(|args| start(&[&["sweep", &plan, "--store", place], args].concat()).stdout(Stdio::piped()).spawn())
            .map(|child| child.unwrap().wait_with_output().unwrap())
    };
    for done in at_once(&store, [&["--out", &one, "--shard", "1/2"], &["--out", &other, "--shard", "2/2"]]) {
        assert!(done.status.success());
    }
    assert_eq!([&one, &other].map(|out| records(out).len()), [6, 6], "each cell ran once");
    let status = sweep(&["status", &plan, "--out", &third]);
    assert!(stdout(&status).contains("\n12 done, 0 failed, 0 missing\n"), "{}", stdout(&status));
    assert!(!Path::new(&third).exists(), "what only tells makes nothing");
    let collected = sweep(&["collect", &plan, "--out", &third]);
    assert!(collected.status.success(), "{}", stderr(&collected));
    assert_eq!(dataset(&third), dataset(&alone));

    // Without shares both may run a cell, for nobody claims any. Each says how many it ran, and the dataset is the same.
    let [place, left, right] = ["both", "left", "right"].map(|name| place.path(name));
    let both = at_once(&place, [&["--out", &left], &["--out", &right]]);
    for (out, done) in [&left, &right].into_iter().zip(both) {
        assert!(done.status.success());
        let told = format!("\n{} cells run now: ", records(out).len());
        assert!(stdout(&done).contains(&told), "{told}{}", stdout(&done));
        assert_eq!(dataset(out), dataset(&alone));
    }

    let url = windlass(&["sweep", &plan, "--out", &third, "--store", "gopher://bucket/folder"]);
    assert_eq!(url.status.code(), Some(1), "{}", stderr(&url));
    assert!(stderr(&url).contains("cannot use the store gopher://bucket/folder: "), "{}", stderr(&url));
}

/// The script for a cluster runs in a directory of the cluster's choice.
#[cfg(feature = "object-store")]
#[test]
fn the_script_for_slurm_names_the_store_from_anywhere() {
    let place = Place::new();
    let plan = place.file("plan.toml", PLAN);
    let out = place.path("out");
    let here = fs::canonicalize(place.dir()).unwrap();
    for (name, expected) in [
        ("its store", here.join("its store").display().to_string()),
        ("file:///its/store", "file:///its/store".to_owned()),
    ] {
        let written = start(&["sweep", "slurm", &plan, "--out", &out, "--store", name])
            .current_dir(place.dir())
            .output()
            .unwrap();
        assert!(written.status.success(), "{}", stderr(&written));
        let script = fs::read_to_string(Path::new(&out).join("sweep.sh")).unwrap();
        let expected = format!("place=('{plan}' '--out' '{out}' '--store' '{expected}')");
        assert!(script.lines().any(|line| line == expected), "{script}");
    }
}
