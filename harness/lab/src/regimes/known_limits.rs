//! What controllers' pages say of regimes where bounds do not hold.

mod rates;
mod windows;

use super::bounds::Kind;
use super::regime::{Path, Regime};

/// A sentence of a controller's page that is the reason for a bound that does not hold.
#[derive(Clone, Copy, Debug)]
pub struct KnownLimit {
    /// The controllers; `NAME@STACK` where it is one stack's doing.
    pub controllers: &'static [&'static str],
    /// The bounds.
    pub kinds: &'static [Kind],
    /// Where.
    pub holds: fn(&Regime) -> bool,
    /// What the page says, in its words; a test looks them up in its *Known limits*.
    pub says: &'static str,
}

const SHARES: &[Kind] = &[Kind::Fairness, Kind::Standstill];
const HARM: &[Kind] = &[Kind::Loss, Kind::Fairness, Kind::Standstill];
const QUEUE: &[Kind] = &[Kind::Fairness, Kind::Standstill, Kind::Queue];
const USE: &[Kind] = &[Kind::Utilisation];
const LOSS: &[Kind] = &[Kind::Loss];

/// Whether the buffer loses a part of the first flight, a burst of ten packets (`RFC 9002 §7.2`): slow start ends there.
fn starts_small(regime: &Regime) -> bool {
    regime.buffer() < 10
}

/// Whether path and buffer hold so many packets of each flow that one more a round trip takes all of a short run.
fn is_large(regime: &Regime) -> bool {
    regime.room() > 100.0 * f64::from(regime.flows())
}

/// Whether flows come when others have the path.
fn comes_later(regime: &Regime) -> bool {
    regime.stagger() > 0.0
}

/// Whether delays vary by themselves.
fn is_unsteady(regime: &Regime) -> bool {
    matches!(regime.path(), Path::Jitter | Path::Reordering)
}

/// Whether the path holds fewer than so many packets of each flow.
fn carries_less(regime: &Regime, packets: f64) -> bool {
    regime.bdp() < packets * f64::from(regime.flows())
}

/// Whether what several flows take of the same spare rate for a round trip, or a train of thirty packets each, is more
/// than the buffer holds.
fn takes_spare_twice(regime: &Regime) -> bool {
    let flows = f64::from(regime.flows());
    flows > 1.0 && (regime.buffer() as f64) < (30.0 * flows).max((flows - 1.0) * regime.bdp())
}

/// Whether path and buffer hold fewer than so many packets of each flow.
fn holds_less(regime: &Regime, packets: f64) -> bool {
    regime.room() < packets * f64::from(regime.flows())
}

/// Those of the catalogue.
pub fn known_limits() -> impl Iterator<Item = &'static KnownLimit> {
    windows::KNOWN_LIMITS.iter().chain(rates::KNOWN_LIMITS)
}

/// What `controller`'s page says to a bound of that kind in `regime` on `stack`.
pub(super) fn known_limit(controller: &str, stack: &str, regime: &Regime, kind: Kind) -> Option<&'static str> {
    let is_of = |name: &&str| name.split_once('@').map_or(*name == controller, |of| of == (controller, stack));
    let fits = |limit: &&KnownLimit| {
        limit.controllers.iter().any(is_of) && limit.kinds.contains(&kind) && (limit.holds)(regime)
    };
    known_limits().find(fits).map(|limit| limit.says)
}
