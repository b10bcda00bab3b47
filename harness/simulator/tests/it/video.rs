//! Clients that ask for a video in chunks.

use windlass_simulator::outcome::{FlowOutcome, VideoOutcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

/// Chunks of 2 s in four rates, and a client that keeps 12 s of them.
const VIDEO: &str = "video = { chunk_s = 2, rates_mbps = [0.5, 1, 2, 4], buffer_s = 12 }";

/// A minute of a video by `controller` on `link`, with 40 ms.
fn run(link: &str, controller: &str) -> FlowOutcome {
    let text = format!(
        "duration_s = 60\n[dumbbell]\nrtt_ms = 40\nbuffer_bdp = 1\n{link}\n[[flow]]\ncontroller = \"{controller}\"\n{VIDEO}\n"
    );
    let scenario = Scenario::read("video", &text, None).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario).unwrap().flows.remove(0)
}

fn watched(link: &str, controller: &str) -> VideoOutcome {
    run(link, controller).video.unwrap()
}

#[test]
fn a_client_takes_the_rate_its_link_allows_and_never_waits() {
    for controller in ["cubic", "bbr", "copa"] {
        let wide = run("rate_mbps = 20", controller);
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
