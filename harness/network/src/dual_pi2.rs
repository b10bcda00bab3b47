//! The coupled pair of queues of `RFC 9332 Appendix A`: L4S traffic in one, all other in the other, and a PI controller
//! over the second whose square root marks the first.
//!
//! ECT(1) and CE packets are L4S (`RFC 9331 §5.1`). The controller goes by the longer of the two queues' waiting times:
//! while the L4S queue is as short as it should be that is the Classic one, as in the RFC's pseudocode, and where L4S
//! senders do not answer marks it comes to drops, as in Linux. Between packets only time passes, so that the updates of
//! every T_update are made up for when a packet comes or goes.

use std::collections::VecDeque;

use windlass_controllers::Span;

use super::discipline::{Held, Scheduler};
use super::out_of_range::{OutOfRange, check};
use super::packet::Codepoint;

/// Settings of a DualPI2 queue (`RFC 9332 Appendix A.1`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DualPi2Spec {
    /// Waiting time of Classic packets it aims at.
    pub target: Span,
    /// Longest RTT it has to be stable with (RTT_max).
    pub max_rtt: Span,
    /// Coupling factor *k*.
    pub coupling: f64,
    /// Waiting time from which L4S packets are marked, some of them (minTh).
    pub min_threshold: Span,
    /// How much longer they wait when all are (range).
    pub range: Span,
    /// Share of the link that Classic packets get at least, percent: the weight of a weighted round robin.
    pub classic_percent: u32,
}

impl DualPi2Spec {
    /// The defaults of `RFC 9332 Appendix A.1`; the weight is Linux' (`c_protection 10%`).
    #[must_use]
    pub const fn new() -> DualPi2Spec {
        DualPi2Spec {
            target: Span::from_millis(15),
            max_rtt: Span::from_millis(100),
            coupling: 2.0,
            min_threshold: Span::from_micros(800),
            range: Span::from_micros(400),
            classic_percent: 10,
        }
    }

    /// Time between updates, ns (T_update).
    fn update(&self) -> u64 {
        self.target.0.min(self.max_rtt.0 / 3).max(1)
    }

    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        check(self.target > Span::ZERO, "target of DualPI2", 0.0, "more than 0 s")?;
        check(self.max_rtt > Span::ZERO, "largest RTT of DualPI2", 0.0, "more than 0 s")?;
        let (k, percent) = (self.coupling, self.classic_percent);
        check(k > 0.0 && k.is_finite(), "coupling factor of DualPI2", k, "more than 0")?;
        check((1..100).contains(&percent), "Classic share of DualPI2", f64::from(percent), "1 to 99 %")
    }
}

impl Default for DualPi2Spec {
    fn default() -> DualPi2Spec {
        DualPi2Spec::new()
    }
}

/// One of the two queues.
#[derive(Default)]
struct Fifo {
    held: VecDeque<Held>,
    bytes: u64,
    /// Sum of likelihoods that did not come to an event yet.
    count: f64,
}

impl Fifo {
    fn push(&mut self, held: Held) {
        self.bytes += u64::from(held.packet.bytes);
        self.held.push_back(held);
    }

    fn pop(&mut self) -> Option<Held> {
        let held = self.held.pop_front()?;
        self.bytes -= u64::from(held.packet.bytes);
        Some(held)
    }

    /// How long its oldest packet has waited at `now`, ns.
    fn age(&self, now: u64) -> u64 {
        self.held.front().map_or(0, |held| now.saturating_sub(held.arrived))
    }

    /// True as often as `likelihood` says, evenly spread (recur).
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let recurs = self.count > 1.0;
        if recurs {
            self.count -= 1.0;
        }
        recurs
    }
}

/// A DualPI2 queue at work.
pub(super) struct DualPi2 {
    spec: DualPi2Spec,
    l4s: Fifo,
    classic: Fifo,
    /// The base probability *p'*.
    base: f64,
    /// Waiting time at the last update, s.
    last: f64,
    /// When the next update is due, ns.
    due: u64,
    /// What is owed to the Classic queue, bytes times percent.
    owed: i64,
}

impl DualPi2 {
    pub fn new(spec: DualPi2Spec) -> DualPi2 {
        let (l4s, classic) = (Fifo::default(), Fifo::default());
        DualPi2 { spec, l4s, classic, base: 0.0, last: 0.0, due: spec.update(), owed: 0 }
    }

