//! Our CUBIC beside each stack's own, on the evaluation's clean and lossy links: at least
//! 98 % of its goodput, at an RTT that is hardly longer.

use windlass::evaluation::Stack;
use windlass::outcome::FlowOutcome;
use windlass::scenario::Scenario;

/// quinn's CUBIC forgets what is left of its increment whenever it grows by a datagram, and
/// never grows by more per window than that; RFC 9438 does neither, fills the buffer
/// sooner and waits a little longer in it.
const LONGER: f64 = 1.05;

fn run(stack: Stack, text: &str, controller: &str, seed: u64) -> FlowOutcome {
    let scenario = Scenario::read("natives", text, Some(controller)).unwrap();
    let scenario = Scenario { seed, ..scenario };
    let mut outcome = stack.run(&scenario, None, &|_| false).unwrap_or_else(|error| panic!("{error:?}"));
    outcome.flows.remove(0)
}

/// Mean goodput and mean RTT over the seeds.
fn means(stack: Stack, text: &str, controller: &str, seeds: u64) -> (f64, f64) {
    let flows: Vec<FlowOutcome> = (1..=seeds).map(|seed| run(stack, text, controller, seed)).collect();
    let mean = |of: &dyn Fn(&FlowOutcome) -> f64| flows.iter().map(of).sum::<f64>() / flows.len() as f64;
    (mean(&|flow| flow.goodput_mbps), mean(&|flow| flow.rtt_mean_ms.unwrap_or(f64::INFINITY)))
}

#[test]
fn our_cubic_is_no_worse_than_the_stacks_own() {
    let links = [
        ("clean", include_str!("../scenarios/clean-link.toml"), 1),
        ("1 % loss", include_str!("../scenarios/random-loss.toml"), 4),
    ];
    for stack in Stack::ALL.iter().copied().filter(|stack| stack.natives().contains(&"cubic")) {
        for (link, text, seeds) in links {
            let (ours, our_rtt) = means(stack, text, "cubic", seeds);
            let (own, own_rtt) = means(stack, text, "native:cubic", seeds);
            let what = format!(
                "{}, {link}: {ours:.3} Mbit/s at {our_rtt:.2} ms, its own {own:.3} at {own_rtt:.2}",
                stack.name()
            );
            println!("{what}");
            assert!(ours >= 0.98 * own, "{what}");
            assert!(our_rtt <= LONGER * own_rtt, "{what}");
        }
    }
}
