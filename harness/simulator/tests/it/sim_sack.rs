//! Recovery with selective acknowledgements (`RFC 6675`, `RFC 2018`, `RFC 7323`).

use crate::common::{Log, Seen, scenario, watched, with_constant};
use windlass_controllers::event::PacketsAcked;
use windlass_controllers::{EventKind, Time};
use windlass_simulator::sim::{SendReason, Simulation, run};

/// 10 Mbit/s, 40 ms; a packet of 1250 bytes takes 1 ms.
const PATH: &str = "packet_bytes = 1250\noverhead_bytes = 0\nack_bytes = 1\n[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\n";

fn text(more: &str) -> String {
    format!(
        "duration_s = 4\n{PATH}[[flow]]\ncontroller = \"under-test\"\npacing = false\nrecovery = \"tcp-sack\"\n{more}\n"
    )
}

/// A flow with a constant window of `packets` to the end.
fn constant(more: &str, packets: u32) -> Log {
    let (mut simulation, log) = with_constant(&text(more), packets);
    simulation.run_until(Time(4_000_000_000));
    log
}

/// When each retransmission left, its packet number and which chunk it carries.
fn again(log: &Log) -> Vec<(Time, u64, u64)> {
    let sent = log.sent().into_iter().filter(|(_, packet)| matches!(packet.reason, SendReason::Retransmission(_)));
    sent.map(|(at, packet)| (at, packet.number, packet.offset / 1250)).collect()
}

fn responses(log: &Log) -> Vec<Time> {
    let lost = |event: &windlass_controllers::Event| matches!(event.kind, EventKind::PacketsLost(_));
    log.events().into_iter().filter(lost).map(|event| event.now).collect()
}

fn timeouts(log: &Log) -> Vec<Time> {
    let out = |event: &windlass_controllers::Event| matches!(event.kind, EventKind::PersistentCongestion(_));
    log.events().into_iter().filter(out).map(|event| event.now).collect()
}

/// `RFC 6675 §5`: all losses of a window are repaired in a round trip and answered once.
#[test]
fn losses_of_a_window_cost_one_response_and_one_round_trip() {
    let log = constant("drop_packets = [60, 63, 66]", 20);
    let (again, responses) = (again(&log), responses(&log));
    assert_eq!(again.iter().map(|(.., chunk)| *chunk).collect::<Vec<_>>(), [60, 63, 66]);
    assert_eq!(responses.len(), 1, "{responses:?}");
    assert_eq!(again[0].0, responses[0], "the first leaves at once");
    assert!(again[2].0.since(again[0].0).millis() < 40.0, "{again:?}");
    assert_eq!(timeouts(&log), []);
}

/// Losses reported to the controller: when, how many packets, and whether they ask for a response of their own.
fn reports(log: &Log) -> Vec<(Time, u32, bool)> {
    let mut response: Option<Time> = None;
    let mut found = Vec::new();
    for (at, seen) in log.all() {
        let Seen::Event(event, decision) = seen else { continue };
        if let EventKind::PacketsLost(lost) = event.kind {
            found.push((at, lost.packets, response.is_none_or(|start| lost.newest_sent_at > start)));
        }
        response = decision.recovery_start;
    }
    found
}

fn lost(log: &Log) -> Vec<Time> {
    log.all().into_iter().filter(|(_, seen)| matches!(seen, Seen::Lost(_))).map(|(at, _)| at).collect()
}

/// `RFC 6675 §5 (C.1)`, `RFC 9002 §7.3.2`: each loss is reported as it is found, and a window is answered once.
#[test]
fn each_loss_of_a_window_is_reported_when_it_is_found() {
    for controller in ["reno", "cubic", "bbr1", "bbr"] {
        let text = text("drop_packets = [200, 203, 206]");
        let (mut simulation, log) = watched(Simulation::new(&scenario(&text, controller)).unwrap());
        simulation.run_until(Time(1_000_000_000));
        let reports = reports(&log);
        assert_eq!(reports.iter().map(|report| report.0).collect::<Vec<_>>(), lost(&log), "{controller}");
        let told: Vec<_> = reports.iter().map(|(_, packets, asks)| (*packets, *asks)).collect();
        assert_eq!(told, [(1, true), (1, false), (1, false)], "{controller}");
    }
}

