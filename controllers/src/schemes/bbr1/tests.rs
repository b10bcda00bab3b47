//! `draft-cardwell-iccrg-bbr-congestion-control-00`.

use proptest::prelude::*;

use super::*;
use crate::Parameters;
use crate::event::{Delivery, IdleRestart, SpuriousLoss};
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, lost, trace};

const MS: u64 = 1_000_000;
const PACKET: f64 = MTU as f64;

fn step(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Bbr1>(params, state, Time(ms * MS), kind)
}

fn decide(params: &Params, state: &State) -> Decision {
    Bbr1::decide(params, state, View::solo(&()))
}

/// An ACK of one packet that left 100 ms before, since when `rate` bytes/s were delivered; `state` had delivered
/// `prior` bytes then.
fn ack(ms: u64, prior: u64, rate: u64) -> PacketsAcked {
    let delivery = Delivery::new(prior, Time((ms - 100) * MS), Time(ms.saturating_sub(200) * MS));
    PacketsAcked {
        delivered: prior + rate / 10,
        in_flight_before: 100 * u64::from(MTU),
        in_flight: 99 * u64::from(MTU),
        rtt: Some(testkit::rtt(Span::from_millis(100))),
        delivery: Some(delivery),
        ..acked(1, Time((ms - 100) * MS))
    }
}

/// The ACK that ends a round at `rate`.
fn round(params: &Params, state: State, ms: u64, rate: u64, change: impl FnOnce(&mut PacketsAcked)) -> State {
    let mut frame = ack(ms, state.delivered, rate);
    change(&mut frame);
    step(params, state, ms, EventKind::PacketsAcked(frame))
}

/// A flow in ProbeBW at `cycle_index` that knows 1 Mbyte/s and 100 ms, 100 packets, since 1 s.
fn cruising(cycle_index: u8) -> State {
    let params = Params::default();
    let mut state = Bbr1::start(&params, &PATH);
    state.has_rtt_sample = true;
    state.filled_pipe = true;
    state.btl_bw = state.btl_bw_filter.update(0, 10, 1_000_000) as f64;
    (state.rtprop, state.rtprop_stamp) = (Some(Span::from_millis(100)), Time(1000 * MS));
    (state.mode, state.cycle_index, state.cycle_stamp) = (Mode::ProbeBw, cycle_index, Time(1000 * MS));
    state.cwnd = 206.0 * PACKET;
    (state.delivered, state.next_round_delivered) = (1_000_000, 1_000_000);
    state.set_pacing_rate(&params);
    state
}

/// §4.2.1 `BBRInitPacingRate`: before a sample of the RTT a millisecond is taken.
#[test]
fn the_initial_rate_is_the_initial_window_per_rtt_with_startups_gain() {
    let params = Params::default();
    let state = Bbr1::start(&params, &PATH);
    assert_close(decide(&params, &state).pacing_rate.unwrap() as f64, 8.0 * 2.885_390_081_777_927 * 1e7, 1e-6);
    let state = step(&params, state, 50, EventKind::RttSampled(testkit::rtt(Span::from_millis(50))));
    assert_close(decide(&params, &state).pacing_rate.unwrap() as f64, 8.0 * 2.885_390_081_777_927 * 2e5, 1e-5);
}

/// §4.3.2.1: 2/ln 2, at which the rate doubles in a round trip; §4.3.3: its inverse drains what that queued.
#[test]
fn startup_doubles_and_drain_undoes_it() {
    let params = Params::paper();
    // ∫ of a rate that grows as 2^(t/RTT) over a round trip is its first value over ln 2: paced at 2/ln 2 times what
    // was delivered, a flow sends in a round trip twice what it sent in the one before.
    assert_close(params.high_gain * core::f64::consts::LN_2, 2.0, 1e-15);
    let mut state = Bbr1::start(&params, &PATH);
    for (turn, rate) in [(1, 100_000), (2, 200_000), (3, 400_000)] {
        state = round(&params, state, turn * 100, rate, |_| {});
        assert_eq!((state.mode, state.btl_bw), (Mode::Startup, rate as f64));
        assert_close(state.pacing_rate, 2.885_390_081_777_927 * rate as f64, 1e-12);
    }
    // Three rounds without a quarter more.
    for (turn, rate) in [(4, 499_000), (5, 400_000), (6, 300_000)] {
        assert!(!state.filled_pipe);
        state = round(&params, state, turn * 100, rate, |_| {});
    }
    assert_eq!((state.mode, state.filled_pipe), (Mode::Drain, true));
    assert_close(state.pacing_rate, 499_000.0 / 2.885_390_081_777_927, 1e-12);
    // 49.9 packets and three quanta, at 1.4 Mbit/s of two packets each.
    let in_flight = |packets: u64| move |frame: &mut PacketsAcked| frame.in_flight = packets * u64::from(MTU);
    assert_eq!(round(&params, state, 650, 400_000, in_flight(56)).mode, Mode::Drain);
    assert_eq!(round(&params, state, 650, 400_000, in_flight(55)).mode, Mode::ProbeBw);
}

