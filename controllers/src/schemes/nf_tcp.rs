#![doc = include_str!("nf_tcp.md")]

use crate::parts::compose::{Composed, Measured, Scheme, measured};
use crate::parts::early::EarlyEcn;
use crate::parts::guided::Guided;
use crate::parts::proecn::ProEcn;
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

#[cfg(test)]
mod tests;
