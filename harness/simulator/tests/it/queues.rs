//! Queues and links with flows in front of them.

use windlass_simulator::outcome::Outcome;
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
