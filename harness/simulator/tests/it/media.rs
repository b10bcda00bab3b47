//! Controllers for media: the queues they keep, and encoders that follow their target rate.

use windlass_simulator::outcome::FlowOutcome;
use windlass_simulator::sim;

use crate::common::scenario;

/// A minute on a link of `mbps` and 50 ms with a buffer of 2 s, with what `application` writes.
fn run(controller: &str, mbps: f64, application: &str) -> FlowOutcome {
    let text = format!(
        "duration_s = 60\nsample_ms = 100\n[dumbbell]\nrate_mbps = {mbps}\nrtt_ms = 50\nbuffer_bdp = 40\n\
         [[flow]]\ncontroller = \"under-test\"\n{application}"
    );
    sim::run(&scenario(&text, controller)).unwrap().flows.remove(0)
}

/// Mean of the RTTs of the last third, less the least, ms.
fn queue(flow: &FlowOutcome) -> f64 {
    let rtts: Vec<f64> = flow.series.rtt_ms.iter().flatten().copied().collect();
    let last = &rtts[2 * rtts.len() / 3..];
    last.iter().sum::<f64>() / last.len() as f64 - flow.rtt_min_ms.unwrap()
}

/// draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2.1: the averaged delay is brought below the target of 60 ms and to no less than half of it.
#[test]
fn scream_keeps_its_queue_below_the_target() {
    for mbps in [1.0, 5.0, 20.0] {
        let flow = run("scream:competing=off", mbps, "");
        let seen = queue(&flow);
        assert!(seen < 60.0, "{mbps} Mbit/s: {seen} ms");
        assert!(flow.goodput_mbps > 0.8 * mbps, "{mbps} Mbit/s: {}", flow.goodput_mbps);
    }
}

/// An encoder that follows the target uses most of the link, and its frames wait for little more than the targets of the queue: 50 ms for a frame's own
/// packets at 2 Mbit/s, 25 ms of the path, and 60 ms.
#[test]
fn an_encoder_follows_the_target_rate() {
    let encoder = "application_mbps = 8\nframes_per_s = 20\nencoder_least_mbps = 0.3\nencoder_share = 0.9\n";
    for controller in ["scream"] {
        for mbps in [2.0, 5.0] {
            let frames = run(controller, mbps, encoder).frames.unwrap();
            let encoded = frames.encoded_mbps.unwrap();
            assert!((0.65 * mbps..mbps).contains(&encoded), "{controller}, {mbps} Mbit/s: {frames:?}");
            assert!(frames.delay_p95_ms.is_some_and(|delay| delay < 175.0), "{controller}, {mbps} Mbit/s: {frames:?}");
        }
    }
}
