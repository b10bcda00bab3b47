//! What was measured, as harm, and whom a controller is safe beside.

use std::collections::HashMap;

use super::plan::{PLACES, Place, Queue};
use crate::rfc9743::{Measured, Numbers};

/// What the internet has, whose harm to each other bounds that of others unless something else is asked.
pub const DEPLOYED: [&str; 2] = ["reno", "cubic"];

/// Harm to a flow, at most 1; negative where it has more of it than alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Harm {
    /// To its goodput: (solo − with) / solo.
    pub goodput: f64,
    /// To its RTT: (with − solo) / with.
    pub delay: f64,
}

/// What was read off, on one stack.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Results {
    /// The stack; `sim` is the simulator.
    pub stack: String,
    /// The controllers.
    pub controllers: Vec<String>,
    /// Those of them that are deployed already, whose harm to each other is the bound.
    pub against: Vec<String>,
    /// Runs of one flow, by the number of its place and its controller's.
    pub solo: HashMap<(usize, usize), Measured>,
    /// Runs of two flows, of which the first has the smaller number.
    pub pairs: HashMap<(usize, usize, usize), Measured>,
}

/// Whether a controller is safe to deploy beside those that are.
#[derive(Clone, PartialEq, Debug)]
pub enum Safety {
    /// Everywhere: its greatest harm to goodput and to RTT, which is within the bounds.
    Safe(Harm),
    /// It does more harm at so many places than is done there already.
    Unsafe {
        /// Places at which it is beyond a bound.
        places: usize,
        /// Those of them with FQ-CoDel.
        queued: usize,
        /// Where it exceeds the bound most.
        at: Place,
        /// Whose goodput or RTT.
        to: String,
        /// Whether it is the RTT.
        is_delay: bool,
        /// The harm there.
        harm: f64,
        /// The bound there.
        bound: f64,
    },
    /// A run is missing, as the text says.
    NotRun(String),
}

/// What a bound is exceeded by before it counts: less is how flows happen to start.
const SLACK: f64 = 0.05;

impl Results {
    fn number(&self, controller: &str) -> Option<usize> {
        self.controllers.iter().position(|name| name == controller)
    }

    /// The harm at a place to controller number `to` by number `by`, one flow each.
    ///
    /// # Errors
    /// A run is missing; the text says why.
    pub fn harm(&self, place: usize, to: usize, by: usize) -> Result<Harm, String> {
        let numbers = |read: Option<&Measured>| -> Result<Numbers, String> {
            match read {
                Some(Measured::Run(numbers)) => Ok(numbers.clone()),
                Some(Measured::Runaway { runaway: why } | Measured::Not { not_run: why }) => Err(why.clone()),
                None => Err("it is not done yet".to_owned()),
            }
        };
        let solo = numbers(self.solo.get(&(place, to)))?;
        let with = numbers(self.pairs.get(&(place, to.min(by), to.max(by))))?;
        let own = (Some(with.own_mbps), with.rtt_ms);
        let other = (with.other_mbps, with.other_rtt_ms);
        let of = |(mbps, rtt_ms): (Option<f64>, Option<f64>)| -> Option<Harm> {
            let (mbps, rtt_ms, solo_rtt_ms) = (mbps?, rtt_ms?, solo.rtt_ms?);
            let goodput = if solo.own_mbps > 0.0 { (solo.own_mbps - mbps) / solo.own_mbps } else { 0.0 };
            Some(Harm { goodput, delay: (rtt_ms - solo_rtt_ms) / rtt_ms })
        };
        let harm = match to.cmp(&by) {
            std::cmp::Ordering::Less => of(own),
            std::cmp::Ordering::Greater => of(other),
            // Of two alike, the mean.
            std::cmp::Ordering::Equal => of(own)
                .zip(of(other))
                .map(|(a, b)| Harm { goodput: (a.goodput + b.goodput) / 2.0, delay: (a.delay + b.delay) / 2.0 }),
        };
        harm.ok_or_else(|| "a flow got nothing through".to_owned())
    }

    /// The greatest harm at a place that those of [`against`](Self::against) do to each other and to their like.
    ///
    /// # Errors
    /// One of them is not among the controllers, or a run is missing.
    pub fn bound(&self, place: usize) -> Result<Harm, String> {
        let numbers = self.deployed()?;
        let mut most = Harm { goodput: 0.0, delay: 0.0 };
        for (to, by) in numbers.iter().flat_map(|to| numbers.iter().map(move |by| (*to, *by))) {
            let harm = self.harm(place, to, by)?;
            most = Harm { goodput: most.goodput.max(harm.goodput), delay: most.delay.max(harm.delay) };
        }
        Ok(most)
    }

    fn deployed(&self) -> Result<Vec<usize>, String> {
        self.against.iter().map(|name| self.number(name).ok_or_else(|| format!("{name} was not run"))).collect()
    }

