#![doc = include_str!("cocoon.md")]

use crate::parts::aimd;
use crate::parts::grouped::{Flow, GroupRules, Grouped};
use crate::{Info, Path, Signals};

pub use crate::parts::fractional::Params;

/// COCOON's rules.
#[derive(Debug)]
pub struct CocoonRules;

/// COCOON (`spec: cho §9`). A group of one is [`reno`](crate::schemes::reno).
pub type Cocoon = Grouped<CocoonRules>;

/// Siblings with more than `to` packets outstanding get a window of so many
/// (`spec: cho §9`).
fn adjust(flow: &mut Flow<'_, CocoonRules>, to: f64) {
    let limit = flow.window.bytes(to);
    flow.take_from_siblings(|member| (member.in_flight > limit).then_some(to));
}

impl GroupRules for CocoonRules {
    const INFO: Info = Info {
        name: "cocoon",
        summary: "Reno flows of which a loss lowers those with more outstanding too",
        source: "spec: cho §2, §9",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::GROUPS);
    type Params = Params;
    type Memory = ();
    type Shared = ();

    fn shared(_: &Params) {}

    fn start(_: &Params, _: &Path) {}

    /// `spec: cho §9`: standard growth.
    #[inline]
    fn increase(flow: &mut Flow<'_, Self>, units: f64) -> f64 {
        aimd::increase(1.0, flow.window, units)
    }

    fn congestion(flow: &mut Flow<'_, Self>) {
        let cut = aimd::decrease(0.5, flow.window);
        flow.respond(cut);
        let to = flow.window.cwnd;
        adjust(flow, to);
    }

    /// Siblings are held to the new threshold, once per recovery period: that this flow
    /// starts over is no reason for them to.
    fn timeout(flow: &mut Flow<'_, Self>) -> f64 {
        let half = 0.5 * flow.window.cwnd;
        if !flow.window.recovery.in_recovery() {
            adjust(flow, half.max(flow.params.base.min_window));
        }
        half
    }
}

#[cfg(test)]
mod tests;
