//! The simulator's recovery as TCP without selective acknowledgements has it (`spec: chan §8.4`).

use crate::common::{scenario, with_constant};
use windlass_controllers::event::LossTrigger;
use windlass_controllers::{EventKind, Time};
use windlass_simulator::scenario::Scenario;
use windlass_simulator::sim::{SendReason, Simulation, run};

/// 10 Mbit/s, 40 ms; a packet of 1250 bytes takes 1 ms.
const PATH: &str = "packet_bytes = 1250\noverhead_bytes = 0\nack_bytes = 1\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\n";
const FLOW: &str = "[[flow]]\ncontroller = \"under-test\"\npacing = false\nrecovery = \"tcp-reno\"\n";

fn seconds(at: Time) -> f64 {
    at.0 as f64 / 1e9
}

#[test]
fn the_third_duplicate_repeats_one_packet_at_once() {
    let text = format!("duration_s = 3\n{PATH}{FLOW}drop_packets = [53]\n");
    let (mut simulation, log) = with_constant(&text, 10);
    simulation.run_until(Time(3_000_000_000));
    let lost: Vec<_> =
        log.events().into_iter().filter(|event| matches!(event.kind, EventKind::PacketsLost(_))).collect();
    let [event] = lost.as_slice() else { panic!("{lost:?}") };
    let EventKind::PacketsLost(body) = &event.kind else { unreachable!() };
    assert_eq!((body.newest_pn, body.packets, body.trigger), (Some(53), 1, LossTrigger::PacketThreshold));
    let acked = |number: u64| {
        let of = |event: &&windlass_controllers::Event| matches!(&event.kind, EventKind::PacketsAcked(acked) if acked.newest_pn == Some(number));
        log.events().iter().find(of).map(|event| event.now).unwrap()
    };
    // A millisecond for each packet up to 56, 53 among them.
    let after = event.now.since(acked(52)).millis();
    assert!((after - 4.0).abs() < 1e-6, "{after} ms");
    let again: Vec<_> =
        log.sent().into_iter().filter(|(_, packet)| matches!(packet.reason, SendReason::Retransmission(_))).collect();
    let [(at, packet)] = again.as_slice() else { panic!("{again:?}") };
    assert_eq!((*at, packet.offset), (event.now, 53 * 1250));
    // 54 to 62 were under way: three let as many go with the packet that is repeated, each of the
    // others one more.
    let together = log.sent().iter().filter(|(at, _)| *at == event.now).count();
    let recovered = acked(packet.number);
    let meanwhile = log.sent().iter().filter(|(at, _)| *at > event.now && *at < recovered).count();
    assert_eq!((together, meanwhile), (1 + 3, 6));
    assert!(log.events().iter().all(|event| !matches!(event.kind, EventKind::PersistentCongestion(_))));
}

/// RTO = max(1 s, srtt + 4·rttvar) from the last new ACK on, doubling; then back to the first
/// packet not acknowledged.
#[test]
fn silence_brings_timeouts_at_doubling_distances() {
    let text = format!(
        "duration_s = 12\n{PATH}[[dumbbell.change]]\nat_s = 1\nloss_percent = 100\n[[dumbbell.change]]\nat_s = 6\nloss_percent = 0\n{FLOW}"
    );
    let (mut simulation, log) = with_constant(&text, 10);
    simulation.run_until(Time(12_000_000_000));
    let timeouts: Vec<f64> = log
        .events()
        .iter()
        .filter(|event| matches!(event.kind, EventKind::PersistentCongestion(_)))
        .map(|event| seconds(event.now))
        .collect();
    assert_eq!(timeouts.len(), 3, "{timeouts:?}");
    assert!((2.0..2.1).contains(&timeouts[0]), "a second after the last ACK: {timeouts:?}");
    assert!((timeouts[1] - timeouts[0] - 2.0).abs() < 1e-6 && (timeouts[2] - timeouts[1] - 4.0).abs() < 1e-6);
    let after: Vec<_> = log.sent().into_iter().filter(|(at, _)| seconds(*at) >= timeouts[2]).take(10).collect();
    let first = after[0].1.offset;
    assert!(after.iter().enumerate().all(|(i, (_, packet))| packet.offset == first + 1250 * i as u64), "in order");
    let outcome = simulation.finish();
    assert!(outcome.queues[0].utilisation > 0.1);
}

