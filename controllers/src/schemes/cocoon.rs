#![doc = include_str!("cocoon.md")]

use crate::parts::recovery::Response;
use crate::parts::window_scheme::{Flow, WindowScheme};
use crate::{Info, Signals};

pub use crate::schemes::fractional::Params;

/// COCOON (`spec: cho §9`). A group of one is [`reno`](crate::schemes::reno).
#[derive(Debug)]
pub struct Cocoon;

/// Siblings with more than `to` packets outstanding get a window of so many
/// (`spec: cho §9`).
fn adjust(flow: &mut Flow<'_, Cocoon>, to: f64) {
    let limit = flow.bytes(to);
    flow.lower_siblings(|member| (member.in_flight > limit).then_some(to));
}

impl WindowScheme for Cocoon {
    const INFO: Info = Info {
        name: "cocoon",
        summary: "Reno flows of which a loss lowers those with more outstanding too",
        source: "spec: cho §2, §9",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::GROUPS);
    type Params = Params;
    type State = ();
    type Group = ();

    /// `spec: cho §9`: standard growth.
    #[inline]
    fn on_ack(flow: &mut Flow<'_, Self>, acked: f64) -> f64 {
        acked / flow.cwnd
    }

    fn on_congestion(flow: &mut Flow<'_, Self>) -> Response {
        Response::to(0.5 * flow.cwnd)
    }

    fn on_reduced(flow: &mut Flow<'_, Self>) {
        adjust(flow, flow.cwnd);
    }

    /// Siblings are held to the new threshold, once per recovery period: that this flow
    /// starts over is no reason for them to.
    fn on_persistent_congestion(flow: &mut Flow<'_, Self>) -> f64 {
        let half = 0.5 * flow.cwnd;
        if !flow.recovery.in_recovery() && !flow.answered() {
            adjust(flow, half.max(flow.params.base.limits.min_window));
        }
        half
    }
}

#[cfg(test)]
mod tests;
