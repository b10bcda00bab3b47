//! Controllers for media: the queues they keep, and encoders that follow their target rate; and clients that ask for a
//! video in chunks.

use crate::common::scenario;

use windlass_simulator::outcome::{FlowOutcome, VideoOutcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

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

/// RFC 8698 §4.3 equation 5: at rest the signal is XREF · RMAX / r_ref.
#[test]
fn nada_rests_at_the_queue_of_equation_5() {
    for (mbps, rest) in [(0.75, 20.0), (0.375, 40.0)] {
        let flow = run("nada", mbps, "");
        let seen = queue(&flow);
        assert!((0.7 * rest..1.3 * rest).contains(&seen), "{mbps} Mbit/s: {seen} ms for {rest}");
        assert!(flow.goodput_mbps > 0.85 * mbps, "{mbps} Mbit/s: {}", flow.goodput_mbps);
        let twice = queue(&run("nada:xref=20", mbps, ""));
        assert!(twice > 1.5 * seen, "{mbps} Mbit/s: {twice} ms with twice the XREF of {seen}");
    }
    let bounded = run("nada:profile=paper", 20.0, "").goodput_mbps;
    assert!((1.2..1.5).contains(&bounded), "RMAX is 1.5 Mbit/s: {bounded}");
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
    for controller in ["scream", "nada", "gcc"] {
        for mbps in [2.0, 5.0] {
            let frames = run(controller, mbps, encoder).frames.unwrap();
            let encoded = frames.encoded_mbps.unwrap();
            assert!((0.65 * mbps..mbps).contains(&encoded), "{controller}, {mbps} Mbit/s: {frames:?}");
            assert!(frames.delay_p95_ms.is_some_and(|delay| delay < 175.0), "{controller}, {mbps} Mbit/s: {frames:?}");
        }
    }
}

/// Chunks of 2 s in four rates, and a client that keeps 12 s of them.
const VIDEO: &str = "video = { chunk_s = 2, rates_mbps = [0.5, 1, 2, 4], buffer_s = 12 }";

/// A minute of a video by `controller` on `link`, with 40 ms.
fn watch_video(link: &str, controller: &str) -> FlowOutcome {
    let text = format!(
        "duration_s = 60\n[dumbbell]\nrtt_ms = 40\nbuffer_bdp = 1\n{link}\n[[flow]]\ncontroller = \"{controller}\"\n{VIDEO}\n"
    );
    let scenario = Scenario::read("video", &text, None).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario).unwrap().flows.remove(0)
}

fn watched(link: &str, controller: &str) -> VideoOutcome {
    watch_video(link, controller).video.unwrap()
}

#[test]
fn a_client_takes_the_rate_its_link_allows_and_never_waits() {
    for controller in ["cubic", "bbr", "copa"] {
        let wide = watch_video("rate_mbps = 20", controller);
        let video = wide.video.unwrap();
        // It has 12 s ahead, and one chunk is under way at most.
        assert!((34..=36).contains(&video.chunks), "{controller}: {video:?}");
        assert_eq!((video.stalls, video.stalled_s), (0, 0.0), "{controller}");
        // The request, the first chunk of 125 kB at 20 Mbit/s, and slow start.
        assert!(video.startup_s.is_some_and(|startup| (0.09..0.6).contains(&startup)), "{controller}: {video:?}");
        assert!(video.rate_mbps.is_some_and(|rate| rate > 3.5) && video.switches <= 4, "{controller}: {video:?}");
        let narrow = watched("rate_mbps = 1.5", controller);
        assert!(narrow.rate_mbps.is_some_and(|rate| (0.8..=1.0).contains(&rate)), "{controller}: {narrow:?}");
    }
}

#[test]
fn a_link_below_the_lowest_rate_has_it_wait() {
    let video = watched("rate_mbps = 0.4", "cubic");
    // A chunk of 2 s takes 2.5 s and its packets' headers.
    assert!(video.stalls >= 15 && (10.0..25.0).contains(&video.stalled_s), "{video:?}");
    assert_eq!((video.switches, video.rate_mbps), (0, Some(0.5)));
}

#[test]
fn a_gap_longer_than_what_it_has_is_seen_once() {
    let fault = "fault = [{ kind = \"blackout\", at_s = 30, for_ms = 14_000 }]";
    let video = watched(&format!("rate_mbps = 20\n{fault}"), "cubic");
    assert!(video.stalls == 1 && (1.0..18.0).contains(&video.stalled_s), "{video:?}");
}
