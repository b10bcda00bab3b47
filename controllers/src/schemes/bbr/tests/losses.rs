//! What losses and marks do, and what a spurious loss gives back (§5.5.11).

use super::*;
use crate::param::Parameters;

/// §5.5.10.2.
#[test]
fn too_much_loss_in_a_probe_bounds_what_is_in_flight() {
    let params = Params::default();
    let state = acks(&params, probing(&params, BbrState::ProbeBwUp), 1300, three_lost);
    assert_eq!(
        (state.state, state.prev_probe_too_high, state.is_bw_probe_sample),
        (BbrState::ProbeBwDown, true, false)
    );
    assert_eq!(state.inflight_longterm, 100.0 * PACKET, "what was in flight");
    let state = acks(&params, probing(&params, BbrState::ProbeBwUp), 1300, |frame| {
        three_lost(frame);
        frame.newest_in_flight = Some(50 * u64::from(MTU));
    });
    assert_eq!(state.inflight_longterm, 0.7 * 100.0 * PACKET, "but β of the target");
    let state = acks(&params, probing(&params, BbrState::ProbeBwUp), 1300, |frame| {
        frame.delivery.as_mut().unwrap().lost = 2 * u64::from(MTU);
    });
    assert_eq!((state.state, state.inflight_longterm), (BbrState::ProbeBwUp, f64::INFINITY), "two per cent are borne");
    let state = acks(&params, cruising(&params, BbrState::ProbeBwCruise), 1300, three_lost);
    assert_eq!(state.inflight_longterm, f64::INFINITY, "only in a probe");
}

/// §5.3.3.6: the probe after one that lost too much ends at the bound, and the next
/// follows at once.
#[test]
fn probing_after_loss_is_cautious() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwUp);
    state.prev_probe_too_high = true;
    state.inflight_longterm = 100.0 * PACKET;
    state.cwnd = 100.0 * PACKET;
    state.next_round_delivered = u64::MAX;
    state = acks(&params, state, 1300, |_| {});
    assert_eq!(
        (state.state, state.prev_probe_precautionary, state.prev_probe_too_high),
        (BbrState::ProbeBwDown, true, false)
    );
    state = acks(&params, state, 1400, |_| {});
    assert_eq!((state.state, state.prev_probe_precautionary), (BbrState::ProbeBwRefill, false));
}

/// §5.3.3.5: 1, 2, 4 … packets per round while the bound is what holds the flow back.
#[test]
fn the_bound_grows_double_each_round() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwUp);
    state.inflight_longterm = 100.0 * PACKET;
    state.cwnd = 100.0 * PACKET;
    state.probe_up_acked_per_inc = 100.0 * PACKET;
    state.bw_probe_up_rounds = 1;
    let mut bounds = std::vec::Vec::new();
    for round in 0..4u64 {
        state = acks(&params, state, 1300 + 100 * round, |frame| {
            // A whole window is acknowledged, and was in use.
            frame.bytes = state.cwnd as u64;
            frame.in_flight_before = state.cwnd as u64;
            frame.in_flight = 0;
            frame.newest_in_flight = Some(0);
        });
        bounds.push((state.inflight_longterm / PACKET) as u32);
    }
    assert_eq!(bounds, [101, 103, 107, 115]);
}

/// §5.5.10.3: once per round, towards what was delivered, β at most.
#[test]
fn losses_outside_probes_lower_the_short_term_bounds() {
    let params = Params::default();
    let mut state = cruising(&params, BbrState::ProbeBwCruise);
    state = lose(&params, state, 1250);
    assert_eq!(state.bw_shortterm, f64::INFINITY, "not before the round is over");
    state = acks(&params, state, 1300, |frame| frame.delivered -= 50_000);
    assert_eq!((state.bw_shortterm, state.inflight_shortterm), (700_000.0, 140.0 * PACKET));
    assert_eq!(state.cwnd, 140.0 * PACKET);
    state = lose(&params, state, 1350);
    state = acks(&params, state, 1400, |_| {});
    assert_eq!(state.bw_shortterm, 1_000_000.0, "what was delivered, if more");
    let refilled = {
        state.bw_probe_wait = Span::ZERO;
        acks(&params, state, 1500, |_| {})
    };
    assert_eq!((refilled.state, refilled.bw_shortterm), (BbrState::ProbeBwRefill, f64::INFINITY), "REFILL forgets");
}

