//! What flows of the simulator see and do, end to end.

use crate::common::{Seen, kind, scenario, watched, with_constant};
use windlass_controllers::{Algorithm, EventKind, Span, Time};
use windlass_simulator::sim::{self, Simulation};

const PATH: &str = "packet_bytes = 1250\noverhead_bytes = 0\n";
const DUMBBELL: &str = "[dumbbell]\nrate_mbps = 10\nrtt_ms = 40\n";
const FLOW: &str = "[[flow]]\ncontroller = \"under-test\"\n";

#[test]
fn equal_seeds_give_equal_outcomes_and_different_seeds_different_ones() {
    let text = format!(
        "duration_s = 30\n{PATH}{DUMBBELL}buffer_bdp = 1\nloss_percent = 0.1\njitter_ms = 1\n\
         queue = \"two-class-red\"\n{FLOW}count = 3\nstart_jitter_s = 1\n\
         [[traffic]]\nkind = \"exponential-on-off\"\nrate_mbps = 4\nmean_rate_mbps = 1\n"
    );
    let mut scenario = scenario(&text, "nf-tcp");
    let first = sim::run(&scenario).unwrap();
    assert_eq!(first, sim::run(&scenario).unwrap());
    scenario.seed += 1;
    assert_ne!(first.flows, sim::run(&scenario).unwrap().flows);
}

#[test]
fn running_in_steps_changes_nothing() {
    let text = format!("duration_s = 10\n{PATH}{DUMBBELL}buffer_bdp = 1\nloss_percent = 0.1\n{FLOW}count = 2\n");
    let scenario = scenario(&text, "cubic");
    let mut simulation = Simulation::new(&scenario).unwrap();
    for step in 0..1000 {
        simulation.run_until(Time(step * 7_777_777));
    }
    assert_eq!(simulation.finish(), sim::run(&scenario).unwrap());
}

#[test]
fn watching_changes_nothing() {
    let text = format!("duration_s = 10\n{PATH}{DUMBBELL}buffer_bdp = 1\nloss_percent = 1\n{FLOW}");
    let scenario = scenario(&text, "cubic");
    let (simulation, log) = watched(Simulation::new(&scenario).unwrap());
    assert_eq!(simulation.finish(), sim::run(&scenario).unwrap());
    assert!(log.all().len() > 1000);
}

#[test]
fn packets_are_conserved_at_every_instant() {
    let text = format!(
        "duration_s = 5\n{PATH}{DUMBBELL}buffer_packets = 20\nloss_percent = 1\n{FLOW}count = 4\nack = \"delayed\"\n\
         [[traffic]]\nkind = \"poisson\"\nrate_mbps = 2\n"
    );
    let mut simulation = Simulation::new(&scenario(&text, "reno")).unwrap();
    for step in 0..50_000 {
        simulation.run_until(Time(step * 100_000));
        let packets = simulation.packet_counts();
        assert_eq!(packets.sent, packets.delivered + packets.gone + packets.held);
    }
    assert!(simulation.packet_counts().sent > 5_000);
}

/// A constant window below the BDP: the rate is the window over the RTT, and nobody waits.
#[test]
fn a_window_is_worth_its_size_per_rtt() {
    let text = format!("duration_s = 100\n{PATH}{DUMBBELL}{FLOW}pacing = false\n");
    let (simulation, log) = with_constant(&text, 10);
    let outcome = simulation.finish();
    // The ten packets of the first instant follow each other at 1 ms ever after, so each
    // RTT is 40 ms and its own transmission, once the first nine have waited for it.
    let expected = 10.0 * 1250.0 * 8.0 / 0.041 / 1e6;
    let flow = &outcome.flows[0];
    assert!((flow.goodput_mbps / expected - 1.0).abs() < 0.001, "{}, expected {expected}", flow.goodput_mbps);
    assert_eq!((flow.rtt_min_ms, flow.packets_lost), (Some(41.0), 0));
    assert!((flow.rtt_mean_ms.unwrap() - 41.0).abs() < 0.02);
    assert!((flow.cwnd_mean_packets - 10.0).abs() < 1e-9);
    assert_eq!(log.events().iter().filter(|event| kind(event) != "acked").count(), 0);
}

