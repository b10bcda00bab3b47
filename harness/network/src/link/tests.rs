use super::*;
use crate::topology::Set;
use crate::{CoDelSpec, Jitter, Queue, RedSpec, StepSpec};

fn us(micros: u64) -> Time {
    Time::from_micros(micros)
}

/// 8 Mbit/s: 1000 bytes take 1 ms.
fn slow(limit: Limit) -> LinkSpec {
    LinkSpec::new("slow", 8e6, Span::from_micros(500)).with_limit(limit)
}

fn offer(link: &mut Link, at: Time, id: u64) -> Queued {
    link.arrive(at, &Packet::new(0, id, 1000), 0)
}

fn drain(link: &mut Link) -> Vec<(u64, Time)> {
    let mut out = Vec::new();
    while link.next() < u64::MAX {
        let at = Time(link.next());
        out.extend(link.take(at).map(|entry| (entry.packet.id, at)));
    }
    out
}

#[test]
fn transmission_then_propagation_in_order() {
    let mut link = Link::new(&slow(Limit::Unlimited), 1);
    for id in 0..3 {
        offer(&mut link, us(0), id);
    }
    assert_eq!(link.waiting(us(0)), (2, 2000), "the one in transmission does not wait");
    assert_eq!(link.waiting(us(1000)), (1, 1000), "a transmission that ends lets the next start at the same instant");
    assert_eq!(drain(&mut link), [(0, us(1500)), (1, us(2500)), (2, us(3500))]);
}

#[test]
fn odd_transmission_times_do_not_drift() {
    // 1050 bytes at 622 Mbit/s take 13504.823… ns.
    let mut link = Link::new(&LinkSpec::new("oc12", 622e6, Span::ZERO), 1);
    for id in 0..1_000_000 {
        link.arrive(Time::ZERO, &Packet::new(0, id, 1050), 0);
    }
    let (_, last) = drain(&mut link)[999_999];
    let exact = 1e6 * 1050.0 * 8e9 / 622e6;
    assert!((last.0 as f64 - exact).abs() < 1000.0, "{last:?} {exact}");
}

#[test]
fn the_limit_counts_waiting_packets_only() {
    let mut link = Link::new(&slow(Limit::Packets(2)), 1);
    let outcomes: Vec<_> = (0..4).map(|id| offer(&mut link, us(0), id)).collect();
    assert_eq!(outcomes, [Queued::Accepted, Queued::Accepted, Queued::Accepted, Queued::Dropped]);
    assert_eq!(offer(&mut link, us(1000), 4), Queued::Accepted, "one started at that instant");
    let stats = link.stats(us(1000));
    assert_eq!((stats.arrived, stats.dropped_full, stats.forwarded, stats.max_waiting), (5, 1, 1, 2));
}

#[test]
fn a_limit_in_bytes_counts_what_the_packet_needs() {
    let mut link = Link::new(&slow(Limit::Bytes(1500)), 1);
    let sizes = [1000, 1000, 600, 500];
    let outcomes = sizes.map(|bytes| link.arrive(us(0), &Packet::new(0, 0, bytes), 0));
    assert_eq!(outcomes, [Queued::Accepted, Queued::Accepted, Queued::Dropped, Queued::Accepted]);
}

#[test]
fn nothing_waits_on_an_idle_link_without_buffer() {
    let mut link = Link::new(&slow(Limit::Packets(0)), 1);
    assert_eq!(offer(&mut link, us(0), 0), Queued::Accepted);
    assert_eq!(offer(&mut link, us(999), 1), Queued::Dropped);
    assert_eq!(offer(&mut link, us(1000), 2), Queued::Accepted);
}

