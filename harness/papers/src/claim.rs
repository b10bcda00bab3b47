//! Claims: what a document says of its schemes, and the criterion that decides whether runs show
//! it.

use std::fmt::Write;

use super::quantity::Number;
use super::result::{Answer, ExperimentResult};
use super::template::Scale;

/// A statement of a document that the runs of an experiment answer: who is first, who leaves whom
/// nothing, what rises with what.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Unique over all documents, such as `cho-1`.
    pub id: &'static str,
    /// Id of the experiment whose runs answer it.
    pub experiment: &'static str,
    /// The section of the specification it is from.
    pub source: &'static str,
    /// The document's statement in our words, one sentence.
    pub text: &'static str,
    /// Makes the comparisons that decide; `None` if the runs lack a number it needs.
    pub criterion: fn(&ExperimentResult, &mut Criterion) -> Option<()>,
    /// The runs that it is tried on with and without the mutant.
    pub trial: Trial,
    /// Change of the scenario under which it must fail.
    pub mutant: Mutant,
    /// Why our runs do not show it, for one that fails or that they leave open.
    pub why: Option<&'static str>,
}

/// A few short runs of an experiment, on which a criterion is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The cells that are run, each alternative as `setting=value,setting=value`; none for all.
    pub cells: &'static [&'static str],
    /// How much of the document's times.
    pub scale: Scale,
    /// Repetitions of every cell.
    pub repetitions: u64,
    /// What makes the scenarios smaller: texts and what stands in their place.
    pub shrink: &'static [(&'static str, &'static str)],
    /// What is changed to take away the cause that [`Claim::why`] names; `None` where the runs are the experiment's.
    pub change: Option<Mutant>,
}

impl Trial {
    /// One full run of every cell.
    pub const FULL: Trial = Trial { cells: &[], scale: Scale::Full, repetitions: 1, shrink: &[], change: None };

    /// The same of `cells` only.
    #[must_use]
    pub const fn of(self, cells: &'static [&'static str]) -> Trial {
        Trial { cells, ..self }
    }

    /// The same at `scale`.
    #[must_use]
    pub const fn at(self, scale: Scale) -> Trial {
        Trial { scale, ..self }
    }

    /// The same with so many repetitions.
    #[must_use]
    pub const fn times(self, repetitions: u64) -> Trial {
        Trial { repetitions, ..self }
    }

    /// The same without what makes the claim fail.
    #[must_use]
    pub const fn with(self, what: &'static str, replace: &'static [(&'static str, &'static str)]) -> Trial {
        Trial { change: Some(Mutant { what, replace }), ..self }
    }

    /// The same with smaller scenarios.
    #[must_use]
    pub const fn shrunk(self, shrink: &'static [(&'static str, &'static str)]) -> Trial {
        Trial { shrink, ..self }
    }
}

/// A controller or a network that is changed in one respect: wrong in it, or without what makes a claim fail.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// The change, in words.
    pub what: &'static str,
    /// Texts of the scenarios and what stands in their place.
    pub replace: &'static [(&'static str, &'static str)],
}

/// One comparison: `less` should be below `more`.
#[derive(Clone, Debug)]
struct Comparison {
    text: String,
    margin: f64,
    /// The intervals overlap.
    is_open: bool,
}

/// The comparisons that decide a claim. It holds if all of them do.
#[derive(Clone, Debug, Default)]
pub struct Criterion {
    comparisons: Vec<Comparison>,
    all: Option<usize>,
}

impl Criterion {
    /// The statement is of so many comparisons: a part of the experiment that makes them all decides it. Without this
    /// only all of the cells do.
    pub fn are_all(&mut self, comparisons: usize) {
        self.all = Some(comparisons);
    }

