//! Delays of a video's frames beside a flow that always has data, at a bottleneck whose queue is managed in one way or another.

mod plan;

pub use plan::{BULK_SHARE, CONTROLLERS, Case, Objects, Queue};

use serde::{Deserialize, Serialize};

use crate::grid::{Cell, Failure, Measured, Reading, measured};
use windlass_simulator::outcome::{FrameOutcome, Outcome};

/// The frames of the video, and what the flow beside it got.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Frames {
    /// Its frames.
    pub video: FrameOutcome,
    /// Goodput of the flow beside it, Mbit/s.
    pub bulk_mbps: f64,
}

/// Runs `cell` and reads it off. `stop` gets the part of the run that is done, 0 to 1, and returns whether to give up.
///
/// # Errors
/// Stopped. Whatever else goes wrong is part of what is read.
pub fn measure(cell: &Cell, stop: &dyn Fn(f64) -> bool) -> Result<Reading<Measured<Frames>>, Failure> {
    let none = || format!("{} measures no frames", cell.stack);
    measured(cell, stop, |outcome| Frames::of(outcome).ok_or_else(none))
}

impl Frames {
    /// Reads `outcome`, whose first flow is the video.
    fn of(outcome: &Outcome) -> Option<Frames> {
        let [video, bulk, ..] = outcome.flows.as_slice() else { return None };
        Some(Frames { video: video.frames?, bulk_mbps: bulk.goodput_mbps })
    }

    /// Share of the frames that came late or not at all, 0 to 1, without those that were dropped; `None` if none was written.
    #[must_use]
    pub fn late(&self) -> Option<f64> {
        self.share(self.video.late)
    }

    /// Share of the frames that were dropped, 0 to 1; `None` if none was written or they are no objects.
    #[must_use]
    pub fn dropped(&self) -> Option<f64> {
        self.share(self.video.objects?.dropped)
    }

    fn share(&self, frames: u64) -> Option<f64> {
        (self.video.written > 0).then(|| frames as f64 / self.video.written as f64)
    }
}

#[cfg(test)]
mod tests;
