//! Cross traffic without congestion control.
//!
//! Source: `spec: chan §8.5`; constant rate with random gaps and periods,
//! `spec: cho §14.3`.

use windlass_controllers::Time;

use super::out_of_range::{OutOfRange, check};
use super::packet::RouteId;
use super::random::Stream;

/// A source of packets that are not acknowledged.
#[derive(Clone, PartialEq, Debug)]
pub struct TrafficSpec {
    /// Unique name; its random numbers depend on it.
    pub name: String,
    /// Route of its packets.
    pub route: RouteId,
    /// Size of a packet on the wire, bytes.
    pub bytes: u32,
    /// Times at which it sends.
    pub pattern: Pattern,
    /// Time before which it sends nothing.
    pub start: Time,
    /// Sends nothing from here on.
    pub stop: Time,
}

/// Send times of a traffic source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Pattern {
    /// At a constant rate, bit/s. Each gap is multiplied by `1 + U[−jitter, jitter]`. With
    /// `period`, silent for the first and sending for the second of its times, s, in turn.
    Constant {
        /// Rate, bit/s.
        rate: f64,
        /// Half width of the random factor on each gap, 0 to 1.
        jitter: f64,
        /// Times of silence and of sending, s; `None` sends all the time.
        period: Option<(f64, f64)>,
    },
    /// With exponential gaps, at a mean rate in bit/s.
    Poisson {
        /// Mean rate, bit/s.
        rate: f64,
        /// Whether the mean rate is itself drawn anew now and then.
        redraw: Option<Redraw>,
    },
    /// Bursts at `peak` of exponential length (mean `on`, s), with exponential silences
    /// such that the mean rate is `mean`. Starts with a silence.
    ExponentialOnOff {
        /// Rate during a burst, bit/s.
        peak: f64,
        /// Mean rate over bursts and silences, bit/s.
        mean: f64,
        /// Mean length of a burst, s.
        on: f64,
    },
    /// The same with Pareto lengths of shape `shape`.
    ParetoOnOff {
        /// Rate during a burst, bit/s.
        peak: f64,
        /// Mean rate over bursts and silences, bit/s.
        mean: f64,
        /// Mean length of a burst, s.
        on: f64,
        /// Shape of the Pareto distribution, more than 1.
        shape: f64,
    },
}

/// A rate drawn anew now and then: a Poisson number of Mbit/s whose mean is the source's
/// rate (`spec: arumaithurai §12, S5`).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Redraw {
    /// Time between draws, s.
    pub every: f64,
    /// The rate is clipped to this, bit/s.
    pub max: f64,
}

impl TrafficSpec {
    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        let finite = |value: f64, least: bool, what, expected| check(least && value.is_finite(), what, value, expected);
        let (rate, mean, on) = match self.pattern {
            Pattern::Constant { rate, jitter, period } => {
                check((0.0..=1.0).contains(&jitter), "jitter", jitter, "0 to 1")?;
                if let Some((off, on)) = period {
                    finite(off, off >= 0.0, "silent time", "0 s or more")?;
                    finite(on, on > 0.0, "sending time", "more than 0 s")?;
                }
                (rate, rate, 1.0)
            }
            Pattern::Poisson { rate, redraw } => {
                if let Some(Redraw { every, max }) = redraw {
                    finite(every, every > 0.0, "time between draws", "more than 0 s")?;
                    check(max >= 0.0, "largest rate", max, "0 bit/s or more")?;
                    check(rate <= 1e11, "mean of the rates drawn", rate, "at most 100 Gbit/s")?;
                }
                (rate, rate, 1.0)
            }
            Pattern::ExponentialOnOff { peak, mean, on } => (peak, mean, on),
            Pattern::ParetoOnOff { peak, mean, on, shape } => {
                finite(shape, shape > 1.0, "shape", "more than 1")?;
                (peak, mean, on)
            }
        };
        finite(rate, rate >= 1.0, "rate", "at least 1 bit/s")?;
        check(mean >= 1.0 && mean <= rate, "mean rate", mean, "at least 1 bit/s and at most the peak rate")?;
        finite(on, on > 0.0, "mean sending time", "more than 0 s")
    }
}

/// State of a source while the network runs.
pub(super) struct Traffic {
    pub spec: TrafficSpec,
    random: Stream,
    /// Gap between packets at the (peak) rate, s.
    interval: f64,
    /// Packets left of a burst, the one due next included.
    burst: u64,
    /// When the next packet is due, s since the start of the source.
    due: f64,
    /// Until when `interval` holds, s since the start of the source.
    holds_until: f64,
    pub sent: u64,
    pub delivered: u64,
}

