//! Which controller of the catalogue explains a window best.

use std::io::Read;

use serde::Serialize;
use windlass_controllers::{Algorithm, ConfiguredController};

use super::candidate::{Candidate, Distance, starting_at};
use super::facts::Missing;
use super::frame::{Occurrence, Told};
use super::rebuild::LossSource;
use super::select::{Connection, HindsightError};

/// Controllers that are tried with either first slow start.
const VARIED: [&str; 2] = ["reno", "cubic"];

/// What a window that was set right at each loss has to be nearer by than one that was
/// not, as a mean |ln|: it had the easier task.
const HEAD_START: f64 = 0.02;

/// A mean |ln| of this much takes a score to 1/e of the full one.
const SCALE: f64 = 0.1;

/// Distances that differ by less are equal.
const EQUAL: f64 = 1e-9;

/// A controller, or several that would have done the same on this trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Guess {
    /// Their names.
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
}

/// What came of looking for a controller.
#[derive(Clone, PartialEq, Debug)]
pub struct Identified {
    /// The connection that was looked at.
    pub connection: String,
    /// How many others the file has.
    pub others: usize,
    /// How it was known which packets were lost.
    pub losses_from: LossSource,
    /// ACK frames at which windows were compared.
    pub compared: u64,
    /// Losses or marks at which controllers were started anew.
    pub epochs: u64,
    /// Best first.
    pub guesses: Vec<Guess>,
}

/// Holds every controller of the catalogue against the window told in a trace, which `open`
/// opens, twice.
///
/// # Errors
/// The trace cannot be read, has no connection `asked`, lacks what events are made of, or
/// tells no window.
pub fn identify<R: Read>(
    open: &dyn Fn() -> Result<R, HindsightError>,
    asked: Option<&str>,
) -> Result<Identified, HindsightError> {
    let connection = Connection::choose(open()?, asked)?;
    let first = connection.facts.first_window.ok_or(HindsightError::Missing(Missing::Window))?;
    let mut trial = Trial::new(&connection, first);
    let losses_from = connection.relive(open()?, &mut |occurrence| trial.take(occurrence))?;
    let name = if connection.group.is_empty() { &connection.trace.group } else { &connection.group };
    Ok(Identified {
        connection: name.clone(),
        others: connection.others,
        losses_from,
        compared: trial.compared,
        epochs: trial.epochs,
        guesses: trial.verdict(),
    })
}

/// What stacks differ in.
const VARIANTS: [(&str, [&str; 2]); 4] = [
    ("slow_start", ["standard", "hystart++"]),
    ("k_from_w_max", ["on", "off"]),
    ("alpha_rises", ["on", "off"]),
    ("rollback", ["0", "0.2"]),
];

/// A controller with its default parameters and, of those that stacks have too, with the
/// other first slow start, CUBIC with the `K` and the estimate of Reno's window of either
/// RFC, and with one stack's rollback: which of them a stack has is its own affair.
fn variants(algorithm: Algorithm) -> Vec<Algorithm> {
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

/// All controllers of the catalogue on one connection.
struct Trial {
    path: windlass_controllers::Path,
    candidates: Vec<Candidate>,
    told: Told,
    /// When the latest frame came, ns.
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
        let engine = |engine: Algorithm| starting_at(engine, first_window, path.mtu).unwrap_or(engine);
        let candidates = Algorithm::ALL
            .iter()
            .flat_map(|entry| variants((entry.default)()))
            .map(|algorithm| Candidate::new(engine(algorithm), &path))
            .collect();
        let told = Told::default();
        Trial {
            path,
            candidates,
            told,
            latest: None,
            epoch: None,
            standing: Distance::default(),
            compared: 0,
            epochs: 0,
        }
    }

    fn take(&mut self, occurrence: &Occurrence<'_>) {
        match occurrence {
            Occurrence::Told(_, told) => {
                self.told = self.told.updated_by(*told);
                return;
            }
            Occurrence::Frame(frame) => {
                if let Some(told) = self.told.cwnd {
                    let seconds = self.latest.map_or(0.0, |latest| frame.now.0.saturating_sub(latest) as f64 / 1e9);
                    self.candidates.iter_mut().for_each(|candidate| candidate.compare(seconds, told));
                    if let Some((_, window)) = self.epoch {
                        self.standing.add(seconds, told, window);
                    }
                    self.compared += 1;
                    self.latest = Some(frame.now.0);
                    let newest = frame.lost.map(|lost| lost.newest_sent_at);
                    let newest = newest.or(frame.marked().map(|marked| marked.newest_sent_at));
                    if newest.is_some_and(|newest| self.epoch.is_none_or(|(began, _)| newest.0 > began)) {
                        self.epoch = Some((frame.now.0, told));
                        self.epochs += 1;
                        let path = self.path;
                        self.candidates.iter_mut().for_each(|candidate| candidate.restart(frame, told, &path));
                    }
                }
            }
            Occurrence::Mtu(_, mtu) => self.path.mtu = *mtu,
            Occurrence::PacketSent(..) => {}
        }
        self.candidates.iter_mut().for_each(|candidate| candidate.take(occurrence));
    }

    /// The candidates by distance, those that did the same together, each controller once.
    fn verdict(self) -> Vec<Guess> {
        let mut found: Vec<((bool, u64), Guess)> = Vec::new();
        let standing = self.standing.mean().unwrap_or(f64::INFINITY);
        let mut verdicts: Vec<Verdict> = self.candidates.iter().map(|one| Verdict::of(one, standing)).collect();
        verdicts.sort_by(|one, other| one.distance.total_cmp(&other.distance));
        for Verdict { name, whole, by_epoch, distance, key } in verdicts {
            if found.iter().any(|(_, guess)| guess.controllers.iter().any(|other| other == name)) {
                continue;
            }
            let same =
                found.iter_mut().find(|(other, guess)| *other == key && (guess.distance - distance).abs() < EQUAL);
            if let Some((_, guess)) = same {
                guess.controllers.push(name.to_owned());
                continue;
            }
            let score = 100.0 * libm::exp(-distance / SCALE);
            found.push((key, Guess { controllers: vec![name.to_owned()], score, distance, whole, by_epoch }));
        }
        found.into_iter().map(|(_, guess)| guess).collect()
    }
}

/// How near a candidate came.
struct Verdict {
    name: &'static str,
    whole: f64,
    by_epoch: Option<f64>,
    distance: f64,
    /// Which way counts, and all windows by it: those that did the same are one answer.
    key: (bool, u64),
}

impl Verdict {
    /// Of `candidate`, where a window that stood still from each epoch's beginning on would be
    /// `standing` off.
    fn of(candidate: &Candidate, standing: f64) -> Verdict {
        let by_epochs = candidate.by_epoch();
        let whole = candidate.whole_distance.mean().unwrap_or(f64::INFINITY);
        let by_epoch = by_epochs.mean();
        let explains = by_epoch.filter(|again| *again < standing);
        let distance = explains.map_or(whole, |again| whole.min(again + HEAD_START));
        let fresh = distance < whole;
        let way = if fresh { by_epochs } else { candidate.whole_distance };
        let name = ConfiguredController::name(&candidate.algorithm);
        Verdict { name, whole, by_epoch, distance, key: (fresh, way.fingerprint) }
    }
}
