//! `windlass qlog parquet` and `sql`.
#![cfg(feature = "parquet")]

use std::path::Path;
use std::process::Stdio;

use crate::command::{Place, contents, names, start, stderr, stdout, windlass};
use crate::qlog_commands::traces;

#[test]
fn traces_become_a_dataset() {
    let place = Place::new();
    let directory = traces(&place);
    let out = place.path("set");
    let done = windlass(&["qlog", "parquet", &directory, "--out", &out]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(stdout(&done).starts_with("2 files, 2 connections, "), "{}", stdout(&done));
    let expected = ["controller=cubic", "controller=reno"];
    for table in ["connections", "packets", "recovery", "events"] {
        assert_eq!(names(&Path::new(&out).join(table)), expected, "{table}");
    }
    let packets = Path::new(&out).join("packets/controller=reno/stack=sim/scenario=short");
    assert_eq!(names(&packets).len(), 1);
    // The same traces again change nothing.
    let before = crate::command::contents(Path::new(&out));
    assert!(windlass(&["qlog", "parquet", &directory, "--out", &out]).status.success());
    assert_eq!(crate::command::contents(Path::new(&out)), before);
    let occupied = windlass(&["qlog", "parquet", &directory, "--out", place.dir().to_str().unwrap()]);
    assert_eq!(occupied.status.code(), Some(1), "{}", stderr(&occupied));
    assert!(stderr(&occupied).contains("which is not part of an earlier result"), "{}", stderr(&occupied));
    let wrong = place.file("wrong.sqlog", "no qlog");
    let other = place.path("other");
    assert_eq!(windlass(&["qlog", "parquet", &wrong, "--out", &other]).status.code(), Some(1));
    assert!(!Path::new(&other).exists(), "nothing is left of what failed");
    let file = place.path("metrics.parquet");
    assert!(windlass(&["qlog", "metrics", &directory, "--format", "parquet", "--out", &file]).status.success());
    assert!(std::fs::read(&file).unwrap().starts_with(b"PAR1"));
}

#[cfg(feature = "sql")]
#[test]
fn a_dataset_answers_questions() {
    let place = Place::new();
    let out = place.path("set");
    assert!(windlass(&["qlog", "parquet", &traces(&place), "--out", &out]).status.success());
    let question = "SELECT controller, count(*) AS n FROM connections GROUP BY controller ORDER BY controller";
    let csv = windlass(&["qlog", "sql", &out, question, "--format", "csv"]);
    assert_eq!(stdout(&csv), "controller,n\ncubic,1\nreno,1\n", "{}", stderr(&csv));
    let table = windlass(&["qlog", "sql", &out, "controllers"]);
    assert!(stdout(&table).contains("| short    | cubic"), "{}{}", stdout(&table), stderr(&table));
    let listed = windlass(&["qlog", "sql", "--example"]);
    assert!(stdout(&listed).contains("destinations"), "{}", stdout(&listed));
    let shown = windlass(&["qlog", "sql", "--example", "destinations"]);
    assert!(stdout(&shown).starts_with("-- Which destinations"), "{}", stdout(&shown));
    for wrong in [&["qlog", "sql", &out, "SELECT nothing FROM packets"], &["qlog", "sql", "nowhere", "SELECT 1"]] {
        let done = windlass(wrong);
        assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    }
}

/// A directory with two traces, one of them of another controller than the dataset `set` has, and a file that is none.
fn earlier(place: &Place, set: &str) -> String {
    let directory = traces(place);
    let first = format!("{directory}/first.sqlog");
    assert!(windlass(&["qlog", "parquet", &first, "--out", set, "--controller", "other"]).status.success());
    std::fs::write(format!("{directory}/empty.sqlog"), "").unwrap();
    directory
}

#[test]
fn a_file_that_cannot_be_read_is_left_out_and_its_rows_of_before_stay() {
    let place = Place::new();
    let set = place.path("set");
    let directory = earlier(&place, &set);
    let first = format!("{directory}/first.sqlog");
    let rows = Path::new(&set).join("packets/controller=other/stack=sim/scenario=short");
    let before = contents(&rows);
    std::fs::write(&first, "no qlog").unwrap();
    let done = windlass(&["qlog", "parquet", &directory, "--out", &set]);
    assert_eq!(done.status.code(), Some(3), "{}", stderr(&done));
    assert!(stdout(&done).starts_with("1 files, 1 connections, "), "{}", stdout(&done));
    assert!(stderr(&done).contains("empty.sqlog: nothing is in it") && stderr(&done).contains("first.sqlog: "));
    assert_eq!(contents(&rows), before);
    assert_eq!(names(&Path::new(&set).join("connections")), ["controller=other", "controller=reno"]);
}

#[test]
fn a_dataset_is_written_by_one_at_a_time_and_never_over_its_traces() {
    let place = Place::new();
    let set = place.path("set");
    let directory = earlier(&place, &set);
    let before = contents(Path::new(&set));
    // Waits for its input with the dataset locked.
    let mut waiting = start(&["qlog", "parquet", "-", "--out", &set]);
    let mut waiting = waiting.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let hidden = || place.entries().iter().any(|name| name.starts_with(".windlass-"));
    while !hidden() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let refused = windlass(&["qlog", "parquet", &directory, "--out", &set]);
    let expected =
        format!("error: another windlass is writing to {set}; wait until it is done, or name another directory\n");
    assert_eq!((stderr(&refused), refused.status.code()), (expected.as_str(), Some(1)));
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    assert_eq!(contents(Path::new(&set)), before);
    let inside = format!("{set}/packets/trace.sqlog");
    std::fs::copy(format!("{directory}/first.sqlog"), &inside).unwrap();
    let refused = windlass(&["qlog", "parquet", &inside, "--out", &set]);
    assert!(stderr(&refused).contains("is read by this command"), "{}", stderr(&refused));
}

#[test]
fn a_dataset_that_is_being_added_to_when_the_command_is_killed_is_as_it_was_or_has_all() {
    let place = Place::new();
    let (set, whole) = (place.path("set"), place.path("whole"));
    let directory = earlier(&place, &set);
    let before = contents(Path::new(&set));
    earlier(&place, &whole);
    let begun = std::time::Instant::now();
    windlass(&["qlog", "parquet", &directory, "--out", &whole]);
    let usual = begun.elapsed();
    let after = contents(Path::new(&whole));
    for kill in 0..20 {
        let mut command = start(&["qlog", "parquet", &directory, "--out", &set]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(usual.mul_f64(f64::from(kill) / 16.0));
        child.kill().unwrap();
        child.wait().unwrap();
        let there = contents(Path::new(&set));
        assert!(there == before || there == after, "kill {kill}");
    }
    assert_eq!(windlass(&["qlog", "parquet", &directory, "--out", &set]).status.code(), Some(3));
    assert!(contents(Path::new(&set)) == after);
    assert!(!place.entries().iter().any(|name| name.starts_with('.')), "{:?}", place.entries());
}

#[cfg(feature = "sql")]
#[test]
fn a_broken_file_of_a_dataset_hides_no_other() {
    let place = Place::new();
    let set = place.path("set");
    let directory = earlier(&place, &set);
    windlass(&["qlog", "parquet", &directory, "--out", &set]);
    let connections = Path::new(&set).join("connections/controller=reno/stack=sim/scenario=short");
    let broken = connections.join(&names(&connections)[0]);
    std::fs::write(&broken, "PAR1").unwrap();
    let asked = windlass(&["qlog", "sql", &set, "SELECT count(*) AS n FROM connections", "--format", "csv"]);
    assert_eq!((asked.status.code(), stdout(&asked)), (Some(3), "n\n1\n"), "{}", stderr(&asked));
    assert!(stderr(&asked).contains(&broken.display().to_string()), "{}", stderr(&asked));
    assert!(stderr(&asked).ends_with("error: 1 file could not be read and is left out\n"), "{}", stderr(&asked));
}
