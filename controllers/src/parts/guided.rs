//! Flow control guided by an estimate of the available bandwidth: grows in proportion
//! to it where there is any, by one packet per window where there is none
//! (`spec: arumaithurai §3.5`).

use crate::parameters;
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::compose::{Estimate, FlowControl, Input, Signal};
use crate::parts::loss_based::{LossBased, Rules, State};
use crate::parts::window::{Cut, Window};
use crate::{Event, Path, Signals, Span, Time, What};

parameters! {
    /// Parameters of [`Guided`].
    pub struct Params {
        @base Base, paper Base::arumaithurai();
        /// Fraction of the window given up on congestion.
        b: f64 = 0.125, in 0.0, 0.99, source "spec: arumaithurai Eq. 4.9";
        /// Whether growth beyond the window at the estimate plus the estimate is linear again.
        cap_to_target: bool = true, source "spec: arumaithurai §3.3, A11";
    }
}

impl AsRef<Base> for Params {
    fn as_ref(&self) -> &Base {
        &self.base
    }
}

/// What guides a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Guide {
    /// The available bandwidth, bit/s; `None` before any estimate, 0 when there is none
    /// to spare or when congestion has made the estimate void.
    pub available: Option<f64>,
    /// The fraction of it to go for.
    share: f64,
    /// The window when `available` was set, packets.
    reference: f64,
    base_rtt: Option<Span>,
}

impl Guide {
    /// The available bandwidth in packets per base RTT (`spec: arumaithurai §3.5 F2.5a`,
    /// A2).
    fn spare(&self, window: &Window) -> f64 {
        match (self.available, self.base_rtt) {
            (Some(available), Some(base_rtt)) if available > 0.0 => available * base_rtt.secs() / (8.0 * window.mtu),
            _ => 0.0,
        }
    }
}

/// The window rules of [`Guided`].
#[derive(Debug)]
pub struct GuidedRules;

impl Rules for GuidedRules {
    const NAME: &'static str = "guided";
    const SUMMARY: &'static str = "grows in proportion to the available bandwidth, gives up a fraction on congestion";
    const SOURCE: &'static str = "spec: arumaithurai §3.5";
    type Params = Params;
    type Memory = Guide;

    fn start(params: &Params, _: &Path) -> Guide {
        Guide { available: None, share: 1.0, reference: params.base.iw, base_rtt: None }
    }

    /// F7: what was measured before a long idle period no longer holds.
    fn heard(_: &Params, guide: &mut Guide, _: &Window, event: &Event) {
        if matches!(event.what, What::Idle(idle) if idle.is_long()) {
            guide.available = None;
        }
    }

    /// F2.5, Eqs. 4.10 and 4.11.
    fn increase(params: &Params, guide: &mut Guide, window: &Window, _: Time, units: f64) -> f64 {
        let linear = aimd::increase(1.0, window, units);
        let spare = guide.spare(window);
        if spare <= 0.0 {
            return linear;
        }
        let guided = aimd::increase((guide.share * spare).max(1.0), window, units);
        let room = guide.reference + spare - window.cwnd;
        if params.cap_to_target { guided.min(room.max(linear)) } else { guided }
    }

    /// F3, Eq. 4.9. Marks and losses weigh the same (A8).
    fn decrease(params: &Params, guide: &mut Guide, window: &Window, _: &Event) -> Cut {
        guide.available = Some(0.0);
        aimd::decrease(params.b, window)
    }

    /// F5.
    fn timeout(params: &Params, guide: &mut Guide, _: &Window, _: &Event) -> f64 {
        guide.available = None;
        1.0 - params.b
    }

    fn resized(guide: &mut Guide, ratio: f64) {
        guide.reference *= ratio;
    }

    fn inspect(_: &Params, guide: &Guide, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(available) = guide.available {
            visit("bw_mbps", available / 1e6);
        }
        visit("w_ref", guide.reference);
    }
}

/// Guided flow control (`spec: arumaithurai §3.5 F1–F7`).
///
/// Slow start is the window's: below the threshold. An estimate, whatever its value,
/// ends it by lowering the threshold to the window (A10).
#[derive(Debug)]
pub struct Guided;

type Inner = LossBased<GuidedRules>;

impl FlowControl for Guided {
    type Params = Params;
    type State = State<Guide>;

    fn needs(params: &Params) -> Signals {
        <Inner as FlowControl>::needs(params)
    }

    fn start(params: &Params, path: &Path) -> State<Guide> {
        <Inner as FlowControl>::start(params, path)
    }

    #[inline]
    fn update(params: &Params, state: &mut State<Guide>, input: Input<'_>, signal: Signal, estimate: Option<Estimate>) {
        state.memory.base_rtt = input.path.base_rtt();
        if let Some(Estimate { available, share }) = estimate {
            // F6.
            state.memory = Guide { available: Some(available), share, reference: state.window.cwnd, ..state.memory };
            state.window.ssthresh = state.window.ssthresh.min(state.window.cwnd);
        }
        <Inner as FlowControl>::update(params, state, input, signal, estimate);
        if signal != Signal::Clear {
            state.memory.reference = state.window.cwnd;
        }
    }

    fn window(state: &State<Guide>) -> &Window {
        &state.window
    }

    fn inspect(params: &Params, state: &State<Guide>, visit: &mut dyn FnMut(&'static str, f64)) {
        <Inner as FlowControl>::inspect(params, state, visit);
    }
}

#[cfg(test)]
mod tests;
