#![doc = include_str!("h_tcp.md")]

use crate::parts::aimd;
use crate::parts::base::Base;
use crate::parts::loss_based::{LossBased, Rules};
use crate::parts::window::{Reduction, Window};
use crate::{Event, EventKind, Info, Path, Signals, Span, Time, parameters};

mod meter;

use meter::Meter;

parameters! {
    /// Parameters of [`HTcp`].
    pub struct Params {
        // The document's platform starts it above its threshold: no slow start.
        @base Base, paper Base { ssthresh: 1.0, first_halving: true, ..Base::sharma() };
        /// How long after a congestion event the increase stays that of Reno.
        delta_l: f64 = 1.0, in 0.0, 1000.0, unit "s", source "spec: sharma §8 T-12";
        /// Longest time beyond it that counts.
        delta_cap: f64 = 600.0, in 0.0, 100_000.0, unit "s", source "spec: sharma §8, corner cases";
        /// Least fraction of the window kept on congestion.
        beta_min: f64 = 0.5, in 0.1, 0.99, source "spec: sharma §8 T-12";
        /// Largest fraction of the window kept on congestion.
        beta_max: f64 = 0.8, in 0.1, 0.99, source "spec: sharma §8 T-12";
        /// Relative change of throughput between two events above which the least is kept; infinite is never.
        change: f64 = 0.2, in 0.0, f64::INFINITY, source "spec: sharma §8 rule 4.2";
        /// Whether the increase is scaled with the minimum RTT.
        rtt_scaling: bool = true, source "spec: sharma §8, A-14";
        /// The minimum RTT at which scaling changes nothing.
        rtt_ref: f64 = 0.1, in 0.001, 10.0, unit "s", source "spec: sharma §8, A-14";
        /// Share of the largest queueing delay remembered past a congestion event.
        fade: f64 = 0.95, in 0.0, 1.0, source "spec: sharma §8 rule 4.4";
    }
}

impl Params {
    /// Packets a window grows by per round trip `delta` seconds after a congestion event,
    /// before scaling (`spec: sharma §8 T-12`).
    #[must_use]
    #[inline]
    pub fn polynomial(&self, delta: f64) -> f64 {
        let x = (delta - self.delta_l).min(self.delta_cap);
        if x <= 0.0 { 1.0 } else { 1.0 + 10.0 * x + 0.25 * x * x }
    }

    /// The factor by which RTT scaling changes the increase (`spec: sharma §8 rule 3`).
    #[must_use]
    #[inline]
    pub fn scale(&self, rtt_min: Option<Span>) -> f64 {
        match rtt_min {
            Some(rtt) if self.rtt_scaling => (rtt.secs() / self.rtt_ref).clamp(0.1, 2.0),
            _ => 1.0,
        }
    }

    /// Fraction kept when RTTs were between `min` and `max`: what drains the queue
    /// (`spec: sharma §8 T-12`).
    #[must_use]
    pub fn backoff(&self, min: Span, max: Span) -> f64 {
        let ratio = if max > min { min.secs() / max.secs() } else { 1.0 };
        ratio.min(self.beta_max).max(self.beta_min)
    }
}

/// What a congestion response changes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Track {
    /// When Δ began to run.
    last_cong: Time,
    /// Fraction the latest response kept.
    beta: f64,
    /// Largest RTT sample outside recovery, faded at each response.
    rtt_max: Span,
    /// Largest throughput before the latest response that stored one, packets/s.
    b_old: Option<f64>,
}

/// What it remembers besides its window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Memory {
    track: Track,
    /// `track` as the latest response found it.
    before: Track,
    /// Smallest RTT sample.
    rtt_min: Option<Span>,
    meter: Meter,
    /// Growth per round trip at the latest growth, packets.
    alpha: f64,
}

impl Memory {
    /// `spec: sharma §8 rule 3`.
    #[inline]
    fn alpha(&self, params: &Params, now: Time) -> f64 {
        let delta = now.since(self.track.last_cong).secs();
        let scale = if delta > params.delta_l { params.scale(self.rtt_min) } else { 1.0 };
        2.0 * (1.0 - self.track.beta) * scale * params.polynomial(delta)
    }
}

/// H-TCP's rules.
#[derive(Debug)]
pub struct HTcpRules;

/// H-TCP (`spec: sharma §8`).
pub type HTcp = LossBased<HTcpRules>;

