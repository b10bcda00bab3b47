#![doc = include_str!("a_tcp_p.md")]

use crate::parts::competition::Detector;
use crate::parts::parallel::{self, Weight};
use crate::parts::recovery::Response;
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::window::Window;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{EventKind, Info, Signals, View};

/// Parameters of [`ATcpP`]: A-TCP's.
pub use crate::schemes::a_tcp::Params;

/// What an A-TCP-P group shares besides its members' windows.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Group {
    /// The detector, on the sum of the windows; `None` until the first member joins.
    pub detector: Option<Detector>,
}

impl Group {
    /// How many standard flows the group weighs (`spec: cho §8`).
    #[must_use]
    pub fn k(&self) -> u32 {
        self.detector.map_or(1, |detector| detector.k)
    }
}

/// What a flow keeps besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct State {
    /// The flow's own smoothed RTT, for the burst guard.
    pub rtt: SmoothRtt,
    /// Whether the latest ACK found the sender limited by its application; holds for
    /// samples that come without one.
    pub app_limited: bool,
}

/// A-TCP-P (`spec: cho §8`).
///
/// Needs [`GROUPS`](Signals::GROUPS): outside a group it would be
/// [`a-tcp`](crate::schemes::a_tcp) without saying so. A group of one is just that.
#[derive(Debug)]
pub struct ATcpP;

#[inline(always)]
fn weight(flow: &Flow<'_, ATcpP>) -> Weight {
    Weight::of(flow.group.shared.k(), flow.group_size())
}

#[inline(always)]
fn guarded(flow: &Flow<'_, ATcpP>) -> bool {
    parallel::guarded(flow, weight(flow), &flow.state.rtt)
}

/// The group's detector; it starts with the group (`spec: cho §2.1`).
#[inline(always)]
fn detector<'a>(flow: &'a mut Flow<'_, ATcpP>) -> &'a mut Detector {
    let now = flow.now;
    flow.group.shared.detector.get_or_insert_with(|| Detector::start(now))
}

/// The detector judges a loss of the group (`spec: cho §8 Alg. 7`).
fn detect_loss(flow: &mut Flow<'_, ATcpP>) {
    let (settings, now) = (&flow.params.detector, flow.now);
    detector(flow).lost(settings, now);
}

impl WindowScheme for ATcpP {
    const INFO: Info = Info {
        name: "a-tcp-p",
        summary: "parallel flows that together are one adaptive flow",
        source: "Cho 2006, ch. V; spec: cho §2, §6, §8",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT).and(Signals::GROUPS);
    type Params = Params;
    type State = State;
    type Group = Group;

    /// `spec: cho §8 Ack, 1 and 2; Alg. 6`.
    #[inline]
    fn on_event(flow: &mut Flow<'_, Self>) {
        match &flow.event.kind {
            EventKind::PacketsAcked(acked) => flow.state.app_limited = acked.app_limited,
            EventKind::RttSampled(_) => {}
            EventKind::Joined => {
                detector(flow);
                return;
            }
            _ => return,
        }
        let rtt = flow.event.rtt().map(|rtt| rtt.adjusted());
        if let Some(rtt) = rtt {
            flow.state.rtt.sample(rtt);
        }
        let (settings, now, app_limited) = (&flow.params.detector, flow.now, flow.state.app_limited);
        let w = flow.group_cwnd();
        detector(flow).acked(settings, now, rtt, w, app_limited);
    }

    #[inline]
    fn on_ack_in_slow_start(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        weight(flow).slow_start(acked, flow.params.slow_start_cap)
    }

    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        weight(flow).increase(flow.window, acked)
    }

    /// `spec: cho §8 Congestion, Alg. 7, AP-2`: the guard goes by the weight before.
    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        let guarded = guarded(flow);
        if !guarded {
            detect_loss(flow);
        }
        parallel::response(flow, weight(flow), guarded)
    }

    fn on_reduced(flow: &mut Flow<'_, Self>) {
        parallel::scale_siblings(flow, weight(flow));
    }

    /// `spec: cho §8 Timeout, AP-4`.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        if !flow.recovery.in_recovery() && !flow.answered() && !guarded(flow) {
            detect_loss(flow);
        }
        detector(flow).k = 1;
        let (weight, rtt) = (weight(flow), flow.state.rtt);
        parallel::start_over(flow, weight, &rtt)
    }

    /// Knees are sums over members of which each has its own datagram size: only a lone
    /// flow's can be converted.
    fn on_mtu_update(flow: &mut Flow<'_, Self>, ratio: f64) {
        if flow.group_size() == 1 {
            detector(flow).on_mtu_update(ratio);
        }
    }

    fn inspect(
        _: &Params,
        state: &State,
        _: &Window,
        group: View<'_, Group>,
        visit: &mut dyn FnMut(&'static str, f64),
    ) {
        if let Some(detector) = &group.shared.detector {
            detector.inspect(visit);
        }
        if let Some((srtt, min)) = state.rtt.value().zip(state.rtt.min()) {
            visit("flow_srtt_us", srtt);
            visit("flow_srtt_min_us", min);
        }
    }
}

#[cfg(test)]
mod tests;
