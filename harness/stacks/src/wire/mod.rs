//! Real stacks on real UDP sockets, through a userspace link that is the network model in
//! real time. `docs/wire.md` says how, and what can be expected of two real clocks.

mod link;
mod program;
mod relay;
mod run;
mod socket;
mod transfer;

pub use link::{Carried, Link, LinkError, Transit};
pub use program::{Counts, Ends, Program, Receiver, Sender};
pub use run::{Report, no_socket, run};
pub use socket::{Inbox, Open, bind};

use std::time::{Duration, Instant};

use windlass_controllers::Time;

/// The monotonic clock since the run's start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    /// Instant of time 0.
    pub fn origin(self) -> Instant {
        self.origin
    }

    /// Time since the origin.
    pub fn now(self) -> Time {
        Time(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// `at` as an [`Instant`].
    pub fn instant(self, at: Time) -> Instant {
        self.origin + Duration::from_nanos(at.0)
    }
}
