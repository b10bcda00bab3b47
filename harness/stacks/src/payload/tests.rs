use windlass_simulator::scenario::{Frames, Scenario};

use super::*;

const CHUNK: usize = source::CHUNK;

/// Three whole chunks and 10 bytes of a stream.
fn sent() -> (Source, Vec<u8>) {
    let mut source = Source::new(7, "a");
    let all = (0..3).map(|_| source.take(u64::MAX)).collect::<Vec<_>>().concat();
    let last = source.take(10);
    assert_eq!(source.made(), 3 * CHUNK as u64 + 10);
    (source, [&all[..], &last].concat())
}

#[test]
fn both_ends_agree_whatever_the_order() {
    let (mut source, all) = sent();
    let mut sink = Sink::default();
    let mut take = |from: usize, to: usize| {
        sink.take(&mut source, from as u64, &all[from..to]);
        (sink.received(), sink.in_order())
    };
    take(2 * CHUNK, 3 * CHUNK);
    assert_eq!(take(0, 100), (CHUNK as u64 + 100, 100));
    take(CHUNK, 2 * CHUNK);
    assert_eq!(take(100, CHUNK), (3 * CHUNK as u64, 3 * CHUNK as u64));
    take(3 * CHUNK, 3 * CHUNK + 10);
    assert_eq!(sink.in_order(), source.made());
    assert_eq!(sink.check(&mut source), Ok(Sha256::digest(all).into()));
}

#[test]
fn what_is_missing_is_not_in_order() {
    let (mut source, all) = sent();
    let mut sink = Sink::default();
    sink.take(&mut source, 0, &all[..1000]);
    sink.take(&mut source, 1001, &all[1001..]);
    assert_eq!(sink.check(&mut source), Ok(Sha256::digest(&all[..1000]).into()));
}

/// Three pieces, each with its offset.
type Pieces = [(u64, Vec<u8>); 3];

#[test]
fn a_byte_that_changed_or_lies_elsewhere_shows() {
    let pieces = |all: &[u8]| [0, 1200, 2400].map(|from| (from as u64, all[from..from + 1200].to_vec()));
    let check = |change: &dyn Fn(&mut Pieces)| {
        let (mut source, all) = sent();
        let mut pieces = pieces(&all);
        change(&mut pieces);
        let mut sink = Sink::default();
        pieces.iter().for_each(|(offset, bytes)| sink.take(&mut source, *offset, bytes));
        sink.check(&mut source)
    };
    assert_eq!(check(&|_| {}), Ok(Sha256::digest(&sent().1[..3600]).into()));
    let wrong = |at: u64| Err(format!("byte {at} received of its stream is not the one sent there"));
    for at in [0, 1199, 1200, 3599] {
        assert_eq!(check(&|pieces| pieces[at / 1200].1[at % 1200] ^= 0x10), wrong(at as u64));
    }
    // Two pieces at each other's place, a byte left out, one too many, an early piece one byte further on.
    assert!(check(&|pieces| (pieces[0].0, pieces[1].0) = (1200, 0)).is_err());
    let left_out = |pieces: &mut Pieces| {
        pieces[1].1.remove(7);
    };
    assert!(check(&left_out).is_err());
    assert!(check(&|pieces| pieces[1].1.insert(7, 0)).is_err());
    assert!(check(&|pieces| (pieces[2].0, pieces[2].1[0]) = (2401, 0)).is_err());
}

#[test]
fn more_than_was_made_has_no_hash() {
    let mut source = Source::new(7, "a");
    let bytes = source.take(100);
    assert_eq!(source.finish(101), None);
    let mut sink = Sink::default();
    sink.take(&mut source, 0, &[&bytes[..], &[1]].concat());
    assert!(sink.check(&mut source).is_err());
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
