use std::collections::VecDeque;

use proptest::prelude::*;
use windlass_controllers::{Span, Time};

use super::*;
use crate::link::Link;
use crate::{CoDelSpec, FqCoDelSpec, LinkSpec, Packet, Queue, Service};

fn trace(lines: &[u32]) -> Trace {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Trace::parse(&text).unwrap()
}

fn link(trace: Trace, queue: Queue) -> Link {
    let spec = LinkSpec::new("recorded", trace.mean_rate(), Span::ZERO);
    Link::new(&LinkSpec { service: Service::Trace(trace), queue, ..spec }, 1)
}

/// When packets of so many bytes, each with its arrival in µs, leave `link`, µs.
fn sent_at(mut link: Link, arrivals: &[(u64, u32)]) -> Vec<u64> {
    let mut out = Vec::new();
    let mut until = |link: &mut Link, end: u64| {
        while link.next() <= end && link.next() < u64::MAX / FOREVER {
            let at = link.next();
            out.extend(link.take(Time(at)).map(|_| at / 1000));
        }
    };
    for (id, &(at, bytes)) in (0..).zip(arrivals) {
        // What leaves at the instant of an arrival leaves before it; it may still share its opportunity.
        until(&mut link, (at * 1000).saturating_sub(1));
        link.arrive(Time(at * 1000), &Packet::new(0, id, bytes), 0);
    }
    until(&mut link, u64::MAX - 1);
    out
}

/// What never happens is later than this part of the longest time.
const FOREVER: u64 = 2048;

/// Mahimahi's loop, an opportunity after the other: each has so many bytes for the packet under way and those that
/// wait, and what nothing takes is gone.
fn mahimahi(lines: &[u32], size: u32, arrivals: &[(u64, u32)]) -> Vec<u64> {
    let (mut coming, mut queue) = (arrivals.iter().copied().collect::<VecDeque<_>>(), VecDeque::new());
    let (mut out, mut base, mut under_way) = (Vec::new(), 0u64, 0u32);
    while out.len() < arrivals.len() {
        for line in lines {
            let now = (base + u64::from(*line)) * 1000;
            while coming.front().is_some_and(|(at, _)| *at <= now) {
                queue.extend(coming.pop_front().map(|(_, bytes)| bytes));
            }
            let mut left = size;
            while left > 0 {
                if under_way == 0 {
                    let Some(bytes) = queue.pop_front() else { break };
                    under_way = bytes;
                }
                let sent = under_way.min(left);
                (under_way, left) = (under_way - sent, left - sent);
                if under_way == 0 {
                    out.push(now);
                }
            }
        }
        base += u64::from(*lines.last().unwrap());
    }
    out
}

#[test]
fn mahimahi_links_deliver_exactly_the_traces_opportunities() {
    let lines = [1, 1, 1, 7, 8, 8, 30, 31, 31];
    let full: Vec<(u64, u32)> = vec![(0, 1500); 27];
    let expected: Vec<u64> = (0..3).flat_map(|round| lines.map(|line| 1000 * (31 * round + u64::from(line)))).collect();
    assert_eq!(sent_at(link(trace(&lines), Queue::DropTail), &full), expected);
}

proptest! {
    #[test]
    fn packets_leave_when_mahimahi_lets_them(
        mut lines in proptest::collection::vec(0u32..40, 1..20),
        gaps in proptest::collection::vec((0u64..20_000, 1u32..4000), 1..60),
        size in 300u32..3000,
    ) {
        lines.sort_unstable();
        if lines.last() == Some(&0) {
            lines.push(5);
        }
        let mut at = 0;
        let arrivals: Vec<_> = gaps.iter().map(|(gap, bytes)| { at += gap; (at, *bytes) }).collect();
        let trace = Trace { bytes: size, ..trace(&lines) };
        let expected = mahimahi(&lines, size, &arrivals);
        prop_assert_eq!(&sent_at(link(trace.clone(), Queue::DropTail), &arrivals), &expected);
        // A queue that owns its packets decides at the opportunities and wastes none.
        let codel = CoDelSpec { target: Span(u64::MAX), ..CoDelSpec::new(1500) };
        prop_assert_eq!(&sent_at(link(trace.clone(), Queue::CoDel(codel)), &arrivals), &expected);
        let fq = FqCoDelSpec { codel, ..FqCoDelSpec::new(1500) };
        prop_assert_eq!(&sent_at(link(trace, Queue::FqCoDel(fq)), &arrivals), &expected);
    }
}

