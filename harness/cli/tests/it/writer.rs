//! What commands do with the place they are to write to.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{Place, contents, fails, start, stderr, stdout, windlass};

/// A scenario that is over at once.
const BRIEF: &str = r#"
description = "Two flows for an instant"
duration_s = 0.3
sample_ms = 50

[dumbbell]
rate_mbps = 5
rtt_ms = 20
buffer_bdp = 1
loss_percent = 1

[[flow]]
name = "first"
controller = "under-test"

[[flow]]
name = "second"
controller = "reno"
"#;

type Contents = Vec<(PathBuf, Vec<u8>)>;

/// A place with the scenario, and what a run of it writes with each of these seeds.
fn wholes(seeds: u64) -> (Place, String, BTreeMap<u64, Contents>) {
    let place = Place::new();
    let brief = place.file("brief.toml", BRIEF);
    let whole = |seed: u64| {
        let out = place.path(&format!("whole-{seed}"));
        assert!(run(&brief, seed, &out).output().unwrap().status.success());
        (seed, contents(Path::new(&out)))
    };
    let all = (0..seeds).map(whole).collect();
    (place, brief, all)
}

/// A command that runs `scenario` into `out`.
fn run(scenario: &str, seed: u64, out: &str) -> Command {
    start(&["run", scenario, "-c", "reno", "--seed", &seed.to_string(), "--jobs", "1", "--out", out])
}

/// Names beside the results that are not hidden ones of this moment.
fn strangers(place: &Place) -> Vec<String> {
    place.entries().into_iter().filter(|name| name.starts_with('.')).collect()
}

