use super::*;

const MS: u64 = 1_000_000;

/// A sender's packets with an RTT of 100 ms, known since `first_sample`.
struct Fixture {
    recovery: Recovery,
    rtt: RttEstimator,
}

impl Fixture {
    fn new() -> Fixture {
        let mut rtt = RttEstimator::new();
        for _ in 0..50 {
            rtt.sample(Time(0), Span(100 * MS), Span::ZERO);
        }
        Fixture { recovery: Recovery::new(false), rtt }
    }

    fn send(&mut self, at: u64) -> u64 {
        self.recovery.sent(Sent { sent_at: at, bytes: 1000, transmissions: 1, ..Sent::default() })
    }

    fn send_all(&mut self, at: impl IntoIterator<Item = u64>) {
        for at in at {
            self.send(at);
        }
    }

    fn ack(&mut self, number: u64) {
        assert!(matches!(self.recovery.acked(number), Acknowledged::New(_)));
        self.recovery.frame(number);
    }

    fn detect(&mut self, now: u64) -> (Option<LostBatch>, Vec<u64>) {
        let mut lost = Vec::new();
        let batch = self.recovery.detect(now, &self.rtt, Span::ZERO, |_, number, _| lost.push(number));
        (batch, lost)
    }
}

#[test]
fn another_threshold_asks_for_more_later_packets() {
    let mut f = Fixture::new();
    f.recovery.packet_threshold = 5;
    f.send_all(0..7);
    (1..5).for_each(|number| f.ack(number));
    assert_eq!(f.detect(100 * MS), (None, vec![]), "four later ones");
    f.ack(5);
    assert_eq!(f.detect(100 * MS).1, [0]);
}

#[test]
fn three_later_packets_make_a_loss() {
    let mut f = Fixture::new();
    (0..6).for_each(|i| assert_eq!(f.send(i), i));
    f.ack(2);
    assert_eq!(f.detect(101 * MS), (None, vec![]), "two and one behind");
    f.ack(4);
    let (batch, lost) = f.detect(102 * MS);
    assert_eq!(lost, [0, 1], "four and three behind");
    let batch = batch.unwrap();
    assert_eq!((batch.bytes, batch.packets, batch.newest, batch.trigger), (2000, 2, 1, LossTrigger::PacketThreshold));
    assert_eq!(f.recovery.in_flight, 2000, "3 and 5");
    assert!(f.recovery.waits_for_loss(), "3 is behind 4");
}

#[test]
fn nine_eighths_of_an_rtt_make_a_loss() {
    let mut f = Fixture::new();
    f.send(0);
    f.send(50 * MS);
    f.ack(1);
    assert_eq!(f.detect(112 * MS), (None, vec![]));
    assert_eq!(f.recovery.deadline(&f.rtt, Span::ZERO), 112_500_000, "9/8 of 100 ms after its departure");
    let (batch, lost) = f.detect(112_500_000);
    assert_eq!((batch.unwrap().trigger, lost), (LossTrigger::TimeThreshold, vec![0]));
    assert_eq!(f.recovery.deadline(&f.rtt, Span::ZERO), NEVER, "nothing in flight");
}

#[test]
fn the_time_threshold_is_at_least_a_millisecond() {
    let mut f = Fixture::new();
    f.rtt = RttEstimator::new();
    f.rtt.sample(Time(0), Span(10_000), Span::ZERO);
    f.send(0);
    f.send(1);
    f.ack(1);
    assert!(f.detect(MS - 1).1.is_empty());
    assert_eq!(f.detect(MS).1, [0]);
}

