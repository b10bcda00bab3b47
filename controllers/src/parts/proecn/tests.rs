//! `spec: arumaithurai §3.6, §3.9, §10`; invariants I13 to I16.

use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::event::{IdleRestart, ProbeReceived};
use crate::parts::chirp;
use crate::parts::compose::{Measured, PathParams};
use crate::testkit::{MTU, PATH, acked, assert_close, cases, one_of, rtt};
use crate::{Event, Span, Time, TrainPlan};

/// A prober whose path, events and congestion the test makes up.
#[derive(Clone, Copy)]
struct Bench {
    params: Params,
    state: State,
    path: Measured,
    now: Time,
    is_bounded: bool,
}

const RTT: Span = Span::from_millis(100);
const CLEAN: u64 = 0;

/// Marks every probe from number `k` (from 1) on.
const fn marks_from(k: u32) -> u64 {
    u64::MAX << (k - 1)
}

impl Bench {
    fn new(params: Params) -> Bench {
        let mut path = Measured::default();
        path.sampled(&PathParams::default(), Time::ZERO, &rtt(RTT));
        Bench { params, state: ProEcn::start(&params, &PATH), path, now: Time::ZERO, is_bounded: false }
    }

    /// With the first train under way.
    fn begun() -> Bench {
        let mut bench = Bench::new(Params::default());
        bench.ack();
        bench
    }

    fn on_event(&mut self, kind: EventKind, signal: Signal) -> Option<f64> {
        let event = Event { now: self.now, kind };
        let input = Input { event: &event, path: &self.path, is_bounded: self.is_bounded };
        ProEcn::update(&self.params, &mut self.state, input, signal).map(|estimate| estimate.available)
    }

    fn pass(&mut self, span: Span) -> &mut Bench {
        self.now += span;
        self
    }

    /// Data sent a moment ago is acknowledged.
    fn ack(&mut self) {
        self.pass(Span(1000));
        assert_eq!(self.on_event(EventKind::PacketsAcked(acked(1, Time(self.now.0 - 1))), Signal::Clear), None);
    }

    fn tick(&mut self) -> Option<f64> {
        self.on_event(EventKind::TimerExpired, Signal::Clear)
    }

    fn congest(&mut self) {
        self.pass(Span(1000)).on_event(EventKind::TimerExpired, Signal::Mild);
    }

    fn plan(&self) -> Option<TrainPlan> {
        ProEcn::wants(&self.params, &self.state).train
    }

    fn wake_at(&self) -> Option<Time> {
        ProEcn::wants(&self.params, &self.state).wake_at
    }

    /// Answers the train under way a round trip later; a bit per probe says which were
    /// marked and which were lost.
    fn answer(&mut self, marked: u64, lost: u64) -> Option<f64> {
        self.pass(RTT);
        let plan = self.plan().expect("a train to answer");
        let arrived = (0..plan.packets).filter(|index| lost >> index & 1 == 0);
        let answers = arrived.map(|index| (index, marked >> index & 1 == 1));
        answers.fold(None, |found, (index, ce)| {
            let estimate = self.on_event(
                EventKind::ProbeReceived(ProbeReceived {
                    train: plan.id,
                    index,
                    ce,
                    one_way: None,
                    sent_at: Time::ZERO,
                }),
                Signal::Clear,
            );
            found.or(estimate)
        })
    }

    /// Acknowledges data and waits until the next train is under way.
    fn next_train(&mut self) -> TrainPlan {
        assert_eq!(self.plan(), None);
        self.ack();
        if self.plan().is_none() {
            self.now = self.wake_at().expect("a train is due");
            self.tick();
        }
        self.plan().expect("the due train")
    }
}

/// I14: 2, 4, 8, 15, all at the floor; then the next is built around the estimate.
#[test]
fn slow_probing_doubles_the_train() {
    let mut bench = Bench::begun();
    let mut plan = bench.plan().unwrap();
    for (packets, id) in [(2, 1), (4, 2), (8, 3), (15, 4)] {
        assert_eq!((plan.packets, plan.id, plan.min_rate, plan.bytes), (packets, id, 1e6, MTU));
        let available = bench.answer(CLEAN, CLEAN).unwrap();
        assert_close(available, 1e6 * chirp::power(1.2, packets - 1), 1e-12);
        plan = bench.next_train();
    }
    assert_eq!((plan.packets, bench.state.phase), (15, Phase::Dynamic));
    assert_close(plan.min_rate, 0.395_191_471_790_293_2 * 0.5 * 12.839_184_645_488_633e6, 1e-12);
}

