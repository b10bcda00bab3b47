//! What controllers' pages say of regimes where bounds do not hold.

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
pub const KNOWN_LIMITS: &[KnownLimit] = &[
    KnownLimit {
        controllers: &["reno@quinn", "a-tcp@quinn"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1 && regime.longest_round() > 5.0,
        says: "On quinn a handshake whose end is lost behind a queue of seconds is probed again after minutes",
    },
    KnownLimit {
        controllers: &["reno"],
        kinds: USE,
        holds: starts_small,
        says: "On a fast, long path one packet per round trip takes minutes to hours to fill it",
    },
    KnownLimit {
        controllers: &["cubic", "cubic-2005", "h-tcp"],
        kinds: HARM,
        holds: |regime| regime.longest_round() > 1.0,
        says: "It grows by the clock: where a round trip takes seconds",
    },
    KnownLimit {
        controllers: &["h-tcp"],
        kinds: &[Kind::Loss, Kind::Fairness, Kind::Standstill, Kind::Window],
        // A Reno flow rises from half of path and buffer to all of it.
        holds: |regime| regime.longest_round() * regime.room() / f64::from(regime.flows()) / 2.0 > 1.0,
        says: "More than a second after an event the increase grows with the time",
    },
    KnownLimit {
        controllers: &["cubic-2005"],
        kinds: USE,
        holds: starts_small,
        says: "The friendly floor rises by a third of a packet per round trip",
    },
    KnownLimit {
        controllers: &["cubic"],
        kinds: USE,
        holds: starts_small,
        says: "While it is Reno-friendly it adds half a packet per round trip",
    },
    KnownLimit {
        controllers: &["scalable"],
        kinds: USE,
        holds: starts_small,
        says: "Between 16 and 100 packets its own increment is smaller than Reno's.",
    },
    KnownLimit {
        controllers: &["cubic-2005"],
        kinds: LOSS,
        holds: |regime| !regime.has_room(),
        says: "Where path and buffer hold fewer than four packets of each flow, giving up a fifth is too little",
    },
    KnownLimit {
        controllers: &["reno", "cubic", "cubic-2005", "bic", "scalable"],
        kinds: LOSS,
        holds: Regime::holds_acks,
        says: "Acknowledgements for many packets let a window leave in bursts",
    },
    KnownLimit {
        controllers: &["tcp-k", "multcp"],
        kinds: LOSS,
        holds: |regime| regime.holds_acks() && regime.buffer() == 0,
        says: "without a buffer most of such a burst is lost",
    },
    KnownLimit {
        controllers: &["highspeed"],
        kinds: SHARES,
        holds: comes_later,
        says: "Two flows converge slowly: the larger grows faster and gives up less.",
    },
    KnownLimit {
        controllers: &["tcp-africa"],
        kinds: SHARES,
        holds: comes_later,
        says: "Flows converge as slowly as HighSpeed TCP's",
    },
    KnownLimit {
        controllers: &["bic", "aimd"],
        kinds: SHARES,
        holds: comes_later,
        says: "It gives up an eighth, so that flows that come later take several times as long",
    },
    KnownLimit {
        controllers: &["cubic-2005"],
        kinds: SHARES,
        holds: comes_later,
        says: "it takes long to make room for a new flow",
    },
    KnownLimit {
        controllers: &["cubic"],
        kinds: SHARES,
        holds: comes_later,
        says: "It gives up three tenths, so that flows that come later take longer",
    },
    KnownLimit {
        controllers: &["tcp-k", "multcp"],
        kinds: SHARES,
        holds: comes_later,
        says: "so that flows that come later take as many times longer than Reno's to get their share",
    },
    KnownLimit {
        controllers: &["ctcp"],
        kinds: SHARES,
        holds: comes_later,
        says: "so that flows that come later take longer than Reno's to get their share",
    },
    KnownLimit {
        controllers: &["nf-tcp-prime"],
        kinds: SHARES,
        holds: comes_later,
        says: "those that come later take longer than Reno's to get their share",
    },
    KnownLimit {
        controllers: &["ctcp"],
        kinds: LOSS,
        holds: |regime| (regime.buffer() as f64) < 30.0 * f64::from(regime.flows()),
        says: "Where buffers hold fewer than 30 packets, or many such flows share one",
    },
    KnownLimit {
        controllers: &["prague"],
        kinds: &[Kind::Utilisation, Kind::Fairness],
        holds: |regime| regime.rtt() < 0.025,
        says: "Growth is that of a flow with an RTT of 25 ms",
    },
    KnownLimit {
        controllers: &["fast"],
        kinds: &[Kind::Utilisation, Kind::Loss, Kind::Fairness, Kind::Standstill, Kind::Window],
        holds: |regime| (regime.buffer() as f64) < 312.0 * f64::from(regime.flows()),
        says: "Where the buffer is smaller than the sum of the alphas it is in permanent loss.",
    },
    KnownLimit {
        controllers: &["fast"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "A flow that starts into a standing queue takes that for the path, keeps more than its share queued",
    },
    KnownLimit {
        controllers: &["aimd"],
        kinds: HARM,
        holds: |regime| holds_less(regime, 64.0),
        says: "Taken literally, a window below `a` packets grows faster than in slow start",
    },
    KnownLimit {
        controllers: &["aimd"],
        kinds: LOSS,
        holds: |regime| (regime.buffer() as f64) < 32.0 * f64::from(regime.flows()),
        says: "Each overflow loses `a` packets at once",
    },
    KnownLimit {
        controllers: &["tcp-k", "multcp"],
        kinds: HARM,
        holds: |regime| holds_less(regime, 16.0),
        says: "Where path and buffer hold fewer than four packets of each of the flows it counts as",
    },
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
        controllers: &["nf-tcp"],
        kinds: USE,
        holds: Regime::holds_acks,
        says: "Slow start ends with the first estimate, whatever it says",
    },
    KnownLimit {
        controllers: &["nf-tcp"],
        kinds: HARM,
        holds: |_| true,
        says: "where routers do not mark early it is only a milder Reno",
    },
    KnownLimit {
        controllers: &["vegas"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "A flow that starts on a loaded path takes the loaded RTT for the least one and keeps more queued",
    },
    KnownLimit {
        controllers: &["red-vegas", "rovegas"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "A least RTT that is not the path's keeps more queued, as with Vegas",
    },
    KnownLimit {
        controllers: &["quick-vegas"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "a least RTT that is not the path's",
    },
    KnownLimit {
        controllers: &["enhanced-vegas"],
        kinds: QUEUE,
        holds: |_| true,
        says: "the queue the flow itself keeps gets into them",
    },
    KnownLimit {
        controllers: &["vegas", "quick-vegas", "rovegas", "red-vegas", "enhanced-vegas", "nice"],
        kinds: USE,
        holds: is_unsteady,
        says: "Jitter counts as a queue",
    },
    KnownLimit {
        controllers: &["vegas", "quick-vegas", "rovegas", "red-vegas", "enhanced-vegas", "tri-s", "nice", "copa"],
        kinds: USE,
        holds: Regime::holds_acks,
        says: "a window leaves in one burst, whose own queue counts",
    },
    KnownLimit {
        controllers: &["vegas", "quick-vegas", "rovegas", "red-vegas", "enhanced-vegas", "tri-s", "card", "nice"],
        kinds: LOSS,
        holds: |regime| !regime.has_room(),
        says: "no queue is long enough to stop it before packets are lost",
    },
    KnownLimit {
        controllers: &["quick-vegas"],
        kinds: LOSS,
        holds: |regime| (regime.buffer() as f64) <= 3.0 * f64::from(regime.flows()),
        says: "Where no queue can form its steps grow from decision to decision",
    },
    KnownLimit { controllers: &["scalable"], kinds: SHARES, holds: |_| true, says: "it never converges" },
    KnownLimit {
        controllers: &["tri-s"],
        kinds: SHARES,
        holds: |_| true,
        says: "One packet of many changes the throughput by less than jitter does",
    },
    KnownLimit {
        controllers: &["tri-s"],
        kinds: USE,
        holds: is_unsteady,
        says: "One packet of many changes the throughput by less than jitter does",
    },
    KnownLimit {
        controllers: &["tri-s"],
        kinds: USE,
        holds: starts_small,
        says: "One packet per three round trips, up or down",
    },
    KnownLimit {
        controllers: &["card"],
        kinds: SHARES,
        holds: |regime| regime.flows() >= 10,
        says: "Among many flows one's own part of the queue is too small to be seen",
    },
    KnownLimit {
        controllers: &["card"],
        kinds: USE,
        holds: |regime| regime.path() != Path::Clean,
        says: "any noise costs an eighth half of the time",
    },
    KnownLimit {
        controllers: &["card"],
        kinds: USE,
        // What slow start leaves is less than the path where others' packets end it, or a small buffer.
        holds: |regime| {
            (starts_small(regime) || regime.flows() > 1) && regime.room() > 10.0 * f64::from(regime.flows())
        },
        says: "A packet per three round trips is slow on long fat paths.",
    },
    KnownLimit {
        controllers: &["dual"],
        kinds: USE,
        holds: |regime| regime.path() == Path::Jitter,
        says: "On a path without a queue the range is jitter",
    },
    KnownLimit {
        controllers: &["ledbat"],
        kinds: QUEUE,
        holds: |regime| regime.flows() > 1,
        says: "Late-comer advantage",
    },
    KnownLimit {
        controllers: &["ledbat"],
        kinds: USE,
        holds: |regime| regime.holds_acks() || is_large(regime),
        says: "Growth is one packet per round trip at most, with no slow start: it takes long to fill fast paths.",
    },
    KnownLimit {
        controllers: &["ledbat"],
        kinds: &[Kind::Queue],
        // A run of a hundred round trips takes ten minutes.
        holds: |regime| regime.longest_round() > 6.0,
        says: "lets the delay drift upwards, a target every ten minutes",
    },
    KnownLimit {
        controllers: &["ledbat"],
        kinds: USE,
        holds: |regime| regime.path() == Path::Reordering,
        says: "Packets that others overtake are losses until they arrive",
    },
    KnownLimit {
        controllers: &["ledbat", "ledbat++"],
        kinds: LOSS,
        holds: |regime| !regime.has_room(),
        says: "where path and buffer hold fewer than four packets of each flow, more flows get through than of Reno's",
    },
    KnownLimit {
        controllers: &["ledbat++"],
        kinds: &[Kind::Queue],
        holds: |regime| carries_less(regime, 2.0),
        says: "where the path carries fewer, they stand in its queue",
    },
    KnownLimit {
        controllers: &["ledbat++"],
        kinds: SHARES,
        holds: |regime| regime.packet_time() > 0.06,
        says: "Where a packet takes longer to send than the target, the least delay may be that of a smaller one",
    },
    KnownLimit {
        controllers: &["ledbat++"],
        kinds: &[Kind::Utilisation, Kind::Fairness, Kind::Standstill],
        holds: |regime| regime.rtt() < 0.02,
        says: "On short paths it is slow",
    },
    KnownLimit {
        controllers: &["ledbat++"],
        kinds: USE,
        // A quarter of the RTT is more than the target of 60 ms.
        holds: |regime| regime.path() == Path::Jitter && regime.rtt() > 0.24,
        says: "Delays that vary by themselves by more than the target count as a queue",
    },
    KnownLimit {
        controllers: &["ledbat++"],
        kinds: USE,
        holds: is_large,
        says: "Once slow start is over it grows by a packet per round trip at most",
    },
    KnownLimit {
        controllers: &["ledbat++"],
        kinds: USE,
        holds: |regime| (regime.buffer() as f64) * regime.packet_time() < 0.06,
        says: "Where the buffer holds less than the target it is a slow Reno, and still slows down.",
    },
    KnownLimit {
        controllers: &["nice"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1,
        says: "A flow of its kind that came later, when a queue stood, gets more.",
    },
    KnownLimit {
        controllers: &["nice"],
        kinds: &[Kind::Utilisation, Kind::Standstill],
        holds: |regime| carries_less(regime, 2.0),
        says: "A second packet on a path that holds fewer than two is a queue by itself",
    },
    KnownLimit {
        controllers: &["westwood"],
        kinds: USE,
        holds: |regime| matches!(regime.path(), Path::Jitter | Path::Acks(_) | Path::DelayedAcks),
        says: "Compressed or delayed ACKs disturb the rate.",
    },
    KnownLimit {
        controllers: &["westwood"],
        kinds: USE,
        holds: is_large,
        says: "from which a large path is filled packet by packet",
    },
    KnownLimit {
        controllers: &["westwood"],
        kinds: LOSS,
        holds: |regime| (regime.buffer() as f64) < 0.2 * regime.bdp(),
        says: "With buffers of much less than a bandwidth-delay product its response is milder than Reno's: it loses more",
    },
    KnownLimit {
        controllers: &["westwood"],
        kinds: SHARES,
        holds: comes_later,
        says: "so that flows that come later take longer than Reno's to get their share",
    },
    KnownLimit {
        controllers: &["tcp-lp"],
        kinds: USE,
        holds: is_large,
        says: "The kernel's variant takes its very first sample for congestion",
    },
    KnownLimit {
        controllers: &["tcp-lp"],
        kinds: USE,
        holds: |regime| regime.path() == Path::Jitter || regime.holds_acks(),
        says: "on such paths each is an indication, and it stays at two packets",
    },
    KnownLimit {
        controllers: &["tcp-lp"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1,
        says: "nothing makes shares equal, and some flows stay at two packets for long",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: &[Kind::Queue, Kind::Fairness],
        holds: |regime| regime.longest_round() > 2.0,
        says: "the queue passes for the path",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: &[Kind::Queue],
        holds: |regime| is_unsteady(regime) || carries_less(regime, 2.0),
        says: "five round trips hardly ever show the queue nearly empty",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: USE,
        holds: |regime| !regime.has_room(),
        says: "Where path and buffer hold fewer than four packets of each flow",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: LOSS,
        holds: |regime| regime.room() < 4.0,
        says: "Where they hold fewer than four in all, the bound rises by a packet in a round trip of one ACK",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: LOSS,
        holds: Regime::holds_acks,
        says: "whose own queue counts, and of which a small buffer loses what it does not hold",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: LOSS,
        // Of the rounds in which the window grows from half of the path to all of it a tenth loses half.
        holds: |regime| regime.buffer() == 0 && carries_less(regime, 30.0),
        says: "Without a buffer on a path of fewer than 30 packets, a pace a little above the link's rate",
    },
    KnownLimit {
        controllers: &["copa@noq"],
        kinds: LOSS,
        holds: starts_small,
        says: "On noq, whose pacer lets ten packets go at once, a smaller buffer loses the rest",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: USE,
        holds: |regime| regime.path() == Path::Jitter,
        says: "A smallest RTT that is too small, after a route change or through noise, looks like a queue",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: &[Kind::Queue],
        holds: comes_later,
        says: "one never seen without a queue hides it",
    },
    KnownLimit {
        controllers: &["copa"],
        kinds: &[Kind::Queue],
        holds: |regime| !carries_less(regime, 500.0),
        says: "Its swings around the target grow with the window",
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
        controllers: &["a-tcp", "a-tcp-p"],
        kinds: LOSS,
        holds: |regime| regime.buffer() == 0,
        says: "no queue `k` climbs between losses",
    },
    KnownLimit {
        controllers: &["dca-c", "dca-s", "dual"],
        kinds: SHARES,
        holds: |regime| regime.flows() > 1,
        says: "never ages",
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
        controllers: &["scream", "nada"],
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
];

/// What `controller`'s page says to a bound of that kind in `regime` on `stack`.
pub(super) fn known_limit(controller: &str, stack: &str, regime: &Regime, kind: Kind) -> Option<&'static str> {
    let is_of = |name: &&str| name.split_once('@').map_or(*name == controller, |of| of == (controller, stack));
    let fits = |limit: &&KnownLimit| {
        limit.controllers.iter().any(is_of) && limit.kinds.contains(&kind) && (limit.holds)(regime)
    };
    KNOWN_LIMITS.iter().find(fits).map(|limit| limit.says)
}
