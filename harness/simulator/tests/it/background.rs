//! What background transports promise, on links where it can be seen.

use crate::common::scenario;
use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::sim;

/// A buffer of 400 ms: five times the larger target.
const LINK: &str = "packet_bytes = 1250\noverhead_bytes = 0\nsample_ms = 100\n\
                    [dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 10\n";
const FLOW: &str = "[[flow]]\nname = \"flow\"\ncontroller = \"under-test\"\n";

fn run(text: &str, controller: &str) -> Outcome {
    sim::run(&scenario(text, controller)).unwrap()
}

fn single_flow(controller: &str, duration_s: u32) -> Outcome {
    run(&format!("duration_s = {duration_s}\n{LINK}{FLOW}"), controller)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Mean of a flow's goodput between two times, Mbit/s.
fn goodput(flow: &FlowOutcome, from_s: f64, to_s: f64) -> f64 {
    let series = &flow.series;
    let samples = series.time_s.iter().zip(&series.goodput_mbps);
    mean(samples.filter(|(time, _)| (from_s..to_s).contains(*time)).map(|(_, rate)| *rate))
}

/// Mean wait of a packet that joins the queue between two times, ms.
fn wait(outcome: &Outcome, from_s: f64, to_s: f64) -> f64 {
    let series = &outcome.queues[0].series;
    let samples = series.time_s.iter().zip(&series.packets);
    mean(samples.filter(|(time, _)| (from_s..to_s).contains(*time)).map(|(_, packets)| *packets))
}

/// `spec: arumaithurai §5.2`: alone, LEDBAT fills the link and keeps its queueing delay at
/// the target, whichever variant. A packet takes a millisecond.
#[test]
fn ledbat_holds_its_target() {
    for (controller, target) in [
        ("ledbat", 100.0),
        ("ledbat:profile=paper", 100.0),
        ("ledbat:profile=paper,variant=ns2", 100.0),
        ("ledbat:target=50", 50.0),
        ("ledbat:fallback=on", 100.0),
    ] {
        let outcome = single_flow(controller, 90);
        let waited = wait(&outcome, 60.0, 90.0);
        assert!((waited / target - 1.0).abs() < 0.1, "{controller}: {waited} ms of {target}");
        assert!(goodput(&outcome.flows[0], 60.0, 90.0) > 9.4, "{controller}");
        assert_eq!(outcome.flows[0].packets_lost, 0, "{controller}");
    }
}

/// LEDBAT++ too, between slowdowns that take a tenth of the time.
#[test]
fn ledbat_plus_plus_holds_its_target_between_slowdowns() {
    let outcome = single_flow("ledbat++", 90);
    let packets = &outcome.queues[0].series.packets[300..];
    let mut sorted = packets.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    assert!((median / 60.0 - 1.0).abs() < 0.15, "{median} ms");
    assert!(packets.contains(&0.0), "the queue never empties");
    assert!(goodput(&outcome.flows[0], 30.0, 90.0) > 8.0);
}

/// A loss-based flow beside them gets nearly all of the link, and they take it back when it
/// has gone.
#[test]
fn background_flows_yield() {
    for competitor in ["reno", "cubic"] {
        for (controller, most) in [("ledbat", 0.2), ("ledbat++", 0.2), ("tcp-lp", 0.2), ("nice", 0.2)] {
            let text = format!(
                "duration_s = 120\n{LINK}{FLOW}\
                 [[flow]]\nname = \"other\"\ncontroller = \"{competitor}\"\nstart_s = 30\nstop_s = 80\n"
            );
            let outcome = run(&text, controller);
            let share = goodput(&outcome.flows[0], 50.0, 80.0) / 10.0;
            assert!(share < most, "{controller} beside {competitor}: {share}");
            let after = goodput(&outcome.flows[0], 105.0, 120.0);
            assert!(controller == "tcp-lp" || after > 8.0, "{controller} after {competitor}: {after}");
        }
    }
}

/// The late comer's advantage of LEDBAT, and LEDBAT++'s answer to it.
#[test]
fn a_late_comer_starves_ledbat_but_not_ledbat_plus_plus() {
    let late_share = |controller: &str| {
        let text = format!(
            "duration_s = 150\n{LINK}{FLOW}[[flow]]\nname = \"late\"\ncontroller = \"under-test\"\nstart_s = 30\n"
        );
        let outcome = run(&text, controller);
        goodput(&outcome.flows[1], 100.0, 150.0) / 10.0
    };
    assert!(late_share("ledbat") > 0.8, "{}", late_share("ledbat"));
    let share = late_share("ledbat++");
    assert!((0.3..0.7).contains(&share), "{share}");
}