/// P3.3: less than the train's own maximum ends slow probing; the maximum itself does not.
#[test]
fn slow_probing_ends_with_the_first_train_that_meets_congestion() {
    let mut bench = Bench::begun();
    bench.answer(CLEAN, CLEAN);
    bench.next_train();
    let mut other = bench;
    assert_eq!(bench.answer(marks_from(4), CLEAN), Some(1e6 * chirp::power(1.2, 2)));
    assert_eq!((bench.state.phase, bench.next_train().packets), (Phase::SlowProbe, 8));
    assert_eq!(other.answer(marks_from(3), CLEAN), Some(1.2e6));
    assert_eq!((other.state.phase, other.next_train().packets), (Phase::Dynamic, 15));
}

/// §10: the train after 35.83181 Mbit/s begins at 7.080213.
#[test]
fn next_min_rate_vector() {
    let mut bench = Bench::begun();
    bench.state.phase = Phase::Dynamic;
    bench.state.packets = 15;
    bench.answer(CLEAN, CLEAN);
    bench.state.min_rate = 10e6;
    assert_eq!(bench.next_train().packets, 15);
    assert_close(bench.answer(marks_from(9), CLEAN).unwrap(), 35.831_81e6, 1e-6);
    assert_close(bench.next_train().min_rate, 7.080_213e6, 1e-6);
}

/// P1: congestion in the first round trip skips slow probing and waits a base RTT.
#[test]
fn a_congested_start_probes_later() {
    let mut bench = Bench::new(Params::default());
    bench.congest();
    bench.ack();
    assert_eq!((bench.plan(), bench.state.phase), (None, Phase::Dynamic));
    assert_eq!(bench.wake_at(), Some(bench.now + RTT));
    bench.pass(Span(RTT.0 - 1)).tick();
    assert_eq!(bench.plan(), None);
    bench.pass(Span(1)).tick();
    assert_eq!(bench.plan().map(|plan| (plan.packets, plan.min_rate)), Some((15, 1e6)));
}

/// Corner case 3.
#[test]
fn nothing_is_probed_before_the_base_rtt_is_known() {
    let mut bench = Bench { path: Measured::default(), ..Bench::new(Params::default()) };
    bench.ack();
    assert_eq!((bench.plan(), bench.wake_at()), (None, None));
    bench.path.sampled(&PathParams::default(), bench.now, &rtt(RTT));
    bench.ack();
    assert!(bench.plan().is_some());
}

/// P3.1, I16: a train that data congestion overlaps yields nothing; one that follows does.
#[test]
fn congestion_voids_the_train_it_overlaps() {
    let mut bench = Bench::begun();
    bench.congest();
    assert_eq!(bench.answer(CLEAN, CLEAN), Some(0.0));
    assert_eq!((bench.state.phase, bench.state.zero_streak), (Phase::Dynamic, 0));
    bench.congest();
    assert_eq!(bench.next_train().min_rate, 1e6);
    assert!(bench.answer(CLEAN, CLEAN).unwrap() > 0.0);
}

/// P4: once more the same, then nothing.
#[test]
fn an_unanswered_train_is_sent_again_once() {
    let mut bench = Bench::begun();
    let first = bench.plan().unwrap();
    bench.now = bench.wake_at().unwrap();
    assert_eq!(bench.tick(), None);
    let again = bench.plan().unwrap();
    assert_eq!(again, TrainPlan { id: 2, ..first });
    let late = ProbeReceived { train: first.id, index: 0, ce: false, one_way: None, sent_at: Time::ZERO };
    let before = bench.state;
    bench.on_event(EventKind::ProbeReceived(late), Signal::Clear);
    assert_eq!(bench.state, before, "an answer to the train given up");
    bench.now = bench.wake_at().unwrap();
    assert_eq!(bench.tick(), Some(0.0));
    assert_eq!((bench.plan(), bench.state.zero_streak, bench.state.phase), (None, 1, Phase::Dynamic));
}

