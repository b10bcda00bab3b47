use super::*;
use crate::scenario::{GroupOrder, Objects};
use proptest::prelude::*;
use windlass_controllers::Time;
use windlass_network::{
    CoDelSpec, DualPi2Spec, FqCoDelSpec, Limit, Marks, Network, Pattern, PcnSpec, Queue, RedSpec, StepSpec,
};

const DUMBBELL: &str = "
duration_s = 10
[dumbbell]
rate_mbps = 100
rtt_ms = 50
buffer_bdp = 1
[[flow]]
controller = \"reno\"
";

/// The problems of `text`, one a line, without the file's name.
fn problems(text: &str) -> String {
    match Scenario::read("s", text, None) {
        Ok(_) => "none".to_owned(),
        Err(error) => error.to_string().lines().map(|line| line.replacen("s:", "", 1)).collect::<Vec<_>>().join("\n"),
    }
}

fn read(text: &str) -> Scenario {
    Scenario::read("s", text, None).unwrap()
}

#[test]
fn a_dumbbell_is_a_bottleneck_and_a_way_back() {
    let scenario = read(DUMBBELL);
    let topology = &scenario.topology;
    assert_eq!(topology.links[0].name, "bottleneck");
    assert_eq!((topology.links[0].rate, topology.links[0].delay), (1e8, Span::from_millis(25)));
    // 100 Mbit/s · 50 ms / (8 · 1228) = 508.9 packets.
    assert_eq!(topology.links[0].limit, Limit::Packets(508));
    let flow = &scenario.flows[0];
    assert_eq!((flow.name.as_str(), flow.start, flow.stop), ("flow1", Time::ZERO, at_s(10.0)));
    assert_eq!(topology.delay(flow.forward) + topology.delay(flow.backward), Span::from_millis(50));
    assert_eq!(scenario.sample, Span::from_millis(20));
    assert_eq!(scenario.queues, [LinkId(0)]);
}

#[test]
fn flows_of_a_dumbbell_may_have_longer_rtts_and_be_many() {
    let scenario = read(&format!(
        "{DUMBBELL}rtt_ms = 80\ncount = 3\nstagger_s = 2\n[[flow]]\nname = \"x\"\ncontroller = \"reno:iw=4\"\n"
    ));
    let rtts: Vec<_> = scenario
        .flows
        .iter()
        .map(|flow| (scenario.topology.delay(flow.forward) + scenario.topology.delay(flow.backward)).millis())
        .collect();
    assert_eq!(rtts, [80.0, 80.0, 80.0, 50.0]);
    let names: Vec<_> = scenario.flows.iter().map(|flow| (flow.name.as_str(), flow.start.0 / 1_000_000_000)).collect();
    assert_eq!(names, [("flow1-1", 0), ("flow1-2", 2), ("flow1-3", 4), ("x", 0)]);
    assert_eq!(scenario.flows[0].forward, scenario.flows[2].forward, "equal routes are one");
    assert_eq!(scenario.flows[3].control.algorithm().unwrap().to_string(), "reno:iw=4");
}

#[test]
fn links_make_any_graph() {
    let scenario = Scenario::load(Path::new("scenarios/parking-lot.toml"), None).unwrap();
    assert_eq!(scenario.name, "parking-lot");
    let flow = &scenario.flows[0];
    assert_eq!(scenario.topology.routes[flow.forward.0 as usize].len(), 4);
    assert_eq!(scenario.topology.routes[flow.backward.0 as usize].len(), 3);
    assert_eq!(
        scenario.topology.traffic[0].pattern,
        Pattern::ExponentialOnOff { peak: 3.2e6, mean: 1.28e6, on: 0.008 }
    );
    assert_eq!(scenario.queues.len(), 7);
}

#[test]
fn thresholds_of_two_classes_scale_with_the_buffer() {
    let scenario = Scenario::load(Path::new("scenarios/two-class.toml"), None).unwrap();
    let Queue::Red(red) = &scenario.topology.links[0].queue else { panic!("not RED") };
    let low = red.low_priority.unwrap();
    // `spec: arumaithurai §4.2`, Table 4.1.
    assert_eq!([low.min, low.max, red.normal.min, red.normal.max], [12.0, 625.0, 1133.0, 1250.0]);
    let given = "[dumbbell.queue]\nkind = \"two-class-red\"\nlow_max_th_packets = 99\nmax_p = 0.5\n";
    let text = DUMBBELL.replace("[[flow]]", &format!("{given}[[flow]]"));
    let Queue::Red(red) = read(&text).topology.links[0].queue.clone() else { panic!("not RED") };
    let low = red.low_priority.unwrap();
    assert_eq!((low.min, low.max, red.normal.max_p, red.mean_bytes), (5.0, 99.0, 0.5, 1228.0));
}

#[test]
fn the_controller_under_test_comes_from_the_caller_or_the_file() {
    let text = DUMBBELL.replace("\"reno\"", "\"under-test\"");
    assert_eq!(Scenario::read("s", &text, Some("reno:iw=3")).unwrap().flows[0].controller, "reno:iw=3");
    let with_default = format!("under_test = \"reno\"\n{text}");
    assert_eq!(read(&with_default).flows[0].controller, "reno");
    assert_eq!(Scenario::read("s", &with_default, Some("reno:iw=3")).unwrap().flows[0].controller, "reno:iw=3");
    assert_eq!(Scenario::read("s", DUMBBELL, Some("reno:iw=3")).unwrap().flows[0].controller, "reno", "not under test");
    assert_eq!(
        problems(&text),
        "8:14: flow \"flow1\" is under test, but no controller was given (give one when running \
         (--controller NAME), or a default in the file: under_test = \"NAME\")"
    );
}

