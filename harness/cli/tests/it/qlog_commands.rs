//! The commands that give traces another form.

use std::path::Path;

use crate::command::{Place, SHORT, fails, json, names, stderr, stdout, windlass};

/// A directory with the traces of a short run.
pub fn traces(place: &Place) -> String {
    let short = place.file("short.toml", SHORT);
    let out = place.path("run");
    let run = windlass(&["run", &short, "-c", "cubic", "--out", &out]);
    assert!(run.status.success(), "{}", stderr(&run));
    format!("{out}/qlog/short/cubic@sim")
}

#[test]
fn traces_go_to_qvis_and_back() {
    let place = Place::new();
    let directory = traces(&place);
    let first = format!("{directory}/first.sqlog");
    let qvis = place.path("first.qvis.sqlog.zst");
    let done = windlass(&["qlog", "convert", &first, "--to", "qvis", "--out", &qvis]);
    assert!(done.status.success() && done.stdout.is_empty(), "{}", stderr(&done));
    assert_eq!(stderr(&done), "", "nothing is lost");
    let lint = windlass(&["qlog", "lint", &qvis, "--profile", "qvis"]);
    assert!(lint.status.success(), "{}", stdout(&lint));
    // What is in the form asked for comes out as it stood, also through standard output.
    let same = windlass(&["qlog", "convert", &first, "--to", "ietf"]);
    assert_eq!(same.stdout, std::fs::read(&first).unwrap());
}

/// A simulated packet is all data unless the scenario says what of it is QUIC's own; qvis' packetization view needs that.
#[test]
fn the_lint_tells_whether_qvis_packetization_view_has_room_for_frames() {
    let place = Place::new();
    for (header_bytes, expected) in [(0, true), (33, false)] {
        let short = place.file("room.toml", &format!("header_bytes = {header_bytes}\n{SHORT}"));
        let out = place.path(&format!("run{header_bytes}"));
        let run = windlass(&["run", &short, "-c", "cubic", "--qlog-profile", "qvis", "--out", &out]);
        assert!(run.status.success(), "{}", stderr(&run));
        let file = format!("{out}/qlog/room/cubic@sim/first.sqlog");
        let lint = windlass(&["qlog", "lint", &file, "--profile", "qvis"]);
        assert!(lint.status.success(), "{}", stdout(&lint));
        assert_eq!(stdout(&lint).contains("packet-room"), expected, "{header_bytes}: {}", stdout(&lint));
        for rule in ["request-streams", "request-first"] {
            assert!(!stdout(&lint).contains(rule), "{}", stdout(&lint));
        }
    }
}

#[test]
fn several_traces_are_one_document_or_files_of_their_own() {
    let place = Place::new();
    let directory = traces(&place);
    let both = place.path("both.qlog");
    assert!(windlass(&["qlog", "convert", &directory, "--to", "ietf", "--out", &both]).status.success());
    let document = json(&std::fs::read_to_string(&both).unwrap());
    assert_eq!(document["traces"].as_array().unwrap().len(), 2);
    let several = "there are 2 traces, and a JSON text sequence holds one; \
        use --framing json, --trace N for one of them, or --out DIR/ for a file each";
    fails(&["qlog", "convert", &directory, "--to", "ietf"], 2, several);
    let each = format!("{}/", place.path("each"));
    assert!(windlass(&["qlog", "convert", &both, "--to", "qvis", "--out", &each]).status.success());
    assert_eq!(names(Path::new(&each)), ["both-0.sqlog", "both-1.sqlog"]);
    let absent = windlass(&["qlog", "convert", &place.path("none.qlog"), "--to", "qvis", "--out", &place.path("x")]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(!Path::new(&place.path("x")).exists(), "no half of a file");
}

#[test]
fn measures_go_into_a_file() {
    let place = Place::new();
    let directory = traces(&place);
    let file = place.path("metrics.csv");
    let args = ["qlog", "metrics", &directory, "--sharing", "--format", "csv", "--out", &file];
    let done = windlass(&args);
    assert!(done.status.success() && done.stdout.is_empty(), "{}", stderr(&done));
    let text = std::fs::read_to_string(&file).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    for head in ["peer", "settled_after_s", "regain_time_s", "jain", "asymmetry", "even_after_s", "shared_goodput_mbps"]
    {
        assert!(heads.contains(&head), "{head}: {heads:?}");
    }
    let rows: Vec<_> = lines.collect();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.len() == heads.len()), "{text}");
}

