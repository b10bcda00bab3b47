//! BBR on paths that are hard for it.

use crate::common::scenario;
use windlass_controllers::{Span, Time};
use windlass_simulator::sim::Simulation;

/// What a flow did from `from_s` to `to_s`.
struct Stretch {
    /// Mean, Mbit/s.
    goodput: f64,
    lost: u64,
}

/// What the first flow of `text` did from `from_s` to `to_s`.
fn stretch(text: &str, controller: &str, from_s: f64, to_s: f64) -> Stretch {
    let text = format!("duration_s = {to_s}\n{text}");
    let mut simulation = Simulation::new(&scenario(&text, controller)).unwrap();
    let mut counts = |until_s| {
        simulation.run_until(Time::ZERO + Span::from_secs_f64(until_s));
        simulation.counts(0)
    };
    let (before, after) = (counts(from_s), counts(to_s));
    let bytes = (after.goodput_bytes - before.goodput_bytes) as f64;
    Stretch { goodput: 8e-6 * bytes / (to_s - from_s), lost: after.lost - before.lost }
}

/// `draft-ietf-ccwg-bbr §4.1.2.1.2`: each of the 200,000 packets in flight carries its state, so that Startup ends and
/// the path is full from then on, with no loss but Startup's.
#[test]
fn a_path_of_two_hundred_thousand_packets_is_filled() {
    for (rtt_ms, startup_s, to_s) in [(200, 5.7, 9.0), (50, 1.5, 3.0)] {
        let text = format!(
            "[dumbbell]\nrate_mbps = 10000\nrtt_ms = {rtt_ms}\nbuffer_bdp = 1\n[[flow]]\ncontroller = \"under-test\"\n"
        );
        let run = stretch(&text, "bbr", startup_s, to_s);
        assert!(run.goodput > 9000.0, "{rtt_ms} ms: {} Mbit/s", run.goodput);
        assert_eq!(run.lost, 0, "{rtt_ms} ms");
    }
}

/// §5.5.11: 5 % of the packets are overtaken by up to 10 ms and none is lost; every loss is spurious, and what the
/// flow gave up for it comes back.
#[test]
fn packets_overtaken_are_not_taken_for_a_bound() {
    let text = "[dumbbell]\nrate_mbps = 20\nrtt_ms = 50\nbuffer_bdp = 1\n[[dumbbell.fault]]\nkind = \"reordering\"\nat_s = 0.001\n\
                for_ms = 60000\npercent = 5\nby_ms = 10\n[[flow]]\ncontroller = \"under-test\"\n";
    let goodput = |controller| stretch(text, controller, 0.0, 60.0).goodput;
    assert!(goodput("bbr") > 17.0, "{}", goodput("bbr"));
    assert!(goodput("bbr:profile=draft") < 15.0, "by the letter: {}", goodput("bbr:profile=draft"));
}
