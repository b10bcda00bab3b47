//! What the claims compare.

use super::super::derived;
use super::shared::{EQUAL, HIGH_SPEED};
use crate::{CellResult, Criterion, ExperimentResult, Number};

/// A quantity over the values of a setting that are numbers above 0, among cells with `fixed`.
pub(super) fn over(
    result: &ExperimentResult,
    setting: &str,
    fixed: &[(&str, &str)],
    quantity: &str,
) -> Vec<(String, Number)> {
    let fits = |cell: &&CellResult| fixed.iter().all(|(name, value)| cell.setting(name) == Some(value));
    let of = |cell: &CellResult| Some((cell.setting(setting)?.to_owned(), cell.mean(quantity)?.into()));
    result.cells.iter().filter(fits).filter_map(of).collect()
}

/// A quantity of the cell with one value of a setting is below that with another, each so many times.
pub(super) fn more(
    result: &ExperimentResult,
    c: &mut Criterion,
    quantity: &str,
    (setting, low, low_times): (&str, &str, f64),
    (other, high, high_times): (&str, &str, f64),
) -> Option<()> {
    let less = result.number(&[(setting, low)], quantity)?.times(low_times);
    let most = result.number(&[(other, high)], quantity)?.times(high_times);
    c.less((&format!("{quantity}, {low}"), less), (high, most));
    Some(())
}

/// DCA-C has less of a quantity than DCA-S, and DCA-S less than Reno.
pub(super) fn least_in_a_group(result: &ExperimentResult, c: &mut Criterion, quantity: &str) -> Option<()> {
    more(result, c, quantity, ("scheme", "DCA-S", 1.0), ("scheme", "Reno", 1.0))?;
    more(result, c, quantity, ("scheme", "DCA-C", 1.0), ("scheme", "DCA-S", 1.0))
}

pub(super) fn worth_one(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    for cell in &result.cells {
        c.near(&cell.cell, cell.mean("ratio")?, 1.0, EQUAL);
    }
    Some(())
}

pub(super) fn weights(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    let early = result
        .cells
        .iter()
        .filter(|cell| cell.setting("start") == Some("early loss") && cell.setting("k") != Some("0"));
    for cell in early {
        let k: f64 = cell.setting("k")?.parse().ok()?;
        // Ten flows worth ten are ten flows.
        let expected = if cell.setting("what") == Some("flows") || k == 10.0 { k } else { model(k) };
        c.near(&cell.cell, cell.mean("ratio")?, expected, EQUAL);
    }
    Some(())
}

/// What a weight is worth: √(k(4k − 1)/3) standard flows (eq. 3.17).
pub(super) fn model(k: f64) -> f64 {
    derived::model(k)
}

/// `scheme` leaves Node1 more than each of the high-speed schemes does.
pub(super) fn leaves_most(result: &ExperimentResult, c: &mut Criterion, scheme: &str) -> Option<()> {
    let left = |scheme| result.number(&[("scheme", scheme)], "Node1");
    c.each_less(HIGH_SPEED.map(|other| (format!("Node1, {other}"), left(other))), (scheme, left(scheme)?));
    Some(())
}

/// Node0 gets more with `scheme` than with `other` times a share, with either start that was run.
pub(super) fn uses_more(
    result: &ExperimentResult,
    c: &mut Criterion,
    (other, share): (&str, f64),
    scheme: &str,
) -> Option<()> {
    for start in ["early loss", "undisturbed"] {
        let of = |scheme| result.number(&[("scheme", scheme), ("start", start)], "Node0");
        if let (Some(less), Some(ours)) = (of(other), of(scheme)) {
            c.less((&format!("{other}, {start}"), less.times(share)), (scheme, ours));
        }
    }
    Some(())
}

pub(super) fn as_standard(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    let of = |scheme| result.number(&[("scheme", scheme)], "Node1");
    let standard = of("SACK")?;
    c.less(("what SACK leaves, three quarters of", standard.times(1.0 - EQUAL)), ("A-TCP", of("A-TCP")?));
    Some(())
}

pub(super) fn fills(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    c.above("use of the link", result.number(&[], "utilisation")?, 0.95);
    Some(())
}

/// Values of a state variable of the observed flow between two parts of the run; `None` without any.
pub(super) fn values(result: &ExperimentResult, kind: &str, from: f64, to: f64) -> Option<Vec<f64>> {
    let curve = result.cells.first()?.curves.iter().find(|curve| curve.kind == kind)?;
    let end = 300.0_f64.min(*curve.x.last()?);
    let inside = |(x, _): &(&f64, &f64)| **x >= from * end && **x <= to * end;
    let values: Vec<f64> = curve.x.iter().zip(&curve.y).filter(inside).map(|(_, y)| *y).collect();
    (!values.is_empty()).then_some(values)
}

/// Mean of a state variable of the observed flow between two parts of the run.
pub(super) fn curve(result: &ExperimentResult, kind: &str, from: f64, to: f64) -> Option<Number> {
    let values = values(result, kind, from, to)?;
    Some((values.iter().sum::<f64>() / values.len() as f64).into())
}

/// The largest value of a state variable of the observed flow between two parts of the run.
pub(super) fn largest(result: &ExperimentResult, kind: &str, from: f64, to: f64) -> Option<Number> {
    values(result, kind, from, to)?.into_iter().reduce(f64::max).map(Number::from)
}

pub(super) fn detected(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    c.above("largest weight at the start", largest(result, "k", 0.0, 0.1)?, 4.0);
    c.below("weight beside another", curve(result, "k", 0.4, 0.65)?, 1.5);
    c.above("largest weight after it has left", largest(result, "k", 0.667, 1.0)?, 4.0);
    Some(())
}
