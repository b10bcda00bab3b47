use std::collections::VecDeque;

use proptest::prelude::*;
use windlass_controllers::Time;

use super::*;
use crate::link::{Link, Queued};
use crate::{Codepoint, LinkSpec, Queue};

const BYTES: u32 = 1000;

/// The pseudocode of `RFC 8033 Appendix A`, name by name and event by event, before a link that takes a packet of
/// [`BYTES`] each `service` ns; the latency is what the queue holds over the link's rate.
struct Literal {
    queue: VecDeque<u64>,
    service: u64,
    busy_until: u64,
    burst_allowance: f64,
    drop_prob: f64,
    qdelay_old: f64,
    timer: u64,
    random: Stream,
}

const QDELAY_REF: f64 = 0.015;
const MAX_BURST: f64 = 0.150;
const T_UPDATE: f64 = 0.015;

impl Literal {
    fn new(service: u64) -> Literal {
        let random = Stream::new(1, "link pie");
        Literal {
            queue: VecDeque::new(),
            service,
            busy_until: 0,
            burst_allowance: 0.0,
            drop_prob: 0.0,
            qdelay_old: 0.0,
            timer: 15_000_000,
            random,
        }
    }

    /// Packets whose transmission starts until `now` leave the queue.
    fn deque(&mut self, now: u64) {
        while self.queue.front().is_some_and(|start| *start <= now) {
            self.queue.pop_front();
        }
    }

    fn current_qdelay(&self, now: u64) -> f64 {
        self.busy_until.saturating_sub(now) as f64 / 1e9
    }

    fn calculate_drop_prob(&mut self, current_qdelay: f64) {
        let mut p = 0.125 * (current_qdelay - QDELAY_REF) + (1.0 + 0.25) * (current_qdelay - self.qdelay_old);
        if self.drop_prob < 0.000001 {
            p /= 2048.0;
        } else if self.drop_prob < 0.00001 {
            p /= 512.0;
        } else if self.drop_prob < 0.0001 {
            p /= 128.0;
        } else if self.drop_prob < 0.001 {
            p /= 32.0;
        } else if self.drop_prob < 0.01 {
            p /= 8.0;
        } else if self.drop_prob < 0.1 {
            p /= 2.0;
        }
        self.drop_prob += p;
        if current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = current_qdelay;
        self.burst_allowance = (self.burst_allowance - T_UPDATE).max(0.0);
        if self.burst_allowance < 1e-9 {
            self.burst_allowance = 0.0;
        }
    }

    fn drop_early(&mut self) -> bool {
        let byte_length = self.queue.len() as u64 * u64::from(BYTES);
        if (self.qdelay_old < QDELAY_REF / 2.0 && self.drop_prob < 0.2) || byte_length <= 2 * u64::from(BYTES) {
            return false;
        }
        self.drop_prob > 0.0 && self.random.uniform() < self.drop_prob
    }

    /// Whether the packet is dropped.
    fn enque(&mut self, now: u64) -> bool {
        while self.timer <= now {
            self.deque(self.timer);
            self.calculate_drop_prob(self.current_qdelay(self.timer));
            self.timer += 15_000_000;
        }
        self.deque(now);
        let current_qdelay = self.current_qdelay(now);
        if self.drop_prob == 0.0 && current_qdelay < QDELAY_REF / 2.0 && self.qdelay_old < QDELAY_REF / 2.0 {
            self.burst_allowance = MAX_BURST;
        }
        if self.burst_allowance == 0.0 && self.drop_early() {
            return true;
        }
        let start = self.busy_until.max(now);
        self.queue.push_back(start);
        self.busy_until = start + self.service;
        false
    }
}

fn link(rate: f64, mark: bool) -> Link {
    let queue = Queue::Pie(PieSpec { mark, ..PieSpec::new(BYTES) });
    Link::new(&LinkSpec { queue, ..LinkSpec::new("pie", rate, Span::ZERO) }, 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Bursts, overload and silences: every decision is that of the RFC's pseudocode.
    #[test]
    fn decides_as_the_pseudocode_does(
        phases in proptest::collection::vec((20u64..3000, 1u64..1500, 0u64..3_000_000), 1..12),
    ) {
        // 8 Mbit/s: a packet takes 1 ms.
        let (mut ours, mut literal) = (link(8e6, false), Literal::new(1_000_000));
        let (mut now, mut dropped) = (0u64, 0);
        for (gap, packets, silence) in phases {
            for _ in 0..packets {
                now += gap * 1000;
                let drops = ours.arrive(Time(now), &Packet::new(0, 0, BYTES), 0) == Queued::Dropped;
                prop_assert_eq!(drops, literal.enque(now), "at {} ns, {} dropped so far", now, dropped);
                dropped += u64::from(drops);
            }
            now += silence * 1000;
        }
    }
}

/// Many senders, the more the faster the link: what they send grows by a tenth of its rate in a second, and a drop takes a
/// fiftieth of it at 4 Mbit/s.
#[test]
fn the_waiting_time_is_at_the_target() {
    for rate in [4e6, 40e6] {
        let mut link = link(rate, false);
        let gap = 8e9 * f64::from(BYTES) / rate;
        let (mut share, mut at, mut waits, mut packets) = (0.5, 0.0, 0.0, 0.0);
        while at < 100e9 {
            let step = gap / share;
            at += step;
            share += 0.1 * step / 1e9;
            let now = Time(at as u64);
            let (waiting, _) = link.waiting(now);
            if link.arrive(now, &Packet::new(0, 0, BYTES), 0) == Queued::Dropped {
                share *= 1.0 - 0.02 * 4e6 / rate;
            } else if at > 50e9 {
                waits += waiting as f64 * gap / 1e9;
                packets += 1.0;
            }
        }
        let mean = waits / packets;
        assert!((0.012..0.018).contains(&mean), "{mean} s at {rate} bit/s");
    }
}

#[test]
fn the_first_burst_passes() {
    let mut link = link(8e6, false);
    // 150 ms: ten updates; nothing is dropped before, at twice the link's rate.
    let drops: Vec<u64> = (0..2000u64)
        .filter(|i| link.arrive(Time(i * 500_000), &Packet::new(0, 0, BYTES), 0) == Queued::Dropped)
        .collect();
    assert!(drops.first().is_some_and(|first| *first >= 300), "{:?}", drops.first());
    assert!(drops.len() > 100, "and then some are");
}

#[test]
fn ecn_capable_packets_are_marked_while_the_probability_is_low() {
    let mut link = link(8e6, true);
    let packet = Packet { ecn: Codepoint::Ect0, ..Packet::new(0, 0, BYTES) };
    // No sender answers the marks, so that the probability grows.
    let counts: Vec<(u64, u64)> = (0..20_000u64)
        .map(|i| {
            link.arrive(Time(i * 950_000), &packet, 0);
            let stats = link.stats(Time(i * 950_000));
            (stats.marked, stats.dropped_early)
        })
        .collect();
    let marks = |drops: u64| counts.iter().filter(|(_, dropped)| *dropped == drops).map(|(marked, _)| *marked).max();
    assert!(marks(0).is_some_and(|marked| marked > 10), "{:?}", marks(0));
    assert!(counts.last().is_some_and(|(_, dropped)| *dropped > 100), "marks do not help any more");
}
