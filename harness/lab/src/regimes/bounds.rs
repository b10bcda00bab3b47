//! Bounds from theory, each with its source.

use super::measure::Measured;
use super::plan::{INITIAL_WINDOW, REFERENCE};
use super::regime::{Path, Regime};

/// Measure that is bounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Goodput of all flows over what the link can carry of it.
    Utilisation,
    /// Share of the packets for which the bottleneck has no room.
    Loss,
    /// Standing queue, packets.
    Queue,
    /// Jain's index of the flows.
    Fairness,
    /// Sum of the windows at the end, packets.
    Window,
    /// Packets of the flow that gets least at the end.
    Standstill,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::Utilisation, Kind::Loss, Kind::Queue, Kind::Fairness, Kind::Window, Kind::Standstill];

    /// Its word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Utilisation => "utilisation",
            Kind::Loss => "loss",
            Kind::Queue => "queue",
            Kind::Fairness => "fairness",
            Kind::Window => "window",
            Kind::Standstill => "standstill",
        }
    }

    /// The word for its bound in tables.
    #[must_use]
    pub fn bound_name(self) -> &'static str {
        match self {
            Kind::Utilisation => "utilisation_bound",
            Kind::Loss => "loss_bound",
            Kind::Queue => "queue_bound",
            Kind::Fairness => "fairness_bound",
            Kind::Window => "window_bound",
            Kind::Standstill => "standstill_bound",
        }
    }

    /// Whether its bound is the least that is allowed, not the most.
    #[must_use]
    pub fn is_least(self) -> bool {
        matches!(self, Kind::Utilisation | Kind::Fairness | Kind::Standstill)
    }
}

/// A number that a run has to keep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// Measure that is bounded.
    pub kind: Kind,
    /// The least or the most that is allowed, as [`Kind::is_least`] says.
    pub limit: f64,
    /// Theory or document it comes from.
    pub source: &'static str,
}

impl Bound {
    /// Whether `value` keeps it.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        if self.kind.is_least() { value >= self.limit } else { value <= self.limit }
    }
}

/// A flow is reasonably fair if its rate is generally within a factor of two of TCP's under the same conditions
/// (`RFC 5348 §1`).
const FACTOR: f64 = 2.0;

/// Mean of a window that climbs from half of `most` by one a round and is halved there, over the packets that the path
/// carries; rounds beyond it last as long as the queue makes them. With neither queue nor waiting it is 3/4
/// (`RFC 3649 §3`).
fn sawtooth(most: f64, pipe: f64) -> f64 {
    let (low, most) = (most / 2.0 / pipe, most / pipe);
    if low >= 1.0 {
        return 1.0;
    }
    if most <= 1.0 {
        return (low + most) / 2.0;
    }
    let delivered = (most * most - low * low) / 2.0;
    let time = (1.0 - low) + (most * most - 1.0) / 2.0;
    delivered / time
}

/// Share of the packets of independent senders that find a buffer of so many full while the link is used to `load`:
/// that of a queue with random arrivals (Kleinrock 1975, eq. 3.43), which exceeds that of equal packets.
fn collisions(load: f64, buffer: f64) -> f64 {
    let places = buffer + 1.0;
    if load >= 1.0 {
        return 1.0 / (places + 1.0);
    }
    (1.0 - load) * load.powf(places) / (1.0 - load.powf(places + 1.0))
}

/// Window of a flow of which a share `loss` of the packets is lost, timeouts included, packets (`RFC 5348 §3.1`).
fn answered(loss: f64) -> f64 {
    1.0 / ((2.0 * loss / 3.0).sqrt() + 12.0 * (3.0 * loss / 8.0).sqrt() * loss * (1.0 + 32.0 * loss * loss))
}

