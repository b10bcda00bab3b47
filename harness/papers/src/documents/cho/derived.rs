//! Numbers that follow from several cells.

use crate::{CellResult, Derived};

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
pub(super) fn model(k: f64) -> f64 {
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
