//! The closed forms of response functions.

/// The cycle from one loss to the next by the closed form.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cycle {
    /// Mean packets per round trip.
    pub window: f64,
    /// Round trips from one loss to the next.
    pub epoch: f64,
    /// Mean packets per round trip with the recovery period counted, which the documents leave
    /// out: the window does not grow until a packet sent after the reduction is acknowledged
    /// (`RFC 9002 §7.3.2`).
    pub with_recovery: f64,
}

/// A controller's response function.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The controller as a user types it, with parameters.
    pub controller: &'static str,
    /// How many flows of one group send; 1 for a single flow. Rates are of all together.
    pub flows: u32,
    /// The cycle at a rate of loss.
    pub cycle: fn(f64) -> Cycle,
    /// The largest rate of loss at which the scheme is in its own mode.
    pub most: f64,
}

/// Of AIMD with increase `a` and decrease `b`: a peak of `W`, `b·W/a` round trips, and
/// `(1−b/2)·(b/a)·W²` packets (`spec: cho §4.7 P7`); recovery adds `1+b` round trips at
/// `(1−b)·W`.
fn aimd(a: f64, b: f64, p: f64) -> Cycle {
    let square = (1.0 - b / 2.0) * b / a;
    let peak = 1.0 / (square * p).sqrt();
    let linear = (1.0 + b) * (1.0 - b);
    let lower_peak = ((linear * linear + 4.0 * square / p).sqrt() - linear) / (2.0 * square);
    Cycle {
        window: (1.0 - b / 2.0) * peak,
        epoch: b * peak / a,
        with_recovery: 1.0 / p / (b * lower_peak / a + 1.0 + b),
    }
}

fn reno(p: f64) -> Cycle {
    aimd(1.0, 0.5, p)
}

/// `spec: cho §4.7 P7, eq. 3.16`: additive increase by k, decrease by 1/(2k).
fn weighted(k: f64, p: f64) -> Cycle {
    aimd(k, 0.5 / k, p)
}

/// Loss rate and window at the lower anchor, and at the upper one (`RFC 3649 §5`).
const ANCHORS: [(f64, f64); 2] = [(1e-3, 38.0), (1e-7, 83_000.0)];

/// `RFC 3649 §5`; `spec: sharma §3`: a line between the anchors on logarithmic scales,
/// Reno above the lower one's loss rate. About a window it is AIMD with `a` and `b` there.
fn highspeed(p: f64) -> Cycle {
    let [(low_p, low), (high_p, high)] = ANCHORS;
    if p >= low_p {
        return reno(p);
    }
    let slope = (high / low).ln() / (high_p / low_p).ln();
    let window = low * (p / low_p).powf(slope);
    let b = 0.5 + (0.1 - 0.5) * (window / low).ln() / (high / low).ln();
    let a = window * window * p * 2.0 * b / (2.0 - b);
    let near = aimd(a, b, p);
    Cycle { window, epoch: near.epoch, with_recovery: window * near.with_recovery / near.window }
}

/// `spec: sharma §4`: growth by `a` per packet from `(1−b)·W` to `W = a/(b·p)`, over as many
/// round trips at every loss rate.
fn scalable(p: f64) -> Cycle {
    let (a, b): (f64, f64) = (0.01, 0.125);
    let logarithm = -(1.0 - b).ln();
    let epoch = logarithm / (1.0 + a).ln();
    Cycle { window: a / p / logarithm, epoch, with_recovery: 1.0 / p / (epoch + 1.0 + b) }
}

/// The response functions that documents give.
pub const LAWS: &[Law] = &[
    Law { controller: "reno", flows: 1, cycle: reno, most: 1.0 },
    Law { controller: "highspeed", flows: 1, cycle: highspeed, most: 1.0 },
    // Above, the smallest window of a cycle is in Reno's mode, up to 16 packets.
    Law { controller: "scalable", flows: 1, cycle: scalable, most: (1.0 - 0.125) * 0.01 / (0.125 * 16.0) },
    Law { controller: "tcp-k:k=2", flows: 1, cycle: |p| weighted(2.0, p), most: 1.0 },
    Law { controller: "tcp-k:k=4", flows: 1, cycle: |p| weighted(4.0, p), most: 1.0 },
    Law { controller: "tcp-p:k=3", flows: 5, cycle: |p| weighted(3.0, p), most: 1.0 },
];

/// From here on the recovery period that the closed forms leave out matters little: round
/// trips of an epoch, and packets of a window.
const LEAST: (f64, f64) = (10.0, 25.0);

impl Law {
    /// Whether the scheme is in its own mode at the loss rate `p`.
    #[must_use]
    pub fn applies(&self, p: f64) -> bool {
        p <= self.most
    }

    /// Whether the closed form holds at the loss rate `p` even though it knows no recovery
    /// period.
    #[must_use]
    pub fn holds(&self, p: f64) -> bool {
        let cycle = (self.cycle)(p);
        self.applies(p) && cycle.epoch >= LEAST.0 && cycle.window >= LEAST.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(seen: f64, expected: f64) {
        within(seen, expected, 0.01);
    }

    fn within(seen: f64, expected: f64, part: f64) {
        assert!((seen / expected - 1.0).abs() < part, "{seen} is not {expected}");
    }

    /// `spec: sharma §2, §3, §4`; `spec: cho §4.7 P7, eq. 3.17`.
    #[test]
    fn the_documents_coefficients_come_out() {
        near(reno(1e-4).window, 1.2247 / 1e-2);
        // Of the line between the anchors, 0.12 is rounded to two digits: 1.1 % off.
        within(highspeed(1e-5).window, 0.12 / 1e-5f64.powf(0.835), 0.015);
        near(highspeed(1e-7).window, 83_000.0);
        near(scalable(1e-4).window, 0.0749 / 1e-4);
        near(scalable(1e-4).epoch, 13.42);
        for (k, ratio) in [(1.0, 1.0), (2.0, 2.160), (4.0, 4.472), (10.0, 11.402)] {
            near(weighted(k, 1e-3).window / reno(1e-3).window, ratio);
        }
    }

    #[test]
    fn recovery_matters_less_the_rarer_losses_are() {
        for law in LAWS {
            let share = |p| (law.cycle)(p).with_recovery / (law.cycle)(p).window;
            assert!(share(1e-2) < 1.0 && share(1e-2) <= share(1e-6) + 1e-9 && share(1e-6) < 1.0, "{}", law.controller);
        }
    }
}
