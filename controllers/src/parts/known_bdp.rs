//! What a path is known to carry (`RFC 9959`), for controllers whose start-up follows a rate that they measure.

use crate::event::WindowSet;

/// The part of the BDP with which the pipe is full as it was for an earlier flow.
const FULL: f64 = 0.95;

/// The BDP at which start-up ends, by the threshold of [`WindowSet`], bytes; infinite where it is not known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KnownBdp(f32);

impl Default for KnownBdp {
    fn default() -> Self {
        KnownBdp(f32::INFINITY)
    }
}

impl KnownBdp {
    /// Takes the threshold of `to`, if it has one.
    pub fn set(&mut self, to: &WindowSet) {
        if let Some(bytes) = to.ssthresh {
            self.0 = bytes as f32;
        }
    }

    /// Bytes.
    #[inline]
    pub fn bytes(self) -> f64 {
        f64::from(self.0)
    }

    /// Whether a flow that delivers `bytes` in a round trip fills the pipe.
    #[inline]
    pub fn is_filled_by(self, bytes: f64) -> bool {
        bytes >= FULL * self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_full_with_what_filled_it_before() {
        let mut known = KnownBdp::default();
        known.set(&WindowSet::new(1));
        assert!(!known.is_filled_by(f64::MAX) && known.bytes().is_infinite(), "nothing is known");
        known.set(&WindowSet::new(1).with_ssthresh(Some(100_000)));
        known.set(&WindowSet::new(2));
        assert_eq!([94_999.0, 95_000.0].map(|bytes| known.is_filled_by(bytes)), [false, true]);
    }
}
