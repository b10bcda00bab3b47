//! Catches the panics of a controller: quiche is called from C, and a panic must neither unwind
//! into C nor abort the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quiche::external::{CongestionEvent, Controller, Decision, PacketSent};
use windlass_controllers::ConfiguredController;

use crate::path::Path;

/// Datagrams a path may have in flight once its controller has panicked: the recommended
/// minimum window (`RFC 9002 §7.2`).
const MIN_WINDOW: u64 = 2;

/// A path until its controller panics, and a small fixed window afterwards.
#[derive(Debug)]
pub(crate) struct Guarded<E: ConfiguredController> {
    path: Option<Path<E>>,
    controller: Arc<str>,
    mtu: u64,
}

impl<E: ConfiguredController> Guarded<E> {
    /// Guards `path`, whose controller the user calls `controller`.
    pub(crate) fn new(path: Path<E>, controller: &Arc<str>) -> Self {
        Guarded { mtu: path.mtu(), path: Some(path), controller: Arc::clone(controller) }
    }

    /// Calls the path, if there still is one; `None` if it panicked.
    #[inline]
    fn call_mut<R: Default>(&mut self, call: impl FnOnce(&mut Path<E>) -> R) -> Option<R> {
        let Some(path) = &mut self.path else { return Some(R::default()) };
        let returned = catch_unwind(AssertUnwindSafe(|| call(path))).ok();
        if returned.is_none() {
            self.drop_path();
        }
        returned
    }

    #[cold]
    fn drop_path(&mut self) {
        let path = self.path.take();
        // Leaving its group is a step of the controller and may panic, too.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(path)));
        log::error!("{} panicked; its path goes on with a window of {MIN_WINDOW} datagrams", self.controller);
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

    /// Asks the path; `otherwise` if there is none or it panics.
    #[inline]
    fn call<R>(&self, otherwise: R, call: impl FnOnce(&Path<E>) -> R) -> R {
        let Some(path) = &self.path else { return otherwise };
        catch_unwind(AssertUnwindSafe(|| call(path))).unwrap_or(otherwise)
    }
}

impl<E: ConfiguredController> Drop for Guarded<E> {
    fn drop(&mut self) {
        let path = self.path.take();
        let _ = catch_unwind(AssertUnwindSafe(move || drop(path)));
    }
}

impl<E: ConfiguredController> Controller for Guarded<E> {
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

    fn on_mtu_update(&mut self, mtu: usize) {
        self.mtu = mtu as u64;
        self.call_mut(|path| path.on_mtu_update(mtu));
    }

    #[inline]
    fn decision(&self) -> Decision {
        self.call(None, |path| Some(path.decision())).unwrap_or_else(|| self.fallback())
    }

    fn ssthresh(&self) -> Option<u64> {
        self.call(None, |path| path.flow().with_decision(|decision| decision.ssthresh))
    }

    fn state(&self) -> &'static str {
        self.call("stopped", |path| path.flow().with_decision(|decision| decision.phase.qlog_name()))
    }

    fn is_in_recovery(&self) -> bool {
        self.call(false, Path::is_in_recovery)
    }
}
