//! Running a scenario in the simulator, observed at equal distances in time and checked on the
//! way.

use windlass_controllers::{Span, Time};

use super::artefact::artefact;
use super::time_series::{FlowTimeSeries, TimeSeries};
use windlass_network::{Limit, LinkId};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{PacketCounts, SimError, Simulation};

/// Why a run has no record.
#[derive(thiserror::Error)]
pub enum WatchError {
    /// The caller set `stop`.
    #[error("stopped")]
    Stopped,
    /// The scenario cannot be simulated.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// An invariant of every run was violated: a defect of the simulator.
    #[error("{scenario}, seed {seed}, at {at} s: {what}")]
    Violated {
        /// Name of the scenario.
        scenario: String,
        /// Seed of the repetition.
        seed: u64,
        /// Simulated time at which it went wrong, s.
        at: f64,
        /// What was found and what was expected.
        what: String,
    },
    /// The run shows what is an artefact of the simulation and no result.
    #[error("{scenario}, seed {seed}: {what}")]
    Artefact {
        /// Name of the scenario.
        scenario: String,
        /// Seed of the repetition.
        seed: u64,
        /// What was found and what was expected.
        what: String,
    },
    /// The scenario has no such link.
    #[error("the scenario has no link {0:?}")]
    NoLink(String),
}

impl std::fmt::Debug for WatchError {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Runs `scenario` in the simulator and records, every `step`, its flows, the link `bottleneck`
/// and the state variables of controllers called `names`. `stop` gets the part of the run that
/// is done, 0 to 1, and returns whether to give up.
///
/// # Errors
/// Stopped; the scenario cannot be simulated; the run violates an invariant or shows an artefact.
pub fn watch(
    scenario: &Scenario,
    bottleneck: &str,
    step: Span,
    names: &[&'static str],
    stop: &dyn Fn(f64) -> bool,
) -> Result<TimeSeries, WatchError> {
    let mut simulation = Simulation::new(scenario)?;
    let link = simulation.link(bottleneck).ok_or_else(|| WatchError::NoLink(bottleneck.to_owned()))?;
    let spec = &scenario.topology.links[link.0 as usize];
    let (rate, limit) = (spec.rate, spec.limit);
    let points = (scenario.duration.0 / step.0.max(1)) as usize;
    let state_variables = || names.iter().map(|name| (*name, Vec::with_capacity(points + 1))).collect();
    let flow = |name: &str| FlowTimeSeries {
        name: name.to_owned(),
        state_variables: state_variables(),
        ..FlowTimeSeries::default()
    };
    let mut time = Vec::with_capacity(points + 1);
    let mut flows: Vec<FlowTimeSeries> = scenario.flows.iter().map(|spec| flow(&spec.name)).collect();
    let (mut queue, mut queue_integral) = (Vec::with_capacity(points + 1), Vec::with_capacity(points + 1));
    let (mut forwarded, mut overflowed) = (Vec::with_capacity(points + 1), Vec::with_capacity(points + 1));
    // Looks that come every few milliseconds need not each ask whether to go on.
    let look = (points / 1000).max(1);
    for point in 0..=points {
        let at = Time(step.0.saturating_mul(point as u64));
        if point > 0 {
            simulation.run_until(at);
        }
        if point % look == 0 {
            if stop(point as f64 / points.max(1) as f64) {
                return Err(WatchError::Stopped);
            }
            check(&mut simulation, link, limit)?;
            simulation.check().map_err(SimError::from)?;
        }
        time.push(at.0 as f64 / 1e9);
        let stats = simulation.link_stats(link, at);
        queue.push(simulation.waiting(link).0 as f64);
        queue_integral.push(stats.waiting_packet_seconds);
        forwarded.push(stats.forwarded_bytes);
        overflowed.push(stats.dropped_full);
        for (number, series) in flows.iter_mut().enumerate() {
            let counts = simulation.counts(number);
            // A flow that stops with the run had its window until then.
            let before = series.cwnd.last().copied().filter(|_| point == points && !counts.is_active);
            series.cwnd.push(before.unwrap_or(counts.cwnd_packets));
            series.arrivals.push(counts.arrivals);
            series.goodput.push(counts.goodput_bytes);
            series.sent.push(counts.sent);
            series.lost.push(counts.lost);
            series.dropped = counts.dropped;
            series.loss_classification = counts.loss_classification;
            if !names.is_empty() {
                series.state_variables.iter_mut().for_each(|(_, values)| values.push(f64::NAN));
                simulation.inspect(number, &mut |name, value| {
                    let followed = series.state_variables.iter_mut().find(|(other, _)| *other == name);
                    if let Some(last) = followed.and_then(|(_, values)| values.last_mut()) {
                        *last = value;
                    }
                });
            }
        }
    }
    check(&mut simulation, link, limit)?;
    let max_queue = simulation.link_stats(link, simulation.now()).max_waiting as f64;
    let outcome = simulation.finish();
    let series = TimeSeries {
        max_queue,
        step: step.secs(),
        time,
        flows,
        queue,
        queue_integral,
        forwarded,
        overflowed,
        rate,
        outcome,
    };
    match artefact(scenario, &series) {
        Some(what) => Err(WatchError::Artefact { scenario: scenario.name.clone(), seed: scenario.seed, what }),
        None => Ok(series),
    }
}

/// What holds at every instant of every run: packets sent are delivered, gone or under way;
/// no receiver has more than its sender sent; no queue is longer than its limit; no link
/// sends more than it can.
fn check(simulation: &mut Simulation, link: LinkId, limit: Limit) -> Result<(), WatchError> {
    let at = simulation.now();
    let waiting = simulation.waiting(link);
    let violated = |what: String| {
        let scenario = simulation.scenario();
        Err(WatchError::Violated { scenario: scenario.name.clone(), seed: scenario.seed, at: at.0 as f64 / 1e9, what })
    };
    let PacketCounts { sent, delivered, gone, held } = simulation.packet_counts();
    if sent != delivered + gone + held {
        return violated(format!("{sent} packets sent, but {delivered} delivered, {gone} gone, {held} under way"));
    }
    let full = match limit {
        Limit::Unlimited => false,
        Limit::Packets(most) => waiting.0 > most,
        Limit::Bytes(most) => waiting.1 > most,
    };
    if full {
        return violated(format!("{} packets wait where {limit:?} may", waiting.0));
    }
    // A packet that is being sent has not been counted; one more byte is rounding.
    let stats = simulation.link_stats(link, at);
    if stats.capacity_bytes > 0.0 && stats.forwarded_bytes as f64 > stats.capacity_bytes + 1.0 {
        return violated(format!("{} bytes sent of at most {}", stats.forwarded_bytes, stats.capacity_bytes));
    }
    for (number, flow) in simulation.scenario().flows.iter().enumerate() {
        let counts = simulation.counts(number);
        if counts.arrivals.packets > counts.sent {
            let name = &flow.name;
            return violated(format!("{name} sent {} packets, {} arrived", counts.sent, counts.arrivals.packets));
        }
        if counts.goodput_bytes > counts.arrivals.packets * u64::from(flow.packet_bytes) {
            return violated(format!("{}: {} bytes in {:?}", flow.name, counts.goodput_bytes, counts.arrivals));
        }
    }
    Ok(())
}
