//! A path that becomes slower and longer for a while, or longer for good, must not decide what it
//! carries for ever (`RFC 9743 §5.2.7`: changes of the path).

use windlass_controllers::Algorithm;
use windlass_simulator::sim;

use crate::common::scenario;

/// Seconds after which 90 % of Reno's goodput is reached, and those over which it is measured.
const WITHIN: usize = 60;
const OVER: usize = 25;

/// 20 Mbit/s and 40 ms; from 10 s on `rate` Mbit/s and 140 ms, for `seconds` or for good.
fn path(rate: u32, seconds: Option<usize>) -> (String, usize) {
    let changed = 10 + seconds.unwrap_or(0);
    let back = seconds
        .map_or(String::new(), |_| format!("[[dumbbell.change]]\nat_s = {changed}\ndelay_ms = 20\nrate_mbps = 20\n"));
    let text = format!(
        "duration_s = {}\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_packets = 81\n\
         [[dumbbell.change]]\nat_s = 10\ndelay_ms = 120\nrate_mbps = {rate}\n{back}\
         [[flow]]\ncontroller = \"under-test\"\n",
        changed + WITHIN + OVER
    );
    (text, changed + WITHIN)
}

/// Goodput from `from` s on, Mbit/s.
fn goodput(text: &str, controller: &str, from: usize) -> f64 {
    let outcome = sim::run(&scenario(text, controller)).unwrap_or_else(|error| panic!("{controller}: {error}"));
    let later = &outcome.flows[0].series.goodput_mbps[from..];
    later.iter().sum::<f64>() / later.len() as f64
}

/// The changed path from the start.
fn unchanged(rate: u32) -> String {
    format!(
        "duration_s = {}\nsample_ms = 1000\n[dumbbell]\nrate_mbps = {rate}\nrtt_ms = 140\nbuffer_packets = 81\n\
         [[flow]]\ncontroller = \"under-test\"\n",
        10 + WITHIN + OVER
    )
}

/// Schemes whose rules leave them less than 90 % of what Reno has on a path that never changes, too; their pages say why.
const LESS: [&str; 3] = ["card", "ledbat++", "tcp-lp"];

#[test]
fn what_a_path_was_like_does_not_decide_what_it_carries_for_ever() {
    let paths = [(5, Some(3)), (5, Some(15)), (5, Some(60)), (5, None), (20, None)];
    let mut missed = Vec::new();
    for (rate, seconds) in paths {
        let (text, from) = path(rate, seconds);
        let reno = goodput(&text, "reno", from);
        for entry in Algorithm::ALL {
            if entry.name == "ledbat" && seconds.is_none() {
                // Its base delay is the least of ten minutes (RFC 6817 §2.4.2).
                continue;
            }
            let reached = goodput(&text, entry.name, from);
            let least = if LESS.contains(&entry.name) {
                let same = if seconds.is_some() {
                    text.replace("at_s = 10\ndelay_ms = 120\nrate_mbps = 5", "at_s = 10\ndelay_ms = 20")
                } else {
                    unchanged(rate)
                };
                goodput(&same, entry.name, from).min(reno)
            } else {
                reno
            };
            if reached < 0.9 * least {
                missed.push(format!(
                    "{} at {rate} Mbit/s for {seconds:?} s: {reached:.2}, of {least:.2} Mbit/s",
                    entry.name
                ));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Without the time after which the least delay is looked for again they starve: what the test sees is its doing.
#[test]
fn with_a_least_delay_believed_for_ever_a_longer_path_starves() {
    let (text, from) = path(20, None);
    let reno = goodput(&text, "reno", from);
    for controller in ["vegas", "quick-vegas", "rovegas", "red-vegas", "tri-s", "nice", "dual", "dca-s", "ledbat++"] {
        let reached = goodput(&text, &format!("{controller}:base_window=0"), from);
        assert!(reached < 0.5 * reno, "{controller}: {reached}, reno {reno}");
    }
}
