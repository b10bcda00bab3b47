//! What a media application sees of a controller: `windlass send-rate`, how far the adapters' estimated send rate is off after a
//! bottleneck's rate changes, and `windlass frame-delay`, how long its frames take beside a flow that always has data.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::batch::{carry_out, carry_out_asked};
use super::error::print;
use super::text::{Align, aligned};
use super::{CliError, choice};
use windlass_lab::frame_delay::{self, Frames, Queue};
use windlass_lab::grid::{Cell, Cores, Measured, Store};
use windlass_lab::send_rate::{self, Estimate};
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
            controllers = send_rate::CONTROLLERS.map(str::to_owned).into();
        }
        let store: Store<Measured<Estimate>> = Store::open(&self.out)?;
        let rows: Vec<_> = pairs(&controllers, &stacks)
            .map(|(name, stack)| send_rate::Case::ALL.map(|case| case.cell(name, stack)))
            .collect();
        let all = rows.iter().flat_map(|cells| cells.iter().zip(send_rate::Case::ALL));
        let cases: HashMap<String, send_rate::Case> = all.map(|(cell, case)| (cell.scenario.clone(), case)).collect();
        carry_out_asked(rows.as_flattened(), &cases, &store, self.jobs, send_rate::measure)?;
        let says = "estimate three round trips after the change, of the share then; ms until it is within 10 %; * it is not by then";
        print(&by_controller(says, &send_rate::Case::ALL, &rows, &store, shown_estimate))
    }
}

/// `1.00, 80 ms`, or `0.58*, 360 ms`.
fn shown_estimate(estimate: Estimate) -> String {
    let star = if estimate.holds() { "" } else { "*" };
    let within = estimate.within_s.map_or_else(|| "never".to_owned(), |s| format!("{:.0} ms", 1e3 * s));
    format!("{:.2}{star}, {within}", estimate.then)
}

/// Measure how long the frames of a video take beside a flow that always has data, under each queue discipline
///
/// A link of 20 Mbit/s and 40 ms; a video of 4 Mbit/s, 30 frames a second, every sixtieth five times as large as the others, and from 5 s on
/// for 40 s a flow that always has data. Runs that are done are kept.
#[derive(Debug, clap::Args)]
pub(super) struct FrameDelay {
    /// Controllers, separated by commas [default: reno, cubic, bbr, copa, prague, ledbat++, a-tcp, nf-tcp]
    #[arg(value_name = "NAME")]
    controllers: Vec<String>,
    /// Controller of the flow that always has data [default: the video's]
    #[arg(long, value_name = "NAME")]
    beside: Option<String>,
    /// Have the video's encoder follow the estimated send rate, from 0.5 to 4 Mbit/s
    #[arg(long)]
    encoder: bool,
    /// Send the frames as objects of Media over QUIC, a stream for each group from one key frame to the next: the oldest group first,
    /// or the newest
    #[arg(long, value_name = "ORDER", value_parser = ["ascending", "descending"])]
    group_order: Option<String>,
    /// Reset the stream of a group of which an object is not acknowledged so long after it was produced, ms
    #[arg(long, value_name = "MS", requires = "group_order", value_parser = clap::value_parser!(u32).range(1..=3_600_000))]
    delivery_timeout: Option<u32>,
    /// Stacks, separated by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',', default_value = "sim")]
    stack: Vec<String>,
    /// Runs at the same time [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    jobs: usize,
    /// Directory for the runs
    #[arg(long, value_name = "DIR", default_value = "target/windlass/frame-delay")]
    out: PathBuf,
}

