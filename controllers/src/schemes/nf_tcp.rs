//! NF-TCP and what is left of it without its estimator, NF-TCP′: [`NfTcp`], [`NfTcpPrime`].

use crate::parts::base::Base;
use crate::parts::compose::{Composed, Measured, NoEstimate, Scheme, measured};
use crate::parts::early::EarlyEcn;
use crate::parts::guided::{AimdB, DecreaseFactor, Guided};
use crate::parts::proecn::ProEcn;
use crate::parts::window_controller::WindowController;
use crate::parts::{early, guided, labels, proecn};
use crate::{Decision, Info, parameters};

parameters! {
    /// Parameters of [`NfTcp`].
    pub struct Params {
        @with flow: guided::Params, "Flow control.";
        @with detection: early::Params, "Congestion detection.";
        @with probing: proecn::Params, "Bandwidth estimation.";
        @with path: measured::Params, "Measuring the path.";
        @with labels: labels::Params, "Codepoint and pacing.";
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
        @base Base, paper Base::arumaithurai();
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
        @with path: measured::Params, "Measuring the path.";
        @with labels: labels::Params, "Codepoint and pacing.";
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
