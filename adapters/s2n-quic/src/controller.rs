//! s2n-quic's trait over a path.

use std::cell::RefCell;

use s2n_quic::provider::congestion_controller::{
    CongestionController, Publisher, RandomGenerator, RttEstimator, Timestamp,
};
use windlass_adapter::{Flow, NamedController};
use windlass_controllers::ConfiguredController;

use crate::PacketInfo;
use crate::path::{CachedState, Path, PendingFlow};

/// A windlass controller as s2n-quic takes one; made by an [`Endpoint`](crate::Endpoint).
///
/// A copy, for a path that moved, keeps the state and the membership in its group, and has no
/// recorder.
#[derive(Clone, Debug)]
pub struct Controller<C: ConfiguredController = NamedController> {
    cached: CachedState,
    /// s2n-quic asks a shared reference for the window after it reported losses, the last
    /// of which it does not name; whatever is asked first completes the report.
    path: RefCell<Path<C>>,
}

impl<C: ConfiguredController> Controller<C> {
    pub(crate) fn new(pending: PendingFlow<C>, mtu: u16) -> Self {
        let controller = Controller { cached: CachedState::default(), path: RefCell::new(Path::new(pending, mtu)) };
        controller.path.borrow().update_cache(&controller.cached);
        controller
    }

    #[inline]
    fn cached(&self) -> &CachedState {
        if self.cached.stale.get() {
            self.refresh();
        }
        &self.cached
    }

    #[cold]
    fn refresh(&self) {
        let mut path = self.path.borrow_mut();
        path.finish_frame();
        path.update_cache(&self.cached);
    }

    #[inline(never)]
    fn next_send_time(&self) -> Option<Timestamp> {
        // What is stale is not to be relied upon.
        self.cached();
        self.path.borrow().next_send_time()
    }

    /// Something happens to the path.
    #[inline]
    fn change<R>(&mut self, change: impl FnOnce(&mut Path<C>) -> R) -> R {
        let path = self.path.get_mut();
        let result = change(path);
        path.update_cache(&self.cached);
        result
    }

    /// Shows the flow: its algorithm, state and decision in force. `None` while the path
    /// has not sent a packet.
    pub fn with_flow<R>(&self, look: impl FnOnce(&Flow<C>) -> R) -> Option<R> {
        self.refresh();
        self.path.borrow().flow().map(look)
    }
}

/// What s2n-quic asks for each packet: the cached state answers, inlined.
macro_rules! queries {
    ($this:ident => $($(#[$meta:meta])* $method:ident() -> $answer:ty $body:block)*) => {
        $(
            $(#[$meta])*
            #[inline]
            fn $method(&$this) -> $answer $body
        )*
    };
}

impl<C: ConfiguredController> CongestionController for Controller<C> {
    type PacketInfo = PacketInfo;

    queries! { self =>
        congestion_window() -> u32 { self.cached().window.get() }
        bytes_in_flight() -> u32 { self.cached().in_flight.get() }
        is_congestion_limited() -> bool {
            let cached = self.cached();
            cached.window.get().saturating_sub(cached.in_flight.get()) < cached.mtu.get()
        }
        /// One packet of lost data may leave when a response to losses begins, whatever the
        /// window (`RFC 9002 §7.3.2`).
        requires_fast_retransmission() -> bool { self.cached().retransmit.get() }
        earliest_departure_time() -> Option<Timestamp> {
            if self.cached.pacing_blocked.get() { self.next_send_time() } else { None }
        }
        /// Asked for each further segment of a batch; `None` where no rate was decided.
        send_quantum() -> Option<usize> { self.path.borrow().send_quantum() }
    }

    #[inline]
    fn on_packet_sent<P: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        rtt: &RttEstimator,
        _: &mut P,
    ) -> PacketInfo {
        self.path.get_mut().sent(time_sent, sent_bytes as u64, app_limited, rtt, &self.cached)
    }

    #[inline]
    fn on_rtt_update<P: Publisher>(&mut self, _: Timestamp, now: Timestamp, rtt: &RttEstimator, _: &mut P) {
        self.path.get_mut().sampled(now, rtt);
        // Nothing is asked before the frame is complete, or it completes the frame.
        self.cached.invalidate();
    }

    #[inline]
    fn on_ack<P: Publisher>(
        &mut self,
        _: Timestamp,
        bytes_acknowledged: usize,
        newest_acked_packet_info: PacketInfo,
        _: &RttEstimator,
        _: &mut dyn RandomGenerator,
        ack_receive_time: Timestamp,
        _: &mut P,
    ) {
        let (bytes, newest) = (bytes_acknowledged as u64, &newest_acked_packet_info);
        self.path.get_mut().acked(ack_receive_time, bytes, newest, &self.cached);
    }

    #[inline]
    fn on_packet_lost<P: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet_info: PacketInfo,
        persistent_congestion: bool,
        _: bool,
        _: &mut dyn RandomGenerator,
        timestamp: Timestamp,
        _: &mut P,
    ) {
        self.change(|path| path.lost(timestamp, lost_bytes.into(), &packet_info, persistent_congestion));
    }

    #[inline]
    fn on_explicit_congestion<P: Publisher>(&mut self, ce_count: u64, event_time: Timestamp, _: &mut P) {
        self.change(|path| path.marked(event_time, ce_count));
    }

    #[inline]
    fn on_mtu_update<P: Publisher>(&mut self, max_data_size: u16, _: &mut P) {
        self.change(|path| path.resized(max_data_size));
    }

    /// Packets of a discarded packet number space, and lost probes of the MTU: gone, and no
    /// sign of congestion.
    #[inline]
    fn on_packet_discarded<P: Publisher>(&mut self, bytes_sent: usize, _: &mut P) {
        self.change(|path| path.discarded(bytes_sent as u64));
    }
}
