//! Which controller of the catalogue explains a window best.

use std::io::Read;

use serde::Serialize;
use windlass_adapter::NamedController;
use windlass_controllers::parts::limits::iw_of;
use windlass_controllers::{ConfiguredController, EventKind, Path};

use super::contents::Missing;
use super::event::{Frame, StackMetrics, TraceEvent};
use super::rebuild::LossSource;
use super::rerun::Rerun;
use super::select::{Connection, ReplayError};

mod answer;
mod one_sender;
mod rate_model;
mod step_model;

pub use answer::{Answer, Classification, answer, by_arrivals, observe};
pub use one_sender::{OneSender, TwoControllers, Windows, of_one_sender};
use rate_model::RateModel;
use step_model::StepModel;

/// Controllers that are tried in the variants that stacks have of them.
const VARIED: [&str; 2] = ["reno", "cubic"];

/// The controller whose window is a constant times rate times RTT.
const BY_RATE: &str = "bbr";

/// The controller that steers its window to a target, by steps of a power of two.
const BY_STEP: &str = "copa";

/// How much nearer, as a mean |ln|, a window that was corrected at each loss has to be than
/// one that was not, since it had the easier task.
const HEAD_START: f64 = 0.02;

/// A mean |ln| of this much takes a score to 1/e of the full one.
const SCALE: f64 = 0.1;

/// A score from which on a controller is named: the largest multiple of ten that every flow reaches which `docs/identify.md`
/// sets apart for calibration.
pub const NAMED_FROM: f64 = 50.0;

/// Scores this near to each other are equal: the plainer of the two is named.
const PLAINER_WITHIN: f64 = 1.0;

/// What most stacks ship, the plainest first; of the others, the catalogue's order counts.
const PLAIN: [&str; 5] = ["reno", "cubic", "bbr", "vegas", "copa"];

/// Distances that differ by less are equal.
const EQUAL: f64 = 1e-9;

/// A controller, or several that would have done the same on this trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Guess {
    /// Their names in the catalogue.
    pub controllers: Vec<String>,
    /// 100 for a window that was always the stack's, less the farther from it.
    pub score: f64,
    /// Mean of |ln(window / stack's window)| over time, by the better way.
    pub distance: f64,
    /// The same for the controller run from the beginning of the connection to its end.
    pub whole: f64,
    /// The same for the controller started anew at each loss or mark with the window the
    /// stack had then; none without losses or marks.
    pub by_epoch: Option<f64>,
    /// Of BBR, median of |ln| between the window and a constant times the largest delivery rate times the smallest RTT;
    /// of Copa, between the window's steps and those it may take; none for others, and where the window does not follow it.
    pub by_model: Option<f64>,
}

impl Guess {
    /// Plainest of its controllers.
    #[must_use]
    pub fn plainest(&self) -> &str {
        let plainest = self.controllers.iter().min_by_key(|name| plainness(name));
        plainest.map_or("", String::as_str)
    }
}

/// Where a controller is in the order of plainness, from 0.
fn plainness(name: &str) -> usize {
    let of_all = || NamedController::all().take_while(|entry| entry.name != name).count();
    PLAIN.iter().position(|plain| *plain == name).unwrap_or_else(|| PLAIN.len() + of_all())
}

/// What [`identify`] finds.
#[derive(Clone, PartialEq, Debug)]
pub struct Identified {
    /// Name of the connection that was looked at.
    pub connection: String,
    /// How many other connections the file has.
    pub others: usize,
    /// How it was known which packets were lost.
    pub losses_from: LossSource,
    /// ACK frames at which windows were compared.
    pub compared: u64,
    /// Losses or marks at which controllers were started anew.
    pub epochs: u64,
    /// The controllers that explain the window, best first.
    pub guesses: Vec<Guess>,
}

impl Identified {
    /// The controller that explains the window: of those within a point of the best the plainest; `None` below
    /// [`NAMED_FROM`].
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        named(&self.guesses)
    }
}

/// Of `guesses`, best first, the plainest within a point of the best; `None` below [`NAMED_FROM`].
fn named(guesses: &[Guess]) -> Option<&str> {
    let best = guesses.first()?.score;
    if best < NAMED_FROM {
        return None;
    }
    let near = guesses.iter().filter(|guess| guess.score >= best - PLAINER_WITHIN);
    near.map(Guess::plainest).min_by_key(|name| plainness(name))
}

