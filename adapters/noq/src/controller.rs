//! One path of a noq connection as a windlass flow.

use std::any::Any;
use std::time::{Duration, Instant};

use noq_proto::RttEstimator;
use noq_proto::congestion::{self, ControllerMetrics};
use windlass_adapter::std_time::{Loss, Packet, Path};
use windlass_adapter::{Flow, NamedController, SendRate};
use windlass_controllers::ConfiguredController;

/// A windlass controller as noq takes one; made by a [`Factory`](crate::Factory).
///
/// A running one is reached with `Connection::congestion_state(path)` and a copy of it
/// with `clone_box().into_any()`; see [`flow`](Controller::flow).
#[derive(Debug)]
pub struct Controller<C: ConfiguredController = NamedController> {
    path: Path<C>,
    /// Packets lost that no congestion event has covered yet.
    lost: u32,
    initial_window: u64,
}

impl<C: ConfiguredController> Controller<C> {
    pub(crate) fn new(path: Path<C>) -> Self {
        Controller { initial_window: path.window(), lost: 0, path }
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

impl<C: ConfiguredController> congestion::Controller for Controller<C> {
    /// noq calls this for packets that ask for an ACK; what else it sends is not in flight.
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.path.on_packet_sent(now, u64::from(bytes), pn, false);
    }

    #[inline]
    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, pn: u64, app_limited: bool, rtt: &RttEstimator) {
        self.path.on_packet_acked(Packet { sent, bytes, pn: Some(pn) }, app_limited, || (rtt.get(), rtt.min()));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.path.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, _: u64, _: Instant) {
        // Packets that were not in flight are no loss to a controller.
        self.lost = self.lost.saturating_add(u32::from(lost_bytes > 0));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        if is_ecn {
            self.path.on_ecn_ce(now, sent, Some(largest_lost_pn));
        } else {
            let packets = Some(std::mem::take(&mut self.lost)).filter(|packets| *packets > 0);
            let loss = Loss { bytes: lost_bytes, packets, newest_pn: Some(largest_lost_pn), persistent };
            self.path.on_packets_lost(now, sent, loss);
        }
    }

    fn on_spurious_congestion_event(&mut self) {
        self.path.on_spurious_loss();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.path.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(&mut self, _: u64, requested_max_ack_delay: Duration) {
        self.path.set_max_ack_delay(requested_max_ack_delay);
    }

    /// The decided window, of two datagrams at least.
    #[inline]
    fn window(&self) -> u64 {
        self.path.window()
    }

    /// The decision. A pacing rate, in bytes/s, drives noq's pacer, and what leaves at once is bounded
    /// ([`windlass_adapter::send_quantum`]); where none is decided the pacer goes by the window, as for noq's own
    /// controllers.
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        self.flow().with_decision(|decision| {
            metrics.congestion_window = decision.cwnd.max(self.path.least_window());
            metrics.ssthresh = decision.ssthresh;
            metrics.send_quantum = self.path.send_quantum();
            metrics.pacing_rate = decision.pacing_rate.map(|bits| (bits / 8).max(1));
        });
        metrics
    }

    /// A copy for a path that moved: the same state, the same membership in its group, no
    /// recorder.
    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Controller { path: self.path.clone(), ..*self })
    }

    fn initial_window(&self) -> u64 {
        self.initial_window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests;
