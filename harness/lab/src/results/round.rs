//! How many digits files keep: enough for any use, few enough to read.

use windlass_simulator::outcome::{FlowOutcome, Outcome, QueueOutcome};

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
pub(super) fn outcome(outcome: &mut Outcome) {
    outcome.duration_s = decimals(outcome.duration_s, 4);
    outcome.flows.iter_mut().for_each(flow);
    outcome.queues.iter_mut().for_each(queue);
}

fn flow(flow: &mut FlowOutcome) {
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

fn queue(queue: &mut QueueOutcome) {
    queue.limit_packets = decimals(queue.limit_packets, 3);
    queue.utilisation = decimals(queue.utilisation, 6);
    queue.mean_packets = decimals(queue.mean_packets, 3);
    queue.max_packets = decimals(queue.max_packets, 3);
    each(&mut queue.series.time_s, 4);
    each(&mut queue.series.packets, 2);
}
