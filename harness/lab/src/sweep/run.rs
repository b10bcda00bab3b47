//! Running the cells of a plan that are missing, and what is done.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::plan::Plan;
use crate::grid::{self, Cell, Done, Engine, Tally, Watch};
use crate::output::StoreError;
use crate::results::{Run, Status as RunStatus};

/// The records of sweeps.
pub type Store = grid::Store<Run>;

/// Cells that are made, looked up and run together: what a sweep holds in memory.
const TOGETHER: usize = 20_000;

/// Packets that the simulator moves in a second of CPU where no cell of the plan tells.
const PACKETS_PER_S: f64 = 4e6;

/// Every `of`th cell of a plan, for one of so many processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    number: usize,
    of: usize,
}

impl Share {
    /// All cells.
    pub const WHOLE: Share = Share { number: 1, of: 1 };

    /// Share `number` of `of`, from 1.
    ///
    /// # Errors
    /// There is no such share.
    pub fn new(number: usize, of: usize) -> Result<Share, String> {
        if (1..=of).contains(&number) {
            return Ok(Share { number, of });
        }
        Err(format!("{number}/{of}; expected I/N, I from 1 to N"))
    }

    /// Reads `I/N`.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(text: &str) -> Result<Share, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) => Share::new(number, of),
            None => Err(format!("{text:?}; expected I/N, such as 2/8")),
        }
    }

    /// The number, from 1, of the share of `of` that cell `number` is in.
    #[must_use]
    pub fn number_of(number: usize, of: usize) -> usize {
        number % of.max(1) + 1
    }

    fn cells(self, plan: &Plan) -> impl Iterator<Item = (usize, Cell)> {
        plan.numbered(self.number - 1, self.of)
    }

    /// How many cells of the plan are in it.
    #[must_use]
    pub fn count(self, plan: &Plan) -> usize {
        (plan.count() + self.of - self.number) / self.of
    }
}

/// Removes the records of the share's cells that failed, so that they are missing; returns how many there were.
///
/// # Errors
/// A record cannot be removed.
pub fn forget_failed(plan: &Plan, store: &Store, share: Share) -> Result<usize, StoreError> {
    let keys = share.cells(plan).map(|(_, cell)| cell.key());
    let failed = |key: &String| store.get(key).is_some_and(|record| record.read.status != RunStatus::Done);
    keys.filter(failed).try_fold(0, |count, key| store.remove(&key).map(|()| count + 1))
}

/// Has `engine` carry out the cells of the share that `store` lacks. A cell that fails has a record that says so, and the
/// others go on.
pub fn run(plan: &Plan, store: &Store, share: Share, engine: &dyn Engine<Run>, watch: &dyn Watch) -> Done {
    let watch = Whole { watch, all: share.count(plan), looked_at: AtomicUsize::new(0), missing: AtomicU64::new(0) };
    let mut done = Done { tally: Tally::default(), failure: None };
    let mut cells = share.cells(plan).map(|(_, cell)| cell);
    loop {
        let some: Vec<Cell> = cells.by_ref().take(TOGETHER).collect();
        if some.is_empty() || done.failure.is_some() {
            return done;
        }
        watch.looked_at.fetch_add(some.len(), Ordering::Relaxed);
        let Done { tally, failure } = grid::run(&some, store, engine, &watch);
        done = Done {
            tally: Tally {
                cells: done.tally.cells + tally.cells,
                kept: done.tally.kept + tally.kept,
                made: done.tally.made + tally.made,
                cpu_s: done.tally.cpu_s + tally.cpu_s,
                packets: done.tally.packets + tally.packets,
            },
            failure,
        };
    }
}

/// Progress of a whole share of which only a part is looked at: the rest is taken to be as that.
struct Whole<'a> {
    watch: &'a dyn Watch,
    all: usize,
    looked_at: AtomicUsize,
    missing: AtomicU64,
}

impl Watch for Whole<'_> {
    fn begin(&self, work: u64) {
        let missing = self.missing.fetch_add(work, Ordering::Relaxed) + work;
        let part = self.looked_at.load(Ordering::Relaxed) as f64 / self.all.max(1) as f64;
        self.watch.begin((missing as f64 / part.max(f64::MIN_POSITIVE)) as u64);
    }

    fn advance(&self, cell: &Cell, before: u64, part: f64) -> u64 {
        self.watch.advance(cell, before, part)
    }

    fn done(&self, cell: &Cell, before: u64) {
        self.watch.done(cell, before);
    }

    fn stopping(&self) -> bool {
        self.watch.stopping()
    }
}

/// What is done of a share of a plan.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Status {
    /// Cells of the share.
    pub cells: usize,
    /// How many have results.
    pub done: usize,
    /// How many have none because they failed, or a stack cannot run them.
    pub failed: usize,
    /// The numbers of those that were not run.
    pub missing: Vec<usize>,
    /// Why cells failed: each reason with the number of cells, and that of the first.
    pub reasons: BTreeMap<String, (usize, usize)>,
    /// CPU time of the cells that were run, s.
    pub cpu_s: f64,
    /// CPU time of those that are missing, s, reckoned by that of those that were run, of the same stack if any was.
    pub left_s: f64,
    /// Whether [`left_s`](Status::left_s) is reckoned without any that was run.
    pub is_guess: bool,
}

/// What `store` has of the share.
#[must_use]
pub fn status(plan: &Plan, store: &Store, share: Share) -> Status {
    /// Work and CPU time of cells that were run, and work of those that are missing.
    #[derive(Default)]
    struct Cost {
        work: f64,
        cpu_s: f64,
        left: f64,
    }
    let mut status = Status::default();
    let mut costs: BTreeMap<String, Cost> = BTreeMap::new();
    for (number, cell) in share.cells(plan) {
        status.cells += 1;
        let cost = costs.entry(cell.stack.clone()).or_default();
        let Some(record) = store.get(&cell.key()) else {
            status.missing.push(number);
            cost.left += cell.work as f64;
            continue;
        };
        status.cpu_s += record.cpu_s;
        if record.read.status == RunStatus::Done {
            status.done += 1;
            cost.work += cell.work as f64;
            cost.cpu_s += record.cpu_s;
        } else {
            status.failed += 1;
            let reason = record.read.reason.unwrap_or_default();
            status.reasons.entry(reason).or_insert((0, number)).0 += 1;
        }
    }
    let (work, cpu_s) = costs.values().fold((0.0, 0.0), |(work, cpu_s), cost| (work + cost.work, cpu_s + cost.cpu_s));
    status.is_guess = cpu_s <= 0.0;
    let of_any = if status.is_guess { 1.0 / PACKETS_PER_S } else { cpu_s / work };
    let of = |cost: &Cost| if cost.cpu_s > 0.0 { cost.cpu_s / cost.work } else { of_any };
    status.left_s = costs.values().map(|cost| cost.left * of(cost)).sum();
    status
}

impl Status {
    /// The shares of `of` that have cells that are missing.
    #[must_use]
    pub fn shares(&self, of: usize) -> Vec<usize> {
        let numbers: std::collections::BTreeSet<usize> =
            self.missing.iter().map(|number| Share::number_of(*number, of)).collect();
        numbers.into_iter().collect()
    }
}
