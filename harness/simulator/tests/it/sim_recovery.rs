//! Loss recovery of the simulator, end to end (RFC 9002).

use crate::common::{Seen, kind, scenario, watched, with_constant};
use windlass_controllers::event::LossTrigger;
use windlass_controllers::{EventKind, Span, Time};
use windlass_simulator::sim::{SendReason, Simulation};

/// 10 Mbit/s, 40 ms; a packet of 1250 bytes takes 1 ms.
const PATH: &str = "packet_bytes = 1250\noverhead_bytes = 0\n";
const DUMBBELL: &str = "[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\n";
const FLOW: &str = "[[flow]]\ncontroller = \"under-test\"\npacing = false\n";

fn ms(x: f64) -> Time {
    Time((x * 1e6) as u64)
}

#[test]
fn a_blackout_brings_probes_at_doubling_distances_and_then_persistent_congestion() {
    let text = format!(
        "duration_s = 20\n{PATH}{DUMBBELL}\
         [[dumbbell.change]]\nat_s = 1\nloss_percent = 100\n[[dumbbell.change]]\nat_s = 4\nloss_percent = 0\n{FLOW}"
    );
    let (mut simulation, log) = with_constant(&text, 10);
    simulation.run_until(Time(20_000_000_000));
    let probes: Vec<Time> =
        log.sent().iter().filter(|(_, packet)| packet.reason == SendReason::ProbeTimeout).map(|(at, _)| *at).collect();
    assert!(probes.len() >= 4, "{probes:?}");
    let gaps: Vec<f64> = probes.windows(2).map(|pair| pair[1].since(pair[0]).millis()).collect();
    // Ten packets take 10 ms, so the RTT is constant and its variation has died away:
    // a probe timeout is the RTT and a millisecond.
    let pto = gaps[0] / 2.0;
    assert!((40.0..46.0).contains(&pto), "{gaps:?}");
    for (i, gap) in gaps.iter().enumerate() {
        assert!((gap / (pto * f64::from(2 << i)) - 1.0).abs() < 1e-6, "{gaps:?}");
    }
    let persistent: Vec<_> =
        log.events().into_iter().filter(|event| matches!(event.kind, EventKind::PersistentCongestion(_))).collect();
    assert_eq!(persistent.len(), 1, "one blackout, one persistent congestion");
    assert!(persistent[0].now > ms(4000.0));
    // It goes on as before.
    assert!(log.events().iter().filter(|event| event.now > ms(10_000.0)).all(|event| kind(event) == "acked"));
}

#[test]
fn a_short_blackout_is_loss_and_nothing_worse() {
    // The 25th window of ten packets passes at 1025, 1026, … ms.
    let text = format!(
        "duration_s = 3\n{PATH}{DUMBBELL}\
         [[dumbbell.change]]\nat_s = 1.0265\nloss_percent = 100\n[[dumbbell.change]]\nat_s = 1.0305\nloss_percent = 0\n{FLOW}"
    );
    let (simulation, log) = with_constant(&text, 10);
    let outcome = simulation.finish();
    assert_eq!(outcome.flows[0].packets_lost, 4);
    assert!(log.events().iter().all(|event| !matches!(event.kind, EventKind::PersistentCongestion(_))));
    assert!(log.sent().iter().all(|(_, packet)| packet.reason != SendReason::ProbeTimeout));
}

#[test]
fn a_loss_near_the_tail_is_found_by_time() {
    // Packet 3 of a transfer of five is lost: one packet follows, too few for the packet
    // threshold.
    let text = format!("duration_s = 5\n{PATH}{DUMBBELL}{FLOW}transfer_bytes = 6250\ndrop_packets = [3]\n");
    let (simulation, log) = with_constant(&text, 10);
    let outcome = simulation.finish();
    let lost: Vec<_> = log.all().into_iter().filter(|(_, seen)| matches!(seen, Seen::Lost(_))).collect();
    let (at, Seen::Lost(loss)) = &lost[0] else { panic!("{lost:?}") };
    assert_eq!((lost.len(), loss.number, loss.trigger), (1, 3, LossTrigger::TimeThreshold));
    // Sent at 0; the RTTs of packets 0, 1, 2 and 4 are 41, 42, 43 and 44 ms.
    let smoothed = [42.0, 43.0, 44.0].iter().fold(41.0, |smoothed, rtt| smoothed + (rtt - smoothed) / 8.0);
    assert!(smoothed < 44.0);
    assert_eq!(*at, ms(44.0 * 9.0 / 8.0));
    assert_eq!(outcome.flows[0].stop_s, at.0 as f64 / 1e9 + 0.041);
    assert_eq!(outcome.flows[0].packets_sent, 6);
}