/// The score of a distance.
fn score(distance: f64) -> f64 {
    100.0 * libm::exp(-distance / SCALE)
}

/// Compares the window of every controller of the catalogue with the one that a trace logs.
/// `open` is called twice or more and opens the trace.
///
/// # Errors
/// The trace cannot be read, has no connection `asked`, is a receiver's, lacks what events are made of, or
/// logs no congestion window.
pub fn identify<R: Read>(
    open: &dyn Fn() -> Result<R, ReplayError>,
    asked: Option<&str>,
) -> Result<Identified, ReplayError> {
    let connection = Connection::choose(open, asked)?;
    if connection.contents.received > connection.contents.bytes {
        return Err(ReplayError::Missing(Missing::Sender));
    }
    let first = connection.contents.first_window.ok_or(ReplayError::Missing(Missing::Window))?;
    let mut trial = Trial::new(&connection, first);
    let losses_from = connection.for_each_event(open()?, &mut |event| trial.on_event(event))?;
    let name = if connection.group.is_empty() { &connection.trace.group } else { &connection.group };
    Ok(Identified {
        connection: name.clone(),
        others: connection.others,
        losses_from,
        compared: trial.compared,
        epochs: trial.epochs,
        guesses: trial.guesses(),
    })
}

/// Parameters in which stacks differ, each with the values they have.
const VARIANTS: [(&str, [&str; 2]); 4] = [
    ("slow_start", ["standard", "hystart++"]),
    ("k_from_w_max", ["on", "off"]),
    ("alpha_rises", ["on", "off"]),
    ("rollback", ["0", "0.2"]),
];

/// A controller with its default parameters and, of those that stacks have too, with the
/// other first slow start, CUBIC with the `K` and the estimate of Reno's window of either
/// RFC, and with one stack's rollback: which of them a stack has is its own affair.
fn variants(algorithm: NamedController) -> Vec<NamedController> {
    let mut variants = vec![algorithm];
    if VARIED.contains(&ConfiguredController::name(&algorithm)) {
        for (parameter, words) in VARIANTS {
            for mut other in variants.clone() {
                for word in words {
                    if other.set(parameter, word).is_ok() && !variants.contains(&other) {
                        variants.push(other);
                    }
                }
            }
        }
    }
    variants
}

/// All controllers on one connection.
struct Trial {
    path: Path,
    candidates: Vec<Candidate>,
    logged: StackMetrics,
    rate_model: RateModel,
    step_model: StepModel,
    /// Arrival of the latest ACK frame, ns.
    latest: Option<u64>,
    /// When the latest epoch began, ns, and the window the stack had then.
    epoch: Option<(u64, u64)>,
    /// How far off a window would be that stays where it was when each epoch began: who is
    /// no nearer than that, started anew at each, explains nothing.
    standing: Distance,
    compared: u64,
    epochs: u64,
}

impl Trial {
    fn new(connection: &Connection, first_window: u64) -> Trial {
        let path = connection.path();
        let started = |algorithm: NamedController| starting_at(algorithm, first_window, path.mtu).unwrap_or(algorithm);
        let candidates = NamedController::all()
            .flat_map(|entry| variants(entry.default))
            .map(|algorithm| Candidate::new(started(algorithm), &path))
            .collect();
        let logged = StackMetrics::default();
        Trial {
            path,
            candidates,
            logged,
            rate_model: RateModel::default(),
            step_model: StepModel::default(),
            latest: None,
            epoch: None,
            standing: Distance::default(),
            compared: 0,
            epochs: 0,
        }
    }

