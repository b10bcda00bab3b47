//! A run on several threads is the run on one, to the bit.

use std::io::{Read, Seek};

use proptest::prelude::*;
use windlass_controllers::Time;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{QlogSettings, Simulation};

/// Keys of links, of which `{}` is the rate.
const LINKS: [&str; 7] = [
    "buffer_packets = 40",
    "buffer_packets = 300",
    "buffer_packets = 100\nloss_percent = 1",
    "buffer_packets = 100\njitter_ms = 2",
    "buffer_packets = 200\nqueue = { kind = \"red\", min_th_packets = 5, max_th_packets = 50, gentle = true }",
    "buffer_packets = 200\nqueue = { kind = \"step\", threshold_packets = 10 }",
    "buffer_packets = 200\nqueue = \"codel\"",
];
const CONTROLLERS: [&str; 6] = ["reno", "cubic", "bbr", "copa", "dctcp", "vegas"];

/// Routers in line: flows over one hop, over two and over all, and cross traffic over the middle.
fn parking_lot(links: &[usize], controllers: &[usize], delay_ms: u64, seed: u64) -> String {
    let mut text = format!("duration_s = 1.5\nsample_ms = 130\nseed = {seed}\n");
    for (hop, keys) in links.iter().enumerate() {
        for way in ["forth", "back"] {
            let link = format!("rate_mbps = {}\ndelay_ms = {}\n{}", 300 + 7 * hop, delay_ms + hop as u64, LINKS[*keys]);
            text.push_str(&format!("[[link]]\nname = \"{way}-{hop}\"\n{link}\n"));
        }
    }
    let mut flows = 0;
    let mut flow = |hops: std::ops::Range<usize>, count: usize| {
        let forth: Vec<String> = hops.clone().map(|hop| format!("forth-{hop}")).collect();
        let back: Vec<String> = hops.rev().map(|hop| format!("back-{hop}")).collect();
        let controller = CONTROLLERS[controllers[flows % controllers.len()]];
        flows += 1;
        format!(
            "[[flow]]\ncontroller = {controller:?}\ncount = {count}\nroute = {forth:?}\nreturn_route = {back:?}\nstart_jitter_s = 0.2\n"
        )
    };
    let all = links.len();
    let mut flows = vec![flow(0..all, 3), flow(1..3, 3)];
    flows.extend((0..all).map(|hop| flow(hop..hop + 1, 4)));
    text.push_str(&flows.concat());
    text + "[[traffic]]\nname = \"cross\"\nkind = \"poisson\"\nrate_mbps = 40\nroute = [\"forth-1\", \"forth-2\"]\n"
}

/// The result with so many threads, how many there were, and the trace of a flow over all hops.
fn outcome(text: &str, threads: usize) -> (Outcome, usize, String) {
    let mut scenario = Scenario::read("parking lot", text, None).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    scenario.threads = threads;
    let mut simulation = Simulation::new(&scenario).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let trace = simulation.qlog(0, file.try_clone().unwrap(), QlogSettings::default());
    // Stops that are no points of the series change nothing.
    simulation.run_until(Time(123_456_789));
    let used = simulation.threads();
    let packets = simulation.packet_counts();
    assert_eq!(packets.sent, packets.delivered + packets.gone + packets.held);
    let outcome = simulation.finish();
    trace.finish().unwrap();
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    (outcome, used, text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn threads_change_nothing(
        links in proptest::collection::vec(0..LINKS.len(), 4..6),
        controllers in proptest::collection::vec(0..CONTROLLERS.len(), 1..4),
        delay_ms in 20u64..40,
        seed in 0u64..1000,
    ) {
        let text = parking_lot(&links, &controllers, delay_ms, seed);
        let (alone, one, trace) = outcome(&text, 1);
        prop_assert_eq!(one, 1);
        for threads in [2, 3] {
            let (together, several, same_trace) = outcome(&text, threads);
            // CoDel's queue lies with what follows, which may leave one piece.
            prop_assert!(several > 1 || threads > 2 || links.contains(&6));
            prop_assert_eq!(&together, &alone);
            prop_assert!(same_trace == trace, "traces differ");
        }
    }
}

#[test]
fn a_parking_lot_is_cut_and_what_depends_on_itself_is_not() {
    let longer = parking_lot(&[0, 1, 0, 1, 0], &[0], 20, 1);
    assert_eq!((outcome(&longer, 2).1, outcome(&longer, 3).1), (2, 3));
    let plain = parking_lot(&[0, 1, 0, 1], &[0], 20, 1);
    assert_eq!(outcome(&plain, 2).1, 2);
    // A queue that decides when packets leave is in one part with what follows; all links are such.
    assert_eq!(outcome(&parking_lot(&[6, 6, 6, 6], &[0], 20, 1), 2).1, 1);
    assert_eq!(outcome(&plain.replace("start_jitter_s = 0.2\n", "group = \"one\"\n").replace("reno", "cm"), 2).1, 1);
    let dumbbell = "duration_s = 1\n[dumbbell]\nrate_mbps = 1000\nrtt_ms = 50\nbuffer_bdp = 1\n[[flow]]\ncontroller = \"reno\"\ncount = 20\n";
    assert_eq!(outcome(dumbbell, 2).1, 1, "all flows meet at one link");
    assert_eq!(
        outcome(&plain.replace("rate_mbps = 3", "rate_mbps = 0.3"), 2).1,
        1,
        "too few packets to go on alone for long"
    );
}
