//! Steps of a window that steers to a target: Copa's, whatever its δ.
//!
//! An acknowledged packet moves Copa's window by `v/(δ·cwnd)` packets: up while its rate is at most `1/(δ·dq)`, down above
//! it, by a velocity `v` of 1, 2, 4 … (Arun and Balakrishnan, NSDI 2018, §2.1). So a step times the window over the
//! packets acknowledged is `1/δ` times a power of two, either way, and the way turns where the queue holds `1/δ` packets. Stacks
//! differ in δ, in the delay they believe and in when the velocity doubles; none of that changes this.

use std::collections::VecDeque;

use crate::replay::event::Frame;

/// Steps that have to be seen.
const LEAST: u32 = 200;

/// Of the frames that acknowledge something, the share at which the window has to move.
const MOVES: f64 = 0.9;

/// Of the steps, the share that each way has at least.
const EACH_WAY: f64 = 0.15;

/// Of the steps, the share that the queue has to explain.
const EXPLAINED: f64 = 0.8;

/// Of the steps, the share that has to be long enough to be measured.
const MEASURED: f64 = 0.25;

/// Shorter steps, in bytes, are too coarse to be measured, since windows are whole bytes.
const SHORTEST: u64 = 16;

/// `1/δ`, packets: stacks ship 2 to 25.
const TARGETS: (f64, f64) = (0.5, 200.0);

/// The median may be this far from a power of two times `1/δ`; of any steps half are within 0.17.
const FARTHEST: f64 = 0.04;

/// Bins of histograms over log2 of packets: how many there are of a unit, and log2 of what the first begins with.
const PER_UNIT: f64 = 64.0;
const FIRST: f64 = -6.0;
const BINS: usize = 24 * PER_UNIT as usize;

/// How many steps there were by log2 of a number of packets.
#[derive(Clone, Debug)]
struct Histogram(Vec<u32>);

impl Default for Histogram {
    fn default() -> Self {
        Histogram(vec![0; BINS])
    }
}

/// log2 of the packets in the middle of a bin.
fn middle(bin: usize) -> f64 {
    (bin as f64 + 0.5) / PER_UNIT + FIRST
}

impl Histogram {
    fn add(&mut self, packets: f64) {
        let bin = ((libm::log2(packets.max(1e-9)) - FIRST) * PER_UNIT).max(0.0) as usize;
        let count = &mut self.0[bin.min(BINS - 1)];
        *count = count.saturating_add(1);
    }

    fn total(&self) -> u32 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// How many are of at most 2^`log2` packets.
    fn up_to(&self, log2: f64) -> u32 {
        let counts = self.0.iter().enumerate().filter(|(bin, _)| middle(*bin) <= log2);
        counts.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }
}

/// The median of values that occur so often; `None` without any.
fn median(mut values: Vec<(f64, u32)>) -> Option<f64> {
    values.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
    let half = values.iter().map(|(_, count)| f64::from(*count)).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let found = values.iter().find(|(_, count)| {
        sum += f64::from(*count);
        sum > 0.0 && sum >= half
    });
    found.map(|(value, _)| *value)
}

/// A frame that acknowledges something, of which the next shows what it did to the window.
#[derive(Debug)]
struct Acknowledged {
    /// The window before it, and what it acknowledges, bytes.
    cwnd: u64,
    bytes: u64,
    /// What the window keeps in the queue, bytes: window · dq / RTTstanding.
    queued: f64,
}

/// How long the smallest RTT is believed, ns (Copa §2).
const MIN_RTT_WINDOW: u64 = 10_000_000_000;

/// The smallest of the latest RTTs.
#[derive(Debug, Default)]
struct Smallest {
    /// When each was measured, ns, and the RTT, rising.
    rtts: VecDeque<(u64, u64)>,
}

impl Smallest {
    /// Adds an RTT of now; those from before `window` are forgotten. All in ns.
    fn add(&mut self, now: u64, rtt: u64, window: u64) {
        while self.rtts.back().is_some_and(|(_, other)| *other >= rtt) {
            self.rtts.pop_back();
        }
        self.rtts.push_back((now, rtt));
        let oldest = now.saturating_sub(window);
        while self.rtts.len() > 1 && self.rtts.front().is_some_and(|(at, _)| *at < oldest) {
            self.rtts.pop_front();
        }
    }

