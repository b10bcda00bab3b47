#![doc = include_str!("compose.md")]

pub mod estimate;
pub mod flow;
mod modules;

use crate::parts::compose::{Composed, Measured, PathParams, Scheme};
use crate::parts::weighted::{self, Weighted};
use crate::{Decision, Info, parameters};

parameters! {
    /// Parameters of [`Compose`]: its own, and those of the modules chosen.
    pub struct Params {
        @with detection: weighted::Params, "Congestion detection.";
        @with flow: flow::Params, "Flow control.";
        @with estimate: estimate::Params, "Bandwidth estimation.";
        @with path: PathParams, "Measuring the path.";
        /// Differentiated services codepoint of data packets; routers that know background traffic by it want 8.
        dscp: u32 = 0, in 0, 63, source "spec: arumaithurai §3.5 F1";
    }
}

/// Names the modules of [`Compose`].
#[derive(Debug)]
pub struct ComposeScheme;

/// A controller of modules chosen by name (`spec: arumaithurai §2`).
pub type Compose = Composed<ComposeScheme>;

impl Scheme for ComposeScheme {
    const INFO: Info = Info {
        name: "compose",
        summary: "a detector, a flow control and an estimator put together by name",
        source: "spec: arumaithurai §2",
        fallback: None,
    };
    type Detector = Weighted;
    type Estimator = estimate::Chosen;
    type FlowControl = flow::Chosen;
    type Params = Params;

    fn finish(params: &Params, _: &Measured, decision: &mut Decision) {
        decision.dscp = params.dscp.min(63) as u8;
    }
}

#[cfg(test)]
mod tests;
