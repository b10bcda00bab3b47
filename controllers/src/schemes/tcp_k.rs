#![doc = include_str!("tcp_k.md")]

use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::parallel::Weight;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, View, parameters};

parameters! {
    /// Parameters of [`TcpK`]: `tcp-k:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::cho();
        /// Weight: how many standard flows it stands for.
        k: u32 = 4, in 1, 1_000_000, unit "flows", source "spec: cho §5, §14.4 CH4-C";
        /// Most packets that one acknowledged in slow start may add; inf is no limit.
        slow_start_cap: f64 = 1.0, paper f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "spec: cho §5, K-1";
    }
}

/// TCP/k (`spec: cho §5`).
#[derive(Debug)]
pub struct TcpK;

impl WindowScheme for TcpK {
    const INFO: Info = Info {
        name: "tcp-k",
        summary: "one flow as aggressive as k standard ones",
        source: "Cho 2006, ch. IV.C; spec: cho §5",
        fallback: None,
    };
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: cho §5 eq. 4.1`.
    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        Weight::single(flow.params.k).slow_start(acked, flow.params.slow_start_cap)
    }

    /// `spec: cho §5 eq. 4.2`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        Weight::single(flow.params.k).increase(flow.window, acked)
    }

    /// `spec: cho §5 K-CONG, eq. 4.3`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Weight::single(flow.params.k).own_reduction(flow.window).into()
    }

    fn inspect(params: &Params, (): &(), _: &Window, _: View<'_, ()>, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("k", f64::from(params.k));
    }
}

#[cfg(test)]
mod tests {
    //! `spec: cho §5`. That `k = 1` is Reno to the bit is in `tests/it/equivalences.rs` (K1).

    use super::*;
    use crate::Time;
    use crate::parts::window_controller::WindowController;
    use crate::testkit::{self, PATH, acked, assert_close, lost};
    use crate::{Controller, EventKind, Parameters};
    use proptest::prelude::*;
    use std::string::ToString;

    type TcpK = WindowController<super::TcpK>;

    type State = <TcpK as Controller>::State;

    fn state(params: &Params, cwnd: f64, ssthresh: f64) -> State {
        let mut state = TcpK::start(params, &PATH);
        state.window.cwnd = cwnd;
        state.window.ssthresh = ssthresh;
        state
    }

    fn ack(params: &Params, state: State, now: u64, packets: u32) -> State {
        testkit::step::<TcpK>(params, state, Time(now), EventKind::PacketsAcked(acked(packets, Time(now))))
    }

    fn lose(params: &Params, state: State, now: u64) -> State {
        testkit::step::<TcpK>(params, state, Time(now), EventKind::PacketsLost(lost(Time(now))))
    }

    fn params(k: u32) -> Params {
        Params { k, ..Params::default() }
    }

    #[test]
    fn slow_start_is_literal_on_paper_and_capped_in_quic() {
        let paper = Params { k: 4, ..Params::paper() };
        assert_eq!(ack(&paper, state(&paper, 10.0, 100.0), 1, 2).window.cwnd, 14.0, "one ACK, four packets");
        let quic = params(4);
        assert_eq!(ack(&quic, state(&quic, 10.0, 100.0), 1, 2).window.cwnd, 12.0);
        let open = Params { slow_start_cap: f64::INFINITY, ..quic };
        assert_eq!(ack(&open, state(&open, 10.0, 100.0), 1, 2).window.cwnd, 18.0);
    }

    #[test]
    fn a_cut_is_k_times_milder_and_halves_the_threshold() {
        let params = params(4);
        let cut = lose(&params, state(&params, 80.0, 40.0), 5);
        assert_eq!((cut.window.cwnd, cut.window.ssthresh), (70.0, 40.0));
        let floor = lose(&params, state(&params, 2.0, 2.0), 5);
        assert_eq!((floor.window.cwnd, floor.window.ssthresh), (2.0, 2.0));
    }

    #[test]
    fn persistent_congestion_starts_over() {
        for (params, cwnd) in [(params(4), 2.0), (Params::paper(), 1.0)] {
            let over = testkit::step::<TcpK>(
                &params,
                state(&params, 80.0, 40.0),
                Time(9),
                EventKind::PersistentCongestion(lost(Time(8))),
            );
            assert_eq!((over.window.cwnd, over.window.ssthresh), (cwnd, 40.0));
            assert_eq!(over.window.recovery.start(), None);
        }
    }

    #[test]
    fn no_k_below_one() {
        for text in ["tcp-k:k=0", "tcp-k:k=0.5", "tcp-k:k=-1", "tcp-k:slow_start_cap=0.5"] {
            assert!(crate::Algorithm::read(text).is_err(), "{text}");
        }
        assert_eq!(
            crate::Algorithm::read("tcp-k:profile=paper,k=9").unwrap().to_string(),
            "tcp-k:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks,k=9,slow_start_cap=inf"
        );
    }

    /// Runs rounds of one ACK per window until the window is back at `top`; returns how many
    /// rounds it took and how many packets they carried.
    fn climb(params: &Params, mut state: State, now: &mut u64, top: f64) -> (f64, f64) {
        let (mut rounds, mut packets) = (0.0, 0.0);
        while state.window.cwnd < top {
            *now += 1;
            let flight = state.window.cwnd as u32;
            let before = state.window.cwnd;
            state = ack(params, state, *now, flight);
            let share = ((top - before) / (state.window.cwnd - before)).min(1.0);
            rounds += share;
            packets += share * f64::from(flight);
        }
        (rounds, packets)
    }

    /// K4 and K5: the time to recover from one cut, and with it the response function
    /// (`spec: cho §4.7 P7, eq. 3.15`).
    #[test]
    fn epoch_and_response_function() {
        for k in [1u32, 2, 3, 5, 10] {
            let params = params(k);
            let (top, mut now) = (20_000.0, 10);
            let cut = lose(&params, state(&params, top, 2.0), now);
            let (rounds, packets) = climb(&params, cut, &mut now, top);
            let k = f64::from(k);
            assert_close(rounds, top / (2.0 * k * k), 2e-3);
            let p = (8.0 * k * k * k) / (top * top * (4.0 * k - 1.0));
            assert_close(packets, 1.0 / p, 2e-3);
            assert_close(packets / rounds, libm::sqrt(k * (4.0 * k - 1.0) / 2.0) / libm::sqrt(p), 2e-3);
        }
    }

    proptest! {
        #![proptest_config(testkit::cases(1_000))]

        /// K2: after a cut congestion avoidance goes on.
        #[test]
        fn a_cut_stays_above_its_threshold(k in 1u32..1000, cwnd in 4.01..1e6f64) {
            let params = params(k);
            let cut = lose(&params, state(&params, cwnd, 2.0), 5).window;
            prop_assert!(cut.cwnd >= cut.ssthresh && !cut.in_slow_start());
            prop_assert_eq!(cut.cwnd == cut.ssthresh, k == 1);
        }

        /// K3: a window's worth of ACKs adds at most `k`, and little less.
        #[test]
        fn a_window_of_acks_adds_nearly_k(k in 1u32..20, w0 in 2u32..500) {
            let params = params(k);
            let mut flow = state(&params, f64::from(w0), 2.0);
            for i in 0..w0 {
                flow = ack(&params, flow, u64::from(i), 1);
            }
            let (k, w0) = (f64::from(k), f64::from(w0));
            let gained = flow.window.cwnd - w0;
            prop_assert!(gained <= k * (1.0 + 1e-12));
            prop_assert!(gained >= libm::sqrt(w0 * w0 + 2.0 * k * w0) - w0 - 1e-9);
        }
    }
}