#[test]
fn everything_arrives_over_lossy_paths() {
    for (recovery, controller) in [
        ("tcp-reno", "reno"),
        ("tcp-newreno", "reno"),
        ("tcp-sack", "reno"),
        ("tcp-vegas", "vegas:profile=paper"),
        ("tcp-vegas", "red-vegas:profile=paper"),
    ] {
        for loss in [1, 10] {
            let text = format!(
                "duration_s = 3000\npacket_bytes = 1250\noverhead_bytes = 0\n[[link]]\nname = \"forth\"\nrate_mbps = 10\n\
                 delay_ms = 20\nbuffer_packets = 8\nloss_percent = {loss}\nci_marking = true\n[[link]]\nname = \"back\"\n\
                 delay_ms = 20\nloss_percent = {loss}\n[[flow]]\ncontroller = \"{controller}\"\nroute = [\"forth\"]\n\
                 return_route = [\"back\"]\ntransfer_bytes = 1000001\nrecovery = \"{recovery}\"\npacing = false\n"
            );
            let flow = run(&scenario(&text, "reno")).unwrap().flows.remove(0);
            assert!(flow.completed, "{controller} at {loss} %: {flow:?}");
            let bytes = flow.goodput_mbps * 1e6 / 8.0 * (flow.stop_s - flow.start_s);
            assert!((bytes - 1_000_001.0).abs() < 1.0, "{controller} at {loss} %: {bytes}");
        }
    }
}

/// A lost tail has no duplicate ACKs: only the timer helps, and it is as long as it is told to be.
#[test]
fn the_least_timeout_is_heeded() {
    let took = |min_rto: u32| {
        let text = format!(
            "duration_s = 30\n{PATH}{FLOW}transfer_bytes = 125000\ndrop_packets = [99]\nmin_rto_ms = {min_rto}\n"
        );
        run(&scenario(&text, "reno")).unwrap().flows[0].stop_s
    };
    assert!((took(1000) - took(500) - 0.5).abs() < 1e-6);
    assert!((took(2000) - took(1000) - 1.0).abs() < 1e-6);
}

#[test]
fn a_least_timeout_needs_tcp() {
    let text = format!("duration_s = 3\n{PATH}[[flow]]\ncontroller = \"reno\"\nmin_rto_ms = 200\n");
    let error = windlass_simulator::scenario::Scenario::read("test", &text, None).unwrap_err().to_string();
    assert!(error.contains("min_rto_ms") && error.contains("tcp-reno"), "{error}");
}

#[test]
fn runs_are_the_same_with_the_same_seed() {
    let text = format!("duration_s = 20\nseed = 7\n{PATH}loss_percent = 3\n{FLOW}");
    let one = || Simulation::new(&scenario(&text, "reno")).unwrap().finish();
    assert_eq!(one(), one());
}

/// `RFC 2582 §3`: losses of one window cost NewReno one response, and one round trip each.
#[test]
fn partial_acknowledgements_repeat_the_next_packet_without_another_response() {
    let text = |recovery: &str| {
        format!(
            "duration_s = 3\n{PATH}[[flow]]\ncontroller = \"under-test\"\npacing = false\nrecovery = \"{recovery}\"\n\
             drop_packets = [60, 63, 66]\n"
        )
    };
    let (mut simulation, log) = with_constant(&text("tcp-newreno"), 20);
    simulation.run_until(Time(3_000_000_000));
    let responses = |log: &crate::common::Log| {
        let lost = |event: &windlass_controllers::Event| matches!(event.kind, EventKind::PacketsLost(_));
        log.events().into_iter().filter(lost).count()
    };
    assert_eq!(responses(&log), 1);
    let again: Vec<(Time, u64)> = log
        .sent()
        .into_iter()
        .filter(|(_, packet)| matches!(packet.reason, SendReason::Retransmission(_)))
        .map(|(at, packet)| (at, packet.offset / 1250))
        .collect();
    assert_eq!(again.iter().map(|(_, chunk)| *chunk).collect::<Vec<_>>(), [60, 63, 66]);
    let apart: Vec<f64> = again.windows(2).map(|pair| pair[1].0.since(pair[0].0).millis()).collect();
    assert!(apart.iter().all(|ms| *ms > 40.0 && *ms < 100.0), "a round trip each: {apart:?}");
    assert!(log.events().iter().all(|event| !matches!(event.kind, EventKind::PersistentCongestion(_))));
}

