//! Commands on several files, some of which cannot be read.

use std::path::Path;

use crate::command::{Place, SHORT, fails, json, names, stderr, stdout, windlass};

/// A directory with a good trace, an empty file and a file of something else.
fn mixed(place: &Place) -> String {
    let short = place.file("short.toml", SHORT);
    let out = place.path("run");
    let run = windlass(&["run", &short, "-c", "cubic", "--qlog-detail", "packets", "--out", &out]);
    assert!(run.status.success(), "{}", stderr(&run));
    let directory = place.path("mixed");
    std::fs::create_dir(&directory).unwrap();
    std::fs::copy(format!("{out}/qlog/short/cubic@sim/first.sqlog"), format!("{directory}/good.sqlog")).unwrap();
    std::fs::write(format!("{directory}/empty.sqlog"), "").unwrap();
    std::fs::write(format!("{directory}/foreign.qlog"), "no qlog").unwrap();
    directory
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other() {
    let place = Place::new();
    let directory = mixed(&place);
    let [page, converted, both] = ["page.html", "converted/", "both.qlog"].map(|name| place.path(name));
    let good = format!("{directory}/good.sqlog");
    let alone = windlass(&["qlog", "metrics", &good, "--format", "csv"]);
    assert!(alone.status.success(), "{}", stderr(&alone));
    for command in [
        &["metrics", "--format", "csv"][..],
        &["info", "--json"],
        &["report", "--out", &page],
        &["identify", "--json"],
        &["replay", "-c", "reno", "--json"],
        &["convert", "--to", "qvis", "--out", &converted],
        &["convert", "--to", "qvis", "--out", &both],
    ] {
        let done = windlass(&[&["qlog", command[0], &directory], &command[1..]].concat());
        let (name, said) = (command.join(" "), stderr(&done));
        assert_eq!(done.status.code(), Some(3), "{name}: {said}");
        for file in ["empty.sqlog", "foreign.qlog"] {
            let told = said.lines().any(|line| {
                line.starts_with("cannot read ") && line.contains(file) && line.ends_with("; it is left out")
            });
            assert!(told, "{name} names {file}: {said}");
        }
        assert!(said.ends_with("error: 2 files could not be read and are left out\n"), "{name}: {said}");
        match command[0] {
            "metrics" => assert_eq!(stdout(&done), stdout(&alone)),
            "info" | "identify" | "replay" => assert_eq!(json(stdout(&done))["file"], good, "{name}"),
            "report" => assert!(std::fs::metadata(&page).unwrap().len() > 10_000),
            _ => {}
        }
    }
    assert_eq!(names(Path::new(&converted)), ["good.sqlog"]);
    assert_eq!(json(&std::fs::read_to_string(&both).unwrap())["traces"].as_array().unwrap().len(), 1);
    // Also where they are named one by one, and where one is not there.
    let absent = place.path("absent.sqlog");
    let done = windlass(&["qlog", "metrics", &absent, &good, "--format", "csv"]);
    assert_eq!((done.status.code(), stdout(&done)), (Some(3), stdout(&alone)), "{}", stderr(&done));
    assert!(stderr(&done).ends_with("error: 1 file could not be read and is left out\n"), "{}", stderr(&done));
}

#[test]
fn a_command_fails_where_no_file_is_left() {
    let place = Place::new();
    let directory = mixed(&place);
    std::fs::remove_file(format!("{directory}/good.sqlog")).unwrap();
    let empty = format!("{directory}/empty.sqlog");
    let text = format!("cannot read {empty}: nothing is in it; a qlog file begins with a header");
    fails(&["qlog", "metrics", &empty], 1, &text);
    for command in ["metrics", "info", "report", "identify"] {
        let done = windlass(&["qlog", command, &directory]);
        assert_eq!((done.status.code(), stdout(&done)), (Some(1), ""), "{command}");
        let said = stderr(&done);
        assert!(said.contains("foreign.qlog") && said.ends_with(&format!("error: {text}\n")), "{command}: {said}");
    }
}

#[test]
fn a_compressed_log_that_was_cut_is_measured_and_said_to_be() {
    use std::io::Write;
    let place = Place::new();
    let good = std::fs::read(format!("{}/good.sqlog", mixed(&place))).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&good).unwrap();
    let packed = packed.finish().unwrap();
    let cut = place.path("cut.sqlog.gz");
    std::fs::write(&cut, &packed[..packed.len() / 2]).unwrap();
    for command in [&["metrics"][..], &["convert", "--to", "ietf"]] {
        let done = windlass(&[&["qlog", command[0], &cut], &command[1..]].concat());
        assert!(done.status.success() && done.stdout.len() > 100, "{}", stderr(&done));
        assert!(stderr(&done).contains("cut.sqlog.gz: the compressed stream is cut or damaged"), "{}", stderr(&done));
    }
}

