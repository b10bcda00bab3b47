//! Start-up: how a window grows until its first reduction, whatever its scheme.
//!
//! A scheme says what slow start adds per ACK; a [`StartUp`] changes that and the response that ends slow start, sees every
//! event, and may end slow start with any window. Of this no scheme knows. Which one a flow has is a parameter of
//! every window scheme. To add one: its file, with its state and its parameters, and its line in
//! [`SlowStart`], [`StartUp`] and each of its functions.
//!
//! Limited slow start (`RFC 3742`) has no state and is a limit of what any start-up adds, HyStart++ too.

mod hystart;
mod rapid_start;
mod search;

pub use hystart::{HyStart, Samples};
pub use rapid_start::RapidStart;
pub use search::Search;

use crate::parts::limits::Limits;
use crate::parts::recovery::Reduction;
use crate::parts::window::Window;
use crate::{Event, EventKind, Signals, choice, parameters};

choice! {
    /// What ends the first slow start of a flow besides congestion.
    pub enum SlowStart {
        /// Slow start ends with congestion alone (`RFC 9002 §7.3.1`).
        Standard = "standard",
        /// A rise of the round-trip time (`RFC 9406`).
        HyStart = "hystart++",
        /// Deliveries that no longer double per round-trip time (`draft-chung-ccwg-search`).
        Search = "search",
        /// Congestion alone, with growth of 3× per round trip as long as nothing queues (`draft-kazuho-ccwg-rapid-start`).
        Rapid = "rapid",
    }
}

parameters! {
    /// How a window is started up.
    pub struct Params {
        /// What ends the first slow start besides congestion.
        slow_start: SlowStart = SlowStart::Standard, source "RFC 9406; RFC 9438 §4.10; draft-chung-ccwg-search; draft-kazuho-ccwg-rapid-start";
        /// Packets one ACK adds at most there; infinite where the sender paces.
        hystart_l: f64 = f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "RFC 9406 §4.3";
        /// Rounds of conservative slow start there, until it ends; with 0 it ends at the rise, as hybrid slow start does.
        css_rounds: u32 = 5, in 0, 255, unit "rounds", source "RFC 9406 §4.3";
        /// What growth in those rounds is divided by; where infinite, the window stands still until they are over or the rise is.
        css_growth_divisor: f64 = 4.0, in 2.0, f64::INFINITY, source "RFC 9406 §4.3";
        /// Which samples of a round it takes the smallest RTT of.
        hystart_samples: Samples = Samples::Round, source "RFC 9406 §4.2";
        /// Limited slow start's max_ssthresh; 0 is off.
        lss: f64 = 0.0, in 0.0, 1_048_576.0, unit "packets", source "RFC 3742; spec: sharma §1.7";
        /// Whether the first reduction of a flow is a halving whatever the scheme says.
        first_halving: bool = false, source "spec: sharma §1.6";
    }
}

impl Params {
    /// Signals without which it cannot start a window up.
    #[must_use]
    pub fn needs(&self) -> Signals {
        match self.slow_start {
            SlowStart::Standard => Signals::NONE,
            SlowStart::HyStart | SlowStart::Search | SlowStart::Rapid => Signals::RTT,
        }
    }

    /// Whether the response to come is the platform's own halving: the first of the
    /// flow, or in slow start (`spec: sharma §1.6`).
    #[must_use]
    pub fn halves_first(&self, window: &Window) -> bool {
        self.first_halving && (!window.ever_reduced || window.in_slow_start())
    }

    /// Limited slow start (`RFC 3742`; `spec: sharma §1.7`): of `added` packets for `acked` ones beyond
    /// `max_ssthresh` at most `max_ssthresh/2` per round trip; in congestion avoidance that is a floor under
    /// the scheme's own increment. Not after a reduction, until the next timeout.
    #[inline]
    pub(super) fn limited(&self, window: &Window, acked: f64, added: f64) -> f64 {
        if self.lss <= 0.0 || window.reduced {
            return added;
        }
        match limited_divisor(self.lss, window.cwnd) {
            Some(k) if !window.in_slow_start() => added.max(acked / k),
            Some(k) if window.cwnd >= self.lss => added.min(acked / k),
            _ => added,
        }
    }
}

/// `K = int(cwnd/(max_ssthresh/2))`, what slow start is divided by; `None` below 1 and where
/// `max_ssthresh` is 0 (`RFC 3742 §2`).
#[must_use]
#[inline]
pub fn limited_divisor(max_ssthresh: f64, cwnd: f64) -> Option<f64> {
    if max_ssthresh <= 0.0 {
        return None;
    }
    let k = (cwnd / (0.5 * max_ssthresh)) as u32;
    (k >= 1).then(|| f64::from(k))
}

