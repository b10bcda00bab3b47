//! BBR on paths that are hard for it.

use crate::common::scenario;
use windlass_controllers::{Span, Time};
use windlass_simulator::sim::{self, Simulation};

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

/// §5.3.4: a bandwidth that falls to a tenth leaves a queue of half a second; within some ten seconds ProbeRTT has drained it,
/// and the minimum RTT is the path's still. By the letter it becomes the queue's, and stays so for half a minute.
#[test]
fn a_bandwidth_that_falls_leaves_no_standing_queue() {
    let text = "duration_s = 40\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 100\nrtt_ms = 50\nbuffer_packets = 500\n\
                [[dumbbell.change]]\nat_s = 10\nrate_mbps = 10\n[[flow]]\ncontroller = \"under-test\"\n";
    let rtts = |controller| {
        let mut outcome = sim::run(&scenario(text, controller)).unwrap();
        let series = std::mem::take(&mut outcome.flows[0].series);
        let late = series.time_s.into_iter().zip(series.rtt_ms).filter(|(at, _)| *at > 22.5);
        late.filter_map(|(_, rtt)| rtt).collect::<Vec<f64>>()
    };
    let mean = |rtts: &[f64]| rtts.iter().sum::<f64>() / rtts.len() as f64;
    let ours = rtts("bbr");
    assert!(mean(&ours) < 65.0 && ours.iter().all(|rtt| *rtt < 120.0), "{ours:?}");
    let letter = rtts("bbr:profile=draft");
    assert!(mean(&letter) > 200.0, "{letter:?}");
}

/// §5.3.4.3, where every ACK brings marks: the path became longer, and the minimum RTT follows.
#[test]
fn marks_on_every_ack_do_not_keep_an_expired_minimum_rtt() {
    let text = "[dumbbell]\nrate_mbps = 20\nrtt_ms = 20\nbuffer_bdp = 4\n[[dumbbell.change]]\nat_s = 10\ndelay_ms = 90\n\
                [[dumbbell.fault]]\nkind = \"ce-storm\"\nat_s = 0.001\nfor_ms = 60000\npercent = 100\n\
                [[flow]]\ncontroller = \"under-test\"\necn = true\n";
    let goodput = stretch(text, "bbr", 0.0, 60.0).goodput;
    assert!(goodput > 15.5, "{goodput}");
}

/// Beside CUBIC without ECN behind a step of five packets it keeps a share.
#[test]
fn marks_of_a_queue_that_another_fills_leave_a_share() {
    let text = "[dumbbell]\nrate_mbps = 20\nrtt_ms = 20\nbuffer_bdp = 4\nqueue = { kind = \"step\", threshold_packets = 5 }\n\
                [[flow]]\ncontroller = \"under-test\"\necn = true\n[[flow]]\ncontroller = \"cubic\"\nstart_s = 2\n";
    let goodput = stretch(text, "bbr", 0.0, 60.0).goodput;
    assert!(goodput > 5.0, "{goodput}");
}
