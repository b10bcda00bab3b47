use super::*;

fn text(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}

#[test]
fn files_hold_what_was_written_once_the_spool_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let below = directory.path().join("a").join("b");
    let writer = LogWriter::open(&below).unwrap();
    let (mut first, mut second) = (writer.file("first"), writer.file("second"));
    for i in 0..100 {
        writeln!(first, "\u{1e}{i}").unwrap();
    }
    second.write_all(b"\x1eone\n").unwrap();
    drop(second);
    writer.wait();
    assert_eq!(text(&below, "second"), "\u{1e}one\n");
    drop(writer);
    first.write_all(b"\x1elast\n").unwrap();
    drop(first);
    let whole = text(&below, "first");
    assert_eq!(whole.matches('\u{1e}').count(), 101);
    assert!(whole.ends_with("\u{1e}99\n\u{1e}last\n"));
}

#[test]
fn what_does_not_fit_is_dropped_by_record_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let writer = LogWriter::with_capacity(directory.path(), 0).unwrap();
    let mut file = writer.file("f");
    let lost = file.lost();
    file.write_all(b"\x1eheader\n").unwrap();
    file.write_all(b"\x1e1\n\x1e2\n").unwrap();
    file.write_all(b"\x1e3\n").unwrap();
    assert_eq!(lost.load(Ordering::Relaxed), 3);
    let report = Report { dropped_records: 3, dropped_bytes: 9, ..Report::default() };
    assert_eq!(writer.report(), report);
    drop(file);
    writer.wait();
    assert_eq!(text(directory.path(), "f"), "\u{1e}header\n");
}

#[test]
fn a_file_that_cannot_be_written_is_reported_and_the_others_go_on() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("there"), "mine").unwrap();
    let writer = LogWriter::open(directory.path()).unwrap();
    let (mut there, mut new) = (writer.file("there"), writer.file("new"));
    for _ in 0..3 {
        there.write_all(b"\x1ex\n").unwrap();
        new.write_all(b"\x1ey\n").unwrap();
    }
    writer.wait();
    let report = writer.report();
    assert_eq!(report.failed_files, 1);
    let error = report.error.unwrap();
    assert!(error.contains("there: ") && error.contains("exists"), "{error}");
    assert_eq!(text(directory.path(), "there"), "mine");
    assert_eq!(text(directory.path(), "new"), "\u{1e}y\n".repeat(3));
}

#[test]
fn a_directory_has_one_writer_as_long_as_somebody_holds_it() {
    let directory = tempfile::tempdir().unwrap();
    let first = LogWriter::open(directory.path()).unwrap();
    let again = LogWriter::open(directory.path().join(".")).unwrap();
    assert!(Arc::ptr_eq(&first.0, &again.0));
    let elsewhere = LogWriter::open(directory.path().join("below")).unwrap();
    assert!(!Arc::ptr_eq(&first.0, &elsewhere.0));
    let mut file = again.file("f");
    drop((first, again));
    file.write_all(b"\x1eone\n").unwrap();
    LogWriter::wait_for_all();
    assert_eq!(text(directory.path(), "f"), "\u{1e}one\n");
    let held = Arc::downgrade(&file.writer.0);
    drop(file);
    assert_eq!(held.strong_count(), 0, "its thread has ended");
}

#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_takes_no_file_is_refused_at_once() {
    // Not even root may make a file there.
    assert!(LogWriter::open("/proc/self").is_err());
    let directory = tempfile::tempdir().unwrap();
    drop(LogWriter::open(directory.path()).unwrap());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "the trial leaves nothing");
}
