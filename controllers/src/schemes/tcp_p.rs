#![doc = include_str!("tcp_p.md")]

use crate::event::RttSample;
use crate::parts::base::Base;
use crate::parts::limits::Limits;
use crate::parts::parallel::{self, Weight};
use crate::parts::recovery::Response;
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Signals, View, parameters};

parameters! {
    /// Parameters of [`TcpP`]: `tcp-p:NAME=VALUE,…`.
    pub struct Params {
        @base Base, paper Limits::cho();
        /// Weight of a new group: how many standard flows it stands for.
        k: u32 = 1, in 1, 1_000_000, unit "flows", source "spec: cho §4.1";
        /// Most packets that one acknowledged in slow start may add; inf is no limit.
        slow_start_cap: f64 = 1.0, paper f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "spec: cho §5, K-1";
        /// Whether windows are whole packets driven by a counter of ACKs, as in the kernel.
        linux_counters: bool = false, source "spec: cho §4.4";
    }
}

/// What a TCP-P group shares besides its members' windows.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Group {
    /// `k`: how many standard flows the group weighs; 0 counts as 1. May be changed at any time
    /// (`spec: cho §4.1 sysctl_tcp_strength`).
    pub k: u32,
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// Smoothed RTT, for the burst guard.
    pub rtt: SmoothRtt,
    /// Packets acknowledged since the window last grew; `linux_counters` only.
    pub count: f64,
}

/// TCP-P (`spec: cho §4`).
///
/// Needs [`GROUPS`](Signals::GROUPS): outside a group it would be
/// [`tcp-k`](crate::schemes::tcp_k) without saying so. A group of one is just that.
#[derive(Debug)]
pub struct TcpP;

#[inline(always)]
fn weight(flow: &Flow<'_, TcpP>) -> Weight {
    let weight = Weight::of(flow.group.shared.k, flow.group_size());
    if flow.params.linux_counters { weight.whole() } else { weight }
}

/// Counts `acked` packets, and grows by `step` once the counter reaches `enough`
/// (`spec: cho §4.4`).
fn counted(state: &mut State, acked: f64, enough: f64, step: f64) -> f64 {
    state.count += acked;
    if state.count < enough {
        return 0.0;
    }
    state.count = 0.0;
    step
}

impl WindowScheme for TcpP {
    const INFO: Info = Info {
        name: "tcp-p",
        summary: "parallel flows that together are as aggressive as k standard ones",
        source: "Cho 2006, ch. III; spec: cho §2, §4",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT).and(Signals::GROUPS);
    type Params = Params;
    type State = State;
    type Group = Group;

    fn group(params: &Params) -> Group {
        Group { k: params.k }
    }

    /// `spec: cho §4.3 Ack, rule 1`.
    #[inline]
    fn on_rtt_sample(flow: &mut Flow<'_, Self>, rtt: &RttSample) {
        flow.state.rtt.sample(rtt.adjusted());
    }

    /// `spec: cho §4.3 Ack, rule 2; §4.4`.
    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (weight, cap) = (weight(flow), flow.params.slow_start_cap);
        if flow.params.linux_counters {
            let (k, n) = weight.counters();
            return counted(flow.state, acked, n, k.min(libm::floor(n * cap)));
        }
        weight.slow_start(acked, cap)
    }

    /// `spec: cho §4.3 Ack, rule 2; §4.4`.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        let (weight, cwnd) = (weight(flow), flow.cwnd);
        if flow.params.linux_counters {
            let (k, n) = weight.counters();
            return counted(flow.state, acked, (2.0 * n * cwnd + (n - 1.0)) / 2.0, k);
        }
        weight.increase(flow.window, acked)
    }

    /// `spec: cho §4.3 Congestion`.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let weight = weight(flow);
        parallel::response(flow, weight, parallel::guarded(flow, weight, &flow.state.rtt))
    }

    fn on_reduced(flow: &mut Flow<'_, Self>) {
        parallel::scale_siblings(flow, weight(flow));
    }

    /// `spec: cho §4.3 Timeout, A-3`.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let (weight, rtt) = (weight(flow), flow.state.rtt);
        parallel::start_over(flow, weight, &rtt)
    }

    fn inspect(
        _: &Params,
        state: &State,
        _: &Window,
        group: View<'_, Group>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        visit("k", f64::from(group.shared.k));
        state.rtt.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