    fn get(&self) -> Option<u64> {
        self.rtts.front().map(|(_, rtt)| *rtt)
    }
}

/// Steps of a window, and the queue at each.
#[derive(Debug, Default)]
pub(super) struct StepModel {
    /// RTTs of half a smoothed RTT.
    standing: Smallest,
    /// RTTs of [`MIN_RTT_WINDOW`].
    min: Smallest,
    before: Option<Acknowledged>,
    /// Whether the window has fallen: start-up is over.
    started: bool,
    /// Frames that could move the window.
    frames: u32,
    moved: [u32; 2],
    /// Packets that steps stand for, `v/δ`.
    sizes: Histogram,
    /// Packets queued when the window rose, and when it fell.
    queued: [Histogram; 2],
}

/// Which steps explain a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct StepFit {
    /// `1/δ`, packets.
    pub target: f64,
    /// Median of |ln(step / nearest step that the target has)|.
    pub distance: f64,
}

impl StepModel {
    /// Adds `frame`, until which the window was `cwnd` bytes, with packets of `mtu` bytes.
    pub fn add(&mut self, frame: &Frame, cwnd: u64, mtu: u32) {
        if let Some(before) = self.before.take() {
            self.step(&before, cwnd, f64::from(mtu.max(1)));
        }
        let now = frame.now.0;
        if let Some(rtt) = frame.rtt {
            let latest = rtt.adjusted().0;
            self.standing.add(now, latest, rtt.smoothed.0 / 2);
            if self.min.get().is_none() {
                // What was measured before there were windows.
                self.min.add(now, frame.min_rtt.0, MIN_RTT_WINDOW);
            }
            self.min.add(now, latest, MIN_RTT_WINDOW);
        }
        let (Some(standing), Some(min)) = (self.standing.get().filter(|rtt| *rtt > 0), self.min.get()) else { return };
        let bytes = frame.bytes();
        if bytes > 0 && frame.lost.is_none() && !frame.app_limited {
            let queueing = standing.saturating_sub(min) as f64;
            self.before = Some(Acknowledged { cwnd, bytes, queued: cwnd as f64 * queueing / standing as f64 });
        }
    }

    /// The window is `cwnd` bytes after the frame `before`.
    fn step(&mut self, before: &Acknowledged, cwnd: u64, mtu: f64) {
        self.started |= cwnd < before.cwnd;
        if !self.started {
            return;
        }
        self.frames = self.frames.saturating_add(1);
        let step = cwnd.abs_diff(before.cwnd);
        if step == 0 {
            return;
        }
        let way = usize::from(cwnd < before.cwnd);
        self.moved[way] = self.moved[way].saturating_add(1);
        self.queued[way].add(before.queued / mtu);
        if step >= SHORTEST {
            self.sizes.add(step as f64 * before.cwnd as f64 / before.bytes.max(1) as f64 / mtu);
        }
    }

