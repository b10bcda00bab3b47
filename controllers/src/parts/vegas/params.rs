//! What the Vegas schemes let one set.

use super::{GrowthGate, Rounding};
use crate::parts::limits::Limits;
use crate::parts::{backstop, base_delay};
use crate::{choice, parameters};

choice! {
    /// How a loss reduces the window (`spec: chan §1.3`).
    pub enum LossArith {
        /// By whole packets of the whole part of the window.
        Integer = "integer",
        /// The fraction of the window, unrounded.
        Real = "real",
    }
}

choice! {
    /// Which window the backlog is estimated from (`spec: chan §1.3, §13 A2`).
    pub enum DeltaWindow {
        /// The congestion window.
        Cwnd = "cwnd",
        /// The most that was in flight during the round, if that is less.
        InFlight = "in-flight",
    }
}

parameters! {
    /// What every Vegas scheme shares, those included that compare one window with the one before it: the constants of the document and the knobs in
    /// which its simulations and a QUIC stack differ.
    pub struct Common {
        // Slow start listens to delay: none of `start_up` has a place in it. An idle flow keeps its window
        // (`spec: chan §1.7`) unless `idle_restart` says otherwise.
        @base Limits = Limits { idle_restart: false, ..Limits::default() }, paper Limits::chan();
        @with bound: backstop::Settings, "What losses bound the window to.";
        @with path: base_delay::Settings, "How long the base RTT is believed.";
        /// Backlog above which slow start ends.
        gamma: f64 = 1.0, in 0.0, 10_000.0, unit "packets", source "spec: chan §3.4, §13 A13";
        /// What the window is multiplied by when slow start ends.
        exit_factor: f64 = 0.875, in 0.1, 1.0, source "spec: chan §3.4";
        /// What the window is multiplied by when a first transmission is lost or marked.
        first_loss: f64 = 0.75, in 0.1, 1.0, source "spec: chan §3.4";
        /// What the window is multiplied by when a retransmission is lost.
        repeated_loss: f64 = 0.5, in 0.1, 1.0, source "spec: chan §3.4";
        /// How a loss reduces the window: by whole packets of its whole part, or as it is.
        loss_arith: LossArith = LossArith::Real, paper LossArith::Integer, source "spec: chan §1.3";
        /// When an ACK may grow the window: the flow filled its window before the ACK, after it, or whatever the flow did.
        growth_gate: GrowthGate = GrowthGate::PreAck, paper GrowthGate::PostAck, source "spec: chan §1.3, §13 A5";
        /// How much of the window may be unused for `growth_gate` to let it grow.
        max_gap: f64 = 2.0, in 0.0, 1_048_576.0, unit "packets", source "spec: chan §1.3, §3.4";
        /// Whether the backlog is rounded to whole packets.
        delta_rounding: Rounding = Rounding::None, paper Rounding::Nearest, source "spec: chan §1.3, §13 A3";
        /// Which window the backlog is estimated from.
        delta_window: DeltaWindow = DeltaWindow::InFlight, paper DeltaWindow::Cwnd, source "spec: chan §1.3, §13 A2";
        /// Most of the receiver's ACK delay that is taken off an RTT sample.
        max_ack_delay: f64 = 25.0, paper 0.0, in 0.0, 16_384.0, unit "ms", source "spec: chan §1.3; RFC 9000 §18.2";
        /// Whether packets sent before the latest reduction still tell of the backlog after it.
        stale_samples: bool = false, paper true, source "spec: chan §3.7 Q1, for samples still to come";
    }
}

impl Common {
    /// The window after a loss of data transmitted `transmissions` times, packets, before
    /// any limit (`spec: chan §3.7 Q1, L3`). In whole packets a first loss takes off the
    /// whole part of a quarter, a repeated one leaves the whole part of a half, and
    /// three packets or fewer become two.
    #[must_use]
    pub fn reduced(&self, cwnd: f64, transmissions: u32) -> f64 {
        let repeated = transmissions > 1;
        let keep = if repeated { self.repeated_loss } else { self.first_loss };
        let whole = libm::floor(cwnd);
        match self.loss_arith {
            LossArith::Real => cwnd * keep,
            LossArith::Integer if whole <= 3.0 => 2.0,
            LossArith::Integer if repeated => libm::floor(whole * keep),
            LossArith::Integer => whole - libm::floor(whole * (1.0 - keep)),
        }
    }
}

parameters! {
    /// Between which backlogs the window rests.
    pub struct Thresholds {
        /// Backlog below which the window grows; not above `beta`.
        alpha: f64 = 1.0, in 0.0, 10_000.0, unit "packets", source "spec: chan §3.4";
        /// Backlog above which the window shrinks.
        beta: f64 = 3.0, in 0.0, 10_000.0, unit "packets", source "spec: chan §3.4";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `spec: chan §3.9`.
    #[test]
    fn vectors() {
        let reduced =
            |loss_arith, cwnd, transmissions| Common { loss_arith, ..Common::default() }.reduced(cwnd, transmissions);
        let whole = |cwnd, transmissions| reduced(LossArith::Integer, cwnd, transmissions);
        assert_eq!((whole(17.0, 1), whole(17.0, 2)), (13.0, 8.0));
        assert_eq!((whole(17.9, 1), whole(17.9, 2)), (13.0, 8.0), "of the whole part");
        assert_eq!((whole(3.0, 1), whole(3.9, 2), whole(2.0, 1)), (2.0, 2.0, 2.0));
        assert_eq!(reduced(LossArith::Real, 17.0, 1), 12.75);
        assert_eq!(reduced(LossArith::Real, 17.0, 3), 8.5);
    }
}
