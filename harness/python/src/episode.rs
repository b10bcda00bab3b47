//! A run that stops after each interval for the window of one flow: what an environment for learning is made of.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass::cli;
use windlass_adapter::{Foreign, NamedController};
use windlass_controllers::{
    ConfiguredController, Decision, Event, EventKind, Info, Path, Signals, Span, Table, Time, View,
};
use windlass_simulator::scenario::{Control, Scenario};
use windlass_simulator::sim::Simulation;

use crate::{Error, UsageError, exception};

/// Simulated time between two looks at signals.
const LOOK: Span = Span::from_millis(500);

/// What the flow learned since the interval began.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    acked_bytes: u64,
    acked_packets: u64,
    lost_packets: u64,
    marked_packets: u64,
    rtt_sum: u64,
    rtt_samples: u64,
}

/// The window that is asked for, and what was measured under it.
#[derive(Debug, Default)]
struct AgentState {
    mtu: u32,
    cwnd: u64,
    /// Just after the interval, when the next window counts.
    wake_at: u64,
    interval: Interval,
    in_flight: u64,
}

/// The controller of the flow: its window is whatever was asked for.
#[derive(Clone, Debug, Default)]
struct Agent(Arc<Mutex<AgentState>>);

impl Agent {
    fn state(&self) -> MutexGuard<'_, AgentState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfiguredController for Agent {
    type State = ();
    type Group = ();

    fn info(&self) -> Info {
        Info { name: "agent", summary: "", source: "", fallback: None }
    }
    fn needs(&self) -> Signals {
        Signals::ACKS | Signals::LOSS | Signals::WAKE_UP
    }
    fn wants_packet_sent(&self) -> bool {
        false
    }
    fn group(&self) {}
    fn start(&self, path: &Path) {
        self.state().mtu = path.mtu;
    }
    fn step(&self, (): &mut (), _: Table<'_, ()>, event: &Event) {
        let mut state = self.state();
        state.in_flight = event.in_flight().unwrap_or(state.in_flight);
        let interval = &mut state.interval;
        if let Some(rtt) = event.rtt() {
            interval.rtt_sum += rtt.latest.0;
            interval.rtt_samples += 1;
        }
        match &event.kind {
            EventKind::PacketsAcked(acked) => {
                interval.acked_bytes += acked.bytes;
                interval.acked_packets += u64::from(acked.packets);
            }
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => {
                interval.lost_packets += u64::from(lost.packets);
            }
            EventKind::EcnCe(marked) => interval.marked_packets += u64::from(marked.packets),
            _ => {}
        }
    }
    fn decide(&self, (): &(), _: View<'_, ()>) -> Decision {
        let state = self.state();
        // Below two datagrams no controller goes (RFC 9002 §7.2).
        Decision::new(state.cwnd.max(2 * u64::from(state.mtu))).with_wake_at(Some(Time(state.wake_at)))
    }
    fn inspect(&self, (): &(), _: View<'_, ()>, _: &mut dyn FnMut(&'static str, f64)) {}
}

/// Controllers of episodes that are over, for those to come: a scenario keeps one for as long as the process lives.
static FREE: Mutex<Vec<&'static Foreign<Agent>>> = Mutex::new(Vec::new());

/// A scenario in the simulator, one of whose flows has the window that the caller says, interval by interval.
#[pyclass(frozen, module = "windlass._native")]
pub(crate) struct Episode {
    agent: &'static Foreign<Agent>,
    flow: usize,
    simulation: Mutex<Simulation>,
    /// Maximum datagram size of the flow, bytes.
    #[pyo3(get)]
    mtu: u32,
    /// RTT of the flow over empty links, without transmission, ms.
    #[pyo3(get)]
    base_rtt_ms: f64,
    /// Smallest rate of the links of its path, as they are at the start, Mbit/s; infinite if none has one.
    #[pyo3(get)]
    rate_mbps: f64,
    /// Seed of all random numbers.
    #[pyo3(get)]
    seed: u64,
}

