//! What is measured of every trace at hand against a count that has nothing of ours:
//! `ci/reading/count.py`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use windlass_qlog_analysis::metrics::measure;
use windlass_qlog_analysis::read::{Options, open};

#[test]
fn an_independent_count_agrees() {
    let files: Vec<PathBuf> =
        crate::recorded::all().into_iter().filter(|path| path.extension().is_none_or(|end| end != "zst")).collect();
    let mut ours = String::new();
    let mut connections = 0;
    for path in &files {
        let (_, found) = measure(open(path).unwrap(), &Options::default()).unwrap();
        connections += found.len();
        let of_file: Vec<_> = found.iter().map(|one| one.to_json("")).collect();
        ours.push_str(&format!("{}\n", serde_json::Value::from(of_file)));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ci/reading/count.py");
    let mut count = Command::new("python3");
    count.arg(script).arg("--compare").args(&files).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut count = count.spawn().expect("python3 runs");
    count.stdin.take().unwrap().write_all(ours.as_bytes()).unwrap();
    let output = count.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(connections >= 14, "only {connections} connections");
}
