//! `spec: arumaithurai §6.6, §10`.

use proptest::prelude::*;

use super::*;
use crate::Controller;
use crate::event::PacketsAcked;
use crate::parts::window_controller::WindowController;
use crate::schemes::reno;
use crate::testkit::pipe::Pipe;
use crate::testkit::{self, PATH, acked, assert_close, cases, lost, rtt, state_variable};

type Ctcp = WindowController<super::Ctcp>;

type State = <Ctcp as Controller>::State;

const MS: u64 = 1_000_000;

fn state(params: &Params, cwnd: f64, dwnd: f64) -> State {
    let mut state = Ctcp::start(params, &PATH);
    state.window.cwnd = cwnd;
    state.window.ssthresh = 2.0;
    state.scheme.dwnd.current = dwnd;
    state
}

/// ACKs of single packets with these RTTs; the first ends the round trip before.
fn round(params: &Params, mut state: State, now: &mut u64, rtts: &[u64]) -> State {
    let sent_at = Time(*now + 1);
    for ms in rtts {
        *now += 10;
        let ack = PacketsAcked { rtt: Some(rtt(Span(ms * MS))), ..acked(1, sent_at) };
        state = testkit::step::<Ctcp>(params, state, Time(*now), EventKind::PacketsAcked(ack));
    }
    state
}

/// The vector of `spec: arumaithurai §10`.
#[test]
fn without_a_queue_a_thousand_packets_gain_twenty_one() {
    assert_close(Params::default().next_dwnd(0.0, 1000.0, 0.0), 21.2285, 1e-6);
    assert_eq!(Params::default().next_dwnd(5.0, 16.0, 0.0), 5.0, "16 packets and fewer are Reno's");
    assert_eq!(Params::default().next_dwnd(5.0, 1000.0, 30.0), 0.0);
    assert_eq!(Params::default().next_dwnd(50.0, 1000.0, 30.0), 20.0, "as much as is queued");
}

#[test]
fn a_round_trip_is_judged_by_its_smallest_sample_and_only_with_three() {
    let params = Params::default();
    let mut now = 0;
    let start = round(&params, state(&params, 1000.0, 0.0), &mut now, &[100, 100, 100]);
    assert_eq!(state_variable::<Ctcp>(&params, &start, "dwnd"), 0.0, "nothing was known when the first ACK came");
    let after = round(&params, start, &mut now, &[150, 120, 150]);
    assert!((21.0..22.0).contains(&state_variable::<Ctcp>(&params, &after, "dwnd")));
    // The round trip of 120 ms: a sixth of the window was queued.
    let after = round(&params, after, &mut now, &[100, 100]);
    assert_eq!(state_variable::<Ctcp>(&params, &after, "dwnd"), 0.0);
    let after = round(&params, after, &mut now, &[100, 100, 100]);
    assert_eq!(state_variable::<Ctcp>(&params, &after, "dwnd"), 0.0, "two samples judge nothing");
    let after = round(&params, after, &mut now, &[100, 100, 100]);
    assert!(state_variable::<Ctcp>(&params, &after, "dwnd") > 21.0);
}

#[test]
fn an_unused_window_gains_nothing() {
    let params = Params::default();
    let mut now = 0;
    let mut state = round(&params, state(&params, 1000.0, 0.0), &mut now, &[100, 100, 100]);
    let idle = PacketsAcked { app_limited: true, ..acked(1, Time(now + 1)) };
    state = testkit::step::<Ctcp>(&params, state, Time(now + 10), EventKind::PacketsAcked(idle));
    state = testkit::step::<Ctcp>(&params, state, Time(now + 11), EventKind::PacketsAcked(acked(1, Time(1))));
    assert_eq!(state.scheme.dwnd.current, 0.0);
}

#[test]
fn a_loss_halves_the_sum_and_reno_s_share_of_it() {
    let params = Params::default();
    let cut = |dwnd, beta| {
        let params = Params { beta, ..params };
        testkit::step::<Ctcp>(&params, state(&params, 100.0, dwnd), Time(50), EventKind::PacketsLost(lost(Time(40))))
    };
    let after = cut(60.0, 0.5);
    assert_eq!((after.window.cwnd, after.scheme.dwnd.current), (50.0, 30.0));
    let after = cut(0.0, 0.7);
    assert_eq!((after.window.cwnd, after.scheme.dwnd.current), (50.0, 0.0), "no more than Reno gives up");
    let after = cut(100.0, 0.125);
    assert_eq!((after.window.cwnd, after.scheme.dwnd.current), (87.5, 86.5), "two packets were Reno's");
    let undone = testkit::step::<Ctcp>(
        &params,
        cut(60.0, 0.5),
        Time(60),
        EventKind::SpuriousLoss(crate::event::SpuriousLoss { newest_sent_at: Time(40) }),
    );
    assert_eq!((undone.window.cwnd, undone.scheme.dwnd.current), (100.0, 60.0));
}

#[test]
fn a_timeout_leaves_reno() {
    let params = Params::default();
    let after = testkit::step::<Ctcp>(
        &params,
        state(&params, 100.0, 60.0),
        Time(50),
        EventKind::PersistentCongestion(lost(Time(40))),
    );
    assert_eq!((after.window.cwnd, after.window.ssthresh, after.scheme.dwnd.current), (2.0, 50.0, 0.0));
}

/// A thousand packets fit into the path: Reno needs 900 round trips for them, the delay
/// window a few dozen. Then the queue holds gamma and little more.
#[test]
fn a_long_path_is_filled_in_a_few_round_trips_and_the_queue_stays_small() {
    let pipe = Pipe { service: 100_000, base: 100 * MS, every: 2 };
    let params = Params::default();
    let mut filled = None;
    let (mut acks, mut most) = (0u32, 0.0f64);
    pipe.run::<Ctcp>(&params, state(&params, 100.0, 0.0), 60_000, |moment| {
        acks += 1;
        if moment.in_flight >= pipe.capacity() && filled.is_none() {
            filled = Some(acks);
        }
        if filled.is_some() {
            most = most.max(moment.in_flight - pipe.capacity());
        }
    });
    // ACKs of two packets; Reno's would be a quarter of a million.
    assert!(filled.is_some_and(|acks| acks < 20_000), "{filled:?}");
    assert!(most < 150.0, "{most}");
}

proptest! {
    #![proptest_config(cases(2000))]

    /// The windows are never negative, and the sum never below what Reno's share alone
    /// would be.
    #[test]
    fn both_windows_are_windows(script in testkit::trace::scripts(40), dwnd in 0.0..500.0f64) {
        let params = Params { samples: 1, gamma: dwnd / 10.0, ..Params::default() };
        let mut sound = true;
        testkit::trace::run::<Ctcp>(&params, 1, &script, |_, _, after| {
            sound &= after.scheme.dwnd.current >= 0.0
                && after.scheme.dwnd(&params, after.window.cwnd) <= after.window.cwnd
                && after.window.cwnd >= 2.0;
        });
        prop_assert!(sound);
    }

    /// With a queue it is Reno: a backlog above gamma leaves the delay window empty.
    #[test]
    fn with_gamma_zero_it_is_reno(script in testkit::trace::scripts(40)) {
        let params = testkit::unbounded(Params { gamma: 0.0, ..Params::default() });
        let ctcp = testkit::trace::run::<Ctcp>(&params, 1, &script, |_, _, _| {});
        let reno = testkit::trace::run::<WindowController<reno::Reno>>(&reno::Params { base: params.base }, 1, &script, |_, _, _| {});
        prop_assert_eq!(ctcp.window, reno.window);
    }
}
