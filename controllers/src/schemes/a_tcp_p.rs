#![doc = include_str!("a_tcp_p.md")]

use crate::parts::competition::Detector;
use crate::parts::grouped::{Flow, GroupRules, Grouped};
use crate::parts::parallel::{self, Share};
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::window::Window;
use crate::{Event, EventKind, Info, Path, Signals, View};

/// Parameters of [`ATcpP`]: A-TCP's.
pub use crate::schemes::a_tcp::Params;

/// What an A-TCP-P group shares besides its members' windows.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Shared {
    /// The detector, on the sum of the windows; none until the first member joins.
    pub detector: Option<Detector>,
}

impl Shared {
    /// Strength of the group, flows (`spec: cho §8`).
    #[must_use]
    pub fn k(&self) -> u32 {
        self.detector.map_or(1, |detector| detector.k)
    }
}

/// What a flow remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Memory {
    /// The flow's own smoothed RTT, for the burst guard.
    pub rtt: SmoothRtt,
    /// Whether the latest ACK found the sender limited by its application; holds for
    /// samples that come without one.
    pub app_limited: bool,
}

/// A-TCP-P's rules.
#[derive(Debug)]
pub struct ATcpPRules;

/// A-TCP-P (`spec: cho §8`).
///
/// Needs [`GROUPS`](Signals::GROUPS): outside a group it would be
/// [`a-tcp`](crate::schemes::a_tcp) without saying so. A group of one is just that.
pub type ATcpP = Grouped<ATcpPRules>;

fn share(flow: &Flow<'_, ATcpPRules>) -> Share {
    Share::of(flow.group.shared.k(), flow.size())
}

fn guarded(flow: &Flow<'_, ATcpPRules>) -> bool {
    parallel::guarded(flow, share(flow), &flow.memory.rtt)
}

/// The group's detector; it starts with the group (`spec: cho §2.1`).
fn detector<'a>(flow: &'a mut Flow<'_, ATcpPRules>) -> &'a mut Detector {
    let now = flow.now;
    flow.group.shared.detector.get_or_insert_with(|| Detector::open(now))
}

/// The detector judges a loss of the group (`spec: cho §8 Alg. 7`).
fn judge(flow: &mut Flow<'_, ATcpPRules>) {
    let (settings, now) = (&flow.params.detector, flow.now);
    detector(flow).lost(settings, now);
}

impl GroupRules for ATcpPRules {
    const INFO: Info = Info {
        name: "a-tcp-p",
        summary: "parallel flows that together are one adaptive flow",
        source: "Cho 2006, ch. V; spec: cho §2, §6, §8",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT).and(Signals::GROUPS);
    type Params = Params;
    type Memory = Memory;
    type Shared = Shared;

    fn shared(_: &Params) -> Shared {
        Shared::default()
    }

    fn start(_: &Params, _: &Path) -> Memory {
        Memory::default()
    }

    /// `spec: cho §8 Ack, 1 and 2; Alg. 6`.
    #[inline]
    fn heard(flow: &mut Flow<'_, Self>, event: &Event) {
        match &event.kind {
            EventKind::PacketsAcked(acked) => flow.memory.app_limited = acked.app_limited,
            EventKind::RttSampled(_) => {}
            EventKind::Joined => {
                detector(flow);
                return;
            }
            _ => return,
        }
        let rtt = event.rtt().map(|rtt| rtt.adjusted());
        if let Some(rtt) = rtt {
            flow.memory.rtt.sample(rtt);
        }
        let (settings, now, w, app_limited) = (&flow.params.detector, flow.now, flow.total(), flow.memory.app_limited);
        detector(flow).acked(settings, now, rtt, w, app_limited);
    }

    #[inline]
    fn slow_start(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        share(flow).slow_start(units, flow.params.slow_start_cap)
    }

    #[inline]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        share(flow).increase(flow.window, units)
    }

    /// `spec: cho §8 Congestion, Alg. 7, AP-2`: the guard goes by the strength before.
    fn congestion(flow: &mut Flow<'_, Self>) {
        if guarded(flow) {
            let share = share(flow);
            return parallel::hold(flow, share);
        }
        judge(flow);
        let share = share(flow);
        parallel::decrease(flow, share);
    }

    /// `spec: cho §8 Timeout, AP-4`.
    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        if !flow.window.recovery.in_recovery() && !guarded(flow) {
            judge(flow);
        }
        detector(flow).k = 1;
        let (share, rtt) = (share(flow), flow.memory.rtt);
        parallel::start_over(flow, share, &rtt)
    }

    /// Knees are sums over members of which each has its own datagram size: only a lone
    /// flow's can be converted.
    fn resized(flow: &mut Flow<'_, Self>, ratio: f64) {
        if flow.size() == 1 {
            detector(flow).resized(ratio);
        }
    }

    fn inspect(
        _: &Params,
        memory: &Memory,
        _: &Window,
        group: View<'_, Shared>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        if let Some(detector) = &group.shared.detector {
            detector.inspect(visit);
        }
        if let Some((srtt, min)) = memory.rtt.value().zip(memory.rtt.min()) {
            visit("flow_srtt_us", srtt);
            visit("flow_srtt_min_us", min);
        }
    }
}

#[cfg(test)]
mod tests;
