//! `RFC 9959 §3, §4, appendix B`.

use std::collections::VecDeque;
use std::vec::Vec;

use super::*;
use crate::event::{EcnCe, IdleRestart, PacketsAcked, PacketsLost};
use crate::parts::window_controller::{State, WindowController};
use crate::schemes::{cubic, reno};
use crate::{Static, testkit};

type Reno = Static<WindowController<reno::Reno>>;
type Cubic = Static<WindowController<cubic::Cubic>>;

const MTU: u64 = 1000;
const RTT: Span = Span::from_millis(100);
/// Of the example in appendix B.1: 300 packets.
const SAVED: SavedPath = SavedPath::new(300 * MTU, RTT);

/// A sender of one packet per call, on a path that acknowledges in order.
#[derive(Clone)]
struct Sender<C: ConfiguredController> {
    controller: C,
    resuming: Resuming<C::State>,
    group: C::Group,
    now: Time,
    in_flight: VecDeque<Time>,
    delivered: u64,
    app_limited: bool,
}

impl<C: ConfiguredController> Sender<C> {
    fn new(controller: C, saved: SavedPath) -> Sender<C> {
        let path = Path::new(Time::ZERO, MTU as u32, 1).with_saved(Some(saved));
        let resuming = Resuming::start(&controller, &path).expect("it resumes");
        let group = controller.group();
        let (in_flight, now) = (VecDeque::new(), Time::ZERO);
        Sender { controller, resuming, group, now, in_flight, delivered: 0, app_limited: false }
    }

    fn event(&mut self, kind: EventKind) {
        self.resuming.step(&self.controller, Table::solo(&mut self.group), &Event::new(self.now, kind));
    }

    fn decision(&self) -> Decision {
        self.resuming.decide(&self.controller, View::solo(&self.group))
    }

    fn cwnd(&self) -> u64 {
        self.decision().cwnd / MTU
    }

    fn resume(&self) -> &CarefulResume {
        &self.resuming.resume
    }

    fn phase(&self) -> (ResumePhase, ResumeTrigger) {
        (self.resume().phase, self.resume().trigger)
    }

    fn pass(&mut self, span: Span) {
        self.now += span;
    }

    fn flight(&self) -> u64 {
        self.in_flight.len() as u64
    }

    /// Sends `packets`, a microsecond apart.
    fn send(&mut self, packets: u64) {
        for _ in 0..packets {
            self.pass(Span(1000));
            self.in_flight.push_back(self.now);
            if self.resume().wants_packet_sent() {
                let sent = PacketSent::new(MTU, self.flight() * MTU).with_app_limited(self.app_limited);
                self.event(EventKind::PacketSent(sent));
            }
        }
    }

    /// An ACK of the oldest `packets`, `rtt` after the newest of them left, or later.
    fn ack(&mut self, packets: u64, rtt: Span) {
        let before = self.flight() * MTU;
        let newest = self.in_flight.drain(..packets as usize).next_back().expect("some are in flight");
        self.now = self.now.max(newest + rtt);
        self.delivered += packets * MTU;
        let acked = PacketsAcked {
            bytes: packets * MTU,
            fresh_bytes: packets * MTU,
            packets: packets as u32,
            newest_sent_at: newest,
            in_flight_before: before,
            in_flight: self.flight() * MTU,
            delivered: self.delivered,
            app_limited: self.app_limited,
            rtt: Some(testkit::rtt(rtt)),
            ..testkit::acked(1, newest)
        };
        self.event(EventKind::PacketsAcked(acked));
    }

    /// The oldest packet is lost.
    fn lose(&mut self) {
        let sent_at = self.in_flight.pop_front().expect("some are in flight");
        self.event(EventKind::PacketsLost(PacketsLost::new(MTU, 1, sent_at, self.flight() * MTU)));
    }

    /// A sender of which all of the initial window but one packet is acknowledged.
    fn reconnoitred(controller: C, saved: SavedPath, rtt: Span) -> Sender<C> {
        let mut sender = Sender::new(controller, saved);
        sender.send(10);
        sender.ack(9, rtt);
        assert_eq!(sender.phase(), (ResumePhase::Reconnaissance, ResumeTrigger::None));
        sender
    }

