//! `draft-ietf-ccwg-rfc8298bis-screamv2-01`.

use proptest::prelude::*;

use super::delay::Jitter;
use super::*;
use crate::event::{EcnCe, OneWay, PacketsAcked, PacketsLost, WindowSet};
use crate::testkit::{self, MTU, PATH, acked, assert_close, cases, state_variable, trace};
use crate::{Parameters, Span, Time};

const MS: u64 = 1_000_000;
const PACKET: f64 = MTU as f64;

fn at(params: &Params, state: State, ms: u64, kind: EventKind) -> State {
    testkit::step::<Scream>(params, state, Time(ms * MS), kind)
}

fn decide(params: &Params, state: &State) -> Decision {
    Scream::decide(params, state, View::solo(&()))
}

/// A frame at `ms` for `packets` packets that left 100 ms before, with a round trip of `rtt_ms` and `in_flight` packets in flight.
fn ack(ms: u64, packets: u32, rtt_ms: u64, in_flight: u64) -> EventKind {
    let rtt = Some(testkit::rtt(Span::from_millis(rtt_ms)));
    let in_flight_before = in_flight * u64::from(MTU);
    EventKind::PacketsAcked(PacketsAcked { rtt, in_flight_before, ..acked(packets, Time(ms.saturating_sub(100) * MS)) })
}

fn lost(sent_ms: u64) -> EventKind {
    EventKind::PacketsLost(PacketsLost { bytes: 1000, ..testkit::lost(Time(sent_ms * MS)) })
}

/// A flow past its start with a window of `packets`, an RTT and a base delay of 100 ms, at 1 s, congested at 0 s.
fn flow(params: &Params, packets: f64) -> State {
    let state = Scream::start(params, &PATH);
    let state = at(params, state, 1000, ack(1000, 0, 100, 2 * packets as u64));
    State { in_fast_start: false, ref_wnd: packets * PACKET, ..state }
}

#[test]
fn the_state_is_small() {
    assert!(size_of::<State>() <= 560, "{}", size_of::<State>());
}

/// §4.2.2: 3000 bytes, or RFC 9002's window that doubles (RFC 8298).
#[test]
fn the_first_window() {
    let paper = Params::paper();
    assert_eq!(decide(&paper, &Scream::start(&paper, &PATH)).cwnd, 3000);
    let params = Params::default();
    let start = Scream::start(&params, &PATH);
    assert_eq!((decide(&params, &start).cwnd, decide(&params, &start).pacing_rate), (10_000, None));
    let state = at(&params, start, 100, ack(100, 10, 100, 10));
    assert_eq!(state.ref_wnd, 20_000.0);
    let unused = at(&params, start, 100, ack(100, 1, 100, 6));
    assert_eq!(unused.ref_wnd, 10_000.0, "half as much again as is in flight, and what is acknowledged, are less");
    assert_eq!(at(&params, unused, 110, EventKind::MtuUpdated(2000)).ref_wnd, 14_720.0);
    let state = at(&params, state, 110, lost(100));
    assert_eq!((state.ref_wnd, state.in_fast_start), (14_000.0, false));
}

/// §4.2.2.2: ref_wnd 100 packets, a hundred round trips after congestion, far from the inflection point. A packet acknowledged adds
/// 1000 · 1000/100,000 · (1 + 0.02 · 100) bytes, so that a round trip adds three packets.
#[test]
fn vectors_of_the_increase() {
    let params = Params::default();
    let state = State { last_congestion_detected_time: Some(Time(0)), ..flow(&params, 100.0) };
    let grown = |state: State, ms, rtt| at(&params, state, ms, ack(ms, 1, rtt, 100)).ref_wnd - state.ref_wnd;
    assert_close(grown(state, 10_000, 100), 10.0 * 3.0, 1e-9);
    // Fifty round trips after congestion half of the two per cent.
    assert_close(grown(state, 5000, 100), 10.0 * 2.0, 1e-9);
    // At the inflection point a quarter, of the multiplicative part a tenth.
    let near = State { ref_wnd_i: state.ref_wnd, ..state };
    assert_close(grown(near, 10_000, 100), 10.0 * 0.25 * (1.0 + 2.0 * 0.1), 1e-9);
    // 3/32 above it (24/32)².
    let above = State { ref_wnd_i: 32.0 / 35.0 * state.ref_wnd, ..state };
    assert_close(grown(above, 10_000, 100), 10.0 * 0.5625 * (1.0 + 2.0 * 0.5625), 1e-9);
    // 12 ms are 48 % of the virtual RTT.
    let short = Scream::start(&params, &PATH);
    let short = at(&params, short, 1000, ack(1000, 0, 12, 200));
    let short = State { in_fast_start: false, ref_wnd: state.ref_wnd, ..short };
    assert_close(grown(short, 10_000, 12), 30.0 * 0.48, 1e-9);
    // What was lost counts as acknowledged.
    let also_lost = State { bytes_newly_lost: 2000.0, ..state };
    assert_close(grown(also_lost, 10_000, 100), 3.0 * 30.0, 1e-9);
}

