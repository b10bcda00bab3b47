//! `windlass qlog report`, `share`, `compare` and `watch`: what they write and print.

use crate::command::{Place, SHORT, fails, json, stderr, stdout, windlass};

/// Runs [`SHORT`] with Reno and CUBIC into a directory for each seed.
fn runs(place: &Place, seeds: &[&str]) {
    let scenario = place.file("short.toml", SHORT);
    for seed in seeds {
        let out = place.path(&format!("seed-{seed}"));
        let output = windlass(&["run", &scenario, "-c", "cubic", "-c", "vegas", "--seed", seed, "--out", &out]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn a_report_holds_every_value_of_every_flow() {
    let place = Place::new();
    runs(&place, &["1"]);
    let page = place.path("page.html");
    let output = windlass(&["qlog", "report", &place.path("seed-1"), "--out", &page]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), format!("{page}\n"));
    let html = std::fs::read_to_string(&page).unwrap();
    let embedded = html.split_once("id=\"traces\">\n").unwrap().1.split_once("</script>").unwrap().0;
    let about = json(embedded);
    let traces = about["traces"].as_array().unwrap();
    let names: Vec<_> = traces.iter().map(|trace| trace["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cubic@sim/first", "cubic@sim/second", "vegas@sim/first", "vegas@sim/second"]);
    let measured = windlass(&["qlog", "metrics", "--format", "json", &place.path("seed-1")]);
    for (trace, line) in traces.iter().zip(stdout(&measured).lines()) {
        let measures = &json(line)["measures"];
        assert_eq!(trace["measures"]["packets_sent"].as_f64(), measures["packets_sent"].as_f64());
        let lines = trace["lines"].as_array().unwrap();
        let sent = lines.iter().find(|line| line["name"] == "sent").unwrap();
        assert_eq!((&sent["points"], &sent["values"]), (&measures["packets_sent"], &measures["packets_sent"]));
    }
    assert_eq!(html.matches("<script type=\"text/plain\" id=\"lines-").count(), 4);
}

#[test]
fn a_shared_trace_has_the_measures_and_none_of_the_names() {
    let place = Place::new();
    let started = "\x1e{\"time\":0,\"name\":\"quic:connection_started\",\"data\":{\"local\":{\"ip_v4\":\"10.0.0.1\",\"port_v4\":443},\"remote\":{\"ip_v4\":\"198.51.100.23\",\"port_v4\":4433}}}\n";
    let whole = std::fs::read_to_string(growing(&place)).unwrap() + &grown();
    let (header, records) = whole.split_once('\n').unwrap();
    let trace = place.file("of 198.51.100.23.sqlog", &format!("{header}\n{started}{records}"));
    let page = place.path("page.html");
    let shared = |options: &[&str]| {
        let output = windlass(&[&["qlog", "share", &trace, "--out", &page], options].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stdout(&output), format!("{page}\n"));
        let html = std::fs::read_to_string(&page).unwrap();
        let embedded = html.split_once("id=\"traces\">\n").unwrap().1.split_once("</script>").unwrap().0;
        (json(embedded)["traces"][0]["measures"].clone(), html)
    };
    let (without, html) = shared(&[]);
    assert!(!html.contains("198.51.100.23"), "a name of the trace is left");
    let (with, html) = shared(&["--keep-names"]);
    assert!(html.contains("198.51.100.23") && html.contains("id=\"shared\""));
    assert_eq!(without, with);
}

#[test]
fn figures_are_written_beside_each_other() {
    let place = Place::new();
    runs(&place, &["1"]);
    let figures = place.path("figures");
    let output = windlass(&["qlog", "report", &place.path("seed-1"), "--svg", &figures]);
    assert!(output.status.success(), "{}", stderr(&output));
    let names = crate::command::names(std::path::Path::new(&figures));
    assert_eq!(names, ["cubic@sim-first.svg", "cubic@sim-second.svg", "vegas@sim-first.svg", "vegas@sim-second.svg"]);
    let svg = std::fs::read_to_string(place.path("figures/vegas@sim-first.svg")).unwrap();
    for text in ["vegas", "Window, kB", "Rate, Mbit/s", "goodput", "Time, s"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(!place.entries().contains(&"report.html".to_owned()), "a page only if asked for");
}

#[test]
fn a_comparison_counts_runs_and_says_when_there_is_no_interval() {
    let place = Place::new();
    runs(&place, &["1", "2"]);
    let (first, second) = (place.path("seed-1"), place.path("seed-2"));
    let compared = |args: &[&str]| {
        let output = windlass(&[&["qlog", "compare"], args].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    let all = json(&compared(&[&first, &second, "--format", "json", "--baseline", "vegas"]));
    let comparison = &all["comparison"];
    // The second flow of every run is Reno's, whatever is under test.
    assert_eq!(comparison["groups"], serde_json::json!(["cubic", "reno", "vegas"]));
    let row = |group: &str| {
        let rows = comparison["rows"].as_array().unwrap();
        rows.iter().find(|row| row["metric"] == "goodput_mbps" && row["group"] == group).unwrap().clone()
    };
    assert_eq!((row("cubic")["repetitions"].as_u64(), row("reno")["repetitions"].as_u64()), (Some(2), Some(4)));
    assert!(row("vegas")["difference"].is_null(), "it is the baseline");
    assert!(row("cubic")["difference"]["interval"].is_array());
    let one = compared(&[&first]);
    assert!(one.contains("with one repetition no interval can be given"), "{one}");
    let rows = csv_rows(&compared(&[&first, "--by", "file", "--format", "csv"]));
    assert_eq!(rows[0][..4], ["measure", "group", "repetitions", "mean"]);
    assert!(rows[1..].iter().all(|row| row[2] == "1" && row[7].is_empty()));
}

fn csv_rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn what_cannot_be_compared_is_told() {
    let place = Place::new();
    runs(&place, &["1"]);
    let trace = place.path("seed-1/qlog/short/cubic@sim/first.sqlog");
    fails(
        &["qlog", "compare", &trace],
        2,
        "nothing to compare: all traces are of one group by controller, cubic; group them by another of controller, stack, run, file",
    );
    fails(
        &["qlog", "compare", &place.path("seed-1"), "--baseline", "vegsa"],
        2,
        "no group is called \"vegsa\" (did you mean \"vegas\"?); there are cubic, reno, vegas",
    );
    fails(
        &["qlog", "compare", &trace, "--confidence", "100"],
        2,
        "--confidence is 100; expected more than 0 and less than 100 percent",
    );
}

/// What a server answers to a request for `target`.
fn asked(address: &str, target: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// A record of a window.
fn window(time: u32, cwnd: u32) -> String {
    format!(
        "\x1e{{\"time\":{time},\"name\":\"quic:recovery_metrics_updated\",\"data\":{{\"congestion_window\":{cwnd}}}}}\n"
    )
}

/// A trace whose last record is not whole yet.
fn growing(place: &Place) -> String {
    let header = "\x1e{\"file_schema\":\"urn:ietf:params:qlog:file:sequential\",\"serialization_format\":\"application/qlog+json-seq\",\"trace\":{}}\n";
    place.file("growing.sqlog", &format!("{header}{}\x1e{{\"time\":", window(0, 12_000)))
}

/// The rest of its last record, and one more.
fn grown() -> String {
    format!("5,\"name\":\"x:y\",\"data\":{{}}}}\n{}", window(10, 30_000))
}

#[test]
fn a_trace_is_followed_as_it_grows() {
    use std::io::{BufRead, BufReader, Write};
    let place = Place::new();
    let file = growing(&place);
    let directory = std::path::Path::new(&file).parent().unwrap().to_str().unwrap().to_owned();
    let mut command = crate::command::start(&["qlog", "watch", &directory]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let address = first.split_once("http://").unwrap().1.split_once('/').unwrap().0.to_owned();
    assert!(first.contains(&directory) && address.starts_with("127.0.0.1:"), "{first}");
    let line = lines.next().unwrap();
    assert!(line.contains("growing") && line.contains("window 12.0 kB") && line.contains("lost –"), "{line}");
    assert!(asked(&address, "/").contains("connect-src 'self'"));
    let state = json(&asked(&address, "/state?after=0"));
    assert_eq!(
        (state["traces"].as_array().unwrap().len(), &state["traces"][0]["about"]["bad_records"]),
        (1, &0.into())
    );
    assert_eq!(state["traces"][0]["about"]["lines"][0]["points"], 1);
    assert_eq!(json(&asked(&address, &format!("/state?after={}", state["version"])))["traces"], serde_json::json!([]));

    let mut growing = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    growing.write_all(grown().as_bytes()).unwrap();
    let line = lines.next().unwrap();
    assert!(line.contains("window 30.0 kB"), "{line}");
    let state = json(&asked(&address, &format!("/state?after={}", state["version"])));
    assert_eq!((&state["traces"][0]["id"], &state["traces"][0]["about"]["lines"][0]["points"]), (&0.into(), &2.into()));
    child.kill().unwrap();
    child.wait().unwrap();

    fails(
        &["qlog", "watch", &place.path("nothing")],
        2,
        &format!("cannot watch {}: No such file or directory (os error 2)", place.path("nothing")),
    );
}

/// util-linux' `script` gives it a terminal.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_a_line_is_written_over_the_one_before() {
    use std::io::{BufRead, BufReader, Write};
    let place = Place::new();
    let file = growing(&place);
    let command = format!("exec {} qlog watch {}", env!("CARGO_BIN_EXE_windlass"), place.dir().display());
    let mut script = std::process::Command::new("script");
    script.args(["--quiet", "--flush", "--return", "--command", &command, "/dev/null"]);
    let mut child =
        script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().expect("script");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.find(|line| line.contains("window 12.0 kB")).unwrap();
    assert!(!first.contains("\\u001b"), "{first}");
    let mut growing = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
    growing.write_all(grown().as_bytes()).unwrap();
    let second = lines.next().unwrap();
    let up = second.find("\x1b[1A").expect(&second);
    assert!(second.contains("window 30.0 kB") && second[up..].contains("\x1b[2K"), "{second:?}");
    child.kill().unwrap();
    child.wait().unwrap();
}
