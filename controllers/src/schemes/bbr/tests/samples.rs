//! RTT samples and what ProbeRTT makes of them (§5.3.4); ACKs without a sample of the rate.

use super::*;
use crate::param::Parameters;

/// §5.3.4.3.
#[test]
fn the_minimum_rtt_is_looked_for_every_five_seconds() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwCruise);
    state.bw_probe_wait = Span::from_millis(100_000);
    state.rounds_since_probe_up = 0;
    let slow = |frame: &mut PacketsAcked| frame.rtt = Some(testkit::rtt(Span::from_millis(110)));
    state = acks(&params, state, 6000, slow);
    assert_eq!(state.state, BbrState::ProbeBwCruise, "five seconds are not more than five");
    state = acks(&params, state, 6001, slow);
    assert_eq!(state.state, BbrState::ProbeRtt);
    assert_eq!(state.cwnd, 50.0 * PACKET);
    assert_eq!(state.min_rtt, Span::from_millis(100), "still believed");
    let low = |frame: &mut PacketsAcked| frame.in_flight = 50 * u64::from(MTU);
    state = acks(&params, state, 6100, low);
    for ms in [6200, 6300] {
        state = acks(&params, state, ms, low);
        assert_eq!(state.state, BbrState::ProbeRtt, "{ms}");
    }
    state = acks(&params, state, 6301, low);
    assert_eq!(state.state, BbrState::ProbeBwCruise);
    assert!(state.cwnd >= 200.0 * PACKET, "the window is restored: {}", state.cwnd / PACKET);
    assert_eq!(state.probe_rtt_min_stamp, Time(6301 * MS));
}

/// §5.3.4.3 `MarkConnectionAppLimited`: what leaves in ProbeRTT says nothing of the path.
#[test]
fn samples_of_probe_rtt_do_not_count_as_the_paths() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwCruise);
    state = acks(&params, state, 6100, |frame| frame.rtt = Some(testkit::rtt(Span::from_millis(110))));
    assert_eq!(state.state, BbrState::ProbeRtt);
    let frame = ack(6200, state.delivered);
    assert!(Ack::of(&state, Time(6200 * MS), &frame).sample.app_limited);
    let frame = ack(6200, state.delivered - 1);
    assert!(!Ack::of(&state, Time(6200 * MS), &frame).sample.app_limited, "left before");
}

/// §5.3.4.3: `RS.rtt` is the frame's, also where marks or losses of the frame come ahead of its acknowledgements.
#[test]
fn a_frame_with_marks_replaces_an_expired_minimum_rtt() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwCruise);
    for ms in [6001, 11_001] {
        state = step(&params, state, ms, EventKind::RttSampled(testkit::rtt(Span::from_millis(180))));
        state = step(&params, state, ms, EventKind::EcnCe(testkit::marked(Time((ms - 100) * MS))));
        state = acks(&params, state, ms, |frame| frame.rtt = None);
    }
    assert_eq!((state.min_rtt, state.rtt_ahead), (Span::from_millis(180), NO_RTT));
}

/// §5.3.4.3: what never was cannot expire, so that a flow whose first ACK takes six seconds is not in ProbeRTT with it.
#[test]
fn a_first_rtt_sample_that_comes_late_is_no_expired_one() {
    for params in [Params::default(), Params::paper()] {
        let state = acks(&params, Bbr::start(&params, &PATH), 6100, |_| {});
        assert_eq!((state.state, state.min_rtt), (BbrState::Startup, Span::from_millis(100)));
        assert_eq!((state.min_rtt_stamp, state.probe_rtt_min_stamp), (Time(6100 * MS), Time(6100 * MS)));
    }
}

/// The bandwidth fell to a tenth and the minimum RTT expires with the ACK that begins ProbeRTT: half of what was then
/// in flight would leave the queue standing.
#[test]
fn probe_rtt_halves_the_product_of_the_rate_and_the_delay_before_it() {
    for (params, packets) in [(Params::default(), 5.0), (Params::paper(), 155.0)] {
        let mut state = cruising(&params, BbrState::ProbeBwCruise);
        state.cwnd = 1000.0 * PACKET;
        state.bw_probe_wait = Span::from_millis(100_000);
        state.probe_rtt_min_delay = Span::from_millis(300);
        state.probe_rtt_min_stamp = Time(6000 * MS);
        let slow = |frame: &mut PacketsAcked| {
            frame.rtt = Some(testkit::rtt(Span::from_millis(310)));
            // 40 packets in 400 ms.
            frame.delivered -= 60 * u64::from(MTU);
            frame.delivery.as_mut().unwrap().delivered_at = Time(10_601 * MS);
        };
        let state = acks(&params, state, 11_001, slow);
        assert_eq!((state.state, state.min_rtt), (BbrState::ProbeRtt, Span::from_millis(310)));
        testkit::assert_close(state.probe_rtt_cwnd(&params), packets * PACKET, 1e-9);
    }
}

/// §2.2 `C.is_cwnd_limited`: at any point in the last round trip, so that one ACK that finds room does not end it.
#[test]
fn a_flow_is_limited_by_its_window_for_a_round_trip() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwUp);
    (state.cwnd, state.inflight_longterm) = (100.0 * PACKET, 100.0 * PACKET);
    let room = |frame: &mut PacketsAcked| frame.in_flight_before = 50 * u64::from(MTU);
    state = acks(&params, state, 1300, |_| {});
    state = acks(&params, state, 1310, |frame| {
        room(frame);
        frame.delivery.as_mut().unwrap().delivered -= 1000;
    });
    assert_eq!(state.cwnd_limited, (true, false));
    state = acks(&params, state, 1400, room);
    assert_eq!(state.cwnd_limited, (false, true));
    state = acks(&params, state, 1500, room);
    assert_eq!(state.cwnd_limited, (false, false));
}

/// §5.5.10.2: a loss is judged by the next sample, not by the next ACK, which may be of older packets only.
#[test]
fn an_ack_without_a_sample_does_not_judge_a_loss() {
    let params = Params::default();
    let mut state = acks(&params, probing(&params, BbrState::ProbeBwUp), 1300, |frame| frame.delivery = None);
    assert_eq!((state.state, state.inflight_longterm), (BbrState::ProbeBwUp, f64::INFINITY));
    state = acks(&params, state, 1310, three_lost);
    assert_eq!((state.state, state.inflight_longterm), (BbrState::ProbeBwDown, 100.0 * PACKET));
}

/// §5.2.4: every packet marked as lost goes through `HandleLostPacket`, those of persistent congestion, too.
#[test]
fn persistent_congestion_of_a_probe_bounds_what_is_in_flight() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwUp);
    state.is_bw_probe_sample = true;
    state = step(&params, state, 1250, EventKind::PersistentCongestion(lost(Time(1150 * MS))));
    assert_eq!(state.loss_events, 1);
    state = acks(&params, state, 1300, three_lost);
    assert_eq!((state.state, state.prev_probe_too_high), (BbrState::ProbeBwDown, true));
}
