//! Senders that fall silent, run away, or meet a path that reorders, and receivers that deceive their sender (Savage
//! et al., CCR 29(5), 1999).

use crate::common::{Seen, kind, scenario, watched, with_constant};

use windlass_controllers::event::IdleRestart;
use windlass_controllers::{EventKind, Span, Time};
use windlass_simulator::outcome::Outcome;
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{self, SimError, Simulation};

const PATH: &str = "packet_bytes = 1250\noverhead_bytes = 0\n";
const DUMBBELL: &str = "[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\nbuffer_bdp = 1\n";

/// The idle restarts of flow 0 of `text` under `controller`.
fn restarts(text: &str, controller: &str) -> Vec<(Time, IdleRestart)> {
    let (simulation, log) = watched(Simulation::new(&scenario(text, controller)).unwrap());
    let _ = simulation.finish();
    let events = log.events().into_iter();
    let restart = |event: windlass_controllers::Event| match event.kind {
        EventKind::IdleRestart(restart) => Some((event.now, restart)),
        _ => None,
    };
    events.filter_map(restart).collect()
}

#[test]
fn a_sender_is_idle_after_more_than_a_probe_timeout_with_nothing_to_send() {
    let flow = |every: f64| {
        format!(
            "duration_s = 9.5\n{PATH}{DUMBBELL}[[flow]]\ncontroller = \"under-test\"\nburst_bytes = 250000\nburst_every_s = {every}\n"
        )
    };
    // 200 packets take 0.2 s and some round trips.
    let found = restarts(&flow(2.0), "reno");
    assert_eq!(found.iter().map(|(at, _)| at.0 / 1_000_000).collect::<Vec<_>>(), [2000, 4000, 6000, 8000]);
    assert!(found.iter().all(|(_, restart)| restart.is_long() && restart.idle > Span::from_millis(1000)), "{found:?}");
    assert!(restarts(&flow(0.1), "reno").is_empty(), "there is always something to send");
}

#[test]
fn the_restart_comes_before_the_first_packet_and_at_the_rate_it_decides() {
    let text = format!(
        "duration_s = 3\n{PATH}{DUMBBELL}[[flow]]\ncontroller = \"under-test\"\nburst_bytes = 250000\nburst_every_s = 2\n"
    );
    let (simulation, log) = watched(Simulation::new(&scenario(&text, "reno:idle_restart=on")).unwrap());
    let _ = simulation.finish();
    let all = log.all();
    let restart = all.iter().position(|(_, seen)| matches!(seen, Seen::Event(event, _) if kind(event) == "other"));
    let restart = restart.expect("an idle restart");
    assert!(matches!(&all[restart + 1], (at, Seen::Sent(_)) if *at == all[restart].0), "{:?}", all[restart + 1]);
    let sent = |from: usize| {
        all[from..]
            .iter()
            .filter(|(at, seen)| *at < all[restart].0 + Span::from_millis(40) && matches!(seen, Seen::Sent(_)))
            .count()
    };
    assert_eq!(sent(restart), 10, "the initial window in the first round trip");
}

/// An application that writes less than its window: the flight empties again and again.
#[test]
fn pauses_shorter_than_a_probe_timeout_are_no_idleness() {
    let text = format!(
        "duration_s = 5\n{PATH}{DUMBBELL}[[flow]]\ncontroller = \"under-test\"\nburst_bytes = 2500\nburst_every_s = 0.05\n"
    );
    assert!(restarts(&text, "bbr").is_empty());
    let rate = format!("duration_s = 5\n{PATH}{DUMBBELL}[[flow]]\ncontroller = \"under-test\"\napplication_mbps = 2\n");
    assert!(restarts(&rate, "bbr").is_empty());
    let goodput = sim::run(&scenario(&rate, "bbr")).unwrap().flows[0].goodput_mbps;
    assert!((1.9..=2.0).contains(&goodput), "{goodput}");
}

/// ACKs that get lost empty the flight with each that arrives, and the way became longer for a while: the sender has
/// data all the time.
#[test]
fn a_bulk_flow_is_never_idle() {
    let lossy = "duration_s = 20\n[dumbbell]\nrate_mbps = 2\nrtt_ms = 4\nbuffer_packets = 50\n[dumbbell.back]\n\
                 rate_mbps = 100\nloss_percent = 70\n[[flow]]\ncontroller = \"under-test\"\n";
    let longer = "duration_s = 40\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n\
                  [[dumbbell.change]]\nat_s = 10\ndelay_ms = 60\n[[dumbbell.change]]\nat_s = 13\ndelay_ms = 20\n\
                  [[flow]]\ncontroller = \"under-test\"\n";
    for controller in ["bbr", "nice", "reno", "copa"] {
        assert_eq!(restarts(lossy, controller), [], "{controller}");
        assert_eq!(restarts(longer, controller), [], "{controller}");
    }
}

