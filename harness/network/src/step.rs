//! Marks by a threshold that needs no average, for all packets or for those of L4S.

use windlass_controllers::Span;

use super::discipline::{Action, Admission, Arrival};
use super::packet::{Codepoint, Packet};
use super::random::Stream;
use super::red::{Red, RedSpec};

/// Marks every ECN-capable packet beyond a threshold and drops none (`RFC 8257 §3.1`;
/// `spec: arumaithurai §4.5`). Either threshold will do.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StepSpec {
    /// Marks what finds more than so many packets waiting.
    pub threshold: Option<u64>,
    /// Marks what waits this long or longer. A FIFO knows that of every packet that
    /// arrives; a change of the rate while it waits comes too late for its mark.
    pub sojourn: Option<Span>,
    /// The ECN-capable packets it marks.
    pub marks: Marks,
}

/// The ECN-capable packets that a queue marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Marks {
    /// All ECN-capable packets.
    #[default]
    Any,
    /// Packets with ECT(0) only.
    Ect0,
    /// Packets with ECT(1) only (`RFC 9331 §5.1`).
    Ect1,
}

impl Marks {
    fn includes(self, ecn: Codepoint) -> bool {
        match self {
            Marks::Any => ecn.is_capable(),
            Marks::Ect0 => ecn == Codepoint::Ect0,
            Marks::Ect1 => ecn == Codepoint::Ect1,
        }
    }
}

impl Admission for StepSpec {
    fn admit(&mut self, arrival: Arrival, packet: &Packet, _: &mut Stream) -> Action {
        let over = self.threshold.is_some_and(|threshold| arrival.waiting > threshold)
            || self.sojourn.is_some_and(|sojourn| arrival.wait >= sojourn.0);
        if over && self.marks.includes(packet.ecn) { Action::Mark } else { Action::Pass }
    }
}

/// An L4S queue at work, which both kinds of traffic share.
pub(super) struct L4s {
    sojourn: u64,
    classic: Option<Red>,
}

impl L4s {
    pub fn new(sojourn: Span, classic: Option<&RedSpec>) -> L4s {
        L4s { sojourn: sojourn.0, classic: classic.map(|spec| Red::new(spec.clone())) }
    }
}

impl Admission for L4s {
    fn admit(&mut self, arrival: Arrival, packet: &Packet, random: &mut Stream) -> Action {
        match (&mut self.classic, packet.ecn) {
            (classic, Codepoint::Ect1 | Codepoint::Ce) => {
                if let Some(red) = classic {
                    red.note(arrival);
                }
                if arrival.wait >= self.sojourn { Action::Mark } else { Action::Pass }
            }
            (Some(red), _) => red.admit(arrival, packet, random),
            (None, _) => Action::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ramp;
    use crate::queue::{Discipline, Queue};

    fn packet(ecn: Codepoint) -> Packet {
        Packet { ecn, ..Packet::new(0, 0, 1000) }
    }

    /// The answer to a packet that finds `waiting` packets and will wait `ms`.
    fn admit(queue: &Queue, waiting: u64, ms: u64, ecn: Codepoint) -> Action {
        let arrival = Arrival { now: 0, wait: ms * 1_000_000, waiting, waiting_bytes: 0, idle: 0, rate: 1e6 };
        let Discipline::Admission(mut admission) = queue.discipline() else { panic!("not decided on arrival") };
        admission.admit(arrival, &packet(ecn), &mut Stream::new(1, "test"))
    }

    #[test]
    fn a_step_marks_by_length_or_time_what_it_is_set_to() {
        let length = Queue::Step(StepSpec { threshold: Some(5), ..StepSpec::default() });
        assert_eq!(admit(&length, 5, 999, Codepoint::Ect0), Action::Pass, "as many as the threshold is not more");
        assert_eq!(admit(&length, 6, 0, Codepoint::Ect0), Action::Mark);
        assert_eq!(admit(&length, 6, 0, Codepoint::NotEct), Action::Pass, "never dropped");
        let time = StepSpec { sojourn: Some(Span::from_millis(2)), ..StepSpec::default() };
        assert_eq!(admit(&Queue::Step(time), 99, 1, Codepoint::Ect1), Action::Pass);
        assert_eq!(admit(&Queue::Step(time), 0, 2, Codepoint::Ect1), Action::Mark);
        for (marks, ect0, ect1) in
            [(Marks::Ect0, Action::Mark, Action::Pass), (Marks::Ect1, Action::Pass, Action::Mark)]
        {
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
}