/// Utilisation of Reno flows, 0 to 1; `None` where theory has none: without room, with reordering, or where ACKs wait for
/// longer than they travel, so that a window leaves in one burst.
fn reno(regime: &Regime, until_s: f64) -> Option<(f64, &'static str)> {
    let (flows, pipe, room) = (f64::from(regime.flows()), regime.pipe(), regime.room());
    if !regime.has_theory() {
        return None;
    }
    // From the lowest point on, as many rounds as there are.
    let rounds = (until_s - regime.last_start()).max(0.0) / 2.0 / regime.longest_round();
    let climbed = (room / 2.0 + flows * rounds / 2.0) / pipe;
    let full = sawtooth(room, pipe).min(climbed).min(1.0);
    let random = if let Path::Loss(share) = regime.path() { share } else { 0.0 };
    // Losses lower the load, and the load decides on losses: both agree where the curves cross.
    let buffer = regime.buffer() as f64;
    let (mut low, mut high) = (0.0, full);
    for _ in 0..50 {
        let load = (low + high) / 2.0;
        let collided = if flows > 1.0 { collisions(load, buffer) } else { 0.0 };
        if flows * answered(random + collided) / pipe > load { low = load } else { high = load }
    }
    Some(if low < 0.99 * full { (low, EQUATION) } else { (full, SAWTOOTH) })
}

const SAWTOOTH: &str =
    "half of what windows between half of path and buffer and all of it give (RFC 5348 §1; RFC 9002 §7.3)";
const EQUATION: &str = "half of what TCP's throughput equation gives, its losses being random ones and collisions (RFC 5348 §1, §3.1; Mathis et al. 1997; Kleinrock 1975, eq. 3.43)";
const CUBIC: &str = "half of what CUBIC's average window gives (RFC 5348 §1; RFC 9438 §5.1 eq. 6)";
const BBR: &str = "half of the link: losses below 2 % are no congestion (draft-ietf-ccwg-bbr-06 §2.7)";
const AS_RENO: &str = "half of Reno's in the same regime (RFC 5348 §1)";

/// Utilisation that `controller`'s own document gives it where packets are lost at random.
fn own(controller: &str, regime: &Regime) -> Option<(f64, &'static str)> {
    let Path::Loss(share) = regime.path() else { return None };
    // Their documents speak of random losses alone, not of flows that collide in a buffer.
    if regime.flows() > 1 && collisions(1.0, regime.buffer() as f64) > share {
        return None;
    }
    match controller {
        "cubic" => {
            let window = 1.054 * (regime.rtt() / share).powf(0.75);
            Some(((f64::from(regime.flows()) * window / regime.pipe()).min(1.0), CUBIC))
        }
        "bbr" if share < 0.02 => Some((1.0, BBR)),
        _ => None,
    }
}

fn utilisation(controller: &str, regime: &Regime, until_s: f64, reference: Option<&Measured>) -> Option<Bound> {
    let theory = reno(regime, until_s);
    let measured = match reference {
        Some(Measured::Run { utilisation, .. }) if controller != REFERENCE => Some((*utilisation, AS_RENO)),
        _ => None,
    };
    let lesser = match (theory, measured) {
        (Some(theory), Some(measured)) => Some(if measured.0 < theory.0 { measured } else { theory }),
        (theory, measured) => theory.or(measured),
    };
    let with_own = match (lesser, own(controller, regime)) {
        (Some(lesser), Some(own)) if theory.is_some_and(|theory| theory.1 == EQUATION) && own.0 > lesser.0 => Some(own),
        (lesser, _) => lesser,
    };
    with_own.map(|(share, source)| Bound { kind: Kind::Utilisation, limit: share / FACTOR, source })
}

const LOSS: &str =
    "twice Reno's in the same regime, and two windows that slow start sends too much (RFC 2914 §5; RFC 9002 §7.3.1)";
const LOSS_OF_RENO: &str = "twice one packet in 3/8 of the largest window's square and those of a full queue with random arrivals, and two windows that slow start sends too much (RFC 3649 §3; Kleinrock 1975, eq. 3.43; RFC 9002 §7.3.1)";
const LOSS_OF_BBR: &str = "2 %, and what Reno's bound is (draft-ietf-ccwg-bbr-06 §2.7)";
const LOSS_OF_COPA: &str =
    "5 %, below which loss is no congestion, and what Reno's bound is (Copa, NSDI 2018 §5; 5 % as in mvfst's Copa2)";
