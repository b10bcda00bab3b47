//! Controllers written in Python, by name among the others while a run goes on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use windlass_adapter::{Foreign, Lent, NamedController};
use windlass_controllers::{ConfiguredController, Info, Signals, Table, View};

use crate::UsageError;
use crate::contract::{Decision, Event, Path, signals};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the first exception of a run's controllers is, and what then ends the run.
#[derive(Debug, Default)]
struct Failure {
    raised: Mutex<Option<PyErr>>,
    is_raised: AtomicBool,
    stop: OnceLock<Arc<AtomicBool>>,
}

impl Failure {
    fn raise(&self, error: PyErr) {
        locked(&self.raised).get_or_insert(error);
        self.is_raised.store(true, Ordering::Relaxed);
        if let Some(stop) = self.stop.get() {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

/// A Python object that is a controller, for one run.
#[derive(Debug)]
struct PythonController {
    name: &'static str,
    start: Py<PyAny>,
    step: Py<PyAny>,
    decide: Py<PyAny>,
    needs: Signals,
    wants_packet_sent: bool,
    failure: Arc<Failure>,
}

/// Why an object is no controller, if it is none.
fn lack(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let shown = object.repr()?;
    if object.is_instance_of::<PyType>() {
        let text = format!("the controller is {shown}; expected an object of that class, not the class");
        return Err(UsageError::new_err(text));
    }
    for method in ["start", "step", "decide"] {
        if !object.getattr_opt(method)?.is_some_and(|found| found.is_callable()) {
            let text = format!("the controller {shown} has no method {method}; expected start, step and decide");
            return Err(UsageError::new_err(text));
        }
    }
    Ok(())
}

/// The name of a controller: its attribute `name`, or that of its class, `MyReno` as `my-reno`.
fn name_of(object: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Some(name) = object.getattr_opt(intern!(object.py(), "name"))? {
        return name.extract();
    }
    let mut name = String::new();
    for letter in object.get_type().name()?.to_str()?.chars() {
        if letter.is_ascii_uppercase() && name.ends_with(|before: char| before.is_ascii_lowercase()) {
            name.push('-');
        }
        name.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    Ok(name)
}

impl PythonController {
    fn new(object: &Bound<'_, PyAny>, name: &'static str, failure: &Arc<Failure>) -> PyResult<PythonController> {
        let py = object.py();
        let needs = match object.getattr_opt(intern!(py, "needs"))? {
            Some(names) => signals(&crate::several(&names)?)?,
            None => Signals::ACKS | Signals::LOSS,
        };
        let wants = object.getattr_opt(intern!(py, "wants_packet_sent"))?;
        Ok(PythonController {
            name,
            start: object.getattr(intern!(py, "start"))?.unbind(),
            step: object.getattr(intern!(py, "step"))?.unbind(),
            decide: object.getattr(intern!(py, "decide"))?.unbind(),
            needs,
            wants_packet_sent: wants.map_or(Ok(false), |wants| wants.is_truthy())?,
            failure: Arc::clone(failure),
        })
    }

    fn decide(&self, py: Python<'_>, state: &Py<PyAny>) -> PyResult<windlass_controllers::Decision> {
        let decision = self.decide.bind(py).call1((state,))?;
        let Ok(decision) = decision.cast::<Decision>() else {
            let of = decision.get_type().name()?;
            let text = format!("{}: decide returned an object of type {of}; expected windlass.Decision", self.name);
            return Err(PyTypeError::new_err(text));
        };
        Ok(decision.get().0)
    }

    /// What `ask` gives; `None` once anything was raised.
    fn ask<T>(&self, ask: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.failure.is_raised.load(Ordering::Relaxed) {
            return None;
        }
        Python::attach(ask).map_err(|error| self.failure.raise(error)).ok()
    }
}

/// `text` for as long as the process lives; names of controllers are few.
fn interned(text: String) -> &'static str {
    static ALL: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());
    locked(&ALL).entry(text).or_insert_with_key(|text| text.clone().leak())
}

/// The place of a controller by its name, empty but while a run goes on.
#[derive(Debug)]
struct Place {
    name: &'static str,
    controller: Mutex<Option<Arc<PythonController>>>,
}

/// What the names know: the same for all controllers of one name, one after the other.
#[derive(Clone, Copy, Debug)]
struct Hosted(&'static Place);

impl Hosted {
    fn named(name: &'static str) -> &'static Foreign<Hosted> {
        static ALL: Mutex<BTreeMap<&'static str, &'static Foreign<Hosted>>> = Mutex::new(BTreeMap::new());
        let new = || {
            let place: &Place = Box::leak(Box::new(Place { name, controller: Mutex::new(None) }));
            &*Box::leak(Box::new(Foreign(Hosted(place))))
        };
        locked(&ALL).entry(name).or_insert_with(new)
    }

    fn controller(&self) -> Option<Arc<PythonController>> {
        locked(&self.0.controller).clone()
    }
}

/// State of one flow, and the decision in force. Where something was raised, it has no state, and its window is two
/// datagrams until the run ends.
#[derive(Debug)]
struct State {
    of: Option<(Arc<PythonController>, Py<PyAny>)>,
    decision: windlass_controllers::Decision,
}

impl Clone for State {
    fn clone(&self) -> State {
        let copied = self.of.as_ref().and_then(|(controller, state)| {
            let copy =
                controller.ask(|py| Ok(PyModule::import(py, "copy")?.call_method1("deepcopy", (state,))?.unbind()))?;
            Some((Arc::clone(controller), copy))
        });
        State { of: copied, decision: self.decision }
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        match (&self.of, &other.of) {
            (Some((controller, one)), Some((_, other))) => {
                controller.ask(|py| one.bind(py).eq(other)).is_some_and(|is_equal| is_equal)
            }
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl ConfiguredController for Hosted {
    type State = State;
    type Group = ();

    fn info(&self) -> Info {
        Info { name: self.0.name, summary: "", source: "", fallback: None }
    }
    fn needs(&self) -> Signals {
        self.controller().map_or(Signals::NONE, |controller| controller.needs)
    }
    fn wants_packet_sent(&self) -> bool {
        self.controller().is_some_and(|controller| controller.wants_packet_sent)
    }
    fn group(&self) {}
    fn start(&self, path: &windlass_controllers::Path) -> State {
        let mut decision = windlass_controllers::Decision::new(2 * u64::from(path.mtu));
        let of = self.controller().and_then(|controller| {
            let state = controller.ask(|py| {
                let state = controller.start.call1(py, (Path::from(path),))?;
                decision = controller.decide(py, &state)?;
                Ok(state)
            })?;
            Some((controller, state))
        });
        State { of, decision }
    }
    fn step(&self, state: &mut State, _: Table<'_, ()>, event: &windlass_controllers::Event) {
        let Some((controller, of)) = &state.of else { return };
        // What it decides, in the same call of Python: it is asked after every step.
        let decided = controller.ask(|py| {
            controller.step.bind(py).call1((of, Event(*event)))?;
            controller.decide(py, of)
        });
        state.decision = decided.unwrap_or(state.decision);
    }
    fn decide(&self, state: &State, _: View<'_, ()>) -> windlass_controllers::Decision {
        state.decision
    }
    fn inspect(&self, _: &State, _: View<'_, ()>, _: &mut dyn FnMut(&'static str, f64)) {}
}

/// The controllers in Python of one run: their names stand for them until this is dropped.
#[derive(Default)]
pub(crate) struct PythonControllers {
    all: Vec<(Lent, &'static Foreign<Hosted>)>,
    failure: Arc<Failure>,
}

impl PythonControllers {
    /// The names of controllers that are given as a name, an object or several of them; objects become one of these.
    pub(crate) fn names(&mut self, given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        if given.is_instance_of::<PyString>() || given.hasattr(intern!(given.py(), "decide"))? {
            return Ok(vec![self.name(given)?]);
        }
        given.try_iter()?.map(|item| self.name(&item?)).collect()
    }

    fn name(&mut self, item: &Bound<'_, PyAny>) -> PyResult<String> {
        if let Ok(name) = item.extract() {
            return Ok(name);
        }
        lack(item)?;
        let name = interned(name_of(item)?);
        let controller = PythonController::new(item, name, &self.failure)?;
        let hosted = Hosted::named(name);
        let lent = NamedController::lend(hosted).map_err(|error| UsageError::new_err(error.to_string()))?;
        *locked(&hosted.0.0.controller) = Some(Arc::new(controller));
        self.all.push((lent, hosted));
        Ok(name.to_owned())
    }

    /// Raises `stop` where one of them raises an exception.
    pub(crate) fn stop_by(&self, stop: &Arc<AtomicBool>) {
        let _ = self.failure.stop.set(Arc::clone(stop));
    }

    /// The exception that one of them raised, or `done`.
    pub(crate) fn outcome<T>(&self, done: PyResult<T>) -> PyResult<T> {
        match locked(&self.failure.raised).take() {
            Some(error) => Err(error),
            None => done,
        }
    }
}

impl Drop for PythonControllers {
    fn drop(&mut self) {
        for (_, hosted) in &self.all {
            *locked(&hosted.0.0.controller) = None;
        }
    }
}
