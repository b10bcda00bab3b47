//! What marking queues and measuring trains make of the controllers that live by them.

use crate::common::scenario;
use windlass_simulator::outcome::Outcome;
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