/// `RFC 3168 §6.1.2`: a sender answers the echo of a CE mark as it answers a loss, once per window.
#[test]
fn marks_are_answered_once_per_window() {
    let text = |recovery: &str, ecn: bool| {
        format!(
            "duration_s = 30\npacket_bytes = 1250\noverhead_bytes = 0\nack_bytes = 1\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\n\
             buffer_packets = 200\nqueue = {{ kind = \"step\", threshold_packets = 20 }}\n[[flow]]\ncontroller = \"under-test\"\n\
             pacing = false\necn = {ecn}\nrecovery = \"{recovery}\"\n"
        )
    };
    for recovery in ["quic", "tcp-reno", "tcp-newreno", "tcp-sack"] {
        let marked = run(&scenario(&text(recovery, true), "reno")).unwrap();
        let (flow, queue) = (&marked.flows[0], &marked.queues[0]);
        assert_eq!(flow.packets_lost, 0, "{recovery}");
        // Slow start doubles past the threshold before it gets a mark.
        assert!(queue.max_packets < 130.0, "{recovery}: {}", queue.max_packets);
        // From 61 packets to half and back, a packet per round trip of 40 to 60 ms: some 1.5 s.
        assert!((14..=26).contains(&flow.congestion_events), "{recovery}: {}", flow.congestion_events);
        assert!(queue.utilisation > 0.9, "{recovery}: {}", queue.utilisation);
    }
}

/// A timeout declares lost what is under way, whether it arrives or not; what never arrives is a count of its own.
#[test]
fn what_the_network_loses_is_not_what_timeouts_declare_lost() {
    let text = format!("duration_s = 60\nseed = 7\n{PATH}loss_percent = 10\n{FLOW}");
    let (mut simulation, _) = with_constant(&text, 10);
    simulation.run_until(Time(60_000_000_000));
    let counts = simulation.counts(0);
    let dropped = counts.dropped.unwrap();
    assert!(dropped > 0 && counts.lost > dropped, "{counts:?}");
    let under_way = counts.sent - counts.arrivals.packets - dropped;
    assert!(under_way <= 10, "{under_way} of {counts:?}");
    let quic = text.replace("tcp-reno", "quic");
    let (mut simulation, _) = with_constant(&quic, 10);
    simulation.run_until(Time(1_000_000_000));
    assert_eq!(simulation.counts(0).dropped, None);
}

/// Delivery rates are reported however losses are repaired; here are none.
#[test]
fn a_model_of_the_path_is_as_good_with_each_recovery() {
    for controller in ["bbr", "bbr1"] {
        let goodput = |recovery: &str| {
            let text = format!(
                "duration_s = 30\n[dumbbell]\nrate_mbps = 5\nrtt_ms = 45\nbuffer_bdp = 20\n\
                 [[flow]]\ncontroller = {controller:?}\nrecovery = {recovery:?}\n"
            );
            run(&Scenario::read("recovery", &text, None).unwrap()).unwrap().flows[0].goodput_mbps
        };
        let quic = goodput("quic");
        for recovery in ["tcp-reno", "tcp-newreno", "tcp-sack"] {
            let tcp = goodput(recovery);
            assert!(tcp > 0.95 * quic, "{controller} with {recovery}: {tcp} Mbit/s, {quic} as QUIC recovers");
        }
    }
}