    /// The example of appendix B.1: 29 packets in flight, and no room in the window, when the path is confirmed.
    fn example(controller: C) -> Sender<C> {
        let mut sender = Sender::reconnoitred(controller, SAVED, RTT);
        sender.app_limited = true;
        sender.send(28);
        sender.ack(1, RTT);
        assert_eq!(sender.phase().0, ResumePhase::Reconnaissance, "nothing more was to send");
        sender.app_limited = false;
        // 19 were the window by then; a fuller one has the 29 of the text.
        sender.event(EventKind::WindowSet(WindowSet::new(29 * MTU)));
        sender.send(1);
        assert_eq!(sender.phase(), (ResumePhase::Unvalidated, ResumeTrigger::CongestionWindowLimited));
        assert_eq!((sender.flight(), sender.resume().pipe_size(), sender.cwnd()), (29, 29 * MTU, 150));
        sender
    }
}

fn reno() -> Reno {
    Static(reno::Params::default())
}

fn cubic() -> Cubic {
    Static(cubic::Params::default())
}

/// Appendix B.1.
#[test]
fn without_loss_the_window_is_half_the_saved_one_and_grows_on() {
    let mut sender = Sender::example(reno());
    sender.send(121);
    assert_eq!(sender.phase(), (ResumePhase::Validating, ResumeTrigger::LastUnvalidatedPacketSent));
    assert_eq!(sender.cwnd(), 150, "the flight");
    sender.ack(29, RTT);
    assert_eq!(sender.resume().pipe_size(), 29 * MTU, "none of them was unvalidated");
    sender.ack(34, RTT);
    assert_eq!((sender.resume().pipe_size(), sender.cwnd()), (63 * MTU, 150 + 63), "29 + 34; slow start goes on");
    sender.ack(86, RTT);
    assert_eq!(sender.phase().0, ResumePhase::Validating);
    sender.ack(1, RTT);
    assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::LastUnvalidatedPacketAcknowledged));
    assert_eq!((sender.cwnd(), sender.decision().ssthresh), (300, None));
}

/// `RFC 9040 §6.1`: a path that was full is not doubled beyond.
#[test]
fn slow_start_ends_at_a_window_that_was_all_the_path_carried() {
    for (is_full, ssthresh) in [(false, None), (true, Some(300 * MTU))] {
        let mut sender = Sender::reconnoitred(reno(), SAVED.with_full(is_full), RTT);
        sender.ack(1, RTT);
        sender.send(150);
        sender.ack(150, RTT);
        assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::LastUnvalidatedPacketAcknowledged));
        assert_eq!((sender.cwnd(), sender.decision().ssthresh), (300, ssthresh));
    }
}

/// Appendix B.2: 50 packets of the window are used.
#[test]
fn a_rate_limited_sender_goes_on_with_its_flight() {
    let mut sender = Sender::example(reno());
    sender.send(21);
    sender.app_limited = true;
    sender.pass(RTT);
    sender.event(EventKind::TimerExpired);
    assert_eq!(sender.phase(), (ResumePhase::Validating, ResumeTrigger::RttExceeded));
    assert_eq!(sender.cwnd(), 50);
    sender.ack(50, RTT);
    assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::LastUnvalidatedPacketAcknowledged));
}

/// Appendix B.4 with a loss of the 35th unvalidated packet: 63 are acknowledged by then.
#[test]
fn a_loss_of_an_unvalidated_packet_leads_to_the_safe_retreat() {
    let mut sender = Sender::example(reno());
    sender.send(121);
    sender.ack(63, RTT);
    sender.lose();
    assert_eq!(sender.phase(), (ResumePhase::SafeRetreat, ResumeTrigger::PacketLoss));
    assert_eq!(sender.cwnd(), 31, "§3.5: the CWND MUST be reduced to no more than PipeSize/2");
    for _ in 0..85 {
        sender.ack(1, RTT);
        assert_eq!(sender.cwnd(), 31, "§3.5: the CWND MUST NOT be increased in the safe retreat phase");
    }
    sender.ack(1, RTT);
    assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::ExitRecovery));
    let pipe_size = 149;
    let ssthresh = sender.decision().ssthresh.expect("it is set");
    assert!(ssthresh <= pipe_size * MTU / 2, "§3.5: ssthresh MUST be set to no larger than PipeSize * Beta");
    assert_eq!((sender.cwnd(), ssthresh), (31, pipe_size * MTU / 2));
    sender.send(20);
    sender.ack(20, RTT);
    assert_eq!(sender.cwnd(), 51, "slow start goes on to the threshold");
}

