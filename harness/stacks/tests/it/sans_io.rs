//! Real connections over small scenarios.

use std::io::{self, Write};

use serde_json::Value;
use windlass_adapter::qlog::Level;
use windlass_adapter::step::{Entry, Steps};
use windlass_controllers::{Algorithm, Table, View};
use windlass_qlog::{Detail, Profile};
use windlass_qlog_analysis::lint::{Rule, lint};

use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::QlogSettings;
use windlass_stacks::noq::Noq;
use windlass_stacks::payload::{Source, hex};
use windlass_stacks::quinn::Quinn;
use windlass_stacks::stack::Stack;
use windlass_stacks::testkit::Logs;
use windlass_stacks::{FlowLog, OpenLog, RunError};

/// 10 Mbit/s, 40 ms, room for a BDP.
const LINK: &str = "[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n";

fn run(stack: &dyn Stack, scenario: &Scenario, log: &mut OpenLog<'_>) -> Result<Outcome, RunError> {
    stack.run(scenario, log, &|_| false)
}

fn scenario(link: &str, flows: &str) -> Scenario {
    let text = format!("duration_s = 10\n{link}\n{flows}");
    Scenario::read("test", &text, None).unwrap_or_else(|error| panic!("{error}"))
}

fn flow(link: &str, keys: &str) -> Scenario {
    scenario(link, &format!("[[flow]]\nack = \"delayed\"\n{keys}"))
}

/// What a log has.
trait Events {
    /// The events of one flow.
    fn events(&self, flow: &str) -> Vec<Value>;

    /// Those with a name.
    fn named(&self, flow: &str, name: &str) -> Vec<Value> {
        self.events(flow).into_iter().filter(|event| event["name"] == name).collect()
    }
}

impl Events for Logs {
    fn events(&self, flow: &str) -> Vec<Value> {
        let log = self.of(flow).unwrap();
        let records = log.split(|byte| *byte == 0x1e).filter(|record| !record.is_empty());
        records.skip(1).map(|record| serde_json::from_slice(record).unwrap()).collect()
    }
}

fn run_logged(stack: &dyn Stack, scenario: &Scenario, seed: u64) -> (Outcome, Logs) {
    let logs = Logs::default();
    let settings = QlogSettings { level: Level::Steps, ..QlogSettings::default() };
    let outcome =
        run(stack, &Scenario { seed, ..scenario.clone() }, &mut |spec| Ok(Some(logs.open_as(spec, settings))))
            .unwrap_or_else(|error| panic!("{error}"));
    (outcome, logs)
}

fn run_one(stack: &dyn Stack, scenario: &Scenario) -> FlowOutcome {
    let mut outcome = run(stack, scenario, &mut |_| Ok(None)).unwrap_or_else(|error| panic!("{error}"));
    outcome.flows.remove(0)
}

fn a_transfer_with_losses_arrives_whole(stack: &dyn Stack) {
    let link = format!("{LINK}loss_percent = 1\n");
    let outcome = run_one(stack, &flow(&link, "controller = \"cubic\"\ntransfer_bytes = 1_000_000"));
    assert!(outcome.packets_lost > 3, "{outcome:?}");
    assert!(outcome.stop_s < 10.0);
    // Of these bytes, not of some: the hash of the source's first million.
    let mut source = Source::new(1, "flow1");
    while source.made() < 1_000_000 {
        source.take(1_000_000 - source.made());
    }
    let expected = source.finish(1_000_000).map(|hash| hex(&hash));
    assert_eq!(outcome.sha256, expected);
    assert!((outcome.goodput_mbps - 8.0 / outcome.stop_s).abs() < 1e-9);
}

fn a_clean_link_is_filled(stack: &dyn Stack) {
    let outcome = run_one(stack, &flow(LINK, "controller = \"reno\""));
    // 1167 of 1228 bytes are the application's; the handshake takes a round trip.
    assert!((9.2..9.51).contains(&outcome.goodput_mbps), "{outcome:?}");
    assert!(outcome.rtt_min_ms.is_some_and(|ms| (40.0..42.0).contains(&ms)));
    assert!(outcome.rtt_mean_ms.is_some_and(|ms| (45.0..81.0).contains(&ms)));
    assert!(outcome.congestion_events >= 1);
    assert_eq!(outcome.series.time_s.len(), outcome.series.cwnd_packets.len());
    let mean = outcome.series.goodput_mbps.iter().sum::<f64>() / outcome.series.goodput_mbps.len() as f64;
    assert!((mean - outcome.goodput_mbps).abs() < 0.05, "{mean}");
}

