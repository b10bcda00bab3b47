#![doc = include_str!("scalable.md")]

use crate::parts::base::Base;
use crate::parts::recovery::Response;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Scalable`]: `scalable:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::sharma_limited();
        /// Added per acknowledged packet above the low window.
        a: f64 = 0.01, in 0.0001, 1.0, unit "packets", source "spec: sharma §4 T-6";
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.01, 0.99, source "spec: sharma §4 T-7";
        /// Window up to which it is Reno.
        low_window: f64 = 16.0, in 1.0, 1000.0, unit "packets", source "spec: sharma §4";
    }
}

/// Scalable TCP (`spec: sharma §4`).
#[derive(Debug)]
pub struct Scalable;

impl WindowScheme for Scalable {
    const INFO: Info = Info {
        name: "scalable",
        summary: "grows by a fixed share of the window per round trip, gives up an eighth",
        source: "spec: sharma §4",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: sharma §4 T-6`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.cwnd > flow.params.low_window { flow.params.a * acked } else { acked / flow.cwnd }
    }

    /// `spec: sharma §4 T-7`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let b = if flow.cwnd > flow.params.low_window { flow.params.b } else { 0.5 };
        Response::to((1.0 - b) * flow.cwnd)
    }
}

#[cfg(test)]
mod tests {
    //! `spec: sharma §4`.

    use proptest::prelude::*;

    use super::*;
    use crate::Time;
    use crate::parts::limits::Limits;
    use crate::parts::window_controller::WindowController;
    use crate::testkit::{self, PATH, acked, assert_close, cases};
    use crate::{Controller, EventKind, Parameters, Span};

    type Scalable = WindowController<super::Scalable>;

    type State = <Scalable as Controller>::State;

    /// The document's values without its platform's start-up rules.
    fn sharma() -> Params {
        Params { base: Limits::sharma().into(), ..Params::paper() }
    }

    fn state(params: &Params, cwnd: f64) -> State {
        let mut state = Scalable::start(params, &PATH);
        state.window.cwnd = cwnd;
        state.window.ssthresh = 2.0;
        state
    }

    fn ack(params: &Params, state: State, packets: u32) -> State {
        testkit::step::<Scalable>(params, state, Time(2000), EventKind::PacketsAcked(acked(packets, Time(1500))))
    }

    fn lose(params: &Params, state: State) -> State {
        testkit::step::<Scalable>(params, state, Time(1000), EventKind::PacketsLost(testkit::lost(Time(500))))
    }

    /// How many windows of ACKs lead from `from` packets to `to`.
    fn round_trips(params: &Params, from: f64, to: f64) -> f64 {
        let rtt = Span::from_millis(10);
        let (mut flow, mut trips) = (state(params, from), 0.0);
        loop {
            let before = flow.window.cwnd;
            let now = Time(trips as u64 * rtt.0);
            flow = testkit::clocked::<super::Scalable>(params, flow, now, now + rtt, rtt);
            if flow.window.cwnd >= to {
                return trips + libm::log(to / before) / libm::log(flow.window.cwnd / before);
            }
            trips += 1.0;
        }
    }

    #[test]
    fn profiles_are_those_of_the_document() {
        let (paper, quic) = (Params::paper(), Params::default());
        for params in [paper, quic] {
            assert_eq!((params.a, params.b, params.low_window), (0.01, 0.125, 16.0));
        }
        assert_eq!(
            (paper.base.start_up.lss, paper.base.start_up.first_halving, paper.base.limits.iw),
            (100.0, true, 2.0)
        );
        assert_eq!((quic.base.start_up.lss, quic.base.start_up.first_halving, quic.base.limits.iw), (0.0, false, 10.0));
    }

    /// T-6, T-7 on both sides of the low window, which itself is Reno's.
    #[test]
    fn up_to_the_low_window_it_is_reno() {
        let params = sharma();
        for (w, added, kept) in
            [(8.0, 1.0 / 8.0, 0.5), (16.0, 1.0 / 16.0, 0.5), (16.001, 0.01, 0.875), (1e4, 0.01, 0.875)]
        {
            assert_close(ack(&params, state(&params, w), 1).window.cwnd - w, added, 1e-11);
            assert_eq!(lose(&params, state(&params, w)).window.cwnd, kept * w);
        }
    }

    /// `spec: sharma §4`, corner cases: one decrease leads from its own mode to Reno's.
    #[test]
    fn a_decrease_just_above_the_low_window_leads_below_it() {
        let params = sharma();
        let flow = lose(&params, state(&params, 16.5));
        assert_eq!((flow.window.cwnd, flow.window.ssthresh), (14.4375, 14.4375));
        let flow = ack(&params, ack(&params, flow, 1), 1);
        assert_close(flow.window.cwnd, 14.4375 + 1.0 / 14.4375, 1e-12);
    }

    /// `spec: sharma §1.6, §1.7`: the floor under the increment and the first halving, each
    /// until the first reduction.
    #[test]
    fn the_platforms_start_up_ends_with_the_first_reduction() {
        let params = Params::paper();
        let flow = state(&params, 1000.0);
        assert_close(ack(&params, flow, 1).window.cwnd, 1000.05, 1e-12);
        assert_close(ack(&params, state(&params, 7000.0), 1).window.cwnd, 7000.01, 1e-12);
        let flow = lose(&params, flow);
        assert_eq!(flow.window.cwnd, 500.0);
        let flow = ack(&params, ack(&params, flow, 1), 1);
        assert_close(flow.window.cwnd, 500.01, 1e-12);
        let flow =
            testkit::step::<Scalable>(&params, flow, Time(3000), EventKind::PacketsLost(testkit::lost(Time(2500))));
        assert_close(flow.window.cwnd, 0.875 * 500.01, 1e-12);
    }

    /// `spec: sharma §4`: ln 2 / ln 1.01 round trips to double, −ln 0.875 / ln 1.01 to
    /// recover, wherever it starts. An ACK-clocked window compounds within the round trip,
    /// which the document's figures do not: e^0.01 per round trip instead of 1.01.
    #[test]
    fn doubling_and_recovery_take_the_documented_round_trips() {
        let params = sharma();
        for w in [200.0, 1000.0, 5000.0] {
            assert_close(round_trips(&params, w, 2.0 * w), 69.66, 0.01);
            assert_close(round_trips(&params, 0.875 * w, w), 13.42, 0.01);
        }
    }

    /// `spec: sharma §4`: the peak window is 0.08/p and the mean one 0.0749/p. A loss every 1/p
    /// packets from W to W; a packet takes 1/W of a round trip.
    #[test]
    fn the_peak_and_mean_windows_follow_the_response_function() {
        let params = sharma();
        let (mut flow, mut now) = (state(&params, 300.0), 10_000);
        let (mut peak, mut mean) = (0.0, 0.0);
        for _ in 0..200 {
            let mut trips = 0.0;
            for _ in 0..12_500 {
                now += 1;
                trips += 1.0 / flow.window.cwnd;
                flow = testkit::step::<Scalable>(
                    &params,
                    flow,
                    Time(now),
                    EventKind::PacketsAcked(acked(1, Time(now - 1))),
                );
            }
            (peak, mean) = (flow.window.cwnd, 12_500.0 / trips);
            now += 10;
            flow = testkit::step::<Scalable>(
                &params,
                flow,
                Time(now),
                EventKind::PacketsLost(testkit::lost(Time(now - 1))),
            );
            now += 10;
        }
        assert_close(peak, 0.08 * 12_500.0, 1e-3);
        assert_close(mean, 0.0749 * 12_500.0, 1e-3);
    }

    proptest! {
        #![proptest_config(cases(10_000))]

        /// `spec: sharma §4`, invariants.
        #[test]
        fn a_decrease_keeps_seven_eighths_exactly(w in 16.0001..67_000.0f64, quic: bool) {
            let params = if quic { Params::default() } else { sharma() };
            prop_assert_eq!(lose(&params, state(&params, w)).window.cwnd, 0.875 * w);
        }

        /// `spec: sharma §4`, invariants: 1 % per window of packets, however they are
        /// acknowledged.
        #[test]
        fn a_window_of_packets_adds_one_percent(w in 100..66_000u32, pieces in 1..20u32, bytes: bool) {
            let params = if bytes { Params::default() } else { sharma() };
            let mut flow = state(&params, f64::from(w));
            for i in 0..pieces {
                flow = ack(&params, flow, w / pieces + u32::from(i < w % pieces));
            }
            prop_assert!((flow.window.cwnd / f64::from(w) - 1.01).abs() < 1e-9);
        }

        /// `spec: sharma §4`, invariants: flows that take every loss at the same instants
        /// and the same number of round trips in between keep the ratio of their windows.
        #[test]
        fn flows_that_lose_together_never_become_fair(
            small in 200.0..1000.0f64, ratio in 1.0..10.0f64, epochs in prop::collection::vec(1..30u32, 1..10),
        ) {
            let params = Params { base: Limits { max_window: 1e6, ..Limits::default() }.into(), ..Params::default() };
            let (mut flows, mut now) = ([state(&params, small), state(&params, small * ratio)], 10_000);
            for trips in epochs {
                for flow in &mut flows {
                    flow.window.recovery.close();
                    // Rounding to bytes of a datagram as large as this does not matter.
                    flow.window.mtu = 1e6;
                    for trip in 0..u64::from(trips) {
                        let bytes = (flow.window.cwnd * 1e6) as u64;
                        let kind = crate::event::PacketsAcked { bytes, fresh_bytes: bytes, ..acked(1, Time(now + trip)) };
                                *flow = testkit::step::<Scalable>(&params, *flow, Time(now + trip + 1), EventKind::PacketsAcked(kind));
                    }
                    let lost = EventKind::PacketsLost(testkit::lost(Time(now + 50)));
                    *flow = testkit::step::<Scalable>(&params, *flow, Time(now + 60), lost);
                }
                now += 100;
                prop_assume!(flows[0].window.cwnd > 20.0);
            }
            prop_assert!((flows[1].window.cwnd / flows[0].window.cwnd / ratio - 1.0).abs() < 1e-6);
        }
    }
}