    /// `less` is below `more`.
    pub fn less(&mut self, less: (&str, impl Into<Number>), more: (&str, impl Into<Number>)) {
        let (low, high) = (less.1.into(), more.1.into());
        let difference = high.value - low.value;
        let size = low.value.abs().max(high.value.abs());
        let margin = if size > 0.0 { difference / size } else { 0.0 };
        let noise = low.half_width.hypot(high.half_width);
        let mut text = String::new();
        let _ = write!(text, "{} {} < {} {}", less.0, short(low.value), more.0, short(high.value));
        self.comparisons.push(Comparison { text, margin, is_open: noise > 0.0 && difference.abs() <= noise });
    }

    /// Each of `less` that was run is below `more`.
    pub fn each_less<S: AsRef<str>>(
        &mut self,
        less: impl IntoIterator<Item = (S, Option<Number>)>,
        more: (&str, Number),
    ) {
        for (what, less) in less {
            if let Some(less) = less {
                self.less((what.as_ref(), less), more);
            }
        }
    }

    /// `number` is above `least`.
    pub fn above(&mut self, what: &str, number: impl Into<Number>, least: f64) {
        self.less(("", least), (what, number));
    }

    /// `number` is below `most`.
    pub fn below(&mut self, what: &str, number: impl Into<Number>, most: f64) {
        self.less((what, number), ("", most));
    }

    /// `number` is `expected` up to a share of it.
    pub fn near(&mut self, what: &str, number: impl Into<Number>, expected: f64, share: f64) {
        let number = number.into();
        let off =
            Number { value: (number.value / expected - 1.0).abs(), half_width: number.half_width / expected.abs() };
        let what = format!("{what}: {} is off {} by", short(number.value), short(expected));
        self.less((&what, off), ("", share));
    }

    /// Each of `numbers` is above the one before.
    pub fn rises(&mut self, what: &str, numbers: &[(String, Number)]) {
        for pair in numbers.windows(2) {
            self.less((&format!("{what} at {}", pair[0].0), pair[0].1), (&format!("at {}", pair[1].0), pair[1].1));
        }
    }

    /// Each of `numbers` is below the one before.
    pub fn falls(&mut self, what: &str, numbers: &[(String, Number)]) {
        for pair in numbers.windows(2) {
            self.less((&format!("{what} at {}", pair[1].0), pair[1].1), (&format!("at {}", pair[0].0), pair[0].1));
        }
    }

    /// What they decide: the first that fails by most, else the one that is open, else the one
    /// with the least margin.
    fn decision(&self) -> Option<(Option<bool>, &Comparison)> {
        let failing = |one: &&Comparison| one.margin <= 0.0 && !one.is_open;
        let least = |a: &&Comparison, b: &&Comparison| a.margin.total_cmp(&b.margin);
        if let Some(one) = self.comparisons.iter().filter(failing).min_by(least) {
            return Some((Some(false), one));
        }
        let open = self.comparisons.iter().filter(|one| one.is_open).min_by(least);
        match open {
            Some(one) => Some((None, one)),
            None => self.comparisons.iter().min_by(least).map(|one| (Some(true), one)),
        }
    }
}

/// Three significant digits.
fn short(value: f64) -> String {
    let before = if value == 0.0 { 1 } else { value.abs().log10().floor() as i32 + 1 };
    let decimals = (3 - before).clamp(0, 5) as usize;
    format!("{value:.decimals$}")
}

impl Claim {
    /// The answer of `result`, whichever program made it, to the claim as it is written. Where that needs curves, which
    /// files do not hold, it is the answer given when the result was made.
    #[must_use]
    pub fn answer_in(&self, result: &ExperimentResult) -> Answer {
        let answer = self.answered(result);
        let made = || result.claims.iter().find(|made| made.claim == self.id).cloned();
        if answer.margin.is_some() { answer } else { made().unwrap_or(answer) }
    }

