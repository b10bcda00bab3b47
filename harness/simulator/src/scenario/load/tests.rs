mod applications;
mod documented;
mod queues;

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

/// A scenario text with some bytes, lines or numbers replaced.
fn mutated() -> impl Strategy<Value = String> {
    let base = prop_oneof![
        Just(DUMBBELL.to_owned()),
        Just(documented::EVERYTHING.to_owned()),
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