/// R1.4, R1.5: a hole answers with the prefix, a prefix of one with nothing.
#[test]
fn a_hole_answers_with_the_prefix() {
    let mut bench = Bench::begun();
    bench.answer(CLEAN, CLEAN);
    bench.next_train();
    bench.answer(CLEAN, CLEAN);
    bench.next_train();
    let mut other = bench;
    // Six of eight arrive: the seventh of the train is the first that counts as congested.
    assert_eq!(bench.answer(CLEAN, 1 << 6), Some(1e6 * chirp::power(1.2, 5)));
    assert_eq!(other.answer(CLEAN, 1 << 1), None);
    assert!(other.plan().is_some(), "still waiting, for the timeout");
}

/// P3.6, P5: after eight saturated trains none goes out for probefreq, then one.
#[test]
fn saturated_trains_switch_probing_off() {
    let mut bench = Bench::begun();
    for streak in 1..8 {
        assert_eq!(bench.answer(marks_from(2), CLEAN), Some(0.0));
        assert_eq!((bench.state.zero_streak, bench.state.phase), (streak, Phase::Dynamic));
        bench.next_train();
    }
    bench.answer(marks_from(2), CLEAN);
    assert_eq!(bench.state.phase, Phase::Off);
    bench.ack();
    let due = Time(bench.now.0 - 1000) + Span::from_millis(10_000);
    assert_eq!(bench.wake_at(), Some(due));
    bench.now = Time(due.0 - 1);
    bench.tick();
    assert_eq!(bench.plan(), None);
    bench.next_train();
    let mut lucky = bench;
    bench.answer(marks_from(2), CLEAN);
    assert_eq!((bench.state.phase, bench.state.zero_streak), (Phase::Off, 9));
    lucky.answer(CLEAN, CLEAN);
    assert_eq!((lucky.state.phase, lucky.state.zero_streak), (Phase::Dynamic, 0));
}

/// `RFC 2914 §5`; `RFC 8085 §3.1`: where losses bound the window no train begins and none is sent again, as if it were
/// switched off.
#[test]
fn where_losses_bound_the_window_no_train_begins() {
    let mut bench = Bench::begun();
    let first = bench.plan().expect("a train").id;
    bench.is_bounded = true;
    bench.now = bench.wake_at().expect("its timeout");
    assert_eq!(bench.tick(), Some(0.0), "it is not sent again");
    bench.ack();
    bench.now = bench.wake_at().expect("the next");
    bench.tick();
    assert_eq!((bench.plan(), bench.state.phase), (None, Phase::Off));
    bench.is_bounded = false;
    bench.now += Span::from_millis(9_999);
    bench.tick();
    assert_eq!(bench.plan(), None);
    assert_eq!(bench.next_train().id, first + 1);
}

/// A12: zeros of a stray early mark do not count.
#[test]
fn a_stray_mark_does_not_switch_off() {
    let mut bench = Bench::begun();
    bench.answer(CLEAN, CLEAN);
    for _ in 0..20 {
        bench.next_train();
        assert_eq!(bench.answer(0b1, CLEAN), Some(0.0));
    }
    assert_eq!((bench.state.phase, bench.state.zero_streak), (Phase::Dynamic, 0));
}

/// A13: the pause is uniform over two base RTTs.
#[test]
fn pauses_average_a_base_rtt() {
    let mut bench = Bench::begun();
    let mut total = 0.0;
    for _ in 0..2000 {
        bench.answer(marks_from(5), CLEAN);
        let ended = bench.now;
        bench.ack();
        let due = bench.wake_at().unwrap_or(bench.now);
        let pause = due.since(ended).secs();
        assert!(pause < 0.2);
        total += pause;
        bench.now = bench.now.max(due);
        bench.tick();
    }
    assert_close(total / 2000.0, 0.1, 0.004);
}

/// F5, F7: a timeout and a long idle period start probing over, once data sent since has
/// been acknowledged; only a timeout forgets the streak.
#[test]
fn a_timeout_or_a_long_silence_starts_over() {
    let idle = |ms| EventKind::IdleRestart(IdleRestart { idle: Span::from_millis(ms), pto: Span::from_millis(300) });
    let mut bench = Bench::begun();
    for _ in 0..3 {
        bench.answer(marks_from(2), CLEAN);
        bench.next_train();
    }
    bench.congest();
    let mut unchanged = bench;
    unchanged.on_event(idle(300), Signal::Clear);
    assert_eq!(unchanged.state, bench.state);
    for (kind, signal, streak) in [(EventKind::TimerExpired, Signal::TimedOut, 0), (idle(301), Signal::Clear, 3)] {
        let mut bench = bench;
        bench.on_event(kind, signal);
        assert_eq!((bench.plan(), bench.wake_at(), bench.state.zero_streak), (None, None, streak));
        let now = bench.now;
        bench.pass(RTT).on_event(EventKind::PacketsAcked(acked(1, now)), Signal::Clear);
        assert_eq!(bench.plan(), None, "sent before");
        bench.ack();
        let plan = bench.plan().unwrap();
        assert_eq!((plan.packets, plan.min_rate, bench.state.phase), (2, 1e6, Phase::SlowProbe));
    }
}

