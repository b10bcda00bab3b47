//! The stack's own controller, with a flow beside it that hears what ours would hear.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use windlass_adapter::std_time::{Clock, PathFlow};
use windlass_adapter::{Flow, Recorder};
use windlass_controllers::Path;

use super::dialect;
use super::proto::congestion::{Controller, ControllerFactory};
use crate::driver::native::{Seen, Shadow};

/// A native controller and its shadow. What the stack calls goes to both.
pub struct Watched {
    /// The stack's own.
    pub native: Box<dyn Controller>,
    /// Its shadow.
    pub path: PathFlow<Shadow>,
    seen: Arc<Seen>,
}

impl Watched {
    /// Takes down what the native controller decided; to be called before the shadow hears
    /// of what made it.
    pub fn look(&self) {
        dialect::note(&self.seen, self.native.as_ref());
    }

    /// A path that moved.
    pub fn copy(&self) -> Watched {
        Watched { native: self.native.clone_box(), path: self.path.clone(), seen: Arc::clone(&self.seen) }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("path", &self.path).finish_non_exhaustive()
    }
}

type MakeRecorder = Box<dyn Fn(&Shadow, &Path) -> Box<dyn Recorder> + Send + Sync>;

/// Makes them.
pub struct Natives {
    /// Of the stack.
    pub factory: Arc<dyn ControllerFactory + Send + Sync>,
    /// The origin of time.
    pub origin: Instant,
    /// Who listens to the shadow.
    pub recorder: MakeRecorder,
}

impl ControllerFactory for Natives {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let native = Arc::clone(&self.factory).build(now, current_mtu);
        let seen = Seen::new(native.window());
        dialect::note(&seen, native.as_ref());
        let shadow = Shadow(Arc::clone(&seen));
        let clock = Clock::new(self.origin, now);
        let path = Path { now: clock.now(), mtu: u32::from(current_mtu), seed: 0 };
        let recorder = (self.recorder)(&shadow, &path);
        let mut flow = Flow::ungrouped(shadow, &path);
        flow.record(recorder);
        Box::new(Watched { native, path: PathFlow::new(flow, clock, current_mtu), seen })
    }
}