/// A rival that answers nothing keeps its rate, of which the bottleneck loses what is too much; what is left is the other
/// flow's, which is measured as ever.
#[test]
fn a_constant_rate_leaves_others_the_rest() {
    for (rate, gets, leaves) in [(6.0, 5.9..6.01, 3.5..4.1), (12.0, 9.5..10.0, 0.01..0.5)] {
        let text = format!(
            "duration_s = 60\n{PATH}{DUMBBELL}buffer_bdp = 1\n{FLOW}[[flow]]\nname = \"rival\"\nconstant_rate_mbps = {rate}\n"
        );
        let outcome = sim::run(&scenario(&text, "reno")).unwrap();
        let [reno, rival] = &outcome.flows[..] else { panic!("{}", outcome.flows.len()) };
        let sends = rival.packets_sent as f64 * 1250.0 * 8.0 / 60e6;
        assert!((sends / rate - 1.0).abs() < 0.001, "{sends} Mbit/s leave");
        assert!(gets.contains(&rival.goodput_mbps), "{rate}: {}", rival.goodput_mbps);
        assert!(leaves.contains(&reno.goodput_mbps), "{rate}: {}", reno.goodput_mbps);
        assert!(reno.rtt_mean_ms.is_some_and(|rtt| (41.0..83.0).contains(&rtt)), "{:?}", reno.rtt_mean_ms);
        assert_eq!(rival.controller, format!("fixed-window:window=1048576,rate={rate}"));
    }
}

/// What one ACK may let go is bounded; the rest of the window leaves with the next ones.
#[test]
fn what_an_ack_may_not_let_go_leaves_with_the_next() {
    let text = format!("duration_s = 100\n{PATH}{DUMBBELL}{FLOW}pacing = false\nack_burst_packets = 3\n");
    let (mut simulation, _) = with_constant(&text, 30);
    simulation.run_until(Time(1));
    assert_eq!(simulation.packet_counts().sent, 3);
    // Three ACKs, and three packets for each.
    simulation.run_until(Time::ZERO + Span::from_millis(50));
    assert_eq!(simulation.packet_counts().sent, 3 + 3 + 9);
    let flow = &simulation.finish().flows[0];
    let expected = 30.0 * 1250.0 * 8.0 / 0.041 / 1e6;
    assert!((flow.goodput_mbps / expected - 1.0).abs() < 0.01, "{}, expected {expected}", flow.goodput_mbps);
}

#[test]
fn acks_come_for_every_packet_or_every_second_and_say_how_long_they_waited() {
    for (policy, share, most) in [("ack = \"per-packet\"", 1.0, 0.0), ("ack = \"delayed\"", 0.5, 25.0)] {
        let text = format!("duration_s = 10\n{PATH}{DUMBBELL}{FLOW}{policy}\n");
        let (simulation, log) = with_constant(&text, 25);
        let outcome = simulation.finish();
        let acks: Vec<_> = log
            .all()
            .into_iter()
            .filter_map(|(_, seen)| if let Seen::Acked { delay, .. } = seen { Some(delay) } else { None })
            .collect();
        let seen = acks.len() as f64 / outcome.flows[0].packets_sent as f64;
        assert!((seen - share).abs() < 0.01, "{policy}: {seen}");
        assert!(acks.iter().all(|delay| delay.millis() <= most), "{policy}");
    }
    // A window of one packet waits for the timer each time.
    let text = format!("duration_s = 10\n{PATH}{DUMBBELL}{FLOW}ack = \"delayed\"\nmax_ack_delay_ms = 20\n");
    let (simulation, log) = with_constant(&text, 1);
    let outcome = simulation.finish();
    let acked: Vec<_> = log.events().iter().filter_map(|event| event.rtt()).collect();
    assert!(acked.iter().all(|rtt| rtt.latest == Span::from_millis(61) && rtt.ack_delay == Span::from_millis(20)));
    assert_eq!(acked.last().map(|rtt| rtt.min), Some(Span::from_millis(61)));
    assert_eq!(outcome.flows[0].packets_sent, 164);
}