/// Losses of packets sent since a recovery began ask for a response when it is over: the first waits for that, and
/// here for the timer, since a retransmission is lost.
#[test]
fn the_next_window_is_answered_when_the_recovery_is_over() {
    let run = |drops: &[u64]| {
        let text = text(&format!("drop_packets = {drops:?}"));
        let (mut simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
        simulation.run_until(Time(4_000_000_000));
        log
    };
    let first = again(&run(&[200]))[0].1;
    let log = run(&[200, first, first + 5, first + 8]);
    let (reports, timeouts) = (reports(&log), timeouts(&log));
    assert_eq!(reports.iter().map(|(_, packets, asks)| (*packets, *asks)).collect::<Vec<_>>(), [(1, true), (1, false)]);
    assert!(reports[1].0 < timeouts[0], "{reports:?} {timeouts:?}");
    let told: u64 = log
        .events()
        .iter()
        .map(|event| match event.kind {
            EventKind::PacketsLost(lost) | EventKind::PersistentCongestion(lost) => u64::from(lost.packets),
            _ => 0,
        })
        .sum();
    assert_eq!(told, lost(&log).len() as u64, "the one that waited is the timeout's");
}

/// `RFC 6675 §4 IsLost`: three segments above it, not two.
#[test]
fn three_later_arrivals_make_a_loss() {
    let log = constant("drop_packets = [60]", 20);
    let after: Vec<u64> = log
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::PacketsAcked(acked) if event.now <= responses(&log)[0] => acked.newest_pn,
            _ => None,
        })
        .filter(|number| *number > 60)
        .collect();
    assert_eq!(after, [61, 62, 63]);
}

/// `RFC 6675 §4 SetPipe, §5 (C)`: what has arrived or is lost has left the pipe, what is repeated is in it:
/// with a constant window the pipe stays full, and never above it.
#[test]
fn the_pipe_is_what_is_under_way() {
    let log = constant("drop_packets = [60, 61, 62, 70]", 20);
    let (mut arrived, mut lost) = (0, 0);
    let mut sent = 0i64;
    for (_, seen) in log.all() {
        match seen {
            Seen::Sent(_) => sent += 1,
            Seen::Acked { ranges, .. } => arrived += ranges.iter().map(|(a, b)| (b - a + 1) as i64).sum::<i64>(),
            Seen::Lost(_) => lost += 1,
            Seen::Event(..) => {}
        }
        // The first retransmission leaves whatever the window (`RFC 6675 §5 step 4.3`).
        assert!(sent - arrived - lost <= 21, "{sent} {arrived} {lost}");
    }
    assert_eq!((lost, sent - arrived - lost), (4, 20));
}

/// `RFC 6675 §5`: recovery ends with the ACK of all that was sent before it; until then nothing grows, though
/// packets sent since have arrived.
#[test]
fn nothing_grows_before_all_losses_are_repaired() {
    let log = {
        let text = text("drop_packets = [200, 203, 206]");
        let (mut simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
        simulation.run_until(Time(4_000_000_000));
        log
    };
    let start = responses(&log)[0];
    let point = log.sent().iter().filter(|(at, _)| *at < start).map(|(_, packet)| packet.offset / 1250).max().unwrap();
    let mut held = Vec::new();
    let mut windows = Vec::new();
    let mut edge = std::collections::BTreeSet::new();
    let chunk_of: std::collections::BTreeMap<u64, u64> =
        log.sent().into_iter().map(|(_, packet)| (packet.number, packet.offset / 1250)).collect();
    for (at, seen) in log.all() {
        match seen {
            Seen::Acked { ranges, .. } => ranges.iter().for_each(|(a, b)| edge.extend((*a..=*b).map(|n| chunk_of[&n]))),
            Seen::Event(event, decision) if at > start => {
                let open = (0..=point).any(|chunk| !edge.contains(&chunk));
                if let EventKind::PacketsAcked(PacketsAcked { fresh_bytes, .. }) = event.kind
                    && open
                {
                    held.push(fresh_bytes);
                    windows.push(decision.cwnd);
                }
            }
            _ => {}
        }
    }
    assert!(held.len() > 10, "{}", held.len());
    assert!(held.iter().all(|bytes| *bytes == 0), "{held:?}");
    assert!(windows.iter().all(|cwnd| *cwnd == windows[0]), "{windows:?}");
    // The same window of QUIC grows again with the first packet sent since.
    let ended = log.events().iter().any(|event| {
        event.now > start && matches!(event.kind, EventKind::PacketsAcked(acked) if acked.fresh_bytes > 0)
    });
    assert!(ended, "and afterwards it does");
}

/// `RFC 5681 §3.2`: the duplicate ACKs before a recovery let new packets go and the window as it is.
#[test]
fn nothing_grows_with_duplicate_acks() {
    let text = text("drop_packets = [200]");
    let (mut simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
    simulation.run_until(Time(4_000_000_000));
    let start = responses(&log)[0];
    let acked: Vec<(u64, u64)> = log
        .events()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::PacketsAcked(acked) if event.now < start => Some((acked.newest_pn?, acked.fresh_bytes)),
            _ => None,
        })
        .collect();
    let (before, duplicates): (Vec<_>, Vec<_>) = acked.into_iter().partition(|(number, _)| *number < 200);
    assert!(before.len() > 100 && before.iter().all(|(_, fresh)| *fresh == 1250), "{before:?}");
    // The third begins the recovery.
    assert_eq!(duplicates, [(201, 0), (202, 0)]);
    let sent = log.sent().iter().filter(|(at, packet)| *at < start && packet.number > 200).count();
    assert!(sent >= 2, "limited transmit: {sent}");
}