    /// The target that explains the steps best; `None` where the window is not moved so.
    pub fn fit(&self) -> Option<StepFit> {
        let [up, down] = self.moved.map(f64::from);
        let (moved, measured) = (up + down, self.sizes.total());
        if measured < LEAST
            || f64::from(measured) < MEASURED * moved
            || moved < MOVES * f64::from(self.frames)
            || up.min(down) < EACH_WAY * moved
        {
            return None;
        }
        let sizes: Vec<(f64, u32)> =
            self.sizes.0.iter().enumerate().map(|(bin, count)| (middle(bin), *count)).collect();
        let usual = median(sizes.clone())?;
        // Whether the usual velocity is 1, 2 or 4, the queue shows.
        let explained = |target: f64| {
            let [risen, fallen] = &self.queued;
            f64::from(risen.up_to(target)) + down - f64::from(fallen.up_to(target))
        };
        let targets = [usual, usual - 1.0, usual - 2.0];
        let target = targets.into_iter().max_by(|one, other| explained(*one).total_cmp(&explained(*other)))?;
        let off = |size: f64| {
            let doublings = libm::round(size - target).max(0.0);
            (size - target - doublings).abs() * std::f64::consts::LN_2
        };
        let distance = median(sizes.into_iter().map(|(size, count)| (off(size), count)).collect())?;
        let fit = StepFit { target: libm::exp2(target), distance };
        let follows = explained(target) >= EXPLAINED * moved
            && (TARGETS.0..=TARGETS.1).contains(&fit.target)
            && distance <= FARTHEST;
        follows.then_some(fit)
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::event::RttSample;
    use windlass_controllers::{Span, Time};

    use super::*;

    /// Frames every 2 ms, each of two packets of 1200 bytes on a path of 40 ms and 1 packet/ms, so that what a window had
    /// above 40 packets a round trip ago is queued. `change` gives the bytes by which the window moves, of frame, window,
    /// and what is queued by RTTstanding, packets.
    fn fit(change: impl Fn(u64, f64, f64) -> f64) -> Option<StepFit> {
        let (mut model, mut cwnd) = (StepModel::default(), 60.0 * 1200.0);
        let mut queues: Vec<f64> = Vec::new();
        for number in 0..5000_u64 {
            queues.push((cwnd / 1200.0 - 40.0_f64).max(0.0));
            let measured = |ago: usize| queues[queues.len().saturating_sub(20 + ago)];
            let standing = (0..10).map(measured).fold(f64::INFINITY, f64::min);
            let rtt = Span(40_000_000 + (measured(0) * 1e6) as u64);
            let now = Time(number * 2_000_000);
            let mut frame = Frame { now, min_rtt: Span(40_000_000), ..Frame::default() };
            frame.rtt = Some(RttSample::new(rtt, rtt, Span::ZERO, Span(40_000_000)));
            frame.acked = vec![(now, 1200); 2];
            model.add(&frame, cwnd as u64, 1200);
            let step = change(number, cwnd / 1200.0, standing * cwnd / 1200.0 / (40.0 + standing));
            cwnd += step;
        }
        model.fit()
    }

    /// Copa's step for two packets, turned where `target` packets are queued.
    fn copa(target: f64, cwnd: f64, queued: f64) -> f64 {
        let way = if queued <= target { 1.0 } else { -1.0 };
        way * 2.0 * target / cwnd * 1200.0
    }

    #[test]
    fn steps_of_one_over_delta_show_delta() {
        for target in [2.0, 5.0, 10.0] {
            let found = fit(|_, cwnd, queued| copa(target, cwnd, queued)).unwrap();
            assert!((found.target / target - 1.0).abs() < 0.03 && found.distance < 0.02, "{target}: {found:?}");
        }
        // Most of the time at twice the velocity.
        let velocity = |number: u64| if number % 10 < 7 { 2.0 } else { 1.0 };
        let found = fit(|number, cwnd, queued| velocity(number) * copa(5.0, cwnd, queued)).unwrap();
        assert!((found.target / 5.0 - 1.0).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn an_rtt_is_the_smallest_for_as_long_as_it_is_believed() {
        let mut smallest = Smallest::default();
        assert_eq!(smallest.get(), None);
        let mut add = |now, rtt| {
            smallest.add(now, rtt, 10);
            smallest.get()
        };
        assert_eq!([add(0, 40), add(5, 60), add(8, 50), add(10, 70)], [Some(40); 4]);
        assert_eq!([add(11, 80), add(18, 90), add(19, 95), add(40, 99)], [Some(50), Some(50), Some(70), Some(99)]);
    }

    #[test]
    fn other_ways_to_a_target_are_not_copa_s() {
        let noise = |number: u64| 3.0 * libm::sin(number as f64 / 3.0);
        // LEDBAT's: by how far the queue is from the target.
        assert_eq!(fit(|number, cwnd, queued| (10.0 - queued + noise(number)) * 2.0 / cwnd * 1200.0), None);
        // Vegas': once a round trip.
        let once = |number: u64, queued: f64| {
            if !number.is_multiple_of(20) {
                0.0
            } else if queued < 3.0 {
                1200.0
            } else {
                -1200.0
            }
        };
        assert_eq!(fit(|number, _, queued| once(number, queued)), None);
        // Reno's: up alone, but for losses.
        assert_eq!(fit(|_, cwnd, queued| if queued > 20.0 { -600.0 * cwnd } else { 2.0 / cwnd * 1200.0 }), None);
        // Steps of Copa's size that the queue does not turn.
        assert_eq!(fit(|number, cwnd, _| if number / 20 % 2 == 0 { 4800.0 } else { -4800.0 } / cwnd), None);
    }
}