#[test]
fn the_probe_timeout_follows_the_last_packet_and_doubles() {
    let mut f = Fixture::new();
    assert_eq!(f.recovery.deadline(&f.rtt, Span::ZERO), NEVER);
    f.send(10 * MS);
    f.send(20 * MS);
    let pto = f.rtt.pto(Span(25 * MS)).0;
    assert_eq!(f.recovery.deadline(&f.rtt, Span(25 * MS)), 20 * MS + pto);
    f.recovery.back_off();
    assert_eq!(f.recovery.deadline(&f.rtt, Span(25 * MS)), 20 * MS + 2 * pto);
    f.recovery.back_off();
    assert_eq!(f.recovery.deadline(&f.rtt, Span(25 * MS)), 20 * MS + 4 * pto);
    f.ack(0);
    assert_eq!(f.recovery.deadline(&f.rtt, Span(25 * MS)), 20 * MS + pto, "an ACK resets the backoff");
    (0..200).for_each(|_| f.recovery.back_off());
    assert!(f.recovery.deadline(&f.rtt, Span(25 * MS)) > 20 * MS, "and it never overflows");
}

/// `§7.6`: the span between two lost packets, with nothing acknowledged between them.
#[test]
fn persistent_congestion_needs_a_span_without_acknowledgements() {
    let long = Fixture::new().rtt.persistent_congestion_duration(Span::ZERO).0;
    let sent = |f: &mut Fixture| {
        f.send_all([1, 2 + long / 2, 3 + long, 4 + long, 5 + long, 6 + long]);
    };

    let mut f = Fixture::new();
    sent(&mut f);
    f.ack(5);
    let (batch, lost) = f.detect(7 + long);
    assert_eq!(lost, [0, 1, 2]);
    assert!(batch.unwrap().persistent);

    let mut f = Fixture::new();
    sent(&mut f);
    f.ack(1);
    f.ack(5);
    assert!(!f.detect(7 + long).0.unwrap().persistent, "one between was acknowledged");

    let mut f = Fixture::new();
    f.rtt.first_sample = Some(Time(1));
    sent(&mut f);
    f.ack(5);
    assert!(!f.detect(7 + long).0.unwrap().persistent, "the first left before the first sample");

    let mut f = Fixture::new();
    f.send(1);
    f.send(1 + long);
    f.send_all([2 + long; 3]);
    f.ack(4);
    let (batch, lost) = f.detect(3 + long);
    assert_eq!((batch.unwrap().persistent, lost), (false, vec![0, 1]), "the span has to exceed the duration");
}

#[test]
fn a_run_of_losses_goes_on_over_several_acks_and_counts_once() {
    let mut f = Fixture::new();
    let long = f.rtt.persistent_congestion_duration(Span::ZERO).0;
    f.send_all([1, 2, 3 + long, 4 + long, 5 + long, 6 + long, 7 + long]);
    f.ack(4);
    assert!(!f.detect(8 + long).0.unwrap().persistent);
    f.ack(5);
    let (batch, lost) = f.detect(9 + long);
    assert_eq!((batch.unwrap().persistent, lost), (true, vec![2]), "0 to 2 span it");
    f.ack(6);
    assert!(!f.detect(10 + long).0.unwrap().persistent, "3 is the first of a new run");
}

#[test]
fn late_acknowledgements_are_told_from_new_ones_until_forgotten() {
    let mut f = Fixture::new();
    f.send_all(0..5);
    f.ack(4);
    assert_eq!(f.detect(5).1, [0, 1]);
    assert!(matches!(f.recovery.acked(4), Acknowledged::Known));
    assert!(matches!(f.recovery.acked(1), Acknowledged::Late(packet) if packet.in_flight_or_lost_at == 5));
    assert!(matches!(f.recovery.acked(1), Acknowledged::Known));
    f.recovery.reclaim(15, 10);
    assert_eq!(f.recovery.sent.first(), 0, "a late ACK of the first may still come");
    f.recovery.reclaim(16, 10);
    assert_eq!(f.recovery.sent.first(), 2);
    assert!(matches!(f.recovery.acked(0), Acknowledged::Known));
    assert_eq!(f.recovery.oldest_in_flight().map(|packet| packet.sent_at), Some(2));
}