fn runs_repeat_to_the_bit_and_seeds_differ(stack: &dyn Stack) {
    let link = format!("{LINK}loss_percent = 0.5\n");
    let scenario = scenario(
        &link,
        "[[flow]]\ncontroller = \"cubic\"\n[[flow]]\ncontroller = \"reno\"\nstart_s = 1\nstop_s = 7\nack = \"delayed\"
         [[traffic]]\nkind = \"poisson\"\nrate_mbps = 2",
    );
    let (first, logs) = run_logged(stack, &scenario, 3);
    let (second, again) = run_logged(stack, &scenario, 3);
    assert_eq!(first, second);
    assert_eq!(logs.all(), again.all());
    let (other, _) = run_logged(stack, &scenario, 4);
    assert_ne!(first, other);
    assert_eq!((first.flows[1].start_s, first.flows[1].stop_s), (1.0, 7.0));
    let plain = run(stack, &Scenario { seed: 3, ..scenario.clone() }, &mut |_| Ok(None)).unwrap();
    assert_eq!(plain, first, "a log changes nothing");
}

/// Even when half of everything is lost, the log names the packets the stack counts.
fn the_log_has_every_packet(stack: &dyn Stack) {
    for (seed, loss) in [(1, 0), (2, 1), (3, 10), (4, 30), (5, 50)] {
        let link = format!("[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_packets = 20\nloss_percent = {loss}\n");
        let (outcome, logs) = run_logged(stack, &flow(&link, "controller = \"reno\""), seed);
        let (sent, lost) = (logs.named("flow1", "quic:packet_sent"), logs.named("flow1", "quic:packet_lost"));
        let flow = &outcome.flows[0];
        assert_eq!((sent.len() as u64, lost.len() as u64), (flow.packets_sent, flow.packets_lost), "{loss} %");
        let largest = sent.iter().map(|event| event["data"]["raw"]["length"].as_u64().unwrap()).max();
        assert_eq!(largest, Some(1200));
        let times: Vec<f64> = logs.events("flow1").iter().map(|event| event["time"].as_f64().unwrap()).collect();
        assert!(times.is_sorted());
    }
}

fn the_receiver_acknowledges_as_the_scenario_says(stack: &dyn Stack) {
    let acks = |policy: &str| {
        let keys = format!("controller = \"reno\"\ntransfer_bytes = 500_000\n{policy}");
        let (outcome, logs) = run_logged(stack, &scenario(LINK, &format!("[[flow]]\n{keys}")), 1);
        let acks = logs.named("flow1", "quic:packet_received").len() as f64;
        acks / (outcome.flows[0].packets_sent - outcome.flows[0].packets_lost) as f64
    };
    assert!((0.9..1.1).contains(&acks("ack = \"per-packet\"")));
    assert!((0.45..0.6).contains(&acks("ack = \"delayed\"")));
    assert!((0.08..0.25).contains(&acks("ack = \"delayed\"\nack_every_packets = 10")));
}

fn marks_reach_the_controller(stack: &dyn Stack) {
    let link = format!("{LINK}queue = {{ kind = \"step\", threshold_packets = 5 }}\n");
    let marked = run_one(stack, &flow(&link, "controller = \"reno\"\necn = true"));
    // The start may overshoot the buffer before the first mark is answered.
    assert!(marked.packets_marked > 10 && marked.packets_lost < 10, "{marked:?}");
    assert!(marked.congestion_events > 3);
    let unmarked = run_one(stack, &flow(&link, "controller = \"reno\"\necn = false"));
    assert!(unmarked.packets_marked == 0 && unmarked.packets_lost > 0, "{unmarked:?}");
}

fn named_data_packets_never_leave(stack: &dyn Stack) {
    let keys = "controller = \"reno\"\ntransfer_bytes = 200_000\ndrop_packets = [20, 21, 50]";
    let (outcome, logs) = run_logged(stack, &flow(LINK, keys), 1);
    assert_eq!(outcome.flows[0].packets_lost, 3);
    let data = |event: &Value| {
        let frames = event["data"]["frames"].as_array().unwrap();
        frames.iter().any(|frame| frame["frame_type"] == "stream")
    };
    let number = |event: &Value| event["data"]["header"]["packet_number"].as_u64().unwrap();
    let sent: Vec<u64> = logs.named("flow1", "quic:packet_sent").iter().filter(|e| data(e)).map(number).collect();
    let lost: Vec<u64> = logs.named("flow1", "quic:packet_lost").iter().map(number).collect();
    assert_eq!(lost, [sent[20], sent[21], sent[50]]);
}

