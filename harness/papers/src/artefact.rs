//! Results that are artefacts of a simulation too regular to be true, and therefore errors: of flows
//! that are alike one has the link to itself (a phase effect: Floyd and Jacobson, *On traffic phase
//! effects in packet-switched gateways*, 1992), or a window stands at its cap, so that nothing
//! limits it but a parameter.

use windlass_controllers::Time;
use windlass_controllers::param::Value;
use windlass_simulator::scenario::{FlowSpec, Scenario};

use super::time_series::TimeSeries;

/// Jain's index of `n` flows is 1/n if one has everything; up to so many times that is as good as
/// everything.
const NEAR: f64 = 1.1;
/// Seconds that flows have to live side by side before shares mean anything.
const LEAST: f64 = 10.0;
/// A cap of so few packets is there to keep a flow from sending at all.
const NO_WINDOW: f64 = 4.0;
/// The share of a flow's time that its window may stand at the cap.
const SHARE: f64 = 0.5;

/// What `series`, a run of `scenario`, shows that no experiment may; `None` if there is no such thing.
pub(super) fn artefact(scenario: &Scenario, series: &TimeSeries) -> Option<String> {
    starved(scenario, series).or_else(|| capped(scenario, series))
}

/// Schemes that keep the ratio of two windows, or hand all that is spare to the first that finds it: with these, who comes a
/// round trip later may be left nothing for as long as a run lasts, and that is their rule and no artefact (`spec: sharma §4`;
/// `spec: arumaithurai §5.6`).
const FIRST_TAKES_ALL: [&str; 2] = ["scalable", "rapid"];

/// Whether flows are alike to the network and to each other: of one scheme and path, in the same group or in none, and
/// starting at the same time but for a random addition. With [`FIRST_TAKES_ALL`] that may be a round trip at most, with others up
/// to [`LEAST`]. Flows that a scenario starts one after another are not alike: how long the first keeps what it has is what
/// such experiments ask.
fn are_alike(scenario: &Scenario, a: &FlowSpec, b: &FlowSpec) -> bool {
    let path = |flow: &FlowSpec| {
        let links = [flow.forward, flow.backward].map(|route| &scenario.topology.routes[route.0 as usize]);
        let of = |id: &windlass_network::LinkId| {
            let link = &scenario.topology.links[id.0 as usize];
            (link.rate.to_bits(), link.delay, link.limit)
        };
        links.map(|links| links.iter().map(of).collect::<Vec<_>>())
    };
    let base = |flow: &FlowSpec| {
        let links = [flow.forward, flow.backward].map(|route| &scenario.topology.routes[route.0 as usize]);
        links.into_iter().flatten().map(|id| scenario.topology.links[id.0 as usize].delay.0).sum::<u64>()
    };
    let scheme = a.controller.split(':').next().unwrap_or_default();
    let apart = if FIRST_TAKES_ALL.contains(&scheme) { base(a) } else { (1e9 * LEAST) as u64 };
    a.group == b.group
        && a.start_jitter.0 < apart
        && (&a.controller, a.start, a.start_jitter, a.stop) == (&b.controller, b.start, b.start_jitter, b.stop)
        && (a.packet_bytes, a.transfer_bytes, a.recovery, a.ack)
            == (b.packet_bytes, b.transfer_bytes, b.recovery, b.ack)
        && path(a) == path(b)
}

/// Of flows that are alike one has the second half of their time to itself.
fn starved(scenario: &Scenario, series: &TimeSeries) -> Option<String> {
    let flows = &scenario.flows;
    for (first, flow) in flows.iter().enumerate() {
        let alike = |other: &usize| are_alike(scenario, flow, &flows[*other]);
        if (0..first).any(|other| alike(&other)) {
            continue;
        }
        let all: Vec<usize> = (first..flows.len()).filter(alike).collect();
        let (from, to) = (flow.start.0 as f64 / 1e9, Time(flow.stop.0.min(scenario.duration.0)).0 as f64 / 1e9);
        let half = from + (to - from) / 2.0;
        if all.len() < 2 || to - half < LEAST {
            continue;
        }
        let rates: Vec<f64> = all.iter().map(|flow| series.throughput(*flow, half, to)).collect();
        let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
        let n = rates.len() as f64;
        if squares > 0.0 && sum * sum / (n * squares) < NEAR / n {
            return Some(format!(
                "of {n} flows alike ({}) one has all of what they share from {half:.0} to {to:.0} s: Jain's index {:.3}; \
                 expected more than {:.3}, or send jitter and finite access queues",
                flow.controller,
                sum * sum / (n * squares),
                NEAR / n,
            ));
        }
    }
    None
}

