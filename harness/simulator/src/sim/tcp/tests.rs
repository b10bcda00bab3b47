use windlass_controllers::Span;

use super::*;

const MS: u64 = 1_000_000;

fn reno() -> Tcp {
    *Tcp::new(Recovery::Reno { min_rto: Span::from_millis(1000) }).unwrap()
}

/// `spec: chan §3.6 I2, §3.9`: 1.5 times the first sample, then E6, then L3's factors.
#[test]
fn the_fine_timeout_follows_the_samples() {
    let mut fine = Fine::default();
    assert!(!fine.is_over(u64::MAX, 0), "no timeout without a sample");
    fine.sample(100 * MS);
    assert!(fine.is_over(150 * MS, 0) && !fine.is_over(150 * MS - 1, 0));
    fine.sample(100 * MS);
    // 17/16 · (100 + 2 · 18.75) ms.
    assert_eq!(fine.timeout, Some(146_093_750.0));
    fine.lengthen(1);
    assert_eq!(fine.timeout, Some(164_355_468.75));
    fine.lengthen(2);
    assert_eq!(fine.timeout, Some(328_710_937.5));
}

/// `spec: chan §8.4`: RTO = max(1 s, srtt + 4·rttvar), doubled up to 64 times and 60 s,
/// cleared only by a sample of what was sent once.
#[test]
fn the_coarse_timer_backs_off_until_a_valid_sample() {
    let mut tcp = reno();
    assert_eq!(tcp.deadline(0), NEVER);
    let covers = |tcp: &mut Tcp, chunk: u64| {
        tcp.board.received(chunk);
        tcp.board.advance();
    };
    tcp.sent(0, 0, 0, 1, 0);
    assert_eq!(tcp.deadline(1000), 3000 * MS);
    covers(&mut tcp, 0);
    tcp.renewed(400 * MS, 1);
    // 400 + 4 · 200 ms from then on.
    assert_eq!(tcp.deadline(1000), 1600 * MS);
    for doubled in [2, 4, 8, 16, 32] {
        tcp.timed_out(0, 5);
        assert_eq!(tcp.deadline(1000), 1200 * MS * doubled);
    }
    tcp.timed_out(0, 5);
    assert_eq!(tcp.deadline(1000), 60_000 * MS);
    tcp.sent(0, 1, 1, 2, 0);
    covers(&mut tcp, 1);
    tcp.renewed(MS, 1);
    assert_eq!(tcp.deadline(1000), 60_001 * MS, "a repeated segment is no sample");
    tcp.sent(MS, 2, 2, 1, 1000);
    covers(&mut tcp, 2);
    tcp.renewed(401 * MS, 1);
    assert!(tcp.deadline(1000) < 2000 * MS);
    assert!(tcp.is_going_back(), "chunks up to 4 were sent before the timeout");
}

/// `RFC 2582 §3`: a partial ACK deflates the window by what it acknowledges, less one packet; a
/// full one ends recovery.
#[test]
fn a_partial_acknowledgement_deflates_the_window() {
    let mut tcp = *Tcp::new(Recovery::NewReno { min_rto: Span::from_millis(1000) }).unwrap();
    (0..10).for_each(|chunk| tcp.sent(0, chunk, chunk, 1, 0));
    (tcp.recovery_point, tcp.duplicates, tcp.inflation) = (Some(8), 3, 7);
    assert!(tcp.renewed(MS, 5));
    assert_eq!((tcp.inflation, tcp.duplicates, tcp.recovery_point), (3, 3, Some(8)));
    (0..8).for_each(|chunk| {
        tcp.board.received(chunk);
        tcp.board.advance();
    });
    assert!(!tcp.renewed(MS, 8));
    assert_eq!((tcp.inflation, tcp.duplicates, tcp.recovery_point), (0, 0, None));
}