const LOSS_OF_C4: &str = "5 %, which flows below 26 Mbit/s tolerate, and what Reno's bound is (draft-huitema-ccwg-c4-spec, Detecting Excessive Losses; 5 % as in mvfst's Copa2)";

/// What flows that start one after the other find free in all, of what path and buffer hold: the windows of `k` flows
/// that do not halve together vary by a share of their sum that falls with the square root of `k` (Appenzeller, Keslassy
/// and McKeown 2004 §3).
fn left_free(flows: u32) -> f64 {
    (1..=flows).map(|before| f64::from(before).sqrt().recip()).sum()
}

fn loss(controller: &str, regime: &Regime, packets: u64, reference: Option<&Measured>) -> Option<Bound> {
    let (room, flows) = (regime.room(), f64::from(regime.flows()));
    // In the round trip before it learns of the first loss it doubles once more, in the next at most again; flows that
    // start one after the other do so in turn, each into what those before it leave free.
    let starts = if regime.stagger() > 0.0 { left_free(regime.flows()) } else { 1.0 };
    let slow_start = ((1.0 + starts) * room + INITIAL_WINDOW * flows) / packets.max(1) as f64;
    let (share, source) = match reference {
        Some(Measured::Run { forwarded, dropped, .. }) if controller != REFERENCE => {
            (*dropped as f64 / (forwarded + dropped).max(1) as f64, LOSS)
        }
        _ if !regime.has_theory() => return None,
        // Without a buffer a rate a little too high loses every other packet of a round.
        _ if regime.buffer() == 0 => (4.0 / 3.0 / (room / flows) + 0.5, LOSS_OF_RENO),
        _ => {
            let collided = if flows > 1.0 { collisions(1.0, regime.buffer() as f64) } else { 0.0 };
            (8.0 / 3.0 / (room / flows).powi(2) + collided, LOSS_OF_RENO)
        }
    };
    let (times, source) = aggressiveness(controller, regime).unwrap_or((1.0, source));
    let (allowed, source) = match controller {
        "bbr" => (0.02, LOSS_OF_BBR),
        "copa" => (0.05, LOSS_OF_COPA),
        "c4" => (0.05, LOSS_OF_C4),
        _ => (0.0, source),
    };
    Some(Bound { kind: Kind::Loss, limit: (FACTOR * times * share + slow_start + allowed).min(1.0), source })
}

/// How much more a scheme that is as aggressive as its document wants loses than Reno does at the same window: its
/// increase of `a` packets a round and decrease by `b` leave `a(2 − b)/(2bp)` of a window's square, Reno's `3/(2p)`
/// (`spec: sharma §2`).
fn aggressiveness(controller: &str, regime: &Regime) -> Option<(f64, &'static str)> {
    let window = regime.room() / f64::from(regime.flows());
    let times = |a: f64, b: f64| a * (2.0 - b) / (2.0 * b) / 1.5;
    // RFC 9438 §5.1 eq. 5: the window at a loss share p is (c(4 − b)/4b)^¼ (RTT/p)^¾, with a fraction b given up.
    let by_clock = |b: f64| {
        let factor = (0.4 * (4.0 - b) / (4.0 * b)).powf(1.0 / 3.0);
        (regime.longest_round() * factor * window.powf(2.0 / 3.0) / 1.5).max(1.0)
    };
    match controller {
        "aimd" => Some((
            times(32.0, 0.125),
            "as Reno's bound, with 160 times its losses at the same window (spec: sharma §2)",
        )),
        "multcp" => Some((
            times(4.0, 0.125),
            "as Reno's bound, with 20 times its losses at the same window (spec: sharma §2, cho §9)",
        )),
        "bic" => Some((
            times(32.0, 0.125),
            "as Reno's bound, with the losses of AIMD(32, 1/8) at the same window, its growth at most (spec: sharma §5)",
        )),
        "scalable" => Some((
            times(0.01 * window, 0.125).max(1.0),
            "as Reno's bound, with the losses at the same window of a hundredth more a round trip and an eighth less (spec: sharma §4)",
        )),
        "cubic" => {
            Some((by_clock(0.3), "as Reno's bound, with the losses of CUBIC's average window (RFC 9438 §5.1 eq. 5)"))
        }
        "cubic-2005" => Some((
            by_clock(0.2),
            "as Reno's bound, with the losses of the cubic's average window (RFC 9438 §5.1 eq. 5; spec: sharma §6)",
        )),
        "tcp-k" => Some((
            16.0,
            "as Reno's bound, with the losses of four flows a quarter as large, 16 times its own (spec: cho §5)",
        )),
        _ => None,
    }
}