#[test]
fn marks_are_answered_as_losses_are() {
    let params = Params::default();
    let state = cruising(&params, BbrState::ProbeBwCruise);
    let marked = step(&params, state, 1250, EventKind::EcnCe(testkit::marked(Time(1150 * MS))));
    assert!(marked.is_loss_in_round);
    assert_eq!(acks(&params, marked, 1300, |frame| frame.delivered -= 50_000).bw_shortterm, 700_000.0);
}

/// §5.6.4.4.
#[test]
fn persistent_congestion_leaves_the_least_and_recovers_at_once() {
    let params = Params::default();
    let state = cruising(&params, BbrState::ProbeBwCruise);
    let mut after = step(&params, state, 1300, EventKind::PersistentCongestion(lost(Time(1200 * MS))));
    assert_eq!(after.cwnd, 10.0 * PACKET, "nine in flight and one");
    after = step(
        &params,
        after,
        1500,
        EventKind::PacketsAcked(PacketsAcked { newest_sent_at: Time(1400 * MS), ..ack(1500, after.delivered) }),
    );
    assert!(after.cwnd >= 0.7 * 200.0 * PACKET, "{}", after.cwnd);
}

fn spurious(params: &Params, state: State, ms: u64, newest_sent_ms: u64) -> State {
    let newest_sent_at = Time(newest_sent_ms * MS);
    step(params, state, ms, EventKind::SpuriousLoss(SpuriousLoss { newest_sent_at }))
}

/// §5.5.11.2.
#[test]
fn an_unfounded_end_of_a_probe_is_taken_back() {
    let params = Params::default();
    let state = acks(&params, probing(&params, BbrState::ProbeBwUp), 1300, three_lost);
    let back = spurious(&params, state, 1310, 1150);
    assert_eq!((back.state, back.inflight_longterm), (BbrState::ProbeBwRefill, f64::INFINITY));
}

/// §5.5.11 saves the state when a loss recovery episode starts; §5.5.10.2 `NoteLoss` once more with the first loss after
/// the end of the probe, when the bound is cut already.
#[test]
fn a_second_loss_of_an_episode_does_not_save_what_the_first_one_cut() {
    for (params, bound, mode) in [
        (Params::default(), f64::INFINITY, BbrState::ProbeBwRefill),
        (Params::paper(), 100.0 * PACKET, BbrState::ProbeBwDown),
    ] {
        let mut state = acks(&params, probing(&params, BbrState::ProbeBwUp), 1300, |frame| {
            three_lost(frame);
            frame.in_flight = 150 * u64::from(MTU);
        });
        assert_eq!((state.state, state.inflight_longterm), (BbrState::ProbeBwDown, 100.0 * PACKET));
        // Of the same flight: it left before the first loss was found, at 1250 ms.
        state = lose(&params, state, 1310);
        state = spurious(&params, state, 1320, 1210);
        assert_eq!((state.inflight_longterm, state.state), (bound, mode));
    }
}

/// §5.5.11.2: losses of the flight of an episode that proved spurious may prove so too.
#[test]
fn an_episode_may_be_spurious_twice() {
    let params = Params::default();
    let state = acks(&params, probing(&params, BbrState::ProbeBwUp), 1300, three_lost);
    let mut state = spurious(&params, state, 1310, 1150);
    state.state = BbrState::ProbeBwUp;
    state.is_bw_probe_sample = true;
    let state = acks(&params, lose(&params, state, 1320), 1330, three_lost);
    assert_eq!(state.state, BbrState::ProbeBwDown);
    let state = spurious(&params, state, 1340, 1220);
    assert_eq!((state.state, state.inflight_longterm), (BbrState::ProbeBwRefill, f64::INFINITY));
}
