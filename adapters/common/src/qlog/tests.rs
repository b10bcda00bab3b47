use windlass_controllers::event::{EcnCe, IdleRestart, PacketsAcked, PacketsLost, RttSample, SpuriousLoss};
use windlass_controllers::{Algorithm, Span, Table, Time};
use windlass_qlog::{Detail, Frame, Header, Packet, Profile};

use super::*;
use crate::step::{Entry, Steps};
use crate::{Flow, Groups};

const PATH: Path = Path::new(Time(1_000_000_000), 1200, 7);

pub(crate) fn decision() -> Decision {
    Decision::new(12_000)
}

fn trace(profile: Profile) -> Trace<Vec<u8>> {
    let header = Header { title: "flow", origin_ns: PATH.now.0, ..Header::default() };
    Trace::new(Vec::new(), profile, Detail::Packets, &header)
}

fn at(ms: u64) -> Time {
    PATH.now + Span::from_millis(ms)
}

/// A plausible history with one event of nearly every kind.
fn history() -> Vec<Event> {
    let ms = Span::from_millis;
    let rtt = RttSample::new(ms(40), Span(40_000_001), ms(5), ms(39));
    let acked = PacketsAcked::new(2400, 2, at(0), 9600, 2400)
        .with_newest_pn(Some(1))
        .with_newest_in_flight(Some(12_000))
        .with_in_flight_before(12_000)
        .with_rtt(Some(rtt));
    let lost = PacketsLost::new(1200, 1, at(30), 8400)
        .with_newest_pn(Some(5))
        .with_in_flight_before(9600)
        .with_trigger(LossTrigger::TimeThreshold);
    let many = PacketsLost::new(3600, 3, at(95), 8400)
        .with_newest_pn(Some(9))
        .with_in_flight_before(9600)
        .with_trigger(LossTrigger::TimeThreshold);
    let mut fatal = many;
    fatal.newest_sent_at = at(940);
    let marked = EcnCe::new(4, at(120), 4800);
    let mut later = acked.with_rtt(None);
    later.newest_sent_at = at(70);
    [
        (40, EventKind::PacketsAcked(acked)),
        (60, EventKind::RttSampled(rtt)),
        (60, EventKind::PacketsLost(lost)),
        (80, EventKind::PacketsAcked(later)),
        (130, EventKind::PacketsLost(many)),
        (150, EventKind::SpuriousLoss(SpuriousLoss::new(at(95)))),
        (200, EventKind::EcnCe(marked)),
        (300, EventKind::MtuUpdated(1400)),
        (900, EventKind::IdleRestart(IdleRestart::new(ms(500), ms(100)))),
        (950, EventKind::PersistentCongestion(fatal)),
    ]
    .map(|(ms, kind)| Event::new(at(ms), kind))
    .into()
}

fn record(level: Level, profile: Profile) -> String {
    let reno: Algorithm = "reno:iw=10".parse().unwrap();
    let mut flow = Flow::ungrouped(reno, &PATH);
    let recorder = QlogRecorder::new(trace(profile), level, &reno, "reno:iw=10", &PATH);
    let shared = recorder.trace();
    flow.record(Box::new(recorder));
    for event in history() {
        flow.on_event(&event);
    }
    drop(flow);
    String::from_utf8(shared.finish().unwrap().unwrap()).unwrap()
}

#[test]
fn the_recovery_level_logs_metrics_states_losses_and_marks() {
    let file = record(Level::Recovery, Profile::Ietf);
    for expected in [
        r#"{"time":0,"name":"quic:congestion_state_updated","data":{"new":"slow_start"}}"#,
        r#"{"time":0,"name":"quic:recovery_metrics_updated","data":{"congestion_window":12000}}"#,
        r#""latest_rtt":40,"smoothed_rtt":40.000001,"min_rtt":39,"rtt_variance":5,"app_limited":false}"#,
        r#"{"time":60,"name":"quic:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":5},"trigger":"time_threshold"}}"#,
        r#"{"time":60,"name":"quic:congestion_state_updated","data":{"old":"slow_start","new":"recovery","trigger":"loss"}}"#,
        r#"{"time":60,"name":"windlass:lost","data":{"packets":1,"bytes":1200,"newest_packet_number":5,"persistent_congestion":false}}"#,
        r#"{"time":130,"name":"windlass:lost","data":{"packets":3,"bytes":3600,"newest_packet_number":9,"persistent_congestion":false}}"#,
        r#"{"time":150,"name":"windlass:spurious_loss","data":{}}"#,
        r#"{"time":200,"name":"windlass:marked","data":{"packets":4}}"#,
        r#"{"time":300,"name":"quic:mtu_updated","data":{"new":1400}}"#,
        r#""persistent_congestion":true}}"#,
    ] {
        assert!(file.contains(expected), "{expected} is missing from\n{file}");
    }
    assert_eq!(file.matches("packet_lost").count(), 1, "of several packets only the newest number is known");
    assert!(!file.contains(STEPPED) && !file.contains(STARTED));
}

