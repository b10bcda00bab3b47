//! A directory of Parquet files: what is in it, what replaces what, and what an interrupted
//! run leaves.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use windlass_qlog::{Detail, Frame, Header, Metrics, Packet, Profile, RecoveryParameters, Trace};
use windlass_qlog_analysis::read::Options;
use windlass_qlog_columns::{Added, Dataset, Error, Labels, Table};

/// A trace of a controller, with as many packets as asked for.
fn trace(controller: &str, packets: u64) -> Vec<u8> {
    let header = Header { title: "flow", description: "x on lab, seed 1", name: "sim", ..Header::default() };
    let mut trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &header);
    trace.recovery_parameters_set(0, &RecoveryParameters::rfc9002(controller, 1200));
    for number in 0..packets {
        let frame = Frame::Stream { id: 0, offset: number * 1000, length: 1000, fin: false };
        trace.packet_sent(number * 1000, &Packet::one_rtt(number, 1200), &[frame]);
        trace.recovery_metrics(number * 1000, &Metrics { cwnd: Some(12_000 + number), ..Metrics::default() });
    }
    trace.finish().unwrap()
}

fn add(dataset: &Dataset, file: &str, text: &[u8], said: &Labels) -> Result<Added, Error> {
    dataset.add(file, || Ok(text), said, &Options { jobs: 1, ..Options::default() })
}

fn tree(directory: &Path) -> Vec<String> {
    fn walk(directory: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in directory.read_dir().unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    let mut found = Vec::new();
    walk(directory, directory, &mut found);
    found.sort();
    found
}

fn rows(path: &Path) -> Vec<RecordBatch> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    reader.build().unwrap().map(Result::unwrap).collect()
}

#[test]
fn rows_are_where_their_labels_say() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("set");
    let dataset = Dataset::open(&out).unwrap();
    let added = add(&dataset, "logs/a.sqlog", &trace("reno:iw=10", 3), &Labels::default()).unwrap();
    assert_eq!((added.connections, added.unknown, added.summary.bad_records), (1, 0, 0));
    assert_eq!((added.rows[&Table::Packets], added.rows[&Table::Recovery], added.rows[&Table::Events]), (3, 3, 1));
    let said = Labels { stack: Some("edge".to_owned()), ..Labels::default() };
    add(&dataset, "logs/b.sqlog", &trace("cubic", 2), &said).unwrap();
    let files = tree(&out);
    let of = |table: &str| -> Vec<&str> {
        let of = files.iter().filter(|file| file.starts_with(table));
        of.map(|file| file.rsplit_once('/').unwrap().0.split_once('/').unwrap().1).collect()
    };
    let expected = ["controller=cubic/stack=edge/scenario=lab", "controller=reno%3Aiw%3D10/stack=sim/scenario=lab"];
    for table in ["packets", "recovery", "events", "connections"] {
        assert_eq!(of(table), expected, "{table}");
    }
    assert_eq!(files.len(), 9, "four tables of two traces, and the marker: {files:?}");
    let connections = files.iter().find(|file| file.starts_with("connections/controller=reno")).unwrap();
    let batch = &rows(&out.join(connections))[0];
    let sent = batch.column_by_name("packets_sent").unwrap().as_primitive::<Float64Type>();
    assert_eq!((batch.num_rows(), sent.value(0)), (1, 3.0));
    let file = batch.column_by_name("file").unwrap().as_string::<i32>();
    assert_eq!(file.value(0), "logs/a.sqlog");
}

#[test]
fn rows_of_the_same_file_are_replaced_wherever_they_were() {
    let directory = tempfile::tempdir().unwrap();
    for (controller, packets) in [("reno", 5), ("cubic", 2)] {
        let dataset = Dataset::open(directory.path()).unwrap();
        add(&dataset, "a.sqlog", &trace(controller, packets), &Labels::default()).unwrap();
        add(&dataset, "other.sqlog", &trace("bbr", 1), &Labels::default()).unwrap();
    }
    let files = tree(directory.path());
    assert!(files.iter().all(|file| !file.contains("controller=reno")), "{files:?}");
    let mut packets = 0;
    for file in files.iter().filter(|file| file.starts_with("packets/")) {
        packets += rows(&directory.path().join(file)).iter().map(RecordBatch::num_rows).sum::<usize>();
    }
    assert_eq!(packets, 3);
}

#[test]
fn rows_stay_where_a_trace_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(directory.path()).unwrap();
    add(&dataset, "a.sqlog", &trace("reno", 5), &Labels::default()).unwrap();
    let before = tree(directory.path());
    let stopped = AtomicU64::new(0);
    // The second reading finds the file cut within its header.
    let open = || Ok(if stopped.fetch_add(1, Ordering::Relaxed) == 0 { trace("cubic", 5) } else { b"\x1e{".to_vec() });
    let open = || open().map(std::io::Cursor::new);
    let wrong = dataset.add("a.sqlog", open, &Labels::default(), &Options { jobs: 1, ..Options::default() });
    assert!(matches!(wrong, Err(Error::Read(_))), "{wrong:?}");
    assert!(matches!(add(&dataset, "a.sqlog", b"no qlog", &Labels::default()), Err(Error::Read(_))));
    assert_eq!(tree(directory.path()), before);
}

#[test]
fn another_directory_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("thesis.tex"), "").unwrap();
    let refused = Dataset::open(directory.path());
    assert!(matches!(&refused, Err(Error::Occupied { entry, .. }) if entry == "thesis.tex"), "{refused:?}");
    assert_eq!(tree(directory.path()), ["thesis.tex"]);
}

#[test]
fn many_rows_keep_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(directory.path()).unwrap();
    let packets = 200_000;
    let added = add(&dataset, "long.sqlog", &trace("reno", packets), &Labels::default()).unwrap();
    assert_eq!(added.rows[&Table::Packets], packets);
    let files = tree(directory.path());
    let path = directory.path().join(files.iter().find(|file| file.starts_with("packets/")).unwrap());
    let mut next = 0;
    for batch in rows(&path) {
        let numbers = batch.column_by_name("packet_number").unwrap().as_primitive::<UInt64Type>().clone();
        for number in numbers.values() {
            assert_eq!(*number, next);
            next += 1;
        }
    }
    assert_eq!(next, packets);
    let groups = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
    assert!(groups.metadata().num_row_groups() > 1, "no group holds them all");
}

#[test]
fn what_is_not_understood_is_counted() {
    let mut text = trace("reno", 1);
    text.extend_from_slice(
        b"\x1e{\"time\":9,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"mood\":\"good\"}}\n",
    );
    let directory = tempfile::tempdir().unwrap();
    let dataset = Dataset::open(directory.path()).unwrap();
    let added = add(&dataset, "a.sqlog", &text, &Labels::default()).unwrap();
    assert_eq!((added.unknown, added.rows[&Table::Unknown]), (1, 1));
}
