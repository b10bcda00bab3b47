//! What many runs of the same that do not repeat say together.

use serde::Serialize;

use super::measure::Measured;
use super::table::{Results, Row};

/// The part of cases in which a median may lie beyond either end of its interval.
const BEYOND: f64 = 0.025;

/// The median of a sample, and the interval of order statistics that holds the population's in at least 95 % of samples,
/// whatever its distribution; values that are not there are larger than all others.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// The median; `None` where half of the values or more are not there.
    pub median: Option<f64>,
    /// The interval's ends, the upper one `None` where that value is not there; of fewer than six values there is none.
    pub interval: Option<(Option<f64>, Option<f64>)>,
}

impl Spread {
    /// That of `values`; `None` of none.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Spread> {
        let mut sorted: Vec<f64> = values.into_iter().map(|value| value.unwrap_or(f64::INFINITY)).collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let there = |value: f64| value.is_finite().then_some(value);
        let median = there((sorted[last / 2] + sorted[last - last / 2]) / 2.0);
        let interval = left_out(sorted.len()).map(|rank| (there(sorted[rank]), there(sorted[last - rank])));
        Some(Spread { median, interval })
    }
}

/// How many of `count` values lie beyond either end of the interval; `None` if those at the ends are too few for one.
fn left_out(count: usize) -> Option<usize> {
    // So many values lie below the median by the binomial distribution.
    let mut term = 0.5_f64.powi(i32::try_from(count).ok()?);
    let mut below = term;
    let mut rank = None;
    for number in 1..=count {
        if below > BEYOND {
            break;
        }
        rank = Some(number - 1);
        term *= (count - number + 1) as f64 / number as f64;
        below += term;
    }
    rank
}

/// A scheme's flow alone on a stack at a place, in all its turns.
#[derive(Clone, PartialEq, Debug)]
pub struct Turns<'a> {
    /// The first of them.
    pub first: &'a Row,
    /// How many ran.
    pub ran: usize,
    /// See [`Measured::Run::filled_s`].
    pub filled_s: Option<Spread>,
    /// Packets lost.
    pub lost: Option<Spread>,
}

impl<'a> Turns<'a> {
    fn of(rows: &'a [Row]) -> Turns<'a> {
        let read = rows.iter().filter_map(|row| row.answer(None, false));
        let ran: Vec<&Measured> = read.filter(|read| read.reason().is_none()).collect();
        Turns {
            first: &rows[0],
            ran: ran.len(),
            filled_s: Spread::of(ran.iter().map(|read| read.filled_s())),
            lost: Spread::of(ran.iter().map(|read| read.lost().map(|lost| lost as f64))),
        }
    }
}

impl Results {
    /// By place, stack and scheme.
    pub fn turns(&self) -> impl Iterator<Item = Turns<'_>> {
        let alike = |a: &Row, b: &Row| (a.place, &a.stack, &a.scheme) == (b.place, &b.stack, &b.scheme);
        self.rows.chunk_by(alike).map(Turns::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables of the sign test: of ten values the second and the ninth, of six the first and the last.
    #[test]
    fn the_interval_is_that_of_the_sign_test() {
        assert_eq!([0, 5, 6, 8, 9, 10, 12, 15, 20].map(left_out), {
            [None, None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(3), Some(5)]
        });
        let ten = Spread::of((1..=10).rev().map(|value| Some(f64::from(value)))).unwrap();
        assert_eq!(ten, Spread { median: Some(5.5), interval: Some((Some(2.0), Some(9.0))) });
    }

    #[test]
    fn what_is_not_there_is_larger_than_all_that_is() {
        let of = |there: u32, not: usize| {
            Spread::of((0..there).map(|value| Some(f64::from(value))).chain(std::iter::repeat_n(None, not)))
        };
        assert_eq!(of(0, 0), None);
        assert_eq!(of(3, 0), Some(Spread { median: Some(1.0), interval: None }));
        assert_eq!(of(6, 4), Some(Spread { median: Some(4.5), interval: Some((Some(1.0), None)) }));
        assert_eq!(of(5, 5), Some(Spread { median: None, interval: Some((Some(1.0), None)) }));
    }
}
