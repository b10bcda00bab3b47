//! Running the cells that are missing.

use std::cell::Cell as Shared;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cpu_time::ThreadTime;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Cell, Record, Store};
use crate::output::StoreError;

/// Why cells were left.
#[derive(thiserror::Error)]
pub enum Failure {
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// A run went wrong, as the text says.
    #[error("{0}")]
    Run(String),
    /// A record cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl std::fmt::Debug for Failure {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct Reading<T> {
    /// What was read off.
    pub read: T,
    /// Packets sent by its flows.
    pub packets: u64,
}

/// Progress of the cells of a grid; can stop it.
pub trait Watch: Sync {
    /// Cells of so much work are missing.
    fn begin(&self, work: u64);

    /// A cell of which `before` of its work was done has done `part`, 0 to 1; how much of its work that is.
    fn advance(&self, cell: &Cell, before: u64, part: f64) -> u64;

    /// A cell is over, `before` of whose work was reported.
    fn done(&self, cell: &Cell, before: u64);

    /// Whether to give up.
    fn stopping(&self) -> bool;
}

/// Keeps the record of a cell of a list.
pub type Keep<'a, T> = dyn Fn(usize, Record<T>) -> Result<(), Failure> + Sync + 'a;

/// What carries out cells: the cores of this machine, or others.
pub trait Engine<T> {
    /// Carries out `cells`, each with its key, and has `keep` keep each record as soon as it is there, by the cell's
    /// number in the list.
    ///
    /// # Errors
    /// The first thing that went wrong; cells that were begun before may still end.
    fn carry_out(&self, cells: &[(&Cell, String)], watch: &dyn Watch, keep: &Keep<'_, T>) -> Result<(), Failure>;
}

/// The cores of this machine.
#[derive(Clone, Copy, Debug)]
pub struct Cores<F> {
    /// Cells at the same time; 0 for one per core.
    pub jobs: usize,
    /// Carries out a cell: gets it, and a function that takes the part of it that is done and returns whether to give
    /// up.
    pub run: F,
}

impl<T, F> Engine<T> for Cores<F>
where
    T: Send,
    F: Fn(&Cell, &dyn Fn(f64) -> bool) -> Result<Reading<T>, Failure> + Sync,
{
    fn carry_out(&self, cells: &[(&Cell, String)], watch: &dyn Watch, keep: &Keep<'_, T>) -> Result<(), Failure> {
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        let worker = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((cell, key)) = cells.get(number) else { break };
                let reported = Shared::new(0);
                let watched = |part: f64| {
                    reported.set(watch.advance(cell, reported.get(), part));
                    watch.stopping()
                };
                let begun = cpu_seconds();
                let read = if watch.stopping() { Err(Failure::Stopped) } else { (self.run)(cell, &watched) };
                let kept = read.and_then(|Reading { read, packets }| {
                    let cpu_s = cpu_seconds() - begun;
                    keep(number, Record { key: key.clone(), seed: cell.seed, read, cpu_s, packets })
                });
                watch.done(cell, reported.get());
                if let Err(error) = kept {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    // The others go on no longer than they have to.
                    next.store(cells.len(), Ordering::Relaxed);
                }
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if self.jobs == 0 { cores } else { self.jobs };
        std::thread::scope(|scope| {
            for _ in 0..threads.min(cells.len()) {
                scope.spawn(worker);
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// Totals of a command.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tally {
    /// Cells that differ.
    pub cells: usize,
    /// How many of them the store has now.
    pub kept: usize,
    /// How many of these were run now.
    pub made: usize,
    /// CPU time those took, s.
    pub cpu_s: f64,
    /// Packets those sent.
    pub packets: u64,
}

/// Result of a command.
#[derive(Debug)]
pub struct Done {
    /// Totals.
    pub tally: Tally,
    /// Why cells were left, if any were.
    pub failure: Option<Failure>,
}

/// Has `engine` carry out those of `cells` that `store` lacks: cells that are the same run once, the longest first.
pub fn run<T: Serialize + DeserializeOwned>(
    cells: &[Cell],
    store: &Store<T>,
    engine: &dyn Engine<T>,
    watch: &dyn Watch,
) -> Done {
    let mut seen = HashSet::new();
    let keyed = cells.iter().map(|cell| (cell, cell.key()));
    let distinct: Vec<(&Cell, String)> = keyed.filter(|(_, key)| seen.insert(key.clone())).collect();
    let all = distinct.len();
    let mut left: Vec<_> = distinct.into_iter().filter(|(_, key)| store.get(key).is_none()).collect();
    left.sort_by_key(|(cell, _)| Reverse(cell.work));
    watch.begin(left.iter().map(|(cell, _)| cell.work).sum());
    let tally = Mutex::new(Tally { cells: all, kept: all - left.len(), ..Tally::default() });
    let keep = |_: usize, record: Record<T>| {
        store.insert(&record)?;
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        *tally = Tally {
            kept: tally.kept + 1,
            made: tally.made + 1,
            cpu_s: tally.cpu_s + record.cpu_s,
            packets: tally.packets + record.packets,
            ..*tally
        };
        Ok(())
    };
    let carried_out = engine.carry_out(&left, watch, &keep);
    let failure = carried_out.and(store.flush().map_err(Failure::from)).err();
    Done { tally: tally.into_inner().unwrap_or_else(PoisonError::into_inner), failure }
}

/// CPU time of this thread, s; 0 where the system does not tell it.
pub(crate) fn cpu_seconds() -> f64 {
    ThreadTime::try_now().map_or(0.0, |time| time.as_duration().as_secs_f64())
}
