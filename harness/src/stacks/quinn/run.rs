//! A scenario with quinn at both ends of every flow.

use std::io;
use std::time::Instant;

use windlass_adapter::{ChoiceError, Groups};
use windlass_controllers::{Span, Time};
use windlass_quinn::STACK;

use super::config;
use super::end::Role;
use super::journal::Output;
use super::running::Running;
use super::setup::Shared;
use super::tls::tls;
use super::wire::Wire;
use crate::measure::NetworkMeter;
use crate::net::{Agenda, Network, TopologyError};
use crate::outcome::Outcome;
use crate::scenario::{FlowSpec, Scenario};
use crate::sim::QlogSettings;

/// Where the log of one flow goes, and how it is written.
pub struct Log {
    /// What is written to.
    pub output: Output,
    /// How.
    pub settings: QlogSettings,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A controller needs what quinn does not report.
    #[error("flow {flow:?}: {error}")]
    Controller {
        /// The flow.
        flow: String,
        /// What is missing.
        error: ChoiceError,
    },
    /// A datagram size QUIC does not allow.
    #[error(
        "flow {flow:?}: packet_bytes is {bytes}; quinn needs {} to {} bytes of UDP payload",
        config::SMALLEST,
        config::LARGEST
    )]
    PacketSize {
        /// The flow.
        flow: String,
        /// Its packet size.
        bytes: u32,
    },
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] TopologyError),
    /// No TLS.
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    /// A flow came to an end nobody asked for.
    #[error("flow {flow:?} failed {at_s:.6} s into the run: {reason}")]
    Flow {
        /// The flow.
        flow: String,
        /// When, s.
        at_s: f64,
        /// Why.
        reason: String,
    },
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
    /// A log could not be written.
    #[error("flow {flow:?}: cannot write its log: {error}")]
    Log {
        /// The flow.
        flow: String,
        /// Why.
        error: io::Error,
    },
}

/// Runs a scenario from beginning to end. `log` says where the log of each flow goes, if
/// anywhere.
///
/// # Errors
/// quinn cannot run a flow, or a flow failed.
pub fn run(
    scenario: &Scenario,
    log: &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
) -> Result<Outcome, RunError> {
    run_unless(scenario, log, &|_| false)
}

/// [`run`], telling `stop` now and then how far it is, which says whether to give up.
///
/// # Errors
/// Those of [`run`], and [`RunError::Stopped`].
pub fn run_unless(
    scenario: &Scenario,
    log: &mut dyn FnMut(&FlowSpec) -> io::Result<Option<Log>>,
    stop: &dyn Fn(Time) -> bool,
) -> Result<Outcome, RunError> {
    let tls = tls().map_err(RunError::Tls)?;
    let network = Network::new(&scenario.topology, scenario.seed)?;
    let shared = Shared {
        scenario: &scenario.name,
        seed: scenario.seed,
        origin: Instant::now(),
        groups: Groups::default(),
        tls,
    };
    let mut flows = Vec::new();
    for (number, spec) in (0..).zip(&scenario.flows) {
        let log = log(spec).map_err(|error| RunError::Log { flow: spec.name.clone(), error })?;
        flows.push(Running::new(spec, number, &shared, shared.parts(spec, log)?));
    }
    let mut agenda = Agenda::new(SOURCES * flows.len());
    for (i, spec) in scenario.flows.iter().enumerate() {
        let start = spec.starts(scenario.seed);
        if start < spec.stop {
            agenda.set(SOURCES * i + CONTROL, start.0);
        }
    }
    let mut world = World { wire: Wire::new(network), flows, agenda, now: Time::ZERO };
    let mut meter = NetworkMeter::new(scenario);
    let end = Time(scenario.duration.0);
    let mut point = Time(scenario.sample.0);
    while point <= end {
        world.advance_unless(point, stop)?;
        world.flows.iter_mut().for_each(|flow| flow.sample(point));
        meter.sample(point, scenario, &mut world.wire.network);
        point += scenario.sample;
    }
    world.advance_unless(end, stop)?;
    let (traffic, queues) = meter.finish(end, scenario, &world.wire.network);
    let mut flows = Vec::new();
    for flow in world.flows {
        flows.push(flow.outcome(end)?);
    }
    flows.extend(traffic);
    Ok(Outcome {
        scenario: scenario.name.clone(),
        stack: STACK.to_owned(),
        seed: scenario.seed,
        duration_s: scenario.duration.secs(),
        flows,
        queues,
    })
}

/// Sources of the agenda per flow: its two ends by their roles, and its start and stop.
const SOURCES: usize = 3;
const CONTROL: usize = 2;

/// Network, flows and time.
struct World<'a> {
    wire: Wire,
    flows: Vec<Running<'a>>,
    agenda: Agenda,
    /// How far it is.
    now: Time,
}

/// Virtual time between two looks at whether to stop.
const LOOK: Span = Span::from_millis(50);

impl World<'_> {
    /// [`advance`](Self::advance)s in steps, unless told to stop.
    fn advance_unless(&mut self, end: Time, stop: &dyn Fn(Time) -> bool) -> Result<(), RunError> {
        loop {
            if stop(self.now) {
                return Err(RunError::Stopped);
            }
            self.now = (self.now + LOOK).min(end);
            self.advance(self.now)?;
            if self.now == end {
                return Ok(());
            }
        }
    }

    /// Handles everything until `end`. At one instant the network comes first, then the
    /// flows in order.
    fn advance(&mut self, end: Time) -> Result<(), RunError> {
        loop {
            let in_network = self.wire.network.next().map_or(u64::MAX, |at| at.0);
            let (in_flows, source) = self.agenda.first();
            let now = Time(in_network.min(in_flows));
            if now > end || now.0 == u64::MAX {
                return Ok(());
            }
            if in_network <= in_flows {
                while let Some(arrival) = self.wire.poll(now) {
                    let (i, role) = (arrival.flow as usize, arrival.role);
                    self.flows[i].arrived(now, arrival, &mut self.wire)?;
                    self.agenda.set(SOURCES * i + role as usize, now.0);
                }
            } else {
                let flow = &mut self.flows[source / SOURCES];
                let next = match source % SOURCES {
                    CONTROL => {
                        self.agenda.set(source - CONTROL + Role::Sender as usize, now.0);
                        flow.control(now)?
                    }
                    role => flow.drive(Role::ALL[role], now, &mut self.wire)?,
                };
                self.agenda.set(source, next.map_or(u64::MAX, |at| at.0));
            }
        }
    }
}
