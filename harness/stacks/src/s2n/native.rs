//! s2n-quic's own controllers, measured as ours are.

use std::time::Duration;

use s2n_quic::provider::congestion_controller::{
    CongestionController, Endpoint, PathInfo, Publisher, RandomGenerator, RttEstimator, Timestamp,
};

/// Gets the windows and RTT samples of a native controller.
pub trait ControllerObserver: Clone + Send + 'static {
    /// The window at `at`, bytes. `reduced`: by a response to congestion.
    fn on_window(&self, at: Timestamp, bytes: u64, reduced: bool);
    fn on_rtt_sample(&self, at: Timestamp, rtt: Duration);
}

/// The controllers of `inner`, each with an observer.
pub struct ObservedEndpoint<E, W> {
    pub inner: E,
    pub observer: W,
}

impl<E: std::fmt::Debug, W> std::fmt::Debug for ObservedEndpoint<E, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl<E: Endpoint, W: ControllerObserver> Endpoint for ObservedEndpoint<E, W> {
    type CongestionController = Observed<E::CongestionController, W>;

    fn new_congestion_controller(&mut self, path: PathInfo<'_>) -> Self::CongestionController {
        let inner = self.inner.new_congestion_controller(path);
        Observed { inner, observer: self.observer.clone() }
    }
}

/// A controller that reports to an observer after each event.
#[derive(Clone)]
pub struct Observed<C, W> {
    inner: C,
    observer: W,
}

impl<C: std::fmt::Debug, W> std::fmt::Debug for Observed<C, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl<C: CongestionController, W: ControllerObserver> Observed<C, W> {
    /// Reports the window at `at`; reduced if it was larger `before` a congestion event.
    fn report_window(&self, at: Timestamp, before: Option<u32>) {
        let window = self.inner.congestion_window();
        let reduced = before.is_some_and(|before| window < before);
        self.observer.on_window(at, u64::from(window), reduced);
    }
}

/// What s2n-quic asks a controller for is the inner controller's answer.
macro_rules! forward {
    ($($method:ident() -> $answer:ty;)*) => {
        $(
            fn $method(&self) -> $answer {
                self.inner.$method()
            }
        )*
    };
}

impl<C: CongestionController, W: ControllerObserver> CongestionController for Observed<C, W> {
    type PacketInfo = C::PacketInfo;

    forward! {
        congestion_window() -> u32;
        bytes_in_flight() -> u32;
        is_congestion_limited() -> bool;
        requires_fast_retransmission() -> bool;
        earliest_departure_time() -> Option<Timestamp>;
        send_quantum() -> Option<usize>;
    }

    fn on_packet_sent<P: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        publisher: &mut P,
    ) -> C::PacketInfo {
        let info = self.inner.on_packet_sent(time_sent, sent_bytes, app_limited, rtt, publisher);
        self.report_window(time_sent, None);
        info
    }

    fn on_rtt_update<P: Publisher>(
        &mut self,
        time_sent: Timestamp,
        now: Timestamp,
        rtt: &RttEstimator,
        publisher: &mut P,
    ) {
        self.inner.on_rtt_update(time_sent, now, rtt, publisher);
        self.observer.on_rtt_sample(now, rtt.latest_rtt());
        self.report_window(now, None);
    }

    fn on_ack<P: Publisher>(
        &mut self,
        newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: C::PacketInfo,
        rtt: &RttEstimator,
        random: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        publisher: &mut P,
    ) {
        let (sent, info, now) = (newest_acked_time_sent, newest_acked_packet_info, ack_receive_time);
        self.inner.on_ack(sent, bytes_acknowledged, info, rtt, random, now, publisher);
        self.report_window(now, None);
    }

    fn on_packet_lost<P: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet_info: C::PacketInfo,
        persistent_congestion: bool,
        new_loss_burst: bool,
        random: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        publisher: &mut P,
    ) {
        let before = self.inner.congestion_window();
        let (persistent, burst) = (persistent_congestion, new_loss_burst);
        self.inner.on_packet_lost(lost_bytes, packet_info, persistent, burst, random, timestamp, publisher);
        self.report_window(timestamp, Some(before));
    }

    fn on_explicit_congestion<P: Publisher>(&mut self, ce_count: u64, event_time: Timestamp, publisher: &mut P) {
        let before = self.inner.congestion_window();
        self.inner.on_explicit_congestion(ce_count, event_time, publisher);
        self.report_window(event_time, Some(before));
    }

    fn on_mtu_update<P: Publisher>(&mut self, max_data_size: u16, publisher: &mut P) {
        self.inner.on_mtu_update(max_data_size, publisher);
    }

    fn on_packet_discarded<P: Publisher>(&mut self, bytes_sent: usize, publisher: &mut P) {
        self.inner.on_packet_discarded(bytes_sent, publisher);
    }
}