/// What start-up makes of a window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Next {
    /// Window and threshold to go on with.
    pub to: Reduction,
    /// A reduction of several steps has ended: the window, packets, that the scheme's own response would have reduced to
    /// this one.
    pub reduced_from: Option<f64>,
}

impl From<Reduction> for Next {
    fn from(to: Reduction) -> Next {
        Next { to, reduced_from: None }
    }
}

/// The start-up of one flow, with its state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StartUp {
    /// Slow start as the scheme has it.
    Standard,
    /// HyStart++, in the first slow start of the flow (`RFC 9406 §4.3`).
    HyStart(HyStart),
    /// SEARCH, in the first slow start of the flow.
    Search(Search),
    /// Rapid Start, in the first slow start of the flow and the recovery period that ends it.
    Rapid(RapidStart),
}

impl StartUp {
    /// That of a new flow.
    #[must_use]
    pub fn start(params: &Params) -> StartUp {
        match params.slow_start {
            SlowStart::Standard => StartUp::Standard,
            SlowStart::HyStart => StartUp::HyStart(HyStart::default()),
            SlowStart::Search => StartUp::Search(Search::default()),
            SlowStart::Rapid => StartUp::Rapid(RapidStart::default()),
        }
    }

    /// Packets to add to `window` for `acked` acknowledged ones of `event`, of which the scheme would add `added`.
    #[inline(always)]
    pub fn on_ack(
        &self,
        params: &Params,
        limits: &Limits,
        window: &Window,
        event: &Event,
        acked: f64,
        added: f64,
    ) -> f64 {
        let added = match self {
            StartUp::HyStart(hystart) if window.in_first_slow_start(limits) => {
                hystart.on_ack(params.hystart_l, params.css_growth_divisor, added)
            }
            StartUp::Rapid(rapid) => rapid.on_ack(limits, window, event, added),
            _ => added,
        };
        params.limited(window, acked, added)
    }

    /// The response to congestion, where the scheme's own is `reduction` of `window`.
    pub fn on_congestion(&mut self, limits: &Limits, window: &Window, reduction: Reduction) -> Reduction {
        match self {
            StartUp::Rapid(rapid) => rapid.on_congestion(limits, window, reduction),
            _ => reduction,
        }
    }

    /// An event that the scheme and its window have taken in: bytes acknowledged, RTT samples, losses, marks, idle
    /// periods. Returns the window and threshold to go on with, where they are other than those of `window`.
    #[inline(always)]
    pub fn on_event(&mut self, params: &Params, limits: &Limits, window: &Window, event: &Event) -> Option<Next> {
        // An ACK in congestion avoidance, by far the usual event, is no start-up's.
        if matches!(event.kind, EventKind::PacketsAcked(_)) && !window.in_slow_start() {
            return None;
        }
        self.on_event_of_start_up(params, limits, window, event)
    }

    fn on_event_of_start_up(
        &mut self,
        params: &Params,
        limits: &Limits,
        window: &Window,
        event: &Event,
    ) -> Option<Next> {
        match (self, &event.kind) {
            (StartUp::HyStart(hystart), EventKind::PacketsAcked(acked)) if window.in_first_slow_start(limits) => {
                let (newest, rtt) = (acked.newest_sent_at, acked.rtt.map(|rtt| rtt.latest));
                let over = hystart.on_rtt_sample(params, event.now, newest, rtt);
                over.then(|| Reduction::to(window.cwnd).into())
            }
            (StartUp::Search(search), EventKind::PacketsAcked(acked)) if window.in_first_slow_start(limits) => {
                let overshoot = search.on_ack(event.now, acked)?;
                let least = limits.initial_window(window.mtu).min(window.cwnd);
                Some(Reduction::to((window.cwnd - overshoot / window.mtu).max(least)).into())
            }
            (StartUp::Rapid(rapid), _) => rapid.on_event(limits, window, event),
            // What was measured before it is no reference for after it, when the window starts up anew
            // (`RFC 9406 §4.2, §4.3`).
            (start_up, EventKind::IdleRestart(idle)) if idle.is_long() => {
                *start_up = StartUp::start(params);
                None
            }
            _ => None,
        }
    }

    /// Names the state variables worth logging.
    pub fn inspect(&self, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        if matches!(self, StartUp::HyStart(hystart) if hystart.is_conservative()) && window.in_slow_start() {
            visit("conservative_slow_start", 1.0);
        }
    }
}
