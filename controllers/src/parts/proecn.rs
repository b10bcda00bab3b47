//! ProECN: measures the available bandwidth with probe trains that routers mark
//! (`spec: arumaithurai §3.6`).
//!
//! The sender's side: which train goes when, and what its reading means. The reading
//! itself is [`chirp::analyser`](crate::parts::chirp::analyser)'s.

mod engine;

use crate::parameters;
use crate::parts::chirp::analyser::{Reading, Source, Turn};
use crate::parts::compose::{Estimate, Estimator, Input, Signal, Wants};
use crate::{EventKind, Path, Signals};

pub use engine::{Phase, State};

parameters! {
    /// Parameters of [`ProEcn`].
    pub struct Params {
        /// Fraction of the estimate that growth and the next train's mean rate go for; under 0.2365 a train of the default shape cannot see a constant bandwidth again.
        alpha: f64 = 0.5, in 0.01, 1.0, source "spec: arumaithurai A1";
        /// Packets of a full train (N).
        n: u32 = 15, in 2, 64, unit "packets", source "spec: arumaithurai §3.3";
        /// Ratio of consecutive gaps' rates (SF).
        sf: f64 = 1.2, in 1.01, 4.0, source "spec: arumaithurai §3.3";
        /// Packets of the first train, doubled per train up to a full one.
        n0: u32 = 2, in 2, 64, unit "packets", source "spec: arumaithurai §3.3, A15";
        /// Smallest rate a train begins with, and the first.
        rate_floor: f64 = 1e6, in 1e3, 1e12, unit "bit/s", source "spec: arumaithurai §3.3, A15";
        /// Largest rate a train begins with, so that a path that never marks cannot drive it to infinity.
        rate_ceiling: f64 = 1e11, in 1e3, 1e12, unit "bit/s", source "choice";
        /// Size of a probe; 0, or more than a datagram, is the maximum datagram size.
        probe_size: u32 = 0, in 0, 65_527, unit "bytes", source "spec: arumaithurai §3.3, A14";
        /// Longest pause between a result and the next train, whose length is uniformly distributed.
        wait: f64 = 2.0, in 0.0, 1000.0, unit "base RTTs", source "spec: arumaithurai §3.3, A13";
        /// How many saturated trains in a row switch probing off.
        zero_off: u32 = 8, in 1, 1000, unit "trains", source "spec: arumaithurai A12";
        /// Time after which a prober switched off tries one train.
        probefreq: f64 = 10.0, in 0.1, 86_400.0, unit "s", source "spec: arumaithurai A12";
        /// How long the peer may hold back an ACK.
        max_ack_delay: f64 = 25.0, in 0.0, 10_000.0, unit "ms", source "RFC 9000 §18.2; spec: arumaithurai A17";
        /// Which probe of a train counts as the first that met congestion.
        estimator: Turn = Turn::FirstMark, source "spec: arumaithurai A3";
        /// What shows that a probe met congestion.
        signal_source: Source = Source::Ce, source "spec: arumaithurai A16";
        /// How much longer than every delay before it a probe's delay has to be.
        delay_margin: f64 = 100.0, in 0.0, 1e6, unit "µs", source "spec: arumaithurai §3.7 R2";
        /// Differentiated services codepoint of probes, one for local use with the precedence of CS1.
        probe_dscp: u32 = 11, in 0, 63, source "RFC 2474 §6; spec: arumaithurai §4.3";
        /// Whether to do without probing.
        fallback: bool = false, source "spec: arumaithurai §3.8";
    }
}

impl Params {
    fn reading(&self) -> Reading {
        Reading { turn: self.estimator, source: self.signal_source, margin: (self.delay_margin * 1e3) as i64 }
    }
}

/// Bandwidth estimation by probe trains (`spec: arumaithurai §3.6 P1–P5`).
///
/// At most one train is under way. A train begins only after data was acknowledged since
/// the one before, so that a connection that has nothing to send falls silent.
#[derive(Debug)]
pub struct ProEcn;

impl Estimator for ProEcn {
    type Params = Params;
    type State = State;

    fn needs(params: &Params) -> Signals {
        if params.fallback {
            return Signals::NONE;
        }
        let source = match params.signal_source {
            Source::Ce => Signals::ECN,
            Source::Delay => Signals::ONE_WAY_DELAY,
            Source::Both => Signals::ECN | Signals::ONE_WAY_DELAY,
        };
        Signals::ACKS | Signals::RTT | Signals::PROBE_TRAINS | Signals::WAKE_UP | source
    }

    fn start(params: &Params, path: &Path) -> State {
        State::start(params, path)
    }

    #[inline]
    fn update(params: &Params, state: &mut State, input: Input<'_>, signal: Signal) -> Option<Estimate> {
        if params.fallback {
            return None;
        }
        let now = input.event.now;
        state.heed(signal, now);
        let mut outcome = None;
        match &input.event.kind {
            EventKind::PacketsAcked(acked) => state.acked(params, input.path, now, acked),
            EventKind::ProbeReceived(probed) => outcome = state.probed(params, probed),
            EventKind::IdleRestart(idle) if idle.is_long() => state.cancel(now),
            EventKind::MtuUpdated(mtu) => state.mtu = *mtu,
            _ => {}
        }
        if outcome.is_none() && !state.is_due(now) {
            return None;
        }
        state.proceed(params, &input, outcome)
    }

    #[inline]
    fn wants(params: &Params, state: &State) -> Wants {
        state.wants(params)
    }

    fn inspect(_: &Params, state: &State, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("prober_phase", f64::from(state.phase as u8));
        visit("train_packets", f64::from(state.packets));
        visit("min_rate_mbps", state.min_rate / 1e6);
        visit("trains_sent", f64::from(state.last_id));
        visit("train_outstanding", f64::from(state.outstanding().is_some()));
        visit("zero_streak", f64::from(state.zero_streak));
    }
}

#[cfg(test)]
mod tests;
