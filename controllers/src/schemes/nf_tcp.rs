//! NF-TCP and what is left of it without its estimator, NF-TCP′: [`NfTcp`], [`NfTcpPrime`].

use crate::parts::base::Base;
use crate::parts::compose::{Composed, Measured, NoEstimate, PathParams, Scheme};
use crate::parts::early::EarlyEcn;
use crate::parts::guided::{AimdB, DecreaseFactor, Guided};
use crate::parts::limits::Limits;
use crate::parts::proecn::ProEcn;
use crate::parts::window_controller::WindowController;
use crate::parts::{early, guided, proecn};
use crate::{Decision, Info, Span, parameters};

parameters! {
    /// How a background flow's packets look and leave.
    pub struct LabelParams {
        /// Differentiated services codepoint of data packets: CS1, low-priority data (RFC 4594 §4.10); LE is 1 (RFC 8622).
        dscp: u32 = 8, in 0, 63, source "spec: arumaithurai §3.5 F1";
        /// Pacing rate over window per smoothed RTT; 0 leaves pacing to the stack.
        pacing_gain: f64 = 1.25, in 0.0, 100.0, source "spec: arumaithurai §3.5 F8";
    }
}

impl LabelParams {
    /// Labels a decision (`spec: arumaithurai §3.5 F1, F8`).
    pub fn label(&self, path: &Measured, decision: &mut Decision) {
        decision.dscp = self.dscp.min(63) as u8;
        if self.pacing_gain > 0.0 && path.smoothed() > Span::ZERO {
            let rate = self.pacing_gain * decision.cwnd as f64 * 8.0 / path.smoothed().secs();
            decision.pacing_rate = Some(rate as u64);
        }
    }
}

parameters! {
    /// Parameters of [`NfTcp`].
    pub struct Params {
        @with flow: guided::Params, "Flow control.";
        @with detection: early::Params, "Congestion detection.";
        @with probing: proecn::Params, "Bandwidth estimation.";
        @with path: PathParams, "Measuring the path.";
        @with labels: LabelParams, "Codepoint and pacing.";
    }
}

/// Names the modules of [`NfTcp`].
#[derive(Debug)]
pub struct NfTcpScheme;

#[doc = include_str!("nf_tcp.md")]
///
/// NF-TCP: early detection, ProECN, guided flow control (`spec: arumaithurai §3`).
///
/// With `w2=0,signal_source=delay` it runs on a path that bleaches ECN, and is then not
/// sure to yield (`spec: arumaithurai §3.9`).
pub type NfTcp = Composed<NfTcpScheme>;

impl Scheme for NfTcpScheme {
    const INFO: Info = Info {
        name: "nf-tcp",
        summary: "background transport: yields to early marks, grows by probed bandwidth",
        source: "spec: arumaithurai §3",
        fallback: Some("grows linearly, without probing"),
    };
    type Detector = EarlyEcn;
    type Estimator = ProEcn;
    type FlowControl = Guided;
    type Params = Params;

    fn finish(params: &Params, path: &Measured, decision: &mut Decision) {
        params.labels.label(path, decision);
    }
}

parameters! {
    /// Parameters of NF-TCP′'s flow control, AIMD(1, b). With `b` one half it is Reno to the bit.
    pub struct PrimeFlowParams {
        @base Base, paper Limits::arumaithurai();
        /// Decrease factor: fraction of the window given up on congestion.
        b: f64 = 0.5, in 0.0, 0.99, source "spec: arumaithurai §3.8, A48";
    }
}

impl DecreaseFactor for PrimeFlowParams {
    fn b(&self) -> f64 {
        self.b
    }
}

parameters! {
    /// Parameters of [`NfTcpPrime`].
    pub struct PrimeParams {
        @with flow: PrimeFlowParams, "Flow control.";
        @with detection: early::Params, "Congestion detection.";
        @with path: PathParams, "Measuring the path.";
        @with labels: LabelParams, "Codepoint and pacing.";
    }
}

impl AsRef<()> for PrimeParams {
    fn as_ref(&self) -> &() {
        &()
    }
}

/// Names the modules of [`NfTcpPrime`].
#[derive(Debug)]
pub struct NfTcpPrimeScheme;

#[doc = include_str!("nf_tcp_prime.md")]
///
/// NF-TCP′: early detection, no estimation, AIMD flow control
/// (`spec: arumaithurai §3.8`). `b=0.125` makes it NF-TCP without its estimator in the
/// literal reading (A48).
pub type NfTcpPrime = Composed<NfTcpPrimeScheme>;

impl Scheme for NfTcpPrimeScheme {
    const INFO: Info = Info {
        name: "nf-tcp-prime",
        summary: "nf-tcp without bandwidth estimation: Reno that yields to early marks",
        source: "spec: arumaithurai §3.8",
        fallback: None,
    };
    type Detector = EarlyEcn;
    type Estimator = NoEstimate;
    type FlowControl = WindowController<AimdB<PrimeFlowParams>>;
    type Params = PrimeParams;

    fn finish(params: &PrimeParams, path: &Measured, decision: &mut Decision) {
        params.labels.label(path, decision);
    }
}

#[cfg(test)]
mod tests;
