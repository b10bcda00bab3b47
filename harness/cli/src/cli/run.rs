//! `windlass run`: one scenario, and the options that say what is logged; and `windlass link`: a scenario's network
//! between a server and its clients.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::CliError;
use super::batch::{Batch, Host, Progress, failures, interrupt, save};
use super::choice;
use super::error::{print, warn};
use super::summary;

use clap::ValueEnum;
use windlass_lab::results::{Results, Store};
use windlass_qlog::Profile;
use windlass_qlog_analysis::escape;
use windlass_stacks::stack::{LogDetail, LogSettings, Runner};
use windlass_stacks::wire::Link;

/// Run a scenario and print its results
#[derive(Debug, clap::Args)]
pub(super) struct RunScenario {
    /// A scenario file (TOML), or the name of a built-in one; see `windlass scenarios`
    #[arg(default_value = "clean-link")]
    scenario: String,
    /// Controller for the flows under test, as NAME or NAME:parameter=value,…, or as
    /// native:NAME for one of the stack's own; may be given several times [default: the
    /// scenario's own]
    #[arg(long, short, value_name = "NAME")]
    controller: Vec<String>,
    /// Stack to run it on: sim (the packet simulator), quinn or noq; may be given several times
    #[arg(long, value_name = "STACK", default_value = "sim")]
    stack: Vec<String>,
    /// Run in real time over UDP sockets of this machine, through a userspace link with
    /// the network model; needs a real stack. Results differ from run to run
    #[arg(long)]
    wire: bool,
    /// Seed of all random numbers [default: the scenario's]
    #[arg(long)]
    seed: Option<u64>,
    /// Write results.json, CSV files, qlog files and report.html into this directory;
    /// without it nothing is written
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print results.json instead of tables
    #[arg(long)]
    json: bool,
    /// Runs at the same time, or threads of one run of the simulator whose network can be cut [default: one per core, or one with --wire]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    #[command(flatten)]
    qlog: QlogOptions,
}

impl RunScenario {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let (results, report) = self.carry_out(None)?;
        print(&if self.json { json(&results)? } else { summary::of_runs(&results) })?;
        if let Some(report) = report {
            print_report_path(&report, self.json)?;
        }
        failures(&results)
    }

    /// The results, and the path of the report if there is one. In another program it shows no progress.
    fn carry_out(&self, host: Option<Host<'_>>) -> Result<(Results, Option<PathBuf>), CliError> {
        let sources = [choice::scenario(&self.scenario)?];
        let controllers = choice::controllers(&self.controller)?;
        let mut stacks = choice::stacks(&self.stack)?;
        if self.wire {
            stacks = choice::on_wire(&stacks)?;
        }
        let batch = Batch {
            title: title(&sources[0].name, &controllers, &stacks),
            sources: &sources,
            controllers: &controllers,
            stacks: &stacks,
            seed: self.seed,
            // Runs in real time disturb each other.
            jobs: if self.wire { self.jobs.max(1) } else { self.jobs },
            logs: self.qlog.settings(LogDetail::Packets),
        };
        let scenarios = batch.check(true)?;
        let store = self.out.as_deref().map(Store::open).transpose()?;
        let results = match host {
            None => batch.run(&scenarios, store.as_ref())?,
            Some(host) => batch.run_in(host, &Progress::hidden(), &scenarios, store.as_ref())?,
        };
        let report = store.map(|store| save(store, &results)).transpose()?;
        Ok((results, report))
    }
}

/// What `windlass run` is asked for, by a program.
#[derive(Clone, Debug)]
pub struct Asked {
    /// A scenario file, or the name of a built-in one.
    pub scenario: String,
    /// Controllers for the flows under test; none for the scenario's own.
    pub controllers: Vec<String>,
    /// Stacks to run it on.
    pub stacks: Vec<String>,
    /// Seed of all random numbers; `None` for the scenario's.
    pub seed: Option<u64>,
    /// Directory for `results.json`, CSV files, qlog files and the report; `None` writes nothing.
    pub out: Option<PathBuf>,
}

/// The results that `windlass run` has for the same arguments.
///
/// # Errors
/// An argument names something that does not exist or cannot work, a run went wrong, output cannot be written, or
/// `host` stopped it.
pub fn results(asked: Asked, host: Host<'_>) -> Result<Results, CliError> {
    let Asked { scenario, controllers: controller, stacks: stack, seed, out } = asked;
    let qlog = QlogOptions { qlog_profile: LogFormat::Ietf, qlog_detail: None };
    let run = RunScenario { scenario, controller, stack, wire: false, seed, out, json: false, jobs: 0, qlog };
    let (results, _) = run.carry_out(Some(host))?;
    failures(&results)?;
    Ok(results)
}

