#![doc = include_str!("tcp_africa.md")]

use crate::event::RttSample;
use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::high_speed::{Response, Slope};
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::smooth_rtt::SmoothRtt;
use crate::parts::vegas::{Delays, backlog};
use crate::parts::window::{Reduction, Window};
use crate::{Event, Info, Path, Signals, Span, Time, parameters};

parameters! {
    /// Parameters of [`TcpAfrica`].
    pub struct Params {
        @base Base, paper Base::cho();
        @with response: Response, "HighSpeed TCP's functions.";
        /// Packets of its own in the queue up to which it grows fast (α).
        alpha: f64 = 1.641, in 0.0, f64::INFINITY, unit "packets", source "King, Baraniuk and Riedi 2005; spec: cho §9";
    }
}

/// What a flow remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Memory {
    /// HighSpeed TCP's increase.
    pub slope: Slope,
    /// Smoothed RTT.
    pub rtt: SmoothRtt,
    /// The least sample ever.
    pub min: Option<Span>,
}

impl Memory {
    /// Packets of its own in the path's queue, `cwnd·(srtt − minrtt)/srtt`
    /// (`spec: cho §9`); none before there is a sample.
    #[inline]
    fn queued(&self, cwnd: f64) -> f64 {
        match (self.min, self.rtt.value()) {
            (Some(min), Some(srtt)) => backlog(cwnd, Delays::new(min.micros(), srtt)),
            _ => 0.0,
        }
    }
}

/// TCP-Africa's rules.
#[derive(Debug)]
pub struct TcpAfricaRules;

/// TCP-Africa (`spec: cho §9`).
pub type TcpAfrica = LossBased<TcpAfricaRules>;

impl Rules for TcpAfricaRules {
    const INFO: Info = Info {
        name: "tcp-africa",
        summary: "HighSpeed TCP while the queue is empty, Reno's growth once it builds",
        source: "King, Baraniuk and Riedi 2005; spec: cho §9",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(_: &Params, _: &Path) -> Memory {
        Memory::default()
    }

    #[inline]
    fn sampled(_: &Params, memory: &mut Memory, _: Time, rtt: &RttSample) {
        let sample = rtt.adjusted();
        memory.rtt.sample(sample);
        memory.min = Some(memory.min.map_or(sample, |min| min.min(sample)));
    }

    /// Fast mode and slow mode (`spec: cho §9`).
    #[inline]
    fn increase(params: &Params, memory: &mut Memory, window: &Window, _: Time, units: f64) -> f64 {
        if memory.queued(window.cwnd) <= params.alpha {
            memory.slope.increase(&params.response, window, units)
        } else {
            aimd::increase(1.0, window, units)
        }
    }

    /// HighSpeed TCP's in both modes (`spec: cho §9`).
    fn decrease(params: &Params, _: &mut Memory, window: &Window, _: &Event) -> Reduction {
        params.response.decrease(window)
    }

    fn inspect(params: &Params, memory: &Memory, window: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        params.response.inspect(window, visit);
        let queued = memory.queued(window.cwnd);
        visit("queued", queued);
        visit("fast_mode", f64::from(u8::from(queued <= params.alpha)));
        memory.rtt.inspect(visit);
    }
}

#[cfg(test)]
mod tests;
