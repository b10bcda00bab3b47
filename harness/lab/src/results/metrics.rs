//! Numbers of a run as a whole.

use serde::{Deserialize, Serialize};

use windlass_simulator::outcome::{FlowOutcome, Outcome, QueueOutcome};

/// Numbers of a run as a whole. "Flows under test" are those with the controller under
/// test, or all controlled flows when the scenario names its own controllers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// 100 · utilisation · (1 − loss) · fairness / rtt_ratio, 0 to 100; `None` if one
    /// of them is not known. Fairness counts as 1 where it is `None`.
    pub score: Option<f64>,
    /// Goodput of the flows under test together, Mbit/s.
    pub goodput_mbps: f64,
    /// Utilisation of the busiest queue's link, 0 to 1; `None` without queues.
    pub utilisation: Option<f64>,
    /// Mean RTT of the flows under test (mean of their means), ms.
    pub rtt_mean_ms: Option<f64>,
    /// 95th percentile of the RTT of the flows under test (mean over them), ms.
    pub rtt_p95_ms: Option<f64>,
    /// RTT of the empty path, ms: the scenario's, or else the smallest sample of any
    /// flow.
    pub base_rtt_ms: Option<f64>,
    /// `rtt_mean_ms` over `base_rtt_ms`, 1 or more.
    pub rtt_ratio: Option<f64>,
    /// `rtt_p95_ms` over `base_rtt_ms`, 1 or more.
    pub rtt_p95_ratio: Option<f64>,
    /// Packets of the flows under test declared lost, over those sent, 0 to 1.
    pub loss: Option<f64>,
    /// Jain's index of the controlled flows' goodput while all of them were active,
    /// 1/n to 1; `None` with fewer than two.
    pub fairness: Option<f64>,
}

impl Metrics {
    /// The metrics of `outcome`, with `controller` under test (empty: all controlled
    /// flows are).
    #[must_use]
    pub fn of(outcome: &Outcome, controller: &str, base_rtt_ms: Option<f64>) -> Metrics {
        let controlled: Vec<&FlowOutcome> =
            outcome.flows.iter().filter(|f| !f.controller.is_empty() && f.transfers.is_none()).collect();
        let mut tested = controlled.clone();
        if !controller.is_empty() {
            tested.retain(|f| f.controller == controller);
        }
        let goodput_mbps = decimals(tested.iter().map(|f| f.goodput_mbps).sum(), 3);
        let utilisation = outcome.queues.iter().map(|q| q.utilisation).reduce(f64::max);
        let rtt_mean_ms = mean(tested.iter().filter_map(|f| f.rtt_mean_ms)).map(|x| decimals(x, 3));
        let rtt_p95_ms = mean(tested.iter().filter_map(|f| f.rtt_p95_ms)).map(|x| decimals(x, 3));
        let base_rtt_ms = base_rtt_ms.or_else(|| outcome.flows.iter().filter_map(|f| f.rtt_min_ms).reduce(f64::min));
        let over_base = |rtt: Option<f64>| match (rtt, base_rtt_ms) {
            (Some(rtt), Some(base)) if base > 0.0 => Some(decimals((rtt / base).max(1.0), 4)),
            _ => None,
        };
        let rtt_ratio = over_base(rtt_mean_ms);
        let sent: u64 = tested.iter().map(|f| f.packets_sent).sum();
        let lost: u64 = tested.iter().map(|f| f.packets_lost).sum();
        let loss = (sent > 0).then(|| decimals((lost as f64 / sent as f64).min(1.0), 6));
        let fairness = fairness(&controlled).map(|x| decimals(x, 4));
        let score = match (utilisation, rtt_ratio, loss) {
            (Some(utilisation), Some(ratio), Some(loss)) => {
                let score = 100.0 * utilisation.min(1.0) * (1.0 - loss) * fairness.unwrap_or(1.0) / ratio;
                Some(decimals(score, 2))
            }
            _ => None,
        };
        Metrics {
            score,
            goodput_mbps,
            utilisation,
            rtt_mean_ms,
            rtt_p95_ms,
            base_rtt_ms,
            rtt_ratio,
            rtt_p95_ratio: over_base(rtt_p95_ms),
            loss,
            fairness,
        }
    }
}

