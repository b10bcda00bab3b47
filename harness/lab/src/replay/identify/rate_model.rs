//! Windows of controllers that model the path: a constant times its bandwidth-delay product.
//!
//! What such a controller decides follows from its estimates, which stacks make differently; the window it comes to does not:
//! `cwnd_gain` times the largest delivery rate of the last rounds times the smallest RTT (`draft-ietf-ccwg-bbr §5.6.2`),
//! whatever is lost. Windows that grow until something happens are near such a value in passing only.

use std::collections::VecDeque;

use crate::replay::event::Frame;

/// How long the largest delivery rate counts, in smallest RTTs: some ten rounds with a queue.
const MEMORY: u64 = 15;

/// Smallest RTTs after the first frame in which start-up is over.
const START: u64 = 25;

/// Smallest RTTs that have to be left.
const LEAST: f64 = 15.0;

/// Gains of the window that are believed: BBR's are 2 and, in version 3, up to 2.25; stacks that measure the RTT with
/// what an ACK is delayed by come to less or more.
const GAINS: (f64, f64) = (1.3, 3.2);

/// The median may be this far off: windows that grow until something happens come to less than some 0.05 by chance only.
const FARTHEST: f64 = 0.04;

/// Windows that have to differ, so that one which is never changed is no model's.
const CHANGES: u32 = 8;

/// Bins of a histogram of ln(window / bandwidth-delay product) and how many there are of a unit.
const BINS: usize = 400;
const PER_UNIT: f64 = 200.0;

/// Time for which the window was so many bandwidth-delay products.
#[derive(Debug)]
pub(super) struct RateModel {
    /// Times, ns, and rates, bytes/s, falling: the first is the largest of the last rounds.
    rates: VecDeque<(u64, f64)>,
    began: Option<u64>,
    /// Seconds by ln(window / product), from 0 on.
    histogram: Vec<f64>,
    seconds: f64,
    window: u64,
    changes: u32,
    min_rtt: f64,
}

impl Default for RateModel {
    fn default() -> Self {
        RateModel {
            rates: VecDeque::new(),
            began: None,
            histogram: vec![0.0; BINS],
            seconds: 0.0,
            window: 0,
            changes: 0,
            min_rtt: 0.0,
        }
    }
}

/// The gain that explains a window best.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RateFit {
    /// Median of window / (largest rate · smallest RTT).
    pub gain: f64,
    /// Median of |ln(window / (gain · product))|.
    pub distance: f64,
}

impl RateModel {
    /// Adds `seconds` until `frame` arrived, in which the window was `cwnd` bytes.
    pub fn add(&mut self, frame: &Frame, seconds: f64, cwnd: u64) {
        let now = frame.now.0;
        let began = *self.began.get_or_insert(now);
        let rtt = frame.min_rtt.0;
        if let (Some(delivery), Some((sent_at, _))) = (frame.delivery, frame.newest) {
            let acked = now.saturating_sub(delivery.delivered_at.0);
            let took = acked.max(sent_at.0.saturating_sub(delivery.first_sent_at.0));
            if took > 0 && took >= rtt / 2 {
                let rate = frame.delivered.saturating_sub(delivery.delivered) as f64 * 1e9 / took as f64;
                while self.rates.back().is_some_and(|(_, other)| *other <= rate) {
                    self.rates.pop_back();
                }
                self.rates.push_back((now, rate));
            }
        }
        while self.rates.len() > 1
            && self.rates.front().is_some_and(|(at, _)| now.saturating_sub(*at) > rtt.saturating_mul(MEMORY))
        {
            self.rates.pop_front();
        }
        let Some((_, rate)) = self.rates.front() else { return };
        let product = rate * rtt as f64 / 1e9;
        if frame.app_limited || product <= 0.0 || now.saturating_sub(began) < rtt.saturating_mul(START) {
            return;
        }
        self.min_rtt = rtt as f64 / 1e9;
        self.changes = self.changes.saturating_add(u32::from(cwnd != self.window));
        self.window = cwnd;
        let ratio = libm::log(cwnd.max(1) as f64 / product);
        let bin = ((ratio * PER_UNIT).max(0.0) as usize).min(BINS - 1);
        let seconds = seconds.clamp(0.0, 1.0);
        self.histogram[bin] += seconds;
        self.seconds += seconds;
    }

    /// The best gain; `None` where the window is no such model's.
    pub fn fit(&self) -> Option<RateFit> {
        if self.seconds < LEAST * self.min_rtt || self.seconds <= 0.0 || self.changes < CHANGES {
            return None;
        }
        let median = self.quantile(|bin| bin)?;
        let distance = {
            let mut far: Vec<(usize, f64)> =
                self.histogram.iter().enumerate().map(|(bin, s)| (bin.abs_diff(median), *s)).collect();
            far.sort_unstable_by_key(|(far, _)| *far);
            let mut sum = 0.0;
            let (far, _) = far.into_iter().find(|(_, seconds)| {
                sum += seconds;
                sum >= 0.5 * self.seconds
            })?;
            far as f64 / PER_UNIT
        };
        let gain = libm::exp((median as f64 + 0.5) / PER_UNIT);
        let follows = (GAINS.0..=GAINS.1).contains(&gain) && distance <= FARTHEST;
        follows.then_some(RateFit { gain, distance })
    }

    /// The bin in whose middle half of the time has passed.
    fn quantile(&self, bin: impl Fn(usize) -> usize) -> Option<usize> {
        let mut sum = 0.0;
        let found = self.histogram.iter().position(|seconds| {
            sum += seconds;
            sum >= 0.5 * self.seconds
        });
        found.map(bin)
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::event::Delivery;
    use windlass_controllers::{Span, Time};

    use super::*;

    /// Frames every 10 ms on a path of 1 MB/s and 40 ms, with the window that `window` gives of the frame's number.
    fn fit(window: impl Fn(u64) -> u64) -> Option<RateFit> {
        let mut model = RateModel::default();
        for number in 5..1000_u64 {
            let now = Time(number * 10_000_000);
            let sent = Time(now.0 - 40_000_000);
            let mut frame = Frame { now, min_rtt: Span(40_000_000), delivered: number * 10_000, ..Frame::default() };
            frame.newest = Some((sent, number));
            frame.delivery = Some(Delivery::new((number - 4) * 10_000, sent, Time(sent.0 - 40_000_000)));
            model.add(&frame, 0.01, window(number));
        }
        model.fit()
    }

    #[test]
    fn a_window_of_two_products_is_a_model_s() {
        let found = fit(|number| 80_000 + number % 7 * 100).unwrap();
        assert!((found.gain - 2.0).abs() < 0.03 && found.distance < 0.01, "{found:?}");
        // A window that grows by 1 % a frame to twice its size again and again is near none for long.
        let found = fit(|number| 50_000 + number % 100 * 500);
        assert_eq!(found, None);
        assert_eq!(fit(|_| 80_000), None, "nothing changes it");
        assert_eq!(fit(|number| 44_000 + number % 7 * 100), None, "one product is what anybody has who fills the path");
    }
}
