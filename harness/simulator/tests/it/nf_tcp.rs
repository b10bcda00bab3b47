//! NF-TCP on a link with two-class RED (`spec: arumaithurai §8`, I26 to I28), at a tenth of
//! the document's 600 Mbit/s.

use crate::common::scenario;
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::sim;

/// A BDP of 100 ms.
const BUFFER: f64 = 750.0;
/// Averages from which low-priority packets are marked now and then, and always.
const LOW: (f64, f64) = (7.0, 375.0);

fn run(duration_s: u32, flows: &str) -> Outcome {
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
    let outcome = run(200, "[[flow]]\ncontroller = \"reno\"\necn = false\nstart_s = 20\n");
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
    let outcome = run(100, "");
    let queued = mean(&outcome.queues[0].series.packets);
    assert!(queued < LOW.0 + 15.0, "{queued} packets");
    assert!(outcome.queues[0].utilisation > 0.8, "{}", outcome.queues[0].utilisation);
}

/// I28: two of them share equally.
#[test]
fn i28_two_are_equals() {
    let outcome = run(300, "[[flow]]\ncontroller = \"under-test\"\nstart_s = 20\n");
    let late = |flow: &FlowOutcome| mean(&flow.series.goodput_mbps[2000..]);
    let (one, other) = (late(&outcome.flows[0]), late(&outcome.flows[1]));
    let jain = (one + other) * (one + other) / (2.0 * (one * one + other * other));
    assert!(jain > 0.95, "Jain's index of {one} and {other} Mbit/s is {jain}");
}
