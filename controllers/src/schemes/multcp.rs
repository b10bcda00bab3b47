#![doc = include_str!("multcp.md")]

use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::recovery::Response;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Path, parameters};

parameters! {
    /// Parameters of [`MulTcp`]: `multcp:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::cho();
        /// How many standard flows it stands for; need not be whole.
        n: f64 = 4.0, in 1.0, 1_000_000.0, unit "flows", source "Crowcroft and Oechslin 1998; spec: cho §5, §9";
        /// Packets that one acknowledged in slow start adds until the window is what `n` flows would have.
        slow_start_gain: f64 = 1.0, paper 2.0, in 1.0, 2.0, unit "packets", source "Crowcroft and Oechslin 1998; spec: cho §9";
    }
}

/// MulTCP (`spec: cho §9`).
#[derive(Debug)]
pub struct MulTcp;

/// The window at which a flow that gains `gain` per packet has caught up with `n` flows
/// that gain one, all started at `iw`: `iw·(1+gain)^r = n·iw·2^r` after `r` round trips. No
/// window where there is nothing to catch up with, or no catching up.
fn caught_up(n: f64, gain: f64, iw: f64) -> f64 {
    let (own, theirs) = (libm::log(1.0 + gain), libm::log(2.0));
    if n <= 1.0 || own <= theirs { 0.0 } else { iw * libm::exp(own * libm::log(n) / (own - theirs)) }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// Window up to which slow start is quicker than a standard flow's, packets.
    quick_until: f64,
}

impl WindowScheme for MulTcp {
    const INFO: Info = Info {
        name: "multcp",
        summary: "one flow with the increase and decrease of n standard ones",
        source: "Crowcroft and Oechslin 1998; spec: cho §5, §9",
        fallback: None,
    };
    type Params = Params;
    type State = State;
    type Group = ();

    fn start(params: &Params, path: &Path) -> State {
        let initial = Window::start(&params.base.limits, path).cwnd;
        State { quick_until: caught_up(params.n, params.slow_start_gain, initial) }
    }

    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        if flow.cwnd < flow.state.quick_until { acked * flow.params.slow_start_gain } else { acked }
    }

    /// `n` packets per window (`spec: cho §9`).
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        flow.params.n * acked / flow.cwnd
    }

    /// One of `n` flows halves; the threshold is the reduced window (`spec: cho §5`).
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to((1.0 - 0.5 / flow.params.n) * flow.cwnd)
    }

    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        flow.state.quick_until *= ratio;
    }
}

#[cfg(test)]
mod tests {
    //! `spec: cho §5, §9`. That one of weight 1 is Reno, and one in congestion avoidance AIMD,
    //! is in `tests/it/equivalences.rs`.

    use super::*;
    use crate::Time;
    use crate::parts::window_controller::WindowController;
    use crate::testkit::{self, PATH, acked, assert_close, lost};
    use crate::{Controller, EventKind, Parameters};
    use proptest::prelude::*;

    type MulTcp = WindowController<super::MulTcp>;

    type State = <MulTcp as Controller>::State;

    fn state(params: &Params, cwnd: f64, ssthresh: f64) -> State {
        let mut state = MulTcp::start(params, &PATH);
        state.window.cwnd = cwnd;
        state.window.ssthresh = ssthresh;
        state
    }

    fn ack(params: &Params, state: State, now: u64, packets: u32) -> State {
        testkit::step::<MulTcp>(params, state, Time(now), EventKind::PacketsAcked(acked(packets, Time(now))))
    }

    fn lose(params: &Params, state: State, now: u64) -> State {
        testkit::step::<MulTcp>(params, state, Time(now), EventKind::PacketsLost(lost(Time(now))))
    }

    fn weight(n: f64) -> Params {
        Params { n, ..Params::default() }
    }

    /// `spec: cho §5`, what TCP/k does otherwise: the threshold is the reduced window.
    #[test]
    fn a_cut_is_one_flows_halving_and_the_threshold_is_the_window() {
        let cut = lose(&weight(4.0), state(&weight(4.0), 80.0, 40.0), 5).window;
        assert_eq!((cut.cwnd, cut.ssthresh), (70.0, 70.0));
        let cut = lose(&weight(2.5), state(&weight(2.5), 100.0, 40.0), 5).window;
        assert_eq!((cut.cwnd, cut.ssthresh), (80.0, 80.0));
        assert_eq!(ack(&weight(4.0), state(&weight(4.0), 40.0, 2.0), 5, 1).window.cwnd, 40.1);
    }

    /// `spec: cho §5, §9`: slow start is quick only up to where `n` flows would be.
    #[test]
    fn slow_start_is_quick_until_it_has_caught_up() {
        let params = Params { n: 4.0, ..Params::paper() };
        let mut flow = state(&params, 2.0, f64::INFINITY);
        let mut windows = std::vec::Vec::new();
        for round in 1..6 {
            for _ in 0..flow.window.cwnd as u32 {
                flow = ack(&params, flow, round, 1);
            }
            windows.push(flow.window.cwnd);
        }
        // Four flows together: 16, 32, 64, 128, 256.
        assert_eq!(windows, [6.0, 18.0, 54.0, 124.0, 248.0]);
        assert_close(flow.scheme.quick_until, 2.0 * libm::pow(3.0, libm::log(4.0) / libm::log(1.5)), 1e-9);
        let after = ack(&params, state(&params, flow.scheme.quick_until, f64::INFINITY), 9, 1);
        assert_eq!(after.window.cwnd, flow.scheme.quick_until + 1.0);
        // By default QUIC's slow start stays what it is.
        assert_eq!(ack(&weight(4.0), state(&weight(4.0), 10.0, 100.0), 1, 2).window.cwnd, 12.0);
    }

    #[test]
    fn weights_below_one_are_refused() {
        for text in ["multcp:n=0", "multcp:n=0.5", "multcp:slow_start_gain=3"] {
            assert!(crate::Algorithm::read(text).is_err(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(testkit::cases(1_000))]

        /// A window's worth of ACKs adds at most `n`, and little less; one loss takes `1/2n`.
        #[test]
        fn it_is_n_flows(n in 1.0..50.0f64, w0 in 60u32..2000) {
            let params = weight(n);
            let mut flow = state(&params, f64::from(w0), 2.0);
            for i in 0..w0 {
                flow = ack(&params, flow, u64::from(i), 1);
            }
            let w0 = f64::from(w0);
            let gained = flow.window.cwnd - w0;
            prop_assert!(gained <= n * (1.0 + 1e-12));
            prop_assert!(gained >= libm::sqrt(w0 * w0 + 2.0 * n * w0) - w0 - 1e-9);
            let cut = lose(&params, flow, 1_000_000).window;
            assert_close(cut.cwnd, flow.window.cwnd * (1.0 - 0.5 / n), 1e-12);
            prop_assert!(!cut.in_slow_start());
        }
    }
}
