//! The Python module `windlass`: what the command answers, as Python values and Arrow tables.
//!
//! The work is the command's own ([`windlass::cli`]); here are only the two languages' values. A run goes on in a thread
//! of its own, without Python's lock, while the thread that asked waits for it and for signals.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{create_exception, intern};
use windlass::cli::{self, Asked, CliError, Host};

mod contract;
mod controller;
mod episode;
mod sweep;
mod table;

use controller::PythonControllers;
use table::Table;

create_exception!(windlass, Error, PyException, "What went wrong: the text that the command prints.");
create_exception!(windlass, UsageError, Error, "An argument names something that does not exist or cannot work.");
create_exception!(windlass, ReadError, Error, "A file cannot be read.");

/// The exception of an error, with its text.
fn exception(error: CliError) -> PyErr {
    let text = match &error {
        // Its text is that of its debug form, which names the cause too.
        CliError::Scenario(error) => format!("{error:?}"),
        other => other.to_string(),
    };
    match error {
        CliError::Usage(_) | CliError::Scenario(_) => UsageError::new_err(text),
        CliError::Unreadable { .. } => ReadError::new_err(text),
        _ => Error::new_err(text),
    }
}

/// How long a signal may wait.
const SIGNALS: Duration = Duration::from_millis(50);

/// Does `work` without Python's lock, and `show` from time to time. A signal whose handler raises, as Ctrl-C's does, stops
/// it, and is what is raised; so does what `show` raises.
fn released<T: Send>(
    py: Python<'_>,
    show: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, CliError> + Send,
) -> PyResult<T> {
    let stop = &Arc::new(AtomicBool::new(false));
    py.detach(|| {
        std::thread::scope(|scope| {
            let (working, over) = channel::<()>();
            let worker = scope.spawn(move || {
                let done = work(stop);
                drop(working);
                done
            });
            let mut raised = None;
            while over.recv_timeout(SIGNALS) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = Python::attach(|py| py.check_signals().and_then(|()| show(py))) {
                    stop.store(true, Ordering::Relaxed);
                    raised.get_or_insert(error);
                }
            }
            let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            raised.map_or_else(|| done.map_err(exception), Err)
        })
    })
}

/// JSON as Python values.
fn values<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import(intern!(py, "json"))?.call_method1(intern!(py, "loads"), (json,))
}

/// The items of an argument that is one or several.
fn several<'py, T: FromPyObjectOwned<'py>>(one_or_several: &Bound<'py, PyAny>) -> PyResult<Vec<T>> {
    let fspath = intern!(one_or_several.py(), "__fspath__");
    if one_or_several.is_instance_of::<PyString>() || one_or_several.hasattr(fspath)? {
        return Ok(vec![one_or_several.extract().map_err(Into::into)?]);
    }
    one_or_several.try_iter()?.map(|item| item?.extract().map_err(Into::into)).collect()
}

/// The controllers, in the order of the catalogue: of each its `name`, a `summary`, its `source`, what it `needs`, and
/// its `parameters` with their values, units and ranges, as `windlass list NAME --json` prints them.
#[pyfunction]
fn controllers(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    values(py, &cli::controllers().to_string())
}

/// Runs a scenario.
///
/// scenario: a file (TOML), or the name of a built-in one.
/// controller: for the flows under test, as "cubic", "cubic:beta=0.8", or "native:NAME" for one of the stack's own, or
///     an object with the methods start, step and decide (see windlass.Controller); one or several; None for the
///     scenario's own.
/// stack: "sim" (the packet simulator), "quinn", "noq" or "s2n-quic", in virtual time; one or several.
/// seed: of all random numbers; None for the scenario's.
/// out: a directory for results.json, CSV and Parquet files, qlog files and report.html; None writes nothing.
///
/// Raises UsageError for arguments that name nothing or cannot work, Error if a run goes wrong, and what a controller in
/// Python raises. Ctrl-C ends the run.
#[pyfunction]
#[pyo3(signature = (scenario = None, *, controller = None, stack = None, seed = None, out = None))]
#[pyo3(text_signature = "(scenario='clean-link', *, controller=None, stack='sim', seed=None, out=None)")]
fn run(
    py: Python<'_>,
    scenario: Option<PathBuf>,
    controller: Option<Bound<'_, PyAny>>,
    stack: Option<Bound<'_, PyAny>>,
    seed: Option<u64>,
    out: Option<PathBuf>,
) -> PyResult<Results> {
    let mut controllers = PythonControllers::default();
    let asked = Asked {
        scenario: scenario.map_or_else(|| "clean-link".to_owned(), |path| path.display().to_string()),
        controllers: controller.map_or_else(|| Ok(Vec::new()), |given| controllers.names(&given))?,
        stacks: stack.map_or_else(|| Ok(vec!["sim".to_owned()]), |names| several(&names))?,
        seed,
        out,
    };
    let results = released(
        py,
        |_| Ok(()),
        |stop| {
            // A thread that Python knows already is called back several times as fast.
            controllers.stop_by(stop);
            cli::results(asked, Host { stop, thread: |work| Python::attach(|py| py.detach(work)), divides: false })
        },
    );
    controllers.outcome(results).map(Results)
}

