//! What controllers' pages say of regimes where bounds do not hold.

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
    windows::KNOWN_LIMITS.iter().chain(RATES)
}

/// What `controller`'s page says to a bound of that kind in `regime` on `stack`.
pub(super) fn known_limit(controller: &str, stack: &str, regime: &Regime, kind: Kind) -> Option<&'static str> {
    let is_of = |name: &&str| name.split_once('@').map_or(*name == controller, |of| of == (controller, stack));
    let fits = |limit: &&KnownLimit| {
        limit.controllers.iter().any(is_of) && limit.kinds.contains(&kind) && (limit.holds)(regime)
    };
    known_limits().find(fits).map(|limit| limit.says)
}

/// Of controllers that keep a rate.
const RATES: &[KnownLimit] = &[
    KnownLimit {
        controllers: &["bbr"],
        kinds: HARM,
        holds: |regime| holds_less(regime, 8.0),
        says: "It never has fewer than four packets in flight",
    },
    KnownLimit {
        controllers: &["bbr"],
        kinds: USE,
        holds: |regime| regime.room() < 4.0,
        says: "What is lost of them may be all that may be in flight, so that only a probe timeout shows it",
    },
    KnownLimit {
        controllers: &["bbr"],
        kinds: &[Kind::Utilisation, Kind::Loss, Kind::Queue, Kind::Fairness, Kind::Standstill],
        holds: |regime| regime.longest_round() > 1.0,
        says: "every five seconds it looks for the minimum RTT",
    },
    KnownLimit {
        controllers: &["bbr"],
        kinds: &[Kind::Utilisation, Kind::Loss],
        holds: Regime::holds_acks,
        says: "its bandwidth samples are those of bursts",
    },
    KnownLimit {
        controllers: &["bbr"],
        kinds: &[Kind::Queue],
        holds: |regime| carries_less(regime, 4.0),
        says: "What it adds to the window for bursts (draft §5.5.9, §5.6.3) is several packets",
    },
    KnownLimit {
        controllers: &["bbr"],
        kinds: QUEUE,
        holds: comes_later,
        says: "A flow that starts into a queue takes it for the path until it next looks for the minimum RTT",
    },
    KnownLimit {
        controllers: &["bbr"],
        kinds: USE,
        holds: |regime| regime.path() == Path::Reordering,
        says: "Packets that others overtake are losses until they arrive",
    },
    KnownLimit {
        controllers: &["rapid"],
        kinds: SHARES,
        holds: |_| true,
        says: "there is no rule that makes them equal",
    },
    KnownLimit {
        controllers: &["rapid"],
        kinds: USE,
        holds: |regime| matches!(regime.path(), Path::Loss(_) | Path::Reordering),
        says: "on a link with random losses or reordering most trains end early",
    },
    KnownLimit {
        controllers: &["rapid"],
        kinds: &[Kind::Utilisation, Kind::Loss],
        holds: |regime| (regime.buffer() as f64) < 7.0 * f64::from(regime.flows()),
        says: "A buffer that holds fewer of each flow loses some of every train",
    },
    KnownLimit {
        controllers: &["rapid"],
        kinds: LOSS,
        holds: takes_spare_twice,
        says: "Flows measure the same spare rate at the same time and take it twice",
    },
    KnownLimit {
        controllers: &["rapid"],
        kinds: USE,
        holds: Regime::holds_acks,
        says: "Slow start begins with two packets, a fifth of the initial window",
    },
    KnownLimit {
        controllers: &["c4"],
        kinds: USE,
        holds: |regime| starts_small(regime) || regime.path() == Path::Reordering,
        says: "A loss, or a packet that others overtake, costs a fast flow a quarter of its rate",
    },
    KnownLimit {
        controllers: &["c4"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1,
        says: "Flows become equal by a push in every sixth round trip",
    },
    KnownLimit {
        controllers: &["c4"],
        kinds: &[Kind::Queue],
        holds: |regime| regime.flows() > 1,
        says: "and further by what several flows push at once",
    },
    KnownLimit {
        controllers: &["c4"],
        kinds: LOSS,
        holds: |regime| holds_less(regime, 3.0),
        says: "A push adds a packet to a window of two",
    },
    KnownLimit { controllers: &["bbr1"], kinds: LOSS, holds: |_| true, says: "It does not answer losses" },
    KnownLimit {
        controllers: &["bbr1"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "Several flows see each other's queue in every sample of the RTT",
    },
    KnownLimit {
        controllers: &["bbr1"],
        kinds: USE,
        holds: Regime::holds_acks,
        says: "its bandwidth samples are those of bursts",
    },
    KnownLimit {
        controllers: &["bbr1"],
        kinds: &[Kind::Window],
        holds: |regime| holds_less(regime, 8.0),
        says: "It never has fewer than four packets in flight (draft §4.2.3.3), and three quanta more",
    },
    KnownLimit {
        controllers: &["scream"],
        kinds: LOSS,
        holds: |regime| holds_less(regime, 15.0) || regime.holds_acks(),
        says: "it loses more than Reno",
    },
    KnownLimit {
        controllers: &["scream"],
        kinds: &[Kind::Queue],
        holds: |regime| regime.flows() > 1,
        says: "beside others up to 400 ms",
    },
    KnownLimit {
        controllers: &["scream"],
        kinds: &[Kind::Queue],
        holds: |regime| holds_less(regime, 15.0),
        says: "its least window of some three packets",
    },
    KnownLimit {
        controllers: &["scream"],
        kinds: USE,
        holds: |regime| is_large(regime) || starts_small(regime) || regime.path() == Path::Reordering,
        says: "On a fast path it uses a part for a long time",
    },
    KnownLimit {
        controllers: &["scream", "nada", "gcc"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1,
        says: "take long to get their share",
    },
    KnownLimit {
        controllers: &["nada"],
        kinds: LOSS,
        holds: |regime| holds_less(regime, 25.0),
        says: "what ramp-up sends too much a small buffer loses before the rate falls",
    },
    KnownLimit {
        controllers: &["nada"],
        kinds: USE,
        holds: |regime| regime.rate() >= 1e9 || is_large(regime) || starts_small(regime),
        says: "a fast path that has losses, jitter of 10 ms or no buffer it uses to a small part",
    },
    KnownLimit {
        controllers: &["gcc"],
        kinds: USE,
        holds: |regime| regime.rate() >= 1e9,
        says: "a fast path that has losses, jitter or hardly a buffer it uses to a small part",
    },
];