/// What a scheme's document says it keeps in the queue.
enum Standing {
    /// Packets of each flow.
    Packets(f64),
    /// Time of all flows together, s.
    Seconds(f64),
    /// Of the path's own packets.
    Bdp(f64),
}

fn standing(controller: &str) -> Option<(Standing, &'static str)> {
    Some(match controller {
        "copa" => (Standing::Packets(5.0), "2.5/δ packets a flow (Copa, NSDI 2018 §2.1)"),
        "vegas" | "quick-vegas" | "enhanced-vegas" | "rovegas" | "red-vegas" => {
            (Standing::Packets(3.0), "β = 3 packets a flow (spec: chan §3)")
        }
        "fast" => (Standing::Packets(312.0), "α = 312 packets a flow (spec: sharma §7)"),
        "ledbat" => (Standing::Seconds(0.1), "TARGET is at most 100 ms (RFC 6817 §2.5)"),
        "ledbat++" => (Standing::Seconds(0.06), "a target of 60 ms (draft-irtf-iccrg-ledbat-plus-plus-01 §4.1)"),
        "scream" => {
            (Standing::Seconds(0.06), "QDELAY_TARGET_LO is 60 ms (draft-ietf-ccwg-rfc8298bis-screamv2-01 §4.2.2)")
        }
        "c4" => (
            Standing::Seconds(0.25),
            "an RTT at most 250 ms above the least (draft-huitema-ccwg-c4-spec, Nominal max RTT)",
        ),
        "bbr1" => (
            Standing::Bdp(1.0),
            "a window of two BDP (draft-cardwell-iccrg-bbr-congestion-control-00 §4.2.3.2, §4.3.4.3)",
        ),
        "bbr" => (Standing::Bdp(1.0), "an inflight of two BDP (draft-ietf-ccwg-bbr-06 §5.6.4.2)"),
        _ => return None,
    })
}

fn queue(controller: &str, regime: &Regime) -> Option<Bound> {
    let (standing, source) = standing(controller)?;
    let packets = match standing {
        Standing::Packets(each) => each * f64::from(regime.flows()),
        Standing::Seconds(time) => time / regime.packet_time(),
        // Of the time that an acknowledgement takes, and no less than four packets a flow (§2.7).
        Standing::Bdp(share) => (share * regime.pipe()).max(4.0 * f64::from(regime.flows())),
    };
    // Twice that, since a mean is held against what a flow aims at, and two packets a flow in any case.
    let limit = FACTOR * packets + 2.0 * f64::from(regime.flows());
    (limit < regime.buffer() as f64).then_some(Bound { kind: Kind::Queue, limit, source })
}

/// Jain's index of flows of which three quarters have equal shares and the others nothing (Jain, Chiu and Hawe 1984).
const EQUAL_SHARE: f64 = 0.75;

const EQUAL: &str =
    "three quarters of Reno's in the same regime: a quarter of the flows without anything (Jain, Chiu and Hawe 1984)";
const CONVERGED: &str =
    "three quarters of what halvings leave of the inequality of one flow with all (Chiu and Jain 1989)";