#[test]
fn one_way_delays_add_up_and_carry_the_clock_offset() {
    let forward = |offset: &str| {
        let text = format!("duration_s = 5\n{PATH}{DUMBBELL}buffer_bdp = 1\n{FLOW}{offset}");
        let (simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
        let _ = simulation.finish();
        let mut out = Vec::new();
        for event in log.events() {
            let EventKind::PacketsAcked(acked) = event.kind else { continue };
            let one_way = acked.one_way.unwrap();
            if let Some(rtt) = acked.rtt {
                assert_eq!(one_way.forward + one_way.backward, rtt.latest.0 as i64);
                // The forward queue is all that waits.
                assert_eq!(acked.queueing.unwrap().backward, Span::ZERO);
                let wait = acked.queueing.unwrap().forward;
                assert_eq!(rtt.latest, Span::from_millis(41) + wait);
            }
            out.push(one_way.forward);
        }
        out
    };
    let plain = forward("");
    assert_eq!(plain.iter().min(), Some(&21_000_000));
    let shifted = forward("clock_offset_ms = -1000\n");
    assert!(plain.iter().zip(&shifted).all(|(a, b)| a - 1_000_000_000 == *b));
}

#[test]
fn marks_are_told_once_each_and_only_to_capable_flows() {
    for (ecn, capable) in [("ecn = true\n", true), ("ecn = false\n", false), ("", false)] {
        let text = format!(
            "duration_s = 20\n{PATH}{DUMBBELL}buffer_packets = 200\n\
             queue = {{ kind = \"step\", threshold_packets = 20 }}\n{FLOW}{ecn}ack = \"delayed\"\n"
        );
        let (simulation, log) = watched(Simulation::new(&scenario(&text, "reno")).unwrap());
        let outcome = simulation.finish();
        let (flow, queue) = (&outcome.flows[0], &outcome.queues[0]);
        assert_eq!(queue.packets_marked > 0, capable);
        let told: u64 = log
            .events()
            .iter()
            .map(|event| if let EventKind::EcnCe(marked) = event.kind { u64::from(marked.packets) } else { 0 })
            .sum();
        // Those on their way at the end are not reported any more.
        assert!(told <= flow.packets_marked && flow.packets_marked <= queue.packets_marked);
        assert!(queue.packets_marked - told < 50, "{told} of {}", queue.packets_marked);
        let counts = log
            .all()
            .into_iter()
            .rev()
            .find_map(|(_, seen)| if let Seen::Acked { ecn, .. } = seen { ecn } else { None });
        assert_eq!(counts.map(|[_, ect1, ce]| (ect1, ce)), capable.then_some((0, told)));
    }
}

#[test]
fn pacing_spreads_a_window_and_a_burst_fills_a_queue() {
    let deepest = |pacing: bool| {
        // 60 packets of window on a path that holds 40: a standing queue of 20.
        let text = format!("duration_s = 10\n{PATH}{DUMBBELL}{FLOW}pacing = {pacing}\n");
        with_constant(&text, 60).0.finish().queues[0].max_packets
    };
    assert!(deepest(false) >= deepest(true));
    // Delayed ACKs release pairs; paced, they leave apart.
    let text = |pacing: bool| format!("duration_s = 10\n{PATH}{DUMBBELL}{FLOW}pacing = {pacing}\nack = \"delayed\"\n");
    let gaps = |pacing: bool| {
        let (simulation, log) = with_constant(&text(pacing), 20);
        let _ = simulation.finish();
        let sent: Vec<Time> = log.sent().into_iter().map(|(at, _)| at).filter(|at| at.0 > 1_000_000_000).collect();
        sent.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64 / sent.len() as f64
    };
    assert!(gaps(false) > 0.45, "{}", gaps(false));
    assert_eq!(gaps(true), 0.0);
}

#[test]
fn a_controllers_own_pacing_rate_is_the_rate() {
    let rated = Algorithm::ALL.iter().find(|entry| {
        let path = windlass_controllers::Path::new(Time::ZERO, 1250, 1);
        let algorithm = (entry.default)();
        let decision = algorithm.decide(&algorithm.start(&path), windlass_controllers::View::solo(&algorithm.group()));
        decision.pacing_rate.is_some()
    });
    let Some(entry) = rated else { return };
    let text = format!("duration_s = 2\n{PATH}[dumbbell]\nrate_mbps = 1000\nrtt_ms = 40\n{FLOW}");
    let (simulation, log) = watched(Simulation::new(&scenario(&text, entry.name)).unwrap());
    let _ = simulation.finish();
    let mut rate = None;
    let mut last: Option<Time> = None;
    for (at, seen) in log.all() {
        match seen {
            Seen::Event(_, decision) => rate = decision.pacing_rate,
            Seen::Sent(packet) => {
                if let (Some(rate), Some(last)) = (rate, last) {
                    assert!(at.since(last).secs() + 1e-9 >= 0.5 * f64::from(packet.bytes) * 8.0 / rate as f64);
                }
                last = Some(at);
            }
            _ => {}
        }
    }
}

#[test]
fn members_of_a_group_share_and_leave() {
    let text = format!(
        "duration_s = 30\n{PATH}{DUMBBELL}buffer_bdp = 1\n{FLOW}count = 3\ngroup = \"g\"\nstop_s = 20\n\
         [[flow]]\nname = \"other\"\ncontroller = \"reno\"\n"
    );
    let (simulation, log) = watched(Simulation::new(&scenario(&text, "tcp-p")).unwrap());
    let outcome = simulation.finish();
    let kinds: Vec<&str> = log.events().iter().map(kind).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("joined", "left"));
    assert_eq!(outcome.flows[2].stop_s, 20.0);
    let late: Vec<f64> = outcome.flows[3].series.goodput_mbps[450..].to_vec();
    assert!(late.iter().sum::<f64>() / late.len() as f64 > 9.0, "alone at the end");
}

