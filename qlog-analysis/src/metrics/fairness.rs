//! Fairness: shares of several connections.

use serde::Serialize;

use super::rates::{NEAR, Rates};

/// How evenly connections share, over the time all of them were active.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Shares {
    /// The time all of them delivered data, s.
    pub together: f64,
    /// Mean goodput of each over that time, Mbit/s.
    pub goodput: Vec<f64>,
    /// Jain's index: 1 if equal, 1/n if one has all.
    pub jain: f64,
    /// `(x1 − x2)/(x1 + x2)` of two connections, the one that began first being 1
    /// (`spec: sharma §12 M9`).
    pub asymmetry: Option<f64>,
    /// How long after the last of them began each stayed within a fifth of the equal share
    /// for good, judged second by second, s; `None` if it did not come to that.
    pub convergence: Option<f64>,
}

const SECOND: i64 = 1_000_000_000;

impl Shares {
    /// What is one number for all connections: names with units, and values.
    #[must_use]
    pub fn columns(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("together_s", Some(self.together)),
            ("jain", Some(self.jain)),
            ("asymmetry", self.asymmetry),
            ("even_after_s", self.convergence),
        ]
    }
}

/// How connections share; `None` if there are fewer than two, or no time all were active.
#[must_use]
pub fn shares(rates: &[&Rates]) -> Option<Shares> {
    if rates.len() < 2 {
        return None;
    }
    let begin = |rates: &Rates| {
        let empty = rates.bytes.iter().take_while(|&&bytes| bytes == 0).count() as i64;
        rates.start.saturating_add(rates.width.saturating_mul(empty))
    };
    let from = rates.iter().map(|rates| begin(rates)).max()?;
    let to = rates.iter().map(|rates| rates.end()).min()?;
    if to <= from {
        return None;
    }
    let goodput: Vec<f64> = rates.iter().map(|rates| rates.between(from, to) / 1e6).collect();
    let sum: f64 = goodput.iter().sum();
    let squares: f64 = goodput.iter().map(|rate| rate * rate).sum();
    if squares <= 0.0 {
        return None;
    }
    let asymmetry = match (rates, goodput.as_slice()) {
        ([first, second], &[one, other]) => {
            let (one, other) = if begin(first) <= begin(second) { (one, other) } else { (other, one) };
            Some((one - other) / (one + other))
        }
        _ => None,
    };
    Some(Shares {
        together: (to - from) as f64 / 1e9,
        jain: sum * sum / (goodput.len() as f64 * squares),
        asymmetry,
        convergence: convergence(rates, from, to),
        goodput,
    })
}

fn convergence(rates: &[&Rates], from: i64, to: i64) -> Option<f64> {
    let seconds = (to - from) / SECOND;
    let mut since = None;
    for second in 0..seconds {
        let begin = from + second * SECOND;
        let each: Vec<f64> = rates.iter().map(|rates| rates.between(begin, begin + SECOND)).collect();
        let equal = each.iter().sum::<f64>() / each.len() as f64;
        let even = equal > 0.0 && each.iter().all(|rate| (rate - equal).abs() <= NEAR * equal);
        since = if even { since.or(Some(second as f64)) } else { None };
    }
    since
}
