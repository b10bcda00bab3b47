//! The lint on recorded traces of many implementations, where they are at hand.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use windlass_qlog_analysis::lint::{Profile, Report, Rule, lint};

fn directory() -> Option<PathBuf> {
    let path = crate::read_recorded::folder();
    if !path.is_dir() {
        println!("skipped: there are no traces at {}", path.display());
        return None;
    }
    Some(path)
}

fn open(name: &str) -> Option<BufReader<File>> {
    let path = directory()?.join(name);
    match File::open(&path) {
        Ok(file) => Some(BufReader::new(file)),
        Err(error) => {
            println!("skipped: {}: {error}", path.display());
            None
        }
    }
}

/// The rules that `name` breaks; none if it is not there.
fn broken(name: &str, profile: Profile) -> Option<(Vec<Rule>, Report)> {
    let report = lint(open(name)?, profile);
    Some((report.counts.keys().copied().collect(), report))
}

macro_rules! expect {
    ($name:literal, $profile:ident, [$($rule:ident),* $(,)?]) => {
        if let Some((rules, report)) = broken($name, Profile::$profile) {
            let expected: &[Rule] = &[$(Rule::$rule),*];
            assert_eq!(rules, expected, "{}: {report}", $name);
        }
    };
}

#[test]
fn traces_made_for_a_reader_pass_in_their_own_profile() {
    expect!("minimal-qvis.sqlog", Qvis, []);
    expect!("minimal-ietf.sqlog", Ietf, [SchemaUnlisted, TimeOrder]);
    expect!("aioquic-huntrag-client-success.qlog", Qvis, []);
    expect!("aioquic-huntrag-server-failed.qlog", Qvis, []);
    expect!("qvis-draft01-spinbit.qlog", Qvis, []);
}

#[test]
fn the_two_eras_cannot_read_each_other() {
    for name in ["minimal-ietf.sqlog", "selfgen-quiche-0.30-server-cubic.sqlog"] {
        let Some((rules, report)) = broken(name, Profile::Qvis) else { continue };
        assert!(rules.contains(&Rule::HeaderNew) && report.counts[&Rule::NameNew] + 1 >= report.events, "{report}");
    }
    for name in ["minimal-qvis.sqlog", "aioquic-huntrag-client-success.qlog", "qvis-draft01-f5-parallel10.qlog"] {
        let Some((rules, report)) = broken(name, Profile::Ietf) else { continue };
        assert!(rules.contains(&Rule::HeaderOld) && report.counts[&Rule::NameOld] == report.events, "{report}");
    }
}

#[test]
fn a_range_that_freezes_qvis_is_found_at_once() {
    let Some(mut file) = open("picoquic-binlog_ref.qlog") else { return };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    let start = Instant::now();
    let report = lint(&bytes[..], Profile::Qvis);
    assert!(report.counts.contains_key(&Rule::AckSpan), "{report}");
    assert_eq!(report.events, 77);
    // It spans 2^62 numbers: whoever visits them does not come back.
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn what_quinn_gets_wrong_is_found() {
    expect!(
        "selfgen-quinn-0.11.12-server-cubic.sqlog",
        Qvis,
        [VantagePoint, CwndName, SsthreshInfinite, RttUnit, RawLength, NoPackets]
    );
}

#[test]
fn what_quiche_gets_wrong_is_found() {
    expect!("selfgen-quiche-0.30-server-cubic.sqlog", Ietf, [SerializationFormat, SsthreshInfinite, FrameLength]);
}

#[test]
fn what_is_not_qlog_is_reported() {
    expect!("chromium156-sample-small.netlog.json", Ietf, [NotQlog]);
    expect!("qvis-prespec-ngtcp2-10ploss.qlog.js", Qvis, [RecordJson]);
    expect!("tcp-ebpf-1572876870.02.qlog", Qvis, [TimeOrder, NoPackets]);
}

#[test]
fn every_trace_is_read_to_its_end() {
    let Some(directory) = directory() else { return };
    for entry in directory.read_dir().unwrap() {
        let path = entry.unwrap().path();
        for profile in [Profile::Ietf, Profile::Qvis] {
            let report = lint(BufReader::new(File::open(&path).unwrap()), profile);
            println!("{} as {profile:?}: {report}", path.display());
            assert!(!report.counts.contains_key(&Rule::FileRead));
        }
    }
}