/// The text of `windlass run --json`.
///
/// # Errors
/// A number is not finite.
pub fn json(results: &Results) -> Result<String, CliError> {
    results.to_json().map_err(|error| CliError::Failed(format!("cannot write JSON: {error}")))
}

/// Prints where the report is: on standard error if JSON is on standard output.
fn print_report_path(report: &Path, to_stderr: bool) -> Result<(), CliError> {
    let line = format!("report: {}", report.display());
    if to_stderr {
        warn(&line);
        return Ok(());
    }
    print(&format!("{line}\n"))
}

fn title(scenario: &str, controllers: &[String], stacks: &[Runner]) -> String {
    let scenario = scenario.replace('-', " ");
    let stacks: Vec<&str> = stacks.iter().map(|stack| stack.name()).collect();
    match controllers {
        [] => format!("{scenario} on {}", stacks.join(" and ")),
        some if some.len() <= 4 => format!("{scenario}: {} on {}", some.join(", "), stacks.join(" and ")),
        many => format!("{scenario}: {} controllers on {}", many.len(), stacks.join(" and ")),
    }
}

/// The options for qlog files.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct QlogOptions {
    /// Format of the qlog files: that of the IETF drafts, or the older one that qvis reads
    #[arg(long, value_enum, default_value_t = LogFormat::Ietf, value_name = "FORMAT")]
    qlog_profile: LogFormat,
    /// How much goes into the qlog files [default: packets for `run`, recovery for `evaluate`]
    #[arg(long, value_enum, value_name = "AMOUNT")]
    qlog_detail: Option<Amount>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// The IETF's: quic-events, as JSON text sequences
    Ietf,
    /// Draft 0.3, for qvis
    Qvis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Amount {
    /// Every packet, with every event and decision of the controller, to replay it
    Steps,
    /// Every packet and every change of a metric
    Packets,
    /// Congestion states, losses, and metrics every 100 ms
    Recovery,
    /// No qlog files
    Off,
}

impl QlogOptions {
    /// The log settings: `default` without --qlog-detail, `None` for no logs.
    pub(super) fn settings(&self, default: LogDetail) -> Option<LogSettings> {
        let profile = match self.qlog_profile {
            LogFormat::Ietf => Profile::Ietf,
            LogFormat::Qvis => Profile::Qvis,
        };
        let detail = match self.qlog_detail {
            None => default,
            Some(Amount::Steps) => LogDetail::Steps,
            Some(Amount::Packets) => LogDetail::Packets,
            Some(Amount::Recovery) => LogDetail::Recovery,
            Some(Amount::Off) => return None,
        };
        Some(LogSettings { detail, profile })
    }
}

/// Carry datagrams between a server and its clients through a scenario's network, in real time
///
/// Clients send to the address it listens on; the server sees each client at a port of its
/// own. Datagrams of the server take the route of the data of the scenario's first flow,
/// those of clients the route of its ACKs. The controllers of the scenario are not used. Ends
/// with the scenario or when interrupted, and then prints statistics of the queues.
#[derive(Debug, clap::Args)]
pub(super) struct CarryDatagrams {
    /// A scenario file (TOML), or the name of a built-in one; see `windlass scenarios`
    #[arg(default_value = "clean-link")]
    scenario: String,
    /// The address clients send to; with port 0 the system chooses one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The address of the server
    #[arg(long, value_name = "ADDRESS:PORT")]
    to: SocketAddr,
    /// Seed of all random numbers [default: the scenario's]
    #[arg(long)]
    seed: Option<u64>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

impl CarryDatagrams {
    pub(super) fn run(&self) -> Result<(), CliError> {
        // Flows that are under test have to name something.
        let mut scenario = choice::scenario(&self.scenario)?.read(Some("reno"))?;
        scenario.seed = self.seed.unwrap_or(scenario.seed);
        let link = Link::new(&scenario, self.listen, self.to).map_err(|error| CliError::Usage(error.to_string()))?;
        let address = link.address().map_err(|error| CliError::Failed(error.to_string()))?;
        warn(&format!("{address} leads to {} through {}", self.to, escape::line(&scenario.name)));
        let stop = interrupt()?;
        let carried = link.run(&|_| stop.load(Ordering::Relaxed));
        if self.json {
            let json = serde_json::to_string(&carried);
            return print(&format!("{}\n", json.map_err(|error| CliError::Failed(error.to_string()))?));
        }
        let clients = if carried.clients == 1 { "client" } else { "clients" };
        let took = |median: Option<f64>| median.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.3} ms"));
        print(&format!(
            "{:.3} s, {} {clients}, {} datagrams without a way, {:.3} ms late (99th percentile)\n\
             median forth {}, back {}\n{}",
            carried.duration_s,
            carried.clients,
            carried.refused,
            carried.late_p99_ms,
            took(carried.transit_ms.forth),
            took(carried.transit_ms.back),
            summary::queues(&carried.queues)
        ))
    }
}
