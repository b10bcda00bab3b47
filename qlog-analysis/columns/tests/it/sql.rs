//! Questions to a dataset, answered.

use std::path::Path;

use windlass_qlog::{Detail, Header, LossTrigger, Metrics, Packet, PacketType, Profile, RecoveryParameters, Trace};
use windlass_qlog_analysis::read::Options;
use windlass_qlog_columns::sql::{EXAMPLES, Format, SqlError, query};
use windlass_qlog_columns::{Dataset, Labels};

/// A trace to a destination that loses some of a thousand packets.
fn trace(controller: &str, peer: &str, lost: u64) -> Vec<u8> {
    let title = format!("quinn to {peer}:443 by {controller}");
    let header = Header { title: &title, ..Header::default() };
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &header);
    trace.recovery_parameters_set(0, &RecoveryParameters::rfc9002(controller, 1200));
    for number in 0..1000 {
        let now = number * 1_000_000;
        trace.packet_sent(now, &Packet::one_rtt(number, 1200), &[]);
        let metrics =
            Metrics { cwnd: Some(12_000 + number), latest_rtt: Some(20_000_000 + now / 10), ..Metrics::default() };
        trace.recovery_metrics(now, &metrics);
        if number % 10 == 0 && number / 10 < lost {
            trace.packet_lost(now, PacketType::OneRtt, number, Some(LossTrigger::TimeThreshold));
        }
    }
    trace.finish().unwrap()
}

fn dataset() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(directory.path()).unwrap();
    for (controller, peer, lost) in [
        ("bbr:x=1", "192.0.2.1", 30),
        ("cubic", "192.0.2.1", 2),
        ("bbr", "192.0.2.2", 40),
        ("cubic", "192.0.2.2", 50),
        ("bbr", "192.0.2.3", 1),
        ("cubic", "192.0.2.3", 0),
    ] {
        let text = trace(controller, peer, lost);
        let file = format!("{controller}-{peer}.sqlog");
        dataset
            .add(&file, || Ok(text.as_slice()), &Labels::default(), &Options { jobs: 1, ..Options::default() })
            .unwrap();
    }
    directory
}