    /// An update at which a packet has waited for `wait` s.
    fn update(&mut self, wait: f64) {
        let (update, max_rtt) = (self.spec.update() as f64 / 1e9, self.spec.max_rtt.secs());
        let (alpha, beta) = (0.1 * update / (max_rtt * max_rtt), 0.3 / max_rtt);
        let step = alpha * (wait - self.spec.target.secs()) + beta * (wait - self.last);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.last = wait;
    }

    fn catch_up(&mut self, now: u64) {
        while self.due <= now {
            let age = self.classic.age(self.due).max(self.l4s.age(self.due));
            self.update(age as f64 / 1e9);
            // Nothing changes any more until a packet comes.
            let idle = self.base == 0.0 && self.last == 0.0 && self.packets() == 0;
            let steps = if idle { (now - self.due) / self.spec.update() + 1 } else { 1 };
            self.due = self.due.saturating_add(steps * self.spec.update());
        }
    }

    /// Native likelihood of a mark on an L4S packet that waited for `wait` ns, with one packet at least behind it: a link
    /// may be so slow that one takes longer than the threshold (laqm, Th_len).
    fn native(&self, wait: u64) -> f64 {
        if self.l4s.held.is_empty() {
            return 0.0;
        }
        let beyond = wait.saturating_sub(self.spec.min_threshold.0) as f64;
        if self.spec.range.0 == 0 {
            f64::from(u8::from(beyond > 0.0))
        } else {
            (beyond / self.spec.range.0 as f64).min(1.0)
        }
    }

    /// Whether the L4S queue is next: unless the Classic one is owed something.
    fn l4s_is_next(&mut self) -> bool {
        if self.l4s.held.is_empty() || self.classic.held.is_empty() {
            self.owed = 0;
            return self.classic.held.is_empty();
        }
        self.owed <= 0
    }
}

/// Marks a packet that is ECN-capable.
fn mark(held: &mut Held) {
    held.marked |= held.packet.ecn != Codepoint::Ce;
    held.packet.ecn = Codepoint::Ce;
}

impl Scheduler for DualPi2 {
    fn enqueue(&mut self, held: Held, fits: bool, dropped: &mut VecDeque<Held>) {
        self.catch_up(held.arrived);
        if !fits {
            dropped.push_back(held);
        } else if matches!(held.packet.ecn, Codepoint::Ect1 | Codepoint::Ce) {
            self.l4s.push(held);
        } else {
            self.classic.push(held);
        }
    }

    fn dequeue(&mut self, now: u64, dropped: &mut VecDeque<Held>) -> Option<Held> {
        self.catch_up(now);
        let percent = i64::from(self.spec.classic_percent);
        let (coupled, squared) = (self.spec.coupling * self.base, self.base * self.base);
        // §4.2.3: where marks do not help any more both kinds are dropped.
        let overload = coupled >= 1.0;
        loop {
            let is_l4s = self.l4s_is_next();
            let mut held = if is_l4s { self.l4s.pop()? } else { self.classic.pop()? };
            self.owed += i64::from(held.packet.bytes) * if is_l4s { percent } else { percent - 100 };
            if is_l4s {
                if overload && self.l4s.recurs(squared) {
                    dropped.push_back(held);
                    continue;
                }
                let likelihood = self.native(now.saturating_sub(held.arrived)).max(coupled.min(1.0));
                if self.l4s.recurs(likelihood) {
                    mark(&mut held);
                }
            } else if self.classic.recurs(squared) {
                if overload || !held.packet.ecn.is_capable() {
                    dropped.push_back(held);
                    continue;
                }
                mark(&mut held);
            }
            return Some(held);
        }
    }

    fn packets(&self) -> u64 {
        (self.l4s.held.len() + self.classic.held.len()) as u64
    }

    fn bytes(&self) -> u64 {
        self.l4s.bytes + self.classic.bytes
    }

    fn each(&mut self, visit: &mut dyn FnMut(&mut Held)) {
        self.l4s.held.iter_mut().chain(&mut self.classic.held).for_each(visit);
    }

