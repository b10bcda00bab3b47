//! How much faster than Reno a large window grows, and how much less it gives up: the two
//! functions of HighSpeed TCP (`RFC 3649`; `spec: sharma §3`).
//!
//! Logarithms are not taken per ACK: [`Increase`] computes `a` at the whole numbers around the
//! window and interpolates between them, anew whenever the window passes a whole number.

use crate::parts::window::Window;
use crate::{choice, parameters};

choice! {
    /// Where `a(w)` comes from.
    pub enum Form {
        /// `p(w)` straight between the two anchors on logarithmic scales, as the platform
        /// of the document computes it (`spec: sharma §3 T-3`).
        Continuous = "continuous",
        /// `p(w) = 0.078/w^1.2`, which the RFC's table is computed from (`RFC 3649 §5`).
        Formula = "formula",
        /// The table of RFC 3649, Appendix B; `a` whole, `b` in 256ths.
        Table = "table",
    }
}

parameters! {
    /// The two functions' anchors.
    pub struct Response {
        /// Where the increase comes from.
        form: Form = Form::Continuous, source "spec: sharma §3.1, §3.2, A-18";
        /// Window up to which it is Reno.
        low_window: f64 = 38.0, in 2.0, 1000.0, unit "packets", source "RFC 3649 §5";
        /// Window of the upper anchor.
        high_window: f64 = 83_000.0, in 2000.0, 1e9, unit "packets", source "RFC 3649 §5";
        /// Loss rate at the low window.
        low_p: f64 = 1e-3, paper 1.5 / (38.0 * 38.0), in 1e-6, 0.5, source "RFC 3649 §5; spec: sharma §3";
        /// Loss rate at the high window.
        high_p: f64 = 1e-7, in 1e-12, 1e-3, source "RFC 3649 §5";
        /// Fraction of the window given up at the high window.
        high_decrease: f64 = 0.1, in 0.05, 0.5, source "RFC 3649 §5";
    }
}

/// Smallest `b`, far above the high window (`spec: sharma §3`, corner cases).
pub(crate) const LEAST_DECREASE: f64 = 0.05;

impl Response {
    /// How far `w` is from the low window to the high one, on a logarithmic scale.
    fn position(&self, w: f64) -> f64 {
        libm::log(w / self.low_window) / libm::log(self.high_window / self.low_window)
    }

    /// The loss rate at which `w` is the average window.
    pub(crate) fn loss_rate(&self, w: f64) -> f64 {
        match self.form {
            Form::Continuous => self.low_p * libm::exp(self.position(w) * libm::log(self.high_p / self.low_p)),
            Form::Formula | Form::Table => 0.078 / libm::pow(w, 1.2),
        }
    }

    /// Fraction of a window of `w` packets given up on congestion (`spec: sharma §3 T-3,
    /// T-5`).
    #[must_use]
    pub fn b(&self, w: f64) -> f64 {
        if w <= self.low_window {
            return 0.5;
        }
        if self.form == Form::Table {
            return f64::from(CUTS[row(w)]) / 256.0;
        }
        (0.5 + (self.high_decrease - 0.5) * self.position(w)).clamp(LEAST_DECREASE, 0.5)
    }

    /// Packets a window of `w` grows by per round trip, before it is held to at least
    /// Reno's (`spec: sharma §3 T-3`).
    pub(crate) fn unclamped(&self, w: f64) -> f64 {
        if self.form == Form::Table {
            return row(w) as f64 + 1.0;
        }
        let b = self.b(w);
        w * w * self.loss_rate(w) * 2.0 * b / (2.0 - b)
    }

    /// Packets a window of `w` grows by per round trip; at least 1.
    #[must_use]
    pub fn a(&self, w: f64) -> f64 {
        if w <= self.low_window { 1.0 } else { self.unclamped(w).max(1.0) }
    }

    /// Names both functions' values at `window`.
    pub fn inspect(&self, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("a", self.a(window.cwnd));
        visit("b", self.b(window.cwnd));
    }
}

/// The increase between two whole numbers of packets, before it is held to Reno's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Increase {
    floor: f64,
    a: f64,
    slope: f64,
}

impl Default for Increase {
    fn default() -> Self {
        Increase { floor: 0.0, a: 1.0, slope: 0.0 }
    }
}

impl Increase {
    /// Packets a window of `cwnd` grows by per round trip (`spec: sharma §3 T-4`).
    #[inline]
    pub fn per_window(&mut self, response: &Response, cwnd: f64) -> f64 {
        if cwnd > response.low_window { self.a(response, cwnd) } else { 1.0 }
    }

    /// `a(w)`; exact at whole numbers of packets.
    #[inline]
    pub(crate) fn a(&mut self, response: &Response, w: f64) -> f64 {
        let floor = f64::from(w as u32);
        if floor != self.floor {
            *self = Increase::at(response, floor);
        }
        (self.a + self.slope * (w - floor)).max(1.0)
    }

    #[cold]
    pub(crate) fn at(response: &Response, floor: f64) -> Increase {
        let a = response.unclamped(floor);
        let slope = if response.form == Form::Table { 0.0 } else { response.unclamped(floor + 1.0) - a };
        Increase { floor, a, slope }
    }
}

/// The row of the table in force at `w`, from 0: the last whose window is not above it.
fn row(w: f64) -> usize {
    ROWS.partition_point(|&window| f64::from(window) <= w).max(1) - 1
}

/// RFC 3649, Appendix B: from how many packets on row k, from 1, is in force, in which
/// the window grows by k packets per round trip (`spec: sharma §3.2`).
#[rustfmt::skip]
pub(crate) const ROWS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076,
    2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036, 5497, 5979, 6483, 7009,
    7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614, 14424, 15265,
    16137, 17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193,
    29557, 30975, 32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694, 46776, 48961,
    51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401, 79517, 84035, 89053,
];

/// How many 256ths of the window each row gives up (`spec: sharma §3.2`).
#[rustfmt::skip]
pub(crate) const CUTS: [u8; 72] = [
    128, 112, 104, 98, 93, 89, 86, 83, 81, 78, 76, 74,
    72, 71, 69, 68, 66, 65, 64, 62, 61, 60, 59, 58,
    57, 56, 55, 54, 53, 52, 52, 51, 50, 49, 48, 48,
    47, 46, 45, 45, 44, 43, 43, 42, 41, 41, 40, 39,
    39, 38, 38, 37, 36, 36, 35, 35, 34, 33, 33, 32,
    32, 31, 30, 30, 29, 28, 28, 27, 26, 26, 25, 24,
];
