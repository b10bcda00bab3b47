use super::*;
use crate::{Ramp, RedSpec};

fn packet(ecn: Codepoint) -> Packet {
    Packet { ecn, ..Packet::new(0, 0, 1000) }
}

/// What becomes of a packet that finds `waiting` packets and will wait `ms`.
fn admit(queue: &Queue, waiting: u64, ms: u64, ecn: Codepoint) -> Action {
    let arrival = Arrival { waiting, idle: 0, rate: 1e6 };
    Discipline::new(queue).admit(0, ms * 1_000_000, arrival, &packet(ecn), &mut Stream::new(1, "test"))
}

#[test]
fn a_step_marks_by_length_or_time_what_it_is_told_to() {
    let length = Queue::Step(StepSpec { threshold: Some(5), ..StepSpec::default() });
    assert_eq!(admit(&length, 5, 999, Codepoint::Ect0), Action::Pass, "as many as the threshold is not more");
    assert_eq!(admit(&length, 6, 0, Codepoint::Ect0), Action::Mark);
    assert_eq!(admit(&length, 6, 0, Codepoint::NotEct), Action::Pass, "never dropped");
    let time = StepSpec { sojourn: Some(Span::from_millis(2)), ..StepSpec::default() };
    assert_eq!(admit(&Queue::Step(time), 99, 1, Codepoint::Ect1), Action::Pass);
    assert_eq!(admit(&Queue::Step(time), 0, 2, Codepoint::Ect1), Action::Mark);
    for (marks, ect0, ect1) in [(Marks::Ect0, Action::Mark, Action::Pass), (Marks::Ect1, Action::Pass, Action::Mark)] {
        let some = Queue::Step(StepSpec { marks, ..time });
        assert_eq!((admit(&some, 0, 2, Codepoint::Ect0), admit(&some, 0, 2, Codepoint::Ect1)), (ect0, ect1));
    }
}

#[test]
fn an_l4s_queue_marks_ect1_by_time_and_leaves_the_rest_to_the_classic_rule() {
    let sojourn = Span::from_millis(1);
    let plain = Queue::L4s { sojourn, classic: None };
    // Hits everything at once.
    let ramp = Ramp { min: 0.0, max: 1e-9, max_p: 1.0, gentle: false, flat: false };
    let red = Queue::L4s {
        sojourn,
        classic: Some(RedSpec { normal: ramp, weight: 1.0, ..RedSpec::new(0.0, 1.0, 1.0, 1e3) }),
    };
    for queue in [&plain, &red] {
        assert_eq!(admit(queue, 9, 0, Codepoint::Ect1), Action::Pass);
        assert_eq!(admit(queue, 9, 1, Codepoint::Ect1), Action::Mark);
    }
    assert_eq!(
        (admit(&plain, 9, 9, Codepoint::Ect0), admit(&plain, 9, 9, Codepoint::NotEct)),
        (Action::Pass, Action::Pass)
    );
    assert_eq!(
        (admit(&red, 9, 0, Codepoint::Ect0), admit(&red, 9, 0, Codepoint::NotEct)),
        (Action::Mark, Action::Drop)
    );
}