/// §4.2.2.2: not beyond a packet and half as much again as was in flight.
#[test]
fn what_was_in_flight_bounds_the_increase() {
    let params = Params::default();
    let state = State { max_bytes_in_flight: 0.0, max_bytes_in_flight_prev: 0.0, ..flow(&params, 100.0) };
    assert_eq!(at(&params, state, 4000, ack(4000, 1, 100, 66)).ref_wnd, state.ref_wnd);
    assert!(at(&params, state, 4000, ack(4000, 1, 100, 67)).ref_wnd > state.ref_wnd);
}

/// §4.2.2.1: 0.7 and 0.8, once a round trip; the window before is the inflection point until the window has grown.
#[test]
fn losses_and_marks_take_their_share_once_a_round_trip() {
    let params = Params::default();
    let state = at(&params, flow(&params, 100.0), 1000, lost(950));
    assert_eq!((state.ref_wnd, state.ref_wnd_i), (70_000.0, 100_000.0));
    let again = at(&params, state, 1050, lost(1000));
    assert_eq!(again.ref_wnd, 70_000.0, "it left before the answer");
    let later = at(&params, state, 1110, lost(1005));
    assert_close(later.ref_wnd, 49_000.0, 1e-9);
    assert_eq!(later.ref_wnd_i, 100_000.0);
    let grown = at(&params, state, 1100, ack(1100, 1, 100, 100));
    let later = at(&params, grown, 1110, lost(1005));
    assert_eq!((later.ref_wnd_i, later.ref_wnd_i > 70_000.0), (grown.ref_wnd, true));
    let marked = EventKind::EcnCe(EcnCe::new(1, Time(950 * MS), 0));
    assert_close(at(&params, flow(&params, 100.0), 1000, marked).ref_wnd, 80_000.0, 1e-9);
    let least = at(&params, flow(&params, 3.0), 1000, lost(950));
    assert_eq!(least.ref_wnd, 3000.0);
}

/// §4.2.2.1: α/2 of the window in a round trip, a quarter of that at once where it is four times the virtual one; less near the
/// inflection point while the queue is short.
#[test]
fn marks_of_l4s_are_answered_by_their_share() {
    let params = Params { l4s: true, ..Params::default() };
    let marked = |ms: u64| EventKind::EcnCe(EcnCe::new(1, Time(ms * MS - 1), 0));
    let base = flow(&params, 100.0);
    let state = State { l4s_alpha: 0.5, ..base };
    let left = |state: State, ms| at(&params, state, ms, marked(ms)).ref_wnd;
    assert_close(left(state, 1000), 100_000.0 * (1.0 - 0.25 / 4.0), 1e-9);
    let near = State { ref_wnd_i: 100_000.0, ..state };
    assert_close(left(near, 1000), 100_000.0 * (1.0 - 0.25 / 4.0 / 4.0), 1e-9);
    assert_close(left(State { qdelay: 0.02, ..near }, 1000), 100_000.0 * (1.0 - 0.25 / 4.0), 1e-9);
    let answered = at(&params, state, 1000, marked(1000));
    assert_eq!(left(answered, 1024), answered.ref_wnd, "25 ms are not over");
    assert!(left(answered, 1025) < answered.ref_wnd);
    // A hundred round trips after the start what was in flight counts.
    let late = State { max_bytes_in_flight_prev: 60_000.0, ..state };
    assert_close(left(late, 10_001), 60_000.0 * (1.0 - 0.25 / 4.0), 1e-9);
    // One packet of two is marked: an eighth of a half; then none is: 127/128 of that.
    let state = at(&params, State { l4s_alpha: 0.0, ..base }, 1200, marked(1200));
    let state = at(&params, state, 1200, ack(1200, 2, 100, 100));
    assert_close(state.l4s_alpha, 0.5 / 8.0, 1e-12);
    assert_close(at(&params, state, 1300, ack(1300, 2, 100, 100)).l4s_alpha, 0.5 / 8.0 * 127.0 / 128.0, 1e-12);
    assert_eq!(decide(&params, &state).ecn, Ecn::Ect1);
    assert!(Scream::needs(&params).contains(Signals::ECN) && !Scream::needs(&Params::default()).contains(Signals::ECN));
}