    /// Whether controller number `by` is safe to deploy.
    #[must_use]
    pub fn safety(&self, by: usize) -> Safety {
        self.judged(by).unwrap_or_else(Safety::NotRun)
    }

    fn judged(&self, by: usize) -> Result<Safety, String> {
        let deployed = self.deployed()?;
        let mut most = Harm { goodput: f64::MIN, delay: f64::MIN };
        let mut worst: Option<(f64, Safety)> = None;
        let (mut places, mut queued) = (0, 0);
        for (number, at) in PLACES.into_iter().enumerate() {
            let bound = self.bound(number)?;
            let mut beyond = false;
            for (to, name) in deployed.iter().zip(&self.against) {
                let harm = self.harm(number, *to, by)?;
                most = Harm { goodput: most.goodput.max(harm.goodput), delay: most.delay.max(harm.delay) };
                for (is_delay, harm, bound) in [(false, harm.goodput, bound.goodput), (true, harm.delay, bound.delay)] {
                    let excess = harm - bound;
                    beyond |= excess > SLACK;
                    if excess > worst.as_ref().map_or(SLACK, |(most, _)| *most) {
                        let at = Safety::Unsafe { places: 0, queued: 0, at, to: name.clone(), is_delay, harm, bound };
                        worst = Some((excess, at));
                    }
                }
            }
            places += usize::from(beyond);
            queued += usize::from(beyond && at.queue == Queue::FqCodel);
        }
        Ok(match worst {
            Some((_, Safety::Unsafe { at, to, is_delay, harm, bound, .. })) => {
                Safety::Unsafe { places, queued, at, to, is_delay, harm, bound }
            }
            _ => Safety::Safe(most),
        })
    }

    /// The names of [`against`](Self::against), for a sentence.
    #[must_use]
    pub fn deployed_names(&self) -> String {
        match &self.against[..] {
            deployed if deployed == DEPLOYED => "Reno and CUBIC".to_owned(),
            [some @ .., last] if !some.is_empty() => format!("{} and {last}", some.join(", ")),
            one => one.concat(),
        }
    }

    /// Whether controller number `by` is safe to deploy, in one sentence.
    #[must_use]
    pub fn sentence(&self, by: usize) -> String {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        match self.safety(by) {
            Safety::Safe(most) => format!(
                "Safe to deploy against {}: it takes at most {} of their goodput and adds at most {} of their RTT.",
                self.deployed_names(),
                percent(most.goodput.max(0.0)),
                percent(most.delay.max(0.0))
            ),
            Safety::Unsafe { places, queued, at, to, is_delay, harm, bound } => {
                let what = if is_delay { "of its RTT is added" } else { "of its goodput is taken" };
                let queues = if queued == 0 {
                    "none of them with FQ-CoDel".to_owned()
                } else {
                    format!("{queued} of them with FQ-CoDel")
                };
                format!(
                    "Not safe at {places} of {} places, {queues}: of {to} {} {what} at {at}, where {} is the bound.",
                    PLACES.len(),
                    percent(harm),
                    percent(bound)
                )
            }
            Safety::NotRun(why) => format!("Not known: {why}."),
        }
    }
}

/// A line for each measure, place and controller that is harmed, a column for each that does it; empty where it was not run.
#[must_use]
pub fn csv(all: &[Results]) -> String {
    let mut text = String::new();
    let quoted = |name: &str| if name.contains(',') { format!("\"{name}\"") } else { name.to_owned() };
    for results in all {
        let names: Vec<String> = results.controllers.iter().map(|name| quoted(name)).collect();
        if text.is_empty() {
            text.push_str(&format!("stack,measure,rate_mbps,buffer_bdp,queue,to,{}\n", names.join(",")));
        }
        for (measure, read) in [("goodput", (|harm| harm.goodput) as fn(Harm) -> f64), ("delay", |harm| harm.delay)] {
            for (place, at) in PLACES.iter().enumerate() {
                let queue = if at.queue == Queue::FqCodel { "fq-codel" } else { "tail-drop" };
                for (to, name) in names.iter().enumerate() {
                    let cell = |by| self::cell(results.harm(place, to, by).ok().map(read));
                    let cells: Vec<String> = (0..names.len()).map(cell).collect();
                    let Place { rate_mbps, buffer_bdp, .. } = at;
                    let stack = &results.stack;
                    text.push_str(&format!(
                        "{stack},{measure},{rate_mbps},{buffer_bdp},{queue},{name},{}\n",
                        cells.join(",")
                    ));
                }
            }
        }
    }
    text
}

/// Two digits.
fn cell(harm: Option<f64>) -> String {
    harm.map_or(String::new(), |harm| format!("{:.2}", harm + 0.0))
}