/// §4.3.2.2: an ACK of packets that the application held back says nothing.
#[test]
fn an_application_limit_does_not_end_startup() {
    let params = Params::default();
    let mut state = round(&params, Bbr1::start(&params, &PATH), 100, 100_000, |_| {});
    for turn in 2..10 {
        state = round(&params, state, turn * 100, 50_000, |frame| {
            frame.delivery.as_mut().unwrap().app_limited = true;
        });
    }
    assert_eq!((state.mode, state.full_bw_count, state.btl_bw), (Mode::Startup, 0, 100_000.0));
    state = round(&params, state, 1000, 150_000, |frame| frame.delivery.as_mut().unwrap().app_limited = true);
    assert_eq!(state.btl_bw, 150_000.0, "unless it shows more");
}

/// §4.3.4.1: 5/4, 3/4, and six phases of 1, a minimum RTT each; their mean is 1.
#[test]
fn the_cycle_has_eight_phases() {
    let params = Params::paper();
    let gain = |index| cruising(index).gains(&params);
    let gains: std::vec::Vec<f64> = (0..8).map(|index| gain(index).0).collect();
    assert_eq!(gains, [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!((gains.iter().sum::<f64>(), gain(0).1), (8.0, 2.0));
    for index in 1..8 {
        let state = round(&params, cruising(index), 1100, 1_000_000, |frame| frame.in_flight_before = 200_000);
        assert_eq!(state.cycle_index, index, "a minimum RTT is not more than one");
        let state = round(&params, cruising(index), 1101, 1_000_000, |_| {});
        assert_eq!(state.cycle_index, (index + 1) % 8);
        assert_close(state.pacing_rate, gains[state.cycle_index as usize] * 1e6, 1e-12);
    }
}

/// §4.3.4.3 `BBRIsNextCyclePhase`: 5/4 of the product in flight, or a loss, and no sooner than in a minimum RTT; the queue
/// gone, or a minimum RTT.
#[test]
fn the_probe_lasts_until_it_is_in_flight_and_the_drain_until_it_is_gone() {
    let params = Params::default();
    let with = |index, ms, packets: u64| {
        round(&params, cruising(index), ms, 1_000_000, |frame| frame.in_flight_before = packets * u64::from(MTU))
            .cycle_index
    };
    // At 8 Mbit/s three quanta are six packets.
    assert_eq!((with(0, 1500, 130), with(0, 1500, 131), with(0, 1090, 131)), (0, 1, 0));
    assert_eq!((with(1, 1050, 107), with(1, 1050, 106), with(1, 1101, 200)), (1, 2, 2));
    let state = step(&params, cruising(0), 1150, EventKind::PacketsLost(lost(Time(1050 * MS))));
    assert_eq!(round(&params, state, 1200, 1_000_000, |_| {}).cycle_index, 1);
}

/// §4.3.4.2: any phase but that of 3/4.
#[test]
fn the_cycle_begins_with_any_phase_but_the_second() {
    let params = Params::default();
    let mut seen = [0; 8];
    for seed in 0..700 {
        let mut state = State { random: crate::parts::splitmix::SplitMix64::new(seed), ..cruising(0) };
        state.mode = Mode::Drain;
        let state = round(&params, state, 1050, 1_000_000, |_| {});
        seen[state.cycle_index as usize] += 1;
    }
    assert_eq!(seen[1], 0);
    assert!(seen.iter().enumerate().all(|(index, count)| index == 1 || (60..140).contains(count)), "{seen:?}");
}

/// §4.1.1.2: the largest of ten round trips.
#[test]
fn a_sample_of_the_bandwidth_is_believed_for_ten_rounds() {
    let params = Params::default();
    let mut state = round(&params, cruising(2), 1100, 2_000_000, |_| {});
    for turn in 1..10 {
        state = round(&params, state, 1100 + 100 * turn, 500_000, |_| {});
        assert_eq!(state.btl_bw, 2_000_000.0, "round {turn}");
    }
    assert_eq!(round(&params, state, 2100, 500_000, |_| {}).btl_bw, 500_000.0);
}

/// §4.3.5: four packets for 200 ms and a round, ten seconds after the latest lower sample.
#[test]
fn the_minimum_rtt_is_looked_for_every_ten_seconds() {
    let params = Params::default();
    let slow = |frame: &mut PacketsAcked| frame.rtt = Some(testkit::rtt(Span::from_millis(110)));
    let state = round(&params, cruising(2), 11_000, 1_000_000, slow);
    assert_eq!(state.mode, Mode::ProbeBw, "ten seconds are not more than ten");
    let mut state = round(&params, state, 11_001, 1_000_000, slow);
    assert_eq!((state.mode, decide(&params, &state).cwnd), (Mode::ProbeRtt, 4 * u64::from(MTU)));
    assert_eq!(state.rtprop, Some(Span::from_millis(110)), "the one that had expired is replaced");
    let low = |frame: &mut PacketsAcked| {
        frame.in_flight = 4 * u64::from(MTU);
        frame.rtt = Some(testkit::rtt(Span::from_millis(90)));
    };
    for ms in [11_100, 11_200, 11_300] {
        state = round(&params, state, ms, 40_000, low);
        assert_eq!((state.mode, decide(&params, &state).cwnd), (Mode::ProbeRtt, 4 * u64::from(MTU)), "{ms}");
    }
    state = round(&params, state, 11_301, 40_000, low);
    assert_eq!((state.mode, state.rtprop), (Mode::ProbeBw, Some(Span::from_millis(90))));
    assert!(state.cwnd > 180.0 * PACKET, "the window is restored: {}", state.cwnd / PACKET);
    assert_eq!(state.rtprop_stamp, Time(11_301 * MS));
}

/// §4.3.5: an equal RTT is not a lower one; what leaves in ProbeRTT says nothing of the path.
#[test]
fn an_equal_sample_does_not_put_probe_rtt_off() {
    let params = Params::default();
    let state = round(&params, cruising(2), 10_000, 1_000_000, |_| {});
    assert_eq!(state.rtprop_stamp, Time(1000 * MS));
    let mut state = round(&params, state, 11_001, 1_000_000, |_| {});
    assert_eq!(state.mode, Mode::ProbeRtt);
    for turn in 0..12 {
        state = round(&params, state, 11_100 + 10 * turn, 40_000, |frame| frame.in_flight = 4 * u64::from(MTU));
    }
    assert_eq!(state.btl_bw, 1_000_000.0);
}

/// §4.2.3.2: two products and three quanta, of one, two or more packets.
#[test]
fn the_target_is_two_products_and_three_quanta() {
    let params = Params::default();
    let target = |btl_bw: f64| {
        let mut state = State { btl_bw, ..cruising(2) };
        state.set_pacing_rate(&params);
        state.inflight(&params, 2.0)
    };
    assert_close(target(100_000.0), 2.0 * 10_000.0 + 3.0 * PACKET, 1e-9);
    assert_close(target(1_000_000.0), 2.0 * 100_000.0 + 6.0 * PACKET, 1e-9);
    assert_close(target(10_000_000.0), 2.0 * 1_000_000.0 + 3.0 * 9900.0, 1e-9);
    assert_close(target(1e9), 2.0 * 1e8 + 3.0 * 65_536.0, 1e-9);
    let none = State { rtprop: None, ..cruising(2) };
    assert_eq!(none.inflight(&params, 2.0), 10.0 * PACKET);
}

/// §4.2.3.4: in recovery as much leaves as is delivered; after it the window is what it was. The rate stays throughout.
#[test]
fn losses_leave_the_rate_and_for_a_round_the_window() {
    let params = Params::default();
    let before = cruising(2);
    let mut state = step(&params, before, 1150, EventKind::PacketsLost(lost(Time(1050 * MS))));
    assert_eq!((state.cwnd, state.prior_cwnd), (10.0 * PACKET, 206.0 * PACKET), "nine in flight and one");
    let mut frame = ack(1150, 900_000, 1_000_000);
    (frame.in_flight, frame.newest_sent_at) = (8 * u64::from(MTU), Time(1050 * MS));
    state = step(&params, state, 1150, EventKind::PacketsAcked(PacketsAcked { bytes: 5000, ..frame }));
    assert_eq!(state.cwnd, 13.0 * PACKET);
    let more = lost(Time(1060 * MS)).with_in_flight_before(13_000);
    state = step(&params, state, 1160, EventKind::PacketsLost(more));
    assert_eq!((state.cwnd, state.prior_cwnd), (12.0 * PACKET, 206.0 * PACKET));
    assert_eq!(state.pacing_rate, before.pacing_rate);
    let undone = step(&params, state, 1170, EventKind::SpuriousLoss(SpuriousLoss::new(Time(1050 * MS))));
    assert_eq!((undone.cwnd, undone.packet_conservation), (206.0 * PACKET, false));
    let mark = EventKind::EcnCe(testkit::marked(Time(1050 * MS)));
    let marked = step(&params, state, 1165, mark);
    let spurious = step(&params, marked, 1170, EventKind::SpuriousLoss(SpuriousLoss::new(Time(1050 * MS))));
    assert_eq!(spurious.cwnd, 12.0 * PACKET, "after a mark it is final");
    state = round(&params, state, 1251, 1_000_000, |_| {});
    assert!(state.cwnd >= 206.0 * PACKET, "{}", state.cwnd);
    assert_eq!(decide(&params, &step(&params, before, 1150, mark)), decide(&params, &before), "marks change nothing");
}

/// §4.2.3.4, with the least window of RFC 9002 §7.2 for one packet.
#[test]
fn persistent_congestion_leaves_the_least_window_until_it_is_acknowledged() {
    let params = Params::default();
    let state = step(&params, cruising(2), 1300, EventKind::PersistentCongestion(lost(Time(1200 * MS))));
    assert_eq!(decide(&params, &state).cwnd, 2 * u64::from(MTU));
    let state = round(&params, state, 1500, 1_000_000, |_| {});
    assert!(state.cwnd >= 206.0 * PACKET, "{}", state.cwnd);
}

/// §4.3.4.4.
#[test]
fn restarting_from_idle_paces_at_the_bandwidth_and_skips_probe_rtt() {
    let params = Params::paper();
    let mut state = cruising(0);
    state.set_pacing_rate(&params);
    assert_eq!(state.pacing_rate, 1.25e6);
    let idle = IdleRestart { idle: Span::from_millis(12_000), pto: Span::from_millis(300) };
    state = step(&params, state, 13_000, EventKind::IdleRestart(idle));
    assert_eq!(state.pacing_rate, 1e6);
    state = round(&params, state, 13_100, 1_000_000, |_| {});
    assert_eq!((state.mode, state.idle_restart), (Mode::ProbeBw, false));
}

#[test]
fn a_stack_without_pacing_is_refused_unless_asked() {
    let needs = Bbr1::needs(&Params::default());
    assert!(needs.contains(Signals::PACING) && needs.contains(Signals::DELIVERY_RATE));
    assert!(!Bbr1::needs(&Params { fallback: true, ..Params::default() }).contains(Signals::PACING));
}

proptest! {
    #![proptest_config(cases(256))]

    /// A packet may always leave, and pacing goes on; four packets outside of recovery (§4.2.3.3).
    #[test]
    fn the_floor_holds_and_pacing_goes_on(script in trace::scripts(50), seed in any::<u64>()) {
        let params = Params::default();
        let mut wrong = None;
        trace::run::<Bbr1>(&params, seed, &script, |_, event, after| {
            let decision = decide(&params, after);
            let is_free = matches!(event.kind, EventKind::PacketsAcked(_)) && !after.packet_conservation;
            let least = if is_free { 4.0 * after.mtu } else { 2.0 * after.mtu };
            let fits = decision.cwnd as f64 >= least.floor() && decision.pacing_rate > Some(0);
            #[allow(clippy::eq_op)]
            let sound = after == after;
            if !(fits && sound) && wrong.is_none() {
                wrong = Some((*event, decision));
            }
        });
        prop_assert!(wrong.is_none(), "{wrong:?}");
    }
}