/// §4.2.1.4, §4.2.2.1: from half of 60 ms to all of it a round trip takes from nothing to a half, in as many parts as it has virtual ones; the
/// average rises by a quarter of the difference and falls at once.
#[test]
fn delay_is_answered_in_proportion() {
    let params = Params { competing: false, ..Params::default() };
    for (average_ms, backoff) in [(30.0, 0.0), (45.0, 0.25), (60.0, 0.5), (90.0, 0.5)] {
        // The average is of now, and so stays.
        let state = State {
            qdelay_avg: 1e-3 * average_ms,
            last_update_qdelay_avg_time: Time(1100 * MS),
            ..flow(&params, 100.0)
        };
        let after = at(&params, state, 1100, ack(1100, 0, 200, 200));
        assert_close(after.qdelay, 0.1, 1e-9);
        assert_close(after.ref_wnd, (1.0 - backoff / 8.0) * 100_000.0, 1e-6);
    }
    let state = flow(&params, 100.0);
    let risen = at(&params, state, 1200, ack(1200, 0, 140, 200));
    assert_close(risen.qdelay_avg, 0.01, 1e-9);
    assert_eq!((risen.qdelay_target, risen.ref_wnd), (0.06, state.ref_wnd), "one late packet is none");
    assert_close(at(&params, risen, 1400, ack(1400, 0, 105, 200)).qdelay_avg, 0.005, 1e-9);
}

/// §4.2.1.4, §4.3.1: a delay that varies by 10 ms and more slows growth to a tenth and leaves the lesser overhead.
#[test]
fn a_delay_that_varies_slows_growth() {
    let params = Params { reduce_jitter: true, competing: false, ref_wnd_overhead_max: 3.0, ..Params::default() };
    let mut state = flow(&params, 100.0);
    assert_eq!(Jitter::new(0.06).ref_wnd_overhead(&params), 3.0);
    let mut ms = 1000;
    for turn in 0..400 {
        ms += 25;
        state = at(&params, state, ms, ack(ms, 0, if turn % 2 == 0 { 100 } else { 125 }, 200));
    }
    assert_eq!((state.jitter.ref_wnd_delay_scale, decide(&params, &state).cwnd), (0.0, 150_000));
    let grown = |state: State| at(&params, state, ms + 1, ack(ms + 1, 1, 100, 100)).ref_wnd - state.ref_wnd;
    let steady = State { jitter: Jitter::new(0.06), ..state };
    assert_close(grown(state), 0.1 * grown(steady), 1e-9);
    for _ in 0..800 {
        ms += 25;
        state = at(&params, state, ms, ack(ms, 0, 100, 200));
    }
    assert!(state.jitter.ref_wnd_delay_scale > 0.99, "{:?}", state.jitter);
}

/// One-way delays count where events carry them, and round trips no more.
#[test]
fn one_way_delays_take_over() {
    let params = Params::default();
    let with = |ms: u64, forward_ms: i64| {
        let EventKind::PacketsAcked(frame) = ack(ms, 1, 300, 10) else { unreachable!() };
        EventKind::PacketsAcked(frame.with_one_way(Some(OneWay::new(forward_ms * MS as i64, 0))))
    };
    let state = at(&params, flow(&params, 10.0), 1100, with(1100, -500));
    let state = at(&params, state, 1200, with(1200, -480));
    assert_close(state.qdelay, 0.02, 1e-9);
    assert_close(at(&params, state, 1300, ack(1300, 1, 900, 10)).qdelay, 0.02, 1e-9);
}

/// §4.4: window over RTT, over 1.2, less the overhead of packets; less where the window is a few of them. Paced at half as much again (§4.3.2).
#[test]
fn vectors_of_the_target_bitrate() {
    let params = Params::default();
    let target = |packets: f64| {
        let mut state = flow(&params, packets);
        state.update_target_bitrate(&params, 0.1);
        state.target_bitrate.unwrap()
    };
    let whole = 8e6 / 1.2 * 1000.0 / 1020.0;
    assert_close(target(100.0), whole, 1e-6);
    assert_close(target(4.0), 0.04 * whole * 0.85, 1e-6);
    assert_close(target(1.0), 0.01 * whole * 0.8, 1e-6);
    let state = at(&params, flow(&params, 100.0), 1100, ack(1100, 0, 100, 50));
    let decision = decide(&params, &state);
    assert_eq!((decision.target_rate, decision.pacing_rate), (Some(whole as u64), Some((1.5 * whole) as u64)));
    assert_eq!((decision.cwnd, decide(&Params::paper(), &state).cwnd), (150_000, 300_000));
    let bound = Params { target_bitrate_max: 2.0, ..params };
    let state = at(&bound, state, 1200, ack(1200, 0, 100, 50));
    assert_eq!(decide(&bound, &state).target_rate, Some(2_000_000));
    assert_eq!(at(&bound, state, 1300, ack(1300, 1, 100, 100)).ref_wnd, state.ref_wnd, "no growth at the largest");
}