/// Jain's index of flows of which one had everything at the start of `rounds` round trips: each halving halves how far
/// their windows are from each other. Not every flow halves each time; half of them are counted.
fn converged(regime: &Regime, rounds: f64) -> f64 {
    let flows = f64::from(regime.flows());
    let halvings = rounds / (regime.room() / flows / 2.0) / 2.0;
    1.0 / (1.0 + (flows - 1.0) * 4f64.powf(-halvings))
}

fn fairness(controller: &str, regime: &Regime, until_s: f64, reference: Option<&Measured>) -> Option<Bound> {
    if regime.flows() == 1 || regime.locks_out() {
        return None;
    }
    let (limit, source) = match reference {
        Some(Measured::Run { jain: Some(jain), .. }) if controller != REFERENCE => (EQUAL_SHARE * jain, EQUAL),
        _ if !regime.has_theory() => return None,
        _ => {
            // Those before the half that is measured.
            let rounds = (until_s - regime.last_start()).max(0.0) / 2.0 / regime.longest_round();
            (EQUAL_SHARE * converged(regime, rounds), CONVERGED)
        }
    };
    Some(Bound { kind: Kind::Fairness, limit, source })
}

/// Packets of a fair share at the end from which on a flow that gets none stands still.
const SHARE: f64 = 20.0;

/// Probe timeouts the end has to have for that: two in a row, the second twice as long, and one more.
const TIMEOUTS: f64 = 4.0;

