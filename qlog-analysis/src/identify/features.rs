//! Numbers that distinguish controllers by the arrival of their packets, whatever the path's rate and RTT.

use super::Arrival;

/// Names of the features, in the order of [`features()`].
pub const FEATURES: [&str; 18] = [
    "early_losses",
    "loss_rate",
    "interval_rtts",
    "interval_reno",
    "interval_cubic",
    "interval_spread",
    "losses_each",
    "depth",
    "away",
    "dips",
    "mean",
    "p5",
    "p25",
    "p50",
    "deviation",
    "correlation_1",
    "correlation_4",
    "correlation_16",
];

/// Where `loss_rate` is in [`FEATURES`]: the packets lost after start-up as a part of all, its logarithm to the base of ten.
pub(super) const LOSS_RATE: usize = 1;

/// One value for each of [`FEATURES`].
pub type Features = [f64; FEATURES.len()];

/// Reason why arrivals do not suffice.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLittle {
    /// Packets are without numbers, or ACK frames without ranges.
    #[error("it does not log which data packets arrived")]
    Arrivals,
    /// Nothing shows a round trip.
    #[error("it shows no RTT")]
    Rtt,
    /// So many packets arrived, and 1000 are needed.
    #[error("{0} data packets arrived; 1000 are needed")]
    Packets(usize),
    /// The data arrived for so many round trips, and 100 are needed.
    #[error("data arrived for {0} round trips; 100 are needed")]
    Rounds(usize),
}

/// Packets that have to arrive.
const PACKETS: usize = 1000;

/// Round trips for which they have to arrive.
const ROUNDS: usize = 100;

/// Round trips that are looked at; later ones are left out.
const MAX_ROUNDS: usize = 100_000;

/// Shorter RTTs count as this, ns: ACKs closer together cannot be told apart.
const SHORTEST_RTT: i64 = 1_000_000;

/// Later packets after which a missing one was lost (`RFC 9002 §6.1.1`).
const REORDERING: u64 = 3;

/// Numbers that are missing in a row and counted at most.
const MAX_GAP: u64 = 2000;

/// Losses closer together than this many round trips are of one congestion event.
const SAME_EVENT: f64 = 3.0;

/// Losses of one congestion event, in round trips since the first arrival.
struct Losses {
    first: f64,
    last: f64,
    packets: u32,
}

/// The features of `arrivals` in the order they came, on a path with the smallest RTT `rtt`, ns.
///
/// # Errors
/// They are too few, or too short.
pub fn features(arrivals: &[Arrival], rtt: Option<i64>) -> Result<Features, TooLittle> {
    let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else { return Err(TooLittle::Arrivals) };
    if arrivals.len() < PACKETS {
        return Err(TooLittle::Packets(arrivals.len()));
    }
    let rtt = rtt.ok_or(TooLittle::Rtt)?.max(SHORTEST_RTT);
    let round = |time: i64| time.saturating_sub(first.time).max(0) / rtt;
    let rounds = usize::try_from(round(last.time)).unwrap_or(usize::MAX).min(MAX_ROUNDS);
    if rounds < ROUNDS {
        return Err(TooLittle::Rounds(rounds));
    }
    let mut bytes = vec![0.0; rounds];
    for arrival in arrivals {
        if let Some(bin) = usize::try_from(round(arrival.time)).ok().and_then(|at| bytes.get_mut(at)) {
            *bin += f64::from(arrival.bytes);
        }
    }
    let capacity = quantile(&bytes, 0.9).max(1.0);
    let rate: Vec<f64> = bytes.iter().map(|bytes| bytes / capacity).collect();
    let sizes: Vec<f64> = arrivals.iter().step_by(50).map(|arrival| f64::from(arrival.bytes)).collect();
    let packets = capacity / quantile(&sizes, 0.5).max(1.0);
    let start = rate.iter().position(|rate| *rate >= 0.8).unwrap_or(rounds);
    let second = 1e9 / rtt as f64;
    // What start-up did is over after three seconds.
    let settled = (rounds / 4).min(start + (3.0 * second) as usize);
    let at = |time: i64| time.saturating_sub(first.time) as f64 / rtt as f64;
    let lost: Vec<f64> = lost(arrivals).into_iter().map(at).filter(|at| *at < rounds as f64).collect();
    let early = lost.iter().filter(|at| **at < settled as f64).count();
    let events = congestion_events(&lost, settled as f64);
    let steady = &rate[settled..];
    let since = arrivals.iter().filter(|arrival| at(arrival.time) >= settled as f64).count();

    let gaps: Vec<f64> = events.windows(2).map(|pair| pair[1].first - pair[0].first).collect();
    let interval = match (events.len(), gaps.is_empty()) {
        (0, _) => 2.0 * steady.len() as f64,
        (_, true) => steady.len() as f64,
        _ => quantile(&gaps, 0.5),
    }
    .max(1.0);
    let spread = if gaps.len() > 2 { (quantile(&gaps, 0.75) - quantile(&gaps, 0.25)) / interval } else { 0.0 };
    let each: Vec<f64> = events.iter().map(|event| f64::from(event.packets)).collect();
    let Recovery { depth, away } = Recovery::of(&rate, &events);

    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    let deviation = (steady.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / steady.len() as f64).sqrt();
    let correlation = |lag: usize| {
        let products = steady.iter().zip(&steady[lag.min(steady.len())..]);
        products.map(|(one, other)| (one - mean) * (other - mean)).sum::<f64>()
            / (deviation * deviation * steady.len() as f64).max(1e-9)
    };
    Ok([
        ln(1.0 + 10.0 * early as f64 / packets.max(1.0)),
        ln((lost.len() - early) as f64 / since.max(1) as f64 + 1e-5) / std::f64::consts::LN_10,
        ln(interval),
        ln(interval / packets.max(1.0)),
        ln(interval / second / packets.max(1.0).cbrt()),
        spread.min(2.0),
        ln(1.0 + quantile(&each, 0.5)),
        depth,
        away,
        (10.0 * dips(steady, second) as f64 * second / steady.len() as f64).min(4.0),
        mean,
        quantile(steady, 0.05),
        quantile(steady, 0.25),
        quantile(steady, 0.5),
        deviation,
        correlation(1),
        correlation(4),
        correlation(16),
    ])
}

