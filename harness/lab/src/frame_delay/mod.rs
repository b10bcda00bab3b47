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
mod tests {
    use super::*;
    use crate::grid::Measured;

    fn frames(queue: Queue, controller: &str, beside: Option<&str>, stack: &str) -> Frames {
        let case = Case { queue, beside, encoder: false, objects: None };
        run(case, controller, stack)
    }

    fn run(case: Case<'_>, controller: &str, stack: &str) -> Frames {
        match measure(&case.cell(controller, stack), &|_| false).map(|reading| reading.read) {
            Ok(Measured::Run(frames)) => frames,
            other => panic!("{controller}, {case:?}: {other:?}"),
        }
    }

    fn p95(frames: &Frames) -> f64 {
        frames.video.delay_p95_ms.expect("frames arrived")
    }

    /// CUBIC keeps a deep buffer filled, in which the video waits; with a queue of its own it does not.
    #[test]
    fn a_queue_of_its_own_spares_a_video_the_buffer_of_others() {
        for stack in ["sim", "noq"] {
            let [deep, own] = [Queue::Deep, Queue::FqCoDel].map(|queue| frames(queue, "cubic", None, stack));
            // 40 ms and four times that in the buffer; half of the 40, and a key frame at the link's rate.
            assert!(p95(&deep) > 120.0, "{stack}: {deep:?}");
            assert!(p95(&own) < 60.0, "{stack}: {own:?}");
            assert!(own.bulk_mbps > 0.8 * BULK_SHARE && own.late().is_some_and(|late| late < 0.01), "{stack}: {own:?}");
        }
    }

    /// What the flow beside it does decides, not the video's own controller.
    #[test]
    fn the_flow_beside_it_may_have_another_controller() {
        let own = frames(Queue::Deep, "copa", None, "sim");
        let beside = frames(Queue::Deep, "copa", Some("cubic"), "sim");
        assert!(p95(&own) < 100.0 && p95(&beside) > 1000.0, "{own:?} {beside:?}");
    }

    /// A video that takes what the estimate says waits less, and gets less, than one that insists on its rate.
    #[test]
    fn an_encoder_that_follows_the_estimate_gives_way() {
        let [fixed, follows] = [false, true].map(|encoder| {
            run(Case { queue: Queue::Short, beside: Some("cubic"), encoder, objects: None }, "copa", "sim")
        });
        let encoded = follows.video.encoded_mbps.expect("an encoder");
        assert!((0.5..4.0).contains(&encoded) && fixed.video.encoded_mbps.is_none(), "{encoded}");
        assert!(p95(&follows) < p95(&fixed) && follows.late() <= fixed.late(), "{follows:?} {fixed:?}");
        // With a queue of its own nothing keeps it from its rate.
        let own = run(Case { queue: Queue::FqCoDel, beside: None, encoder: true, objects: None }, "cubic", "sim");
        assert!(own.video.encoded_mbps.is_some_and(|mbps| mbps > 3.0), "{own:?}");
    }

    /// Of groups that a deep buffer delays, those that are older than the timeout are given up, and what is delivered is newer.
    #[test]
    fn a_delivery_timeout_spares_the_newest_group_the_wait_for_old_ones() {
        let of = |objects| {
            run(
                Case { queue: Queue::Deep, beside: Some("cubic"), encoder: false, objects: Some(objects) },
                "copa",
                "sim",
            )
        };
        let in_order = of(Objects { order: "ascending", timeout_ms: None });
        let newest = of(Objects { order: "descending", timeout_ms: Some(500) });
        assert!(
            in_order.dropped() == Some(0.0) && newest.dropped().is_some_and(|dropped| dropped > 0.05),
            "{newest:?}"
        );
        assert!(p95(&newest) < 800.0 && p95(&in_order) > 2.0 * p95(&newest), "{newest:?} {in_order:?}");
        assert_eq!(frames(Queue::Deep, "copa", None, "sim").dropped(), None, "frames on one stream are no objects");
    }

    #[test]
    fn a_controller_that_a_stack_cannot_run_says_so() {
        let cell = Case { queue: Queue::Short, beside: None, encoder: false, objects: None }.cell("bbr", "quinn");
        let read = measure(&cell, &|_| false).map(|reading| reading.read);
        assert!(matches!(&read, Ok(Measured::Not { not_run }) if !not_run.is_empty()), "{read:?}");
    }
}
