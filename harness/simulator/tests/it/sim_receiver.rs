//! Receivers that deceive their sender (Savage et al., CCR 29(5), 1999).

use crate::common::scenario;
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim;

/// Two flows, of which the first has that receiver, and an interface of 100 Mbit/s.
fn run(receiver: &str, controller: &str) -> Outcome {
    let text = format!(
        "duration_s = 30\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n\
         [[flow]]\ncontroller = \"under-test\"\nreceiver = \"{receiver}\"\n\
         access_mbps = 100\naccess_buffer_packets = 100\n[[flow]]\ncontroller = \"under-test\"\n"
    );
    sim::run(&scenario(&text, controller)).unwrap()
}

/// Concealed losses take a loss-based flow's only signal away: it takes all, and much of what it sends is lost.
#[test]
fn an_optimistic_receiver_starves_an_honest_one() {
    let outcome = run("optimistic", "reno:max_window=1000");
    let [own, other] = [0, 1].map(|number| outcome.flows[number].goodput_mbps);
    assert!(own > 10.0 * other, "{own} {other}");
    assert_eq!((outcome.flows[0].packets_lost, outcome.flows[0].congestion_events), (0, 0));
    assert!(outcome.queues[0].packets_dropped > outcome.queues[0].packets_forwarded / 10);
}

/// What ten copies of an ACK acknowledge counts once (`RFC 9002 §7.3.1`: by bytes newly acknowledged).
#[test]
fn divided_acks_gain_nothing() {
    for controller in ["reno", "cubic", "bbr"] {
        let [honest, divided] = ["honest", "divides-acks"].map(|receiver| run(receiver, controller));
        let rates = |outcome: &Outcome| [0, 1].map(|number| outcome.flows[number].goodput_mbps);
        assert_eq!(rates(&honest), rates(&divided), "{controller}");
    }
}

#[test]
fn it_recovers_as_quic_does() {
    let text = "duration_s = 1\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\n\
         [[flow]]\ncontroller = \"reno\"\nreceiver = \"optimistic\"\nrecovery = \"tcp-sack\"\n";
    let error = Scenario::read("test", text, None).unwrap_err().to_string();
    assert!(error.contains("has a receiver that misbehaves, but recovers as TCP does"), "{error}");
}
