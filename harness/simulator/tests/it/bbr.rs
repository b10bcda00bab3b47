//! BBR on paths that are hard for it, and what its first version does to others.

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

/// Shares of the link of two flows from 10 s to 60 s.
fn shares(link: &str, flows: &str) -> [f64; 2] {
    let text = format!("duration_s = 60\n[dumbbell]\nrate_mbps = 20\n{link}\n{flows}");
    let mut simulation = Simulation::new(&scenario(&text, "bbr1")).unwrap();
    let mut bytes = |until_s| {
        simulation.run_until(Time::ZERO + Span::from_secs_f64(until_s));
        [0, 1].map(|flow| simulation.counts(flow).goodput_bytes as f64)
    };
    let (before, after) = (bytes(10.0), bytes(60.0));
    [0, 1].map(|flow| 8e-6 * (after[flow] - before[flow]) / 50.0 / 20.0)
}

/// What version 1 does to a flow that answers losses: before a buffer of a tenth of the product it has nearly all of the link,
/// before one of eight less than half (Ware et al., IMC 2019).
#[test]
fn version_1_takes_its_share_from_reno_in_a_shallow_buffer() {
    let beside_reno = "[[flow]]\ncontroller = \"under-test\"\n[[flow]]\ncontroller = \"reno\"\n";
    let [bbr, reno] = shares("rtt_ms = 40\nbuffer_bdp = 0.1", beside_reno);
    assert!(bbr > 0.7 && reno < 0.15, "{bbr} {reno}");
    let [deep, _] = shares("rtt_ms = 40\nbuffer_bdp = 8", beside_reno);
    assert!(deep < 0.5, "{deep}");
}

/// Of two flows the one with the longer RTT has more in the queue they keep, and more of the link (Hock, Bless and Zitterbart,
/// ICNP 2017).
#[test]
fn version_1_favours_the_longer_rtt() {
    let [short, long] = shares(
        "rtt_ms = 10\nbuffer_bdp = 20",
        "[[flow]]\ncontroller = \"under-test\"\n[[flow]]\ncontroller = \"under-test\"\nrtt_ms = 50\n",
    );
    assert!(long > 2.0 * short, "{short} {long}");
}

/// §4.3.5: every ten seconds four packets for 200 ms, some two per cent of the time.
#[test]
fn version_1_looks_for_the_minimum_rtt_every_ten_seconds() {
    let text = "duration_s = 60\nsample_ms = 50\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 2\n\
                [[flow]]\ncontroller = \"under-test\"\n";
    let outcome = sim::run(&scenario(text, "bbr1")).unwrap();
    let flow = &outcome.flows[0];
    let rates = &flow.series.goodput_mbps;
    let dips = rates.windows(2).filter(|pair| pair[0] >= 5.0 && pair[1] < 5.0).count();
    assert!((4..=6).contains(&dips), "{dips}: {rates:?}");
    assert!(flow.goodput_mbps > 18.5, "{}", flow.goodput_mbps);
}