#[test]
fn mean_and_maximum_of_the_queue_are_exact() {
    let mut link = Link::new(&slow(Limit::Unlimited), 1);
    for id in 0..3 {
        offer(&mut link, us(0), id);
    }
    // Two wait during the first millisecond, one during the second.
    assert!((link.stats(us(500)).waiting_packet_seconds - 0.001).abs() < 1e-12);
    assert!((link.stats(us(9000)).waiting_packet_seconds - 0.003).abs() < 1e-12);
    let stats = link.stats(us(6000));
    assert_eq!((stats.forwarded_bytes, stats.capacity_bytes), (3000, 6000.0));
    assert_eq!(stats.utilisation(), 0.5);
}

#[test]
fn an_instrumented_queue_adds_waiting_only() {
    let mut link = Link::new(&slow(Limit::Unlimited), 1);
    offer(&mut link, us(0), 0);
    offer(&mut link, us(250), 1);
    assert_eq!(link.take(us(1500)).unwrap().packet.waited, Span::ZERO);
    assert_eq!(link.take(us(2500)).unwrap().packet.waited, Span::from_micros(750));
}

#[test]
fn a_drop_marks_capable_packets_that_wait() {
    let mut link = Link::new(&LinkSpec { ci_marking: true, ..slow(Limit::Packets(2)) }, 1);
    for (id, ci_capable) in [(0, true), (1, true), (2, false), (3, true)] {
        link.arrive(us(0), &Packet { ci_capable, ..Packet::new(0, id, 1000) }, 0);
    }
    let marked: Vec<_> =
        std::iter::from_fn(|| link.take(us(9000)).copied()).map(|entry| entry.packet.ci_marked).collect();
    assert_eq!(marked, [false, true, false], "in transmission: no; waiting: yes; not capable: no");
    assert_eq!(link.stats(us(9000)).ci_marked, 1);
}

#[test]
fn arrivals_named_by_number_are_dropped() {
    let mut link = Link::new(&LinkSpec { drop_arrivals: vec![1, 3], ..slow(Limit::Unlimited) }, 1);
    for id in 0..5 {
        offer(&mut link, us(0), id);
    }
    assert_eq!(drain(&mut link).iter().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 2, 4]);
    assert_eq!(link.stats(us(9000)).dropped_forced, 2);
}

#[test]
fn halving_the_rate_stretches_what_remains() {
    let mut link = Link::new(&slow(Limit::Unlimited), 1);
    for id in 0..3 {
        offer(&mut link, us(0), id);
    }
    link.change(us(1500), &Set { rate: Some(4e6), ..Set::default() });
    offer(&mut link, us(1500), 3);
    // The first is through; half of the second remains: 1 ms; then 2 ms each.
    assert_eq!(drain(&mut link), [(0, us(1500)), (1, us(3000)), (2, us(5000)), (3, us(7000))]);
    let stats = link.stats(us(6500));
    assert!((stats.capacity_bytes - (1500.0 + 2500.0)).abs() < 1e-9);
    assert!((stats.waiting_packet_seconds - (0.001 + 0.0025 + 0.003)).abs() < 1e-9, "{stats:?}");
}

#[test]
fn a_shorter_delay_overtakes_no_packet() {
    let mut link = Link::new(&slow(Limit::Unlimited), 1);
    for id in 0..2 {
        offer(&mut link, us(0), id);
    }
    // The first has left at 1 ms and arrives at 1.5 ms; the second would arrive earlier
    // than the first only if it overtook it.
    link.change(us(1200), &Set { delay: Some(Span::ZERO), ..Set::default() });
    assert_eq!(drain(&mut link), [(0, us(1500)), (1, us(2000))]);
}

