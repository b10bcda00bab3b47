use super::*;
use crate::grid::Measured;

fn frames(queue: Queue, controller: &str, beside: Option<&str>, stack: &str) -> Frames {
    let case = Case { queue, beside };
    match measure(&case.cell(controller, stack), &|_| false).map(|reading| reading.read) {
        Ok(Measured::Run(frames)) => frames,
        other => panic!("{controller} beside {beside:?}: {other:?}"),
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

#[test]
fn a_stack_without_frames_says_so() {
    let cell = Case { queue: Queue::Short, beside: None }.cell("cubic", "s2n-quic");
    let read = measure(&cell, &|_| false).map(|reading| reading.read);
    assert!(matches!(&read, Ok(Measured::Not { not_run }) if !not_run.is_empty()), "{read:?}");
}
