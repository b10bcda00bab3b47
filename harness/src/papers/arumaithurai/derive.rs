//! What follows from several cells.

use crate::papers::{CellResult, Derived};

/// The "submissive" index (`spec: arumaithurai §12`): TCP's throughput beside a candidate over that
/// without one, in the same time.
pub(super) fn submissive(cells: &[CellResult]) -> Vec<Derived> {
    let alone = cells.iter().find(|cell| cell.setting("candidate") == Some("none"));
    let Some(alone) = alone.and_then(|cell| cell.value("tcp")).filter(|rate| *rate > 0.0) else { return Vec::new() };
    let others = cells.iter().filter(|cell| cell.setting("candidate") != Some("none"));
    let of = |cell: &CellResult| {
        Some(Derived::new("submissive index", cell.setting("candidate")?, "", cell.value("tcp")? / alone))
    };
    others.filter_map(of).collect()
}
