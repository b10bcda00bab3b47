//! Measures of many short flows together.

use windlass_controllers::Span;

use crate::outcome::{FlowOutcome, FlowSeries, Transfers};
use crate::scenario::{Scenario, StartSchedule};

/// Puts the outcomes of the flows of each set of dynamic flows into one, in their order; the scenario's
/// own flows stay as they are.
#[must_use]
pub fn gather(flows: Vec<FlowOutcome>, scenario: &Scenario, start_schedule: &StartSchedule) -> Vec<FlowOutcome> {
    let mut out: Vec<FlowOutcome> = Vec::with_capacity(scenario.flows.len() + scenario.dynamic_flows.len());
    let mut members: Vec<Vec<FlowOutcome>> = vec![Vec::new(); scenario.dynamic_flows.len()];
    for (number, flow) in flows.into_iter().enumerate() {
        match start_schedule.dynamic_set(number) {
            Some(dynamic) => members[dynamic].push(flow),
            None => out.push(flow),
        }
    }
    let end = scenario.duration.secs();
    for (dynamic, members) in scenario.dynamic_flows.iter().zip(members) {
        let began = members.iter().filter(|flow| flow.start_s < end && flow.packets_sent > 0).collect::<Vec<_>>();
        let start_s = began.iter().map(|flow| flow.start_s).reduce(f64::min).unwrap_or(end);
        let stop_s = began.iter().map(|flow| flow.stop_s).reduce(f64::max).unwrap_or(end);
        let lasted = |flow: &FlowOutcome| flow.stop_s - flow.start_s;
        // What a flow would be worth if it went on all the time.
        let spread = |each: &dyn Fn(&FlowOutcome) -> f64| {
            let sum: f64 = began.iter().map(|flow| each(flow) * lasted(flow)).sum();
            if stop_s > start_s { sum / (stop_s - start_s) } else { 0.0 }
        };
        let count = |each: &dyn Fn(&FlowOutcome) -> u64| began.iter().map(|flow| each(flow)).sum::<u64>();
        let rtts: Vec<(f64, f64)> =
            began.iter().filter_map(|flow| Some((flow.rtt_mean_ms?, flow.packets_sent as f64))).collect();
        let weight: f64 = rtts.iter().map(|(_, weight)| weight).sum();
        out.push(FlowOutcome {
            name: dynamic.flow.name.clone(),
            controller: dynamic.flow.controller.clone(),
            start_s,
            stop_s,
            goodput_mbps: spread(&|flow| flow.goodput_mbps),
            packets_sent: count(&|flow| flow.packets_sent),
            packets_lost: count(&|flow| flow.packets_lost),
            packets_marked: count(&|flow| flow.packets_marked),
            congestion_events: count(&|flow| flow.congestion_events),
            rtt_mean_ms: (weight > 0.0).then(|| rtts.iter().map(|(rtt, weight)| rtt * weight).sum::<f64>() / weight),
            rtt_min_ms: began.iter().filter_map(|flow| flow.rtt_min_ms).reduce(f64::min),
            cwnd_mean_packets: spread(&|flow| flow.cwnd_mean_packets),
            transfers: Some(transfers(&began, end)),
            series: series(&began, scenario.sample, scenario.duration),
            ..FlowOutcome::default()
        });
    }
    out
}

fn transfers(began: &[&FlowOutcome], end: f64) -> Transfers {
    let mut took: Vec<f64> = began
        .iter()
        .filter(|flow| flow.completed && flow.stop_s < end)
        .map(|flow| flow.stop_s - flow.start_s)
        .collect();
    took.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let rank = ((share * took.len() as f64).ceil() as usize).max(1);
        took.get(rank - 1).copied()
    };
    Transfers {
        started: began.len() as u64,
        completed: took.len() as u64,
        mean_s: (!took.is_empty()).then(|| took.iter().sum::<f64>() / took.len() as f64),
        median_s: at(0.5),
        p95_s: at(0.95),
    }
}

/// The sum of the flows' goodputs and windows on the points of the scenario's series, and
/// the mean of their RTTs.
fn series(flows: &[&FlowOutcome], sample: Span, duration: Span) -> FlowSeries {
    let (step, points) = (sample.secs(), (duration.0 / sample.0.max(1)) as usize);
    let mut out = FlowSeries {
        time_s: (1..=points).map(|point| point as f64 * step).collect(),
        cwnd_packets: vec![0.0; points],
        rtt_ms: vec![None; points],
        goodput_mbps: vec![0.0; points],
        send_rate_mbps: Vec::new(),
    };
    let mut rtts = vec![0.0; points];
    for flow in flows {
        let mut before = flow.start_s;
        let series = &flow.series;
        for (i, at) in series.time_s.iter().enumerate() {
            // A point lies at the end of its step, but for the last of a flow that ends.
            let point = ((at / step - 1e-6).ceil() as usize).clamp(1, points.max(1)) - 1;
            let Some(goodput) = out.goodput_mbps.get_mut(point) else { continue };
            *goodput += series.goodput_mbps[i] * (at - before) / step;
            before = *at;
            if (at - (point + 1) as f64 * step).abs() < 1e-6 * step {
                out.cwnd_packets[point] += series.cwnd_packets[i];
            }
            if let Some(rtt) = series.rtt_ms[i] {
                rtts[point] += 1.0;
                let mean = out.rtt_ms[point].get_or_insert(0.0);
                *mean += (rtt - *mean) / rtts[point];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodputs_add_up_and_windows_count_while_they_last() {
        let flow = |start_s, stop_s, time_s: Vec<f64>, goodput_mbps: Vec<f64>| FlowOutcome {
            start_s,
            stop_s,
            series: FlowSeries {
                cwnd_packets: vec![5.0; time_s.len()],
                rtt_ms: vec![Some(start_s * 10.0); time_s.len()],
                time_s,
                goodput_mbps,
                ..FlowSeries::default()
            },
            ..FlowOutcome::default()
        };
        let first = flow(0.5, 2.25, vec![1.0, 2.0, 2.25], vec![8.0, 4.0, 16.0]);
        let second = flow(1.0, 3.0, vec![2.0, 3.0], vec![1.0, 1.0]);
        let sum = series(&[&first, &second], Span::from_millis(1000), Span::from_millis(4000));
        assert_eq!(sum.goodput_mbps, [4.0, 5.0, 5.0, 0.0]);
        assert_eq!(sum.cwnd_packets, [5.0, 10.0, 5.0, 0.0]);
        assert_eq!(sum.rtt_ms, [Some(5.0), Some(7.5), Some(7.5), None]);
    }

    #[test]
    fn only_what_is_complete_took_a_time() {
        let flow = |took: f64, completed| FlowOutcome { stop_s: took, completed, ..FlowOutcome::default() };
        let flows = [flow(1.0, true), flow(4.0, true), flow(2.0, false), flow(9.0, true), flow(3.0, true)];
        let transfers = transfers(&flows.iter().collect::<Vec<_>>(), 9.0);
        assert_eq!((transfers.started, transfers.completed), (5, 3));
        assert_eq!((transfers.median_s, transfers.p95_s), (Some(3.0), Some(4.0)));
        assert!((transfers.mean_s.unwrap() - 8.0 / 3.0).abs() < 1e-12);
    }
}
