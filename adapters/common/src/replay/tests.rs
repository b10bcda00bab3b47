use windlass_controllers::event::{LossTrigger, PacketsAcked, PacketsLost};
use windlass_controllers::{Path, Span, Time};
use windlass_qlog::{Detail, Header, Profile, Trace};

use super::*;
use crate::qlog::Level;
use crate::{QlogRecorder, SharedTrace};

const PATH: Path = Path::new(Time(5_000_000), 1200, 3);

type Log = SharedTrace<Vec<u8>>;

fn recorder(name: &str) -> (QlogRecorder<Vec<u8>>, Log) {
    let algorithm = NamedController::read(name).unwrap();
    let trace = Trace::new(Vec::new(), Profile::Ietf, Detail::Packets, &Header::default());
    let recorder = QlogRecorder::new(trace, Level::Steps, &algorithm, name, &PATH);
    let log = recorder.trace();
    (recorder, log)
}

fn acked(step: u64) -> Event {
    let now = PATH.now + Span::from_millis(40 + step);
    let acked = PacketsAcked::new(2400, 2, PATH.now + Span::from_millis(step), 21_600, 2400 * (step + 1))
        .with_newest_pn(Some(step))
        .with_newest_in_flight(Some(24_000))
        .with_in_flight_before(24_000);
    Event::new(now, EventKind::PacketsAcked(acked))
}

fn lost(step: u64) -> Event {
    let lost = PacketsLost::new(1200, 1, PATH.now + Span::from_millis(step), 22_800)
        .with_newest_pn(Some(step))
        .with_in_flight_before(24_000)
        .with_trigger(LossTrigger::PacketThreshold);
    Event::new(PATH.now + Span::from_millis(40 + step), EventKind::PacketsLost(lost))
}

fn event(step: u64) -> Event {
    if step % 7 == 6 { lost(step) } else { acked(step) }
}

fn finish(log: Log) -> Vec<u8> {
    log.finish().unwrap().unwrap()
}

fn ungrouped(name: &str) -> Vec<u8> {
    let (recorder, log) = recorder(name);
    let mut flow = Flow::ungrouped(NamedController::read(name).unwrap(), &PATH);
    flow.record(Box::new(recorder));
    (0..40).for_each(|step| {
        flow.on_event(&event(step));
    });
    drop(flow);
    finish(log)
}

/// Three members of a group, of which one leaves early.
fn group(name: &str) -> Vec<Vec<u8>> {
    let algorithm = NamedController::read(name).unwrap();
    let groups = Groups::<NamedController, u8>::default();
    let mut flows = Vec::new();
    let mut logs = Vec::new();
    for _ in 0..3 {
        let (recorder, log) = recorder(name);
        flows.push(Flow::grouped_with(algorithm, &PATH, &groups, 1, Some(Box::new(recorder))));
        logs.push(log);
    }
    for step in 0..60 {
        let member = (step * 5 % 3) as usize % flows.len();
        flows[member].on_event(&event(step));
        if step == 30 {
            flows.remove(1);
        }
    }
    drop(flows);
    logs.into_iter().map(finish).collect()
}

fn replayed(logs: &[Vec<u8>]) -> Vec<Outcome> {
    replay(logs.iter().map(Vec::as_slice).collect())
}

#[test]
fn flows_alone_decide_the_same_again() {
    for name in ["reno", "cubic", "bic", "tcp-k:k=3", "vegas", "fast"] {
        let outcomes = replayed(&[ungrouped(name)]);
        assert!(matches!(&outcomes[0], Outcome::Equal { controller, steps: 40 } if controller == name), "{outcomes:?}");
    }
}

#[test]
fn groups_decide_the_same_again_whatever_the_order_of_their_logs() {
    for name in ["tcp-p:k=2", "dca-c", "a-tcp-p"] {
        let mut logs = group(name);
        for _ in 0..3 {
            logs.rotate_left(1);
            let outcomes = replayed(&logs);
            assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Equal { .. })), "{name}: {outcomes:?}");
        }
        logs.pop();
        let outcomes = replayed(&logs);
        assert!(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Missing { group: 0, .. })), "{outcomes:?}");
    }
}

/// A process that is killed leaves each log written up to another step, and perhaps within a record.
#[test]
fn logs_of_a_group_whose_process_was_killed_are_replayed_as_far_as_they_go() {
    let (mut random, mut cut) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    for name in ["tcp-p:k=2", "dca-c", "a-tcp-p"] {
        let logs = group(name);
        for _ in 0..100 {
            let mut written = logs.clone();
            for log in &mut written {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                log.truncate(log.len() - random as usize % (log.len() / 2));
            }
            let outcomes = replayed(&written);
            assert!(outcomes.iter().all(Outcome::is_equal), "{name}: {outcomes:?}");
            let steps = |outcome: &Outcome| match *outcome {
                Outcome::Equal { steps, .. } | Outcome::Cut { steps, .. } => steps,
                _ => 0,
            };
            // All that were taken before the one that is missing.
            let all: u64 = outcomes.iter().map(steps).sum();
            let missing = |outcome: &Outcome| matches!(outcome, Outcome::Cut { step, .. } if *step != all);
            assert!(!outcomes.iter().any(missing), "{name}: {outcomes:?}");
            cut += outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Cut { .. })).count();
        }
    }
    assert!(cut > 100, "{cut}");
}

#[test]
fn a_changed_decision_is_pointed_at() {
    let text = String::from_utf8(ungrouped("reno")).unwrap();
    // Of the steps, the tenth with a window.
    let (place, window) = text.match_indices("\"decision\":{\"cwnd\":").nth(10).unwrap();
    let mut changed = text.clone();
    changed.replace_range(place + window.len()..place + window.len() + 1, "9");
    let outcomes = replayed(&[changed.into_bytes()]);
    let Outcome::Differs(difference) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!((difference.step, difference.fields.len()), (10, 1));
    assert_eq!(difference.fields[0].0, "cwnd");
    let text = outcomes[0].to_string();
    assert!(text.contains("step 10 differs") && text.contains("cwnd: recorded 9"), "{text}");
}

#[test]
fn what_cannot_be_replayed_is_reported() {
    let text = String::from_utf8(ungrouped("reno")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let headless: String = lines.iter().filter(|line| !line.contains("windlass:started")).copied().collect();
    let unknown = text.replace("\"controller\":\"reno\"", "\"controller\":\"rhino\"");
    let broken = text.replacen("\"packets_acked\":{", "\"packets_acked\":{\"bytes\":-1,", 1);
    let outcomes =
        replayed(&[headless.into_bytes(), unknown.into_bytes(), broken.into_bytes(), lines[0].as_bytes().to_vec()]);
    assert!(matches!(outcomes[0], Outcome::NoStart), "{outcomes:?}");
    assert!(matches!(&outcomes[1], Outcome::UnknownController(name) if name == "rhino"), "{outcomes:?}");
    assert!(matches!(outcomes[2], Outcome::Unreadable(_)), "{outcomes:?}");
    assert!(matches!(outcomes[3], Outcome::NoSteps), "{outcomes:?}");
}
