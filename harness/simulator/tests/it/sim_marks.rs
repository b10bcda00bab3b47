//! What marking queues and measuring trains make of the controllers that live by them; NF-TCP on a link with two-class
//! RED (`spec: arumaithurai §8`, I26 to I28), at a tenth of the document's 600 Mbit/s.

use crate::common::scenario;

use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::sim;

fn link(queue: &str) -> String {
    format!(
        "duration_s = 20\nsample_ms = 100\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 2\n{queue}\n\
         [[flow]]\ncontroller = \"under-test\"\n"
    )
}

fn run(queue: &str, controller: &str) -> Outcome {
    sim::run(&scenario(&link(queue), controller)).unwrap()
}

/// Mean queue over the second half of the run, packets.
fn queued(outcome: &Outcome) -> f64 {
    let series = &outcome.queues[0].series.packets;
    let settled = &series[series.len() / 2..];
    settled.iter().sum::<f64>() / settled.len() as f64
}

/// `RFC 8257 §5`: a queue marked above K stays near K, and the link full.
#[test]
fn dctcp_keeps_a_queue_near_the_threshold_it_is_marked_at() {
    for k in [15, 30] {
        let outcome = run(&format!("queue = {{ kind = \"step\", threshold_packets = {k} }}"), "dctcp");
        let (queue, k) = (queued(&outcome), f64::from(k));
        assert!(outcome.queues[0].utilisation > 0.95, "{}", outcome.queues[0].utilisation);
        assert!(queue > 0.4 * k && queue < 1.3 * k, "{queue} of {k}");
        assert_eq!(outcome.flows[0].packets_lost, 0);
    }
}

/// `RFC 9331`: next to no queue with a shallow threshold; nearly all of the link.
#[test]
fn prague_keeps_a_queue_shallow() {
    let outcome = run("queue = { kind = \"step\", threshold_packets = 4 }", "prague");
    assert!(queued(&outcome) < 6.0, "{}", queued(&outcome));
    assert!(outcome.queues[0].utilisation > 0.85, "{}", outcome.queues[0].utilisation);
    assert_eq!(outcome.flows[0].packets_lost, 0);
}

/// `spec: arumaithurai §5.6`: the rate becomes what the link has, and no queue is left
/// standing; by the letter of Eq. 2.6 one grows.
#[test]
fn rapid_finds_the_links_rate_without_filling_its_queue() {
    let outcome = run("", "rapid");
    assert!(outcome.queues[0].utilisation > 0.85, "{}", outcome.queues[0].utilisation);
    assert!(queued(&outcome) < 20.0, "{}", queued(&outcome));
    let literal = run("", "rapid:turn=rise");
    assert!(queued(&literal) > 1.5 * queued(&outcome), "{} {}", queued(&literal), queued(&outcome));
}

/// A BDP of 100 ms.
const BUFFER: f64 = 750.0;
/// Averages from which low-priority packets are marked now and then, and always.
const LOW: (f64, f64) = (7.0, 375.0);

fn run_nf_tcp(duration_s: u32, flows: &str) -> Outcome {
    let text = format!(
        "duration_s = {duration_s}\nsample_ms = 100\npacket_bytes = 1000\noverhead_bytes = 0\n\
         [dumbbell]\nrate_mbps = 60\nrtt_ms = 100\nbuffer_packets = {BUFFER}\nqueue = \"two-class-red\"\n\
         [[flow]]\ncontroller = \"under-test\"\n{flows}"
    );
    sim::run(&scenario(&text, "nf-tcp:profile=paper")).unwrap()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// I26: beside TCP that fills the link, the window is back at its least, two packets, while
/// the average queue is where every low-priority packet is marked.
#[test]
fn i26_it_gives_way_altogether() {
    let outcome = run_nf_tcp(200, "[[flow]]\ncontroller = \"reno\"\necn = false\nstart_s = 20\n");
    let (queue, windows) = (&outcome.queues[0].series.packets, &outcome.flows[0].series.cwnd_packets);
    // Down from the whole link takes 45 cuts of an eighth, one per round trip of up to 0.2 s.
    let down = 100;
    let full: Vec<f64> = (down..windows.len())
        .filter(|&i| queue[i - down..i].iter().all(|&queued| queued >= LOW.1))
        .map(|i| windows[i])
        .collect();
    assert!(full.len() > 100, "{}", full.len());
    // A packet more per round trip until the next mark is answered.
    assert!(full.iter().all(|&window| window <= 3.0) && full.contains(&2.0), "{full:.1?}");
}

/// I27: alone it keeps less queued than what it is marked from, and a train.
#[test]
fn i27_alone_it_leaves_the_queue_empty() {
    let outcome = run_nf_tcp(100, "");
    let queued = mean(&outcome.queues[0].series.packets);
    assert!(queued < LOW.0 + 15.0, "{queued} packets");
    assert!(outcome.queues[0].utilisation > 0.8, "{}", outcome.queues[0].utilisation);
}

/// I28: two of them share equally.
#[test]
fn i28_two_are_equals() {
    let outcome = run_nf_tcp(300, "[[flow]]\ncontroller = \"under-test\"\nstart_s = 20\n");
    let late = |flow: &FlowOutcome| mean(&flow.series.goodput_mbps[2000..]);
    let (one, other) = (late(&outcome.flows[0]), late(&outcome.flows[1]));
    let jain = (one + other) * (one + other) / (2.0 * (one * one + other * other));
    assert!(jain > 0.95, "Jain's index of {one} and {other} Mbit/s is {jain}");
}