/// A window that stands at its cap for half of its time.
fn capped(scenario: &Scenario, series: &TimeSeries) -> Option<String> {
    for (flow, spec) in series.flows.iter().zip(&scenario.flows) {
        let mut cap = f64::INFINITY;
        if let Some(algorithm) = spec.control.algorithm() {
            algorithm.describe(&mut |param| {
                if let ("max_window", Value::Number(packets)) = (param.name, param.value) {
                    cap = packets;
                }
            });
        }
        let active = flow.cwnd.iter().filter(|cwnd| **cwnd > 0.0).count();
        let standing = flow.cwnd.iter().filter(|cwnd| **cwnd >= cap - 0.5).count();
        if cap > NO_WINDOW && standing as f64 > SHARE * active as f64 {
            return Some(format!(
                "the window of {} ({}) stands at its cap of {cap} packets for {:.0} % of its time",
                flow.name,
                spec.controller,
                100.0 * standing as f64 / active as f64
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch;

    const PATH: &str = "duration_s = 60\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\n";

    fn of(text: &str) -> Result<TimeSeries, String> {
        let scenario = Scenario::read("artefact", &format!("{PATH}{text}"), None).unwrap();
        let step = windlass_controllers::Span::from_millis(100);
        watch(&scenario, "bottleneck", step, &[], &|_| false).map_err(|error| error.to_string())
    }

    /// A network without a limit lets a window grow to whatever its cap is.
    #[test]
    fn a_window_at_its_cap_is_an_error() {
        let flow = "[[flow]]\nname = \"one\"\ncontroller = \"reno:max_window=100\"\n";
        let error = of(&format!("buffer_packets = 1000\n{flow}")).unwrap_err();
        assert!(error.contains("one") && error.contains("cap of 100 packets"), "{error}");
        assert!(of(&format!("buffer_packets = 20\n{flow}")).is_ok());
        assert!(of(&format!("buffer_packets = 20\n{}", flow.replace("100", "2"))).is_ok(), "no window at all");
    }

    /// Four flows over a queue, and the same with three of them silent.
    #[test]
    fn one_of_many_that_are_alike_has_no_link_to_itself() {
        let text =
            "buffer_packets = 100\n[[flow]]\nname = \"a\"\ncount = 4\ncontroller = \"reno\"\nstart_jitter_s = 0.01\n";
        let series = of(text).unwrap();
        let scenario = Scenario::read("artefact", &format!("{PATH}{text}"), None).unwrap();
        assert_eq!(artefact(&scenario, &series), None);
        let mut alone = series;
        for flow in &mut alone.flows[1..] {
            flow.arrivals.iter_mut().for_each(|arrivals| arrivals.wire_bytes = 0);
        }
        let found = artefact(&scenario, &alone).unwrap();
        assert!(found.contains("of 4 flows alike (reno)") && found.contains("0.250"), "{found}");
        let mut unlike = scenario.clone();
        unlike.flows[0].start_jitter = windlass_controllers::Span::ZERO;
        unlike.flows.truncate(2);
        assert_eq!(starved(&unlike, &alone), None, "flows that are not alike may share as they like");
        let mut apart = scenario;
        apart.flows.iter_mut().for_each(|flow| flow.start_jitter = windlass_controllers::Span::from_millis(40));
        assert!(starved(&apart, &alone).is_some(), "Reno shares whoever came first");
        apart.flows.iter_mut().for_each(|flow| flow.controller = "scalable:a=0.02".to_owned());
        assert_eq!(starved(&apart, &alone), None, "Scalable need not where one is a round trip ahead");
        apart.flows.iter_mut().for_each(|flow| flow.controller = "reno".to_owned());
        apart.flows.iter_mut().for_each(|flow| flow.start_jitter = windlass_controllers::Span::from_millis(20_000));
        assert_eq!(starved(&apart, &alone), None, "nor does any that may be ten seconds ahead");
    }
}
