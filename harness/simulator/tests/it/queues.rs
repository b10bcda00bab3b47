//! Queues and links with flows in front of them, and what waits for its application.

use windlass_simulator::outcome::{FrameOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

/// 40 Mbit/s, 20 ms and 20 BDPs of buffer for 30 s.
fn run(link: &str, flows: &[&str]) -> Outcome {
    let flows: String = flows.iter().map(|flow| format!("[[flow]]\n{flow}\n")).collect();
    let text = format!("duration_s = 30\n[dumbbell]\nrate_mbps = 40\nrtt_ms = 20\nbuffer_bdp = 20\n{link}\n{flows}");
    sim::run(&Scenario::read("queues", &text, None).unwrap()).unwrap()
}

/// `RFC 9332 §1.1`: about equal rates, and L4S waits far less than Classic, which waits for about the target.
#[test]
fn prague_and_reno_share_a_dual_queue_about_equally() {
    let outcome = run("queue = \"dualpi2\"", &["controller = \"prague\"", "controller = \"reno\""]);
    let [l4s, classic] = &outcome.flows[..] else { panic!() };
    let ratio = l4s.goodput_mbps / classic.goodput_mbps;
    assert!((0.5..2.0).contains(&ratio), "{} and {}", l4s.goodput_mbps, classic.goodput_mbps);
    assert!(outcome.queues[0].utilisation > 0.9);
    let waits = |flow: usize| outcome.flows[flow].rtt_mean_ms.unwrap() - 20.0;
    assert!(waits(0) < 4.0 && waits(1) > 2.0 * waits(0) && waits(1) < 25.0, "{} and {} ms", waits(0), waits(1));
    assert_eq!(l4s.packets_lost, 0);
}

#[test]
fn pie_keeps_flows_near_its_target_and_the_link_full() {
    let flows = ["controller = \"reno\"\ncount = 10"];
    let outcome = run("queue = \"pie\"", &flows);
    let waits = outcome.flows.iter().map(|flow| flow.rtt_mean_ms.unwrap() - 20.0).sum::<f64>() / 10.0;
    assert!((7.0..22.0).contains(&waits), "{waits} ms");
    assert!(outcome.queues[0].utilisation > 0.95, "{}", outcome.queues[0].utilisation);
}

#[test]
fn round_robin_gives_flows_of_different_rtts_equal_rates() {
    let flows = ["controller = \"cubic\"", "controller = \"cubic\"\nrtt_ms = 120"];
    let outcome = run("queue = \"drr\"", &flows);
    let rates: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput_mbps).collect();
    assert!((rates[0] / rates[1] - 1.0).abs() < 0.1, "{rates:?}");
}

#[test]
fn a_policer_and_a_shaper_let_their_rate_pass() {
    let policer = "queue = { kind = \"policer\", rate_mbps = 5, burst_bytes = 30_000 }";
    let goodput = run(policer, &["controller = \"cubic\""]).flows[0].goodput_mbps;
    assert!((3.5..5.01).contains(&goodput), "{goodput}");
    // 40 Mbit/s, and 20 MB more of the bucket over 30 s, of 1228 bytes 1200 are data.
    let shaper = "shaper = { burst_bytes = 20_000_000, peak_mbps = 200 }";
    let goodput = run(shaper, &["controller = \"cubic\""]).flows[0].goodput_mbps;
    assert!((43.0..45.0).contains(&goodput), "{goodput}");
}

fn frames(link: &str, flows: &[&str]) -> FrameOutcome {
    run(link, flows).flows[0].frames.unwrap()
}

const VIDEO: &str = "controller = \"cubic\"\napplication_mbps = 4\nframes_per_s = 25";

#[test]
fn frames_take_the_path_and_their_own_length() {
    // A frame of 20 kB is 17 packets: 4.2 ms at 40 Mbit/s and 10 ms of delay, and what pacing adds.
    let alone = frames("", &[VIDEO]);
    assert_eq!((alone.written, alone.late), (750, 0));
    assert!(alone.delivered >= 749);
    let median = alone.delay_median_ms.unwrap();
    assert!((14.0..30.0).contains(&median), "{median}");
    // Key frames five times as large take longer, and the rate is the same.
    let keyed = run("", &[&format!("{VIDEO}\nkey_frame_every = 25")]);
    let keys = keyed.flows[0].frames.unwrap();
    assert!(keys.delay_p99_ms.unwrap() > alone.delay_p99_ms.unwrap() + 5.0, "{keys:?} {alone:?}");
    assert!((keyed.flows[0].goodput_mbps - 4.0).abs() < 0.05, "{}", keyed.flows[0].goodput_mbps);
}

#[test]
fn a_bulk_flow_makes_frames_late_unless_queues_are_kept_apart() {
    let bulk = "controller = \"cubic\"";
    let behind = frames("", &[VIDEO, bulk]);
    let apart = frames("queue = \"fq-codel\"", &[VIDEO, bulk]);
    assert!(behind.late > 300, "twenty BDPs are 400 ms: {behind:?}");
    assert!(apart.late < 10 && apart.delay_p95_ms.unwrap() < 60.0, "{apart:?}");
}

#[test]
fn a_source_pauses_and_resumes() {
    let flow = "controller = \"cubic\"\napplication_mbps = 8\non_s = 1\noff_s = 2";
    let outcome = run("", &[flow]);
    let flow = &outcome.flows[0];
    // A third of the time.
    assert!((flow.goodput_mbps - 8.0 / 3.0).abs() < 0.03, "{}", flow.goodput_mbps);
    let at = |second: f64| {
        let point = flow.series.time_s.iter().position(|time| *time >= second).unwrap();
        flow.series.goodput_mbps[point]
    };
    assert!(at(0.5) > 7.0 && at(3.5) > 7.0 && at(27.5) > 7.0, "on");
    assert!(at(1.5) == 0.0 && at(2.5) == 0.0 && at(29.0) == 0.0, "off");
}
