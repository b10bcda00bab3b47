//! One run, and what is read off it.

use serde::{Deserialize, Serialize};

use super::plan::{Place, Question};
use crate::grid::{Cell, Failure, Reading, read_off};
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::{FlowSpec, Scenario};

/// What is read off a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Measured {
    /// It ran.
    Run {
        /// Seconds from the flow's start until its goodput over a round-trip time is 90 % of what the link carries, of half
        /// of that beside a rival; `None` if it never is.
        filled_s: Option<f64>,
        /// Packets it took for lost.
        lost: u64,
        /// Packets that waited at the bottleneck at most.
        queue_peak: f64,
        /// Seconds until its transfer was complete; `None` of a flow without one, or of one that was not.
        completed_s: Option<f64>,
    },
    /// The stack cannot run it, or failed.
    Not {
        /// Why.
        not_run: String,
    },
}

/// The part of the path that is filled.
const FILLED: f64 = 0.9;

/// Runs `cell`, which asks `question` at `place`, and reads it off. `stop` gets the part of the run that is done, 0 to 1,
/// and returns whether to give up.
///
/// # Errors
/// Stopped. Whatever else goes wrong is part of what is read.
pub fn measure(
    cell: &Cell,
    place: &Place,
    question: &Question,
    stop: &dyn Fn(f64) -> bool,
) -> Result<Reading<Measured>, Failure> {
    let of = |scenario: &Scenario, outcome: &Outcome| Measured::of(outcome, &scenario.flows[0], place, question);
    read_off(cell, stop, of, |reason| Measured::Not { not_run: reason.to_string() })
}

impl Measured {
    /// Reads `outcome`, whose first flow, of `spec`, is the one that is asked about.
    #[must_use]
    pub fn of(outcome: &Outcome, spec: &FlowSpec, place: &Place, question: &Question) -> Measured {
        let flow = &outcome.flows[0];
        let queue = outcome.queues.first();
        let from = question.start(place);
        let waiting = queue.map(|queue| queue.series.time_s.iter().zip(&queue.series.packets));
        let waiting = waiting.into_iter().flatten().filter(|(at, _)| **at >= from).map(|(_, packets)| *packets);
        Measured::Run {
            filled_s: filled(flow, spec, place, question),
            lost: flow.packets_lost,
            queue_peak: waiting.fold(0.0, f64::max),
            completed_s: flow.completed.then_some(flow.stop_s - flow.start_s),
        }
    }
}

/// [`Measured::Run::filled_s`].
fn filled(flow: &FlowOutcome, spec: &FlowSpec, place: &Place, question: &Question) -> Option<f64> {
    // Headers differ by some bytes from stack to stack, which the tenth that is left covers.
    let payload = f64::from(spec.packet_bytes - spec.header_bytes) / f64::from(spec.wire_bytes());
    let share = if question.rival { 0.5 } else { 1.0 };
    let enough = FILLED * share * place.rate_mbps * payload;
    let (times, goodput) = (&flow.series.time_s, &flow.series.goodput_mbps);
    (0..times.len()).find_map(|end| {
        let begin = times.iter().position(|at| *at > times[end] - 0.999 * place.rtt())?;
        let since = times[end] - flow.start_s;
        let mean = goodput[begin..=end].iter().sum::<f64>() / (end + 1 - begin) as f64;
        (since >= place.rtt() && mean >= enough).then_some(since)
    })
}