fn flows_of_one_group_share_a_table(stack: &dyn Stack) {
    let flows = "[[flow]]\ncount = 2\ncontroller = \"tcp-p\"\ngroup = \"peer\"\nack = \"delayed\"";
    let (_, logs) = run_logged(stack, &scenario(LINK, flows), 1);
    for (flow, member) in [("flow1-1", 0), ("flow1-2", 1)] {
        let steps = logs.named(flow, "windlass:stepped");
        assert!(steps.len() > 100);
        assert!(steps.iter().all(|step| step["data"]["group_step"]["member"] == member), "{}", steps[0]);
    }
}

fn what_the_stack_cannot_do_is_said(stack: &dyn Stack) {
    let name = stack.name();
    let error = |keys: &str| run(stack, &flow(LINK, keys), &mut |_| Ok(None)).unwrap_err().to_string();
    let text = error("controller = \"nf-tcp\"");
    assert!(text.starts_with("flow \"flow1\": nf-tcp needs probe trains"), "{text}");
    assert!(text.contains(&format!("{name} does not report them; ask for its fallback by name")), "{text}");
    let text = error("controller = \"reno\"\npacket_bytes = 1000");
    assert_eq!(text, format!("flow \"flow1\": packet_bytes is 1000; {name} needs 1200 to 65527 bytes of UDP payload"));
    let text = error("controller = \"native:vegas\"");
    assert!(
        text.starts_with(&format!(
            "flow \"flow1\": {name} has no controller \"vegas\" of its own; expected native:newreno"
        )),
        "{text}"
    );
}

fn larger_datagrams_are_filled(stack: &dyn Stack) {
    let (outcome, logs) = run_logged(stack, &flow(LINK, "controller = \"reno\"\npacket_bytes = 8972"), 1);
    let sent = logs.named("flow1", "quic:packet_sent");
    assert_eq!(sent.iter().map(|event| event["data"]["raw"]["length"].as_u64().unwrap()).max(), Some(8972));
    assert!(outcome.flows[0].goodput_mbps > 9.3, "{:?}", outcome.flows[0]);
}

fn the_stacks_own_controllers_are_watched_like_ours(stack: &dyn Stack) {
    let link = format!("{LINK}loss_percent = 0.2\n");
    for name in stack.natives() {
        let (outcome, logs) = run_logged(stack, &flow(&link, &format!("controller = \"native:{name}\"")), 1);
        let flow = &outcome.flows[0];
        assert_eq!(flow.controller, format!("native:{name}"));
        assert!(flow.goodput_mbps > 3.0 && flow.sha256.is_some(), "{flow:?}");
        assert!(flow.cwnd_mean_packets > 5.0 && flow.rtt_mean_ms.is_some_and(|ms| ms > 40.0));
        if !name.starts_with("bbr") {
            assert!(flow.congestion_events > 0);
        }
        let windows = logs.named("flow1", "quic:recovery_metrics_updated");
        assert!(windows.iter().any(|event| event["data"]["congestion_window"].as_u64().is_some()));
        assert_eq!(logs.named("flow1", "quic:packet_lost").len() as u64, flow.packets_lost, "{name}");
        assert!(logs.named("flow1", "windlass:stepped").is_empty());
    }
}

/// A path that comes back after a blackout of several probe timeouts.
fn a_blackout_is_survived(stack: &dyn Stack) {
    let link = format!(
        "{LINK}[[dumbbell.change]]\nat_s = 3\nloss_percent = 100\n[[dumbbell.change]]\nat_s = 5\nloss_percent = 0\n"
    );
    let (outcome, logs) = run_logged(stack, &flow(&link, "controller = \"reno\""), 1);
    assert!(outcome.flows[0].goodput_mbps > 4.0, "{:?}", outcome.flows[0]);
    let lost = logs.named("flow1", "windlass:lost");
    assert!(lost.iter().any(|event| event["data"]["persistent_congestion"] == true), "{lost:?}");
}