impl Rules for HTcpRules {
    const INFO: Info = Info {
        name: "h-tcp",
        summary: "grows faster the longer ago congestion was, gives up what empties the queue",
        source: "spec: sharma §8",
        fallback: None,
    };
    const NEEDS: Signals = Signals::ACKS.and(Signals::LOSS).and(Signals::RTT);
    type Params = Params;
    type Memory = Memory;

    fn start(params: &Params, path: &Path) -> Memory {
        let track = Track { last_cong: path.now, beta: params.beta_min, rtt_max: Span::ZERO, b_old: None };
        Memory { track, before: track, rtt_min: None, meter: Meter::start(path.now), alpha: 1.0 }
    }

    /// `spec: sharma §8 rules 1, 2`.
    #[inline]
    fn heard(_: &Params, memory: &mut Memory, window: &Window, event: &Event) {
        let recovering = window.recovery.in_recovery();
        if let Some(rtt) = event.rtt().map(|rtt| rtt.adjusted()).filter(|rtt| *rtt > Span::ZERO) {
            memory.rtt_min = Some(memory.rtt_min.map_or(rtt, |min| min.min(rtt)));
            if !recovering {
                memory.track.rtt_max = memory.track.rtt_max.max(rtt);
            }
        }
        let EventKind::PacketsAcked(acked) = &event.kind else { return };
        if recovering {
            memory.meter.restart(event.now);
        } else if let Some(rtt_min) = memory.rtt_min {
            let enough = window.cwnd - memory.alpha.max(1.0);
            let since = event.now.since(memory.track.last_cong);
            memory.meter.count(event.now, acked.bytes as f64 / window.mtu, enough, rtt_min, since);
        }
    }

    /// `spec: sharma §8 rule 3`.
    #[inline]
    fn increase(params: &Params, memory: &mut Memory, window: &Window, now: Time, units: f64) -> f64 {
        memory.alpha = memory.alpha(params, now);
        aimd::increase(memory.alpha, window, units)
    }

    /// `spec: sharma §8 rule 4`, A-15, A-16.
    fn decrease(params: &Params, memory: &mut Memory, window: &Window, event: &Event) -> Reduction {
        memory.before = memory.track;
        let min = memory.rtt_min.unwrap_or(memory.track.rtt_max);
        let track = &mut memory.track;
        track.beta = if window.halves_first(&params.base) {
            // The platform's own halving: nothing is learnt from it.
            0.5
        } else {
            let b = memory.meter.largest();
            let alike = track.b_old.is_some_and(|old| (b - old).abs() <= params.change * old);
            track.b_old = Some(b);
            if alike { params.backoff(min, track.rtt_max) } else { params.beta_min }
        };
        track.last_cong = event.now;
        track.rtt_max = min + Span(((track.rtt_max - min).0 as f64 * params.fade) as u64);
        Reduction::to(track.beta, window.cwnd)
    }

    /// `spec: sharma §8 rule 5`.
    fn timeout(params: &Params, memory: &mut Memory, _: &Window, event: &Event) -> f64 {
        let Track { rtt_max, .. } = memory.track;
        memory.track = Track { last_cong: event.now, beta: params.beta_min, rtt_max, b_old: None };
        0.5
    }

    /// Not in the document; as `RFC 9438 §4.9.2` has it. What was measured since stays.
    fn undone(_: &Params, memory: &mut Memory, _: &Window) {
        let rtt_max = memory.track.rtt_max.max(memory.before.rtt_max);
        memory.track = Track { rtt_max, ..memory.before };
    }

    /// Time in which the flow could not grow does not make it grow faster.
    fn paused(_: &Params, memory: &mut Memory, now: Time, span: Span) {
        for track in [&mut memory.track, &mut memory.before] {
            track.last_cong = (track.last_cong + span).min(now);
        }
    }

    fn resized(memory: &mut Memory, ratio: f64) {
        memory.meter.resize(ratio);
        for track in [&mut memory.track, &mut memory.before] {
            track.b_old = track.b_old.map(|b| b * ratio);
        }
    }

    fn inspect(_: &Params, memory: &Memory, _: &Window, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", memory.alpha);
        visit("beta", memory.track.beta);
        visit("rtt_min_ms", memory.rtt_min.map_or(0.0, Span::millis));
        visit("rtt_max_ms", memory.track.rtt_max.millis());
        visit("throughput_max_pps", memory.meter.largest());
    }
}

#[cfg(test)]
mod tests;
