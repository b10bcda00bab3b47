//! What a spurious loss gives back (§5.5.11).

use super::*;
use crate::param::Parameters;

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
