//! The simulator against closed forms.
//!
//! # The saw-tooth of additive increase
//!
//! One Reno flow with an ACK per packet, on a link of `C` packets/s whose path holds
//! `BDP = C·RTT` packets and whose queue holds `B`. In congestion avoidance an ACK adds
//! `1/w` to the window `w`, so `w²` grows by 2 per ACK (short of the square of `1/w`). From the
//! trough on the link is busy and ACKs come at rate `C`:
//!
//! ```text
//! w(t)² = w(0)² + 2·C·t
//! ```
//!
//! The path and the queue hold `BDP + B` packets and one more is in transmission; the
//! window that needs one more than that loses it. An RTT later, with the window grown by
//! one more, the loss is seen and the window halved. So
//!
//! ```text
//! peak   W = BDP + B + 1     (+ 1 while the loss is on its way)
//! trough   = W/2
//! period T = (W² − (W/2)²) / (2·C) = 3·W² / (8·C)
//! ```
//!
//! plus the recovery period, during which nothing grows: the window has to drain to its
//! half, `W/2 / C`, and then a packet sent after that comes back, one RTT.
//!
//! # The square-root law
//!
//! If each packet is lost with probability `p`, whatever the window, additive increase of 1
//! per RTT and halving give a mean rate of `sqrt(3/2) / (RTT·sqrt(p))` packets/s (Mathis et
//! al. 1997; `sqrt(3/2) = 1.22`), derived for losses at equal distances. Independent losses
//! give 1.31 instead of 1.22 for large windows (Ott, Kemperman and Mathis 1996), recovery
//! periods and several losses in a window less for small ones; ten per cent cover both. It
//! needs a link that is never full.

use windlass_simulator::outcome::{FlowOutcome, Outcome};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

fn run(text: &str, controller: &str) -> Outcome {
    let scenario = Scenario::read("oracle", text, Some(controller)).unwrap_or_else(|error| panic!("{error}"));
    sim::run(&scenario).unwrap()
}

/// (time, s; window before; window after) of each reduction by more than a quarter.
fn reductions(flow: &FlowOutcome) -> Vec<(f64, f64, f64)> {
    let series = &flow.series;
    (1..series.time_s.len())
        .filter(|i| series.cwnd_packets[*i] < 0.75 * series.cwnd_packets[*i - 1])
        .map(|i| (series.time_s[i], series.cwnd_packets[i - 1], series.cwnd_packets[i]))
        .collect()
}

fn close(seen: f64, expected: f64, tolerance: f64, what: &str) {
    let off = seen / expected - 1.0;
    assert!(off.abs() < tolerance, "{what}: {seen:.2}, closed form {expected:.2}, off by {:.2} %", 100.0 * off);
}

#[test]
fn the_saw_tooth_has_its_peak_trough_and_period() {
    for pacing in [true, false] {
        let outcome = run(
            &format!(
                "duration_s = 250\nsample_ms = 5\npacket_bytes = 1250\noverhead_bytes = 0\n\
                 [dumbbell]\nrate_mbps = 100\nrtt_ms = 50\nbuffer_bdp = 1\n\
                 [[flow]]\ncontroller = \"under-test\"\npacing = {pacing}"
            ),
            "reno",
        );
        let (c, bdp, buffer) = (10_000.0, 500.0, 500.0);
        let peak = bdp + buffer + 1.0;
        let period = 3.0 * peak * peak / (8.0 * c) + peak / 2.0 / c + 0.05;
        let teeth = reductions(&outcome.flows[0]);
        // The first is the overshoot of slow start.
        let teeth = &teeth[1..];
        assert!(teeth.len() >= 5, "{teeth:?}");
        for (at, before, after) in teeth {
            close(*before, peak, 0.02, &format!("peak at {at} s"));
            close(*after, peak / 2.0, 0.02, &format!("trough at {at} s"));
        }
        for pair in teeth.windows(2) {
            close(pair[1].0 - pair[0].0, period, 0.02, "period");
        }
        assert!(outcome.queues[0].utilisation > 0.995, "{}", outcome.queues[0].utilisation);
        assert_eq!(outcome.queues[0].max_packets, 500.0);
    }
}

#[test]
fn random_loss_obeys_the_square_root_law() {
    for (p, seconds) in [(1e-4, 10000), (1e-3, 3000), (1e-2, 3000)] {
        let outcome = run(
            &format!(
                "duration_s = {seconds}\npacket_bytes = 1250\noverhead_bytes = 0\n\
                 [dumbbell]\nrate_mbps = 10000\nrtt_ms = 100\nloss_percent = {}\n\
                 [[flow]]\ncontroller = \"under-test\"",
                p * 100.0
            ),
            "reno",
        );
        let flow = &outcome.flows[0];
        let seen = flow.goodput_mbps * 1e6 / 10_000.0;
        let law = 1.5f64.sqrt() / (0.1 * f64::sqrt(p));
        close(seen, law, 0.10, &format!("throughput at p = {p}"));
        close(flow.packets_lost as f64 / flow.packets_sent as f64, p, 0.1, "loss");
    }
}
