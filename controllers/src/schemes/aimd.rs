#![doc = include_str!("aimd.md")]

use crate::parts::base::Base;
use crate::parts::recovery::Response;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Aimd`]: `aimd:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        /// Added per window of acknowledged packets.
        a: f64 = 32.0, in 0.01, 10_000.0, unit "packets", source "spec: sharma §2";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.01, 0.99, source "spec: sharma §2";
    }
}

/// AIMD(a, b): additive increase, multiplicative decrease (`spec: sharma §2`).
#[derive(Debug)]
pub struct Aimd;

impl WindowScheme for Aimd {
    const INFO: Info = Info {
        name: "aimd",
        summary: "adds a packets per round trip, gives up the fraction b on congestion",
        source: "spec: sharma §2",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: sharma §2 T-1b`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.params.a * acked / flow.cwnd
    }

    /// `spec: sharma §2`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to((1.0 - flow.params.b) * flow.cwnd)
    }
}

#[cfg(test)]
mod tests {
    //! `spec: sharma §2`, extra baseline.

    use proptest::prelude::*;

    use super::*;
    use crate::parts::window_controller::WindowController;
    use crate::testkit::{self, PATH, acked, assert_close, cases};
    use crate::{Controller, EventKind, Parameters, Time};

    type Aimd = WindowController<super::Aimd>;

    type State = <Aimd as Controller>::State;

    fn state(params: &Params, cwnd: f64) -> State {
        let mut state = Aimd::start(params, &PATH);
        state.window.cwnd = cwnd;
        state.window.ssthresh = 2.0;
        state
    }

    fn ack(params: &Params, state: State, now: u64) -> State {
        testkit::step::<Aimd>(params, state, Time(now), EventKind::PacketsAcked(acked(1, Time(now - 1))))
    }

    fn lose(params: &Params, state: State, now: u64) -> State {
        testkit::step::<Aimd>(params, state, Time(now), EventKind::PacketsLost(testkit::lost(Time(now - 1))))
    }

    #[test]
    fn both_profiles_are_aimd_of_32_and_an_eighth() {
        for params in [Params::default(), Params::paper()] {
            assert_eq!((params.a, params.b), (32.0, 0.125));
        }
        assert!(Params::paper().base.start_up.first_halving && Params::paper().base.start_up.lss == 100.0);
    }

    #[test]
    fn a_packet_adds_a_share_of_a() {
        let params = Params::default();
        assert_close(ack(&params, state(&params, 1000.0), 5).window.cwnd, 1000.032, 1e-12);
        assert_close(ack(&params, state(&params, 10.0), 5).window.cwnd, 13.2, 1e-12);
    }

    /// The mean over a period of losses every 1/p packets is `sqrt(a(2−b)/(2bp))`. Time runs
    /// in round trips: each packet lasts 1/w.
    #[test]
    fn the_mean_window_follows_the_response_function() {
        for (a, b, packets) in [(32.0, 0.125, 20_000u64), (1.0, 0.5, 20_000), (4.0, 0.25, 40_000)] {
            let params = Params { a, b, ..Params::default() };
            let (mut flow, mut now) = (state(&params, 500.0), 10);
            let mut mean = 0.0;
            for _ in 0..100 {
                let mut trips = 0.0;
                for _ in 0..packets {
                    now += 2;
                    trips += 1.0 / flow.window.cwnd;
                    flow = ack(&params, flow, now);
                }
                mean = packets as f64 / trips;
                now += 2;
                flow = lose(&params, flow, now);
            }
            assert_close(mean, libm::sqrt(a * (2.0 - b) * packets as f64 / (2.0 * b)), 5e-3);
        }
    }

    proptest! {
        #![proptest_config(cases(10_000))]

        #[test]
        fn congestion_takes_b(w in 3.0..67_000.0f64, b in 0.01..0.99f64) {
            let params = Params { b, ..Params::default() };
            prop_assert_eq!(lose(&params, state(&params, w), 5).window.cwnd, ((1.0 - b) * w).max(2.0));
        }

        /// `spec: sharma §2`, invariants (i), for any a: a window of packets adds no more
        /// than a, and no less than a window of the size it ends at would.
        #[test]
        fn a_window_of_packets_adds_a(w in 2..2000u32, a in 0.1..100.0f64) {
            let params = Params { a, ..Params::default() };
            let mut flow = state(&params, f64::from(w));
            for i in 0..w {
                flow = ack(&params, flow, 5 + u64::from(i));
            }
            let (w, end) = (f64::from(w), flow.window.cwnd);
            prop_assert!(end - w <= a + 1e-6);
            prop_assert!(end - w >= a * w / end - 1e-6);
        }
    }
}
