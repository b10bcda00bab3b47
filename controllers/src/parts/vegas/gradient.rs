//! How the delay changes with the window: for steps that need neither the delay of the
//! empty path nor a backlog (`spec: chan §9`).

use super::{RoundMeasurement, Step, StepRule};

/// A window and the mean RTT of a round at it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    cwnd: f64,
    rtt: f64,
}

/// Rounds from one window to the next. The packets that a larger window lets go queue once
/// behind what they burst out with, so its first round is not typical; the second one's
/// are acknowledged in the third.
const SETTLING: u8 = 3;

/// The latest window that was measured, and how many rounds the present one has had.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WindowHistory {
    latest: Option<Point>,
    rounds: u8,
}

/// Whether a round's window can be compared with an earlier one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Finding {
    /// Nothing: the window has not settled.
    Unsettled,
    /// The window has settled, but there is no other to compare it with.
    Alone,
    /// It can be compared with the one before.
    Pair(Pair),
}

impl WindowHistory {
    /// Records a round and compares it with the latest settled window.
    pub fn find(&mut self, round: &RoundMeasurement) -> Finding {
        self.rounds += 1;
        if self.rounds < SETTLING {
            return Finding::Unsettled;
        }
        self.rounds = 0;
        let now = Point { cwnd: round.cwnd, rtt: round.delays.rtt };
        match self.latest.replace(now) {
            Some(before) if before.cwnd != now.cwnd => Finding::Pair(Pair { before, now }),
            _ => Finding::Alone,
        }
    }

    /// Makes the next round one of a settled window.
    #[cfg(test)]
    pub(crate) fn skip_settling(&mut self) {
        self.rounds = SETTLING - 1;
    }

    /// The datagram size changed: packets are multiplied by `ratio`.
    pub fn on_mtu_update(&mut self, ratio: f64) {
        if let Some(point) = &mut self.latest {
            point.cwnd *= ratio;
        }
    }
}

/// What a scheme's parameters make of two windows that can be compared.
pub trait Gradient {
    /// The step after `round`, whose window and the one before make `pair`.
    fn judge(&self, pair: &Pair, round: &RoundMeasurement) -> Step;
}

/// A step by the gradient between the latest two windows, at once, so that the next one
/// compares settled windows (`spec: chan §9`). A window with nothing to compare it with
/// grows by a packet.
#[derive(Debug)]
pub struct ByGradient;

impl<P: Gradient> StepRule<P> for ByGradient {
    type Memory = WindowHistory;

    fn step(params: &P, history: &mut WindowHistory, round: &RoundMeasurement) -> Step {
        match history.find(round) {
            Finding::Unsettled => Step::Hold,
            Finding::Alone => Step::Raise(1.0),
            Finding::Pair(pair) => params.judge(&pair, round),
        }
    }

    fn on_mtu_update(history: &mut WindowHistory, ratio: f64) {
        history.on_mtu_update(ratio);
    }
}

/// Two windows of different size and what each measured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    before: Point,
    now: Point,
}

impl Pair {
    /// By how much of itself the RTT changed per change of the window by as much of itself:
    /// 0 without a queue, 1 where all that is added waits (normalised delay gradient, CARD;
    /// `spec: chan §9`).
    #[must_use]
    pub fn delay_gradient(&self) -> f64 {
        let Pair { before, now } = self;
        let sum = now.rtt + before.rtt;
        if sum <= 0.0 {
            return 0.0;
        }
        (now.rtt - before.rtt) / sum * (now.cwnd + before.cwnd) / (now.cwnd - before.cwnd)
    }

    /// What a packet more gained in throughput, as a fraction of what the first one gains
    /// on the empty path of RTT `base`: 1 without a queue, 0 where all that is added waits
    /// (normalised throughput gradient, Tri-S; `spec: chan §9`).
    #[must_use]
    pub fn throughput_gradient(&self, base: f64) -> f64 {
        let Pair { before, now } = self;
        if now.rtt <= 0.0 || before.rtt <= 0.0 {
            return 1.0;
        }
        (now.cwnd / now.rtt - before.cwnd / before.rtt) * base / (now.cwnd - before.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::vegas::Delays;
    use crate::testkit::assert_close;

    fn measurement(cwnd: f64, rtt: f64) -> RoundMeasurement {
        RoundMeasurement { delta: 0.0, delays: Delays::new(100.0, rtt), cwnd, late: 0.0 }
    }

    fn pair(before: (f64, f64), now: (f64, f64)) -> Option<Pair> {
        let mut history = WindowHistory::default();
        assert_eq!(find(&mut history, &measurement(before.0, before.1)), None, "one is no pair");
        find(&mut history, &measurement(now.0, now.1))
    }

    /// What a settled window finds.
    fn find(history: &mut WindowHistory, round: &RoundMeasurement) -> Option<Pair> {
        assert_eq!(history.find(&RoundMeasurement { cwnd: 1e9, ..*round }), Finding::Unsettled);
        assert_eq!(history.find(&RoundMeasurement { cwnd: 1e9, ..*round }), Finding::Unsettled);
        match history.find(round) {
            Finding::Pair(pair) => Some(pair),
            finding => {
                assert_eq!(finding, Finding::Alone);
                None
            }
        }
    }

    #[test]
    fn an_empty_path_and_a_full_queue() {
        let empty = pair((10.0, 100.0), (11.0, 100.0)).unwrap();
        assert_eq!(empty.delay_gradient(), 0.0);
        assert_close(empty.throughput_gradient(100.0), 1.0, 1e-12);
        // At capacity the RTT grows as the window does.
        let full = pair((20.0, 200.0), (21.0, 210.0)).unwrap();
        assert_close(full.delay_gradient(), 1.0, 1e-12);
        assert_close(full.throughput_gradient(100.0), 0.0, 1e-12);
        // The same line, walked down.
        let down = pair((21.0, 210.0), (20.0, 200.0)).unwrap();
        assert_close(down.delay_gradient(), 1.0, 1e-12);
        assert_close(down.throughput_gradient(100.0), 0.0, 1e-12);
    }

    #[test]
    fn equal_windows_are_no_pair() {
        assert_eq!(pair((10.0, 100.0), (10.0, 300.0)), None);
    }

    #[test]
    fn no_time_is_no_queue() {
        let mut history = WindowHistory::default();
        let at_once = |cwnd| RoundMeasurement { delta: 0.0, delays: Delays::new(0.0, 0.0), cwnd, late: 0.0 };
        find(&mut history, &at_once(10.0));
        let pair = find(&mut history, &at_once(11.0)).unwrap();
        assert_eq!((pair.delay_gradient(), pair.throughput_gradient(0.0)), (0.0, 1.0));
    }

    #[test]
    fn another_datagram_size_leaves_the_bytes() {
        let mut history = WindowHistory::default();
        find(&mut history, &measurement(10.0, 100.0));
        history.on_mtu_update(0.5);
        assert_eq!(find(&mut history, &measurement(5.0, 100.0)), None);
    }
}
