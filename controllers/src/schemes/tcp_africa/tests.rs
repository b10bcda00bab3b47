//! `spec: cho §9`. That it is HighSpeed TCP without a queue or without a limit to it, and
//! Reno below 38 packets, is in `tests/it/equivalences.rs`.

use super::*;
use crate::Time;
use crate::event::PacketsAcked;
use crate::parts::window_controller::State;
use crate::parts::window_controller::WindowController;
use crate::testkit::{self, PATH, acked, assert_close, cases, lost, rtt};
use crate::{Controller, EventKind};
use proptest::prelude::*;

type TcpAfrica = WindowController<super::TcpAfrica>;

const BASE: u64 = 100_000;

/// A flow in congestion avoidance at `cwnd` packets that has seen the empty path and whose
/// smoothed RTT is `srtt` microseconds.
fn flow(params: &Params, cwnd: f64, srtt: u64) -> State<super::State> {
    let mut flow = TcpAfrica::start(params, &PATH);
    flow.scheme.min_rtt = Some(Span::from_micros(BASE));
    flow.scheme.rtt.sample(Span::from_micros(srtt));
    flow.window.cwnd = cwnd;
    flow.window.ssthresh = 2.0;
    flow
}

fn ack(params: &Params, flow: State<super::State>, now: u64) -> f64 {
    testkit::step::<TcpAfrica>(params, flow, Time(now), EventKind::PacketsAcked(acked(1, Time(now)))).window.cwnd
}

/// `spec: cho §9`: fast up to α packets in the queue, the limit included.
#[test]
fn fast_while_the_queue_is_short() {
    let params = Params { alpha: 4.0, ..Params::default() };
    // 1000·(srtt − 100 ms)/srtt = 4 at 100.4016 ms.
    let fast = 1000.0 + params.response.a(1000.0) / 1000.0;
    assert_eq!(ack(&params, flow(&params, 1000.0, BASE), 9), fast);
    assert_eq!(ack(&params, flow(&params, 1000.0, 100_401), 9), fast);
    assert_eq!(ack(&params, flow(&params, 1000.0, 100_402), 9), 1000.001);
    // Exactly: 16·(125 − 100)/125 = 3.2.
    let exact = Params {
        alpha: 3.2,
        response: Response { low_window: 8.0, low_p: 1.5 / 64.0, ..Default::default() },
        ..params
    };
    assert!(ack(&exact, flow(&exact, 16.0, 125_000), 9) > 16.0 + 1.0 / 16.0);
    let below = Params { alpha: 3.19, ..exact };
    assert_eq!(ack(&below, flow(&below, 16.0, 125_000), 9), 16.0 + 1.0 / 16.0);
}

/// `spec: cho §9`: the decrease is HighSpeed TCP's in both modes, Reno's up to 38 packets.
#[test]
fn the_decrease_is_that_of_the_window() {
    let params = Params::default();
    for srtt in [BASE, 2 * BASE] {
        let lose = |cwnd| {
            let kind = EventKind::PacketsLost(lost(Time(5)));
            testkit::step::<TcpAfrica>(&params, flow(&params, cwnd, srtt), Time(6), kind).window
        };
        assert_eq!((lose(38.0).cwnd, lose(38.0).ssthresh), (19.0, 19.0));
        assert_close(lose(83_000.0).cwnd, 74_700.0, 1e-9);
        assert_close(lose(1058.0).cwnd, 1058.0 * (1.0 - params.response.b(1058.0)), 1e-12);
    }
}

/// The queue is measured against the least sample, not the least average.
#[test]
fn the_empty_path_is_the_least_sample() {
    let params = Params::default();
    let mut flow = TcpAfrica::start(&params, &PATH);
    for (at, us) in [(1, 150_000), (2, 100_000), (3, 150_000)] {
        let sample = PacketsAcked { rtt: Some(rtt(Span::from_micros(us))), app_limited: true, ..acked(1, Time(at)) };
        flow = testkit::step::<TcpAfrica>(&params, flow, Time(at), EventKind::PacketsAcked(sample));
    }
    assert_eq!(flow.scheme.min_rtt, Some(Span::from_micros(100_000)));
    let srtt: f64 = 150_000.0 - 50_000.0 * 0.125 + 6_250.0 * 0.125;
    assert_close(flow.scheme.rtt.value().unwrap(), srtt, 1e-12);
    flow.window.cwnd = 100.0;
    assert_close(testkit::state_variable::<TcpAfrica>(&params, &flow, "queued"), 100.0 * (srtt - 1e5) / srtt, 1e-12);
    assert_eq!(testkit::state_variable::<TcpAfrica>(&params, &flow, "fast_mode"), 0.0);
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// It never grows less than Reno, nor more than HighSpeed TCP, and more queueing never
    /// makes it grow more.
    #[test]
    fn between_reno_and_highspeed(cwnd in 2.0..1e5f64, queued in 0u64..200_000, more in 0u64..200_000) {
        let params = Params::default();
        let added = |queued| ack(&params, flow(&params, cwnd, BASE + queued), 9) - cwnd;
        let (one, other) = (added(queued), added(queued + more));
        prop_assert!(other <= one);
        let (reno, fast) = (1.0 / cwnd, params.response.a(cwnd) / cwnd);
        for added in [one, other] {
            prop_assert!(added >= reno - 1e-9 && added <= fast * 1.001 + 1e-9, "{reno} {added} {fast}");
        }
    }
}
