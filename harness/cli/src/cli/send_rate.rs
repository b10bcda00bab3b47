//! `windlass send-rate`: how far the adapters' estimated send rate is off after a bottleneck's rate changes.

use std::collections::HashMap;
use std::path::PathBuf;

use super::batch::carry_out_asked;
use super::error::print;
use super::text::{Align, Reasons, aligned};
use super::{CliError, choice};
use windlass_lab::grid::{Cell, Measured, Store};
use windlass_lab::send_rate::{CONTROLLERS, Case, Estimate, measure};
use windlass_stacks::stack::Runner;

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
        let mut cells: Vec<Cell> = Vec::new();
        let mut cases: HashMap<String, Case> = HashMap::new();
        for (stack, controller, case) in combined(&stacks, &controllers) {
            let cell = case.cell(controller, stack.name());
            cases.insert(cell.scenario.clone(), case);
            cells.push(cell);
        }
        carry_out_asked(&cells, &cases, &store, self.jobs, measure)?;
        print(&table(&stacks, &controllers, &store))
    }
}

fn combined<'a>(
    stacks: &'a [Runner],
    controllers: &'a [String],
) -> impl Iterator<Item = (&'a Runner, &'a String, Case)> {
    let of = move |stack| controllers.iter().flat_map(move |name| Case::ALL.map(|case| (stack, name, case)));
    stacks.iter().flat_map(of)
}

/// A line for each controller and stack, and why some were not run.
fn table(stacks: &[Runner], controllers: &[String], store: &Store<Measured<Estimate>>) -> String {
    use Align::{Left, Right};
    let names = Case::ALL.map(|case| case.to_string());
    let mut heads = vec![("controller", Left), ("stack", Left)];
    heads.extend(names.iter().map(|name| (name.as_str(), Right)));
    let (mut lines, mut reasons) = (Vec::new(), Reasons::default());
    for (stack, name) in stacks.iter().flat_map(|stack| controllers.iter().map(move |name| (stack, name))) {
        let mut line = vec![name.clone(), stack.name().to_owned()];
        for case in Case::ALL {
            let record = store.get(&case.cell(name, stack.name()).key());
            line.push(reasons.shown(record.map(|record| record.read), shown));
        }
        lines.push(line);
    }
    let mut text = String::from(
        "estimate three round trips after the change, of the share then; ms until it is within 10 %; * it is not by then\n\n",
    );
    text.extend(aligned(&heads, &lines).iter().map(|line| format!("{line}\n")));
    text + &reasons.lines()
}

/// `1.00, 80 ms`, or `0.58*, 360 ms`.
fn shown(estimate: Estimate) -> String {
    let star = if estimate.holds() { "" } else { "*" };
    let within = estimate.within_s.map_or_else(|| "never".to_owned(), |s| format!("{:.0} ms", 1e3 * s));
    format!("{:.2}{star}, {within}", estimate.then)
}
