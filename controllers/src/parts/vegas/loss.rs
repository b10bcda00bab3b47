//! Which losses are answered, the third of the three choices, and by how much.

use core::fmt::Debug;

use super::Common;
use crate::choice;
use crate::event::{EcnCe, PacketsAcked, PacketsLost};

/// Tells congestion from what only looks like it, under parameters `P`.
pub trait LossRule<P>: Debug + Send + Sync + 'static {
    /// Its state variables; `()` for none.
    type Memory: Copy + PartialEq + Debug + Default + Send + Sync + 'static;

    /// Packets were acknowledged. Losses found by the same ACK frame came before.
    fn acked(params: &P, memory: &mut Self::Memory, acked: &PacketsAcked) {
        let _ = (params, memory, acked);
    }

    /// Whether packets were lost to congestion; `delta` is the latest backlog.
    fn lost(params: &P, memory: &mut Self::Memory, lost: &PacketsLost, delta: Option<f64>) -> bool;

    /// Whether CE marks are answered like the loss of a first transmission
    /// (`spec: chan §1.7`).
    fn marked(params: &P, memory: &mut Self::Memory, marked: &EcnCe) -> bool;

    /// See [`Controller::inspect`](crate::Controller::inspect).
    fn inspect(memory: &Self::Memory, visit: &mut dyn FnMut(&'static str, f64)) {
        let _ = (memory, visit);
    }
}

/// Every loss and every mark is congestion.
#[derive(Debug)]
pub struct Every;

impl<P> LossRule<P> for Every {
    type Memory = ();

    fn lost(_: &P, (): &mut (), _: &PacketsLost, _: Option<f64>) -> bool {
        true
    }

    fn marked(_: &P, (): &mut (), _: &EcnCe) -> bool {
        true
    }
}

choice! {
    /// How a loss reduces the window (`spec: chan §1.3`).
    pub enum LossArith {
        /// By whole packets of the whole part of the window.
        Integer = "integer",
        /// The fraction of the window, unrounded.
        Real = "real",
    }
}

impl LossArith {
    /// The window after a loss of data transmitted `transmissions` times, packets, before
    /// any limit (`spec: chan §3.7 Q1, L3`). In whole packets a first loss takes off the
    /// whole part of a quarter, a repeated one leaves the whole part of a half, and
    /// three packets or fewer become two.
    #[must_use]
    pub fn reduced(self, params: &Common, cwnd: f64, transmissions: u32) -> f64 {
        let repeated = transmissions > 1;
        let keep = if repeated { params.repeated_loss } else { params.first_loss };
        let whole = libm::floor(cwnd);
        match self {
            LossArith::Real => cwnd * keep,
            LossArith::Integer if whole <= 3.0 => 2.0,
            LossArith::Integer if repeated => libm::floor(whole * keep),
            LossArith::Integer => whole - libm::floor(whole * (1.0 - keep)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `spec: chan §3.9`.
    #[test]
    fn vectors() {
        let params = Common::default();
        let whole = |cwnd, transmissions| LossArith::Integer.reduced(&params, cwnd, transmissions);
        assert_eq!((whole(17.0, 1), whole(17.0, 2)), (13.0, 8.0));
        assert_eq!((whole(17.9, 1), whole(17.9, 2)), (13.0, 8.0), "of the whole part");
        assert_eq!((whole(3.0, 1), whole(3.9, 2), whole(2.0, 1)), (2.0, 2.0, 2.0));
        assert_eq!(LossArith::Real.reduced(&params, 17.0, 1), 12.75);
        assert_eq!(LossArith::Real.reduced(&params, 17.0, 3), 8.5);
    }
}
