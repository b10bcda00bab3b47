//! Numbers that follow from several cells, and what the schemes are for, answered by runs
//! (`spec: cho §2–§13`).

use crate::papers::{CellResult, Claim, Derived, ExperimentResult};

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "cho-1",
        experiment: "CH2-B",
        text: "Transfers that react to delay get what Reno gets with less loss and a steadier delay.",
        answer: |result| {
            let of = |scheme, quantity| result.of(&[("scheme", scheme)], quantity);
            let mut holds = true;
            let mut numbers = Vec::new();
            for scheme in ["Reno", "DCA-S", "DCA-C"] {
                let (goodput, loss, jitter) = (of(scheme, "goodput")?, of(scheme, "loss")?, of(scheme, "jitter")?);
                holds &= scheme == "Reno"
                    || goodput > 0.99 * of("Reno", "goodput")?
                        && loss < of("Reno", "loss")?
                        && jitter < of("Reno", "jitter")?;
                numbers.push(format!("{scheme} {goodput:.2} Mbit/s, {loss:.2} %, jitter {jitter:.1} ms"));
            }
            Some((holds, numbers.join("; ")))
        },
    },
    Claim {
        id: "cho-2",
        experiment: "CH3-B",
        text: "A group worth one takes about what one flow takes, however many flows it has (0.5 to 1.5 times).",
        answer: |result| {
            let ratios: Vec<f64> = (1..=10).filter_map(|n| ratio(result, &[("n", &n.to_string())])).collect();
            let (least, most) = (ratios.iter().copied().reduce(f64::min)?, ratios.iter().copied().reduce(f64::max)?);
            Some((least > 0.5 && most < 1.5, format!("{least:.2} to {most:.2} times")))
        },
    },
    Claim {
        id: "cho-3",
        experiment: "CH3-E",
        text: "Eight plain flows take several times what one takes, and a group worth eight does so too (4 times at least).",
        answer: |result| {
            let (flows, group) =
                (ratio(result, &[("what", "flows"), ("k", "8")])?, ratio(result, &[("what", "TCP-P"), ("k", "8")])?);
            Some((flows > 4.0 && group > 4.0, format!("flows {flows:.1}, group {group:.1} times")))
        },
    },
    Claim {
        id: "cho-4",
        experiment: "CH4-I",
        text: "A-TCP leaves a standard flow more than HighSpeed, Scalable and BIC leave it.",
        answer: left,
    },
    Claim {
        id: "cho-5",
        experiment: "CH4-G",
        text: "A-TCP leaves a standard flow more than HighSpeed, Scalable and BIC leave it.",
        answer: left,
    },
    Claim {
        id: "cho-6",
        experiment: "CH5-D",
        text: "Five flows of A-TCP-P leave a standard flow more than five A-TCP flows without a group.",
        answer: |result| {
            let of = |kind| result.mean_over(&[("kind", kind)], "Node1");
            let (group, alone) = (of("A-TCP-P")?, of("A-TCP")?);
            Some((group > alone, format!("{group:.1} and {alone:.1} Mbit/s")))
        },
    },
];

/// Node0 over Node1 after an early loss, as on the test bed.
fn ratio(result: &ExperimentResult, settings: &[(&str, &str)]) -> Option<f64> {
    let all: Vec<(&str, &str)> = settings.iter().copied().chain([("start", "early loss")]).collect();
    result.of(&all, "ratio")
}

fn left(result: &ExperimentResult) -> Option<(bool, String)> {
    let of = |scheme| result.of(&[("scheme", scheme)], "Node1");
    let ours = of("A-TCP")?;
    let others = [("HS", of("HS")?), ("STCP", of("STCP")?), ("BIC", of("BIC")?)];
    let numbers: Vec<String> = others.iter().map(|(name, left)| format!("{name} {left:.2}")).collect();
    let holds = others.iter().all(|(_, left)| *left < ours);
    Some((holds, format!("A-TCP {ours:.2}, {} Mbit/s", numbers.join(", "))))
}

/// CH3-F: the ratio a weight gets against what the model has for it (eq. 3.17).
pub(super) fn worth(cells: &[CellResult]) -> Vec<Derived> {
    let of = |cell: &CellResult| {
        let k: f64 = cell.setting("k")?.parse().ok()?;
        let model = model(k);
        let ratio = cell.value("ratio")?;
        Some([
            Derived::new("ratio over model", &cell.cell, "", ratio / model),
            Derived::new("model", &cell.cell, "", model),
        ])
    };
    cells.iter().filter_map(of).flatten().collect()
}

/// MOD-1: throughput over that of one flow of weight 1, and what the model has.
pub(super) fn model_ratios(cells: &[CellResult]) -> Vec<Derived> {
    let one = cells.iter().find(|c| c.setting("how") == Some("flows") && c.setting("k") == Some("1"));
    let Some(one) = one.and_then(|cell| cell.value("Node0")).filter(|rate| *rate > 0.0) else { return Vec::new() };
    let of = |cell: &CellResult| {
        let k: f64 = cell.setting("k")?.parse().ok()?;
        let expected = if cell.setting("how") == Some("flows") { k } else { model(k) };
        let measured = Derived::new("ratio", &cell.cell, "", cell.value("Node0")? / one);
        Some([measured, Derived::new("model", &cell.cell, "", expected)])
    };
    cells.iter().filter_map(of).flatten().collect()
}

/// What a weight is worth: √(k(4k − 1)/3) standard flows (eq. 3.17).
fn model(k: f64) -> f64 {
    (k * (4.0 * k - 1.0) / 3.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `spec: cho §4.7 P7`.
    #[test]
    fn the_model_has_the_documents_values() {
        for (k, worth) in [(1.0, 1.0), (2.0, 2.160), (4.0, 4.472), (10.0, 11.402)] {
            assert!((model(k) - worth).abs() < 1e-3, "{k}");
        }
    }
}
