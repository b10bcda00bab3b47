//! `windlass frame-delay`: how long a video's frames take beside a flow that always has data, by queue and controller.

use std::path::PathBuf;

use super::batch::carry_out;
use super::error::print;
use super::text::by_controller;
use super::{CliError, choice};
use windlass_lab::frame_delay::{CONTROLLERS, Case, Frames, Queue, measure};
use windlass_lab::grid::{Cores, Measured, Store};

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
            controllers = CONTROLLERS.map(str::to_owned).into();
        }
        let beside = self.beside.as_deref();
        if let Some(name) = beside {
            choice::controller(name)?;
        }
        let store: Store<Measured<Frames>> = Store::open(&self.out)?;
        let rows: Vec<_> = choice::pairs(&controllers, &stacks)
            .map(|(name, stack)| Queue::ALL.map(|queue| Case { queue, beside }.cell(name, stack)))
            .collect();
        carry_out(rows.as_flattened(), &store, &Cores { jobs: self.jobs, run: measure })?;
        let says = "ms that 95 % of the frames took no longer than, share of late ones (over 150 ms); Mbit/s of the flow beside";
        print(&by_controller(says, &Queue::ALL, &rows, &store, shown))
    }
}

/// `47 0% 15.2`; a `–` stands for what was not measured.
fn shown(frames: Frames) -> String {
    let or_none =
        |value: Option<f64>, digits: usize| value.map_or("–".to_owned(), |value| format!("{value:.digits$}"));
    let late = or_none(frames.late().map(|late| 100.0 * late), 0);
    format!("{} {late}% {:.1}", or_none(frames.video.delay_p95_ms, 0), frames.bulk_mbps)
}