/// One end of a connection: packets sent and received, with their times, ms.
fn end(vantage: &str, sent: f64, received: f64) -> String {
    let header = format!(
        r#"{{"qlog_version":"0.3","qlog_format":"JSON-SEQ","trace":{{"vantage_point":{{"type":"{vantage}"}},"common_fields":{{"ODCID":"c1"}}}}}}"#
    );
    let event = |time: f64, name: &str, kind: &str, path: u64| {
        format!(
            r#"{{"time":{time},"name":"transport:{name}","data":{{"header":{{"packet_type":"{kind}","packet_number":0,"version":"00000001","path_id":{path}}},"raw":{{"length":1200}}}}}}"#
        )
    };
    let mut events = vec![
        (sent, event(sent, "packet_sent", "initial", 0)),
        (received, event(received, "packet_received", "initial", 0)),
        (sent.max(received) + 9.0, event(sent.max(received) + 9.0, "packet_sent", "1RTT", 0)),
        (sent.max(received) + 9.5, event(sent.max(received) + 9.5, "packet_sent", "1RTT", 1)),
    ];
    events.sort_by(|one, other| one.0.total_cmp(&other.0));
    let records = std::iter::once(header).chain(events.into_iter().map(|(_, event)| event));
    records.map(|record| format!("\u{1e}{record}\n")).collect()
}

/// 10 ms each way, the server's clock 2 s ahead; two paths.
#[test]
fn both_ends_of_a_connection_are_told_apart_and_drawn_on_one_clock() {
    let place = Place::new();
    let client = place.file("a.sqlog", &end("client", 0.0, 21.0));
    let server = place.file("b.sqlog", &end("server", 2011.0, 2010.0));
    let page = place.path("page.html");
    let report = windlass(&["qlog", "report", &client, &server, "--out", &page]);
    assert!(report.status.success(), "{}", stderr(&report));
    let html = std::fs::read_to_string(&page).unwrap();
    for text in [r#""name":"a#c1 (client)""#, r#""name":"b#c1 (server)""#, r#""later_s":0.01,"ahead_s":2.0"#] {
        assert!(html.contains(text), "{text}");
    }
    assert!(html.contains(r#""group":"c1 path 1""#) && html.contains(r#""quic_version":"00000001""#));
    let csv = windlass(&["qlog", "metrics", &client, &server, "--format", "csv"]);
    let rows: Vec<Vec<&str>> = stdout(&csv).lines().map(|line| line.split(',').collect()).collect();
    let at = |head: &str| rows[0].iter().position(|one| *one == head).unwrap();
    let shown: Vec<_> =
        rows[1..].iter().map(|row| [row[at("vantage")], row[at("path")], row[at("packets_sent")]]).collect();
    let of_end = |end| [[end, "", "3"], [end, "0", "2"], [end, "1", "1"]];
    assert_eq!(shown, [of_end("client"), of_end("server")].concat());
    let info = windlass(&["qlog", "info", &client]);
    assert!(stdout(&info).contains("QUIC version 00000001"), "{}", stdout(&info));
}