    /// The answer of `result` to it.
    pub(super) fn answered(&self, result: &ExperimentResult) -> Answer {
        let mut criterion = Criterion::default();
        let complete = (self.criterion)(result, &mut criterion).is_some();
        let (mut holds, margin, mut evidence) = match criterion.decision() {
            // What was compared before a number was missing may still refute it.
            Some((holds, one)) if complete || holds == Some(false) => {
                let of = criterion.comparisons.len();
                let text = one.text.split_whitespace().collect::<Vec<_>>().join(" ");
                (holds, Some(one.margin), if of > 1 { format!("{text} (closest of {of})") } else { text })
            }
            _ => (None, None, "what it needs was not run".to_owned()),
        };
        // What some cells show need not be so in the others; what they refute is refuted.
        if !result.only.is_empty() && holds == Some(true) && criterion.all != Some(criterion.comparisons.len()) {
            holds = None;
            evidence.push_str("; by these cells it holds");
        }
        Answer { claim: self.id.to_owned(), text: self.text.to_owned(), holds, margin, evidence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Mean;

    fn decided(compare: impl Fn(&mut Criterion)) -> (Option<bool>, f64, String) {
        let mut criterion = Criterion::default();
        compare(&mut criterion);
        let (holds, one) = criterion.decision().unwrap();
        (holds, one.margin, one.text.clone())
    }

    #[test]
    fn the_least_margin_decides() {
        let (holds, margin, text) = decided(|c| {
            c.less(("a", 1.0), ("b", 2.0));
            c.less(("c", 9.0), ("d", 10.0));
        });
        assert_eq!((holds, margin, text.as_str()), (Some(true), 0.1, "c 9.00 < d 10.0"));
        let (holds, margin, _) = decided(|c| {
            c.less(("a", 1.0), ("b", 2.0));
            c.above("c", 4.0, 5.0);
        });
        assert_eq!((holds, margin), (Some(false), -0.2));
    }

    #[test]
    fn intervals_that_overlap_decide_nothing() {
        let mean = |mean, half_width| Mean { id: String::new(), unit: String::new(), repetitions: 5, mean, half_width };
        let (a, b) = (mean(1.0, Some(0.3)), mean(1.2, Some(0.3)));
        assert_eq!(decided(|c| c.less(("a", &a), ("b", &b))).0, None);
        assert_eq!(decided(|c| c.less(("b", &b), ("a", &a))).0, None);
        let b = mean(1.5, Some(0.3));
        assert_eq!(decided(|c| c.less(("a", &a), ("b", &b))).0, Some(true));
        assert_eq!(decided(|c| c.below("c", Number::between(0.0, 2.0), 1.05)).0, None);
        assert_eq!(decided(|c| c.below("c", Number::between(0.0, 1.0), 1.05)).0, Some(true));
        assert_eq!(decided(|c| c.below("c", Number::between(1.1, 3.0), 1.05)).0, Some(false));
        // One that fails beyond doubt decides, whatever is open.
        let refuted = decided(|c| {
            c.less(("a", &a), ("b", &mean(1.2, Some(0.3))));
            c.less(("b", &b), ("a", &a));
        });
        assert_eq!(refuted.0, Some(false));
    }

    #[test]
    fn a_ratio_is_as_uncertain_as_both_of_its_numbers() {
        let of = |value, half_width| Number { value, half_width };
        let ratio = of(12.0, 3.6).over(of(6.0, 2.4));
        assert_eq!(ratio.value, 2.0);
        assert!((ratio.half_width - 1.0).abs() < 1e-12, "{ratio:?}");
        assert_eq!(of(3.0, 0.0).over(of(4.0, 0.0)), Number::from(0.75));
    }

    #[test]
    fn equals_do_not_rise() {
        let numbers: Vec<(String, Number)> =
            [1.0, 2.0, 2.0].iter().map(|n| (n.to_string(), Number::from(*n))).collect();
        assert_eq!(decided(|c| c.rises("x", &numbers)).0, Some(false));
        assert_eq!(decided(|c| c.near("x", 1.04, 1.0, 0.05)).0, Some(true));
        assert_eq!(decided(|c| c.near("x", 0.94, 1.0, 0.05)).0, Some(false));
    }
}
