use proptest::prelude::*;
use windlass_controllers::{Span, Time};

use super::*;
use crate::link::{Link, Queued};
use crate::{CoDelSpec, Limit, LinkSpec, Queue, Service};

const SPEC: BucketSpec = BucketSpec { rate: 8e6, depth: 5000.0 };

/// What leaves a link at which packets of so many bytes arrive, each with its gap to the last in µs: times in ns, sizes.
fn leaves(spec: LinkSpec, arrivals: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut link = Link::new(&spec, 1);
    let (mut out, mut at) = (Vec::new(), 0);
    let until = |link: &mut Link, end: u64, out: &mut Vec<(u64, u32)>| {
        while link.next() <= end {
            let now = link.next();
            out.extend(link.take(Time(now)).map(|entry| (now, entry.packet.bytes)));
        }
    };
    for &(gap, bytes) in arrivals {
        at += gap * 1000;
        until(&mut link, at, &mut out);
        link.arrive(Time(at), &Packet::new(0, 0, bytes), 0);
    }
    until(&mut link, u64::MAX - 1, &mut out);
    out
}

/// The most bytes that pass in any interval beyond the rate times its length.
fn worst_burst(leaves: &[(u64, u32)], rate: f64) -> f64 {
    let starts = 0..leaves.len();
    let beyond = |i: usize| {
        let sums = leaves[i..].iter().scan(0.0, move |sum, &(at, bytes)| {
            *sum += f64::from(bytes);
            Some(*sum - (at - leaves[i].0) as f64 * rate / 8e9)
        });
        sums.fold(0.0, f64::max)
    };
    starts.map(beyond).fold(0.0, f64::max)
}

fn policed() -> LinkSpec {
    LinkSpec { queue: Queue::Policer(SPEC), ..LinkSpec::pipe("policed", Span::ZERO) }
}

fn shaped(peak: f64) -> LinkSpec {
    LinkSpec { service: Service::Shaper { burst: SPEC.depth, peak }, ..LinkSpec::new("shaped", SPEC.rate, Span::ZERO) }
}

proptest! {
    /// Over any interval no more than burst + rate·t passes, whoever polices or shapes and whatever waits how.
    #[test]
    fn never_more_than_burst_and_rate_pass(
        arrivals in proptest::collection::vec((0u64..3000, 40u32..1500), 1..150),
        peak in prop_oneof![Just(f64::INFINITY), 9e6..1e8],
    ) {
        let fq = crate::FqCoDelSpec { codel: CoDelSpec { mark: false, ..CoDelSpec::new(1500) }, ..crate::FqCoDelSpec::new(1500) };
        for spec in [policed(), shaped(peak), LinkSpec { queue: Queue::FqCoDel(fq), ..shaped(peak) }] {
            // It is the starts that the bucket decides.
            let sending = |bytes: u32| (f64::from(bytes) * 8e9 / spec.service.line_rate(spec.rate)) as u64;
            let out: Vec<_> = leaves(spec.clone(), &arrivals).into_iter().map(|(at, bytes)| (at - sending(bytes), bytes)).collect();
            // A start is rounded to a nanosecond, which is a thousandth of a byte.
            prop_assert!(worst_burst(&out, SPEC.rate) <= SPEC.depth + 0.01, "{}", worst_burst(&out, SPEC.rate));
        }
    }

    /// A shaper loses nothing, keeps order, and is never later than a literal bucket, a byte at a time.
    #[test]
    fn a_shaper_wastes_nothing(arrivals in proptest::collection::vec((0u64..3000, 40u32..1500), 1..100)) {
        let out = leaves(shaped(f64::INFINITY), &arrivals);
        let (mut at, mut expected, mut fill, mut then, mut free) = (0u64, Vec::new(), SPEC.depth, 0u64, 0u64);
        for &(gap, bytes) in &arrivals {
            at += gap * 1000;
            // 8 Mbit/s are a byte in 1000 ns.
            let mut start = at.max(free);
            let filled = |start: u64| (fill + (start - then) as f64 / 1000.0).min(SPEC.depth);
            let lacks = f64::from(bytes) - filled(start);
            if lacks > 0.0 {
                start += (lacks * 1000.0).round() as u64;
            }
            (fill, then, free) = (filled(start) - f64::from(bytes), start, start);
            expected.push((start, bytes));
        }
        prop_assert_eq!(out.len(), expected.len());
        for (ours, theirs) in out.iter().zip(&expected) {
            prop_assert!(ours.0.abs_diff(theirs.0) <= 2 && ours.1 == theirs.1, "{ours:?} {theirs:?}");
        }
    }
}

#[test]
fn a_policer_drops_at_once_what_its_bucket_lacks() {
    let mut link = Link::new(&policed(), 1);
    let mut at = |micros: u64| link.arrive(Time::from_micros(micros), &Packet::new(0, 0, 1250), 0);
    assert_eq!([at(0), at(0), at(0), at(0)], [Queued::Accepted; 4], "the burst");
    assert_eq!(
        (at(0), at(1249), at(1250), at(1251)),
        (Queued::Dropped, Queued::Dropped, Queued::Accepted, Queued::Dropped)
    );
    let stats = link.stats(Time::from_micros(2000));
    assert_eq!((stats.dropped_early, stats.max_waiting), (3, 0), "nothing waits");
}

#[test]
fn a_shaper_sends_its_burst_at_the_peak_and_then_its_rate() {
    // 1250 bytes: 1 ms at the peak, 1.25 ms at the rate.
    let spec = LinkSpec { limit: Limit::Packets(20), ..shaped(10e6) };
    let times: Vec<u64> = leaves(spec, &[(0, 1250); 30]).iter().map(|(at, _)| at / 1000).collect();
    assert_eq!(times.len(), 21, "one passes, twenty wait");
    // Each takes 1250 bytes while 1000 come; after sixteen the bucket is empty.
    assert!(times[..16].windows(2).all(|pair| pair[1] - pair[0] == 1000), "{times:?}");
    assert!(times[15..].windows(2).all(|pair| pair[1] - pair[0] == 1250), "{times:?}");
}
