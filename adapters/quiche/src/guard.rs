//! A path whose panics end here.
//!
//! quiche is called from C; a panic must not unwind into that, nor abort the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use quiche::external::{Controller, Decided, Report, Sent};
use windlass_controllers::ConfiguredController;

use crate::path::Path;

/// Datagrams a path may have in flight once its controller has panicked: the least a
/// sender falls back to (`RFC 9002 §7.2`).
const LEAST_WINDOW: u64 = 2;

/// A path, until its controller panics.
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

    /// Tells the path, if there is one; `None` if that ended it.
    #[inline]
    fn tell<R: Default>(&mut self, what: impl FnOnce(&mut Path<E>) -> R) -> Option<R> {
        let Some(path) = &mut self.path else { return Some(R::default()) };
        let told = catch_unwind(AssertUnwindSafe(|| what(path))).ok();
        if told.is_none() {
            self.give_up();
        }
        told
    }

    #[cold]
    fn give_up(&mut self) {
        let path = self.path.take();
        // Leaving its group is a step too.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(path)));
        log::error!("{} panicked; its path goes on with a window of {LEAST_WINDOW} datagrams", self.controller);
    }

    /// What a path without a controller has.
    #[cold]
    fn least(&self) -> Decided {
        Decided {
            window: LEAST_WINDOW * self.mtu,
            pacing_rate: None,
            delivery_rate: None,
            shared: false,
            awaits: None,
            quiet: true,
        }
    }

    #[inline]
    fn ask<R>(&self, otherwise: R, what: impl FnOnce(&Path<E>) -> R) -> R {
        let Some(path) = &self.path else { return otherwise };
        catch_unwind(AssertUnwindSafe(|| what(path))).unwrap_or(otherwise)
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
    fn sent(&mut self, packet: &Sent) -> bool {
        self.tell(|path| path.sent(packet)).unwrap_or(true)
    }

    #[inline]
    fn report(&mut self, report: &Report<'_>, decided: &mut Decided) {
        let told = self.tell(|path| {
            path.report(report, decided);
            true
        });
        if told != Some(true) {
            *decided = self.least();
        }
    }

    #[inline]
    fn frame(&mut self, now: std::time::Instant, acknowledges: &dyn Fn(u64) -> bool) -> bool {
        self.tell(|path| path.frame(now, acknowledges)).unwrap_or(true)
    }

    fn app_limited(&mut self, in_flight: usize) {
        self.tell(|path| path.app_limited(in_flight as u64));
    }

    fn resized(&mut self, mtu: usize) {
        self.mtu = mtu as u64;
        self.tell(|path| path.resized(mtu));
    }

    #[inline]
    fn decided(&self) -> Decided {
        self.ask(None, |path| Some(path.decided())).unwrap_or_else(|| self.least())
    }

    fn ssthresh(&self) -> Option<u64> {
        self.ask(None, |path| path.flow().look(|decision| decision.ssthresh))
    }

    fn state(&self) -> &'static str {
        self.ask("stopped", |path| path.flow().look(|decision| decision.phase.qlog_name()))
    }

    fn in_recovery(&self) -> bool {
        self.ask(false, Path::in_recovery)
    }
}