#[test]
fn a_lost_tail_is_found_by_a_probe() {
    let text = format!("duration_s = 5\n{PATH}{DUMBBELL}{FLOW}transfer_bytes = 6250\ndrop_packets = [3, 4]\n");
    let (simulation, log) = with_constant(&text, 10);
    let outcome = simulation.finish();
    let reasons: Vec<_> = log.sent().iter().skip(5).map(|(_, packet)| (packet.reason, packet.offset)).collect();
    assert_eq!(reasons[0], (SendReason::ProbeTimeout, 3 * 1250), "the oldest data outstanding");
    assert!(outcome.flows[0].stop_s < 1.0, "complete: {}", outcome.flows[0].stop_s);
    let bytes = outcome.flows[0].goodput_mbps * 1e6 / 8.0 * outcome.flows[0].stop_s;
    assert!((bytes - 6250.0).abs() < 1e-6, "every byte counts once: {bytes}");
}

#[test]
fn a_transfer_ends_whatever_is_lost() {
    for (loss, seed) in [(0.0, 1), (1.0, 1), (20.0, 1), (20.0, 2), (60.0, 3)] {
        let text = format!(
            "duration_s = 3000\nseed = {seed}\n{PATH}\
             [[link]]\nname = \"there\"\nrate_mbps = 10\ndelay_ms = 20\nloss_percent = {loss}\njitter_ms = 9\nreorder = true\n\
             [[link]]\nname = \"back\"\ndelay_ms = 20\nloss_percent = {loss}\n\
             {FLOW}transfer_bytes = 1000001\nroute = [\"there\"]\nreturn_route = [\"back\"]\n"
        );
        let outcome = with_constant(&text, 20).0.finish();
        let flow = &outcome.flows[0];
        assert!(flow.stop_s < 3000.0, "{loss} %: not complete");
        let bytes = flow.goodput_mbps * 1e6 / 8.0 * flow.stop_s;
        assert!((bytes - 1_000_001.0).abs() < 1e-3, "{loss} %: {bytes}");
    }
}

#[test]
fn reordering_makes_spurious_losses_and_the_response_is_taken_back() {
    let text = format!("duration_s = 60\n{PATH}{DUMBBELL}buffer_packets = 1000\njitter_ms = 8\nreorder = true\n{FLOW}");
    let (simulation, log) = watched(Simulation::new(&scenario(&text, "reno:max_window=60")).unwrap());
    let _ = simulation.finish();
    let (mut cwnd, mut before_loss, mut undone) = (0, None, 0);
    for (_, seen) in log.all() {
        let Seen::Event(event, decision) = seen else { continue };
        match event.kind {
            EventKind::PacketsLost(_) if decision.cwnd < cwnd => before_loss = Some(cwnd),
            EventKind::SpuriousLoss(_) => {
                if let Some(before) = before_loss.take() {
                    assert!(decision.cwnd >= before, "{before} is restored: {decision:?}");
                    undone += 1;
                }
            }
            _ => {}
        }
        cwnd = decision.cwnd;
    }
    assert!(undone > 5, "{undone}");
}