fn ln(value: f64) -> f64 {
    value.max(1e-9).ln()
}

/// The value below which a `share` of `values` is; 0 without values.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = ((share * sorted.len() as f64) as usize).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(0.0)
}

/// When each packet that never came before [`REORDERING`] later ones was missed.
fn lost(arrivals: &[Arrival]) -> Vec<i64> {
    let mut found = Vec::new();
    let mut missing: std::collections::VecDeque<u64> = std::collections::VecDeque::new();
    let mut highest: Option<u64> = None;
    for arrival in arrivals {
        match highest {
            Some(high) if arrival.number <= high => {
                if let Ok(at) = missing.binary_search(&arrival.number) {
                    missing.remove(at);
                }
            }
            _ => {
                if let Some(high) = highest {
                    missing.extend((high + 1)..arrival.number.min(high.saturating_add(MAX_GAP)));
                }
                highest = Some(arrival.number);
            }
        }
        while let (Some(&number), Some(high)) = (missing.front(), highest)
            && number.saturating_add(REORDERING) <= high
        {
            missing.pop_front();
            found.push(arrival.time);
        }
    }
    found
}

/// Losses from the round trip `from` on, those of one congestion event together.
fn congestion_events(lost: &[f64], from: f64) -> Vec<Losses> {
    let mut events: Vec<Losses> = Vec::new();
    for &at in lost {
        match events.last_mut() {
            Some(event) if at - event.last <= SAME_EVENT => {
                event.last = at;
                event.packets += 1;
            }
            _ => events.push(Losses { first: at, last: at, packets: 1 }),
        }
    }
    events.retain(|event| event.first >= from);
    events
}

/// How the rate moves after congestion events, medians over them.
struct Recovery {
    /// The lowest of the three round trips after, as a part of the capacity; 1 without events.
    depth: f64,
    /// The part of the time until the next event in which it is not yet back.
    away: f64,
}

impl Recovery {
    fn of(rate: &[f64], events: &[Losses]) -> Recovery {
        const BACK: f64 = 0.97;
        let (mut depths, mut away) = (Vec::new(), Vec::new());
        for (number, event) in events.iter().enumerate() {
            let next = events.get(number + 1).map_or(rate.len(), |next| next.first as usize).min(rate.len());
            let after = (event.last as usize + 1).min(next);
            let between = &rate[after..next];
            let Some(lowest) = between.iter().take(3).copied().reduce(f64::min) else { continue };
            depths.push(lowest);
            let back = between.iter().position(|rate| *rate >= BACK).unwrap_or(between.len());
            away.push(back as f64 / between.len() as f64);
        }
        let median = |values: &[f64], without| if values.is_empty() { without } else { quantile(values, 0.5) };
        Recovery { depth: median(&depths, 1.0), away: median(&away, 0.0) }
    }
}

/// How often the rate falls to about a third, at most once a second: what PROBE_RTT does, and LEDBAT++'s slowdowns.
fn dips(rate: &[f64], second: f64) -> usize {
    let (mut found, mut last) = (0, f64::NEG_INFINITY);
    for (at, _) in rate.iter().enumerate().filter(|(_, rate)| **rate < 0.35) {
        if at as f64 - last > second {
            found += 1;
            last = at as f64;
        }
    }
    found
}
