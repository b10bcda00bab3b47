//! The ranking for a use, and why others are out.

use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::uses::{Measure, Requirement, Use};
use crate::harm::DEPLOYED;

/// What else is known of where the controller is to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// The network marks, and the stack carries marks.
    pub ecn: bool,
    /// The bottleneck has FQ-CoDel, as home routers with smart queues do.
    pub fq: bool,
}

/// A controller that meets all requirements.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranked {
    /// The controller.
    pub controller: String,
    /// The measure.
    pub score: f64,
    /// The numbers that it rests on, in words: `queue on deep 12.1 ms`.
    pub numbers: Vec<String>,
}

/// What is recommended.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Choice {
    /// Those that meet all requirements, the best first; equal ones in the order of the catalogue.
    pub ranked: Vec<Ranked>,
    /// The others by the first requirement that they do not meet, as [`Requirement::text`] has it, or by what else keeps them out.
    pub out: BTreeMap<String, Vec<String>>,
}

/// What a bound on harm is exceeded by before it counts, as in [`harm`](crate::harm).
const SLACK: f64 = 0.05;

/// Ranks all controllers of `evidence` for `asked`. `refused` says why one cannot be used at all, such as by a stack that lacks a signal.
#[must_use]
pub fn choose(evidence: &Evidence, asked: &Use, needs: Needs, refused: &dyn Fn(&str) -> Option<String>) -> Choice {
    let (requirements, measure) = asked.asks(needs.ecn);
    let mut choice = Choice::default();
    let mut candidates = Vec::new();
    for controller in evidence.controllers() {
        let missed = || requirements.iter().find(|one| !meets(evidence, controller, one, needs)).map(Requirement::text);
        match refused(controller).or_else(missed) {
            Some(why) => choice.out.entry(why).or_default().push(controller.clone()),
            None => candidates.push(controller.clone()),
        }
    }
    for controller in &candidates {
        match score(evidence, controller, &candidates, &measure, needs) {
            Some((score, numbers)) => {
                choice.ranked.push(Ranked { controller: controller.clone(), score, numbers });
            }
            None => choice.out.entry(format!("{}: not measured", measure.text())).or_default().push(controller.clone()),
        }
    }
    let more_is_better = matches!(measure, Measure::Most(..));
    choice.ranked.sort_by(|a, b| {
        let order = a.score.total_cmp(&b.score);
        if more_is_better { order.reverse() } else { order }
    });
    choice
}

/// The harm of `by` to `to` at the places that count, by their numbers.
fn harms<'a>(
    evidence: &'a Evidence,
    to: &'a str,
    by: &'a str,
    needs: Needs,
) -> impl Iterator<Item = (usize, f64)> + 'a {
    evidence.harm(to, by).filter(move |(_, fq, _)| *fq || !needs.fq).map(|(place, _, harm)| (place, harm))
}

/// The greatest of them.
fn harm(evidence: &Evidence, to: &str, by: &str, needs: Needs) -> Option<f64> {
    harms(evidence, to, by, needs).map(|(_, harm)| harm).reduce(f64::max)
}

/// Whether the harm of `by` is within what the deployed ones do to each other, at each place.
fn is_harmless(evidence: &Evidence, by: &str, needs: Needs) -> bool {
    let bound = |place: usize| {
        let of = |to, other| harms(evidence, to, other, needs).find(|(at, _)| *at == place).map(|(_, harm)| harm);
        let pairs = DEPLOYED.iter().flat_map(|to| DEPLOYED.iter().map(move |other| (*to, *other)));
        pairs.filter_map(|(to, other)| of(to, other)).reduce(f64::max)
    };
    DEPLOYED.iter().all(|to| {
        let mut places = harms(evidence, to, by, needs).peekable();
        places.peek().is_some() && places.all(|(place, harm)| bound(place).is_some_and(|bound| harm <= bound + SLACK))
    })
}

fn meets(evidence: &Evidence, controller: &str, requirement: &Requirement, needs: Needs) -> bool {
    match requirement {
        Requirement::Harmless => is_harmless(evidence, controller, needs),
        Requirement::GivesWay(most) => {
            DEPLOYED.iter().all(|to| harm(evidence, to, controller, needs).is_some_and(|harm| harm <= *most + 1e-9))
        }
        Requirement::HoldsItsOwn(least) => {
            harm(evidence, controller, "cubic", needs).is_some_and(|harm| 1.0 - harm >= *least - 1e-9)
        }
        Requirement::Meets(criterion, paths) => paths.iter().all(|path| {
            let answer = evidence.answer(controller, criterion, path);
            answer.is_some_and(|answer| answer.assessment == "met" || answer.assessment == "undecided")
        }),
    }
}

/// The measure, and its numbers in words.
fn score(
    evidence: &Evidence,
    controller: &str,
    candidates: &[String],
    measure: &Measure,
    needs: Needs,
) -> Option<(f64, Vec<String>)> {
    let (criterion, paths, is_least) = match measure {
        Measure::Harm => {
            let each = DEPLOYED.iter().map(|to| Some((to, harm(evidence, to, controller, needs)?)));
            let each = each.collect::<Option<Vec<_>>>()?;
            let worst = each.iter().map(|(_, harm)| *harm).fold(f64::MIN, f64::max);
            return Some((worst, each.iter().map(|(to, harm)| format!("of {to} {:.0} %", 100.0 * harm)).collect()));
        }
        Measure::Most(criterion, paths) => (criterion, paths, false),
        Measure::Least(criterion, paths) => (criterion, paths, true),
    };
    let (mut sum, mut numbers) = (0.0, Vec::new());
    for path in *paths {
        let value = |name: &str| evidence.answer(name, criterion, path).and_then(|answer| answer.value);
        let own = value(controller)?;
        let of_all = candidates.iter().filter_map(|name| value(name));
        let best = if is_least { of_all.reduce(f64::min) } else { of_all.reduce(f64::max) }?;
        // A best of next to nothing makes no multiple: a thousandth of the unit counts as nothing.
        sum += (own + FLOOR) / (best + FLOOR);
        let unit = &evidence.answer(controller, criterion, path)?.unit;
        let space = if unit.is_empty() { "" } else { " " };
        numbers.push(format!("{path} {}{space}{unit}", crate::rfc9743::shown(own)));
    }
    Some((sum / paths.len() as f64, numbers))
}

/// Added to numbers before they are compared as multiples.
const FLOOR: f64 = 1e-3;