impl Traffic {
    pub fn new(spec: &TrafficSpec, seed: u64) -> Traffic {
        let rate = match spec.pattern {
            Pattern::Constant { rate, .. } | Pattern::Poisson { rate, .. } => rate,
            Pattern::ExponentialOnOff { peak, .. } | Pattern::ParetoOnOff { peak, .. } => peak,
        };
        let mut traffic = Traffic {
            spec: spec.clone(),
            random: Stream::new(seed, &format!("traffic {}", spec.name)),
            interval: 8.0 * f64::from(spec.bytes) / rate,
            burst: 0,
            due: 0.0,
            holds_until: 0.0,
            sent: 0,
            delivered: 0,
        };
        traffic.due = match spec.pattern {
            Pattern::Constant { period, .. } => period.map_or(0.0, |(off, _)| off),
            Pattern::Poisson { rate, redraw } => traffic.after_gap(rate, redraw),
            _ => traffic.start_burst(),
        };
        traffic
    }

    /// Time of the next packet, ns; `u64::MAX` for never.
    pub fn next(&self) -> u64 {
        // Saturates: a source can be slower than time lasts.
        let at = self.spec.start.0.saturating_add((self.due * 1e9 + 0.5) as u64);
        if at < self.spec.stop.0 { at } else { u64::MAX }
    }

    /// A packet was sent when it was due.
    pub fn sent(&mut self) {
        self.sent += 1;
        let gap = match self.spec.pattern {
            Pattern::Constant { jitter, period, .. } => {
                let gap = self.interval * (1.0 + jitter * (2.0 * self.random.uniform() - 1.0));
                self.due = next_in_period(self.due + gap, period);
                return;
            }
            Pattern::Poisson { rate, redraw } => {
                self.due = self.after_gap(rate, redraw);
                return;
            }
            _ if self.burst > 1 => {
                self.burst -= 1;
                self.interval
            }
            _ => self.interval + self.start_burst(),
        };
        self.due += gap;
    }

    /// When the next packet of a Poisson source is due, s. Gaps have no memory, so one that
    /// reaches beyond the time its rate holds is drawn again from there.
    fn after_gap(&mut self, rate: f64, redraw: Option<Redraw>) -> f64 {
        let Some(Redraw { every, max }) = redraw else {
            return self.due + self.random.exponential(self.interval);
        };
        let stop = self.spec.stop.0 as f64 / 1e9;
        let mut from = self.due;
        loop {
            if from >= self.holds_until {
                let drawn = (self.random.poisson(rate / 1e6) as f64 * 1e6).min(max);
                // Without a rate nothing is due while it holds.
                self.interval = if drawn > 0.0 { 8.0 * f64::from(self.spec.bytes) / drawn } else { f64::INFINITY };
                self.holds_until += every;
            }
            let due = from + if self.interval.is_finite() { self.random.exponential(self.interval) } else { every };
            if due < self.holds_until || from > stop {
                return due;
            }
            from = self.holds_until;
        }
    }

    /// Draws the length of the next burst; returns the silence before it, s. The first
    /// packet of the burst is the one that ends the silence.
    fn start_burst(&mut self) -> f64 {
        let (length, silence) = match self.spec.pattern {
            Pattern::ExponentialOnOff { peak, mean, on } => {
                let length = self.random.exponential(on / self.interval);
                (length, self.random.exponential(on * (peak / mean - 1.0)))
            }
            Pattern::ParetoOnOff { peak, mean, on, shape } => {
                let scale = |mean: f64| mean * (shape - 1.0) / shape;
                let length = self.random.pareto(scale(on / self.interval), shape);
                (length, self.random.pareto(scale(on * (peak / mean - 1.0)), shape))
            }
            _ => (1.0, 0.0),
        };
        self.burst = ((length + 0.5).floor() as u64).max(1);
        silence
    }
}

/// `due`, or the start of the next sending time if that falls into a silent one.
fn next_in_period(due: f64, period: Option<(f64, f64)>) -> f64 {
    let Some((off, on)) = period else { return due };
    // Gaps add up to a whole period only nearly; times are nanoseconds anyway.
    let round = ((due + 1e-9) / (off + on)).floor();
    due.max(round * (off + on) + off)
}

#[cfg(test)]
mod tests;