#[test]
fn lines_of_windows_are_lines() {
    let on_windows = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(read(&on_windows(DUMBBELL)).flows, read(DUMBBELL).flows);
    let text = on_windows(&DUMBBELL.replace("50", "\"x\""));
    assert!(problems(&text).starts_with("5:10: [dumbbell]: rtt_ms is \"x\""), "{}", problems(&text));
    let shown = format!("{:?}", miette::Report::new(Scenario::read("s", &text, None).unwrap_err()));
    assert!(shown.contains("rtt_ms = \"x\"") && !shown.contains('\r'), "{shown:?}");
}

#[test]
fn start_jitter_depends_on_seed_and_name() {
    let scenario = read(&format!("{DUMBBELL}start_jitter_s = 1\ncount = 2"));
    let [a, b] = [&scenario.flows[0], &scenario.flows[1]];
    assert!(a.starts(1) != b.starts(1) && a.starts(1) != a.starts(2) && a.starts(1) == a.starts(1));
    assert!(a.starts(1) < at_s(1.0));
}

#[test]
fn a_scenario_tells_how_much_its_results_take() {
    let scenario = |sample: &str| Scenario::read("s", &format!("sample_ms = {sample}{DUMBBELL}"), None).unwrap();
    // 10 s, one flow and one queue.
    assert_eq!((scenario("100").points(), scenario("1").points()), (202, 20_002));
    assert_eq!(scenario("100").result_bytes(), 202 * 48 + 8000);
}

/// Work grows with the file, not with its square: mistakes keep the place they have where the file has one only.
#[test]
fn every_one_of_many_mistakes_has_its_place() {
    let many = |n: usize| {
        let unknown: String = (0..n).map(|i| format!("unknown_{i} = \"ä\"\n")).collect();
        let text = format!("{unknown}list = [{}]\n{DUMBBELL}", "\"ä\", ".repeat(n));
        let mistakes = match Scenario::read("s", &text, None) {
            Err(ScenarioError::Wrong { problems }) => problems,
            other => panic!("{other:?}"),
        };
        let places = mistakes.iter().map(|one| (one.at_line, one.at_column));
        assert!(places.eq((1..=n + 1).map(|line| (line, 1))), "{n}");
    };
    many(1);
    many(20_000);
}

#[test]
fn a_constant_rate_stands_alone() {
    let rate = DUMBBELL.replace("controller = \"reno\"", "constant_rate_mbps = 3.5");
    let flow = &read(&rate).flows[0];
    assert_eq!((flow.controller.as_str(), flow.under_test), ("fixed-window:window=1048576,rate=3.5", false));
    assert_eq!(flow.unnamed().as_ref(), flow.control.algorithm());
    assert_eq!(read(DUMBBELL).flows[0].unnamed(), None);
    for (key, value) in [("controller", "reno"), ("group", "a"), ("resume", "a")] {
        let said = format!(
            "8:22: flow \"flow1\" has constant_rate_mbps and {key}, but a constant rate has no window to control (leave out one of them)"
        );
        assert_eq!(problems(&format!("{rate}{key} = \"{value}\"\n")), said);
    }
    let said = "8:22: flow \"flow1\": constant_rate_mbps is 0; expected a number from 0.000001 to 100000000 Mbit/s";
    assert_eq!(problems(&rate.replace("3.5", "0")), said);
}

