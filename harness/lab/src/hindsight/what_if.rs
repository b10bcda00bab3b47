//! Controllers of the user's choice beside what a stack did.

mod draw;

use std::io::Read;

use serde::Serialize;
use windlass_adapter::require;
use windlass_controllers::{Algorithm, Time};

use super::frame::{Occurrence, Told};
use super::rebuild::LossSource;
use super::rerun::Rerun;
use super::select::{Connection, HindsightError};
use super::series::{Point, Series};

/// A window over time, in numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rerunning {
    /// The controller; of the stack's own, its name where the trace tells it.
    pub controller: String,
    /// Mean over time, bytes.
    pub mean_bytes: f64,
    /// Smallest, bytes.
    pub min_bytes: u64,
    /// Largest, bytes.
    pub max_bytes: u64,
    /// The last, bytes.
    pub last_bytes: u64,
    /// How often it was smaller than the one before.
    pub reductions: u64,
    #[serde(skip)]
    seconds: f64,
    #[serde(skip)]
    sum: f64,
}

impl Rerunning {
    fn new(controller: &str) -> Rerunning {
        Rerunning { controller: controller.to_owned(), ..Rerunning::default() }
    }

    /// For `seconds` until now it was `cwnd`.
    fn was(&mut self, seconds: f64, cwnd: u64) {
        let known = self.max_bytes > 0;
        self.reductions += u64::from(known && cwnd < self.last_bytes);
        self.min_bytes = if known { self.min_bytes.min(cwnd) } else { cwnd };
        self.max_bytes = self.max_bytes.max(cwnd);
        self.last_bytes = cwnd;
        self.seconds += seconds;
        self.sum += seconds * cwnd as f64;
        self.mean_bytes = if self.seconds > 0.0 { self.sum / self.seconds } else { cwnd as f64 };
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// The connection.
    pub connection: Connection,
    /// How it was known which packets were lost.
    pub losses_from: LossSource,
    /// The stack's window; none where the trace tells none.
    pub stack: Option<Rerunning>,
    /// Those of the controllers, in their order.
    pub controllers: Vec<Rerunning>,
    /// All of them over time.
    pub series: Series,
}

struct Running {
    stack: Rerunning,
    told: Told,
    flows: Vec<(Rerun, Rerunning)>,
    latest: Option<Time>,
    /// Of a frame whose windows are still being told: when, bytes in flight, packets lost.
    due: Option<(Time, u64, u32)>,
    series: Series,
}

impl Running {
    fn take(&mut self, occurrence: &Occurrence<'_>) {
        if self.due.is_some_and(|(at, ..)| at < occurrence.now()) {
            self.note();
        }
        if let Occurrence::Told(_, told) = occurrence {
            self.told = self.told.updated_by(*told);
        }
        if let Occurrence::Frame(frame) = occurrence {
            let seconds = self.latest.map_or(0.0, |latest| frame.now.since(latest).secs());
            self.latest = Some(frame.now);
            if let Some(cwnd) = self.told.cwnd {
                self.stack.was(seconds, cwnd);
            }
            for (flow, tally) in &mut self.flows {
                tally.was(seconds, flow.cwnd());
            }
        }
        for (flow, _) in &mut self.flows {
            flow.take(occurrence);
        }
        if let Occurrence::Frame(frame) = occurrence {
            if self.due.is_some() {
                self.note();
            }
            self.due = Some((frame.now, frame.in_flight, frame.lost.map_or(0, |lost| lost.packets)));
        }
    }

    /// Adds what holds since the latest frame to the series.
    fn note(&mut self) {
        let Some((at, in_flight, lost)) = self.due.take() else { return };
        let (flows, stack) = (&self.flows, self.told.cwnd);
        let cwnd = || flows.iter().map(|(flow, _)| flow.cwnd()).collect();
        self.series.add(at, lost, || Point { time_s: 0.0, stack, cwnd: cwnd(), in_flight, lost: 0 });
    }
}

/// Runs `engines`, each with what the user called it, on the connection called `asked`, or
/// the one that sends most, of the trace that `open` opens, twice. With `estimates`, also
/// those that need delays the trace does not tell.
///
/// # Errors
/// The trace cannot be read, has no such connection, or lacks what events are made of or
/// what a controller needs.
pub fn what_if<R: Read>(
    open: &dyn Fn() -> Result<R, HindsightError>,
    asked: Option<&str>,
    engines: &[(String, Algorithm)],
    estimates: bool,
) -> Result<WhatIf, HindsightError> {
    let connection = Connection::choose(open()?, asked)?;
    let stack = connection.facts.provides(estimates);
    let path = connection.path();
    let mut flows = Vec::new();
    for (name, engine) in engines {
        require(engine, name, stack.name, stack.provides)?;
        flows.push((Rerun::new(*engine, &path), Rerunning::new(name)));
    }
    let own = Rerunning::new(&connection.trace.controller);
    let told = Told::default();
    let mut running = Running { stack: own, told, flows, latest: None, due: None, series: Series::default() };
    let losses_from = connection.relive(open()?, &mut |occurrence| running.take(occurrence))?;
    running.note();
    let Running { stack, flows, series, .. } = running;
    Ok(WhatIf {
        stack: (connection.facts.windows > 0).then_some(stack),
        connection,
        losses_from,
        controllers: flows.into_iter().map(|(_, tally)| tally).collect(),
        series,
    })
}
