//! What controls a flow.

use windlass_controllers::{ConfiguredController, Decision, Path, Time, View};
use windlass_s2n_quic::STACK;

use crate::RunError;
use crate::driver::native::{NativeDecision, NativeObserver, NoNative};
use windlass_simulator::scenario::{Control, FlowSpec};

/// What controls a flow.
#[derive(Clone, Debug)]
pub enum Choice {
    /// A controller of the catalogue.
    Ours(Box<windlass_s2n_quic::Endpoint>),
    /// s2n-quic's CUBIC.
    Cubic,
    /// s2n-quic's BBRv2.
    Bbr,
}

/// s2n-quic's own controllers: what a user types after `native:`.
pub const NATIVES: &[&str] = &["cubic", "bbr"];

impl Choice {
    /// What controls `spec`.
    ///
    /// # Errors
    /// s2n-quic has no such controller, or does not tell what it needs.
    pub fn of(spec: &FlowSpec) -> Result<Choice, RunError> {
        let flow = || spec.name.clone();
        match &spec.control {
            Control::Catalogue(_) => match windlass_s2n_quic::Endpoint::named(&spec.controller) {
                Ok(endpoint) => Ok(Choice::Ours(Box::new(endpoint))),
                Err(error) => Err(RunError::Controller { flow: flow(), error }),
            },
            Control::Native(name) => match name.as_str() {
                "cubic" => Ok(Choice::Cubic),
                "bbr" => Ok(Choice::Bbr),
                _ => {
                    let error = NoNative { stack: STACK, name: name.clone(), known: NATIVES };
                    Err(RunError::NoNative { flow: flow(), error })
                }
            },
        }
    }
}

/// What the flow's controller decides before it has heard of anything; another than ours
/// tells its window when it has one.
pub fn first_decision(spec: &FlowSpec) -> Decision {
    let path = Path::new(Time::ZERO, spec.packet_bytes, 0);
    match spec.control.algorithm() {
        Some(algorithm) => algorithm.decide(&algorithm.start(&path), View::solo(&algorithm.group())),
        None => NativeObserver(NativeDecision::new(0))
            .decide(&NativeObserver(NativeDecision::new(0)).start(&path), View::solo(&())),
    }
}