/// One mistake each: what is put into the dumbbell's file, where, and what is said.
#[test]
fn mistakes_are_named_with_their_place() {
    for (old, new, said) in [
        (
            "rtt_ms",
            "rtt_ns",
            "3:1: [dumbbell] has no rtt_ms (add rtt_ms = a number above 0 and up to 3600000 ms)\n5:1: [dumbbell] has no key rtt_ns (did you mean rtt_ms?)",
        ),
        (
            "rate_mbps = 100",
            "rate_mbps = \"fast\"",
            "4:13: [dumbbell]: rate_mbps is \"fast\"; expected a number from 0.000001 to 100000000 Mbit/s",
        ),
        (
            "rate_mbps = 100",
            "rate_mbps = 0",
            "4:13: [dumbbell]: rate_mbps is 0; expected a number from 0.000001 to 100000000 Mbit/s",
        ),
        (
            "rate_mbps = 100",
            "rate_mbps = nan",
            "4:13: [dumbbell]: rate_mbps is nan; expected a number from 0.000001 to 100000000 Mbit/s",
        ),
        (
            "buffer_bdp = 1",
            "buffer_bdp = 1\nbuffer_packets = 4",
            "6:14: [dumbbell] has both buffer_packets and buffer_bdp (give one of them)",
        ),
        (
            "buffer_bdp = 1",
            "loss_percent = 101",
            "6:16: [dumbbell]: loss_percent is 101; expected a number from 0 to 100 %",
        ),
        (
            "buffer_bdp = 1",
            "buffer_packets = 1.5",
            "6:18: [dumbbell]: buffer_packets is 1.5; expected a whole number from 0 to 4294967296 packets",
        ),
        (
            "buffer_bdp = 1",
            "queue = \"two-clas-red\"",
            "6:9: [dumbbell]: queue is \"two-clas-red\"; expected \"drop-tail\" or \"red\" or \"two-class-red\" or \"step\" or \"l4s\" or \"codel\" or \"fq-codel\" or \"drr\" or \"pie\" or \"dualpi2\" or \"pcn\" or \"policer\" (did you mean \"two-class-red\"?)",
        ),
        (
            "buffer_bdp = 1",
            "queue = \"two-class-red\"",
            "3:1: link \"bottleneck\": the thresholds of two-class-red scale with the buffer, which is unlimited (give buffer_packets, buffer_bdp or all four thresholds)",
        ),
        (
            "buffer_bdp = 1",
            "queue = { kind = \"red\", min_th_packets = 9, max_th_packets = 8 }",
            "6:62: queue of [dumbbell]: max_th_packets is 8, not more than min_th_packets, 9",
        ),
        (
            "buffer_bdp = 1",
            "queue = { kind = \"red\", min_th_packets = 9 }",
            "6:9: queue of [dumbbell] has no max_th_packets",
        ),
        (
            "buffer_bdp = 1",
            "[[dumbbell.change]]\nat_s = 3",
            "6:1: a change of [dumbbell] changes nothing (give rate_mbps, delay_ms, loss_percent, jitter_ms or gap_ms)",
        ),
        (
            "buffer_bdp = 1",
            "drop_arrivals = [3, 2]",
            "6:17: [dumbbell]: drop_arrivals is a list; expected a list of ascending whole numbers",
        ),
        (
            "[dumbbell]",
            "[link]",
            "1:1: the scenario has no network (add [dumbbell] or [[link]])\n3:1: the scenario: link is a table; expected a list of tables, [[link]]\n7:1: flow \"flow1\" has no route (add route = [\"…\"], the links its data passes in order)",
        ),
        (
            "duration_s = 10",
            "duration_s = 10\ndurations = 9",
            "3:1: the scenario has no key durations (did you mean duration_s?)",
        ),
        (
            "duration_s = 10",
            "",
            "1:1: the scenario has no duration_s (add duration_s = a number above 0 and up to 15000000 s)",
        ),
        (
            "\"reno\"",
            "\"renno\"",
            "8:14: unknown controller \"renno\" (did you mean \"reno\"?); the catalogue has CATALOGUE",
        ),
        ("\"reno\"", "\"reno:iw=0\"", "8:14: reno: iw is \"0\"; expected 1 to 10000"),
        (
            "controller = \"reno\"",
            "",
            "7:1: flow \"flow1\" has no controller (add controller = \"under-test\", or one of CATALOGUE)",
        ),
        ("\"reno\"", "\"reno\"\nstart_s = 5\nstop_s = 4", "10:10: flow \"flow1\": stop_s is 4, but it starts at 5 s"),
        (
            "\"reno\"",
            "\"reno\"\nname = \"a\"\n[[flow]]\ncontroller = \"reno\"\nname = \"a\"",
            "12:8: two flows or traffic sources are called \"a\"",
        ),
        (
            "\"reno\"",
            "\"reno\"\ngroup = \"g\"\n[[flow]]\ncontroller = \"reno:iw=3\"\ngroup = \"g\"",
            "10:1: flow \"flow2\": group \"g\" has two controllers, \"reno\" and \"reno:iw=3\" (flows of one group share one table and need one controller)",
        ),
        (
            "\"reno\"",
            "\"reno\"\nrtt_ms = 40",
            "7:1: flow \"flow1\": rtt_ms is less than the dumbbell's (give [dumbbell] the smallest RTT of all flows)",
        ),
        (
            "\"reno\"",
            "\"reno\"\nack_every_packets = 4",
            "7:1: flow \"flow1\" has ack_every_packets, but acknowledges every packet (add ack = \"delayed\")",
        ),
        (
            "\"reno\"",
            "\"reno\"\n[[traffic]]\nkind = \"exponential-on-off\"\nrate_mbps = 1\nmean_rate_mbps = 2",
            "12:18: traffic \"traffic1\": mean_rate_mbps is 2, more than its peak, 1",
        ),
        (
            "\"reno\"",
            "\"reno\"\n[[traffic]]\nkind = \"cbr\"",
            "9:1: traffic \"traffic1\" has no rate_mbps (add rate_mbps = a number from 0.000001 to 100000000 Mbit/s)",
        ),
        ("[dumbbell]", "[dumbbell", "3:10: not valid TOML: unclosed table, expected `]`"),
    ] {
        let text = DUMBBELL.replacen(old, new, 1);
        assert_ne!(text, DUMBBELL, "{old}");
        let mut seen = problems(&text);
        // The catalogue grows and keys are added; neither is what this is about.
        let names: Vec<_> = windlass_controllers::Algorithm::ALL.iter().map(|entry| entry.name).collect();
        for before in ["the catalogue has", "or one of"] {
            seen = seen.replace(&format!("{before} {}", names.join(", ")), &format!("{before} CATALOGUE"));
        }
        assert_eq!(seen, said, "{new}");
    }
}

