//! Which controller several traces of one sender show together.

use windlass_adapter::NamedController;
use windlass_qlog_analysis::identify::{Declared, Match};

use super::{Answer, Classification, Guess, Identified, named, score};

/// What traces of one sender show of its controller.
#[derive(Clone, Debug)]
pub struct OneSender {
    /// The answer.
    pub classification: Classification,
    /// Controller that a trace itself names.
    pub declared: Option<Declared>,
    /// By the congestion windows of those that log them; `None` if none does.
    pub by_window: Option<Windows>,
    /// By the arrival of data packets, and of how many traces; `None` if none has enough of it.
    pub by_arrivals: Option<(Match, usize)>,
}

/// How near the windows of controllers are to those of several traces.
#[derive(Clone, PartialEq, Debug)]
pub struct Windows {
    /// Traces that log windows.
    pub traces: usize,
    /// ACK frames at which windows were compared, of all these traces.
    pub compared: u64,
    /// Losses or marks that were answered, of all these traces.
    pub epochs: u64,
    /// The controllers, best first; distances are means of those of the traces.
    pub guesses: Vec<Guess>,
}

impl Windows {
    /// The controller that explains the windows of all; `None` below [`NAMED_FROM`](super::NAMED_FROM).
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        named(&self.guesses)
    }

    /// Joins what each trace of a sender shows; `None` without traces.
    #[must_use]
    pub fn of(found: &[&Identified]) -> Option<Windows> {
        if found.is_empty() {
            return None;
        }
        let number = found.len() as f64;
        let mut all: Vec<(Vec<usize>, Guess)> = Vec::new();
        for name in NamedController::all().map(|entry| entry.name) {
            let place =
                |one: &&Identified| one.guesses.iter().position(|guess| guess.controllers.iter().any(|n| n == name));
            let Some(places) = found.iter().map(place).collect::<Option<Vec<usize>>>() else { continue };
            // Those that did the same on every trace are one answer.
            if let Some((_, same)) = all.iter_mut().find(|(other, _)| *other == places) {
                same.controllers.push(name.to_owned());
                continue;
            }
            let guesses = || found.iter().zip(&places).map(|(one, at)| &one.guesses[*at]);
            let mean = |of: fn(&Guess) -> Option<f64>| guesses().map(of).sum::<Option<f64>>().map(|sum| sum / number);
            let distance = guesses().map(|guess| guess.distance).sum::<f64>() / number;
            let guess = Guess {
                controllers: vec![name.to_owned()],
                score: score(distance),
                distance,
                whole: guesses().map(|guess| guess.whole).sum::<f64>() / number,
                by_epoch: mean(|guess| guess.by_epoch),
                by_model: mean(|guess| guess.by_model),
            };
            all.push((places, guess));
        }
        let mut guesses: Vec<Guess> = all.into_iter().map(|(_, guess)| guess).collect();
        guesses.sort_by(|one, other| one.distance.total_cmp(&other.distance));
        let sum = |of: fn(&Identified) -> u64| found.iter().map(|one| of(one)).sum();
        Some(Windows { traces: found.len(), compared: sum(|one| one.compared), epochs: sum(|one| one.epochs), guesses })
    }
}

/// Two traces name different controllers, so that they are not of one sender.
#[derive(Clone, thiserror::Error)]
#[error("one trace tells {one:?} and another {other:?}")]
pub struct TwoControllers {
    /// Which of the traces tell them, from 0.
    pub traces: [usize; 2],
    /// Name in the first trace.
    pub one: String,
    /// Name in the second trace.
    pub other: String,
}

impl std::fmt::Debug for TwoControllers {
    /// What `?` in `main` prints: the text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Which controller the traces that gave `answers` show together, if one sender made them all.
///
/// # Errors
/// Two of them name different controllers.
pub fn of_one_sender(answers: &[Answer]) -> Result<OneSender, TwoControllers> {
    let mut declared: Option<(usize, &Declared)> = None;
    for (at, told) in answers.iter().enumerate().filter_map(|(at, answer)| Some((at, answer.declared.as_ref()?))) {
        match declared {
            Some((first, one)) if one.controller != told.controller => {
                return Err(TwoControllers { traces: [first, at], one: one.text.clone(), other: told.text.clone() });
            }
            // A name says more than a state.
            Some((_, one)) if !one.by_state || told.by_state => {}
            _ => declared = Some((at, told)),
        }
    }
    let declared = declared.map(|(_, told)| told.clone());
    let windows: Vec<&Identified> = answers.iter().filter_map(|answer| answer.by_window.as_ref().ok()).collect();
    let by_window = Windows::of(&windows);
    let arrivals: Vec<&Match> = answers.iter().filter_map(|answer| answer.by_arrivals.as_ref().ok()).collect();
    let by_arrivals = Match::of_one_sender(arrivals.iter().copied()).map(|found| (found, arrivals.len()));
    let classification = Classification::of(
        declared.as_ref(),
        by_window.as_ref().and_then(Windows::named),
        by_arrivals.as_ref().map(|(found, _)| found),
    );
    Ok(OneSender { classification, declared, by_window, by_arrivals })
}