    fn on_event(&mut self, event: &TraceEvent<'_>) {
        match event {
            TraceEvent::Metrics(_, metrics) => {
                self.logged = self.logged.updated_by(*metrics);
                return;
            }
            TraceEvent::Frame(frame) => {
                if let Some(stack) = self.logged.cwnd {
                    let seconds = self.latest.map_or(0.0, |latest| frame.now.0.saturating_sub(latest) as f64 / 1e9);
                    self.candidates.iter_mut().for_each(|candidate| candidate.compare(seconds, stack));
                    self.rate_model.add(frame, seconds, stack);
                    self.step_model.add(frame, stack, self.path.mtu);
                    if let Some((_, window)) = self.epoch {
                        self.standing.add(seconds, stack, window);
                    }
                    self.compared += 1;
                    self.latest = Some(frame.now.0);
                    let newest = frame.lost.map(|lost| lost.newest_sent_at);
                    let newest = newest.or(frame.marked().map(|marked| marked.newest_sent_at));
                    if newest.is_some_and(|newest| self.epoch.is_none_or(|(began, _)| newest.0 > began)) {
                        self.epoch = Some((frame.now.0, stack));
                        self.epochs += 1;
                        let path = self.path;
                        self.candidates.iter_mut().for_each(|candidate| candidate.restart(frame, stack, &path));
                    }
                }
            }
            TraceEvent::Mtu(_, mtu) => self.path.mtu = *mtu,
            TraceEvent::PacketSent(..) => {}
        }
        self.candidates.iter_mut().for_each(|candidate| candidate.on_trace_event(event));
    }

    /// The candidates by distance, those that did the same together, each controller once.
    fn guesses(self) -> Vec<Guess> {
        let mut found: Vec<((bool, u64), Guess)> = Vec::new();
        let standing = self.standing.mean().unwrap_or(f64::INFINITY);
        let by_rate = self.rate_model.fit().map(|fit| fit.distance);
        let by_step = self.step_model.fit().map(|fit| fit.distance);
        let of = |candidate: &Candidate| {
            let by_model = match ConfiguredController::name(&candidate.algorithm) {
                BY_RATE => by_rate,
                BY_STEP => by_step,
                _ => None,
            };
            Match::of(candidate, standing, by_model)
        };
        let mut matches: Vec<Match> = self.candidates.iter().map(of).collect();
        matches.sort_by(|one, other| one.distance.total_cmp(&other.distance));
        for Match { name, whole, by_epoch, by_model, distance, key } in matches {
            if found.iter().any(|(_, guess)| guess.controllers.iter().any(|other| other == name)) {
                continue;
            }
            let same =
                found.iter_mut().find(|(other, guess)| *other == key && (guess.distance - distance).abs() < EQUAL);
            if let Some((_, guess)) = same {
                guess.controllers.push(name.to_owned());
                continue;
            }
            let score = score(distance);
            found.push((key, Guess { controllers: vec![name.to_owned()], score, distance, whole, by_epoch, by_model }));
        }
        found.into_iter().map(|(_, guess)| guess).collect()
    }
}

/// How near the window of a candidate is to the stack's.
struct Match {
    name: &'static str,
    whole: f64,
    by_epoch: Option<f64>,
    by_model: Option<f64>,
    distance: f64,
    /// Which way counts, and all windows by it: those that did the same are one answer.
    key: (bool, u64),
}

impl Match {
    /// Of `candidate`, where a window that stood still from each epoch's beginning on would be
    /// `standing` off, and what the controller models `by_model`.
    fn of(candidate: &Candidate, standing: f64, by_model: Option<f64>) -> Match {
        let by_epochs = candidate.by_epoch();
        let whole = candidate.whole_distance.mean().unwrap_or(f64::INFINITY);
        let by_epoch = by_epochs.mean();
        let explains = by_epoch.filter(|again| *again < standing);
        let distance = explains.map_or(whole, |again| whole.min(again + HEAD_START));
        let fresh = distance < whole;
        let way = if fresh { by_epochs } else { candidate.whole_distance };
        let name = ConfiguredController::name(&candidate.algorithm);
        let (distance, key) = match by_model {
            // No other's window is the same.
            Some(model) if model + HEAD_START < distance => (model + HEAD_START, (true, 0)),
            _ => (distance, (fresh, way.fingerprint)),
        };
        Match { name, whole, by_epoch, by_model, distance, key }
    }
}

/// A factor between two windows counts as this much at most, as a natural logarithm.
const FARTHEST: f64 = 2.0;

/// An interval between two ACK frames counts as this much at most, s.
const LONGEST: f64 = 1.0;