/// §4.5.4: a delay that stays becomes the target, up to 400 ms; one that falls is followed. (One that does not vary at all
/// is the path's with `base_window`.)
#[test]
fn the_target_of_the_delay_rises_beside_others() {
    let params = Params { path: base_delay::Settings::paper(), ..Params::default() };
    let mut state = flow(&params, 100.0);
    let of = |state: &State| state_variable::<Scream>(&params, state, "qdelay_target_ms");
    let mut ms = 1000;
    for _ in 0..400 {
        ms += 50;
        state = at(&params, state, ms, ack(ms, 1, 250, 100));
    }
    assert!((150.0..200.0).contains(&of(&state)), "{}", of(&state));
    for _ in 0..1000 {
        ms += 50;
        state = at(&params, state, ms, ack(ms, 1, 102, 100));
    }
    assert_eq!(of(&state), 60.0);
    let off = Params { competing: false, ..params };
    let mut state = flow(&off, 100.0);
    for turn in 0..400 {
        state = at(&off, state, 1050 + 50 * turn, ack(1050 + 50 * turn, 1, 250, 100));
    }
    assert_eq!(of(&state), 60.0);
    assert!(state.ref_wnd < 4000.0, "alone it makes room instead: {}", state.ref_wnd);
}

/// `RFC 9002 §7.6.2`.
#[test]
fn persistent_congestion_leaves_the_least_window() {
    let params = Params::default();
    let kind = EventKind::PersistentCongestion(testkit::lost(Time(900 * MS)));
    let state = at(&params, flow(&params, 100.0), 1000, kind);
    assert_eq!((state.ref_wnd, state.recovery.in_recovery()), (3000.0, false));
}

proptest! {
    #![proptest_config(cases(256))]

    /// The window stays between its least and its largest, and the rate above nothing.
    #[test]
    fn the_window_stays_within_its_bounds(script in trace::scripts(50), seed in any::<u64>(), l4s in any::<bool>()) {
        let params = Params { l4s, ..Params::default() };
        let mut wrong = None;
        trace::run::<Scream>(&params, seed, &script, |_, event, after| {
            let decision = decide(&params, after);
            let fits = decision.cwnd as f64 >= (2.0 * after.mtu).floor() && decision.pacing_rate != Some(0);
            #[allow(clippy::eq_op)]
            let sound = after == after && after.ref_wnd <= params.max_window * after.mtu;
            if !(fits && sound) && wrong.is_none() {
                wrong = Some((*event, decision));
            }
        });
        prop_assert!(wrong.is_none(), "{wrong:?}");
    }
}

/// RFC 9959: a window that is set is what the pacing rate sends in a round trip, and fast start ends with what fills the path; once
/// it is acknowledged twice one and a half reference windows may be in flight.
#[test]
fn a_flow_goes_on_with_a_window_that_is_set() {
    let params = Params::default();
    let start = at(&params, Scream::start(&params, &PATH), 100, ack(100, 0, 100, 10));
    let rate = |state: &State| decide(&params, state).pacing_rate.unwrap() as f64;
    let set = at(&params, start, 110, EventKind::WindowSet(WindowSet::new(110_000)));
    assert_eq!(decide(&params, &set).cwnd, 110_000);
    assert_close(rate(&set), 8.8e6, 1e-4);
    let cut = at(&params, set, 120, EventKind::WindowSet(WindowSet::new(60_000)));
    assert_eq!(decide(&params, &cut).cwnd, 60_000);
    assert_close(rate(&cut), 4.8e6, 1e-4);
    let told = at(&params, set, 120, EventKind::WindowSet(WindowSet::new(110_000).with_ssthresh(Some(120_000))));
    // 110, 112.5 and 114.9 kB in a round trip, of 114 that fill the path.
    let grown = at(&params, told, 200, ack(200, 2, 100, 100));
    assert!(grown.in_fast_start && grown.ref_wnd == told.ref_wnd + 2000.0, "{}", grown.ref_wnd);
    let full = at(&params, grown, 201, ack(201, 2, 100, 100));
    assert!(!full.in_fast_start && full.fresh.is_set());
    let later = at(&params, full, 300, ack(300, 220, 100, 100));
    assert_eq!(decide(&params, &later).cwnd, (1.5 * later.ref_wnd) as u64);
}
