//! What a history leaves behind.

use windlass_adapter::Flow;
use windlass_adapter::rfc9002::RttEstimator;
use windlass_controllers::{Algorithm, Time};

use crate::history::{Action, History};
use crate::sender::Sender;
use crate::{Expected, Frame, Reference};

/// What a history leaves behind.
#[derive(Debug)]
pub struct Past {
    /// The controller's flow.
    pub flow: Flow<Algorithm>,
    /// When the history is over.
    pub now: Time,
    /// Bytes acknowledged.
    pub delivered: u64,
    /// The number of the next packet.
    pub next_pn: u64,
    /// The sender's estimates of the RTT.
    pub rtt: RttEstimator,
}

/// Runs `history` on ours alone. What is in flight in the end is neither acknowledged nor lost, and the maximum
/// datagram size is that of the beginning.
#[must_use]
pub fn live(algorithm: Algorithm, history: &History) -> Past {
    let mut sender = Sender::new(algorithm, Box::new(Uncompared), history);
    for action in history.actions.iter().chain([&Action::Mtu { bytes: history.mtu }]) {
        let compared = sender.act(action);
        debug_assert!(compared.is_ok(), "there is nothing to differ from");
    }
    let Sender { flow, now, delivered, next_pn, rtt, .. } = sender;
    Past { flow, now, delivered, next_pn, rtt }
}

/// No reference to compare with.
struct Uncompared;

impl Reference for Uncompared {
    fn on_frame(&mut self, _: &Frame<'_>) {}
    fn on_mtu(&mut self, _: Time, _: u64) {}
    fn expected(&self, _: Time) -> Expected {
        Expected { cwnd: f64::NAN, ..Expected::default() }
    }
}
