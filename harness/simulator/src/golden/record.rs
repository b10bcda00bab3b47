//! Recording the golden trace of a controller.

use std::sync::{Arc, Mutex, PoisonError};

use windlass_adapter::{Recorder, StateVariables};
use windlass_controllers::{Decision, Event, Time};

use super::GoldenScenario;
use super::trace::{Line, Trace};
use crate::scenario::Scenario;
use crate::sim::{SimError, Simulation};

/// The latest decision of a flow.
#[derive(Clone, Default)]
struct Latest(Arc<Mutex<Option<Decision>>>);

impl Latest {
    fn read(&self) -> Option<Decision> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for Latest {
    fn record(&mut self, _: &Event, decision: &Decision, _: &StateVariables<'_>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*decision);
    }
}

/// Runs `scenario`, which is `golden` with `controller` under test, and records at every
/// point of its series the latest decision of each flow under test and the packets waiting in
/// its first queue. A flow that is not active has no decision.
///
/// # Errors
/// The scenario cannot be simulated, which does not happen with golden scenarios.
pub fn record(golden: &GoldenScenario, controller: &str, scenario: &Scenario) -> Result<Trace, SimError> {
    let mut simulation = Simulation::new(scenario)?;
    let mut trace = Trace { controller: controller.to_owned(), scenario: golden.name.to_owned(), ..Trace::default() };
    let mut latest = Vec::new();
    for (number, flow) in scenario.flows.iter().enumerate().filter(|(_, flow)| flow.under_test) {
        let recorder = Latest::default();
        simulation.watch(number, None, Some(Box::new(recorder.clone())));
        latest.push((recorder, flow.stop));
        trace.flows.push(Line { name: flow.name.clone(), ..Line::default() });
    }
    let points = scenario.duration.0 / scenario.sample.0;
    for point in 1..=points {
        simulation.run_until(Time(point * scenario.sample.0));
        trace.time_ms.push(point * scenario.sample.0 / 1_000_000);
        for (line, (latest, stop)) in trace.flows.iter_mut().zip(&latest) {
            let decision = latest.read().filter(|_| simulation.now() <= *stop);
            line.cwnd.push(decision.map(|decision| decision.cwnd));
            line.ssthresh.push(decision.and_then(|decision| decision.ssthresh));
            line.phase.push(decision.map(|decision| decision.phase));
        }
    }
    simulation.check()?;
    let outcome = simulation.finish();
    for line in &mut trace.flows {
        if let Some(flow) = outcome.flows.iter().find(|flow| flow.name == line.name) {
            line.totals = [flow.packets_sent, flow.packets_lost, flow.packets_marked, flow.congestion_events];
        }
    }
    if let Some(queue) = outcome.queues.first() {
        trace.queue = queue.series.packets.iter().map(|packets| packets.round() as u64).collect();
    }
    trace.queue.resize(trace.time_ms.len(), 0);
    Ok(trace)
}
