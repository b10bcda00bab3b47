//! Estimated send rates for applications whose stack does not hand out its controllers.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use windlass_controllers::{ConfiguredController, Decision, Event, EventKind};

use crate::{GroupStep, NewFlow, Recorder, SendRate, SendRateMeter, StateVariables};

type Latest = Mutex<Option<SendRate>>;

/// The estimated send rates of flows, by the address of the peer they send to. What is cloned has the same flows.
///
/// ```
/// use windlass_adapter::{FlowBuilder, SendRates, Signals, Stack};
/// let rates = SendRates::default();
/// let stack = Stack { name: "example", provides: Signals::ACKS.and(Signals::LOSS).and(Signals::RTT) };
/// let flows = FlowBuilder::named("cubic", &stack)?.record_with(rates.recorders());
/// assert_eq!(rates.of("192.0.2.7:4433".parse().expect("an address")), None, "no flow to it runs");
/// # Ok::<(), windlass_adapter::ChoiceError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SendRates(Arc<Mutex<HashMap<SocketAddr, Weak<Latest>>>>);

impl SendRates {
    /// The estimate of the flow to `peer`, as of its latest event; of the newest, if there are several. `None` if none runs, or it has
    /// no RTT sample yet.
    #[must_use]
    pub fn of(&self, peer: SocketAddr) -> Option<SendRate> {
        let latest = self.lock().get(&peer)?.upgrade()?;
        *latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the recorder of each flow that is to be found here, for `record_with`.
    pub fn recorders<C: ConfiguredController>(
        &self,
    ) -> impl Fn(&NewFlow<'_, C>) -> Box<dyn Recorder> + Send + Sync + 'static + use<C> {
        let rates = self.clone();
        move |new| rates.recorder(new.peer.address)
    }

    /// The recorder of a flow to `peer`.
    #[must_use]
    pub fn recorder(&self, peer: SocketAddr) -> Box<dyn Recorder> {
        let latest = Arc::<Latest>::default();
        let mut flows = self.lock();
        flows.retain(|_, flow| flow.strong_count() > 0);
        flows.insert(peer, Arc::downgrade(&latest));
        Box::new(Publisher { latest, meter: SendRateMeter::default() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SocketAddr, Weak<Latest>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Publisher {
    latest: Arc<Latest>,
    meter: SendRateMeter,
}

impl Recorder for Publisher {
    fn on_group_step(&mut self, _: GroupStep) {}

    fn record(&mut self, event: &Event, decision: &Decision, _: &StateVariables<'_>) {
        self.meter.on_event(event);
        // A packet that leaves changes nothing.
        if !matches!(event.kind, EventKind::PacketSent(_)) {
            *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = self.meter.estimate(decision);
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_controllers::event::{PacketsAcked, RttSample};
    use windlass_controllers::{Span, Time};

    use super::*;

    #[test]
    fn a_flow_is_found_while_it_runs() {
        let (rates, peer) = (SendRates::default(), "192.0.2.7:4433".parse().unwrap());
        let mut recorder = rates.recorder(peer);
        assert_eq!(rates.of(peer), None, "no sample yet");
        let rtt = RttSample::new(Span(1_000_000), Span(1_000_000), Span(0), Span(1_000_000));
        let acked = PacketsAcked::new(1000, 1, Time(0), 0, 1000).with_rtt(Some(rtt));
        recorder.record(&Event::new(Time(1_000_000), EventKind::PacketsAcked(acked)), &Decision::new(10_000), &|_| {});
        assert_eq!(rates.of(peer).map(|rate| rate.bits_per_s), Some(80_000_000));
        assert_eq!(rates.of("192.0.2.8:4433".parse().unwrap()), None);
        drop(recorder);
        assert_eq!(rates.of(peer), None);
    }
}