#[test]
fn trains_leave_at_their_offsets_and_are_told_in_the_order_received() {
    let text = format!(
        "duration_s = 20\npacket_bytes = 1000\noverhead_bytes = 0\n[dumbbell]\nrate_mbps = 100\nrtt_ms = 40\nbuffer_bdp = 1\n\
         queue = \"two-class-red\"\n{FLOW}clock_offset_ms = 7\n"
    );
    let (simulation, log) = watched(Simulation::new(&scenario(&text, "nf-tcp")).unwrap());
    let outcome = simulation.finish();
    let all = log.all();
    let mut plans = std::collections::BTreeMap::new();
    let mut heard: std::collections::BTreeMap<u32, Vec<(Time, u32, i64)>> = Default::default();
    let mut data = 0;
    for (now, seen) in all {
        match seen {
            Seen::Event(event, decision) => {
                if let Some(plan) = decision.train {
                    plans.entry(plan.id).or_insert((now, plan));
                }
                if let EventKind::ProbeReceived(probed) = event.kind {
                    heard.entry(probed.train).or_default().push((now, probed.index, probed.one_way.unwrap()));
                }
            }
            Seen::Sent(_) => data += 1,
            _ => {}
        }
    }
    assert!(heard.len() > 20, "{}", heard.len());
    let mut probes = 0;
    for (train, heard) in &heard {
        let (started, plan) = plans[train];
        probes += heard.len() as u64;
        assert!(heard.is_sorted_by_key(|(at, index, _)| (*at, *index)), "{heard:?}");
        for (at, index, one_way) in heard {
            // Departure at the exact offset; the ACK takes 20 ms back.
            let left = started + plan.offset(*index);
            let arrived = Time(at.0 - 20_000_000);
            assert_eq!(arrived.since(left).0 as i64 + 7_000_000, *one_way, "train {train}, probe {index}");
            assert!(arrived.since(left) >= Span::from_micros(20_080));
        }
    }
    // Probes count as sent packets, but neither as data nor as bytes in flight.
    let sent = outcome.flows[0].packets_sent;
    assert!(sent >= data + probes && sent < data + probes + 40, "{sent}, {data}, {probes}");
}

#[test]
fn wake_ups_come_at_the_time_asked_for() {
    // Whatever asks for a call gets it then, and no controller gets one unasked.
    for entry in Algorithm::ALL {
        let text = format!("duration_s = 5\n{PATH}{DUMBBELL}buffer_bdp = 1\n{FLOW}");
        let (simulation, log) = watched(Simulation::new(&scenario(&text, entry.name)).unwrap());
        let _ = simulation.finish();
        let mut asked = None;
        for (now, seen) in log.all() {
            let Seen::Event(event, decision) = seen else { continue };
            if event.kind == EventKind::TimerExpired {
                let asked: Time = asked.unwrap_or_else(|| panic!("{}: nobody asked", entry.name));
                assert!(
                    now >= asked && now.since(asked) <= Span(1),
                    "{}: asked for {asked:?}, called at {now:?}",
                    entry.name
                );
            }
            asked = decision.wake_at;
        }
    }
}

#[test]
fn every_controller_of_the_catalogue_uses_an_empty_path() {
    for entry in Algorithm::ALL {
        let text = format!("duration_s = 60\n{PATH}{DUMBBELL}buffer_bdp = 1\n{FLOW}ecn = true\n");
        let outcome = sim::run(&scenario(&text, entry.name)).unwrap();
        assert!(outcome.queues[0].utilisation > 0.5, "{}: {}", entry.name, outcome.queues[0].utilisation);
    }
}

#[test]
fn start_stop_and_series_agree() {
    let text = format!("duration_s = 10\nsample_ms = 100\n{PATH}{DUMBBELL}{FLOW}start_s = 2\nstop_s = 5.05\n");
    let outcome = with_constant(&text, 10).0.finish();
    let flow = &outcome.flows[0];
    assert_eq!((flow.start_s, flow.stop_s), (2.0, 5.05));
    let series = &flow.series;
    assert_eq!((series.time_s.first(), series.time_s.last()), (Some(&2.1), Some(&5.05)));
    let bits: f64 = series
        .goodput_mbps
        .windows(1)
        .map(|rate| rate[0])
        .zip(std::iter::once(2.0).chain(series.time_s.iter().copied()).zip(&series.time_s).map(|(a, b)| b - a))
        .map(|(rate, time)| rate * time)
        .sum();
    assert!((bits / (flow.goodput_mbps * 3.05) - 1.0).abs() < 1e-9);
    assert_eq!(outcome.queues[0].series.time_s.len(), 100);
}
