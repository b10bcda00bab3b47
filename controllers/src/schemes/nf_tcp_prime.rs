#![doc = include_str!("nf_tcp_prime.md")]

use crate::parts::aimd::Aimd;
use crate::parts::compose::{Composed, Measured, NoEstimate, Scheme, measured};
use crate::parts::early::EarlyEcn;
use crate::parts::{aimd, early, labels};
use crate::{Decision, Info, parameters};

parameters! {
    /// Parameters of [`NfTcpPrime`].
    pub struct Params {
        @with flow: aimd::Params, "Flow control.";
        @with detection: early::Params, "Congestion detection.";
        @with path: measured::Params, "Measuring the path.";
        @with labels: labels::Params, "Codepoint and pacing.";
    }
}

impl AsRef<()> for Params {
    fn as_ref(&self) -> &() {
        &()
    }
}

/// Names the modules of [`NfTcpPrime`].
#[derive(Debug)]
pub struct NfTcpPrimeScheme;

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
    type FlowControl = Aimd<aimd::Params>;
    type Params = Params;

    fn finish(params: &Params, path: &Measured, decision: &mut Decision) {
        params.labels.label(path, decision);
    }
}
