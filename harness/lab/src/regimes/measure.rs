//! One run of a regime, and what is read off it.

use std::cell::Cell as Flag;

use serde::{Deserialize, Serialize};
use windlass_controllers::{Span, Time};

use super::regime::Regime;
use crate::grid::{Cell, Failure, Reading, cpu_seconds, prepared};
use windlass_simulator::outcome::{FlowOutcome, FlowSeries, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::Simulation;
use windlass_stacks::RunError;
use windlass_stacks::stack::Runner;

/// What is read off a run. Means over its second half are over the half of the time after the last flow's start, those
/// over its end over the last quarter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured {
    /// It ran.
    Run {
        /// Why it was ended before its time, if it was.
        ended: Option<String>,
        /// Time it ran, s.
        until_s: f64,
        /// Packets the flows sent.
        sent: u64,
        /// Packets the flows took for lost.
        lost: u64,
        /// Packets the bottleneck forwarded.
        forwarded: u64,
        /// Packets it had no room for.
        dropped: u64,
        /// Goodput of all flows in the second half over what the link can carry of it, 0 to 1.
        utilisation: f64,
        /// Jain's index of the flows' goodput in the second half; `None` of one flow.
        jain: Option<f64>,
        /// The least goodput of a flow in the second half and over the end, packets.
        least_packets: (f64, f64),
        /// Mean queue in the second half, packets.
        queue: f64,
        /// Sum of the flows' windows, mean over the end, packets.
        window: f64,
    },
    /// It did not end: what a stack does that sends without end.
    Endless {
        /// Reason for which the run was ended.
        endless: String,
    },
    /// The stack cannot run it, or failed.
    Not {
        /// Why.
        not_run: String,
    },
}

/// A run is ended when its flows have sent so many times what the link can carry in all of it: what they do is seen by
/// then.
const RUNAWAY: f64 = 8.0;

/// Packets each flow may send beyond that.
const RUNAWAY_EACH: u64 = 1000;

/// CPU time after which a run on a real stack is ended, s. In the simulator packets bound it.
const CPU_S: f64 = 10.0;

/// Runs `cell`, which is `regime`'s, and reads it off. `stop` gets the part of the run that is done, 0 to 1, and
/// returns whether to give up.
///
/// # Errors
/// Stopped. Whatever else goes wrong is part of what is read.
pub fn measure(cell: &Cell, regime: &Regime, stop: &dyn Fn(f64) -> bool) -> Result<Reading<Measured>, Failure> {
    let not = |not_run: String| Ok(Reading { read: Measured::Not { not_run }, packets: 0 });
    let (scenario, stack) = match prepared(cell) {
        Ok(both) => both,
        Err(reason) => return not(reason),
    };
    let run =
        if stack == Runner::SIMULATOR { simulate(&scenario, regime, stop) } else { carry(&scenario, stack, stop) };
    match run {
        Ok((outcome, ended)) => {
            let packets = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
            Ok(Reading { read: Measured::of(&outcome, regime, ended), packets })
        }
        Err(Unread::Stopped) => Err(Failure::Stopped),
        Err(Unread::Endless(endless)) => Ok(Reading { read: Measured::Endless { endless }, packets: 0 }),
        Err(Unread::Not(reason)) => not(reason),
    }
}

/// An outcome, and why it was ended before its time, if it was.
type Run = Result<(Outcome, Option<String>), Unread>;

/// Why there is no outcome.
enum Unread {
    Stopped,
    Endless(String),
    Not(String),
}

impl From<RunError> for Unread {
    fn from(error: RunError) -> Unread {
        match error {
            RunError::Stopped => Unread::Stopped,
            error => Unread::Not(error.to_string()),
        }
    }
}