fn ask(directory: &Path, question: &str, format: Format) -> Result<String, SqlError> {
    let mut out = Vec::new();
    query(directory, question, format, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn example(name: &str) -> &'static str {
    EXAMPLES.iter().find(|example| example.name == name).unwrap().sql
}

#[test]
fn questions_are_answered() {
    let directory = dataset();
    let csv = |question: &str| ask(directory.path(), question, Format::Csv).unwrap();
    let answer = csv(example("destinations"));
    assert_eq!(answer, "destination,bbr_loss_percent,cubic_loss_percent\n192.0.2.1,3.0,0.2\n");
    // The labels of folders are what they were, and columns of every table.
    let answer = csv("SELECT DISTINCT controller, stack, scenario FROM packets ORDER BY controller");
    assert_eq!(answer, "controller,stack,scenario\nbbr,quinn,unknown\nbbr:x=1,quinn,unknown\ncubic,quinn,unknown\n");
    let answer = csv("SELECT count(*) AS n FROM packets WHERE event = 'sent' AND controller = 'cubic'");
    assert_eq!(answer, "n\n3000\n");
    assert_eq!(csv("SELECT count(*) AS n FROM state_variables"), "n\n0\n", "a table without rows is there");
    let answer = csv(example("window-at-loss"));
    // The 30 losses of bbr:x=1 are of packets 0, 10, … 290: windows of 12 000 and that many.
    assert!(answer.contains("\nbbr:x=1,30,12145.0,12000,12290,14.5\n"), "{answer}");
    for example in EXAMPLES {
        let answer = ask(directory.path(), example.sql, Format::Csv);
        assert!(answer.as_ref().is_ok_and(|answer| answer.contains(',')), "{}: {answer:?}", example.name);
    }
}

#[test]
fn answers_come_in_three_forms() {
    let directory = dataset();
    let question = "SELECT 1 AS one, 'a,b' AS two";
    let ask = |format| ask(directory.path(), question, format).unwrap();
    assert_eq!(ask(Format::Csv), "one,two\n1,\"a,b\"\n");
    assert_eq!(ask(Format::Json), "{\"one\":1,\"two\":\"a,b\"}\n");
    assert!(ask(Format::Table).contains("| one | two |"));
}

#[test]
fn a_question_changes_nothing() {
    let directory = dataset();
    let out = directory.path().join("stolen.parquet");
    for statement in [
        format!("COPY packets TO '{}' STORED AS PARQUET", out.display()),
        "CREATE TABLE t AS SELECT 1".to_owned(),
        "DROP TABLE packets".to_owned(),
        "INSERT INTO connections SELECT * FROM connections".to_owned(),
        "SET datafusion.execution.batch_size = 1".to_owned(),
    ] {
        let answer = ask(directory.path(), &statement, Format::Csv);
        assert!(matches!(answer, Err(SqlError::Query(_))), "{statement}: {answer:?}");
    }
    assert!(!out.exists());
}

/// A Parquet file that was cut has no end, and nothing in it can be found; an empty one and a foreign one neither.
#[test]
fn files_that_are_broken_hide_no_others() {
    let directory = dataset();
    let question = "SELECT controller, count(*) AS n FROM connections GROUP BY controller ORDER BY controller";
    let mut out = Vec::new();
    let whole = query(directory.path(), question, Format::Csv, &mut out).unwrap();
    assert_eq!((whole.rows, whole.left_out), (3, vec![]));
    let files = |table: &str| {
        let mut found = Vec::new();
        let mut folders = vec![directory.path().join(table)];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir().unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { found.push(path) }
            }
        }
        found.sort();
        found
    };
    let broken: Vec<_> =
        files("connections").into_iter().filter(|file| file.to_str().unwrap().contains("cubic")).collect();
    let [cut, empty, foreign] = &broken[..] else { panic!("{broken:?}") };
    let bytes = std::fs::read(cut).unwrap();
    std::fs::write(cut, &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(empty, "").unwrap();
    std::fs::write(foreign, "a picture, and not one of columns").unwrap();
    let mut out = Vec::new();
    let answered = query(directory.path(), question, Format::Csv, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "controller,n\nbbr,2\nbbr:x=1,1\n");
    let left_out: Vec<_> = answered.left_out.iter().map(|(file, _)| file.clone()).collect();
    assert_eq!(left_out, broken);
    // One that is damaged within is found only while it is read.
    let whole = files("packets").into_iter().find(|file| file.to_str().unwrap().contains("bbr%3A")).unwrap();
    let mut bytes = std::fs::read(&whole).unwrap();
    let kept = bytes.clone();
    let half = bytes.len() / 2;
    bytes[4..half].fill(0xa5);
    std::fs::write(&whole, bytes).unwrap();
    let answer = ask(directory.path(), "SELECT * FROM packets", Format::Json).unwrap_err();
    assert!(answer.to_string().starts_with(&format!("cannot read {}: ", whole.display())), "{answer}");
    std::fs::write(&whole, kept).unwrap();
    // The other tables have all their rows.
    let answer = ask(directory.path(), "SELECT count(*) AS n FROM packets WHERE event = 'sent'", Format::Csv).unwrap();
    assert_eq!(answer, "n\n6000\n");
    for table in ["packets", "recovery", "events", "connections"] {
        files(table).iter().for_each(|file| std::fs::write(file, "").unwrap());
    }
    let answer = ask(directory.path(), "SELECT 1", Format::Csv).unwrap_err();
    assert!(matches!(answer, SqlError::Unreadable { .. }), "{answer:?}");
    assert!(answer.to_string().contains(".parquet: "), "{answer}");
}

#[test]
fn what_is_no_dataset_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let answer = ask(directory.path(), "SELECT 1", Format::Csv);
    assert!(matches!(answer, Err(SqlError::NoDataset(_))), "{answer:?}");
    let answer = ask(dataset().path(), "SELECT nothing FROM packets", Format::Csv);
    assert!(answer.unwrap_err().to_string().contains("nothing"));
}

#[test]
fn answers_are_escaped() {
    let hostile = "=1+1\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\r\nFORGED";
    let directory = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(directory.path()).unwrap();
    let text = trace(hostile, hostile, 3);
    let labels = Labels { scenario: Some(hostile.to_owned()), ..Labels::default() };
    let again = || Ok(text.as_slice());
    dataset.add(hostile, again, &labels, &Options { jobs: 1, ..Options::default() }).unwrap();
    for question in [
        "SELECT * FROM connections",
        "SELECT DISTINCT controller, scenario FROM packets",
        "SELECT count(*) AS n, title AS \"a\u{1b}[2J\" FROM connections GROUP BY title",
        "SELECT array_agg(title) AS titles FROM connections",
    ] {
        for format in [Format::Table, Format::Json, Format::Csv] {
            // CSV has no lists.
            if question.contains("array_agg") && format == Format::Csv {
                continue;
            }
            let answer = ask(directory.path(), question, format).unwrap();
            assert!(answer.contains("owned"), "{question} as {format:?} has no text of the trace: {answer:?}");
            let acts = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert!(!answer.contains(acts), "{question} as {format:?}: {answer:?}");
            let list = question.contains("array_agg") && format == Format::Table;
            assert!(
                list || !answer.lines().any(|line| line.starts_with("FORGED")),
                "{question} as {format:?}: {answer:?}"
            );
        }
    }
    let csv = ask(directory.path(), "SELECT title FROM connections", Format::Csv).unwrap();
    assert!(csv.lines().skip(1).all(|line| !line.trim_start_matches('"').starts_with('=')), "{csv:?}");
}