/// The bounds of `controller`'s run `own` in `regime`; `reference` is Reno's run there.
#[must_use]
pub fn bounds(controller: &str, regime: &Regime, own: &Measured, reference: Option<&Measured>) -> Vec<Bound> {
    let Measured::Run { until_s, forwarded, dropped, .. } = own else { return Vec::new() };
    let flows = f64::from(regime.flows());
    // Of RAPID no window tells anything: it sends by rate (spec: arumaithurai §5.6).
    let window = (controller != "rapid").then_some(Bound {
        kind: Kind::Window,
        limit: 4.0 * (regime.pipe() + regime.buffer() as f64) + INITIAL_WINDOW * flows,
        source: "four times what fits into path and buffer, and the initial windows: a window above is no limit (RFC 9002 §7.8)",
    });
    let quarter = (until_s - regime.last_start()).max(0.0) / 4.0;
    let is_long = quarter / regime.packet_time() / flows >= SHARE && quarter >= TIMEOUTS * regime.probe_timeout();
    let standstill = (!regime.locks_out() && is_long).then_some(Bound {
        kind: Kind::Standstill,
        limit: 1.0,
        source: "a flow whose share is twenty packets gets one through (RFC 9002 §7.2: two packets are always allowed)",
    });
    let found = [
        utilisation(controller, regime, *until_s, reference),
        loss(controller, regime, forwarded + dropped, reference),
        queue(controller, regime),
        fairness(controller, regime, *until_s, reference),
        window,
        standstill,
    ];
    found.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regime(text: &str) -> Regime {
        Regime(Regime::parse(text).unwrap().map(Option::unwrap))
    }

    /// Without a buffer a window between a half and all of the path uses three quarters of it, with a BDP all
    /// (Appenzeller et al. 2004).
    #[test]
    fn a_sawtooth_uses_what_its_mean_gives() {
        assert_eq!(sawtooth(100.0, 100.0), 0.75);
        assert!((sawtooth(200.0, 100.0) - 1.0).abs() < 1e-12 && sawtooth(1000.0, 100.0) == 1.0);
        assert!((sawtooth(150.0, 100.0) - 3.0 * 1.5f64.powi(2) / (4.0 * (1.0 + 0.5 + 0.25))).abs() < 1e-12);
        assert_eq!(sawtooth(50.0, 100.0), 0.375);
    }

    /// With one place, Erlang's loss formula; at full load all states of the queue are equally likely.
    #[test]
    fn collisions_are_those_of_a_queue() {
        assert!((collisions(0.5, 0.0) - 0.5 / 1.5).abs() < 1e-12);
        assert!((collisions(1.0, 4.0) - 1.0 / 6.0).abs() < 1e-12);
        assert!(collisions(0.9, 100.0) < 1e-5);
    }

    /// What losses leave, and less where nothing may wait and flows collide.
    #[test]
    fn losses_bound_what_can_be_used() {
        let roomy = regime("rate=20M,rtt=600ms,buffer=10,flows=2,path=loss1,mtu=1500");
        let (share, source) = reno(&roomy, 1e4).unwrap();
        assert!((share - 2.0 * answered(0.01) / roomy.pipe()).abs() < 1e-3 * share && source == EQUATION);
        // Mathis et al. 1997, eq. 3, but for timeouts, which matter the more the more is lost.
        assert!((answered(1e-4) * (1e-4f64 / 1.5).sqrt() - 1.0).abs() < 0.01 && answered(0.1) < 0.6 * 15f64.sqrt());
        let (alone, _) = reno(&regime("rate=20M,rtt=600ms,buffer=0,flows=1,path=loss1,mtu=1500"), 1e4).unwrap();
        let (two, _) = reno(&regime("rate=20M,rtt=600ms,buffer=0,flows=2,path=loss1,mtu=1500"), 1e4).unwrap();
        assert!(two < 2.0 * alone && two > alone);
        assert_eq!(reno(&regime("rate=20M,rtt=1ms,buffer=0,flows=10,path=clean,mtu=1500"), 1e4), None);
        // RFC 9438 §5.1: at a long RTT CUBIC's window is several times Reno's.
        let (cubic, _) = own("cubic", &roomy).unwrap();
        assert!(cubic > 2.0 * share, "{cubic} {share}");
    }

    /// What documents' own rules lose at a window, beside Reno.
    #[test]
    fn aggressive_schemes_may_lose_what_their_rules_do() {
        let long = regime("rate=1M,rtt=600ms,buffer=0,flows=1,path=clean,mtu=1200");
        let short = regime("rate=20M,rtt=1ms,buffer=4p,flows=1,path=clean,mtu=1200");
        let times = |controller: &str, regime: &Regime| aggressiveness(controller, regime).map(|(times, _)| times);
        // RFC 9438 eq. 6 at 62 packets and 610 ms: p = 0.61·(1.054/62)^(4/3); Reno's is 1.5/62².
        let clock = 0.61 * (1.054f64 / 62.0).powf(4.0 / 3.0) / (1.5 / 62.0 / 62.0);
        assert!((times("cubic", &long).unwrap() / clock - 1.0).abs() < 0.02, "{clock}");
        assert_eq!(times("cubic", &short), Some(1.0), "Reno-friendly on short paths");
        assert_eq!((times("bic", &long), times("aimd", &long)), (Some(160.0), Some(160.0)));
        assert!((times("scalable", &long).unwrap() - 0.05 * long.room()).abs() < 1e-9);
        assert_eq!((times("scalable", &short), times("copa", &long)), (Some(1.0), None));
    }

    /// Of a hundred flows that start in turn the later ones find little.
    #[test]
    fn the_more_there_are_the_less_is_free() {
        assert_eq!(left_free(1), 1.0);
        assert!((left_free(2) - 1.0 - 0.5f64.sqrt()).abs() < 1e-12);
        assert!((18.0..19.0).contains(&left_free(100)));
    }

    /// Two flows of which one had everything are within a tenth of each other after some halvings.
    #[test]
    fn halvings_make_equal() {
        let two = regime("rate=20M,rtt=50ms,buffer=1,flows=2,path=clean,mtu=1500");
        assert_eq!(converged(&two, 0.0), 0.5);
        let each = two.room() / 2.0 / 2.0;
        assert!(converged(&two, 2.0 * each) < converged(&two, 6.0 * each));
        assert!(converged(&two, 10.0 * each) > 0.99);
    }
}