impl FrameDelay {
    pub(super) fn run(&self) -> Result<(), CliError> {
        let stacks = choice::stacks(&self.stack)?;
        let mut controllers = choice::controllers(&self.controllers)?;
        if controllers.is_empty() {
            controllers = frame_delay::CONTROLLERS.map(str::to_owned).into();
        }
        let beside = self.beside.as_deref();
        if let Some(name) = beside {
            choice::controller(name)?;
        }
        let store: Store<Measured<Frames>> = Store::open(&self.out)?;
        let objects = self.group_order.as_deref();
        let objects = objects.map(|order| frame_delay::Objects { order, timeout_ms: self.delivery_timeout });
        let case = |queue| frame_delay::Case { queue, beside, encoder: self.encoder, objects };
        let rows: Vec<_> = pairs(&controllers, &stacks)
            .map(|(name, stack)| Queue::ALL.map(|queue| case(queue).cell(name, stack)))
            .collect();
        carry_out(rows.as_flattened(), &store, &Cores { jobs: self.jobs, run: frame_delay::measure })?;
        let encoded = if self.encoder { "Mbit/s of the video; " } else { "" };
        let dropped = if objects.is_some() { "share of dropped ones; " } else { "" };
        let says = format!(
            "ms that 95 % of the frames took no longer than, share of late ones (over 150 ms); {dropped}{encoded}Mbit/s of the flow beside"
        );
        print(&by_controller(&says, &Queue::ALL, &rows, &store, shown_frames))
    }
}

/// `47 0% 15.2`, of objects with the share of dropped ones `47 0% 2% 15.2`, with an encoder `47 0% 3.4 15.2`; a `–` stands for what was not measured.
fn shown_frames(frames: Frames) -> String {
    let or_none =
        |value: Option<f64>, digits: usize| value.map_or("–".to_owned(), |value| format!("{value:.digits$}"));
    let late = or_none(frames.late().map(|late| 100.0 * late), 0);
    let encoded = frames.video.encoded_mbps.map_or_else(String::new, |mbps| format!("{mbps:.1} "));
    let dropped = frames.dropped().map_or_else(String::new, |dropped| format!("{:.0}% ", 100.0 * dropped));
    format!("{} {late}% {dropped}{encoded}{:.1}", or_none(frames.video.delay_p95_ms, 0), frames.bulk_mbps)
}

/// Every controller on every stack, by their names, stack after stack.
fn pairs<'a>(controllers: &'a [String], stacks: &'a [Runner]) -> impl Iterator<Item = (&'a str, &'a str)> {
    stacks.iter().flat_map(|stack| controllers.iter().map(|name| (name.as_str(), stack.name())))
}

/// What `store` has of `rows`, each of a controller on a stack with a cell for each of `columns`, of which `show` says what stands
/// there; `says` is how to read it. `–` stands for what was not run, for the reasons below.
fn by_controller<T: Serialize + DeserializeOwned, const N: usize>(
    says: &str,
    columns: &[impl ToString; N],
    rows: &[[Cell; N]],
    store: &Store<Measured<T>>,
    show: impl Fn(T) -> String,
) -> String {
    let columns = columns.each_ref().map(ToString::to_string);
    let mut heads = vec![("controller", Align::Left), ("stack", Align::Left)];
    heads.extend(columns.iter().map(|name| (name.as_str(), Align::Right)));
    let mut reasons: Vec<String> = Vec::new();
    let mut shown = |cell: &Cell| {
        match store.get(&cell.key()).map(|record| record.read) {
            Some(Measured::Run(read)) => return show(read),
            Some(Measured::Not { not_run }) if !reasons.contains(&not_run) => reasons.push(not_run),
            _ => {}
        }
        "–".to_owned()
    };
    let mut lines: Vec<Vec<String>> = Vec::new();
    for cells in rows {
        let names = cells.iter().take(1).flat_map(|cell| [cell.controller.clone(), cell.stack.clone()]);
        lines.push(names.chain(cells.iter().map(&mut shown)).collect());
    }
    let below = reasons.into_iter().map(|reason| format!("–: {reason}"));
    let table: Vec<String> = aligned(&heads, &lines).into_iter().chain(below).collect();
    format!("{says}\n\n{}\n", table.join("\n"))
}
