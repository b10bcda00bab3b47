//! What the claims compare; and the schemes, reasons, mutants and what trials shrink, as far as several claims share
//! them.

use super::super::measures;
use crate::{CellResult, Criterion, ExperimentResult, Mutant, Number};

pub(super) const EARLY: (&str, &str) = ("start", "early loss");
/// The schemes the document calls high-speed.
pub(super) const HIGH_SPEED: [&str; 5] = ["HS", "STCP", "H-TCP", "BIC", "FAST"];
/// What a share that "is one flow's" may be off by.
pub(super) const EQUAL: f64 = 0.25;

pub(super) const FAST_YIELDS: &str = "FAST with an α that follows the rate has a few packets queued and leaves more; with the 312 packets of a bed of 622 Mbit/s it leaves as little as BIC or less";

pub(super) const FASTS_ALPHA: &str = "the other reading of FAST's α";

pub(super) const DROP_TAIL: &str = "flows that share a drop-tail queue do not lose at random: with RED, which drops at random, a group worth 9 takes 12.5 times what one flow takes and a flow worth 9 12.4, instead of 16 and 48, where the model has 10.2";

pub(super) const DCA_C_IS_RENO: Mutant = Mutant {
    what: "a delay threshold at the end of its range: Reno",
    replace: &[
        ("dca-c:profile=paper", "dca-c:profile=paper,gamma=1"),
        ("dca-s:profile=paper", "dca-s:profile=paper,gamma=1"),
    ],
};
pub(super) const A_TCP_IS_STANDARD: Mutant =
    Mutant { what: "a weight held at 1", replace: &[("a-tcp:profile=paper", "a-tcp:profile=paper,k_max=1")] };

pub(super) const NO_QUEUE_IS_LONG: &str = "no queue that counts as long: γ = 1";

/// The competitor is there for the last second of its hundred.
pub(super) const NO_COMPETITOR: Mutant =
    Mutant { what: "no competitor", replace: &[("start_s = 100\n", "start_s = 199\n")] };

pub(super) const FIFTH_OF_TB_G: &[(&str, &str)] =
    &[("rate_mbps = 467.35", "rate_mbps = 93.47"), ("buffer_packets = 600", "buffer_packets = 120")];

/// A tenth of NS6's rate and queue, and of the load on it.
pub(super) const TENTH_OF_NS6: &[(&str, &str)] =
    &[("rate_mbps = 622", "rate_mbps = 62.2"), ("buffer_packets = 747", "buffer_packets = 75")];
/// A twentieth, where windows are below two hundred packets and TCP-Africa's reduction is near a half.
pub(super) const TWENTIETH_OF_NS6: &[(&str, &str)] =
    &[("rate_mbps = 622", "rate_mbps = 31.1"), ("buffer_packets = 747", "buffer_packets = 37")];
pub(super) const TENTH_OF_NS6_AND_LOAD: &[(&str, &str)] = &[
    ("rate_mbps = 622", "rate_mbps = 62.2"),
    ("buffer_packets = 747", "buffer_packets = 75"),
    ("rate_mbps = 300", "rate_mbps = 30"),
];

/// Buffers of CH2-D far apart, with the schemes that fill them.
pub(super) const SMALL_AND_LARGE: &[&str] = &[
    "scheme=Reno,buffer=30",
    "scheme=Reno,buffer=60",
    "scheme=Reno,buffer=90",
    "scheme=DCA-S,buffer=30",
    "scheme=DCA-S,buffer=60",
    "scheme=DCA-S,buffer=90",
    "scheme=DCA-C,buffer=30",
    "scheme=DCA-C,buffer=60",
    "scheme=DCA-C,buffer=90",
];

pub(super) const NO_GROUP: Mutant = Mutant {
    what: "flows without a group",
    replace: &[("tcp-p:profile=paper,k=1", "reno:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks")],
};

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
    measures::model(k)
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