#[test]
fn the_steps_alone_leave_recovery_events_to_the_stack() {
    let file = record(Level::StepsOnly, Profile::Ietf);
    assert!(file.lines().skip(1).all(|line| line.contains("windlass:st")), "{file}");
    assert_eq!(file.lines().count(), 1 + 1 + history().len());
}

#[test]
fn a_recorded_flow_replays_to_the_same_decisions() {
    for profile in [Profile::Ietf, Profile::Qvis] {
        let file = record(Level::Steps, profile);
        let mut entries = Steps::new(file.as_bytes()).map(Result::unwrap);
        let Some(Entry::Start(start)) = entries.next() else { panic!("no start") };
        assert_eq!(start.path, PATH);
        let controller: Algorithm = start.controller.parse().unwrap();
        let (mut state, mut group) = (controller.start(&start.path), controller.group());
        assert_eq!(controller.decide(&state, View::solo(&group)), start.decision);
        let mut events = history().into_iter();
        for entry in entries {
            let Entry::Step(step, facts) = entry else { panic!("a second start") };
            assert_eq!(Some(step.event), events.next());
            controller.step(&mut state, Table::solo(&mut group), &step.event);
            assert_eq!(controller.decide(&state, View::solo(&group)), step.decision);
            let mut inspected = std::collections::BTreeMap::new();
            controller.inspect(&state, View::solo(&group), &mut |name, value| {
                inspected.insert(name.to_owned(), value);
            });
            inspected.retain(|_, value| value.is_finite());
            assert_eq!(facts, inspected);
        }
        assert_eq!(events.next(), None);
    }
}

#[test]
fn the_steps_of_a_group_have_their_order() {
    let reno: Algorithm = "reno".parse().unwrap();
    let groups = Groups::<Algorithm, u8>::default();
    let flow = |key| {
        let recorder = QlogRecorder::new(trace(Profile::Ietf), Level::Steps, &reno, "reno", &PATH);
        let shared = recorder.trace();
        (Flow::grouped_with(reno, &PATH, &groups, key, Some(Box::new(recorder))), shared)
    };
    let (mut first, first_trace) = flow(1);
    let (mut second, second_trace) = flow(1);
    let (other, other_trace) = flow(2);
    for event in history() {
        second.on_event(&event);
        first.on_event(&event);
    }
    drop((second, first, other));
    let group_steps = |shared: SharedTrace<Vec<u8>>| -> Vec<(GroupStep, EventKind)> {
        let file = shared.finish().unwrap().unwrap();
        Steps::new(&file[..])
            .filter_map(|entry| match entry.unwrap() {
                Entry::Step(step, _) => Some((step.group_step.unwrap(), step.event.kind)),
                Entry::Start(_) => None,
            })
            .collect()
    };
    let mut all = group_steps(first_trace);
    assert_eq!(all[0], (GroupStep { group: 0, step: 0, member: 0 }, EventKind::Joined));
    assert_eq!(all[1].0, GroupStep { group: 0, step: 3, member: 0 });
    all.extend(group_steps(second_trace));
    all.sort_by_key(|(step, _)| *step);
    let steps: Vec<u64> = all.iter().map(|(step, _)| step.step).collect();
    assert_eq!(steps, (0..steps.len() as u64).collect::<Vec<_>>(), "no step is missing or written twice");
    assert_eq!(all[steps.len() - 2].1, EventKind::Left);
    let other = group_steps(other_trace);
    assert_eq!(other[0], (GroupStep { group: 1, step: 0, member: 0 }, EventKind::Joined));
    assert_eq!(other[1], (GroupStep { group: 1, step: 1, member: 0 }, EventKind::Left));
}

#[test]
fn a_stack_writes_packets_to_the_same_file() {
    let reno: Algorithm = "reno".parse().unwrap();
    let mut flow = Flow::ungrouped(reno, &PATH);
    let shared = SharedTrace::from(trace(Profile::Qvis));
    flow.record(Box::new(QlogRecorder::new(shared.clone(), Level::Recovery, &reno, "reno", &PATH)));
    shared.lock().packet_sent(at(10).0, &Packet::one_rtt(0, 1200), &[Frame::Ping]);
    flow.on_event(&history()[0]);
    assert!(shared.clone().finish().unwrap().is_none(), "the recorder still holds it");
    drop(flow);
    let file = String::from_utf8(shared.finish().unwrap().unwrap()).unwrap();
    let sent = file.find("transport:packet_sent").unwrap();
    assert!(file.rfind("recovery:metrics_updated").unwrap() > sent);
    assert!(file.find("recovery:metrics_updated").unwrap() < sent);
}