#[test]
fn mistakes_of_graphs_are_named_too() {
    let graph = "
duration_s = 1
[[link]]
name = \"access\"
rate_mbps = 10
[[link]]
name = \"bottleneck\"
rate_mbps = 1
buffer_packets = 9
[[flow]]
controller = \"reno\"
route = [\"access\", \"botleneck\"]
";
    for (old, new, said) in [
        ("", "", "12:20: flow \"flow1\": route names no link: \"botleneck\" (did you mean \"bottleneck\"?)"),
        (
            "\"botleneck\"",
            "7",
            "12:9: flow \"flow1\": route is a list; expected a list of names, such as [\"access\", \"bottleneck\"]",
        ),
        ("\"botleneck\"]", "\"bottleneck\"]\nrtt_ms = 5", "13:1: flow \"flow1\" has no key rtt_ms (known keys are …)"),
        (
            "rate_mbps = 1\n",
            "",
            "6:1: link \"bottleneck\" has buffer_packets but no rate_mbps (add rate_mbps: without a rate nothing ever waits)\n11:20: flow \"flow1\": route names no link: \"botleneck\" (did you mean \"bottleneck\"?)",
        ),
        (
            "\"access\"\n",
            "\"bottleneck\"\n",
            "7:8: two links are called \"bottleneck\"\n12:10: flow \"flow1\": route names no link: \"access\"\n12:20: flow \"flow1\": route names no link: \"botleneck\" (did you mean \"bottleneck\"?)",
        ),
        (
            "buffer_packets = 9\n",
            "buffer_bdp = 1\n",
            "9:14: link \"bottleneck\": no flow's route leads over it, so its bandwidth-delay product is unknown (use buffer_packets or buffer_bytes)\n12:20: flow \"flow1\": route names no link: \"botleneck\" (did you mean \"bottleneck\"?)",
        ),
    ] {
        let mut seen = problems(&graph.replacen(old, new, 1));
        if let Some((head, _)) = seen.split_once("known keys are ") {
            seen = format!("{head}known keys are …)");
        }
        assert_eq!(seen, said, "{new}");
    }
}

/// A dumbbell with `keys` and flows with `flow`'s.
fn dumbbell(keys: &str, flow: &str) -> String {
    DUMBBELL.replacen("buffer_bdp = 1\n", &format!("buffer_bdp = 1\n{keys}\n"), 1) + flow
}

#[test]
fn a_way_back_is_a_link_like_the_bottleneck() {
    let text = dumbbell(
        "[dumbbell.back]\nrate_mbps = 1\nbuffer_bdp = 1\nloss_percent = 2",
        "[[flow]]\ncontroller = \"reno\"\ndirection = \"back\"\nrtt_ms = 60\n",
    );
    let scenario = read(&text);
    let topology = &scenario.topology;
    assert_eq!((topology.links[1].name.as_str(), topology.links[1].rate, topology.links[1].loss), ("back", 1e6, 0.02));
    // 1 Mbit/s · 50 ms / (8 · 1228) = 5.09 packets.
    assert_eq!(topology.links[1].limit, Limit::Packets(5));
    let [forth, back] = &scenario.flows[..] else { panic!() };
    let route = |route: RouteId| &topology.routes[route.0 as usize];
    assert_eq!((route(forth.forward), route(forth.backward)), (&vec![LinkId(0)], &vec![LinkId(1)]));
    assert_eq!((route(back.forward)[0], *route(back.backward).last().unwrap()), (LinkId(1), LinkId(0)));
    assert_eq!(topology.delay(back.forward), Span::from_millis(30));
    assert_eq!(topology.delay(back.backward), Span::from_millis(30));
    assert_eq!(scenario.queues, [LinkId(0), LinkId(1)]);
}

#[test]
fn access_links_are_each_flows_own() {
    let text = dumbbell(
        "",
        "count = 2\naccess_mbps = 20\naccess_delay_ms = 3\naccess_buffer_packets = 7\n\
         [[flow]]\nname = \"x\"\ncontroller = \"reno\"\naccess_delay_ms = 10\n",
    );
    let scenario = read(&text);
    let topology = &scenario.topology;
    let rtt = |flow: &FlowSpec| topology.delay(flow.forward) + topology.delay(flow.backward);
    assert_eq!(scenario.flows.iter().map(|flow| rtt(flow).millis()).collect::<Vec<_>>(), [56.0, 56.0, 70.0]);
    let first = |flow: &FlowSpec| &topology.links[topology.routes[flow.forward.0 as usize][0].0 as usize];
    let access = first(&scenario.flows[1]);
    assert_eq!((access.name.as_str(), access.rate, access.limit), ("access of flow1-2", 20e6, Limit::Packets(7)));
    assert_ne!(first(&scenario.flows[0]).name, access.name);
    assert!(first(&scenario.flows[2]).rate.is_infinite());
    assert_eq!(scenario.queues, [LinkId(0)], "nobody asks what a single flow's own link did");
    for flow in &scenario.flows {
        assert_eq!(topology.routes[flow.backward.0 as usize].len(), 1, "one delay, not two");
    }
}

#[test]
fn queueing_times_take_their_room() {
    let sizes = |flow: &str| {
        let scenario = read(&dumbbell("", flow));
        let flow = scenario.flows.last().unwrap().clone();
        (flow.wire_bytes(), flow.ack_wire_bytes)
    };
    assert_eq!(sizes(""), (1228, 68));
    assert_eq!(sizes("[[flow]]\ncontroller = \"rovegas\"\n"), (1236, 76));
    assert_eq!(sizes("[[flow]]\ncontroller = \"rovegas\"\noption_bytes = 0\n"), (1228, 68));
    assert_eq!(sizes("[[flow]]\ncontroller = \"vegas\"\noption_bytes = 8\n"), (1236, 76));
}

#[test]
fn queues_are_read_with_their_defaults() {
    let queue = |text: &str| read(&dumbbell(text, "")).topology.links[0].queue.clone();
    let step = |threshold, sojourn, marks| Queue::Step(StepSpec { threshold, sojourn, marks });
    let after = |millis| Some(Span::from_millis(millis));
    assert_eq!(queue("queue = { kind = \"step\", threshold_packets = 65 }"), step(Some(65), None, Marks::Any));
    assert_eq!(
        queue("queue = { kind = \"step\", sojourn_ms = 2, marks = \"ect1\" }"),
        step(None, after(2), Marks::Ect1)
    );
    let codel = CoDelSpec::new(1228);
    assert_eq!(queue("queue = \"codel\""), Queue::CoDel(codel));
    assert_eq!(queue("queue = \"fq-codel\""), Queue::FqCoDel(FqCoDelSpec::new(1228)));
    assert_eq!(queue("queue = \"drr\""), Queue::Drr { quantum: 1228, queues: 1024 });
    assert_eq!(
        queue("queue = { kind = \"drr\", quantum_bytes = 99, queues = 8 }"),
        Queue::Drr { quantum: 99, queues: 8 }
    );
    assert_eq!(queue("queue = \"dualpi2\""), Queue::DualPi2(DualPi2Spec::new()));
    assert_eq!(
        queue("queue = { kind = \"dualpi2\", target_ms = 20, coupling = 1.5, min_threshold_us = 500, range_us = 0 }"),
        Queue::DualPi2(DualPi2Spec {
            target: Span::from_millis(20),
            coupling: 1.5,
            min_threshold: Span::from_micros(500),
            range: Span::ZERO,
            ..DualPi2Spec::new()
        })
    );
    assert_eq!(
        queue("queue = { kind = \"fq-codel\", quantum_bytes = 300, queues = 64, mtu_bytes = 1500 }"),
        Queue::FqCoDel(FqCoDelSpec { codel: CoDelSpec::new(1500), quantum: 300, queues: 64 })
    );
    assert_eq!(
        queue("queue = { kind = \"codel\", target_ms = 1, interval_ms = 20, mtu_bytes = 1500, on_hit = \"drop\" }"),
        Queue::CoDel(CoDelSpec {
            target: Span::from_millis(1),
            interval: Span::from_millis(20),
            mtu: 1500,
            mark: false
        })
    );
    assert_eq!(queue("queue = \"l4s\""), Queue::L4s { sojourn: Span::from_millis(1), classic: None });
    let red = queue("queue = { kind = \"l4s\", classic = \"red\", min_th_packets = 5, max_th_packets = 15 }");
    let classic = Some(RedSpec::new(5.0, 15.0, 0.1, 1228.0));
    assert_eq!(red, Queue::L4s { sojourn: Span::from_millis(1), classic });
    assert_eq!(
        queue("queue = { kind = \"pcn\", ac_rate_mbps = 40, ft_rate_mbps = 80 }"),
        Queue::Pcn(PcnSpec::new(40e6, 80e6))
    );
}

#[test]
fn mistakes_of_queues_and_ways_are_named_too() {
    for (keys, flow, said) in [
        (
            "queue = \"pcn\"",
            "",
            "3:1: [dumbbell]: queue = \"pcn\" needs rates (write [link.queue] (or [dumbbell.queue]) with kind = \"pcn\" and its rates)",
        ),
        (
            "queue = { kind = \"step\" }",
            "",
            "7:9: queue of [dumbbell] has neither threshold_packets nor sojourn_ms (give one of them, or both: either will do for a mark)",
        ),
        (
            "queue = { kind = \"pcn\", ac_rate_mbps = 4, ft_rate_mbps = 3 }",
            "",
            "7:58: queue of [dumbbell]: ft_rate_mbps is 3, less than ac_rate_mbps, 4",
        ),
        (
            "queue = { kind = \"pcn\", ac_rate_mbps = 4, ft_rate_mbps = 8, ac_bucket_ms = 5, ac_threshold_ms = 6 }",
            "",
            "7:9: queue of [dumbbell]: ac_threshold_ms is more than ac_bucket_ms (the bucket never holds that much, so everything would be marked)",
        ),
        (
            "queue = { kind = \"codel\", target_ms = 0 }",
            "",
            "7:39: queue of [dumbbell]: target_ms is 0; expected a number above 0 and up to 3600000 ms",
        ),
        (
            "queue = { kind = \"fq-codel\", queues = 0 }",
            "",
            "7:39: queue of [dumbbell]: queues is 0; expected a whole number from 1 to 65536 queues",
        ),
        (
            "",
            "direction = \"back\"\n",
            "8:1: flow \"flow1\" goes back, where nothing queues (add [dumbbell.back], with rate_mbps or whatever else its way back has)",
        ),
        ("", "group = \"g\"\n[[group]]\nname = \"g\"\n", "12:8: group \"g\": reno has no group weight (tcp-p does)"),
        (
            "",
            "group = \"good\"\n[[group]]\nname = \"goood\"\nchange = [{ at_s = 1 }]\n",
            "12:8: no flow is in the group \"goood\" (did you mean \"good\"?)\n13:11: a change of group \"goood\" changes nothing (give k)",
        ),
        (
            "",
            "idle_timeout_s = 4\n",
            "10:18: flow \"flow1\" has idle_timeout_s, but its receiver never falls silent (add vanishes_s)",
        ),
        (
            "",
            "recovery = \"tcp-reno\"\ndupthresh_frac = 100\n",
            "11:18: flow \"flow1\" has dupthresh_frac, but takes three duplicate ACKs for a loss (leave it out, or recovery)",
        ),
        (
            "",
            "arrivals = { times = 3 }\n",
            "10:12: arrivals of flow \"flow1\" has neither every_s nor poisson_s (give every_s, the time between arrivals, or poisson_s, its mean if it is random)",
        ),
        (
            "",
            "arrivals = { every_s = 3, poisson_s = 2 }\n",
            "10:39: arrivals of flow \"flow1\" has both every_s and poisson_s (give one of them)",
        ),
        (
            "",
            "arrivals = { every_s = 3, size_shape = 2 }\n",
            "10:40: arrivals of flow \"flow1\" has size_shape but no size_bytes (add size_bytes, the mean)",
        ),
        (
            "",
            "arrivals = { poisson_s = 1e-5 }\n",
            "8:1: flow \"flow1\" would be about 1000001 flows; expected at most 100000 (let fewer come, or less often)",
        ),
        (
            "",
            "[[web]]\ncontroller = \"reno\"\ntransfer_bytes = 9\n",
            "10:1: web \"web1\": objects have sizes of their own (give object_packets, their mean)",
        ),
        (
            "",
            "access_buffer_packets = 4\n",
            "10:25: flow \"flow1\" has access_buffer_packets but no access_mbps (add access_mbps)",
        ),
        (
            "",
            "[[traffic]]\nkind = \"poisson\"\nrate_mbps = 1\nmax_rate_mbps = 4\n",
            "13:17: traffic \"traffic1\": max_rate_mbps clips rates that are drawn anew, but none are (add redraw_s)",
        ),
    ] {
        assert_eq!(problems(&dumbbell(keys, flow)), said);
    }
}

#[test]
fn requests_that_cannot_be_are_named() {
    let few = problems(&dumbbell("", "requests = 3\ntransfer_bytes = 3000"));
    assert!(few.contains("less than a packet for each of its requests (make transfer_bytes 3600 or more"), "{few}");
    let moved = problems(&dumbbell("", "requests = 2\nfault = [{ kind = \"rebinding\", at_s = 1 }]"));
    assert!(moved.contains("is rebound, but a server that answers requests keeps its address"), "{moved}");
    let scenario = read(&dumbbell("", "receive_window_bytes = 10_000"));
    let refused = crate::sim::run(&scenario).unwrap_err().to_string();
    assert!(refused.contains("the simulator has no receive_window_bytes"), "{refused}");
}

#[test]
fn a_video_in_chunks_is_read() {
    let keys = "video = { chunk_s = 2, rates_mbps = [0.5, 1, 4], buffer_s = 20 }";
    let flow = read(&dumbbell("", keys)).flows.remove(0);
    let video = flow.video.unwrap();
    assert_eq!((video.rates.as_slice(), video.bytes(2), flow.requests), (&[0.5e6, 1e6, 4e6][..], 1_000_000, Some(1)));
    for (keys, expected) in [
        ("video = 4", "video is 4; expected a table, [video]"),
        ("video = { chunk_s = 2, buffer_s = 20 }", "has no rates_mbps"),
        ("video = { rates_mbps = [1], buffer_s = 20 }", "has no chunk_s"),
        ("video = { chunk_s = 2, rates_mbps = [], buffer_s = 20 }", "has no rates (add one, Mbit/s)"),
        ("video = { chunk_s = 2, rates_mbps = [2, 1], buffer_s = 20 }", "expected an ascending list"),
        (
            "video = { chunk_s = 2, rates_mbps = [1], buffer_s = 1 }",
            "its buffer has 1 s, less than a chunk (make it 2 or more)",
        ),
        (
            "video = { chunk_s = 0.001, rates_mbps = [1], buffer_s = 1 }",
            "its smallest chunk has 125 bytes, less than a packet",
        ),
        ("video = { chunk_s = 2, rates_mbps = [1], buffer_s = 2, fps = 3 }", "fps"),
        ("video = { chunk_s = 2, rates_mbps = [1], buffer_s = 2 }\nrequests = 2", "has a video and requests"),
    ] {
        let found = problems(&dumbbell("", keys));
        assert!(found.contains(expected), "{keys}: {found}");
    }
}

#[test]
fn media_object_sequences_are_read() {
    const FRAMES: &str = "application_mbps = 4\nframes_per_s = 25\nkey_frame_every = 50";
    let objects = |keys: &str| read(&dumbbell("", &format!("{FRAMES}\n{keys}"))).flows[0].objects();
    assert_eq!(objects(""), None);
    let ascending = Objects { order: GroupOrder::Ascending, timeout: None };
    assert_eq!(objects("group_order = \"ascending\""), Some(ascending));
    let newest = Objects { order: GroupOrder::Descending, timeout: Some(Span::from_millis(500)) };
    assert_eq!(objects("group_order = \"descending\"\ndelivery_timeout_ms = 500"), Some(newest));
    let newest = "group_order = \"descending\"";
    for (keys, expected) in [
        (
            format!("{FRAMES}\ngroup_order = \"newest\""),
            "group_order is \"newest\"; expected \"ascending\" or \"descending\"",
        ),
        (
            format!("{FRAMES}\ndelivery_timeout_ms = 500"),
            "has delivery_timeout_ms, but no group_order (add group_order)",
        ),
        (
            format!("{FRAMES}\n{newest}\ndelivery_timeout_ms = 0"),
            "delivery_timeout_ms is 0; expected a number above 0 and up to 3600000 ms",
        ),
        (
            format!("application_mbps = 4\nframes_per_s = 25\n{newest}"),
            "has group_order, but no key_frame_every (add key_frame_every, the objects of a group)",
        ),
        (format!("application_mbps = 4\n{newest}"), "has group_order, but no frames_per_s (add frames_per_s)"),
        (newest.to_owned(), "has group_order, but no frames_per_s"),
        (
            format!("{FRAMES}\n{newest}\ntransfer_bytes = 100000"),
            "has group_order and transfer_bytes, but each of its groups has a stream",
        ),
        (format!("{FRAMES}\n{newest}\nrequests = 1"), "has group_order and requests"),
        (format!("{FRAMES}\n{newest}\narrivals = {{ every_s = 1 }}"), "has group_order and arrivals"),
        (
            format!("{FRAMES}\n{newest}\nrecovery = \"tcp-sack\""),
            "has group_order, but recovers as TCP does, which has one stream",
        ),
    ] {
        let found = problems(&dumbbell("", &keys));
        assert!(found.contains(expected), "{keys}: {found}");
    }
}

#[test]
fn videos_and_pauses_are_read() {
    let writes = |keys: &str| read(&dumbbell("", keys)).flows[0].writes.unwrap();
    let on_off = writes("application_mbps = 8\non_s = 0.025\noff_s = 1");
    // Three writes of 10 ms begin in 25 ms.
    assert_eq!([0, 1, 2, 3, 4].map(|number| on_off.at(number).millis()), [0.0, 10.0, 20.0, 1025.0, 1035.0]);
    assert_eq!([0, 9, 10, 24, 1024, 1025].map(|ms| on_off.count(Span::from_millis(ms))), [1, 1, 2, 3, 3, 4]);
    let video = writes(
        "application_mbps = 4\nframes_per_s = 25\nkey_frame_every = 10\nkey_frame_factor = 3\nframe_late_ms = 80",
    );
    assert_eq!((video.every, video.frames.unwrap().late), (Span::from_millis(40), Span::from_millis(80)));
    let sizes: Vec<u64> = (0..11).map(|number| video.total(number + 1) - video.total(number)).collect();
    // Ten frames of 20 kB on average: one of 50 kB, nine of a third of that.
    assert_eq!((video.total(10), sizes[0], sizes[10]), (200_000, 50_000, 50_000));
    assert!(sizes[1..10].iter().all(|size| (16_666..=16_667).contains(size)), "{sizes:?}");
    for (keys, expected) in [
        ("application_mbps = 4\non_s = 1", "has on_s, but no off_s (add off_s)"),
        ("application_mbps = 4\noff_s = 1", "has off_s, but no on_s"),
        ("on_s = 1\noff_s = 1", "has on_s, but no application_mbps"),
        ("frames_per_s = 25", "has frames_per_s, but no application_mbps"),
        ("application_mbps = 4\nframe_late_ms = 25", "has frame_late_ms, but no frames_per_s"),
        ("application_mbps = 4\nencoder_least_mbps = 1", "has encoder_least_mbps, but no frames_per_s"),
        (
            "application_mbps = 4\nframes_per_s = 25\nencoder_lag_ms = 100",
            "has encoder_lag_ms, but no encoder_least_mbps (add encoder_least_mbps)",
        ),
        (
            "application_mbps = 4\nframes_per_s = 25\nencoder_least_mbps = 5",
            "has an encoder from 5 Mbit/s on, but application_mbps is 4 (make it 4 or less)",
        ),
        (
            "application_mbps = 4\nframes_per_s = 25\nencoder_least_mbps = 0.1",
            "its smallest frame has 500 bytes, less than a packet",
        ),
        (
            "application_mbps = 4\nframes_per_s = 25\nkey_frame_factor = 2",
            "has key_frame_factor, but no key_frame_every",
        ),
        ("application_mbps = 4\nframes_per_s = 2000", "frames_per_s is 2000; expected a number from 0.1 to 1000"),
        ("application_mbps = 0.1\nframes_per_s = 25", "its smallest frame has 500 bytes, less than a packet"),
        ("application_mbps = 4\nframes_per_s = 25\nrequests = 2", "has frames, which go on one stream, and 2 requests"),
    ] {
        let found = problems(&dumbbell("", keys));
        assert!(found.contains(expected), "{keys}: {found}");
    }
}

#[test]
fn problems_render_with_their_source() {
    let error = Scenario::read("bad.toml", &DUMBBELL.replace("rtt_ms", "rtt_m"), None).unwrap_err();
    let mut out = String::new();
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    handler.render_report(&mut out, &error).unwrap();
    for part in ["bad.toml:5:1", "rtt_m = 50", "unknown key", "did you mean rtt_ms?"] {
        assert!(out.contains(part), "{part} is not in\n{out}");
    }
}

#[test]
fn an_unreadable_file_is_named() {
    let error = Scenario::load(Path::new("no/such.toml"), None).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the scenario no/such.toml");
}

fn shipped() -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir("scenarios").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap())).collect()
}