/// `RFC 6675 §5`: a retransmission that is lost waits for the timer, which goes back to it.
#[test]
fn a_lost_retransmission_waits_for_the_timer() {
    let first = again(&constant("drop_packets = [60]", 20))[0];
    let log = constant(&format!("drop_packets = [60, {}]", first.1), 20);
    let (again, timeouts) = (again(&log), timeouts(&log));
    assert_eq!((again[0].1, again[0].2, again[1].2), (first.1, 60, 60));
    assert_eq!(timeouts.len(), 1);
    assert_eq!(again[1].0, timeouts[0]);
    let waited = timeouts[0].since(again[0].0).millis();
    assert!((1000.0..1100.0).contains(&waited), "{waited} ms");
    // New packets went on meanwhile; of those only what is still under way is sent again, in order.
    let rest: Vec<u64> = again[2..].iter().map(|(.., chunk)| *chunk).collect();
    assert!(rest.len() < 20 && rest[0] > 500 && rest.windows(2).all(|pair| pair[1] == pair[0] + 1), "{rest:?}");
}

/// `RFC 7323 §4.3`: the timestamp echoed is of the first packet an ACK answers, and samples are raw.
#[test]
fn samples_hold_the_time_an_ack_was_held_back() {
    let samples = |ack: &str| -> Vec<f64> {
        let log = constant(ack, 2);
        let acked = log.events();
        let rtt = acked.iter().filter_map(|event| match &event.kind {
            EventKind::PacketsAcked(acked) => acked.rtt,
            _ => None,
        });
        rtt.map(|rtt| {
            assert_eq!((rtt.ack_delay.0, rtt.adjusted()), (0, rtt.latest));
            rtt.latest.millis()
        })
        .collect()
    };
    let each = samples("");
    let pairs = samples("ack = \"delayed\"\nmax_ack_delay_ms = 40");
    // 40 ms of path, a millisecond to send a packet, and another for the second of a pair.
    assert!(each.iter().skip(2).all(|ms| (ms - 41.0).abs() < 0.1), "{each:?}");
    assert!(pairs.iter().skip(2).all(|ms| (ms - 42.0).abs() < 0.1), "{pairs:?}");
}

#[test]
fn a_recovery_that_is_not_known_is_answered_with_those_that_are() {
    let text = text("").replace("tcp-sack", "tcp-fack");
    let error = windlass_simulator::scenario::Scenario::read("test", &text, Some("reno")).unwrap_err().to_string();
    for expected in ["tcp-fack", "quic", "tcp-reno", "tcp-newreno", "tcp-vegas", "tcp-sack"] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// Half a gigabit whose slow start overshoots by thousands of packets: each costs the same however large the
/// window, and with selective acknowledgements all are repaired within a few round trips.
#[test]
fn large_windows_are_carried() {
    for (recovery, least) in [("tcp-reno", 0.1), ("tcp-newreno", 0.1), ("tcp-sack", 0.8)] {
        let text = format!(
            "duration_s = 4\npacket_bytes = 1250\noverhead_bytes = 0\n[dumbbell]\nrate_mbps = 500\nrtt_ms = 100\nbuffer_bdp = 1\n\
             [[flow]]\ncontroller = \"reno\"\npacing = false\nrecovery = \"{recovery}\"\n"
        );
        let outcome = run(&scenario(&text, "reno")).unwrap();
        assert!(outcome.queues[0].utilisation > least, "{recovery}: {}", outcome.queues[0].utilisation);
    }
}
