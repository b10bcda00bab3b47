//! Sweeps: the cells of a plan, on the cores of this machine or handed out, as text, to whatever carries them out.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass::report::sweep::page;
use windlass_lab::grid::{Cell, Cores, Engine, Failure, Keep, Record, Watch};
use windlass_lab::output::{StoreError, replace};
use windlass_lab::results::Run;
use windlass_lab::sweep::{Plan, PlanError, Share, Store, collect, forget_failed, measure, run, status};

use crate::{Error, UsageError, released};

/// Counts cells that are over.
struct Counted<'a> {
    stop: &'a AtomicBool,
    over: &'a AtomicUsize,
}

impl Watch for Counted<'_> {
    fn begin(&self, _: u64) {}
    fn advance(&self, cell: &Cell, before: u64, part: f64) -> u64 {
        before.max((part * cell.work as f64) as u64)
    }
    fn done(&self, _: &Cell, _: u64) {
        self.over.fetch_add(1, Ordering::Relaxed);
    }
    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A function in Python that carries out cells: it gets them as texts, and yields their numbers and records as they come.
struct Handed<'a> {
    function: &'a Py<PyAny>,
    bar: &'a Bar<'a>,
    raised: &'a Mutex<Option<PyErr>>,
}

impl Handed<'_> {
    fn hand_out(
        &self,
        py: Python<'_>,
        cells: &[(&Cell, String)],
        watch: &dyn Watch,
        keep: &Keep<'_, Run>,
    ) -> PyResult<Result<(), Failure>> {
        let texts = cells.iter().map(|(cell, _)| serde_json::to_string(cell)).collect::<Result<Vec<_>, _>>();
        let mut missing = vec![true; cells.len()];
        for record in self.function.bind(py).call1((texts.map_err(wrong)?,))?.try_iter()? {
            let (number, text): (usize, String) = record?.extract()?;
            let record: Record<Run> = serde_json::from_str(&text).map_err(wrong)?;
            let Some((cell, key)) = cells.get(number) else {
                let most = cells.len();
                return Err(Error::new_err(format!(
                    "the engine gave a record the number {number}; expected one below {most}"
                )));
            };
            if record.key != *key {
                let text =
                    "its record came from another version of windlass, or without the files that its scenario names";
                return Err(Error::new_err(format!("{}: {text}; expected the same on all machines", cell.name)));
            }
            if let Err(error) = keep(number, record) {
                return Ok(Err(error));
            }
            if std::mem::take(&mut missing[number]) {
                watch.done(cell, 0);
                self.bar.show(py)?;
            }
            py.check_signals()?;
        }
        match missing.iter().position(|missing| *missing) {
            None => Ok(Ok(())),
            Some(first) => {
                let (count, name) = (missing.iter().filter(|missing| **missing).count(), &cells[first].0.name);
                Err(Error::new_err(format!(
                    "the engine ended without {count} of {} cells, the first: {name}",
                    cells.len()
                )))
            }
        }
    }
}

impl Engine<Run> for Handed<'_> {
    fn carry_out(&self, cells: &[(&Cell, String)], watch: &dyn Watch, keep: &Keep<'_, Run>) -> Result<(), Failure> {
        if cells.is_empty() {
            return Ok(());
        }
        Python::attach(|py| self.hand_out(py, cells, watch, keep)).unwrap_or_else(|error| {
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            Err(Failure::Stopped)
        })
    }
}

/// A progress bar: a function in Python that gets how many cells are over, or none.
struct Bar<'a> {
    function: Option<&'a Py<PyAny>>,
    over: &'a AtomicUsize,
}

impl Bar<'_> {
    fn show(&self, py: Python<'_>) -> PyResult<()> {
        match self.function {
            Some(function) => function.call1(py, (self.over.load(Ordering::Relaxed),)).map(drop),
            None => Ok(()),
        }
    }
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// The plan in the file `plan`, or, where `json` is one, that, which is then written to `plan`.
fn planned(plan: &Path, json: Option<&str>) -> Result<Plan, PyErr> {
    let refused = |error: PlanError| match error {
        PlanError::Scenario(error) => crate::exception(error.into()),
        other => UsageError::new_err(other.to_string()),
    };
    let Some(json) = json else { return Plan::load(plan).map_err(refused) };
    let table: toml::Table =
        serde_json::from_str(json).map_err(|error| UsageError::new_err(format!("the plan: {error}")))?;
    let text = table.to_string();
    let read = Plan::parse(&plan.display().to_string(), &text).map_err(refused)?;
    std::fs::create_dir_all(plan.parent().unwrap_or(Path::new(""))).map_err(wrong)?;
    replace(plan, text).map_err(wrong)?;
    Ok(read)
}

