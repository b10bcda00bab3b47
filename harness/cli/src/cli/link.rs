//! `windlass link`: a scenario's network between a server and its clients.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use super::CliError;
use super::batch::interrupt;
use super::choice;
use super::error::{print, warn};
use super::summary;
use windlass_qlog_analysis::escape;
use windlass_stacks::wire::Link;

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