/// The plateau of the curve is what was validated, not the window that was jumped to.
#[test]
fn cubic_does_not_return_to_the_window_it_jumped_to() {
    let mut sender = Sender::example(cubic());
    sender.send(121);
    sender.ack(63, RTT);
    sender.lose();
    let mut w_max = f64::NAN;
    sender.resuming.inspect(&sender.controller, View::solo(&()), &mut |name, value| {
        if name == "w_max" {
            w_max = value;
        }
    });
    assert_eq!(w_max, 63.0);
    assert_eq!(sender.cwnd(), 31);
}

/// `§3.2`: "The sender stops using Careful Resume and MUST continue using normal CC to react to the detected congestion."
#[test]
fn congestion_in_reconnaissance_ends_it() {
    let mut sender = Sender::reconnoitred(reno(), SAVED, RTT);
    let mut other = sender.clone();
    sender.lose();
    assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::PacketLoss));
    assert_eq!(sender.cwnd(), 9, "half of the 19");
    let newest = other.in_flight[0];
    other.event(EventKind::EcnCe(EcnCe::new(1, newest, MTU)));
    assert_eq!(other.phase(), (ResumePhase::Normal, ResumeTrigger::EcnCe));
    assert_eq!(other.cwnd(), 9);
}

/// `§3.2`: where "the minimum RTT […] is less than or equal to (saved_rtt / 2) […], the sender MUST stop using Careful
/// Resume".
#[test]
fn an_rtt_of_half_the_saved_one_ends_it() {
    for (rtt, goes_on) in [(RTT.0 / 2, false), (RTT.0 / 2 + 1, true), (10 * RTT.0, true), (10 * RTT.0 + 1, false)] {
        let mut sender = Sender::new(reno(), SAVED);
        sender.send(10);
        sender.ack(10, Span(rtt));
        let expected = if goes_on {
            (ResumePhase::Unvalidated, ResumeTrigger::CongestionWindowLimited)
        } else {
            (ResumePhase::Normal, ResumeTrigger::RttNotValidated)
        };
        assert_eq!(sender.phase(), expected, "{rtt}");
        assert_eq!(sender.cwnd(), if goes_on { 150 } else { 20 }, "the window of normal CC");
    }
}

/// `§3.2`: "When the sender has received an ACK that acknowledges all the initial data".
#[test]
fn it_waits_for_the_whole_initial_window_and_for_more_to_send() {
    let mut sender = Sender::reconnoitred(reno(), SAVED, RTT);
    sender.app_limited = true;
    sender.ack(1, RTT);
    assert_eq!(sender.phase().0, ResumePhase::Reconnaissance);
    sender.pass(Span(10 * RTT.0));
    sender.event(EventKind::IdleRestart(IdleRestart::new(Span(10 * RTT.0), RTT)));
    sender.app_limited = false;
    let cwnd = sender.cwnd();
    sender.send(cwnd - 1);
    assert_eq!(sender.phase().0, ResumePhase::Reconnaissance);
    sender.send(1);
    assert_eq!(sender.phase(), (ResumePhase::Unvalidated, ResumeTrigger::CongestionWindowLimited));
    assert_eq!(sender.cwnd(), 150);
}

