//! A path that becomes slower and longer for a while, or longer for good, must not decide what it
//! carries for ever (`RFC 9743 §5.2.7`: changes of the path).

use windlass_controllers::Algorithm;
use windlass_simulator::sim;

use crate::common::{each, scenario};

/// Seconds after which goodput counts, and those over which it is measured.
const WITHIN: usize = 60;
const OVER: usize = 25;

/// Round trips of a long path after which it does: a window grows tenfold in them, by a packet each.
const ROUNDS: usize = 400;

/// A path of a rate, Mbit/s, and an RTT, ms, that becomes another after ten seconds, for a while or for good.
#[derive(Clone, Copy, Debug)]
struct Excursion {
    before: (u32, u32),
    then: (u32, u32),
    seconds: Option<usize>,
}

impl Excursion {
    /// As a scenario, and the second from which on it counts.
    fn scenario(&self) -> (String, usize) {
        let changed = 10 + self.seconds.unwrap_or(0);
        let within = WITHIN.max(ROUNDS * self.end().before.1 as usize / 1000);
        let ((rate, rtt), then) = (self.before, self.then);
        // Half of the RTT is the way back's.
        let change = |at: usize, (rate, longer): (u32, u32)| {
            let delay_ms = f64::from(longer) - f64::from(rtt.min(then.1)) / 2.0;
            format!("[[dumbbell.change]]\nat_s = {at}\ndelay_ms = {delay_ms}\nrate_mbps = {rate}\n")
        };
        let back = self.seconds.map_or(String::new(), |_| change(changed, self.before));
        let text = format!(
            "duration_s = {}\nsample_ms = 1000\n[dumbbell]\nrate_mbps = {rate}\nrtt_ms = {}\nbuffer_packets = 81\n{}{}{back}\
             [[flow]]\ncontroller = \"under-test\"\n",
            changed + within + OVER,
            rtt.min(then.1),
            change(0, self.before),
            change(10, then),
        );
        (text, changed + within)
    }

    /// The path that it is in the end, from the start.
    fn end(&self) -> Excursion {
        let end = if self.seconds.is_some() { self.before } else { self.then };
        Excursion { before: end, then: end, seconds: None }
    }
}

/// Goodput from `from` s on, Mbit/s.
fn goodput(text: &str, controller: &str, from: usize) -> f64 {
    let outcome = sim::run(&scenario(text, controller)).unwrap_or_else(|error| panic!("{controller}: {error}"));
    let later = &outcome.flows[0].series.goodput_mbps[from..];
    later.iter().sum::<f64>() / later.len() as f64
}

/// Schemes whose rules leave them less than 90 % of what Reno has on a path that never changes, too; their pages say why.
const LESS: [&str; 3] = ["card", "ledbat++", "tcp-lp"];

/// LEDBAT's base delay is the least of ten minutes (`RFC 6817 §2.4.2`), whatever the path has become meanwhile: a limit that
/// its page tells.
const TEN_MINUTES: &str = "ledbat";

/// Every controller that does not reach `part` of Reno's goodput, or of its own on a path that never changes if that is
/// less and it is one of `less`.
fn missed(excursions: &[Excursion], part: f64, less: fn(&str) -> bool) -> Vec<String> {
    let of_one = |excursion: &Excursion| {
        let (text, from) = excursion.scenario();
        let reno = goodput(&text, "reno", from);
        let mut missed = Vec::new();
        for entry in Algorithm::ALL {
            let grew = excursion.end().before.1 > excursion.before.1.min(excursion.then.1);
            if grew && entry.name == TEN_MINUTES {
                continue;
            }
            let reached = goodput(&text, entry.name, from);
            let least = if less(entry.name) {
                let (same, from) = excursion.end().scenario();
                goodput(&same, entry.name, from).min(reno)
            } else {
                reno
            };
            if reached < part * least {
                missed.push(format!("{} in {excursion:?}: {reached:.2}, of {least:.2} Mbit/s", entry.name));
            }
        }
        missed
    };
    each(excursions, of_one).into_iter().flatten().collect()
}

#[test]
fn what_a_path_was_like_does_not_decide_what_it_carries_for_ever() {
    let excursions = [(5, Some(3)), (5, Some(15)), (5, Some(60)), (5, None), (20, None)]
        .map(|(rate, seconds)| Excursion { before: (20, 40), then: (rate, 140), seconds });
    let missed = missed(&excursions, 0.9, |name| LESS.contains(&name));
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Sawtooths of a path of 400 ms last longer than goodput is measured, so that less than 90 % says nothing.
#[test]
fn a_path_may_change_tenfold() {
    let changes = [((10, 40), (1, 40)), ((1, 40), (10, 40)), ((10, 40), (10, 400)), ((10, 400), (10, 40))];
    let excursions: Vec<Excursion> = changes
        .into_iter()
        .flat_map(|(before, then)| [Some(15), None].map(|seconds| Excursion { before, then, seconds }))
        .collect();
    let missed = missed(&excursions, 0.6, |_| true);
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Without the time after which the least delay is looked for again they starve: what the test sees is its doing.
#[test]
fn with_a_least_delay_believed_for_ever_a_longer_path_starves() {
    let (text, from) = Excursion { before: (20, 40), then: (20, 140), seconds: None }.scenario();
    let reno = goodput(&text, "reno", from);
    for controller in ["vegas", "quick-vegas", "rovegas", "red-vegas", "tri-s", "nice", "dual", "dca-s", "ledbat++"] {
        let reached = goodput(&text, &format!("{controller}:base_window=0"), from);
        assert!(reached < 0.5 * reno, "{controller}: {reached}, reno {reno}");
    }
}

/// Ten flows that start 1 s apart look at the path at different times, while the others keep their queue: they find it all
/// the same, and share it.
#[test]
fn many_flows_out_of_step_find_a_longer_path() {
    let text = format!(
        "duration_s = {}\nsample_ms = 1000\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_packets = 400\n\
         [[dumbbell.change]]\nat_s = 20\ndelay_ms = 120\n\
         [[flow]]\ncontroller = \"under-test\"\ncount = 10\nstagger_s = 1\n",
        20 + WITHIN + OVER
    );
    let each = |controller: &str| -> Vec<f64> {
        let outcome = sim::run(&scenario(&text, controller)).unwrap_or_else(|error| panic!("{controller}: {error}"));
        let later = |flow: &[f64]| flow[20 + WITHIN..].iter().sum::<f64>() / OVER as f64;
        outcome.flows.iter().map(|flow| later(&flow.series.goodput_mbps)).collect()
    };
    let reno: f64 = each("reno").iter().sum();
    for controller in ["vegas", "quick-vegas", "red-vegas", "rovegas", "tri-s", "nice"] {
        let flows = each(controller);
        let (sum, squares) = flows.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let jain = sum * sum / (flows.len() as f64 * squares);
        assert!(sum >= 0.9 * reno && jain >= 0.75, "{controller}: {sum} of {reno}, Jain {jain}");
    }
}