#[test]
fn a_run_begins_at_the_offset_and_ends_without_repeating() {
    let lines = [1, 3, 3, 10];
    let from = |offset, repeat| {
        let trace = Trace { offset: Span::from_millis(offset), repeat, ..trace(&lines) };
        sent_at(link(trace, Queue::DropTail), &[(0, 1500); 6])
    };
    assert_eq!(from(0, true), [1000, 3000, 3000, 10_000, 11_000, 13_000]);
    assert_eq!(from(3, true), [0, 0, 7000, 8000, 10_000, 10_000]);
    assert_eq!(from(10, true), [0, 1000, 3000, 3000, 10_000, 11_000], "the end of a round is the start of the next");
    assert_eq!(from(2, false), [1000, 1000, 8000], "nothing leaves after its end");
}

#[test]
fn what_nothing_waits_for_is_gone_and_capacity_counts_it() {
    let mut link = link(trace(&[1, 2, 3, 4]), Queue::DropTail);
    link.arrive(Time::from_micros(2500), &Packet::new(0, 0, 1000), 0);
    assert_eq!(link.next(), 3_000_000);
    // 500 bytes of that opportunity are left, and nothing waits for them.
    link.arrive(Time::from_micros(3001), &Packet::new(0, 1, 400), 0);
    link.take(Time(link.next()));
    assert_eq!(link.next(), 4_000_000);
    let stats = link.stats(Time::from_micros(6000));
    assert_eq!((stats.capacity_bytes, stats.forwarded_bytes), (9000.0, 1400));
    assert!((stats.waiting_packet_seconds - 0.0005 - 0.000_999).abs() < 1e-12);
}

#[test]
fn a_delay_that_changes_moves_what_is_under_way_and_no_opportunity() {
    let mut link = link(trace(&[10, 20]), Queue::DropTail);
    for id in 0..3 {
        link.arrive(Time::ZERO, &Packet::new(0, id, 1500), 0);
    }
    link.change(Time::from_micros(15_000), &crate::Set { delay: Some(Span::from_millis(5)), ..crate::Set::default() });
    let times: Vec<u64> =
        std::iter::from_fn(|| Some(link.next()).filter(|at| link.take(Time(*at)).is_some())).collect();
    assert_eq!(times, [10_000_000, 25_000_000, 35_000_000]);
}

#[test]
fn a_bad_line_is_an_error_with_its_number() {
    let error = |text: &str| Trace::parse(text).unwrap_err().to_string();
    assert!(error("1\n2\nx7\n").starts_with("line 3 is \"x7\"; expected a time in whole milliseconds"));
    assert!(error("1\n\n3\n").starts_with("line 2 is \"\""));
    assert!(error("1\n-4\n").starts_with("line 2 is \"-4\""));
    assert!(error("1.5\n").starts_with("line 1 is \"1.5\""));
    assert!(error("4\n9\n8\n").starts_with("line 3 is 8 ms, before the 9 ms"));
    assert!(error("").starts_with("it ends at 0 ms") && error("0\n0\n").starts_with("it ends at 0 ms"));
    assert_eq!(Trace::parse("5\r\n6\r\n"), Trace::parse("5\n6"));
    // Three packets of 1500 bytes in 12 ms.
    assert_eq!(trace(&[0, 6, 12]).mean_rate(), 3e6);
}