fn simulate(scenario: &Scenario, regime: &Regime, stop: &dyn Fn(f64) -> bool) -> Run {
    let mut simulation = Simulation::new(scenario).map_err(RunError::from)?;
    let fits = (scenario.duration.secs() / regime.packet_time()) as u64;
    let most = (RUNAWAY * fits as f64) as u64 + RUNAWAY_EACH * u64::from(regime.flows());
    let step = Span((scenario.duration.0 / 1000).max(1));
    let mut until = simulation.now();
    while until < scenario.end() {
        if stop(until.0 as f64 / scenario.duration.0 as f64) {
            return Err(Unread::Stopped);
        }
        until = Time((until + step).0.min(scenario.end().0));
        simulation.run_until(until);
        if let Err(runaway) = simulation.check() {
            return Ok((simulation.break_off(), Some(runaway.to_string())));
        }
        let sent: u64 = (0..scenario.flows.len()).map(|number| simulation.counts(number).sent).sum();
        if sent > most {
            let at = until.0 as f64 / 1e9;
            let ended = format!("after {at:.3} s, when {sent} packets were sent where {fits} fit into all of it");
            return Ok((simulation.break_off(), Some(ended)));
        }
    }
    Ok((simulation.finish(), None))
}

/// Runs on a real stack, in virtual time.
fn carry(scenario: &Scenario, stack: Runner, stop: &dyn Fn(f64) -> bool) -> Run {
    let begun = cpu_seconds();
    let too_long = || cpu_seconds() - begun > CPU_S;
    let given_up = Flag::new(false);
    let asked = |now: Time| {
        given_up.set(stop(now.0 as f64 / scenario.duration.0 as f64));
        given_up.get() || too_long()
    };
    match stack.run(scenario, None, &asked) {
        Err(RunError::Stopped) if !given_up.get() => {
            Err(Unread::Endless(format!("it was ended after {CPU_S} s of CPU")))
        }
        run => Ok((run?, None)),
    }
}

impl Measured {
    /// Reads `outcome`, a run of `regime` that was ended for that reason, if it was.
    #[must_use]
    pub fn of(outcome: &Outcome, regime: &Regime, ended: Option<String>) -> Measured {
        let until = outcome.duration_s;
        let active = (until - regime.last_start()).max(0.0);
        let (second, end) = (until - active / 2.0, until - active / 4.0);
        let packet_bits = 8.0 * f64::from(regime.wire_bytes()) * regime.payload();
        // In packets of payload.
        let delivered = |flow: &FlowOutcome, from: f64| {
            let FlowSeries { time_s, goodput_mbps, .. } = &flow.series;
            let spans = time_s.windows(2).zip(goodput_mbps.iter().skip(1));
            let bits = spans.map(|(t, mbps)| mbps * 1e6 * (t[1] - t[0].max(from)).max(0.0));
            bits.sum::<f64>() / packet_bits
        };
        let of_all = |from: f64| outcome.flows.iter().map(move |flow| delivered(flow, from));
        let halves: Vec<f64> = of_all(second).collect();
        let (sum, squares) = halves.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let least = |packets: &mut dyn Iterator<Item = f64>| packets.fold(f64::INFINITY, f64::min);
        let queue = outcome.queues.first();
        let mean_from = |time: &[f64], values: &[f64], from: f64| {
            let late = time.iter().zip(values).filter(|(at, _)| **at >= from).map(|(_, value)| *value);
            let (count, sum) = late.fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
            sum / f64::from(count.max(1))
        };
        let window = |flow: &FlowOutcome| mean_from(&flow.series.time_s, &flow.series.cwnd_packets, end);
        Measured::Run {
            ended,
            until_s: until,
            sent: outcome.flows.iter().map(|flow| flow.packets_sent).sum(),
            lost: outcome.flows.iter().map(|flow| flow.packets_lost).sum(),
            forwarded: queue.map_or(0, |queue| queue.packets_forwarded),
            dropped: queue.map_or(0, |queue| queue.packets_dropped),
            utilisation: sum * regime.packet_time() / (until - second).max(regime.packet_time()),
            jain: (halves.len() > 1)
                .then(|| if squares > 0.0 { sum * sum / (halves.len() as f64 * squares) } else { 0.0 }),
            least_packets: (least(&mut halves.iter().copied()), least(&mut of_all(end))),
            queue: queue.map_or(0.0, |queue| mean_from(&queue.series.time_s, &queue.series.packets, second)),
            window: outcome.flows.iter().map(window).sum(),
        }
    }
}
