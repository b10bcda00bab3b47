//! `msquic-perf`: a server, and a client that measures uploads, downloads and requests.

#![forbid(unsafe_code)]

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use windlass_msquic_endpoint::{Library, Settings};
use windlass_msquic_perf::{Error, Plan, algorithm_id, run, serve};

const USAGE: &str = "usage:
  msquic-perf server ADDRESS CERTIFICATE KEY [cc=NAME]
  msquic-perf upload ADDRESS BYTES [cc=NAME]
  msquic-perf download ADDRESS BYTES [cc=NAME]
  msquic-perf requests ADDRESS UPLOAD DOWNLOAD PARALLEL SECONDS [cc=NAME]

cc=NAME is a controller of the catalogue, or native:cubic or native:bbr; that of the sender takes effect:
for downloads the server's. Without it MSQUIC_CC and MSQUIC_CONFIG decide.";

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let controller = arguments.last().and_then(|last| last.strip_prefix("cc=")).map(str::to_owned);
    if controller.is_some() {
        arguments.pop();
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match execute(&words, controller.as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("msquic-perf: {error}");
            ExitCode::FAILURE
        }
    }
}

fn execute(words: &[&str], controller: Option<&str>) -> Result<(), Error> {
    let library = Library::open("perf")?;
    // The program contains the catalogue, which the environment may name controllers of.
    windlass_msquic::add_catalogue().map_err(|error| Error(error.to_string()))?;
    let settings = Settings {
        congestion_control: controller.map(algorithm_id).transpose()?,
        ecn: true,
        one_way_delay: true,
        receive_window: 1 << 26,
        ..Settings::default()
    };
    match words {
        ["server", address, certificate, key] => {
            let server = serve(&library, &settings, resolve(address)?, Path::new(certificate), Path::new(key))?;
            println!("listening at {}", server.address()?);
            loop {
                std::thread::park();
            }
        }
        [kind @ ("upload" | "download"), address, bytes] => {
            let bytes = integer(bytes)?;
            let upload = if *kind == "upload" { bytes } else { 0 };
            let plan = Plan { upload, download: bytes - upload, parallel: 1, duration: None };
            let measurement = run(&library, &settings, resolve(address)?, &plan)?;
            let seconds = measurement.elapsed.as_secs_f64();
            println!(
                "{kind} {bytes} bytes in {seconds:.3} s: {:.1} Mbit/s, {} packets sent, {} declared lost, window {}",
                bytes as f64 * 8e-6 / seconds,
                measurement.statistics.SendTotalPackets,
                measurement.statistics.SendSuspectedLostPackets,
                measurement.statistics.SendCongestionWindow,
            );
            Ok(())
        }
        ["requests", address, upload, download, parallel, seconds] => {
            let plan = Plan {
                upload: integer(upload)?,
                download: integer(download)?,
                parallel: integer(parallel)?.clamp(1, 10_000) as usize,
                duration: Some(Duration::from_secs(integer(seconds)?)),
            };
            let measurement = run(&library, &settings, resolve(address)?, &plan)?;
            let seconds = measurement.elapsed.as_secs_f64();
            let latency = |share| measurement.latency(share).unwrap_or_default().as_secs_f64() * 1e3;
            println!(
                "{} requests in {seconds:.3} s: {:.0} per second; ms: median {:.3}, 99 % {:.3}, worst {:.3}",
                measurement.latencies.len(),
                measurement.latencies.len() as f64 / seconds,
                latency(0.5),
                latency(0.99),
                latency(1.0),
            );
            Ok(())
        }
        _ => Err(Error(USAGE.to_owned())),
    }
}

fn integer(text: &str) -> Result<u64, Error> {
    text.parse().map_err(|_| Error(format!("{text:?} is no number\n{USAGE}")))
}

fn resolve(text: &str) -> Result<SocketAddr, Error> {
    let mut found = text.to_socket_addrs().map_err(|error| Error(format!("{text}: {error}; expected HOST:PORT")))?;
    found.next().ok_or_else(|| Error(format!("{text}: no address")))
}