/// How far apart two windows were over time.
#[derive(Clone, Copy, Debug, Default)]
struct Distance {
    sum: f64,
    time: f64,
    /// Of all windows so far, so that equal controllers are known as such.
    fingerprint: u64,
}

impl Distance {
    /// Adds `seconds` during which the stack's window was `stack` bytes and the other `cwnd`.
    fn add(&mut self, seconds: f64, stack: u64, cwnd: u64) {
        let seconds = seconds.clamp(0.0, LONGEST);
        let ratio = cwnd.max(1) as f64 / stack.max(1) as f64;
        self.sum += seconds * libm::log(ratio).abs().min(FARTHEST);
        self.time += seconds;
        // FNV-1a, a window at a time.
        self.fingerprint = (self.fingerprint ^ cwnd).wrapping_mul(0x0100_0000_01b3);
    }

    /// The distance over the times of both.
    fn and(&self, other: &Distance) -> Distance {
        Distance {
            sum: self.sum + other.sum,
            time: self.time + other.time,
            fingerprint: self.fingerprint.rotate_left(7) ^ other.fingerprint,
        }
    }

    /// The mean of |ln(window / stack's window)|; `None` where nothing was compared.
    fn mean(&self) -> Option<f64> {
        (self.time > 0.0).then(|| self.sum / self.time)
    }
}

/// A controller that may explain the window.
#[derive(Clone, Debug)]
struct Candidate {
    algorithm: NamedController,
    /// From the beginning of the connection to its end.
    whole: Rerun,
    whole_distance: Distance,
    /// From the latest loss or mark on, with the window the stack had then; and the same
    /// from the one before, which remembers it.
    again: [Option<Rerun>; 2],
    /// How far those two were off since the latest loss or mark.
    epoch: [Distance; 2],
    /// The nearer of both, epoch by epoch.
    again_distance: Distance,
}

/// `algorithm` with an initial window of `bytes`, `None` if it has no such parameter.
fn starting_at(mut algorithm: NamedController, bytes: u64, mtu: u32) -> Option<NamedController> {
    algorithm.set("iw", &iw_of(bytes, mtu).to_string()).ok()?;
    Some(algorithm)
}

impl Candidate {
    fn new(algorithm: NamedController, path: &Path) -> Candidate {
        Candidate {
            algorithm,
            whole: Rerun::new(algorithm, path),
            whole_distance: Distance::default(),
            again: [None, None],
            epoch: Default::default(),
            again_distance: Distance::default(),
        }
    }

    /// How far the window was off that was set right at losses and marks.
    fn by_epoch(&self) -> Distance {
        let [latest, before] = &self.epoch;
        let nearer = match (latest.mean(), before.mean()) {
            (Some(one), Some(other)) if other < one => before,
            _ => latest,
        };
        self.again_distance.and(nearer)
    }

    /// Adds `seconds` until now during which the stack's window was `stack` bytes.
    fn compare(&mut self, seconds: f64, stack: u64) {
        self.whole_distance.add(seconds, stack, self.whole.cwnd());
        for (again, distance) in self.again.iter().zip(&mut self.epoch) {
            if let Some(again) = again {
                distance.add(seconds, stack, again.cwnd());
            }
        }
    }

    /// Feeds the next event of the trace to the controller.
    fn on_trace_event(&mut self, event: &TraceEvent<'_>) {
        self.whole.on_trace_event(event);
        self.again.iter_mut().flatten().for_each(|again| again.on_trace_event(event));
    }

    /// Begins a new epoch with `frame`, at which the stack's window was `stack` bytes.
    fn restart(&mut self, frame: &Frame, stack: u64, path: &Path) {
        self.again_distance = self.by_epoch();
        self.epoch = Default::default();
        self.again.swap(0, 1);
        let path = Path::new(frame.now, path.mtu, path.seed);
        self.again[0] = Some(match starting_at(self.algorithm, stack, path.mtu) {
            None => self.whole.clone(),
            Some(algorithm) => {
                let mut again = Rerun::new(algorithm, &path);
                if let Some(rtt) = frame.rtt {
                    again.emit(frame.now, EventKind::RttSampled(rtt));
                }
                again
            }
        });
    }
}