/// `§3.3`: "the jump_cwnd MUST be no more than half of the saved_cwnd. Hence, jump_cwnd is less than or equal to
/// Min(max_jump,(saved_cwnd/2))."
#[test]
fn the_jump_is_half_the_saved_window_and_no_more_than_allowed() {
    for (saved, cwnd) in [(SAVED, 150), (SAVED.with_max_jump(70 * MTU), 70), (SavedPath::new(40 * MTU, RTT), 20)] {
        let mut sender = Sender::reconnoitred(reno(), saved, RTT);
        sender.ack(1, RTT);
        assert_eq!(sender.cwnd(), cwnd);
    }
    let mut sender = Sender::reconnoitred(reno(), SavedPath::new(40 * MTU, RTT), RTT);
    sender.ack(1, RTT);
    assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::None), "it has as much already");
}

/// `§3.3`: "All packets sent in the Unvalidated Phase MUST use pacing based on the current RTT."
#[test]
fn unvalidated_packets_are_paced_over_the_current_rtt() {
    for rtt in [RTT, Span::from_millis(400)] {
        let mut sender = Sender::reconnoitred(reno(), SAVED, rtt);
        assert_eq!(sender.decision().pacing_rate, None, "that is left to the stack as ever");
        sender.ack(1, rtt);
        assert_eq!(sender.decision().pacing_rate, Some(150 * MTU * 8 * 1000 / rtt.millis() as u64));
        assert_eq!(sender.decision().wake_at, Some(sender.now + rtt + Span(1)), "an RTT later the phase is over");
        sender.send(150);
        assert_eq!((sender.phase().0, sender.decision().pacing_rate), (ResumePhase::Validating, None));
    }
}

/// `§3.3`: a detected path change and congestion lead to the safe retreat, which "MUST be entered".
#[test]
fn congestion_and_another_path_end_the_unvalidated_phase() {
    let begin = || {
        let mut sender = Sender::example(reno());
        sender.send(10);
        sender
    };
    let mut lost = begin();
    lost.lose();
    assert_eq!(lost.phase(), (ResumePhase::SafeRetreat, ResumeTrigger::PacketLoss));
    let mut marked = begin();
    let newest = marked.in_flight[0];
    marked.event(EventKind::EcnCe(EcnCe::new(1, newest, 39 * MTU)));
    assert_eq!(marked.phase(), (ResumePhase::SafeRetreat, ResumeTrigger::EcnCe));
    let mut moved = begin();
    moved.ack(1, Span(RTT.0 / 2));
    assert_eq!(moved.phase(), (ResumePhase::SafeRetreat, ResumeTrigger::PathChanged));
    for sender in [&lost, &marked, &moved] {
        assert_eq!(sender.cwnd(), 14, "half of the flight of 29");
    }
    // The last unvalidated packet is acknowledged: all of the 39 are.
    moved.ack(37, Span(RTT.0 / 2));
    assert_eq!(moved.phase().0, ResumePhase::SafeRetreat);
    moved.ack(1, Span(RTT.0 / 2));
    assert_eq!(moved.phase(), (ResumePhase::Normal, ResumeTrigger::ExitRecovery));
}

/// `§3.3`: "Otherwise, the CWND MUST be set to the flight_size and the sender progresses to the Validating Phase."
#[test]
fn an_ack_of_an_unvalidated_packet_sets_the_window_to_the_flight() {
    let mut sender = Sender::example(reno());
    sender.send(100);
    sender.ack(29, RTT);
    assert_eq!((sender.phase().0, sender.cwnd()), (ResumePhase::Unvalidated, 150), "§A: CWND is not increased");
    sender.ack(1, Span(RTT.0 / 2 + 1));
    assert_eq!(sender.phase(), (ResumePhase::Validating, ResumeTrigger::FirstUnvalidatedPacketAcknowledged));
    assert_eq!((sender.flight(), sender.cwnd()), (99, 99));
}

/// `§3.3`: with a flight below the initial window or `PipeSize` "the CWND is reset to the PipeSize […] and the sender
/// stops using Careful Resume"; it "is not reduced below IW".
#[test]
fn a_sender_that_does_not_use_the_window_gives_it_back() {
    let mut sender = Sender::example(reno());
    sender.app_limited = true;
    sender.ack(20, RTT);
    sender.send(11);
    sender.pass(Span(2 * RTT.0));
    sender.event(EventKind::TimerExpired);
    assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::RateLimited));
    assert_eq!(sender.cwnd(), 29);
    let mut sender = Sender::new(reno(), SAVED);
    sender.send(10);
    sender.ack(10, RTT);
    sender.pass(Span(2 * RTT.0));
    sender.event(EventKind::TimerExpired);
    assert_eq!((sender.phase().1, sender.cwnd()), (ResumeTrigger::RateLimited, 10));
}

