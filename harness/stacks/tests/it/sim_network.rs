//! What the network side of a scenario does to flows, against what can be computed: dynamic flows,
//! groups that change, peers that vanish, ways back, and the same on every stack.

use windlass_controllers::fixed_window::catalogue;
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;
use windlass_stacks::stack::Runner;

/// Reads a scenario in which flows under test run `controller`.
fn scenario(text: &str, controller: &str) -> Scenario {
    Scenario::read("test", text, Some(controller)).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> Outcome {
    sim::run(scenario).unwrap()
}

/// On every stack there is, the simulator among them.
fn everywhere(scenario: &Scenario) -> Vec<Outcome> {
    let run = |stack: &Runner| stack.run(scenario, None, &|_| false).unwrap_or_else(|error| panic!("{error:?}"));
    Runner::builtin().iter().map(run).collect()
}

/// Mean goodput of the flows whose names begin with `name` between two times, Mbit/s.
fn goodput(outcome: &Outcome, name: &str, from: f64, until: f64) -> f64 {
    let of = |flow: &FlowOutcome| {
        let series = &flow.series;
        let points = series.time_s.iter().zip(&series.goodput_mbps).filter(|(at, _)| (from..until).contains(*at));
        points.map(|(_, mbps)| *mbps).sum::<f64>()
    };
    let step = outcome.queues[0].series.time_s[0];
    outcome.flows.iter().filter(|flow| flow.name.starts_with(name)).map(of).sum::<f64>() * step / (until - from)
}

#[test]
fn a_fixed_window_of_the_catalogue_stays_what_it_is_everywhere() {
    let _machine = crate::shared();
    let text = "duration_s = 10\n[dumbbell]\nrate_mbps = 100\nrtt_ms = 40\nbuffer_packets = 5\nloss_percent = 1\n\
                [[flow]]\ncontroller = \"under-test\"\n";
    let scenario = scenario(text, &catalogue(20).unwrap().to_string());
    for outcome in everywhere(&scenario) {
        let windows = &outcome.flows[0].series.cwnd_packets;
        assert!(outcome.flows[0].congestion_events > 10 && windows.iter().all(|cwnd| *cwnd == 20.0), "{windows:?}");
    }
}

const GROUP: &str = "
duration_s = 120
[dumbbell]
rate_mbps = 100
rtt_ms = 50
buffer_packets = 100
[[flow]]
name = \"group\"
controller = \"under-test\"
group = \"g\"
count = 3
start_jitter_s = 1
[[flow]]
name = \"single\"
controller = \"reno\"
start_jitter_s = 1
[[group]]
name = \"g\"
[[group.change]]
at_s = 60
k = 4
";

#[test]
fn a_group_has_the_weight_it_is_given_at_run_time() {
    let _machine = crate::shared();
    let ratio = |outcome: &Outcome, from, until| {
        goodput(outcome, "group", from, until) / goodput(outcome, "single", from, until)
    };
    let outcome = run(&scenario(GROUP, "tcp-p"));
    let (before, after) = (ratio(&outcome, 20.0, 60.0), ratio(&outcome, 75.0, 120.0));
    assert!(before < 1.5 && after > 4.0 * before, "{before} {after}");
    // As one that has had that weight all the time.
    let strong = run(&scenario(&GROUP.replace("at_s = 60", "at_s = 119"), "tcp-p:k=4"));
    let strong = ratio(&strong, 75.0, 119.0);
    assert!((after / strong).ln().abs() < 0.4, "{after} {strong}");
    let always = scenario(&GROUP.replace("at_s = 60", "at_s = 0"), "tcp-p");
    let named = scenario(&GROUP.replace("at_s = 60", "at_s = 0"), "tcp-p:k=4");
    assert_eq!(run(&always).flows[0].goodput_mbps, run(&named).flows[0].goodput_mbps, "from the beginning on");
}

const VANISHING: &str = "
duration_s = 40
[dumbbell]
rate_mbps = 20
rtt_ms = 40
buffer_bdp = 1
[[flow]]
name = \"lasting\"
controller = \"under-test\"
group = \"g\"
count = 2
[[flow]]
name = \"vanishing\"
controller = \"under-test\"
group = \"g\"
vanishes_s = 10
idle_timeout_s = 15
";

#[test]
fn a_member_whose_peer_vanished_starves_no_other_and_leaves_at_its_timeout() {
    let _machine = crate::shared();
    for controller in ["reno", "tcp-p", "a-tcp-p", "dca-c"] {
        let scenario = scenario(VANISHING, controller);
        let outcomes = if controller == "tcp-p" { everywhere(&scenario) } else { vec![run(&scenario)] };
        for outcome in outcomes {
            let gone = &outcome.flows[2];
            assert!((gone.stop_s - 25.0).abs() < 0.5, "{controller}, {}: {}", outcome.stack, gone.stop_s);
            assert_eq!(goodput(&outcome, "vanishing", 11.0, 40.0), 0.0);
            // While the vanished member is still in the group, the others take its share.
            let others = goodput(&outcome, "lasting", 15.0, 25.0);
            assert!(others > 17.5, "{controller}, {}: {others}", outcome.stack);
        }
    }
}

#[test]
fn acks_that_find_no_room_set_the_pace() {
    let _machine = crate::shared();
    // An ACK of 40 bytes per packet of 1000: k = 2 halves the rate of a window that does
    // not fill the queue of ACKs (spec: chan §11).
    let text = |back: f64| {
        format!(
            "duration_s = 30\npacket_bytes = 1000\noverhead_bytes = 0\nack_bytes = 40\n[dumbbell]\nrate_mbps = 16\n\
             rtt_ms = 44\nbuffer_packets = 50\n[dumbbell.back]\nrate_mbps = {back}\nbuffer_packets = 10\n\
             [[flow]]\ncontroller = \"under-test\"\n"
        )
    };
    let goodput_of = |back, controller| goodput(&run(&scenario(&text(back), controller)), "flow1", 10.0, 30.0);
    assert!(goodput_of(0.64, "vegas") > 15.5);
    assert!((goodput_of(0.32, "vegas") / 8.0 - 1.0).abs() < 0.02, "{}", goodput_of(0.32, "vegas"));
    // RoVegas takes what its ACKs waited out of its round trips.
    assert!(goodput_of(0.32, "rovegas") > 15.0);
}

const DYNAMIC: &str = "
duration_s = 20
[dumbbell]
rate_mbps = 20
rtt_ms = 40
buffer_bdp = 1
[[flow]]
name = \"long\"
controller = \"under-test\"
[[flow]]
name = \"burst\"
controller = \"reno\"
count = 3
transfer_bytes = 100_000
arrivals = { every_s = 5, times = 3 }
[[web]]
controller = \"reno\"
sessions = 3
session_gap_s = 1
pages = 3
objects = 4
";

#[test]
fn dynamic_flows_are_counted_together_on_every_stack() {
    let _machine = crate::shared();
    let scenario = scenario(DYNAMIC, "reno");
    for outcome in everywhere(&scenario) {
        let [long, burst, web] = &outcome.flows[..] else { panic!("{}", outcome.flows.len()) };
        assert!(long.transfers.is_none() && long.goodput_mbps > 10.0);
        let transfers = burst.transfers.unwrap();
        assert_eq!((transfers.started, transfers.completed), (9, 9), "{}", outcome.stack);
        // 84 packets from a window of 10 take four round trips and some.
        assert!((0.16..2.0).contains(&transfers.mean_s.unwrap()), "{transfers:?}");
        // s2n-quic's time begins with a microsecond.
        assert!(burst.start_s < 1e-5, "{}", burst.start_s);
        assert!((10.1..13.0).contains(&burst.stop_s), "{}", burst.stop_s);
        let megabits: f64 = burst.series.goodput_mbps.iter().sum::<f64>() * 0.04;
        assert!((megabits - 9.0 * 0.8).abs() < 1e-6, "nothing is counted twice or forgotten: {megabits}");
        let transfers = web.transfers.unwrap();
        assert_eq!((transfers.started, transfers.completed), (36, 36), "{}", outcome.stack);
    }
    assert_eq!(run(&scenario), run(&scenario));
}

#[test]
fn coexisting_in_one_l4s_queue() {
    let _machine = crate::shared();
    // Two scalable flows keep to the step; a classic one among them fills the buffer.
    let text = |flows: &str| {
        format!(
            "duration_s = 20\n[dumbbell]\nrate_mbps = 50\nrtt_ms = 20\nbuffer_bdp = 2\nqueue = \"l4s\"\n\
             [[flow]]\ncontroller = \"under-test\"\ncount = 2\n{flows}"
        )
    };
    let alone = run(&scenario(&text(""), "prague"));
    let mixed = run(&scenario(&text("[[flow]]\ncontroller = \"reno\"\necn = false\n"), "prague"));
    let (alone, mixed) = (&alone.queues[0], &mixed.queues[0]);
    // 1 ms is 5 packets.
    assert!(alone.mean_packets < 10.0 && alone.utilisation > 0.9 && alone.packets_dropped < 50, "{alone:?}");
    assert!(mixed.mean_packets > 50.0 && mixed.packets_dropped > 0);
}