/// The store in `out`, with the cells that machines share at `shared`.
#[cfg_attr(not(feature = "object-store"), allow(unused_variables, reason = "refused before"))]
fn opened(out: &Path, shared: Option<&str>) -> Result<Store, StoreError> {
    let store = Store::open(out)?;
    #[cfg(feature = "object-store")]
    if let Some(name) = shared {
        return store.shared(name);
    }
    Ok(store)
}

/// Runs the cells of the plan that the directory `out` lacks, and writes one dataset and its page there. json: the plan
/// itself, for `plan` to be written. store: where cells are that machines share. engine: None for the cores of this machine, jobs of them; or a function. bar: gets the
/// number of all cells, and gives a function for that of those that are over.
// One for each argument in Python.
#[allow(clippy::too_many_arguments)]
#[pyfunction]
pub(crate) fn sweep<'py>(
    py: Python<'py>,
    plan: PathBuf,
    json: Option<&str>,
    out: PathBuf,
    store: Option<&str>,
    engine: Option<Py<PyAny>>,
    jobs: usize,
    retry_failed: bool,
    bar: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    if cfg!(not(feature = "object-store"))
        && let Some(name) = store
    {
        return Err(UsageError::new_err(format!(
            "the store {name}: this module was built without stores; `maturin build --features object-store` builds it with them"
        )));
    }
    let path = plan;
    let plan = planned(&path, json)?;
    let store = py.detach(|| opened(&out, store)).map_err(wrong)?;
    if retry_failed {
        forget_failed(&plan, &store, Share::WHOLE).map_err(wrong)?;
    }
    let before = status(&plan, &store, Share::WHOLE);
    let over = AtomicUsize::new(before.cells - before.missing.len());
    let bar = bar.map(|bar| bar.call1(py, (before.cells,))).transpose()?;
    let bar = Bar { function: bar.as_ref(), over: &over };
    let raised = Mutex::new(None);
    let done = match &engine {
        Some(function) => py.detach(|| {
            let engine = Handed { function, bar: &bar, raised: &raised };
            run(&plan, &store, Share::WHOLE, &engine, &Counted { stop: &AtomicBool::new(false), over: &over })
        }),
        None => released(
            py,
            |py| bar.show(py),
            |stop| Ok(run(&plan, &store, Share::WHOLE, &Cores { jobs, run: measure }, &Counted { stop, over: &over })),
        )?,
    };
    if let Some(error) = raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    if let Some(failure) = done.failure {
        return Err(wrong(failure));
    }
    let collected = py.detach(|| collect(&plan, &store, &out)).map_err(wrong)?;
    if let Some(html) = page(&plan, &collected, &path.display().to_string()) {
        replace(&out.join("sweep.html"), html).map_err(wrong)?;
    }
    let reasons = if collected.failed > 0 { status(&plan, &store, Share::WHOLE).reasons } else { Default::default() };
    let found = PyDict::new(py);
    found.set_item("cells", plan.count())?;
    found.set_item("done", collected.done)?;
    found.set_item("failed", collected.failed)?;
    found.set_item("run_now", done.tally.made)?;
    found.set_item("cpu_s", done.tally.cpu_s)?;
    found.set_item("reasons", reasons.into_iter().map(|(reason, (cells, _))| (reason, cells)).collect::<Vec<_>>())?;
    found.set_item("out", out)?;
    Ok(found)
}

/// The record of a cell, both as text.
#[pyfunction]
pub(crate) fn measure_cell(py: Python<'_>, cell: &str) -> PyResult<String> {
    let cell: Cell = serde_json::from_str(cell).map_err(wrong)?;
    let record = Mutex::new(Ok(String::new()));
    let keep = |_: usize, of: Record<Run>| {
        *record.lock().unwrap_or_else(PoisonError::into_inner) = serde_json::to_string(&of);
        Ok(())
    };
    let cells = [(&cell, cell.key())];
    let carry_out = |stop: &AtomicBool| {
        Ok(Cores { jobs: 1, run: measure }.carry_out(&cells, &Counted { stop, over: &AtomicUsize::new(0) }, &keep))
    };
    released(py, |_| Ok(()), |stop| carry_out(stop))?.map_err(wrong)?;
    record.into_inner().unwrap_or_else(PoisonError::into_inner).map_err(wrong)
}
