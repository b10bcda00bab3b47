//! One path of a quinn connection as a windlass flow.

use std::any::Any;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};
use windlass_adapter::std_time::{Loss, Packet, Path};
use windlass_adapter::{Flow, NamedController, SendRate};
use windlass_controllers::ConfiguredController;

/// A windlass controller as quinn takes one; made by a [`Factory`](crate::Factory).
///
/// A running one is reached with `Connection::congestion_state().into_any()`, which hands
/// out a copy; see [`flow`](Controller::flow).
#[derive(Debug)]
pub struct Controller<C: ConfiguredController = NamedController> {
    path: Path<C>,
    initial_window: u64,
}

impl<C: ConfiguredController> Controller<C> {
    pub(crate) fn new(path: Path<C>) -> Self {
        Controller { initial_window: window(&path), path }
    }

    /// The flow: its algorithm, state and decision in force.
    #[must_use]
    pub fn flow(&self) -> &Flow<C> {
        self.path.flow()
    }

    /// The rate at which the path's next data leave and arrive; `None` before the first RTT sample.
    #[must_use]
    pub fn send_rate(&self) -> Option<SendRate> {
        self.flow().send_rate()
    }
}

/// quinn sends while bytes in flight and the next datagram together are *below* the
/// window; a decision lets them reach it.
#[inline]
fn window<C: ConfiguredController>(path: &Path<C>) -> u64 {
    path.window().saturating_add(1)
}

impl<C: ConfiguredController> congestion::Controller for Controller<C> {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.path.on_packet_sent(now, bytes, last_packet_number, true);
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.path.on_packet_acked(Packet { sent, bytes, pn: None }, app_limited, || (rtt.get(), rtt.min()));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.path.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        if lost_bytes == 0 {
            // This is how quinn reports CE marks.
            self.path.on_ecn_ce(now, sent, None);
        } else {
            self.path.on_packets_lost(now, sent, Loss { bytes: lost_bytes, persistent, ..Loss::default() });
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.path.on_mtu_update(new_mtu);
    }

    /// The decided window, of two datagrams at least, and one byte: quinn keeps bytes in
    /// flight *below* what this returns.
    #[inline]
    fn window(&self) -> u64 {
        window(&self.path)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        self.flow().with_decision(|decision| {
            metrics.congestion_window = decision.cwnd;
            metrics.ssthresh = decision.ssthresh;
            metrics.pacing_rate = decision.pacing_rate;
        });
        metrics
    }

    /// A copy for a path that moved: the same state, the same membership in its group, no
    /// recorder.
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Controller { path: self.path.clone(), initial_window: self.initial_window })
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    //! quinn's calls reach the flow; what is made of them is tested with
    //! [`Path`](windlass_adapter::std_time::Path).

    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use quinn_proto::congestion::{Controller as _, ControllerFactory as _};
    use windlass_adapter::{Recorder, StateVariables};
    use windlass_controllers::event::{EcnCe, PacketsLost};
    use windlass_controllers::{Decision, Event, EventKind};

    use super::*;
    use crate::Factory;

    #[derive(Clone, Default)]
    struct Recorded(Arc<Mutex<Vec<EventKind>>>);

    impl Recorder for Recorded {
        fn record(&mut self, event: &Event, _: &Decision, _: &StateVariables<'_>) {
            self.0.lock().unwrap().push(event.kind);
        }
    }

    fn controller(text: &str) -> (Controller, Recorded, Instant) {
        let recorded = Recorded::default();
        let (recorder, now) = (recorded.clone(), Instant::now());
        let factory = Factory::named(text).unwrap().record_with(move |_| Box::new(recorder.clone()));
        (factory.make(now, 1200), recorded, now)
    }

    #[test]
    fn quinn_may_fill_the_window() {
        let (controller, ..) = controller("reno:iw=10");
        assert_eq!(controller.window(), 12_001);
        assert_eq!(controller.initial_window(), 12_001);
        assert_eq!(controller.flow().decision().cwnd, 12_000);
    }

    #[test]
    fn metrics_are_the_decision() {
        let (mut controller, _, now) = controller("reno:iw=10");
        controller.on_congestion_event(now, now, false, 1200);
        let metrics = controller.metrics();
        assert_eq!((metrics.congestion_window, metrics.ssthresh, metrics.pacing_rate), (6000, Some(6000), None));
    }

    #[test]
    fn a_congestion_event_without_bytes_is_a_mark() {
        let (mut controller, recorded, now) = controller("reno");
        let later = now + Duration::from_millis(50);
        controller.on_sent(now, 6000, 4);
        controller.on_congestion_event(later, now, false, 0);
        controller.on_congestion_event(later, now, false, 1300);
        controller.on_congestion_event(later, now, true, 1200);
        controller.on_mtu_update(1400);
        assert!(matches!(
            recorded.0.lock().unwrap()[..],
            [
                EventKind::EcnCe(EcnCe { packets: 1, .. }),
                EventKind::PacketsLost(PacketsLost { packets: 2, in_flight_before: 6000, .. }),
                EventKind::PersistentCongestion(PacketsLost { bytes: 1200, .. }),
                EventKind::MtuUpdated(1400),
            ]
        ));
    }

    #[test]
    fn a_path_that_moves_keeps_the_state() {
        let factory = Arc::new(Factory::named("reno:iw=10").unwrap());
        let now = Instant::now();
        let mut running = factory.build(now, 1200);
        running.on_congestion_event(now, now, false, 1200);
        let moved = running.clone_box();
        assert_eq!(moved.window(), 6001);
        assert!(moved.into_any().downcast::<Controller>().is_ok());
    }
}
