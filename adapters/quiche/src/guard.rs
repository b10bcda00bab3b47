//! quiche's trait over a path whose controller may panic: quiche is called from C, and a panic must neither unwind
//! into C nor abort the process.

use std::sync::Arc;

use quiche::external::{CongestionEvent, Controller, Decision, PacketSent};
use windlass_adapter::{Guarded, Panicked};
use windlass_controllers::ConfiguredController;

use crate::path::Path;

/// Datagrams a path may have in flight once its controller has panicked: the recommended
/// minimum window (`RFC 9002 §7.2`).
const MIN_WINDOW: u64 = 2;

/// A path until its controller panics, and a small fixed window afterwards.
#[derive(Debug)]
pub(crate) struct GuardedPath<E: ConfiguredController> {
    path: Guarded<Path<E>>,
    controller: Arc<str>,
    mtu: u64,
}

impl<E: ConfiguredController> GuardedPath<E> {
    /// Guards `path`, whose controller the user calls `controller`.
    pub(crate) fn new(path: Path<E>, controller: &Arc<str>) -> Self {
        GuardedPath { mtu: path.mtu(), path: Guarded::new(path), controller: Arc::clone(controller) }
    }

    /// Calls the path, if there still is one; `None` if it panicked.
    #[inline]
    fn call_mut<R: Default>(&mut self, call: impl FnOnce(&mut Path<E>) -> R) -> Option<R> {
        match self.path.call_mut(call) {
            Ok(returned) => Some(returned),
            Err(Panicked::Before) => Some(R::default()),
            Err(Panicked::Now) => {
                log::error!("{} panicked; its path goes on with a window of {MIN_WINDOW} datagrams", self.controller);
                None
            }
        }
    }

    /// The decision for a path without a controller.
    #[cold]
    fn fallback(&self) -> Decision {
        Decision {
            cwnd: MIN_WINDOW * self.mtu,
            pacing_rate: None,
            delivery_rate: None,
            shared: false,
            missing: None,
            skip_packet_sent: true,
        }
    }
}

impl<E: ConfiguredController> Controller for GuardedPath<E> {
    #[inline]
    fn on_packet_sent(&mut self, packet: &PacketSent) -> bool {
        self.call_mut(|path| path.on_packet_sent(packet)).unwrap_or(true)
    }

    #[inline]
    fn on_congestion_event(&mut self, event: &CongestionEvent<'_>, decision: &mut Decision) {
        let decided = self.call_mut(|path| {
            path.on_congestion_event(event, decision);
            true
        });
        if decided != Some(true) {
            *decision = self.fallback();
        }
    }

    #[inline]
    fn on_ack_frame(&mut self, now: std::time::Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool {
        self.call_mut(|path| path.on_ack_frame(now, acknowledges)).unwrap_or(true)
    }

    fn on_app_limited(&mut self, in_flight: usize) {
        self.call_mut(|path| path.on_app_limited(in_flight as u64));
    }

    fn on_nothing_to_send(&mut self) {
        self.call_mut(Path::on_nothing_to_send);
    }

    fn on_mtu_update(&mut self, mtu: usize) {
        self.mtu = mtu as u64;
        self.call_mut(|path| path.on_mtu_update(mtu));
    }

    #[inline]
    fn decision(&self) -> Decision {
        self.path.call(Path::decision).unwrap_or_else(|| self.fallback())
    }

    fn ssthresh(&self) -> Option<u64> {
        self.path.call(|path| path.flow().with_decision(|decision| decision.ssthresh)).flatten()
    }

    fn state(&self) -> &'static str {
        self.path.call(|path| path.flow().with_decision(|decision| decision.phase.qlog_name())).unwrap_or("stopped")
    }

    fn is_in_recovery(&self) -> bool {
        self.path.call(Path::is_in_recovery).unwrap_or(false)
    }
}