/// Jitter of 8 ms on 10 Mbit/s puts eight packets before one that was sent earlier, and a tenth
/// of the window is twenty.
#[test]
fn a_share_of_the_window_is_patient_with_reordering() {
    let lost = |keys: &str| {
        let path = format!("duration_s = 30\n{PATH}{DUMBBELL}buffer_packets = 1000\njitter_ms = 8\nreorder = true\n");
        let scenario = scenario(&format!("{path}{FLOW}{keys}"), "reno:iw=200,max_window=200");
        Simulation::new(&scenario).unwrap().finish().flows[0].packets_lost
    };
    assert!(lost("") > 1000, "{}", lost(""));
    assert_eq!(lost("dupthresh_frac = 10\n"), 0);
    assert_eq!(lost("dupthresh_frac = 1000\n"), lost(""), "never fewer than three");
}

#[test]
fn what_is_really_lost_is_never_called_spurious() {
    let text = format!("duration_s = 60\n{PATH}{DUMBBELL}loss_percent = 1\n{FLOW}");
    let (simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
    let outcome = simulation.finish();
    assert!(outcome.flows[0].packets_lost > 100);
    assert!(log.events().iter().all(|event| kind(event) != "spurious"));
}

#[test]
fn one_frame_tells_samples_then_marks_then_losses_then_growth() {
    let text = format!(
        "duration_s = 60\n{PATH}{DUMBBELL}loss_percent = 1\nbuffer_packets = 60\n\
         queue = {{ kind = \"step\", threshold_packets = 5 }}\n{FLOW}ecn = true\ncount = 10\n"
    );
    let (simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
    let outcome = simulation.finish();
    assert!(outcome.flows[0].packets_marked > 100);
    let order = ["sampled", "marked", "lost", "persistent", "spurious", "acked"];
    let mut seen = std::collections::BTreeSet::new();
    let events = log.events();
    for frame in events.chunk_by(|a, b| a.now == b.now) {
        let kinds: Vec<&str> = frame.iter().map(kind).collect();
        let places: Vec<_> = kinds.iter().map(|kind| order.iter().position(|other| other == kind)).collect();
        assert!(places.is_sorted(), "{kinds:?}");
        if kinds.len() > 1 && kinds.contains(&"acked") {
            let EventKind::PacketsAcked(acked) = frame[frame.len() - 1].kind else { panic!("{kinds:?}") };
            assert_eq!(acked.rtt, None, "the sample came before");
        }
        seen.insert(kinds.join(" "));
        // Bytes in flight lead from one event to the next.
        let mut in_flight = None;
        for event in frame {
            if let (Some(last), Some(now)) = (in_flight, event.flight()) {
                assert_eq!(last, now, "{frame:?}");
            }
            in_flight = event.in_flight().or(in_flight);
        }
    }
    for expected in ["acked", "sampled marked acked", "sampled lost acked"] {
        assert!(seen.contains(expected), "{expected} is not among {seen:?}");
    }
}

#[test]
fn nothing_grows_on_what_left_before_the_response() {
    let text = format!("duration_s = 20\n{PATH}{DUMBBELL}buffer_bdp = 1\n{FLOW}");
    let (simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
    let _ = simulation.finish();
    let mut start = None;
    let mut held_back = 0;
    for (now, seen) in log.all() {
        let Seen::Event(event, decision) = seen else { continue };
        if let EventKind::PacketsAcked(acked) = event.kind {
            let fresh = start.is_none_or(|start| acked.newest_sent_at > start);
            assert_eq!(acked.fresh_bytes > 0, fresh, "at {now:?}");
            held_back += u32::from(!fresh);
        }
        start = decision.recovery_start;
    }
    assert!(held_back > 20, "{held_back}");
}

#[test]
fn the_smallest_rtt_is_learnt_anew_after_persistent_congestion() {
    let text = format!(
        "duration_s = 8\n{PATH}{DUMBBELL}\
         [[dumbbell.change]]\nat_s = 1\nloss_percent = 100\n\
         [[dumbbell.change]]\nat_s = 3\nloss_percent = 0\ndelay_ms = 60\n{FLOW}"
    );
    let (mut simulation, log) = with_constant(&text, 4);
    simulation.run_until(Time(8_000_000_000));
    let minimum = log.events().iter().rev().find_map(|event| event.rtt()).unwrap().min;
    assert!(minimum > Span::from_millis(80), "{minimum:?}");
}