/// The place of the flow called `name`, or of the only one under test.
fn place(scenario: &Scenario, name: Option<&str>) -> PyResult<usize> {
    let under_test = || scenario.flows.iter().enumerate().filter(|(_, flow)| flow.under_test);
    let found = match name {
        Some(name) => scenario.flows.iter().position(|flow| flow.name == name),
        None => under_test().next().map(|(number, _)| number).filter(|_| under_test().count() == 1),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
        let wrong = name.map_or_else(
            || format!("{} flows of {} are under test", under_test().count(), scenario.name),
            |name| format!("{} has no flow {name:?}", scenario.name),
        );
        UsageError::new_err(format!("{wrong}; expected flow= to be one of {}", names.join(", ")))
    })
}

#[pymethods]
impl Episode {
    /// The run at its beginning. controller is that of the other flows under test.
    #[new]
    #[pyo3(signature = (scenario, *, flow = None, controller = "cubic", seed = None))]
    fn new(scenario: PathBuf, flow: Option<&str>, controller: &str, seed: Option<u64>) -> PyResult<Episode> {
        let source = cli::scenario(&scenario.display().to_string()).map_err(exception)?;
        let mut scenario = source.read(Some(controller)).map_err(|error| exception(error.into()))?;
        scenario.seed = seed.unwrap_or(scenario.seed);
        let flow = place(&scenario, flow)?;
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let agent = free.unwrap_or_else(|| Box::leak(Box::new(Foreign(Agent::default()))));
        *agent.0.state() = AgentState::default();
        let spec = &mut scenario.flows[flow];
        spec.control = Control::Named(NamedController::foreign(agent));
        agent.0.name().clone_into(&mut spec.controller);
        let (mtu, topology) = (spec.packet_bytes, &scenario.topology);
        let base_rtt = topology.delay(spec.forward) + topology.delay(spec.backward);
        let links = topology.routes[spec.forward.0 as usize].iter().map(|link| topology.links[link.0 as usize].rate);
        let rate = links.fold(f64::INFINITY, f64::min);
        let simulation = Simulation::new(&scenario).map_err(|error| UsageError::new_err(error.to_string()))?;
        Ok(Episode {
            agent,
            flow,
            simulation: Mutex::new(simulation),
            mtu,
            base_rtt_ms: base_rtt.millis(),
            rate_mbps: rate / 1e6,
            seed: scenario.seed,
        })
    }

    /// Goes on for `interval_ns` with a window of `cwnd` bytes, or to the end of the scenario; what the flow learned
    /// meanwhile.
    fn advance<'py>(&self, py: Python<'py>, cwnd: u64, interval_ns: u64) -> PyResult<Bound<'py, PyDict>> {
        // To wait for another thread with Python's lock in hand might be for ever.
        let Ok(mut simulation) = self.simulation.try_lock() else {
            return Err(Error::new_err("another thread runs the episode; expected one at a time"));
        };
        let simulation = &mut *simulation;
        let begun = simulation.now();
        let until = (begun + Span(interval_ns)).min(simulation.scenario().end());
        {
            let mut state = self.agent.0.state();
            let AgentState { mtu, in_flight, .. } = *state;
            *state = AgentState { mtu, in_flight, cwnd, wake_at: until.0 + 1, interval: Interval::default() };
        }
        while simulation.now() < until {
            let part = (simulation.now() + LOOK).min(until);
            py.detach(|| simulation.run_until(part));
            simulation.check().map_err(|error| Error::new_err(error.to_string()))?;
            py.check_signals()?;
        }
        let state = self.agent.0.state();
        let Interval { acked_bytes, acked_packets, lost_packets, marked_packets, rtt_sum, rtt_samples } =
            state.interval;
        let seen = PyDict::new(py);
        seen.set_item("time_s", until.0 as f64 / 1e9)?;
        seen.set_item("interval_s", until.since(begun).secs())?;
        seen.set_item("acked_bytes", acked_bytes)?;
        seen.set_item("acked_packets", acked_packets)?;
        seen.set_item("lost_packets", lost_packets)?;
        seen.set_item("marked_packets", marked_packets)?;
        let rtt = (rtt_samples > 0).then(|| rtt_sum as f64 / rtt_samples as f64 / 1e6);
        seen.set_item("rtt_mean_ms", rtt)?;
        seen.set_item("in_flight_bytes", state.in_flight)?;
        seen.set_item("is_active", simulation.counts(self.flow).is_active)?;
        seen.set_item("is_over", until >= simulation.scenario().end())?;
        Ok(seen)
    }
}

impl Drop for Episode {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.agent);
    }
}
