//! Uploads, downloads and requests over 127.0.0.1.

use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;
use windlass_msquic_endpoint::{Library, Settings};
use windlass_msquic_perf::{Measured, Plan, Serving, run, serve};

const NATIVE_CUBIC: u16 = 0;

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| Library::open("perf").unwrap())
}

fn identity() -> &'static TempDir {
    static IDENTITY: OnceLock<TempDir> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name).display().to_string();
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
            .args(["-days", "2", "-subj", "/CN=localhost", "-keyout", &file("key"), "-out", &file("certificate")])
            .output()
            .expect("openssl is installed");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        directory
    })
}

fn settings(congestion_control: u16) -> Settings {
    Settings { congestion_control: Some(congestion_control), receive_window: 1 << 26, ..Settings::default() }
}

fn server(congestion_control: u16) -> Serving {
    let (certificate, key) = (identity().path().join("certificate"), identity().path().join("key"));
    serve(library(), &settings(congestion_control), ([127, 0, 0, 1], 0).into(), &certificate, &key).unwrap()
}

fn measure(server: &Serving, congestion_control: u16, plan: &Plan) -> Measured {
    run(library(), &settings(congestion_control), server.address().unwrap(), plan).unwrap()
}

const ONE: Plan = Plan { upload: 0, download: 0, parallel: 1, duration: None };

#[test]
fn what_was_asked_for_arrives() {
    let cubic = windlass_msquic::register("cubic").unwrap();
    let server = server(cubic);
    let upload = measure(&server, cubic, &Plan { upload: 10_000_000, ..ONE });
    assert_eq!((upload.received, upload.latencies.len()), (0, 1));
    assert!(upload.statistics.SendTotalStreamBytes >= 10_000_008);
    let download = measure(&server, cubic, &Plan { download: 10_000_001, ..ONE });
    assert_eq!(download.received, 10_000_001);
    let plan = Plan { upload: 100, download: 5000, parallel: 8, duration: Some(Duration::from_millis(200)) };
    let requests = measure(&server, cubic, &plan);
    assert!(requests.latencies.len() > 8, "{}", requests.latencies.len());
    assert_eq!(requests.received, 5000 * requests.latencies.len() as u64);
    assert!(requests.latency(0.5).unwrap() <= requests.latency(1.0).unwrap());
}

/// Our CUBIC beside MsQuic's own, by turns; the best of each counts, since whatever else the
/// machine does only takes away.
#[test]
#[ignore = "a measurement; ci/nightly"]
fn a_plugin_costs_no_throughput() {
    const BYTES: u64 = 400_000_000;
    let ours = windlass_msquic::register("cubic").unwrap();
    let server = server(NATIVE_CUBIC);
    let mut best = [0.0_f64; 2];
    for _ in 0..8 {
        for (best, congestion_control) in best.iter_mut().zip([ours, NATIVE_CUBIC]) {
            let measured = measure(&server, congestion_control, &Plan { upload: BYTES, ..ONE });
            *best = best.max(BYTES as f64 * 8e-6 / measured.elapsed.as_secs_f64());
        }
    }
    let [ours, native] = best;
    println!("upload over 127.0.0.1, Mbit/s, best of 8: our cubic {ours:.0}, MsQuic's {native:.0}");
    assert!(ours >= 0.98 * native, "{ours:.0} Mbit/s with ours, {native:.0} with MsQuic's");
}
