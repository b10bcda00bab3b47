//! What controllers' pages say of regimes where bounds do not hold.

use super::bounds::Kind;
use super::regime::{Path, Regime};

/// A sentence of a controller's page that is the reason for a bound that does not hold.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The controllers.
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

/// Whether path and buffer hold fewer than so many packets of each flow.
fn holds_less(regime: &Regime, packets: f64) -> bool {
    regime.room() < packets * f64::from(regime.flows())
}

/// What is told.
pub const TOLD: &[Told] = &[
    Told {
        controllers: &["reno"],
        kinds: USE,
        // The first flight is a burst, of which such a buffer loses a part: slow start ends there.
        holds: |regime| regime.buffer() < 10,
        says: "On a fast, long path one packet per round trip takes minutes to hours to fill it",
    },
    Told {
        controllers: &["cubic", "cubic-2005", "h-tcp"],
        kinds: HARM,
        holds: |regime| regime.longest_round() > 1.0,
        says: "It grows by the clock: where a round trip takes seconds",
    },
    Told {
        controllers: &["fast"],
        kinds: &[Kind::Loss, Kind::Fairness, Kind::Standstill, Kind::Window],
        holds: |regime| (regime.buffer() as f64) < 312.0 * f64::from(regime.flows()),
        says: "Where the buffer is smaller than the sum of the alphas it is in permanent loss.",
    },
    Told {
        controllers: &["fast"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "A flow that starts into a standing queue takes that for the path, keeps more than its share queued",
    },
    Told {
        controllers: &["aimd"],
        kinds: HARM,
        holds: |regime| holds_less(regime, 64.0),
        says: "Taken literally, a window below `a` packets grows faster than in slow start",
    },
    Told {
        controllers: &["tcp-k", "multcp"],
        kinds: HARM,
        holds: |regime| holds_less(regime, 16.0),
        says: "Where path and buffer hold fewer than four packets of each of the flows it counts as",
    },
    Told {
        controllers: &["bbr"],
        kinds: HARM,
        holds: |regime| holds_less(regime, 8.0),
        says: "It never has fewer than four packets in flight",
    },
    Told {
        controllers: &["nf-tcp"],
        kinds: HARM,
        holds: |_| true,
        says: "where routers do not mark early it is only a milder Reno",
    },
    Told {
        controllers: &["vegas"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "A flow that starts on a loaded path takes the loaded RTT for the least one and keeps more queued",
    },
    Told {
        controllers: &["red-vegas", "rovegas"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "A least RTT that is not the path's keeps more queued, as with Vegas",
    },
    Told {
        controllers: &["quick-vegas"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "a least RTT that is not the path's",
    },
    Told {
        controllers: &["enhanced-vegas"],
        kinds: QUEUE,
        holds: |_| true,
        says: "the queue the flow itself keeps gets into them",
    },
    Told {
        controllers: &["enhanced-vegas"],
        kinds: USE,
        holds: |regime| regime.path() == Path::Jitter,
        says: "one packet per round trip",
    },
    Told { controllers: &["scalable"], kinds: SHARES, holds: |_| true, says: "it never converges" },
    Told {
        controllers: &["tri-s"],
        kinds: SHARES,
        holds: |_| true,
        says: "One packet of many changes the throughput by less than jitter does",
    },
    Told {
        controllers: &["card"],
        kinds: SHARES,
        holds: |regime| regime.flows() >= 10,
        says: "Among many flows one's own part of the queue is too small to be seen",
    },
    Told {
        controllers: &["card"],
        kinds: USE,
        holds: |regime| regime.path() != Path::Clean,
        says: "any noise costs an eighth half of the time",
    },
    Told { controllers: &["ledbat"], kinds: QUEUE, holds: |regime| regime.flows() > 1, says: "Late-comer advantage" },
    Told {
        controllers: &["ledbat"],
        kinds: USE,
        holds: |regime| regime.room() > 100.0 * f64::from(regime.flows()),
        says: "Growth is one packet per round trip at most, with no slow start: it takes long to fill fast paths.",
    },
    Told {
        controllers: &["ledbat++"],
        kinds: USE,
        holds: |regime| regime.rtt() < 0.02,
        says: "On short paths it is slow",
    },
    Told {
        controllers: &["nice"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1,
        says: "A flow of its kind that came later, when a queue stood, gets more.",
    },
    Told { controllers: &["rapid"], kinds: SHARES, holds: |_| true, says: "there is no rule that makes them equal" },
    Told {
        controllers: &["rapid"],
        kinds: USE,
        holds: |regime| matches!(regime.path(), Path::Loss(_)),
        says: "on a link with random losses most trains end early",
    },
    Told {
        controllers: &["dca-c", "dca-s", "dual"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1,
        says: "never ages",
    },
];

/// What `controller`'s page says to a bound of that kind in `regime`.
pub(super) fn told(controller: &str, regime: &Regime, kind: Kind) -> Option<&'static str> {
    let fits =
        |told: &&Told| told.controllers.contains(&controller) && told.kinds.contains(&kind) && (told.holds)(regime);
    TOLD.iter().find(fits).map(|told| told.says)
}
