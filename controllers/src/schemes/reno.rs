#![doc = include_str!("reno.md")]

use crate::parts::base::Base;
use crate::parts::recovery::Response;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, parameters};

parameters! {
    /// Parameters of [`Reno`]: `reno:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Base::sharma_limited();
    }
}

/// Reno: one packet per round trip up, half down (`RFC 9002 §7.3`; `spec: sharma §2`;
/// `spec: cho §1.6`).
#[derive(Debug)]
pub struct Reno;

impl WindowScheme for Reno {
    const INFO: Info = Info {
        name: "reno",
        summary: "adds one packet per round trip, halves on congestion",
        source: "RFC 9002 §7; spec: sharma §2, cho §1.6",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// One packet per window (`RFC 9002 §7.3.3`; `spec: sharma §2 T-1b`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    /// Half the window (`RFC 9002 §7.3.2`; `spec: sharma §2 T-2`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to(0.5 * flow.cwnd)
    }
}

#[cfg(test)]
mod tests {
    //! `spec: sharma §1, §2`; `spec: cho §1.6`.

    use proptest::prelude::*;

    use super::*;
    use crate::parts::limits::Limits;
    use crate::parts::start_up::limited_divisor;
    use crate::parts::window_controller::WindowController;
    use crate::testkit::{self, PATH, acked, assert_close, cases};
    use crate::{Controller, EventKind, Parameters, Time};

    type Reno = WindowController<super::Reno>;

    type State = <Reno as Controller>::State;

    fn state(params: &Params, cwnd: f64, ssthresh: f64) -> State {
        let mut state = Reno::start(params, &PATH);
        state.window.cwnd = cwnd;
        state.window.ssthresh = ssthresh;
        state
    }

    fn ack(params: &Params, state: State, packets: u32) -> State {
        testkit::step::<Reno>(params, state, Time(1000), EventKind::PacketsAcked(acked(packets, Time(900))))
    }

    fn lose(params: &Params, state: State, sent_at: u64, now: u64) -> State {
        testkit::step::<Reno>(params, state, Time(now), EventKind::PacketsLost(testkit::lost(Time(sent_at))))
    }

    #[test]
    fn slow_start_adds_a_packet_per_packet_and_stops_at_the_threshold() {
        let params = Params::default();
        assert_eq!(ack(&params, state(&params, 10.0, 20.0), 2).window.cwnd, 12.0);
        // Exactly at the threshold is congestion avoidance (`spec: sharma §2`, corner cases).
        assert_eq!(ack(&params, state(&params, 20.0, 20.0), 1).window.cwnd, 20.05);
    }

    #[test]
    fn packet_by_packet_growth_crosses_the_threshold_inside_one_ack() {
        let params =
            Params { base: Limits { growth: crate::parts::limits::Growth::Packets, ..Limits::default() }.into() };
        let after = ack(&params, state(&params, 9.0, 10.0), 3).window.cwnd;
        let expected = 10.0 + 1.0 / 10.0;
        assert_eq!(after, expected + 1.0 / expected);
    }

    /// What one ACK may take one by one has an end; the rest is one step, not lost.
    #[test]
    fn packet_by_packet_growth_of_a_whole_window_ends_in_one_step() {
        let params =
            Params { base: Limits { growth: crate::parts::limits::Growth::Packets, ..Limits::default() }.into() };
        let one_by_one = |packets| (0..packets).fold(1e6, |cwnd: f64, _| cwnd + 1.0 / cwnd);
        for packets in [1023, 1024, 1025] {
            assert_close(ack(&params, state(&params, 1e6, 10.0), packets).window.cwnd, one_by_one(packets), 1e-15);
        }
        let many = ack(&params, state(&params, 1e6, 10.0), 1_000_000).window.cwnd;
        let expected = one_by_one(1024);
        assert_close(many, expected + 998_976.0 / expected, 1e-15);
    }

    #[test]
    fn halves_once_per_flight() {
        let params = Params::default();
        let cut = lose(&params, state(&params, 40.0, 20.0), 500, 1000);
        assert_eq!((cut.window.cwnd, cut.window.ssthresh), (20.0, 20.0));
        assert_eq!(lose(&params, cut, 1000, 1100), cut, "sent before the response");
        assert_eq!(lose(&params, cut, 1001, 1100).window.cwnd, 10.0);
    }

    /// `spec: sharma §1.7`, test vector.
    #[test]
    fn limited_slow_start_vector() {
        for (cwnd, increment) in [(100.0, 0.5), (149.9, 0.5), (150.0, 1.0 / 3.0), (1000.0, 0.05), (7000.0, 1.0 / 140.0)]
        {
            assert_eq!(limited_divisor(100.0, cwnd).map(|r| 1.0 / r), Some(increment));
            let params = Params::paper();
            let grown = ack(&params, state(&params, cwnd, 100.0), 1).window.cwnd;
            assert_close(grown - cwnd, increment, 1e-9);
        }
    }

    #[test]
    fn limited_slow_start_ends_with_the_first_reduction() {
        let params = Params::paper();
        let mut state = state(&params, 400.0, 100.0);
        state = lose(&params, state, 500, 600);
        assert_eq!(state.window.cwnd, 200.0);
        state = ack(&params, state, 1); // ends recovery, does not grow (spec: sharma §1.3.3)
        assert_eq!(state.window.cwnd, 200.0);
        state = ack(&params, state, 1);
        assert_eq!(state.window.cwnd, 200.0 + 1.0 / 200.0);
    }

    proptest! {
        #![proptest_config(cases(10_000))]

        /// `spec: sharma §2`, invariants (i): a window of packets adds more than half a packet
        /// and no more than a whole one, however they are acknowledged.
        #[test]
        fn a_window_of_packets_adds_nearly_a_packet(cwnd in 2..2000u32, pieces in 1..50u32, packets: bool) {
            let growth = if packets { crate::parts::limits::Growth::Packets } else { crate::parts::limits::Growth::Bytes };
            let params = Params { base: Limits { growth, ..Limits::default() }.into() };
            let mut flow = state(&params, f64::from(cwnd), 2.0);
            for i in 0..pieces {
                flow = ack(&params, flow, cwnd / pieces + u32::from(i < cwnd % pieces));
            }
            let added = flow.window.cwnd - f64::from(cwnd);
            prop_assert!(added > 0.5 && added <= 1.0 + 1e-9, "{added}");
        }

        /// `spec: sharma §2`, invariants (ii), (iii), (iv): half of the window or the least of it,
        /// a threshold of two packets at least, and no growth before recovery is over.
        #[test]
        fn congestion_halves_and_recovery_does_not_grow(cwnd in 1.0..67_000.0f64, old in 1..50u32, paper: bool) {
            let params = if paper { Params::paper() } else { Params::default() };
            let cut = lose(&params, state(&params, cwnd, 2.0), 500, 600);
            prop_assert_eq!(cut.window.cwnd, (0.5 * cwnd).max(params.base.limits.min_window));
            prop_assert!(cut.window.ssthresh >= 2.0);
            let acked = testkit::step::<Reno>(&params, cut, Time(700), EventKind::PacketsAcked(acked(old, Time(600))));
            prop_assert_eq!(acked.window.cwnd, cut.window.cwnd);
        }
    }
}
