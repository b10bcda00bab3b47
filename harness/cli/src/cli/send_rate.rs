//! `windlass send-rate`: how far the adapters' estimated send rate is off after a bottleneck's rate changes.

use std::collections::HashMap;
use std::path::PathBuf;

use super::batch::carry_out_asked;
use super::error::print;
use super::text::by_controller;
use super::{CliError, choice};
use windlass_lab::grid::{Measured, Store};
use windlass_lab::send_rate::{CONTROLLERS, Case, Estimate, measure};

/// Measure the estimated send rate that the adapters offer: how far it is off three round trips after a bottleneck doubles or halves
///
/// A link of 10 and 20 Mbit/s and 40 ms with a buffer of two BDP, or RFC 9332's coupled queues for Prague; a flow that always has data, and
/// a video of 4 Mbit/s, which its application limits. Runs that are done are kept.
#[derive(Debug, clap::Args)]
pub(super) struct SendRate {
    /// Controllers, separated by commas [default: reno, cubic, bbr, copa, prague]
    #[arg(value_name = "NAME")]
    controllers: Vec<String>,
    /// Stacks, separated by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',', default_value = "sim")]
    stack: Vec<String>,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Directory for the runs
    #[arg(long, value_name = "DIR", default_value = "target/windlass/send-rate")]
    out: PathBuf,
}

impl SendRate {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let stacks = choice::stacks(&self.stack)?;
        let mut controllers = choice::controllers(&self.controllers)?;
        if controllers.is_empty() {
            controllers = CONTROLLERS.map(str::to_owned).into();
        }
        let store: Store<Measured<Estimate>> = Store::open(&self.out)?;
        let rows: Vec<_> = choice::pairs(&controllers, &stacks)
            .map(|(name, stack)| Case::ALL.map(|case| case.cell(name, stack)))
            .collect();
        let all = rows.iter().flat_map(|cells| cells.iter().zip(Case::ALL));
        let cases: HashMap<String, Case> = all.map(|(cell, case)| (cell.scenario.clone(), case)).collect();
        carry_out_asked(rows.as_flattened(), &cases, &store, self.jobs, measure)?;
        let says = "estimate three round trips after the change, of the share then; ms until it is within 10 %; * it is not by then";
        print(&by_controller(says, &Case::ALL, &rows, &store, shown))
    }
}

/// `1.00, 80 ms`, or `0.58*, 360 ms`.
fn shown(estimate: Estimate) -> String {
    let star = if estimate.holds() { "" } else { "*" };
    let within = estimate.within_s.map_or_else(|| "never".to_owned(), |s| format!("{:.0} ms", 1e3 * s));
    format!("{:.2}{star}, {within}", estimate.then)
}