/// `§3.6`.
#[test]
fn persistent_congestion_ends_it_in_every_phase() {
    let mut unvalidated = Sender::example(reno());
    unvalidated.send(10);
    let mut validating = unvalidated.clone();
    validating.send(111);
    let mut retreat = validating.clone();
    retreat.ack(63, RTT);
    retreat.lose();
    let reconnaissance = Sender::reconnoitred(reno(), SAVED, RTT);
    for mut sender in [reconnaissance, unvalidated, validating, retreat] {
        let newest = *sender.in_flight.back().unwrap();
        sender.pass(Span(20 * RTT.0));
        sender.event(EventKind::PersistentCongestion(PacketsLost::new(sender.flight() * MTU, 1, newest, 0)));
        assert_eq!((sender.phase().0, sender.cwnd()), (ResumePhase::Normal, 2), "the window of a timeout");
        assert!(sender.decision().ssthresh.unwrap_or(u64::MAX) <= 32 * MTU || sender.resume().pipe_size() < 10 * MTU);
    }
}

/// What is not reported as sent is unvalidated until the phase is over.
#[test]
fn a_stack_that_reports_no_packets_sent_resumes_too() {
    let mut sender = Sender::new(reno(), SAVED);
    let quiet = |sender: &mut Sender<Reno>, packets| {
        for _ in 0..packets {
            sender.pass(Span(1000));
            sender.in_flight.push_back(sender.now);
        }
    };
    quiet(&mut sender, 10);
    sender.ack(10, RTT);
    assert_eq!(sender.phase().0, ResumePhase::Unvalidated);
    quiet(&mut sender, 150);
    sender.ack(1, RTT);
    assert_eq!(sender.phase(), (ResumePhase::Validating, ResumeTrigger::FirstUnvalidatedPacketAcknowledged));
    sender.ack(149, RTT);
    assert_eq!(sender.phase().0, ResumePhase::Validating, "one sent later has to be acknowledged");
    quiet(&mut sender, 1);
    sender.ack(1, RTT);
    assert_eq!(sender.phase(), (ResumePhase::Normal, ResumeTrigger::LastUnvalidatedPacketAcknowledged));
}

#[test]
fn every_controller_of_the_catalogue_resumes() {
    let others = crate::Algorithm::ALL.iter().filter(|entry| !resumes(&(entry.default)())).map(|entry| entry.name);
    assert_eq!(others.collect::<Vec<_>>(), [""; 0]);
    let path = Path::new(Time::ZERO, MTU as u32, 1);
    assert!(Resuming::start(&cubic(), &path).is_none(), "nothing is known");
}

#[test]
fn names_and_numbers_of_phases_and_triggers_agree() {
    for phase in ResumePhase::ALL {
        assert_eq!(ResumePhase::of(f64::from(*phase as u8)), Some(*phase));
    }
    for trigger in ResumeTrigger::ALL {
        assert_eq!(ResumeTrigger::of(f64::from(*trigger as u8)), Some(*trigger));
    }
    assert_eq!((ResumePhase::of(17.0), ResumePhase::of(f64::NAN)), (None, None));
    assert_eq!(ResumePhase::SafeRetreat.qlog_name(), "safe_retreat");
    assert_eq!(ResumeTrigger::EcnCe.qlog_name(), "ECN_CE");
}

mod observation {
    //! `RFC 9959 §3.1, §4.1`.

    use super::*;

    /// A flow that acknowledges `packets` a round of `rtt`.
    fn observed(rounds: &[(u64, Span)], app_limited: bool) -> Option<SavedPath> {
        observed_in(crate::Phase::SlowStart, rounds, app_limited)
    }