/// `cargo test --release -p windlass-adapter -- --ignored --nocapture speed`
#[test]
#[ignore = "prints a speed, asserts none"]
fn speed_of_steps() {
    struct Count(usize);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let reno: Algorithm = "reno".parse().unwrap();
    let steps = 500_000u64;
    for level in [Level::Recovery, Level::Steps] {
        let trace = Trace::new(Count(0), Profile::Ietf, Detail::Packets, &Header::default());
        let recorder = QlogRecorder::new(trace, level, &reno, "reno", &PATH);
        let shared = recorder.trace();
        let mut flow = Flow::ungrouped(reno, &PATH);
        flow.record(Box::new(recorder));
        let start = std::time::Instant::now();
        for step in 0..steps {
            let mut event = history()[0];
            event.now = at(40) + Span(step * 1_234_567);
            flow.on_event(&event);
        }
        let seconds = start.elapsed().as_secs_f64();
        drop(flow);
        let bytes = shared.finish().unwrap().unwrap().0;
        let nanos = seconds * 1e9 / steps as f64;
        println!("{level:?}: {nanos:.0} ns a step, {:.0} MB/s", bytes as f64 / 1e6 / seconds);
    }
}

/// `draft-ietf-tsvwg-careful-resume-qlog §4.1`: each phase with what it begins with.
#[test]
fn phases_of_careful_resume_are_written() {
    let saved = windlass_controllers::SavedPath::new(400 * 1200, Span::from_millis(40));
    let path = PATH.with_saved(Some(saved));
    let cubic = crate::NamedController::named("cubic").unwrap();
    let trace: SharedTrace<Vec<u8>> = trace(Profile::Ietf).into();
    let recorder = QlogRecorder::new(trace.clone(), Level::Recovery, &cubic, "cubic", &path);
    let mut flow = Flow::ungrouped_with(cubic, &path, Some(Box::new(recorder)));
    let sent = |number: u64, in_flight| {
        EventKind::PacketSent(windlass_controllers::event::PacketSent::new(1200, in_flight).with_pn(Some(number)))
    };
    let rtt = RttSample::new(Span::from_millis(40), Span::from_millis(40), Span(0), Span::from_millis(40));
    let acked = PacketsAcked::new(12_000, 10, at(0), 0, 12_000).with_rtt(Some(rtt));
    let lost = PacketsLost::new(1200, 1, at(41), 12_000);
    for (ms, kind) in [
        (0, sent(9, 12_000)),
        (40, EventKind::PacketsAcked(acked)),
        (41, sent(10, 12_000)),
        (42, sent(11, 13_200)),
        (60, EventKind::PacketsLost(lost)),
        (90, EventKind::PacketsAcked(PacketsAcked::new(1200, 1, at(42), 0, 13_200))),
        (95, EventKind::TimerExpired),
    ] {
        flow.on_event(&Event::new(at(ms), kind));
    }
    drop(flow);
    let file = String::from_utf8(trace.finish().unwrap().unwrap()).unwrap();
    let events: Vec<serde_json::Value> = file
        .split('\u{1e}')
        .filter(|record| record.contains(resume::PHASE_UPDATED))
        .map(|record| serde_json::from_str::<serde_json::Value>(record).unwrap()["data"].clone())
        .collect();
    assert_eq!(events.len(), 4, "{file}");
    assert_eq!(
        events[0],
        serde_json::json!({
            "new": "reconnaissance",
            "state_data": {"pipesize": 0, "congestion_window": 12_000},
            "restored_data": {"saved_congestion_window": 480_000, "saved_rtt": 40.0},
        })
    );
    assert_eq!(
        events[1],
        serde_json::json!({
            "old": "reconnaissance",
            "new": "unvalidated",
            "state_data": {"pipesize": 0, "congestion_window": 240_000},
            "trigger": "congestion_window_limited",
        })
    );
    let retreat = &events[2];
    assert_eq!((&retreat["new"], &retreat["trigger"]), (&"safe_retreat".into(), &"packet_loss".into()));
    let data = &retreat["state_data"];
    assert_eq!((&data["first_unvalidated_packet"], &data["last_unvalidated_packet"]), (&10.into(), &11.into()));
    assert_eq!((&events[3]["new"], &events[3]["trigger"]), (&"normal".into(), &"exit_recovery".into()));
    assert!(events[3]["state_data"]["ssthresh"].is_u64());
}
