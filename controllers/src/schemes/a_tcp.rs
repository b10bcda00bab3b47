#![doc = include_str!("a_tcp.md")]

use crate::parameters;
use crate::parts::base::Base;
use crate::parts::competition::{Detector, Settings};
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::parallel::Share;
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Info, Path, Signals, Time};

parameters! {
    /// Parameters of [`ATcp`].
    pub struct Params {
        @base Base, paper Base::cho();
        @with detector: Settings, "The competition detector's.";
        /// Most packets that one acknowledged in slow start may add; inf is no limit.
        slow_start_cap: f64 = 1.0, paper f64::INFINITY, in 1.0, f64::INFINITY, unit "packets", source "spec: cho §5, K-1";
    }
}

/// What a flow remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    /// The detector, on the flow's own window.
    pub detector: Detector,
    /// Whether the latest ACK found the sender limited by its application; holds for
    /// samples that come without one.
    pub app_limited: bool,
}

impl Memory {
    fn share(&self) -> Share {
        Share::alone(self.detector.k)
    }
}

/// A-TCP's rules.
#[derive(Debug)]
pub struct ATcpRules;

/// A-TCP (`spec: cho §7`).
pub type ATcp = LossBased<ATcpRules>;

impl Rules for ATcpRules {
    const INFO: Info = Info {
        name: "a-tcp",
        summary: "as aggressive as the competition detector finds harmless",
        source: "Cho 2006, ch. IV.E; spec: cho §6, §7",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(_: &Params, path: &Path) -> Memory {
        Memory { detector: Detector::open(path.now), app_limited: false }
    }

    /// `spec: cho §7 A-ACK`: the detector comes before everything else.
    #[inline]
    fn heard(params: &Params, memory: &mut Memory, window: &Window, event: &Event) {
        match &event.kind {
            EventKind::PacketsAcked(acked) => memory.app_limited = acked.app_limited,
            EventKind::RttSampled(_) => {}
            _ => return,
        }
        let rtt = event.rtt().map(|rtt| rtt.adjusted());
        memory.detector.acked(&params.detector, event.now, rtt, window.cwnd, memory.app_limited);
    }

    #[inline]
    fn slow_start(params: &Params, memory: &mut Memory, _: &Window, _: Time, units: f64) -> f64 {
        memory.share().slow_start(units, params.slow_start_cap)
    }

    #[inline]
    fn increase(_: &Params, memory: &mut Memory, window: &Window, _: Time, units: f64) -> f64 {
        memory.share().increase(window, units)
    }

    /// `spec: cho §7 A-CONG`.
    fn decrease(params: &Params, memory: &mut Memory, window: &Window, event: &Event) -> Reduction {
        memory.detector.lost(&params.detector, event.now);
        memory.share().own(window)
    }

    /// `spec: cho §7 A-RTO, AT-4`.
    fn timeout(params: &Params, memory: &mut Memory, window: &Window, event: &Event) -> f64 {
        if !window.recovery.in_recovery() {
            memory.detector.lost(&params.detector, event.now);
        }
        memory.detector.k = 1;
        0.5
    }

    fn resized(memory: &mut Memory, ratio: f64) {
        memory.detector.resized(ratio);
    }

    fn inspect(_: &Params, memory: &Memory, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        memory.detector.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