#[test]
fn every_shipped_scenario_is_valid() {
    for (file, text) in shipped() {
        let scenario = Scenario::read(&file, &text, None).unwrap_or_else(|error| panic!("{error}"));
        Network::new(&scenario.topology, 1).unwrap();
    }
}

/// Uses every section and kind, so that every key is asked for.
const EVERYTHING: &str = "
duration_s = 1
[[link]]
name = \"a\"
rate_mbps = 1
buffer_packets = 9
queue = { kind = \"two-class-red\" }
[[link.change]]
at_s = 0
loss_percent = 1
[[link.fault]]
kind = \"reordering\"
at_s = 0
for_ms = 1
percent = 1
by_ms = 1
[[link.fault]]
kind = \"mtu\"
at_s = 0
for_ms = 1
bytes = 1
[[link]]
name = \"b\"
rate_mbps = 1
queue = { kind = \"step\", threshold_packets = 3 }
[[link]]
name = \"c\"
rate_mbps = 1
queue = { kind = \"l4s\", classic = \"red\", min_th_packets = 5, max_th_packets = 15 }
[[link]]
name = \"d\"
rate_mbps = 1
queue = { kind = \"codel\" }
[[link]]
name = \"e\"
rate_mbps = 1
queue = { kind = \"pcn\", ac_rate_mbps = 1, ft_rate_mbps = 2 }
[[link]]
name = \"g\"
rate_mbps = 1
queue = { kind = \"pie\" }
burst_loss = { to_bad_percent = 1, to_good_percent = 1 }
shaper = { burst_bytes = 3000 }
[[link]]
name = \"i\"
rate_mbps = 1
queue = { kind = \"dualpi2\" }
[[link]]
name = \"j\"
rate_mbps = 1
queue = { kind = \"drr\" }
[[link]]
name = \"h\"
rate_mbps = 1
queue = { kind = \"policer\", rate_mbps = 1, burst_bytes = 3000 }
batches = { every_ms = 1 }
[[link]]
name = \"f\"
capacity = { file = \"builtin:lte-like\", scale = 1, offset_s = 0, repeat = true }
[[flow]]
controller = \"reno\"
ack = \"delayed\"
route = [\"a\", \"b\"]
[[flow.fault]]
kind = \"clock-jump\"
at_s = 0
by_ms = 1
end = \"sender\"
[[traffic]]
kind = \"cbr\"
rate_mbps = 1
route = [\"a\"]
[[traffic]]
kind = \"pareto-on-off\"
rate_mbps = 1
mean_rate_mbps = 1
route = [\"a\"]
[[traffic]]
kind = \"poisson\"
rate_mbps = 1
route = [\"a\"]
[[flow]]
controller = \"reno\"
route = [\"a\"]
arrivals = { every_s = 1 }
[[web]]
controller = \"reno\"
route = [\"a\"]
[[flow]]
controller = \"tcp-p\"
group = \"g\"
route = [\"a\"]
[[group]]
name = \"g\"
[[group.change]]
at_s = 1
k = 2
";

#[test]
fn every_key_is_documented() {
    let docs = include_str!("../../../../../docs/scenarios.md");
    let mut asked = std::collections::BTreeSet::new();
    for text in [EVERYTHING, &dumbbell("[dumbbell.back]", "")] {
        let problems = RefCell::new(Problems::new("s", text));
        assert!(parse(text, None, &problems).is_some());
        let problems = problems.into_inner();
        assert!(problems.is_empty(), "{problems:?}");
        asked.extend(problems.asked);
    }
    assert!(asked.len() > 60, "{asked:?}");
    for key in asked {
        assert!(
            docs.contains(&format!("`{key}`"))
                || ["dumbbell", "link", "flow", "traffic", "web", "group"].contains(&key),
            "{key}"
        );
    }
}

/// A scenario text with some bytes, lines or numbers replaced.
fn mutated() -> impl Strategy<Value = String> {
    let base = prop_oneof![
        Just(DUMBBELL.to_owned()),
        Just(EVERYTHING.to_owned()),
        (0..shipped().len()).prop_map(|i| shipped()[i].1.clone()),
    ];
    let piece = prop_oneof![
        "[ -~\n]{0,6}",
        "-?[0-9]{1,20}(\\.[0-9]{1,3})?(e[0-9]{1,3})?",
        Just("[[flow]]\n".to_owned()),
        Just("nan".to_owned()),
        Just("é".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
    ];
    (base, proptest::collection::vec((any::<prop::sample::Index>(), 0usize..12, piece), 0..5)).prop_map(
        |(mut text, edits)| {
            for (place, length, piece) in edits {
                let chars: Vec<char> = text.chars().collect();
                let at = place.index(chars.len() + 1);
                let end = (at + length).min(chars.len());
                text = chars[..at].iter().collect::<String>() + &piece + &chars[end..].iter().collect::<String>();
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is read is either a scenario the network takes, or at least one problem.
    #[test]
    fn no_text_breaks_the_reader(text in mutated(), controller in proptest::option::of("[a-z:=0-9]{0,8}")) {
        match Scenario::read("fuzz", &text, controller.as_deref()) {
            Ok(scenario) => {
                prop_assert!(Network::new(&scenario.topology, 1).is_ok());
                prop_assert!(scenario.duration > Span::ZERO && scenario.sample > Span::ZERO);
            }
            Err(ScenarioError::Wrong { problems }) => {
                prop_assert!(!problems.is_empty());
                let mut out = String::new();
                let error = ScenarioError::Wrong { problems };
                miette::GraphicalReportHandler::new().render_report(&mut out, &error).unwrap();
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}
