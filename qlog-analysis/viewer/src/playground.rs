//! Running a scenario in the packet simulator, shown while it runs.

use std::io::Write;

use serde::Serialize;
use windlass_controllers::{Algorithm, Time};
use windlass_simulator::outcome::{FlowSeries, Outcome, QueueSeries};
use windlass_simulator::scenario::{BUILTIN, Scenario, ScenarioError};
use windlass_simulator::sim::{QlogSettings, Simulation};

use crate::Failure;
use crate::output::Output;

/// Name of the file in messages about it.
const FILE: &str = "scenario";

/// Parts that a run is shown in.
const PARTS: u64 = 120;

/// Points of series that a run keeps at most: what a page holds without harm, some 200 MB.
const MOST_POINTS: u64 = 4_000_000;

/// Flows whose traces are written at most.
const MOST_RECORDED: usize = 32;

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Message<'a> {
    /// The scenario cannot be run; its mistakes.
    Problems { problems: Vec<ProblemAt<'a>> },
    /// The run begins.
    Started { duration_s: f64, sample_s: f64, packet_bytes: Vec<u32>, flows: Vec<[&'a str; 2]>, queues: Vec<&'a str> },
    /// Points since the message before: of the flows that the scenario names, and of its queues.
    Points { now_s: f64, flows: Vec<FlowSeries>, queues: Vec<QueueSeries> },
    /// The run is over.
    Outcome { outcome: &'a Outcome },
    /// The trace of a flow; it follows.
    Trace { name: String, bytes: usize },
    /// The controllers and scenarios to choose from.
    Catalogue { windlass: &'static str, controllers: Vec<Named>, scenarios: Vec<Named> },
}

#[derive(Serialize)]
struct ProblemAt<'a> {
    line: usize,
    column: usize,
    message: &'a str,
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct Named {
    name: &'static str,
    /// Of a controller what it is, of a scenario its file.
    text: &'static str,
}

/// The controllers and the built-in scenarios.
pub(crate) fn catalogue(output: &mut Output<impl Write>) -> Result<(), Failure> {
    let controllers = Algorithm::ALL.iter().map(|entry| Named { name: entry.name, text: entry.summary });
    let scenarios = BUILTIN.iter().map(|scenario| Named { name: scenario.name, text: scenario.text });
    Ok(output.message(&Message::Catalogue {
        windlass: env!("CARGO_PKG_VERSION"),
        controllers: controllers.collect(),
        scenarios: scenarios.collect(),
    })?)
}

/// The scenario in `text`; its mistakes are written.
fn scenario(text: &str, output: &mut Output<impl Write>) -> Result<Scenario, Failure> {
    let read = Scenario::read(FILE, text, None);
    if let Err(ScenarioError::Wrong { problems }) = &read {
        let problems = problems.iter().map(|problem| ProblemAt {
            line: problem.at_line,
            column: problem.at_column,
            message: &problem.message,
            help: problem.help.as_deref(),
        });
        output.message(&Message::Problems { problems: problems.collect() })?;
    }
    Ok(read?)
}

/// Runs the scenario in `text` and writes the points of its series as they come, then the outcome.
pub(crate) fn run(text: &str, output: &mut Output<impl Write>) -> Result<(), Failure> {
    let scenario = scenario(text, output)?;
    if scenario.points() > MOST_POINTS {
        return Err(Failure::Usage(format!(
            "its series would hold {} points, more than the {MOST_POINTS} there is room for in a page: a longer sample_ms, a shorter duration_s \
             or fewer flows take less, and `windlass run` has no such bound",
            scenario.points()
        )));
    }
    let mut simulation = Simulation::new(&scenario)?;
    let topology = &scenario.topology;
    output.message(&Message::Started {
        duration_s: scenario.duration.secs(),
        sample_s: scenario.sample.secs(),
        packet_bytes: scenario.flows.iter().map(|flow| flow.packet_bytes).collect(),
        flows: scenario.flows.iter().map(|flow| [flow.name.as_str(), flow.controller.as_str()]).collect(),
        queues: scenario.queues.iter().map(|link| topology.links[link.0 as usize].name.as_str()).collect(),
    })?;
    let mut sent = (vec![0; scenario.flows.len()], vec![0; scenario.queues.len()]);
    for part in 1..=PARTS {
        let now = Time((u128::from(scenario.duration.0) * u128::from(part) / u128::from(PARTS)) as u64);
        simulation.run_until(now);
        let flows = sent.0.iter_mut().enumerate();
        let flows = flows.map(|(number, sent)| rest_of_flow(simulation.series(number), sent)).collect();
        let queues = sent.1.iter_mut().zip(simulation.queue_series());
        let queues = queues.map(|(sent, series)| rest_of_queue(series, sent)).collect();
        output.message(&Message::Points { now_s: now.0 as f64 / 1e9, flows, queues })?;
    }
    Ok(output.message(&Message::Outcome { outcome: &simulation.finish() })?)
}

/// The points from `sent` on, which then is their number.
fn rest_of_flow(series: &FlowSeries, sent: &mut usize) -> FlowSeries {
    let from = std::mem::replace(sent, series.time_s.len());
    FlowSeries {
        time_s: series.time_s[from..].to_vec(),
        cwnd_packets: series.cwnd_packets[from..].to_vec(),
        rtt_ms: series.rtt_ms[from..].to_vec(),
        goodput_mbps: series.goodput_mbps[from..].to_vec(),
        // No panel draws it.
        send_rate_mbps: Vec::new(),
    }
}

fn rest_of_queue(series: &QueueSeries, sent: &mut usize) -> QueueSeries {
    let from = std::mem::replace(sent, series.time_s.len());
    QueueSeries { time_s: series.time_s[from..].to_vec(), packets: series.packets[from..].to_vec() }
}

/// Runs the scenario in `text` and writes the traces of the flows it names, as `windlass run --out`
/// does.
pub(crate) fn record(text: &str, output: &mut Output<impl Write>) -> Result<(), Failure> {
    let scenario = scenario(text, output)?;
    let mut simulation = Simulation::new(&scenario)?;
    let flows = &scenario.flows[..scenario.flows.len().min(MOST_RECORDED)];
    let traces: Vec<_> =
        (0..flows.len()).map(|number| simulation.qlog(number, Vec::new(), QlogSettings::default())).collect();
    // Ends the recorders, which hold the traces too.
    let _ = simulation.finish();
    for (flow, trace) in flows.iter().zip(traces) {
        let trace = trace.finish()?.unwrap_or_default();
        output.header(&Message::Trace { name: format!("{}.sqlog", flow.name), bytes: trace.len() })?;
        output.bytes(&trace)?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::messages;
    use windlass_simulator::sim;

    const TEXT: &str = "
duration_s = 12
sample_ms = 50
[dumbbell]
rate_mbps = 10
rtt_ms = 40
buffer_bdp = 1
[[flow]]
name = \"first\"
controller = \"cubic\"
[[flow]]
name = \"second\"
controller = \"bbr\"
start_s = 3
";

    fn written(
        work: impl FnOnce(&mut Output<&mut Vec<u8>>) -> Result<(), Failure>,
    ) -> Vec<(serde_json::Value, Vec<u8>)> {
        let mut bytes = Vec::new();
        work(&mut Output::new(&mut bytes)).unwrap();
        messages(&bytes)
    }

    #[test]
    fn a_run_shown_in_parts_ends_as_one_that_is_not() {
        let messages = written(|output| run(TEXT, output));
        let outcome = sim::run(&Scenario::read("scenario", TEXT, None).unwrap()).unwrap();
        let (last, _) = messages.last().unwrap();
        assert_eq!(last["outcome"], serde_json::to_value(&outcome).unwrap());
        let (started, _) = &messages[0];
        assert_eq!(started["flows"], serde_json::json!([["first", "cubic"], ["second", "bbr"]]));
        let joined = |kind: &str, number: usize, column: &str| -> Vec<serde_json::Value> {
            let parts = messages.iter().filter(|(message, _)| message["kind"] == "points");
            parts.flat_map(|(message, _)| message[kind][number][column].as_array().unwrap().clone()).collect()
        };
        for (number, flow) in outcome.flows.iter().enumerate() {
            let of = |column| serde_json::Value::from(joined("flows", number, column));
            let series = serde_json::to_value(&flow.series).unwrap();
            for column in ["time_s", "cwnd_packets", "rtt_ms", "goodput_mbps"] {
                assert_eq!(of(column), series[column], "{column}");
            }
        }
        let queue = serde_json::to_value(&outcome.queues[0].series).unwrap();
        assert_eq!(serde_json::Value::from(joined("queues", 0, "packets")), queue["packets"]);
    }

    #[test]
    fn every_mistake_is_shown_with_its_place() {
        let mut bytes = Vec::new();
        let text = TEXT.replace("rtt_ms", "rtt").replace("cubic", "cubik");
        let error = run(&text, &mut Output::new(&mut bytes)).unwrap_err();
        assert!(matches!(error, Failure::Scenario(_)));
        let problems = &messages(&bytes)[0].0["problems"];
        let lines: Vec<u64> =
            problems.as_array().unwrap().iter().map(|problem| problem["line"].as_u64().unwrap()).collect();
        assert!(lines.contains(&6) && lines.contains(&10), "{problems}");
    }

    #[test]
    fn a_stack_s_own_controller_is_refused() {
        let mut bytes = Vec::new();
        let text = TEXT.replace("\"bbr\"", "\"native:bbr\"");
        let error = run(&text, &mut Output::new(&mut bytes)).unwrap_err();
        assert!(matches!(error, Failure::Simulation(_)), "{error}");
    }

    #[test]
    fn the_flows_of_a_run_are_traces_that_can_be_read() {
        let messages = written(|output| record(TEXT, output));
        let outcome = sim::run(&Scenario::read("scenario", TEXT, None).unwrap()).unwrap();
        assert_eq!(messages.len(), 2);
        for ((message, trace), flow) in messages.iter().zip(&outcome.flows) {
            assert_eq!(message["name"], format!("{}.sqlog", flow.name));
            let options = windlass_qlog_analysis::read::Options::default();
            let (_, measured) = windlass_qlog_analysis::metrics::measure(trace.as_slice(), &options).unwrap();
            assert_eq!(measured[0].measures.packets_sent, Some(flow.packets_sent));
        }
    }

    #[test]
    fn the_catalogue_names_every_controller_and_scenario() {
        let mut bytes = Vec::new();
        catalogue(&mut Output::new(&mut bytes)).unwrap();
        let messages = messages(&bytes);
        let count = |what: &str| messages[0].0[what].as_array().unwrap().len();
        assert_eq!((count("controllers"), count("scenarios")), (Algorithm::ALL.len(), BUILTIN.len()));
    }
}
