use super::*;

const NETWORK: &str = "
duration_s = 1000
[dumbbell]
rate_mbps = 10
rtt_ms = 60
buffer_bdp = 1
[[flow]]
controller = \"reno\"
";

fn scenario(text: &str, seed: u64) -> Scenario {
    let mut scenario = Scenario::read("s", &format!("{NETWORK}{text}"), None).unwrap_or_else(|error| panic!("{error}"));
    scenario.seed = seed;
    scenario
}

fn secs(at: Time) -> f64 {
    at.0 as f64 / 1e9
}

#[test]
fn bursts_come_and_go() {
    let scenario = scenario(
        "[[flow]]\nname = \"b\"\ncontroller = \"reno\"\ncount = 3\nstagger_s = 1\nstart_s = 10\nstop_s = 300\n\
         arrivals = { every_s = 90, lives_s = 60 }\n",
        1,
    );
    assert_eq!(scenario.flows.len(), 1);
    let flow_set = scenario.flow_set();
    let lives: Vec<_> = flow_set.flows[1..].iter().map(|flow| (secs(flow.start), secs(flow.stop))).collect();
    let burst = |at: f64| (0..3).map(move |i| (at + f64::from(i), (at + f64::from(i) + 60.0).min(300.0)));
    assert_eq!(lives, [10.0, 100.0, 190.0, 280.0].into_iter().flat_map(burst).collect::<Vec<_>>());
    assert_eq!(
        (
            flow_set.flows[1].name.as_str(),
            flow_set.start_schedule.dynamic_set(0),
            flow_set.start_schedule.dynamic_set(12)
        ),
        ("b-1", None, Some(0))
    );
    assert!(flow_set.start_schedule.is_set());
}

#[test]
fn random_arrivals_and_sizes_have_their_means() {
    let text = "[[flow]]\nname = \"p\"\ncontroller = \"reno\"\n\
                arrivals = { poisson_s = 0.1, size_bytes = 3e4, size_shape = 3 }\n";
    let flows = scenario(text, 1).flow_set().flows.split_off(1);
    // 10 000 arrivals, give or take √10 000.
    assert!((flows.len() as f64 - 1e4).abs() < 300.0, "{}", flows.len());
    let gaps: Vec<f64> = flows.windows(2).map(|pair| secs(pair[1].start) - secs(pair[0].start)).collect();
    let beyond = gaps.iter().filter(|gap| **gap > 0.1).count() as f64 / gaps.len() as f64;
    assert!((beyond - (-1f64).exp()).abs() < 0.02, "{beyond}");
    let mean = flows.iter().map(|flow| flow.transfer_bytes.unwrap() as f64).sum::<f64>() / flows.len() as f64;
    assert!((mean / 3e4 - 1.0).abs() < 0.03, "{mean}");
    assert_ne!(scenario(text, 2).flow_set().flows[1].start, flows[0].start);
    assert_eq!(scenario(text, 1).flow_set().flows[1..], flows[..]);
}

const WEB: &str = "[[web]]\nname = \"w\"\ncontroller = \"reno\"\nheader_bytes = 200\n";

#[test]
fn web_sessions_are_as_published() {
    let scenario = scenario(WEB, 1);
    let FlowSet { flows, mut start_schedule } = scenario.flow_set();
    assert_eq!(flows.len(), 1 + 100 * 10 * 10);
    let begins: Vec<f64> = flows[1..].chunks(100).map(|session| secs(session[0].start) - 0.03).collect();
    assert!((begins[99] / 500.0 - 1.0).abs() < 0.25, "{}", begins[99]);
    // The first page of each session has known times, the others wait for it.
    for session in flows[1..].chunks(100) {
        assert!(session[..10].windows(2).all(|pair| pair[0].start <= pair[1].start));
        assert!(
            session[..10].iter().all(|flow| flow.start < WAITS) && session[10..].iter().all(|flow| flow.start == WAITS)
        );
    }
    let packets: Vec<f64> = flows[1..].iter().map(|flow| flow.transfer_bytes.unwrap() as f64 / 1000.0).collect();
    assert!(packets.iter().all(|packets| packets.fract() == 0.0 && *packets >= 1.0));
    // Pareto II: P(size > x) = (1 + x/(mean·(shape − 1)))^−shape, scale 2 packets.
    for x in [1.0, 4.0, 20.0, 100.0] {
        let beyond = packets.iter().filter(|packets| **packets > x).count() as f64 / packets.len() as f64;
        let expected = (1.0 + x / 2.0f64).powf(-1.2);
        assert!((beyond - expected).abs() < 0.015, "{x}: {beyond} {expected}");
    }
    // A page is over with its last object.
    for number in 1..10 {
        assert_eq!(start_schedule.over(number, Time::ZERO), []);
    }
    let next = start_schedule.over(10, Time::from_micros(7_000_000));
    assert_eq!(next.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (11..21).collect::<Vec<_>>());
    assert!(next[0].1 >= Time::from_micros(7_030_000), "a page is looked at, then asked for");
    assert!(next.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert_eq!(start_schedule.over(0, Time::ZERO), [], "the scenario's own flows start nothing");
}

#[test]
fn servers_and_clients_are_drawn() {
    let text = "
duration_s = 10
[[link]]
name = \"s1\"
rate_mbps = 10
[[link]]
name = \"s2\"
rate_mbps = 10
[[link]]
name = \"b\"
rate_mbps = 5
[[link]]
name = \"c1\"
rate_mbps = 10
delay_ms = 3
[[link]]
name = \"c2\"
rate_mbps = 10
delay_ms = 3
[[flow]]
controller = \"reno\"
route = [\"b\"]
[[web]]
controller = \"reno\"
route = [\"b\"]
servers = [\"s1\", \"s2\"]
clients = [\"c1\", \"c2\"]
sessions = 20
";
    let scenario = Scenario::read("s", text, None).unwrap_or_else(|error| panic!("{error}"));
    let flows = scenario.flow_set().flows.split_off(1);
    let names = |flow: &FlowSpec| -> Vec<&str> {
        let route = &scenario.topology.routes[flow.forward.0 as usize];
        route.iter().map(|link| scenario.topology.links[link.0 as usize].name.as_str()).collect()
    };
    let mut seen = std::collections::BTreeSet::new();
    for session in flows.chunks(100) {
        for page in session.chunks(10) {
            assert!(page.iter().all(|flow| names(flow) == names(&page[0])), "one server per page");
        }
        assert!(session.iter().all(|flow| names(flow)[2] == names(&session[0])[2]), "one client per session");
        seen.extend(session.iter().map(|flow| names(flow).join(" ")));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["s1 b c1", "s1 b c2", "s2 b c1", "s2 b c2"]);
    assert_eq!(scenario.topology.delay(flows[0].backward), Span::from_millis(3));
}