#[test]
fn a_run_ends_where_more_packets_are_under_way_than_it_allows() {
    let text = |bound: &str| format!("duration_s = 5\n{bound}{PATH}{DUMBBELL}[[flow]]\ncontroller = \"under-test\"\n");
    let (mut simulation, _) = with_constant(&text("max_packets_under_way = 500\n"), 100_000);
    simulation.run_until(Time(5_000_000_000));
    let runaway = simulation.check().expect_err("a window of 100000 packets");
    assert!(runaway.packets > 500 && runaway.at_s < 1.0, "{runaway}");
    assert!(runaway.to_string().contains("more than max_packets_under_way = 500"), "{runaway}");
    let (mut simulation, _) = with_constant(&text("max_packets_under_way = 500\n"), 200);
    simulation.run_until(Time(5_000_000_000));
    assert_eq!(simulation.check(), Ok(()));
    assert!(matches!(sim::run(&scenario(&text("max_packets_under_way = 5\n"), "reno")), Err(SimError::Runaway(_))));
}

#[test]
fn a_window_leaves_in_half_a_round_trip_in_slow_start_and_in_four_fifths_after() {
    let text = format!(
        "duration_s = 4\n{PATH}[dumbbell]\nrate_mbps = 1000\nrtt_ms = 100\n[[flow]]\ncontroller = \"under-test\"\n"
    );
    let rate = |controller: &str| {
        let (simulation, log) = watched(Simulation::new(&scenario(&text, controller)).unwrap());
        let _ = simulation.finish();
        let sent = log.sent();
        let of_round = |from: u64| {
            let within = |at: &Time| (from..from + 100_000_000).contains(&at.0);
            sent.iter().map(|(at, _)| *at).filter(within).map(|at| at.0 - from).collect::<Vec<_>>()
        };
        // Of the last packet of a window that has not changed since it began to leave.
        of_round(3_000_000_000)
    };
    // 100 packets, the window's limit, in slow start for ever, or never.
    let slow_start = rate("reno:max_window=100");
    assert_eq!(slow_start.len(), 100);
    let gaps = |times: &[u64]| times.windows(2).map(|two| two[1] - two[0]).min().unwrap();
    assert!((490_000..=510_000).contains(&gaps(&slow_start)), "{}", gaps(&slow_start));
    let avoidance = rate("reno:max_window=100,ssthresh=99");
    assert!((790_000..=810_000).contains(&gaps(&avoidance)), "{}", gaps(&avoidance));
}

#[test]
fn adaptive_thresholds_find_reordering_and_no_losses() {
    let text = |thresholds: &str| {
        format!(
            "duration_s = 20\n[dumbbell]\nrate_mbps = 20\nrtt_ms = 40\nbuffer_bdp = 1\n[[dumbbell.fault]]\nkind = \"reordering\"\n\
             at_s = 0\nfor_ms = 20000\npercent = 5\nby_ms = 30\n[[flow]]\ncontroller = \"under-test\"\n{thresholds}"
        )
    };
    let run = |thresholds| sim::run(&scenario(&text(thresholds), "reno")).unwrap().flows[0].clone();
    let (fixed, adaptive) = (run(""), run("loss_thresholds = \"adaptive\"\n"));
    assert!(fixed.packets_lost > 200, "{}", fixed.packets_lost);
    assert!(adaptive.packets_lost * 5 < fixed.packets_lost, "{} of {}", adaptive.packets_lost, fixed.packets_lost);
    assert!(adaptive.goodput_mbps > 18.0 && adaptive.goodput_mbps > fixed.goodput_mbps, "{}", adaptive.goodput_mbps);
}

/// Two flows, of which the first has that receiver, and an interface of 100 Mbit/s.
fn deceived(receiver: &str, controller: &str) -> Outcome {
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
    let outcome = deceived("optimistic", "reno:max_window=1000");
    let [own, other] = [0, 1].map(|number| outcome.flows[number].goodput_mbps);
    assert!(own > 10.0 * other, "{own} {other}");
    assert_eq!((outcome.flows[0].packets_lost, outcome.flows[0].congestion_events), (0, 0));
    assert!(outcome.queues[0].packets_dropped > outcome.queues[0].packets_forwarded / 10);
}

/// What ten copies of an ACK acknowledge counts once (`RFC 9002 §7.3.1`: by bytes newly acknowledged).
#[test]
fn divided_acks_gain_nothing() {
    for controller in ["reno", "cubic", "bbr"] {
        let [honest, divided] = ["honest", "divides-acks"].map(|receiver| deceived(receiver, controller));
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
