#![doc = include_str!("tcp_p.md")]

use crate::parameters;
use crate::parts::base::Base;
use crate::parts::grouped::{Flow, GroupRules, Grouped};
use crate::parts::parallel::{self, Share};
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::window::Window;
use crate::{Event, Info, Path, Signals, View};

parameters! {
    /// Parameters of [`TcpP`].
    pub struct Params {
        @base Base, paper Base::cho();
        /// Strength of a new group: how many standard flows it stands for.
        k: u32 = 1, in 1, 1_000_000, unit "flows", source "spec: cho §4.1";
        /// Most packets that one acknowledged in slow start may add; inf is no limit.
        slow_start_cap: f64 = 1.0, paper f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "spec: cho §5, K-1";
        /// Whether windows are whole packets driven by a counter of ACKs, as in the kernel.
        linux_counters: bool = false, source "spec: cho §4.4";
    }
}

/// What a TCP-P group shares besides its members' windows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shared {
    /// Strength, flows; 0 counts as 1. May be changed at any time
    /// (`spec: cho §4.1 sysctl_tcp_strength`).
    pub k: u32,
}

/// What a flow remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Memory {
    /// Smoothed RTT, for the burst guard.
    pub rtt: SmoothRtt,
    /// Units acknowledged since the window last grew; `linux_counters` only.
    pub count: f64,
}

/// TCP-P's rules.
#[derive(Debug)]
pub struct TcpPRules;

/// TCP-P (`spec: cho §4`).
///
/// Needs [`GROUPS`](Signals::GROUPS): outside a group it would be
/// [`tcp-k`](crate::schemes::tcp_k) without saying so. A group of one is just that.
pub type TcpP = Grouped<TcpPRules>;

fn share(flow: &Flow<'_, TcpPRules>) -> Share {
    let share = Share::of(flow.group.shared.k, flow.size());
    if flow.params.linux_counters { share.whole() } else { share }
}

/// Counts `units`, and grows by `step` once the counter reaches `enough`
/// (`spec: cho §4.4`).
fn counted(memory: &mut Memory, units: f64, enough: f64, step: f64) -> f64 {
    memory.count += units;
    if memory.count < enough {
        return 0.0;
    }
    memory.count = 0.0;
    step
}

impl GroupRules for TcpPRules {
    const INFO: Info = Info {
        name: "tcp-p",
        summary: "parallel flows that together are as aggressive as k standard ones",
        source: "Cho 2006, ch. III; spec: cho §2, §4",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT).and(Signals::GROUPS);
    type Params = Params;
    type Memory = Memory;
    type Shared = Shared;

    fn shared(params: &Params) -> Shared {
        Shared { k: params.k }
    }

    fn start(_: &Params, _: &Path) -> Memory {
        Memory::default()
    }

    /// `spec: cho §4.3 Ack, rule 1`.
    #[inline]
    fn heard(flow: &mut Flow<'_, Self>, event: &Event) {
        if let Some(rtt) = event.rtt() {
            flow.memory.rtt.sample(rtt.adjusted());
        }
    }

    /// `spec: cho §4.3 Ack, rule 2; §4.4`.
    #[inline]
    fn slow_start(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        let (share, cap) = (share(flow), flow.params.slow_start_cap);
        if flow.params.linux_counters {
            let (k, n) = share.counters();
            return counted(flow.memory, units, n, k.min(libm::floor(n * cap)));
        }
        share.slow_start(units, cap)
    }

    /// `spec: cho §4.3 Ack, rule 2; §4.4`.
    #[inline]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        let (share, cwnd) = (share(flow), flow.window.cwnd);
        if flow.params.linux_counters {
            let (k, n) = share.counters();
            return counted(flow.memory, units, (2.0 * n * cwnd + (n - 1.0)) / 2.0, k);
        }
        share.increase(flow.window, units)
    }

    /// `spec: cho §4.3 Congestion`.
    fn congestion(flow: &mut Flow<'_, Self>) {
        let share = share(flow);
        if parallel::guarded(flow, share, &flow.memory.rtt) {
            parallel::hold(flow, share);
        } else {
            parallel::decrease(flow, share);
        }
    }

    /// `spec: cho §4.3 Timeout, A-3`.
    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        let (share, rtt) = (share(flow), flow.memory.rtt);
        parallel::start_over(flow, share, &rtt)
    }

    fn inspect(
        _: &Params,
        memory: &Memory,
        _: &Window,
        group: View<'_, Shared>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        visit("k", f64::from(group.shared.k));
        memory.rtt.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