    fn observed_in(phase: crate::Phase, rounds: &[(u64, Span)], app_limited: bool) -> Option<SavedPath> {
        let mut observation = Observation::new(10 * MTU);
        let (mut now, mut delivered) = (Time::ZERO, 0);
        for &(packets, rtt) in rounds {
            let sent_at = now;
            now += rtt;
            delivered += packets * MTU;
            let acked = PacketsAcked {
                delivered,
                app_limited,
                rtt: Some(testkit::rtt(rtt)),
                ..testkit::acked(packets as u32, sent_at)
            };
            observation.on_event(&Event::new(now, EventKind::PacketsAcked(acked)), &Decision::new(0).with_phase(phase));
        }
        observation.saved()
    }

    #[test]
    fn it_saves_what_a_round_trip_delivers_and_the_smallest_rtt() {
        assert_eq!(
            observed(&[(10, RTT), (20, RTT), (100, RTT), (70, RTT)], false),
            Some(SavedPath::new(100 * MTU, RTT))
        );
    }

    #[test]
    fn a_path_is_full_once_slow_start_is_over() {
        let rounds = [(10, RTT), (100, RTT)];
        assert!(!observed(&rounds, false).unwrap().is_full);
        assert!(observed_in(crate::Phase::CongestionAvoidance, &rounds, false).unwrap().is_full);
    }

    /// "can choose to not save the CC parameters" of less than four initial windows.
    #[test]
    fn it_saves_nothing_of_a_path_that_carries_little() {
        assert_eq!(observed(&[(10, RTT), (39, RTT)], false), None);
        assert_eq!(observed(&[(10, RTT), (40, RTT)], false), Some(SavedPath::new(40 * MTU, RTT)));
        assert_eq!(observed(&[], false), None);
    }

    /// "It is inappropriate to use an overshoot in the CWND as a basis for estimating the capacity."
    #[test]
    fn a_queue_is_no_capacity() {
        let queued = Span(4 * RTT.0);
        assert_eq!(observed(&[(10, RTT), (400, queued)], false), Some(SavedPath::new(100 * MTU, RTT)));
    }

    /// "Such observations could be discounted".
    #[test]
    fn rounds_of_a_limited_application_do_not_age_what_is_known() {
        let first = [(10, RTT), (100, RTT)];
        let later = [(50, RTT); 40];
        assert_eq!(observed(&[&first[..], &later].concat(), false).unwrap().cwnd, 50 * MTU);
        assert_eq!(observed(&[&first[..], &later].concat(), true).unwrap().cwnd, 100 * MTU);
    }
}

/// A flow that meets anything stays within its limits.
mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::testkit::cases;

    proptest! {
        #![proptest_config(cases(512))]

        /// `§3.3, §3.5`: half the saved window is the most it adds; it never grows in a retreat.
        #[test]
        fn it_stays_within_its_limits(
            steps in prop::collection::vec((0u8..8, 1u64..40, 1u64..2_000_000_000), 1..200),
            saved in 0u64..u64::MAX,
            rtt in 0u64..u64::MAX,
        ) {
            let mut sender = Sender::new(cubic(), SavedPath::new(saved, Span(rtt)));
            for (kind, packets, span) in steps {
                let (before, unresumed) = (sender.clone(), sender.resume().phase);
                match kind {
                    0..=2 => sender.send(packets),
                    3..=5 if sender.flight() > 0 => sender.ack(packets.min(sender.flight()), Span(span)),
                    6 if sender.flight() > 0 => sender.lose(),
                    _ => {
                        sender.pass(Span(span));
                        sender.event(EventKind::TimerExpired);
                    }
                }
                let decision = sender.decision();
                prop_assert!(decision.cwnd >= 2 * MTU);
                if sender.phase().0 == ResumePhase::Unvalidated {
                    prop_assert!(decision.cwnd <= (saved / 2).max(before.decision().cwnd));
                    prop_assert!(decision.pacing_rate.is_some());
                }
                if unresumed == ResumePhase::SafeRetreat && sender.phase().0 == ResumePhase::SafeRetreat {
                    prop_assert!(decision.cwnd <= before.decision().cwnd);
                }
                let _: &State<cubic::State> = &sender.resuming.state;
            }
        }
    }
}
