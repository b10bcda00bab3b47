use super::*;
use crate::Packet;

const MS: u64 = 1_000_000;

fn held(packet: Packet, arrived: u64) -> Held {
    Held { packet, hop: 0, arrived, marked: false }
}

/// A queue whose packets all waited 20 ms, one leaving each millisecond: when packets were
/// dropped or marked, ms.
fn standing(ecn: Codepoint, spec: CoDelSpec, until: u64) -> Vec<u64> {
    let mut codel = CoDel::new(spec);
    let packet = Packet { ecn, ..Packet::new(0, 0, 1000) };
    let mut dropped = VecDeque::new();
    for at in 0..20 {
        codel.enqueue(held(packet, at * MS), true, &mut dropped);
    }
    let mut hits = Vec::new();
    for now in 20..until {
        codel.enqueue(held(packet, now * MS), true, &mut dropped);
        let marked = codel.dequeue(now * MS, &mut dropped).is_some_and(|held| held.marked);
        if marked || !dropped.is_empty() {
            hits.push(now);
        }
        dropped.clear();
        // Drops would shorten the queue; it is to stand.
        while codel.held.len() < 20 {
            let arrived = codel.held.front().map_or(now * MS, |first| first.arrived);
            codel.enqueue(held(packet, arrived), true, &mut dropped);
        }
        codel.held.make_contiguous().sort_by_key(|held| held.arrived);
    }
    hits
}

#[test]
fn hits_come_at_the_interval_over_the_root_of_their_number() {
    // The first packet is above the target at 20 ms, the first hit an interval later; then
    // at 100/√1, 100/√2, 100/√3 … ms (RFC 8289 §5.4).
    let spec = CoDelSpec::new(1500);
    let expected: Vec<u64> = (1..6)
        .scan(120.0, |at: &mut f64, n: i32| {
            *at += 100.0 / f64::from(n).sqrt();
            Some(at.ceil() as u64)
        })
        .collect();
    let marks = standing(Codepoint::Ect0, spec, 480);
    assert_eq!(marks[0], 120);
    assert_eq!(marks[1..6], expected[..], "{marks:?}");
    assert_eq!(standing(Codepoint::NotEct, spec, 480)[..6], marks[..6], "drops come at the same times");
    assert_eq!(standing(Codepoint::Ect1, CoDelSpec { mark: false, ..spec }, 480)[..6], marks[..6]);
}

#[test]
fn less_than_the_target_or_a_packet_left_is_no_standing_queue() {
    assert!(
        standing(Codepoint::Ect0, CoDelSpec { target: Span::from_millis(21), ..CoDelSpec::new(1500) }, 900).is_empty()
    );
    // 20 packets are left after each.
    assert!(standing(Codepoint::Ect0, CoDelSpec::new(20_000), 900).is_empty());
    assert!(!standing(Codepoint::Ect0, CoDelSpec::new(19_999), 900).is_empty());
}

#[test]
fn an_empty_queue_ends_the_episode() {
    let mut codel = CoDel::new(CoDelSpec::new(0));
    let mut dropped = VecDeque::new();
    for _ in 0..3 {
        codel.enqueue(held(Packet::new(0, 0, 1000), 0), true, &mut dropped);
    }
    assert!(codel.dequeue(10 * MS, &mut dropped).is_some() && codel.first_above.is_some());
    assert!(codel.dequeue(111 * MS, &mut dropped).is_some(), "the last packet is sent");
    assert_eq!((dropped.len(), codel.dropping), (1, true));
    assert!(codel.dequeue(112 * MS, &mut dropped).is_none());
    assert_eq!((codel.first_above, codel.dropping), (None, false));
}