/// The results of runs. The numbers are those of `windlass run --json`.
#[pyclass(frozen, module = "windlass")]
struct Results(windlass_lab::results::Results);

impl Results {
    /// The lists called `name` of all runs, one after another.
    fn of_runs<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for run in self.runs(py)?.try_iter()? {
            run?.get_item(name)?.try_iter()?.try_for_each(|item| all.append(item?))?;
        }
        Ok(all)
    }
}

#[pymethods]
impl Results {
    /// The runs, by scenario, controller and stack: of each its `metrics`, `flows`, `queues` and `qlogs`.
    #[getter]
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values(py, &self.json()?)?.get_item(intern!(py, "runs"))
    }

    /// The flows of all runs, each with its measures and, in `series`, its window, rate and RTT over time.
    #[getter]
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_runs(py, "flows")
    }

    /// The queues of all runs.
    #[getter]
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_runs(py, "queues")
    }

    /// The tables "ranking", "runs", "flows", "queues", "flow_series" and "queue_series".
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for table in windlass_lab::results::tables(&self.0) {
            let batch = windlass_lab::results::batch(&table).map_err(|error| Error::new_err(error.to_string()))?;
            all.set_item(table.name, Table::of(batch))?;
        }
        Ok(all)
    }

    /// The text of `windlass run --json`, byte for byte.
    fn json(&self) -> PyResult<String> {
        cli::json(&self.0).map_err(exception)
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Results: {}, seed {}, {} runs>", self.0.title, self.0.seed, self.0.runs.len())
    }
}

/// Reads a qlog file, compressed or not, into memory: a dict of the tables "packets", "recovery" (updates of recovery metrics),
/// "events" (all others), "state_variables" and "unknown" (fields and events that are only counted), and "metrics", the
/// measures of its connections.
///
/// Raises ReadError if it cannot be read.
#[pyfunction]
fn read_qlog<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
    use windlass_qlog_columns::{Table as Kind, measures};
    let mut loaded = released(py, |_| Ok(()), |stop| cli::loaded(&path, stop))?;
    let tables = PyDict::new(py);
    for kind in [Kind::Packets, Kind::Recovery, Kind::Events, Kind::StateVariables, Kind::Unknown] {
        let batches = loaded.rows.remove(&kind).unwrap_or_default();
        tables.set_item(kind.name(), Table::new(kind.schema(), batches))?;
    }
    let file = path.display().to_string();
    let measures = measures(loaded.measured.iter().map(|one| (file.as_str(), one)), None);
    tables.set_item("metrics", Table::of(measures.map_err(|error| Error::new_err(error.to_string()))?))?;
    Ok(tables)
}

/// Measures the connections of qlog files: goodput, losses, delays, windows; a row for each connection, and for each path of one that has several,
/// with the columns of `windlass qlog metrics --format parquet`.
///
/// paths: files, directories or patterns; one or several.
///
/// Raises ReadError if one of them cannot be read.
#[pyfunction]
fn metrics(py: Python<'_>, paths: Bound<'_, PyAny>) -> PyResult<Table> {
    let paths = several(&paths)?;
    Ok(Table::of(released(py, |_| Ok(()), |stop| cli::measured(paths, stop))?))
}

/// Windows, delays, rates and lanes of connections over time: what a cell of a notebook ends with is shown there.
#[pyclass(frozen, module = "windlass")]
struct Figure(Vec<String>);

#[pymethods]
impl Figure {
    /// The figure of each connection (SVG), byte for byte what `windlass qlog report --svg` writes.
    #[getter]
    fn svg(&self) -> &[String] {
        &self.0
    }

    /// Number of connections.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn _repr_html_(&self) -> String {
        self.0.iter().map(|svg| format!("<div style=\"overflow-x: auto\">{svg}</div>\n")).collect()
    }

    fn __repr__(&self) -> String {
        format!("<windlass.Figure of connections: {}>", self.0.len())
    }
}

/// Draws the connections of qlog files over time: windows, delays, rates, losses and states.
///
/// paths: files, directories or patterns; one or several.
///
/// Raises ReadError if one of them cannot be read, Error if nothing in them can be drawn.
#[pyfunction]
fn figure(py: Python<'_>, paths: Bound<'_, PyAny>) -> PyResult<Figure> {
    let paths: Vec<PathBuf> = several(&paths)?;
    let drawn = released(py, |_| Ok(()), |stop| cli::drawn(paths, stop))?;
    if drawn.is_empty() {
        return Err(Error::new_err("nothing to draw: no file has events over time"));
    }
    Ok(Figure(drawn))
}

/// Congestion controllers for QUIC.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", py.get_type::<Error>())?;
    module.add("UsageError", py.get_type::<UsageError>())?;
    module.add("ReadError", py.get_type::<ReadError>())?;
    module.add_class::<Table>()?;
    module.add_class::<Results>()?;
    module.add_class::<Figure>()?;
    module.add_class::<contract::Path>()?;
    module.add_class::<contract::Event>()?;
    module.add_class::<contract::Decision>()?;
    module.add_class::<episode::Episode>()?;
    module.add_function(wrap_pyfunction!(controllers, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(read_qlog, module)?)?;
    module.add_function(wrap_pyfunction!(metrics, module)?)?;
    module.add_function(wrap_pyfunction!(figure, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::measure_cell, module)?)
}
