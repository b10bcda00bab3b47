//! How a background flow's packets look and leave: codepoint and pacing.

use crate::parameters;
use crate::parts::compose::Measured;
use crate::{Decision, Span};

parameters! {
    /// How a background flow's packets look and leave.
    pub struct Params {
        /// Differentiated services codepoint of data packets: CS1, low-priority data (RFC 4594 §4.10); LE is 1 (RFC 8622).
        dscp: u32 = 8, in 0, 63, source "spec: arumaithurai §3.5 F1";
        /// Pacing rate over window per smoothed RTT; 0 leaves pacing to the stack.
        pacing_gain: f64 = 1.25, in 0.0, 100.0, source "spec: arumaithurai §3.5 F8";
    }
}

impl Params {
    /// Labels a decision (`spec: arumaithurai §3.5 F1, F8`).
    pub fn label(&self, path: &Measured, decision: &mut Decision) {
        decision.dscp = self.dscp.min(63) as u8;
        if self.pacing_gain > 0.0 && path.smoothed() > Span::ZERO {
            let rate = self.pacing_gain * decision.cwnd as f64 * 8.0 / path.smoothed().secs();
            decision.pacing_rate = Some(rate as u64);
        }
    }
}
