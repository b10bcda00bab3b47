//! Numbers that follow from several cells.

use crate::papers::{CellResult, Derived};

/// E3.1: what RoVegas carries over what Vegas does, by asymmetry (eq. 3.21).
pub(super) fn gain(cells: &[CellResult]) -> Vec<Derived> {
    let of = |scheme: &str, k: &str| {
        let fits = |cell: &&CellResult| cell.setting("scheme") == Some(scheme) && cell.setting("k") == Some(k);
        cells.iter().find(fits)?.value("throughput")
    };
    let gain = |k: &str| {
        let vegas = of("vegas", k).filter(|rate| *rate > 0.0)?;
        Some(Derived::new("RoVegas over Vegas", &format!("k={k}"), "", of("rovegas", k)? / vegas))
    };
    ["2", "4", "8", "16", "32"].into_iter().filter_map(gain).collect()
}