/// A connection that has nothing acknowledged falls silent, and resumes with the next ACK.
#[test]
fn no_train_without_data() {
    let mut bench = Bench::begun();
    bench.answer(CLEAN, CLEAN);
    assert_eq!(bench.wake_at(), None);
    bench.pass(Span::from_millis(60_000)).tick();
    assert_eq!(bench.plan(), None);
    bench.ack();
    assert!(bench.plan().is_some());
}

#[test]
fn probes_have_the_size_asked_for_within_a_datagram() {
    for (probe_size, mtu, bytes) in [(0, 1000, 1000), (200, 1000, 200), (1400, 1000, 1000), (0, 1452, 1452)] {
        let mut bench = Bench::new(Params { probe_size, ..Params::default() });
        bench.on_event(EventKind::MtuUpdated(mtu), Signal::Clear);
        bench.ack();
        assert_eq!(bench.plan().unwrap().bytes, bytes);
    }
}

/// A path that never marks cannot drive the rates to infinity.
#[test]
fn rates_are_bounded() {
    let mut bench = Bench::begun();
    for _ in 0..1000 {
        bench.answer(CLEAN, CLEAN);
        bench.next_train();
    }
    assert_eq!(bench.plan().unwrap().min_rate, 1e11);
}

/// Which probes a router marks that has `spare` bit/s left for them and marks above two
/// waiting packets, as fluid (`spec: arumaithurai §4.3`).
fn marked_at(plan: &TrainPlan, spare: f64) -> u64 {
    let packet = 8.0 * f64::from(plan.bytes);
    let (mut marked, mut backlog, mut last) = (0, 0.0, 0.0);
    for index in 0..plan.packets {
        let offset = plan.chirp().offset(index);
        backlog = f64::max(backlog - spare * (offset - last), 0.0);
        last = offset;
        if backlog >= 2.0 * packet {
            marked |= 1 << index;
        }
        backlog += packet;
    }
    marked
}

