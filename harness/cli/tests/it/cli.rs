//! The `windlass` binary as a user meets it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use crate::command::{ENDLESS, Place, SHORT, fails, json, names, not_for_quinn, start, stderr, stdout, windlass};
use serde_json::Value;

#[test]
fn an_unknown_controller_gets_the_nearest_name() {
    let text = "unknown controller \"renno\" (did you mean \"reno\"?); `windlass list` names all of them";
    fails(&["run", "clean-link", "--controller", "renno"], 2, text);
    fails(&["evaluate", "--controllers", "cubic,renno"], 2, text);
    fails(&["list", "renno"], 2, text);
    fails(&["run", "clean-link", "-c", "reno:iw=0"], 2, "reno: iw is \"0\"; expected 1 to 10000");
    fails(&["run", "clean-link", "-c", "reno:iw"], 2, "\"iw\" is not of the form parameter=value");
}

#[test]
fn an_unknown_stack_or_scenario_gets_the_nearest_name() {
    let expected = if cfg!(feature = "s2n-quic") { "sim or quinn or noq or s2n-quic" } else { "sim or quinn or noq" };
    fails(
        &["run", "clean-link", "-c", "reno", "--stack", "qiunn"],
        2,
        &format!("unknown stack \"qiunn\" (did you mean \"quinn\"?); expected {expected}"),
    );
    let output = windlass(&["run", "clean-link", "-c", "reno", "--stack", "quiche"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("cargo run --release -p windlass-stacks-quiche-cli -- run"),
        "{}",
        stderr(&output)
    );
    let real = expected.trim_start_matches("sim or ");
    fails(
        &["run", "clean-link", "-c", "reno", "--wire"],
        2,
        &format!("--wire: sim has no sockets; give a real stack, --stack {real}"),
    );
    fails(
        &["scenarios", "clean-lnik"],
        2,
        "unknown scenario \"clean-lnik\" (did you mean \"clean-link\"?); `windlass scenarios` names all of them",
    );
    fails(&["run", "no/such.toml"], 2, "the scenario file \"no/such.toml\" does not exist");
}

#[test]
fn a_missing_signal_is_named_with_the_way_out() {
    let controller = not_for_quinn();
    let output = windlass(&["run", "clean-link", "-c", &controller, "--stack", "quinn"]);
    assert_eq!(output.status.code(), Some(2));
    let line = stderr(&output);
    assert!(line.starts_with(&format!("error: {controller} needs ")), "{line}");
    assert!(line.contains("; quinn does not report "), "{line}");
    assert!(line.contains("run it in the simulator"), "{line}");
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn a_malformed_scenario_is_shown_with_every_mistake_in_its_place() {
    let place = Place::new();
    let broken = SHORT.replace("rate_mbps = 10", "rate_mpbs = 10").replace("duration_s = 2", "duration_s = \"two\"");
    let file = place.file("broken.toml", &broken);
    let output = windlass(&["run", &file, "-c", "reno"]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.starts_with(&format!("error: 3 mistakes in the scenario {file}\n")), "{text}");
    for part in ["did you mean rate_mbps?", "broken.toml:7:1", "rate_mpbs = 10", "duration_s = \"two\""] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let output = windlass(&["run", &place.file("no.toml", "not toml at all ["), "-c", "reno"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("not valid TOML"), "{}", stderr(&output));
}

#[test]
fn an_output_directory_is_checked_before_anything_runs() {
    let place = Place::new();
    let endless = place.file("endless.toml", ENDLESS);
    let under_a_file = format!("{endless}/out");
    for args in [
        ["run", &endless, "-c", "reno", "--out", &under_a_file].as_slice(),
        ["evaluate", "-c", "reno", "--scenarios", &endless, "--out", &under_a_file].as_slice(),
    ] {
        let output = windlass(args);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).starts_with("error: cannot write to "), "{}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1);
    }
    assert_eq!(place.entries(), ["endless.toml"]);

    std::fs::create_dir(place.path("mine")).unwrap();
    std::fs::write(place.path("mine/thesis.tex"), "years of work").unwrap();
    fails(
        &["run", &endless, "-c", "reno", "--out", &place.path("mine")],
        1,
        &format!(
            "{} holds \"thesis.tex\", which is not part of an earlier result; expected a new or empty directory, \
             or one that windlass wrote",
            place.path("mine")
        ),
    );
    assert_eq!(names(Path::new(&place.path("mine"))), ["thesis.tex"]);
}

#[test]
fn tables_for_people_fit_a_terminal() {
    let place = Place::new();
    let short = place.file("short.toml", SHORT);
    let run = windlass(&["run", &short, "-c", "reno,cubic"]);
    assert!(run.status.success(), "{}", stderr(&run));
    let flow = |line: &&str| line.starts_with("first ") || line.starts_with("second ");
    assert_eq!(stdout(&run).lines().filter(flow).count(), 4);
    assert_eq!(place.entries(), ["short.toml"], "nothing is written unless asked for");
    let all = json(stdout(&windlass(&["list", "--json"])));
    let mut texts = vec![run, windlass(&["list"]), windlass(&["scenarios"])];
    for entry in all.as_array().unwrap() {
        let one = windlass(&["list", entry["name"].as_str().unwrap()]);
        assert!(stdout(&one).contains("profile=paper") || stdout(&one).contains("no parameters"));
        texts.push(one);
    }
    for text in &texts {
        assert!(text.status.success());
        for line in stdout(text).lines() {
            assert!(line.chars().count() <= 120, "{line}");
        }
    }
}

#[test]
fn list_tells_both_profiles_of_every_parameter() {
    let reno = json(stdout(&windlass(&["list", "reno:iw=7", "--json"])));
    let iw = reno["parameters"].as_array().unwrap().iter().find(|param| param["name"] == "iw").unwrap();
    assert_eq!((&iw["value"], &iw["quic"]), (&Value::from(7.0), &Value::from(10.0)));
    for key in ["paper", "unit", "range", "source", "doc"] {
        assert!(!iw[key].is_null(), "{key}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = start(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    // Nor does one of the standard error change what the exit code tells.
    let place = Place::new();
    let mistakes = place.file("mistakes.toml", &format!("{SHORT}{}", "wrong = 1\n".repeat(5000)));
    for args in [&["list", "renno"][..], &["run", &mistakes, "-c", "reno"]] {
        let mut child = start(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(2), "{args:?}");
    }
}

#[test]
fn results_of_more_than_memory_holds_are_told_before_the_run() {
    let place = Place::new();
    let flow = "[[flow]]\ncontroller = \"reno\"\n";
    let endless = ENDLESS.replace("sample_ms = 1000", "sample_ms = 100") + &flow.repeat(100);
    let mut command = start(&["run", &place.file("endless.toml", &endless), "-c", "reno"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut told).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let (before, after) = told.split_once(" GB of memory; a longer sample_ms, fewer flows or fewer runs").unwrap();
    let gigabytes: f64 = before.strip_prefix("the results of all runs (1) take up to ").unwrap().parse().unwrap();
    // A week of tenths of a second, a hundred flows and one.
    assert!(gigabytes > 604_800e1 * 101.0 * 8.0 / 1e9, "{gigabytes}{after}");
}

#[test]
fn every_controller_runs_on_the_scenario_taken_by_default() {
    let controllers: Vec<&str> = windlass_controllers::Algorithm::ALL.iter().map(|entry| entry.name).collect();
    let mut arguments = vec!["run", "--json"];
    arguments.extend(controllers.iter().flat_map(|name| ["-c", name]));
    let output = windlass(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let results = json(stdout(&output));
    let runs = results["runs"].as_array().unwrap();
    assert_eq!(runs.len(), controllers.len());
    for (run, controller) in runs.iter().zip(&controllers) {
        assert_eq!((run["scenario"].as_str(), run["controller"].as_str()), (Some("clean-link"), Some(*controller)));
        let goodput = run["flows"][0]["goodput_mbps"].as_f64().unwrap_or_default();
        assert!(goodput > 1.0, "{controller}: {goodput} Mbit/s");
    }
}

/// In the guide's order; all but the one that evaluates every controller, which is the main job of `ci/test`. Of an evaluation's
/// scenarios and of regimes, which `ci/test` has in steps of their own, only some.
#[cfg(unix)]
#[test]
fn the_commands_of_the_guide_run_as_they_are_written() {
    let guide = include_str!("../../../../docs/guide.md");
    let place = crate::command::Place::new();
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_windlass")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let lines = guide.lines().filter(|line| line.starts_with("windlass ") && *line != "windlass evaluate --out result");
    let mut commands = 0;
    for line in lines {
        // What follows three spaces says what it does.
        let command = line.split("   ").next().unwrap();
        let short = match command.split(' ').nth(1) {
            Some("regimes") => " --only path=clean,rtt=50ms",
            Some("evaluate") => " --scenarios clean-link,two-flows",
            _ => "",
        };
        let shell = std::process::Command::new("sh")
            .args(["-c", &format!("{command}{short}")])
            .env("PATH", &path)
            .current_dir(place.dir())
            .output();
        let output = shell.unwrap();
        assert!(output.status.success(), "{command}: {}", crate::command::stderr(&output));
        commands += 1;
    }
    assert!(commands >= 16, "{commands}");
    for made in ["bic.svg", "result/report.html", "report.html", "comparison.html"] {
        assert!(place.dir().join(made).exists(), "{made}");
    }
}
