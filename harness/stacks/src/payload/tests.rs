use windlass_simulator::scenario::{Frames, Scenario};

use super::*;

#[test]
fn both_ends_agree_whatever_the_order() {
    let mut source = Source::new(7, "a");
    let mut sink = Sink::default();
    let all: Vec<Bytes> = (0..3).map(|_| source.take(u64::MAX)).collect();
    let last = source.take(10);
    assert_eq!(source.made(), 3 * CHUNK as u64 + 10);
    sink.take(2 * CHUNK as u64, all[2].clone());
    sink.take(0, all[0].slice(..100));
    assert_eq!((sink.received(), sink.in_order()), (CHUNK as u64 + 100, 100));
    source.confirm(50);
    sink.take(CHUNK as u64, all[1].clone());
    sink.take(100, all[0].slice(100..));
    sink.take(3 * CHUNK as u64, last);
    assert_eq!(sink.in_order(), source.made());
    let length = sink.in_order();
    assert_eq!(source.finish(length), Some(sink.finish()));
}

#[test]
fn a_changed_byte_shows() {
    let mut source = Source::new(7, "a");
    let mut bytes = source.take(100).to_vec();
    bytes[99] ^= 1;
    let mut sink = Sink::default();
    sink.take(0, bytes.into());
    assert_ne!(source.finish(100), Some(sink.finish()));
}

#[test]
fn more_than_was_made_has_no_hash() {
    let mut source = Source::new(7, "a");
    source.take(100);
    assert_eq!(source.finish(101), None);
}

#[test]
fn streams_differ_by_name_and_seed() {
    let bytes = |seed, name| Source::new(seed, name).take(32);
    assert_eq!(bytes(1, "a"), bytes(1, "a"));
    assert_ne!(bytes(1, "a"), bytes(1, "b"));
    assert_ne!(bytes(1, "a"), bytes(2, "a"));
}

#[test]
fn an_application_writes_when_it_has_its_data() {
    let origin = Instant::now();
    let at = |ms| origin + Duration::from_millis(ms);
    let mut meter = Meter::new(1200);
    let mut write = |writer: &mut Writer, ms, made| {
        let room = writer.write(at(ms), made, Time::from_micros(1000 * ms), &mut meter);
        (room, writer.next())
    };
    let mut writer = Writer::new(Some(Writes::new(1000.5, Span::from_millis(500))));
    assert_eq!(write(&mut writer, 3, 0), (1000, Some(at(503))));
    assert_eq!(write(&mut writer, 502, 1000), (0, Some(at(503))));
    assert_eq!(write(&mut writer, 503, 1000), (1001, Some(at(1003))));
    assert_eq!(write(&mut writer, 3503, 0), (8004, Some(at(4003))));
    assert_eq!(write(&mut Writer::new(None), 0, 7), (u64::MAX, None));
}

#[test]
fn frames_count_from_when_they_were_written_though_the_end_runs_later() {
    let frames = Frames { key_every: 1, key_factor: 1.0, late: Span::from_millis(150), encoder: None, objects: None };
    let writes = Writes { frames: Some(frames), ..Writes::new(1000.0, Span::from_millis(100)) };
    let scenario =
        "duration_s = 1\n[dumbbell]\nrate_mbps = 1\nrtt_ms = 1\nbuffer_bdp = 1\n[[flow]]\ncontroller = \"reno\"";
    let mut spec = Scenario::read("one flow", scenario, None).unwrap().flows.remove(0);
    spec.writes = Some(writes);
    let mut meter = Meter::of(&spec);
    let mut writer = Writer::new(spec.writes);
    let origin = Instant::now();
    // Its clock is 7 s ahead of the network's.
    for ms in [0, 250] {
        let time = Time::from_micros(1000 * (9000 + ms));
        writer.write(origin + Duration::from_millis(7000 + ms), 0, time, &mut meter);
    }
    meter.received(Time::from_micros(9_260_000), 3000);
    let outcome = meter.frames(Time::from_micros(9_300_000)).unwrap();
    // 260, 160 and 60 ms.
    assert_eq!((outcome.written, outcome.delivered, outcome.late), (3, 3, 2));
}