/// What the estimates are for: whatever is to spare is found within a few trains, and
/// found again when it changes. A queue of probes alone takes five or six gaps above the spare
/// bandwidth to grow to two packets, so the estimate exceeds it by SF⁴ to SF⁷.
#[test]
fn estimates_follow_the_spare_bandwidth() {
    let mut bench = Bench::begun();
    let mut train = |spare: f64| {
        let marked = marked_at(&bench.plan().unwrap(), spare);
        let available = bench.answer(marked, CLEAN).unwrap();
        bench.next_train();
        let excess = available / spare;
        (chirp::power(1.2, 4)..chirp::power(1.2, 7)).contains(&excess)
    };
    for spare in [100e6, 25e6, 600e6, 75e6, 2e6, 50e6] {
        let trains = (1..=8).find(|_| train(spare));
        assert!(trains.is_some(), "{spare} not found in eight trains");
        assert!((0..20).all(|_| train(spare)), "{spare} lost again");
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Ack,
    Congest,
    TimeOut,
    IdleRestart,
    /// Time passes: this part of what is left until the wake-up call.
    Tick(f64),
    /// The train under way is answered in time.
    Answer {
        marked: u64,
        lost: u64,
    },
    /// A probe of no train under way.
    Stray(ProbeReceived),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let stray = (0u32..20, 0u32..20, any::<bool>());
    let any_answer = (any::<u64>(), any::<u64>(), any::<u64>());
    let act = one_of([
        (4, Just(Act::Ack).boxed()),
        (1, Just(Act::Congest).boxed()),
        (4, (0.0..1.3f64).prop_map(Act::Tick).boxed()),
        (2, Just(Act::Answer { marked: CLEAN, lost: CLEAN }).boxed()),
        (4, Just(Act::Answer { marked: marks_from(2), lost: CLEAN }).boxed()),
        (2, any_answer.prop_map(|(marked, a, b)| Act::Answer { marked, lost: a & b }).boxed()),
        (
            1,
            one_of([
                (1, Just(Act::TimeOut).boxed()),
                (1, Just(Act::IdleRestart).boxed()),
                (
                    1,
                    stray
                        .prop_map(|(train, index, ce)| {
                            Act::Stray(ProbeReceived { train, index, ce, one_way: None, sent_at: Time::ZERO })
                        })
                        .boxed(),
                ),
            ])
            .boxed(),
        ),
    ]);
    prop::collection::vec(act, 1..60)
}

/// Whether an answer judges a train, and then whether the train was saturated, by the
/// definitions of `spec: arumaithurai §3.7`.
fn saturated(packets: u32, marked: u64, lost: u64) -> Option<bool> {
    let has = |bits: u64, index: u32| bits >> index & 1 == 1;
    let prefix = (0..packets).take_while(|&index| !has(lost, index)).count() as u32;
    let more_arrives = (prefix..packets).any(|index| !has(lost, index));
    let judged = prefix >= 2 && (prefix == packets || more_arrives);
    judged.then(|| (1..prefix).all(|index| has(marked, index)))
}

proptest! {
    #![proptest_config(cases(10_000))]

    /// I13, I15, I16, with books of its own on saturated and overlapped trains.
    #[test]
    fn trains_keep_the_rules(acts in acts(), seed: u64, zero_off in 1u32..5) {
        let params = Params { zero_off, ..Params::default() };
        let mut bench = Bench::new(params);
        bench.state = ProEcn::start(&params, &Path { seed, ..PATH });
        let (mut streak, mut overlapped, mut answered) = (0, false, 0);
        for act in acts {
            let before = bench.state;
            let timeout = before.outstanding().map(|train| train.timeout);
            let in_time = timeout.is_none_or(|timeout| bench.now + RTT + Span(1000) < timeout);
            let mut estimate = None;
            match act {
                Act::Ack if in_time => bench.ack(),
                Act::Answer { marked, lost } if in_time && before.outstanding().is_some() && answered != before.last_id => {
                    answered = before.last_id;
                    let packets = before.packets;
                    let expected = saturated(packets, marked, lost);
                    estimate = bench.answer(marked, lost);
                    prop_assert_eq!(estimate.is_some(), expected.is_some());
                    match expected {
                        Some(true) => streak += 1,
                        Some(false) => streak = 0,
                        None => {}
                    }
                }
                Act::Tick(part) => {
                    let left = bench.wake_at().map_or(RTT, |due| due.since(bench.now));
                    estimate = bench.pass(Span::from_secs_f64(left.secs() * part)).tick();
                    if estimate.is_some() {
                        prop_assert!(before.outstanding().unwrap().is_retry && estimate == Some(0.0), "P4");
                        streak += 1;
                    }
                }
                Act::Congest => {
                    bench.on_event(EventKind::RttSampled(rtt(RTT)), Signal::Strong);
                    overlapped = true;
                }
                Act::TimeOut => {
                    bench.on_event(EventKind::TimerExpired, Signal::TimedOut);
                    streak = 0;
                }
                Act::IdleRestart => {
                    bench.on_event(EventKind::IdleRestart(IdleRestart { idle: Span(2), pto: Span(1) }), Signal::Clear);
                }
                Act::Stray(probed) if before.outstanding().is_none() || before.last_id != probed.train => {
                    prop_assert_eq!(bench.on_event(EventKind::ProbeReceived(probed), Signal::Clear), None);
                }
                _ => {}
            }
            let state = bench.state;
            prop_assert!(state.min_rate >= params.rate_floor && state.min_rate.is_finite(), "I13");
            let sent = state.last_id - before.last_id;
            let displaced = sent > 0 && before.outstanding().is_some() && estimate.is_none();
            prop_assert!(sent <= 1 && (!displaced || timeout.unwrap() <= bench.now), "I15: one at a time");
            prop_assert_eq!(state.zero_streak, streak);
            if state.phase == Phase::Off {
                prop_assert!(state.outstanding().is_none() && streak >= zero_off, "I15: off");
            }
            prop_assert!(!overlapped || estimate.is_none_or(|available| available == 0.0), "I16");
            overlapped &= sent == 0 && state.outstanding().is_some();
        }
    }
}
