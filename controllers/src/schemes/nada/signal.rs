//! The congestion signal: queueing delay, losses and marks as one delay (§4.2, §5.1). Milliseconds.

use super::Params;
use crate::event::{PacketsAcked, RttSample};
use crate::parts::queue_signal::QueueSignal;
use crate::{Decision, Time};

/// Samples that the queueing delay is the least of (§5.1.1).
const FILTER: usize = 15;
/// Loss intervals that the average is of, and what they weigh, the latest first (`RFC 5348 §5.4`).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// What the path says of its congestion.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Signal {
    delay: QueueSignal,
    /// What the latest samples exceed it by, µs; `u32::MAX` before there are as many.
    latest: [u32; FILTER],
    next: u8,
    /// How many loss intervals are over, as far as they count.
    pub(super) events: u8,
    /// Packets since the latest loss event, and from one event to the next.
    pub(super) intervals: [u32; WEIGHTS.len() + 1],
    pub(super) d_queue: f64,
    pub(super) p_loss: f64,
    pub(super) p_mark: f64,
}

impl Default for Signal {
    fn default() -> Self {
        Signal {
            delay: QueueSignal::default(),
            latest: [u32::MAX; FILTER],
            next: 0,
            events: 0,
            intervals: [0; WEIGHTS.len() + 1],
            d_queue: 0.0,
            p_loss: 0.0,
            p_mark: 0.0,
        }
    }
}

impl Signal {
    pub fn on_rtt_sample(&mut self, rtt: &RttSample) {
        self.delay.on_rtt_sample(rtt);
    }

    pub fn hold(&self, least: f64, decision: &mut Decision) {
        self.delay.hold(least, decision);
    }

    /// The queueing delay through a minimum filter (§5.1.1), and the packets of the loss interval under way. Returns the
    /// sample's own queueing delay.
    #[inline]
    pub fn on_packets_acked(&mut self, params: &Params, now: Time, acked: &PacketsAcked) -> Option<f64> {
        self.intervals[0] = self.intervals[0].saturating_add(acked.packets);
        let queued = self.delay.read(&params.path, params.base_history, now, acked)?;
        if queued.anew {
            self.latest = [u32::MAX; FILTER];
        }
        if queued.risen != 0 {
            self.move_base(queued.risen);
        }
        let queue = micros(queued.ns());
        self.latest[usize::from(self.next)] = queue;
        self.next = (self.next + 1) % FILTER as u8;
        self.d_queue = 1e-3 * f64::from(self.latest.into_iter().min().unwrap_or(queue));
        Some(1e-3 * f64::from(queue))
    }

    /// What the latest samples exceed the base delay by, which has risen by `ns`.
    #[cold]
    fn move_base(&mut self, ns: i64) {
        for queue in self.latest.iter_mut().filter(|queue| **queue < u32::MAX) {
            *queue = micros((1000 * i64::from(*queue)).saturating_sub(ns));
        }
    }

    /// A loss event (`RFC 5348 §5.2`) begins a loss interval.
    #[cold]
    pub fn on_loss_event(&mut self) {
        self.intervals.copy_within(..WEIGHTS.len(), 1);
        self.intervals[0] = 0;
        self.events = (self.events + 1).min(WEIGHTS.len() as u8);
    }

    /// Ratios of what was lost and marked of late (§5.1.2, §5.1.3).
    pub fn on_ratios(&mut self, params: &Params, lost: f64, marked: f64) {
        self.p_loss += params.alpha * (lost - self.p_loss);
        self.p_mark += params.alpha * (marked - self.p_mark);
    }

    /// `x_curr` (§4.2, equations 1 and 2).
    #[must_use]
    pub fn x_curr(&self, params: &Params) -> f64 {
        let square = |ratio: f64| ratio * ratio;
        let loss = params.dloss * square(self.p_loss / params.plrref);
        let mark = params.dmark * square(self.p_mark / params.pmrref);
        (self.d_tilde(params) + loss + mark).min(params.xmax)
    }

    /// The queueing delay, warped while losses are recent, so that a flow beside others that fill the queue is not starved.
    fn d_tilde(&self, params: &Params) -> f64 {
        if self.d_queue < params.qth || self.events == 0 {
            return self.d_queue;
        }
        let warped = params.qth * libm::exp(-params.lambda * (self.d_queue - params.qth) / params.qth);
        // From the one to the other in a further average interval (§4.2).
        let average = self.average_interval().max(1.0);
        let passed = ((f64::from(self.intervals[0]) - params.multiloss * average) / average).clamp(0.0, 1.0);
        warped + passed * (self.d_queue - warped)
    }

    /// The average of the loss intervals that are over, packets: with the one under way it would be at least a sixth of that, and the
    /// seven of `multiloss` never passed.
    pub(super) fn average_interval(&self) -> f64 {
        let weights = &WEIGHTS[..usize::from(self.events)];
        let sum: f64 =
            weights.iter().zip(&self.intervals[1..]).map(|(weight, interval)| weight * f64::from(*interval)).sum();
        sum / weights.iter().sum::<f64>().max(1.0)
    }
}

/// Whole microseconds of `ns`, none of what is negative.
fn micros(ns: i64) -> u32 {
    u32::try_from(ns.max(0) / 1000).unwrap_or(u32::MAX - 1)
}