#[test]
fn another_controller_runs_on_standard_input_too() {
    let place = Place::new();
    let file = format!("{}/first.sqlog", traces(&place));
    let outputs = |args: &[&str]| {
        let direct = windlass(&[&["qlog"], args, &[file.as_str()]].concat());
        assert!(direct.status.success(), "{}", stderr(&direct));
        let piped = crate::command::fed(&[&["qlog"], args, &["-"]].concat(), &std::fs::read(&file).unwrap());
        assert!(piped.status.success(), "{}", stderr(&piped));
        assert_eq!(stdout(&piped), stdout(&direct).replace(&file, "-"));
        (stdout(&direct).to_owned(), stderr(&direct).to_owned())
    };
    let (named, _) = outputs(&["identify", "--json"]);
    let best = &json(&named)["guesses"][0]["controllers"];
    assert!(best.as_array().unwrap().contains(&"cubic".into()), "{named}");
    let (csv, caveat) = outputs(&["replay", "-c", "reno", "--csv"]);
    assert!(csv.starts_with("file,time_s,") && caveat.contains("The network does not react"), "{caveat}");
    let (text, _) = outputs(&["replay", "-c", "reno"]);
    assert!(text.contains("The network does not react"), "{text}");
}

#[test]
fn traces_of_one_sender_give_one_answer() {
    let place = Place::new();
    // A trace tells its controller; without that there are windows and arrivals, of which two short flows show too little.
    let mut files = Vec::new();
    for (network, rate) in [("near", 10), ("far", 4)] {
        let short =
            place.file(&format!("{network}.toml"), &SHORT.replace("rate_mbps = 10", &format!("rate_mbps = {rate}")));
        let out = place.path(network);
        let run = windlass(&["run", &short, "-c", "cubic", "--qlog-detail", "packets", "--out", &out]);
        assert!(run.status.success(), "{}", stderr(&run));
        files.push(format!("{out}/qlog/{network}/cubic@sim/first.sqlog"));
    }
    let [near, far] = &files[..] else { unreachable!() };
    let told = windlass(&["qlog", "identify", "--one-sender", near, far]);
    assert!(told.status.success(), "{}", stderr(&told));
    let text = stdout(&told);
    assert!(text.starts_with("2 traces of one sender: cubic, by what the trace tells\n"), "{text}");
    assert!(text.contains("\n  by arrivals: cannot be said, no trace shows enough of them\n"), "{text}");
    for file in &files {
        assert!(text.contains(&format!("\n  {file}: cubic, by what the trace tells")), "{text}");
    }

    let plain: Vec<String> = files.iter().enumerate().map(|(at, file)| unnamed(&place, at, file)).collect();
    let [one, other] = &plain[..] else { unreachable!() };
    let all = json(stdout(&windlass(&["qlog", "identify", "--one-sender", "--json", one, other])));
    assert_eq!(
        (&all["controller"], &all["by"], &all["windows_of"]),
        (&"cubic".into(), &"window".into(), &2.into()),
        "{all}"
    );
    let each = all["traces"].as_array().unwrap();
    let mean = |field: &str| {
        each.iter().map(|one| one["guesses"][0][field].as_f64().unwrap()).sum::<f64>() / each.len() as f64
    };
    assert_eq!(all["guesses"][0]["controllers"], serde_json::json!(["cubic"]));
    assert!((all["guesses"][0]["distance"].as_f64().unwrap() - mean("distance")).abs() < 1e-12, "{all}");
    let frames: u64 = each.iter().map(|one| one["ack_frames"].as_u64().unwrap()).sum();
    assert_eq!(all["ack_frames"], frames);

    let alone = format!("--one-sender joins several traces, and {one} is one");
    fails(&["qlog", "identify", "--one-sender", one], 2, &alone);
    let reno = near.replace("first", "second");
    let two = format!("these traces are not of one sender: {far} tells the controller cubic, {reno} tells reno");
    fails(&["qlog", "identify", "--one-sender", one, far, &reno], 1, &two);
}