#[test]
fn jitter_keeps_order_unless_asked_otherwise() {
    let jitter =
        |reorders| LinkSpec { jitter: Jitter { max: Span::from_millis(10), reorders }, ..slow(Limit::Unlimited) };
    let ids = |spec: &LinkSpec| {
        let mut link = Link::new(spec, 1);
        for id in 0..100 {
            offer(&mut link, us(0), id);
        }
        drain(&mut link)
    };
    let kept = ids(&jitter(false));
    assert!(kept.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
    let mixed = ids(&jitter(true));
    assert!(mixed.is_sorted_by_key(|(_, at)| *at) && !mixed.is_sorted_by_key(|(id, _)| *id));
    for (id, at) in mixed {
        let earliest = us(1000 * (id + 1) + 500);
        assert!(at >= earliest && at <= earliest + Span::from_millis(10), "{id} {at:?}");
    }
}

#[test]
fn a_pure_delay_never_queues() {
    let mut link = Link::new(&LinkSpec::pipe("pipe", Span::from_micros(70)).with_limit(Limit::Packets(0)), 1);
    for id in 0..3 {
        assert_eq!(offer(&mut link, us(5), id), Queued::Accepted);
    }
    assert_eq!(drain(&mut link), [(0, us(75)), (1, us(75)), (2, us(75))]);
}

/// I23: order is kept and CE appears on ECN-capable packets only; the others are dropped.
#[test]
fn a_hit_marks_what_is_capable_and_drops_what_is_not() {
    for queue in [Queue::Red(RedSpec { weight: 1.0, ..RedSpec::new(1.0, 2.0, 1.0, 1000.0) })] {
        let mut link = Link::new(&LinkSpec { queue, ..slow(Limit::Packets(4)) }, 1);
        let mut outcomes = Vec::new();
        for (id, ecn) in [(0, Codepoint::Ect0), (1, Codepoint::Ect0), (2, Codepoint::NotEct), (3, Codepoint::NotEct)] {
            outcomes.push(link.arrive(us(0), &Packet { ecn, ..Packet::new(0, id, 1000) }, 0));
        }
        for (id, ecn) in [(4, Codepoint::NotEct), (5, Codepoint::Ect1), (6, Codepoint::Ce), (7, Codepoint::Ect0)] {
            outcomes.push(link.arrive(us(0), &Packet { ecn, ..Packet::new(0, id, 1000) }, 0));
        }
        use Queued::{Accepted, Dropped};
        assert_eq!(outcomes, [Accepted, Accepted, Accepted, Dropped, Dropped, Accepted, Accepted, Dropped]);
        let seen: Vec<_> =
            std::iter::from_fn(|| link.take(us(9000)).copied()).map(|e| (e.packet.id, e.packet.ecn)).collect();
        let ce = Codepoint::Ce;
        assert_eq!(seen, [(0, Codepoint::Ect0), (1, Codepoint::Ect0), (2, Codepoint::NotEct), (5, ce), (6, ce)]);
        let stats = link.stats(us(9000));
        assert_eq!((stats.marked, stats.dropped_early, stats.dropped_full), (2, 2, 1), "marked, then no room");
    }
}

#[test]
fn a_step_marks_above_its_threshold_and_drops_nothing() {
    let mut link = Link::new(
        &LinkSpec {
            queue: Queue::Step(StepSpec { threshold: Some(1), ..StepSpec::default() }),
            ..slow(Limit::Unlimited)
        },
        1,
    );
    for (id, ecn) in [(0, Codepoint::Ect0), (1, Codepoint::Ect0), (2, Codepoint::Ect0), (3, Codepoint::Ect0)] {
        link.arrive(us(0), &Packet { ecn, ..Packet::new(0, id, 1000) }, 0);
    }
    assert_eq!(link.arrive(us(0), &Packet::new(0, 4, 1000), 0), Queued::Accepted);
    let marked: Vec<_> =
        std::iter::from_fn(|| link.take(us(9000)).copied()).map(|e| e.packet.ecn == Codepoint::Ce).collect();
    assert_eq!(marked, [false, false, false, true, false]);
}

/// What a CoDel queue at 8 Mbit/s makes of 1000-byte packets that arrive every `gap` µs.
fn codel(ecn: Codepoint, packets: u64, gap: u64) -> (Link, Vec<(u64, Time)>) {
    let queue = Queue::CoDel(CoDelSpec::new(1000));
    let mut link = Link::new(&LinkSpec { queue, ..slow(Limit::Unlimited) }, 1);
    let mut out = Vec::new();
    for id in 0..packets {
        let now = us(id * gap);
        while link.next() <= now.0 {
            let at = Time(link.next());
            out.extend(link.take(at).map(|entry| (entry.packet.id, at)));
        }
        link.arrive(now, &Packet { ecn, ..Packet::new(0, id, 1000) }, 0);
    }
    out.extend(drain(&mut link));
    (link, out)
}

#[test]
fn codel_below_the_rate_is_a_plain_fifo() {
    let (link, out) = codel(Codepoint::NotEct, 500, 1000);
    let plain: Vec<_> = (0..500).map(|id| (id, us(id * 1000 + 1500))).collect();
    assert_eq!(out, plain);
    assert_eq!(link.stats(us(600_000)).forwarded, 500);
}

#[test]
fn codel_keeps_the_link_busy_and_every_packet_accounted_for() {
    for (ecn, marks) in [(Codepoint::NotEct, false), (Codepoint::Ect0, true)] {
        // A tenth more than the link can carry, for 5 s.
        let (mut link, out) = codel(ecn, 5500, 909);
        let stats = link.stats(Time(10_000_000_000));
        assert_eq!(stats.marked > 0, marks);
        assert_eq!(stats.dropped_early > 0, !marks);
        assert_eq!(out.len() as u64, stats.forwarded);
        assert_eq!(stats.arrived, stats.forwarded + stats.dropped());
        assert_eq!((link.holds(), link.waiting(Time(10_000_000_000))), (0, (0, 0)));
        let gaps: Vec<_> = out.windows(2).map(|pair| pair[1].1.0 - pair[0].1.0).collect();
        assert!(gaps.iter().all(|gap| *gap == 1_000_000), "nothing idles, nothing drifts: {gaps:?}");
        assert!(out.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}

#[test]
fn what_codel_drops_has_waited_too() {
    // Three packets at once, nothing acceptable but an empty queue.
    let queue = Queue::CoDel(CoDelSpec { target: Span::ZERO, interval: Span(1), mtu: 0, mark: false });
    let mut link = Link::new(&LinkSpec { queue, ..slow(Limit::Unlimited) }, 1);
    for id in 0..6 {
        offer(&mut link, us(0), id);
    }
    assert_eq!(link.waiting(us(0)), (5, 5000));
    assert_eq!(link.stats(us(1000)).waiting_packet_seconds, 5e-3);
    let out = drain(&mut link);
    let stats = link.stats(us(9000));
    assert_eq!(out.len() as u64 + stats.dropped_early, 6);
    assert!(stats.dropped_early > 0 && stats.waiting_packet_seconds >= 5e-3, "{stats:?}");
}

#[test]
fn jitter_can_begin_and_end() {
    let jitter = Jitter { max: Span::ZERO, reorders: false };
    let mut link = Link::new(&LinkSpec { jitter, ..slow(Limit::Unlimited) }, 1);
    let extra = |link: &mut Link, at: u64| {
        offer(link, us(at), 0);
        drain(link)[0].1.0 - us(at + 1500).0
    };
    assert_eq!(extra(&mut link, 0), 0);
    link.change(us(5000), &Set { jitter: Some(Span::from_millis(3)), ..Set::default() });
    let shaken: Vec<u64> = (1..50).map(|i| extra(&mut link, 5000 + 10_000 * i)).collect();
    assert!(shaken.iter().all(|extra| *extra <= 3_000_000) && shaken.iter().any(|extra| *extra > 2_000_000));
    link.change(us(600_000), &Set { jitter: Some(Span::ZERO), ..Set::default() });
    assert_eq!(extra(&mut link, 600_000), 0);
}