#[test]
fn of_two_runs_into_one_directory_one_is_there_as_a_whole() {
    let (place, brief, wholes) = wholes(2);
    let out = place.path("out");
    let mut refused = 0;
    for race in 0..200 {
        let children: Vec<_> = (0..2)
            .map(|seed| {
                let mut command = run(&brief, seed, &out);
                command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        let done: Vec<u64> = (0..2).filter(|&seed| ended[seed as usize].status.success()).collect();
        for output in ended.iter().filter(|output| !output.status.success()) {
            let expected = format!(
                "error: another windlass is writing to {out}; wait until it is done, or name another directory\n"
            );
            assert_eq!((stderr(output), stdout(output)), (expected.as_str(), ""), "race {race}");
            refused += 1;
        }
        let there = contents(Path::new(&out));
        assert!(done.iter().any(|seed| wholes[seed] == there), "race {race}: neither of {done:?}");
        assert_eq!(strangers(&place), [""; 0], "race {race}");
    }
    assert!(refused > 0, "they never met");
}

#[test]
fn a_run_that_is_killed_leaves_the_earlier_result_or_a_whole_new_one() {
    let (place, brief, wholes) = wholes(2);
    let out = place.path("out");
    assert!(run(&brief, 0, &out).output().unwrap().status.success());
    let begun = std::time::Instant::now();
    assert!(run(&brief, 1, &out).output().unwrap().status.success());
    let usual = begun.elapsed();
    let (mut earlier, mut random) = (1, 0x2545_f491_4f6c_dd1d_u64);
    for kill in 0..200 {
        let fresh = 1 - earlier;
        let mut command = run(&brief, fresh, &out);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(usual.mul_f64((random >> 11) as f64 / (1_u64 << 53) as f64 * 1.2));
        child.kill().unwrap();
        child.wait().unwrap();
        let there = contents(Path::new(&out));
        if wholes[&fresh] == there {
            earlier = fresh;
        } else {
            assert!(wholes[&earlier] == there, "kill {kill}: neither the earlier result nor a new one");
        }
    }
    assert!(run(&brief, 0, &out).output().unwrap().status.success());
    assert!(contents(Path::new(&out)) == wholes[&0]);
    assert_eq!(strangers(&place), [""; 0], "what was left behind is gone");
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let (place, brief, _) = wholes(0);
    let out = place.path("out");
    assert!(run(&brief, 0, &out).output().unwrap().status.success());
    let logs = format!("{out}/qlog/brief/reno@sim");
    let trace = format!("{logs}/first.sqlog");
    let results = format!("{out}/results.json");
    let before = contents(place.dir());
    let refused = |args: &[&str], output: &str, input: &str| {
        fails(
            args,
            1,
            &format!("{output} is read by this command ({input}) and would be overwritten; name another output"),
        );
    };
    refused(&["qlog", "convert", &logs, "--to", "ietf", "--out", &logs], &trace, &trace);
    for command in ["convert --to qvis", "metrics --format csv", "report", "share", "compare"] {
        let mut args = vec!["qlog"];
        args.extend(command.split(' '));
        args.extend([trace.as_str(), "--out", &trace]);
        refused(&args, &trace, &trace);
    }
    refused(&["qlog", "replay", &trace, "-c", "reno", "--svg", &trace], &trace, &trace);
    refused(&["report", &results, "--out", &results], &results, &results);
    assert!(contents(place.dir()) == before, "a file was touched");
}

#[test]
fn what_is_no_regular_file_stays_what_it_is() {
    let (place, brief, _) = wholes(0);
    let out = place.path("out");
    assert!(run(&brief, 0, &out).output().unwrap().status.success());
    let trace = format!("{out}/qlog/brief/reno@sim/first.sqlog");
    let (null, fifo) = (place.path("null"), place.path("fifo"));
    symlink("/dev/null", &null).unwrap();
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let results = format!("{out}/results.json");
    let commands: [&[&str]; 5] = [
        &["qlog", "report", &trace, "--out"],
        &["qlog", "convert", "--to", "qvis", &trace, "--out"],
        &["qlog", "replay", "-c", "reno", &trace, "--svg"],
        &["explain", "reno", "--svg"],
        &["report", &results, "--out"],
    ];
    for command in commands {
        for output in [&null, &fifo] {
            // Into a file, which takes all of it: a pipe holds 64 kB, and a page is larger.
            let read = place.path("read");
            let mut reader =
                Command::new("cat").arg(output).stdout(std::fs::File::create(&read).unwrap()).spawn().unwrap();
            let mut args = command.to_vec();
            args.push(output);
            let ended = windlass(&args);
            assert!(ended.status.success(), "{args:?}: {}", stderr(&ended));
            assert!(reader.wait().unwrap().success());
            assert_eq!(std::fs::metadata(&read).unwrap().len() == 0, output == &null, "{args:?}");
        }
        assert!(
            Path::new(&null).is_symlink() && std::fs::metadata(&fifo).unwrap().file_type().is_fifo(),
            "{command:?}"
        );
    }
    // A name of the standard output is the standard output.
    let table = windlass(&["qlog", "metrics", &trace, "--format", "csv"]);
    let named = windlass(&["qlog", "metrics", &trace, "--format", "csv", "--out", "/dev/stdout"]);
    assert_eq!(stdout(&named), stdout(&table));
    let full = windlass(&["qlog", "metrics", &trace, "--out", "/dev/full"]);
    assert_eq!(stderr(&full), "error: cannot write to /dev/full: No space left on device (os error 28)\n");
}

#[test]
fn a_place_that_cannot_be_written_is_found_before_the_work() {
    let place = Place::new();
    // Were it read first, the error would be that it is none.
    let trace = place.file("trace.sqlog", "no trace");
    let dangling = place.path("dangling");
    symlink("missing/file", &dangling).unwrap();
    let commands: [&[&str]; 4] = [
        &["qlog", "report", &trace, "--out", &dangling],
        &["qlog", "metrics", &trace, "--out", &dangling],
        &["qlog", "compare", &trace, "--out", &dangling],
        &["qlog", "replay", &trace, "--svg", &dangling],
    ];
    for args in commands {
        let ended = windlass(args);
        let expected = format!("error: cannot write to {dangling}: No such file or directory (os error 2)\n");
        assert_eq!(stderr(&ended), expected, "{args:?}");
    }
}

#[test]
fn a_conformance_is_whole_and_replaces_only_one_of_its_own() {
    let place = Place::new();
    let brief = place.file("brief.toml", BRIEF);
    let out = place.path("out");
    let args =
        ["conformance", "-c", "reno", "--scenario", &brief, "--seeds", "2", "--stack", "sim,quinn", "--out", &out];
    for _ in 0..2 {
        let ended = windlass(&args);
        assert!(ended.status.success(), "{}", stderr(&ended));
        let names = crate::command::names(Path::new(&out));
        assert_eq!(names, ["conformance.csv", "conformance.json", "conformance.md", "distances.csv"]);
    }
    std::fs::write(Path::new(&out).join("thesis.tex"), "years of work").unwrap();
    let before = contents(Path::new(&out));
    assert!(stderr(&windlass(&args)).contains("holds \"thesis.tex\""));
    assert!(contents(Path::new(&out)) == before);
}

#[test]
fn figures_whose_names_are_alike_are_all_there() {
    let (place, brief, _) = wholes(0);
    let out = place.path("out");
    assert!(run(&brief, 0, &out).output().unwrap().status.success());
    let trace = std::fs::read(format!("{out}/qlog/brief/reno@sim/first.sqlog")).unwrap();
    let long = "ä".repeat(120);
    for name in ["a b.sqlog", "a+b.sqlog", "a b.qlog", &format!("{long}.sqlog")] {
        std::fs::write(place.path(name), &trace).unwrap();
    }
    let svg = place.path("svg");
    let mut args = vec!["qlog".to_owned(), "report".to_owned(), "--svg".to_owned(), svg.clone()];
    args.extend(["a b.sqlog", "a+b.sqlog", "a b.qlog", &format!("{long}.sqlog")].map(|name| place.path(name)));
    let ended = windlass(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(ended.status.success(), "{}", stderr(&ended));
    assert_eq!(crate::command::names(Path::new(&svg)).len(), 4);
}

/// A page at its default name: one of windlass's is replaced, any other stays.
#[test]
fn the_page_that_is_written_by_default_replaces_only_one_of_windlass() {
    let (place, brief, _) = wholes(0);
    let out = place.path("out");
    assert!(run(&brief, 0, &out).output().unwrap().status.success());
    let trace = format!("{out}/qlog/brief/reno@sim/first.sqlog");
    let here = |args: &[&str]| start(args).current_dir(place.dir()).output().unwrap();
    let (page, results) = (place.path("report.html"), format!("{out}/results.json"));
    let beside = format!("{out}/report.html");
    for (args, page, shown) in
        [(&["qlog", "report", &trace][..], &page, "report.html"), (&["report", &results][..], &beside, beside.as_str())]
    {
        for _ in 0..2 {
            let done = here(args);
            assert!(done.status.success(), "{args:?}: {}", stderr(&done));
        }
        let ours = std::fs::read(page).unwrap();
        std::fs::write(page, "<!doctype html><title>My thesis</title>").unwrap();
        let refused = here(args);
        let expected = format!(
            "error: {shown} is no page that windlass wrote, and stays; name another file with --out, or this one to replace it\n"
        );
        assert_eq!((stderr(&refused), refused.status.code()), (expected.as_str(), Some(1)));
        assert!(std::fs::read_to_string(page).unwrap().contains("My thesis"));
        let named = here(&[args, &["--out", page.as_str()]].concat());
        assert!(named.status.success(), "{}", stderr(&named));
        assert!(std::fs::read(page).unwrap() == ours);
    }
    // The same in a directory that is replaced as a whole.
    std::fs::write(&beside, "<!doctype html><title>My thesis</title>").unwrap();
    let refused = run(&brief, 0, &out).output().unwrap();
    assert!(stderr(&refused).contains("holds \"report.html\""), "{}", stderr(&refused));
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for args in
        [&["--help"][..], &["--version"], &["help"], &["qlog", "report", "--help"], &["list"], &["explain", "reno"]]
    {
        let ended = start(args).stdout(full()).output().unwrap();
        let expected = "error: cannot write to standard output: No space left on device (os error 28)\n";
        assert_eq!((stderr(&ended), ended.status.code()), (expected, Some(1)), "{args:?}");
    }
    assert_eq!(windlass(&["--help"]).status.code(), Some(0));
    assert_eq!(windlass(&["--hepl"]).status.code(), Some(2));
}