    fn waited(&self, now: u64) -> u128 {
        let both = self.l4s.held.iter().chain(&self.classic.held);
        both.map(|held| u128::from(now.saturating_sub(held.arrived))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;
    use crate::{LinkSpec, Packet, Queue};
    use windlass_controllers::Time;

    const BYTES: u32 = 1000;

    #[test]
    fn the_constants_and_an_update_are_those_of_the_rfc() {
        // T_update 15 ms, alpha 0.15, beta 3: 0.15 · (30 − 15) ms + 3 · 30 ms, then 0.15 · 15 ms.
        let mut queue = DualPi2::new(DualPi2Spec::new());
        queue.update(0.030);
        assert!((queue.base - 0.092_25).abs() < 1e-12, "{}", queue.base);
        queue.update(0.030);
        assert!((queue.base - 0.094_5).abs() < 1e-12, "{}", queue.base);
        queue.update(10.0);
        assert_eq!(queue.base, 1.0);
        assert_eq!(queue.due, 15_000_000);
    }

    /// A link of 8 Mbit/s, on which a packet takes 1 ms.
    fn link() -> Link {
        let queue = Queue::DualPi2(DualPi2Spec::new());
        Link::new(&LinkSpec { queue, ..LinkSpec::new("dual", 8e6, Span::ZERO) }, 1)
    }

    /// What a flow of each kind got: sent, delivered, marked, and how long the last waited, ms.
    #[derive(Clone, Copy, Default, Debug)]
    struct Got {
        sent: f64,
        delivered: f64,
        marked: f64,
        waited: f64,
    }

    /// `seconds` of packets of both kinds, of each a packet so many ns after its last; counted are the last two thirds.
    fn run(seconds: u64, gaps: [u64; 2], classic: Codepoint) -> [Got; 2] {
        let (mut link, mut due, mut got) = (link(), gaps, [Got::default(); 2]);
        let counts = |now: u64| now > seconds * 333_000_000;
        loop {
            let kind = usize::from(due[1] < due[0]);
            let now = due[kind];
            while link.next() <= now {
                let at = link.next();
                let Some(entry) = link.take(Time(at)).copied() else { continue };
                let of = &mut got[entry.packet.flow as usize];
                if counts(at) {
                    of.delivered += 1.0;
                    of.marked += f64::from(u8::from(entry.packet.ecn == Codepoint::Ce));
                    of.waited = of.waited.max(entry.packet.waited.millis());
                }
            }
            while link.dropped().is_some() {}
            if now > seconds * 1_000_000_000 {
                return got;
            }
            let ecn = [Codepoint::Ect1, classic][kind];
            link.arrive(Time(now), &Packet { ecn, ..Packet::new(kind as u32, 0, BYTES) }, 0);
            got[kind].sent += f64::from(u8::from(counts(now)));
            due[kind] += gaps[kind];
        }
    }

    /// 0.3 of the link L4S, 0.75 of it Classic that does not answer: drops have to take 5 % of the link.
    #[test]
    fn l4s_is_marked_with_k_times_the_root_of_what_classic_loses() {
        let [l4s, classic] = run(60, [3_333_333, 1_333_333], Codepoint::NotEct);
        let lost = 1.0 - classic.delivered / classic.sent;
        assert!((lost - 0.0667).abs() < 0.005, "{lost}");
        let marks = l4s.marked / l4s.delivered;
        assert!((marks / (2.0 * lost.sqrt()) - 1.0).abs() < 0.05, "{marks} and {lost}");
        assert!(l4s.sent - l4s.delivered <= 1.0, "none is lost: {l4s:?}");
        assert!(l4s.waited < 4.0, "it waits for a packet or two: {l4s:?}");
        assert_eq!(classic.marked, 0.0);
    }

    #[test]
    fn classic_packets_that_can_be_are_marked_until_marks_do_not_help() {
        let [_, marked] = run(30, [20_000_000, 950_000], Codepoint::Ect0);
        // They do not answer, so that the probability grows until both kinds are dropped.
        assert!(marked.marked > 100.0 && marked.delivered < marked.sent, "{marked:?}");
    }

    #[test]
    fn unanswered_l4s_marks_come_to_drops_and_leave_classic_its_share() {
        // L4S sends twice the link's rate, Classic half of it.
        let [l4s, classic] = run(60, [500_000, 2_000_000], Codepoint::NotEct);
        assert!(l4s.delivered < 0.6 * l4s.sent, "{l4s:?}");
        let share = classic.delivered / (classic.delivered + l4s.delivered);
        assert!(share > 0.09, "{share}");
    }

    #[test]
    fn alone_l4s_is_marked_by_the_ramp() {
        // 1 % more than the link carries: its queue stays where the ramp would have it, were it answered.
        let [l4s, _] = run(3, [1_200_000, 1_000_000_000], Codepoint::NotEct);
        assert!(l4s.marked == 0.0 && l4s.delivered > 1600.0, "below the threshold none is: {l4s:?}");
        let [l4s, _] = run(3, [990_000, 1_000_000_000], Codepoint::NotEct);
        assert!(l4s.marked > 0.95 * l4s.delivered, "beyond it all are: {l4s:?}");
    }
}
