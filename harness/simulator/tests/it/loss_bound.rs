//! What losses do to windows that delay rules, where delay says nothing: no queue can form, the queue
//! is always there, or the path was another for a while (`RFC 2914 §5`; `RFC 9743 §5.1.1, §5.1.3`).

use windlass_simulator::outcome::Outcome;
use windlass_simulator::sim;

use crate::common::scenario;

/// Schemes that answer delay or measure the rate, and what they do without marks.
pub const DELAYED: [&str; 20] = [
    "copa",
    "fast",
    "quick-vegas",
    "vegas",
    "nice",
    "tri-s",
    "card",
    "dual",
    "dca-s",
    "ctcp",
    "tcp-africa",
    "rovegas:fallback=on",
    "red-vegas:fallback=on",
    "enhanced-vegas:fallback=on",
    "ledbat:fallback=on",
    "ledbat++",
    "tcp-lp:fallback=on",
    "rapid",
    "nf-tcp",
    "c4",
];

fn run(text: &str, controller: &str) -> Outcome {
    sim::run(&scenario(text, controller)).unwrap()
}

/// `count` flows `stagger` s apart at a bottleneck.
fn dumbbell(seconds: u32, rate_mbps: f64, rtt_ms: u32, buffer: &str, flows: &str) -> String {
    format!(
        "duration_s = {seconds}\n[dumbbell]\nrate_mbps = {rate_mbps}\nrtt_ms = {rtt_ms}\n{buffer}\n\
         [[flow]]\ncontroller = \"under-test\"\n{flows}\n"
    )
}

/// Share of the packets sent that the bottleneck dropped.
fn dropped(outcome: &Outcome) -> f64 {
    let sent: u64 = outcome.flows.iter().map(|flow| flow.packets_sent).sum();
    let dropped: u64 = outcome.queues.iter().map(|queue| queue.packets_dropped).sum();
    dropped as f64 / sent as f64
}

/// Jain's index of the flows' goodputs.
fn fairness(outcome: &Outcome) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for flow in &outcome.flows {
        sum += flow.goodput_mbps;
        squares += flow.goodput_mbps * flow.goodput_mbps;
    }
    sum * sum / (outcome.flows.len() as f64 * squares)
}

/// A path that holds fewer packets than a flow has in flight at least: its queue never empties, and
/// nobody else fills it (`Copa (NSDI 2018) §2.2`).
#[test]
fn copa_alone_on_a_slow_link_keeps_its_queue_short() {
    for (rate, rtt, buffer, most_ms) in [(0.128, 100, 50, 400.0), (0.064, 100, 10, 650.0), (0.256, 100, 50, 250.0)] {
        let text = dumbbell(300, rate, rtt, &format!("buffer_packets = {buffer}"), "");
        let outcome = run(&text, "copa");
        let mean = outcome.flows[0].rtt_mean_ms.unwrap();
        assert!(dropped(&outcome) <= 0.02, "{rate}: {}", dropped(&outcome));
        assert!(mean <= most_ms, "{rate}: {mean} ms");
        let used = outcome.flows[0].goodput_mbps / rate;
        assert!(used > 0.9, "{rate}: {used}");
    }
}

#[test]
fn ten_copa_flows_share_a_queue_however_they_begin() {
    for stagger in [0.0, 0.002, 0.02, 0.06, 0.35, 1.0] {
        for seed in [1, 2] {
            let flows = format!("count = 10\nstagger_s = {stagger}");
            let text = format!("seed = {seed}\n{}", dumbbell(30, 100.0, 20, "buffer_bdp = 1", &flows));
            let outcome = run(&text, "copa");
            let (lost, fair) = (dropped(&outcome), fairness(&outcome));
            assert!(lost <= 0.04, "{stagger} s apart, seed {seed}: {lost} lost");
            assert!(fair >= 0.9, "{stagger} s apart, seed {seed}: {fair}");
        }
    }
}

/// A hundred flows on a buffer that holds two packets of each.
#[test]
fn a_hundred_flows_lose_at_most_twice_what_reno_loses() {
    let text = dumbbell(20, 100.0, 20, "buffer_bdp = 1", "count = 100\nstagger_s = 0.02");
    let reno = dropped(&run(&text, "reno"));
    for controller in DELAYED {
        let lost = dropped(&run(&text, controller));
        assert!(lost <= 2.0 * reno, "{controller}: {lost}, reno {reno}");
    }
}

/// No queue can form, as at a policer: the RTT stays whatever is sent.
#[test]
fn without_a_buffer_losses_stay_few() {
    for buffer in 0..=4 {
        let text = dumbbell(20, 20.0, 40, &format!("buffer_packets = {buffer}"), "");
        for controller in DELAYED {
            let lost = dropped(&run(&text, controller));
            assert!(lost <= 0.05, "{controller}, {buffer} packets: {lost}");
        }
    }
}

/// Without the bound each of the above collapses: what the tests see is the bound's doing.
#[test]
fn without_the_bound_they_collapse() {
    let policer = dumbbell(3, 20.0, 40, "buffer_packets = 0", "");
    for (controller, least) in [("copa", 0.5), ("fast", 0.2)] {
        let lost = dropped(&run(&policer, &format!("{controller}:loss_bound=0")));
        assert!(lost > least, "{controller}: {lost}");
    }
    let lost = dropped(&run(&policer, "copa:profile=paper"));
    assert!(lost > 0.5, "the document has no bound: {lost}");
    let many = dumbbell(20, 100.0, 20, "buffer_bdp = 1", "count = 100\nstagger_s = 0.02");
    assert!(dropped(&run(&many, "copa:loss_bound=0")) > 0.3);
    let slow = dumbbell(300, 0.128, 100, "buffer_packets = 50", "");
    let outcome = run(&slow, "copa:alone=off");
    assert!(outcome.flows[0].rtt_mean_ms.unwrap() > 1000.0, "it competes with nobody");
}

/// Random loss of less than the share moves nothing (`Copa (NSDI 2018) §5`).
#[test]
fn random_loss_below_the_share_leaves_copa_alone() {
    for percent in [0.1, 1.0] {
        let text = format!(
            "duration_s = 30\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\nloss_percent = {percent}\n\
             [[flow]]\ncontroller = \"under-test\"\n"
        );
        let (bounded, free) = (run(&text, "copa"), run(&text, "copa:loss_bound=0"));
        let ratio = bounded.flows[0].goodput_mbps / free.flows[0].goodput_mbps;
        assert!(ratio > 0.99, "{percent} %: {ratio}");
    }
}

/// The path is 25 times as long from 5 s on, and as before from `back` on.
fn excursion(back: u32) -> String {
    format!(
        "duration_s = {}\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_packets = 81\n\
         [[dumbbell.change]]\nat_s = 5\ndelay_ms = 980\n[[dumbbell.change]]\nat_s = {back}\ndelay_ms = 20\n\
         [[flow]]\ncontroller = \"under-test\"\n",
        back + 25
    )
}

#[test]
fn copa_is_itself_again_after_a_path_was_longer() {
    for back in [8, 15, 20, 22, 24, 26, 28, 30, 33] {
        let text = excursion(back);
        let (copa, reno) = (run(&text, "copa"), run(&text, "reno"));
        assert!(dropped(&copa) <= 2.0 * dropped(&reno), "back at {back} s: {} {}", dropped(&copa), dropped(&reno));
        let later = &copa.flows[0].series.goodput_mbps[back as usize + 10..];
        assert!(later.iter().all(|rate| *rate >= 0.9 * 19.5), "back at {back} s: {later:?}");
    }
}
