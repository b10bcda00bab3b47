//! The stack's own controller, observed: a flow beside it gets what a controller of the catalogue would get.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use windlass_adapter::std_time::{self, Clock};
use windlass_adapter::{Flow, Recorder};
use windlass_controllers::Path;

use super::QuinnApi;
use crate::driver::native::{NativeDecision, NativeObserver};

/// A native controller and its observer. What the stack calls goes to both.
pub struct Observed<S: QuinnApi> {
    /// The stack's own controller.
    pub native: Box<S::Controller>,
    /// The observer's view of the path.
    pub path: std_time::Path<NativeObserver>,
    decision: Arc<NativeDecision>,
}

impl<S: QuinnApi> Observed<S> {
    /// Stores what the native controller decided; to be called before the observer gets the event.
    pub fn look(&self) {
        S::note(&self.decision, &self.native);
    }

    /// The same controller on another path.
    pub fn copy(&self) -> Self {
        Observed { native: S::copy(&self.native), path: self.path.clone(), decision: Arc::clone(&self.decision) }
    }
}

impl<S: QuinnApi> fmt::Debug for Observed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").field("path", &self.path).finish_non_exhaustive()
    }
}

type MakeRecorder = Box<dyn Fn(&NativeObserver, &Path) -> Box<dyn Recorder> + Send + Sync>;

/// Makes the stack's own controllers, observed.
pub struct Natives<S: QuinnApi> {
    /// The stack's factory.
    pub factory: Arc<S::Factory>,
    /// Instant of time 0.
    pub origin: Instant,
    /// Makes the recorder of an observer.
    pub recorder: MakeRecorder,
}

impl<S: QuinnApi> Natives<S> {
    /// An observed controller that starts at `now`.
    pub fn build(&self, now: Instant, current_mtu: u16) -> Observed<S> {
        let native = S::build(Arc::clone(&self.factory), now, current_mtu);
        let decision = NativeDecision::new(S::native_window(&native));
        S::note(&decision, &native);
        let observer = NativeObserver(Arc::clone(&decision));
        let clock = Clock::new(self.origin, now);
        let path = Path::new(clock.latest(), u32::from(current_mtu), 0);
        let recorder = (self.recorder)(&observer, &path);
        let mut flow = Flow::ungrouped(observer, &path);
        flow.record(recorder);
        Observed { native, path: std_time::Path::new(flow, clock, current_mtu), decision }
    }
}