fn a_path_that_carries_nothing_ends_with_the_scenario(stack: &dyn Stack) {
    let outcome = run_one(stack, &flow(&format!("{LINK}loss_percent = 100\n"), "controller = \"reno\""));
    assert_eq!((outcome.goodput_mbps, outcome.rtt_mean_ms), (0.0, None));
}

fn an_output_that_cannot_be_written_to_fails_the_run(stack: &dyn Stack) {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("disk full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let open = || FlowLog { output: Box::new(Full), settings: QlogSettings::default() };
    let error = run(stack, &flow(LINK, "controller = \"reno\""), &mut |_| Ok(Some(open()))).unwrap_err();
    assert_eq!(error.to_string(), "flow \"flow1\": cannot write its log: disk full");
}

fn logs_are_clean_under_the_lint(stack: &dyn Stack) {
    let link = format!("{LINK}loss_percent = 2\nqueue = {{ kind = \"step\", threshold_packets = 20 }}\n");
    let scenario = flow(&link, "controller = \"cubic\"\necn = true\nstart_s = 1\nstop_s = 5");
    for profile in [Profile::Ietf, Profile::Qvis] {
        for (detail, level) in [
            (Detail::Packets, Level::Steps),
            (Detail::Packets, Level::StepsOnly),
            (Detail::Recovery { every_ns: 10_000_000 }, Level::Recovery),
        ] {
            let logs = Logs::default();
            run(stack, &scenario, &mut |spec| Ok(Some(logs.open_as(spec, QlogSettings { profile, detail, level }))))
                .unwrap();
            let report = lint(&logs.of("flow1").unwrap()[..], profile);
            let broken: Vec<Rule> = report.counts.keys().copied().collect();
            // qvis' multiplexing view draws what servers send; here a client does.
            let expected: &[Rule] = if profile == Profile::Qvis { &[Rule::RequestStreams] } else { &[] };
            assert_eq!(broken, expected, "{profile:?} {detail:?} {level:?}: {report:?}");
        }
    }
}

fn a_log_replays_to_the_same_decisions(stack: &dyn Stack) {
    for controller in ["cubic", "vegas", "a-tcp"] {
        let link = format!("{LINK}loss_percent = 0.5\n");
        let (_, logs) = run_logged(stack, &flow(&link, &format!("controller = \"{controller}\"")), 1);
        let bytes = logs.of("flow1").unwrap();
        let mut entries = Steps::new(&bytes[..]).map(Result::unwrap);
        let Some(Entry::Start(start)) = entries.next() else { panic!("no start") };
        let engine: Algorithm = start.controller.parse().unwrap();
        let (mut state, mut group) = (engine.start(&start.path), engine.group());
        let mut steps = 0;
        for entry in entries {
            let Entry::Step(step, _) = entry else { panic!("a second start") };
            engine.step(&mut state, Table::solo(&mut group), &step.event);
            assert_eq!(engine.decide(&state, View::solo(&group)), step.decision, "{controller}, step {steps}");
            steps += 1;
        }
        assert!(steps > 1000, "{controller}: {steps}");
    }
}

/// Every test above on every sans-I/O stack of this crate.
macro_rules! on_each_stack {
    ($($test:ident,)+) => {
        mod quinn {
            $(#[test]
            fn $test() {
                let _machine = crate::shared();
                super::$test(&super::Quinn);
            })+
        }

        mod noq {
            $(#[test]
            fn $test() {
                let _machine = crate::shared();
                super::$test(&super::Noq);
            })+
        }
    };
}

on_each_stack! {
    a_transfer_with_losses_arrives_whole,
    a_clean_link_is_filled,
    runs_repeat_to_the_bit_and_seeds_differ,
    the_log_has_every_packet,
    the_receiver_acknowledges_as_the_scenario_says,
    marks_reach_the_controller,
    named_data_packets_never_leave,
    flows_of_one_group_share_a_table,
    what_the_stack_cannot_do_is_said,
    larger_datagrams_are_filled,
    the_stacks_own_controllers_are_watched_like_ours,
    a_blackout_is_survived,
    a_path_that_carries_nothing_ends_with_the_scenario,
    an_output_that_cannot_be_written_to_fails_the_run,
    logs_are_clean_under_the_lint,
    a_log_replays_to_the_same_decisions,
}