/// Loss beyond which a run is a collapse: more than a tenth of what a sender sends is thrown away on the way, where
/// scenarios themselves lose a hundredth at most. Work that is done and thrown away is what congestion collapse is
/// (`RFC 2914 §5`); a tenth is a choice.
const COLLAPSED_LOSS: f64 = 0.1;

/// Share of the link below which a run is a collapse; a choice.
const COLLAPSED_SHARE: f64 = 0.1;

impl Metrics {
    /// How the run collapsed, in words; `None` if it did not.
    #[must_use]
    pub fn collapse(&self) -> Option<String> {
        let lost = self.loss.filter(|loss| *loss > COLLAPSED_LOSS).map(|loss| format!("{:.0} % lost", 100.0 * loss));
        let share = self.utilisation.filter(|share| *share < COLLAPSED_SHARE);
        lost.or_else(|| share.map(|share| format!("{:.1} % of the link used", 100.0 * share)))
    }
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0u32, 0.0), |(n, sum), x| (n + 1, sum + x));
    (count > 0).then(|| sum / f64::from(count))
}

/// Jain's index (Σx)² / (n·Σx²) of the flows' mean goodput over the time all of them
/// were active, by their series; over their whole lives if they never met.
fn fairness(flows: &[&FlowOutcome]) -> Option<f64> {
    if flows.len() < 2 {
        return None;
    }
    let from = flows.iter().map(|f| f.start_s).fold(0.0, f64::max);
    let to = flows.iter().map(|f| f.stop_s).fold(f64::INFINITY, f64::min);
    let shared: Option<Vec<f64>> = flows.iter().map(|f| goodput_between(f, from, to)).collect();
    let rates = shared.unwrap_or_else(|| flows.iter().map(|f| f.goodput_mbps).collect());
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Mean of the goodput series over the points that lie wholly in (`from`, `to`]: a
/// point speaks of the time since the one before it.
fn goodput_between(flow: &FlowOutcome, from: f64, to: f64) -> Option<f64> {
    let series = &flow.series;
    let spans = series.time_s.windows(2).zip(series.goodput_mbps.iter().skip(1));
    mean(spans.filter(|(t, _)| t[0] >= from && t[1] <= to).map(|(_, x)| *x))
}

/// Rounds `x` to `decimals` digits after the point.
pub(crate) fn decimals(x: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    let rounded = (x * scale).round() / scale;
    if rounded == 0.0 { 0.0 } else { rounded }
}

fn each(column: &mut [f64], digits: i32) {
    column.iter_mut().for_each(|x| *x = decimals(*x, digits));
}

fn each_some(column: &mut [Option<f64>], digits: i32) {
    column.iter_mut().flatten().for_each(|x| *x = decimals(*x, digits));
}

/// Rounds every number of a run: times to 0.1 ms, round-trip times to 1 µs (0.01 ms in
/// series), rates to 1 kbit/s, windows and queues to 0.001 packets (0.01 in series).
pub(super) fn round(outcome: &mut Outcome) {
    outcome.duration_s = decimals(outcome.duration_s, 4);
    outcome.flows.iter_mut().for_each(round_flow);
    outcome.queues.iter_mut().for_each(round_queue);
}

fn round_flow(flow: &mut FlowOutcome) {
    flow.start_s = decimals(flow.start_s, 4);
    flow.stop_s = decimals(flow.stop_s, 4);
    flow.goodput_mbps = decimals(flow.goodput_mbps, 3);
    flow.cwnd_mean_packets = decimals(flow.cwnd_mean_packets, 3);
    for rtt in [&mut flow.rtt_mean_ms, &mut flow.rtt_p95_ms, &mut flow.rtt_min_ms] {
        each_some(std::slice::from_mut(rtt), 3);
    }
    each(&mut flow.series.time_s, 4);
    each(&mut flow.series.cwnd_packets, 2);
    each_some(&mut flow.series.rtt_ms, 2);
    each(&mut flow.series.goodput_mbps, 3);
}

fn round_queue(queue: &mut QueueOutcome) {
    queue.limit_packets = decimals(queue.limit_packets, 3);
    queue.utilisation = decimals(queue.utilisation, 6);
    queue.mean_packets = decimals(queue.mean_packets, 3);
    queue.max_packets = decimals(queue.max_packets, 3);
    each(&mut queue.series.time_s, 4);
    each(&mut queue.series.packets, 2);
}
