#![doc = include_str!("westwood.md")]

use crate::event::RttSample;
use crate::parameters;
use crate::parts::ack_rate::AckRate;
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Info, Path, Signals, Span, Time};

/// Least window after a response, packets (`spec: arumaithurai §6.1`).
const LEAST: f64 = 2.0;

parameters! {
    /// Parameters of [`Westwood`].
    pub struct Params {
        @base Base, paper Base::arumaithurai();
    }
}

/// What Westwood remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    rate: AckRate,
    latest: Span,
    least: Option<Span>,
}

impl Memory {
    /// Packets the path delivers in its shortest round trip; half the window while that is
    /// not known (`spec: arumaithurai §6.1`).
    #[must_use]
    pub fn delivered(&self, window: &Window) -> f64 {
        match (self.rate.get(), self.least) {
            (Some(rate), Some(least)) => (rate * least.secs() / window.mtu).max(LEAST),
            _ => 0.5 * window.cwnd,
        }
    }
}

/// Westwood's rules.
#[derive(Debug)]
pub struct WestwoodRules;

/// Westwood+ (`spec: arumaithurai §6.1`).
pub type Westwood = LossBased<WestwoodRules>;

impl Rules for WestwoodRules {
    const INFO: Info = Info {
        name: "westwood",
        summary: "Reno that goes back to what the path was delivering instead of to half",
        source: "spec: arumaithurai §6.1",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(_: &Params, path: &Path) -> Memory {
        Memory { rate: AckRate::start(path.now), latest: Span::ZERO, least: None }
    }

    #[inline]
    fn heard(_: &Params, memory: &mut Memory, _: &Window, event: &Event) {
        match event.kind {
            EventKind::PacketsAcked(ref acked) => {
                if let Some(rtt) = acked.rtt {
                    memory.latest = rtt.latest;
                }
                memory.rate.acked(event.now, acked.bytes, memory.latest);
            }
            EventKind::IdleRestart(_) => memory.rate.restart(event.now),
            _ => {}
        }
    }

    #[inline]
    fn sampled(_: &Params, memory: &mut Memory, _: Time, rtt: &RttSample) {
        memory.latest = rtt.latest;
        if rtt.latest > Span::ZERO {
            memory.least = Some(memory.least.map_or(rtt.latest, |least| least.min(rtt.latest)));
        }
    }

    /// `spec: arumaithurai §6.1` 1.
    #[inline]
    fn increase(_: &Params, _: &mut Memory, window: &Window, _: Time, units: f64) -> f64 {
        aimd::increase(1.0, window, units)
    }

    /// `spec: arumaithurai §6.1` 2; a window that is smaller stays, and grows to the
    /// threshold by slow start.
    fn decrease(_: &Params, memory: &mut Memory, window: &Window, _: &Event) -> Reduction {
        let ssthresh = memory.delivered(window);
        Reduction { cwnd: window.cwnd.min(ssthresh), ssthresh }
    }

    /// `spec: arumaithurai §6.1` 3.
    fn timeout(_: &Params, memory: &mut Memory, window: &Window, _: &Event) -> f64 {
        memory.delivered(window) / window.cwnd
    }

    fn inspect(_: &Params, memory: &Memory, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rate) = memory.rate.get() {
            visit("bw_mbps", 8e-6 * rate);
        }
        if let Some(least) = memory.least {
            visit("rtt_min_ms", least.millis());
        }
        visit("delivered", memory.delivered(window));
    }
}

#[cfg(test)]
mod tests;