/// A copy of `file` that does not tell its controller.
fn unnamed(place: &Place, number: usize, file: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let told = |line: &&str| !line.contains("recovery_parameters_set") && !line.contains("windlass:");
    let lines: Vec<&str> =
        text.lines().enumerate().filter(|(at, line)| *at == 0 || told(line)).map(|(_, line)| line).collect();
    place.file(&format!("unnamed{number}.sqlog"), &format!("{}\n", lines.join("\n")))
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_missing_feature_is_named() {
    let text = "this windlass was built without writing Parquet; \
        build it in with `cargo install --path harness/cli --features parquet`";
    fails(&["qlog", "parquet", "x.sqlog", "--out", "y"], 2, text);
    let text =
        "this windlass was built without SQL; build it in with `cargo install --path harness/cli --features sql`";
    fails(&["qlog", "sql", "y", "SELECT 1"], 2, text);
}

/// What an author of traces could leave in a directory.
#[cfg(unix)]
#[test]
fn traces_that_attack_their_reader_are_counted_once_bounded_and_escaped() {
    use std::io::Write;
    let place = Place::new();
    let directory = place.path("traces");
    std::fs::create_dir_all(format!("{directory}/below")).unwrap();
    let run = traces(&place);
    let text = std::fs::read_to_string(format!("{run}/first.sqlog")).unwrap();
    // Title, group and vantage point with escapes, as JSON has them.
    let (header, events) = text.split_once('\n').unwrap();
    let mut header = json(header.trim_start_matches('\u{1e}'));
    header["title"] = "=1+1\u{1b}]0;owned\u{7}".into();
    header["trace"]["title"] = "=1+1\u{1b}]0;owned\u{7}".into();
    header["trace"]["vantage_point"]["name"] = "v\u{1b}[2J".into();
    std::fs::write(format!("{directory}/a\u{1b}[31m.sqlog"), format!("\u{1e}{header}\n{events}")).unwrap();
    // Links that lead back, and the same file by another name.
    std::os::unix::fs::symlink("..", format!("{directory}/below/up")).unwrap();
    std::os::unix::fs::symlink("below/up", format!("{directory}/again")).unwrap();
    std::os::unix::fs::symlink("a\u{1b}[31m.sqlog", format!("{directory}/b.sqlog")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(format!("{directory}/c.sqlog")).status();
    assert!(fifo.expect("mkfifo runs").success());
    for format in ["table", "csv", "json"] {
        let done = windlass(&["qlog", "metrics", &directory, "--format", format]);
        assert_eq!(done.status.code(), Some(3), "{}", stderr(&done));
        let (out, said) = (stdout(&done), stderr(&done));
        assert!(!out.contains('\u{1b}') && !said.contains('\u{1b}'), "{format}: {out:?} {said:?}");
        assert!(said.contains("c.sqlog: it is a FIFO") && said.contains("; it is left out\n"), "{said}");
        if format == "csv" {
            assert_eq!(out.lines().count(), 2, "one trace, once: {out}");
        }
    }
    for command in ["info", "lint", "identify"] {
        let done = windlass(&["qlog", command, &directory]);
        let both = format!("{}{}", stdout(&done), stderr(&done));
        assert!(!both.contains('\u{1b}'), "{command}: {both:?}");
    }
    // A file that is named is not waited for either.
    let named = windlass(&["qlog", "metrics", &format!("{directory}/c.sqlog")]);
    assert!(
        !named.status.success() && stderr(&named).contains("it is a FIFO, which may never end"),
        "{}",
        stderr(&named)
    );
    // 100 MB of one event again and again, 250 bytes for each; beyond 500 the library's own limit is tested there.
    let bomb = place.path("bomb.sqlog.gz");
    let mut out = flate2::write::GzEncoder::new(std::fs::File::create(&bomb).unwrap(), flate2::Compression::best());
    out.write_all(text.as_bytes()).unwrap();
    let event = text.lines().rfind(|line| line.contains("packet_sent")).unwrap();
    let many = format!("{event}\n").repeat(1000);
    for _ in 0..100_000_000 / many.len() + 1 {
        out.write_all(many.as_bytes()).unwrap();
    }
    out.finish().unwrap();
    let raised = windlass(&["qlog", "metrics", &bomb, "--max-decompressed", "200000000"]);
    assert!(raised.status.success(), "{}", stderr(&raised));
    let bounded = windlass(&["qlog", "metrics", &bomb, "--max-decompressed", "90000000"]);
    assert!(
        stderr(&bounded).contains("more than 90000000 bytes; --max-decompressed allows more"),
        "{}",
        stderr(&bounded)
    );
}

/// What a terminal acts on, in the middle of a name; its last line could be taken for one of ours.
#[cfg(unix)]
const HOSTILE: &str = "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}b\u{2066}\u{2028}\u{200b}\r\nFORGED";

/// No byte of [`HOSTILE`] that a terminal acts on is in what a command printed, and none of its lines is.
#[cfg(unix)]
#[track_caller]
fn harmless(command: &str, printed: &[u8]) {
    let text = String::from_utf8_lossy(printed);
    let acts = |c: char| c != '\n' && (c.is_control() || HOSTILE.contains(c) && !c.is_ascii());
    assert!(!text.contains(acts), "{command} prints what a terminal acts on: {text:?}");
    assert!(!text.lines().any(|line| line.starts_with("FORGED")), "{command} prints a line of a trace: {text:?}");
}

#[cfg(unix)]
#[test]
fn no_command_prints_the_texts_of_a_trace_as_they_are() {
    let place = Place::new();
    let directory = place.path(&format!("d{HOSTILE}"));
    std::fs::create_dir_all(&directory).unwrap();
    let text = std::fs::read_to_string(format!("{}/first.sqlog", traces(&place))).unwrap();
    let (header, events) = text.split_once('\n').unwrap();
    let mut header = json(header.trim_start_matches('\u{1e}'));
    header["title"] = HOSTILE.into();
    header["description"] = HOSTILE.into();
    let trace = &mut header["trace"];
    trace["title"] = HOSTILE.into();
    trace["description"] = HOSTILE.into();
    trace["vantage_point"]["name"] = HOSTILE.into();
    trace["common_fields"]["group_id"] = HOSTILE.into();
    // An event with a name, a field and a value that are unknown, and a record that cannot be read.
    let unknown = serde_json::json!({ "time": 0.0, "name": format!("x:{HOSTILE}"), "data": { HOSTILE: HOSTILE } });
    let wrong = serde_json::json!({ "time": HOSTILE, "name": "quic:packet_sent", "data": { "header": HOSTILE } });
    let file = format!("{directory}/{HOSTILE}.sqlog");
    std::fs::write(&file, format!("\u{1e}{header}\n\u{1e}{unknown}\n\u{1e}{wrong}\n{events}")).unwrap();
    std::fs::copy(&file, format!("{directory}/b{HOSTILE}.sqlog")).unwrap();
    let broken = place.path(&format!("e{HOSTILE}"));
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(format!("{broken}/c{HOSTILE}.sqlog"), HOSTILE).unwrap();
    let [page, figures, out, set] =
        ["page.html", "figures", "out.sqlog", "set"].map(|name| place.path(&format!("{name}{HOSTILE}")));
    let mut commands = vec![
        vec!["info"],
        vec!["info", "--json"],
        vec!["lint"],
        vec!["lint", "--json"],
        vec!["identify"],
        vec!["identify", "--json"],
        vec!["identify", "--one-sender"],
        vec!["identify", "--one-sender", "--json"],
        vec!["replay", "-c", "reno"],
        vec!["replay", "-c", "reno", "--json"],
        vec!["replay", "-c", "reno", "--csv"],
        vec!["replay", "-c", "reno", "--connection", HOSTILE],
        vec!["compare", "--by", "file"],
        vec!["compare", "--by", "file", "--format", "csv", "--out", &page],
        vec!["compare", "--by", "file", "--format", "json"],
        vec!["report", "--out", &page, "--svg", &figures],
        vec!["convert", "--to", "qvis", "--framing", "json", "--out", &out],
    ];
    for format in ["table", "csv", "json"] {
        commands.push(vec!["metrics", "--sharing", "--format", format]);
    }
    // A dataset's file names have no such characters; its tables do (`answers_are_escaped` of windlass-qlog-columns).
    if cfg!(feature = "parquet") {
        commands.push(vec!["parquet", "--out", &set]);
    }
    let (mut refused, missing) = (Vec::new(), format!("{directory}/none"));
    for command in &commands {
        for input in [&directory, &file, &broken, &missing] {
            let arguments = [&["qlog", command[0], input.as_str()], &command[1..]].concat();
            let done = windlass(&arguments);
            let name = command.join(" ");
            harmless(&name, &done.stdout);
            harmless(&name, &done.stderr);
            if input == &directory && !done.status.success() {
                refused.push((name, stderr(&done).to_owned()));
            }
        }
    }
    // The lint finds what is wrong with them, and so fails.
    let refused: Vec<_> = refused.iter().filter(|(name, _)| !name.starts_with("lint")).collect();
    assert!(refused.is_empty(), "{refused:?}");
    let mut watch = crate::command::start(&["qlog", "watch", &directory]);
    let mut watch = watch.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut printed = std::io::BufReader::new(watch.stdout.take().unwrap());
    for _ in 0..2 {
        let mut line = Vec::new();
        std::io::BufRead::read_until(&mut printed, b'\n', &mut line).unwrap();
        assert!(!line.is_empty());
        harmless("watch", &line);
    }
    watch.kill().unwrap();
    watch.wait().unwrap();
    let scenario = place.file(
        "hostile.toml",
        &format!("name = \"x\"\n# {}\nwrong = \"{HOSTILE}\"\n", HOSTILE.replace(['\r', '\n'], "")),
    );
    let wrong = windlass(&["run", &scenario, "-c", "reno"]);
    assert_eq!(wrong.status.code(), Some(2));
    harmless("run", &wrong.stderr);
}
