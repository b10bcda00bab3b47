//! Numbers that follow from several cells.

use crate::{CellResult, Derived};

/// M5: how much later nine tenths are reached because of an early loss, and the first peak.
pub(super) fn early_drop(cells: &[CellResult]) -> Vec<Derived> {
    let disturbed = cells.iter().filter(|cell| cell.setting("lost").is_some());
    let mut derived = Vec::new();
    for cell in disturbed {
        let Some(scheme) = cell.setting("controller") else { continue };
        let other = cells.iter().find(|other| other.cell == scheme);
        for (id, quantity) in
            [("M5 by M3-window", "M3-window"), ("M5 by M3-utilisation", "M3-utilisation"), ("M5 by M2", "M2")]
        {
            let later = cell.value(quantity).zip(other.and_then(|other| other.value(quantity)));
            derived.extend(later.map(|(with, without)| Derived::new(id, scheme, "s", with - without)));
        }
    }
    derived
}

/// M7: the smallest queue with more than 90 % utilisation.
pub(super) fn buffer_needed(cells: &[CellResult]) -> Vec<Derived> {
    let enough = |cell: &&CellResult| cell.value("M6").is_some_and(|used| used > 0.9);
    let queue = |cell: &CellResult| cell.setting("queue").and_then(|queue| queue.parse::<f64>().ok());
    let least = |scheme: &str| {
        let cells = cells.iter().filter(|cell| cell.setting("controller") == Some(scheme));
        cells.filter(enough).filter_map(queue).reduce(f64::min)
    };
    let of = |scheme: &str| Some(Derived::new("M7", scheme, "packets", least(scheme)?));
    schemes(cells).into_iter().filter_map(of).collect()
}

/// M8: how much longer nine tenths take over a long path than over a short one.
pub(super) fn rtt_sensitivity(cells: &[CellResult]) -> Vec<Derived> {
    let at = |scheme: &str, rtt: &str, id: &str| {
        let fits = |cell: &&CellResult| cell.setting("controller") == Some(scheme) && cell.setting("rtt") == Some(rtt);
        cells.iter().find(fits)?.value(id)
    };
    let mut derived = Vec::new();
    for scheme in schemes(cells) {
        let short = if scheme == "fast" { "60" } else { "20" };
        for (id, quantity) in [("M8 by M3-window", "M3-window"), ("M8 by M3-utilisation", "M3-utilisation")] {
            let longer = at(scheme, "220", quantity).zip(at(scheme, short, quantity));
            derived.extend(longer.map(|(long, short)| Derived::new(id, scheme, "s", long - short)));
        }
    }
    derived
}

/// M10: points by region, and the borders between the regions, which are where |M9| has its
/// four widest gaps.
pub(super) fn regions(cells: &[CellResult]) -> Vec<Derived> {
    // The document's pairs.
    let is_reading =
        |cell: &&CellResult| ["first", "second"].iter().any(|flow| cell.setting(flow) == Some("cubic-2005/80"));
    let all: Vec<(&CellResult, f64)> = cells
        .iter()
        .filter(|cell| !is_reading(cell))
        .filter_map(|cell| Some((cell, cell.value("M9")?.abs())))
        .collect();
    let mut sorted: Vec<f64> = all.iter().map(|(_, a)| *a).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut gaps: Vec<(f64, f64)> =
        sorted.windows(2).map(|pair| (pair[1] - pair[0], (pair[0] + pair[1]) / 2.0)).collect();
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut borders: Vec<f64> = gaps.iter().take(4).map(|(_, border)| *border).collect();
    borders.sort_unstable_by(f64::total_cmp);
    let region = |a: f64| 1 + borders.iter().filter(|border| a > **border).count();
    let mut points: Vec<(&str, usize)> = Vec::new();
    for (cell, a) in &all {
        for scheme in [cell.setting("first"), cell.setting("second")].into_iter().flatten() {
            match points.iter_mut().find(|(other, _)| *other == scheme) {
                Some((_, sum)) => *sum += region(*a),
                None => points.push((scheme, region(*a))),
            }
        }
    }
    points.sort_by_key(|(_, sum)| *sum);
    let ranks = points.iter().map(|(scheme, sum)| Derived::new("M10", scheme, "points", *sum as f64));
    let borders = borders.iter().enumerate();
    ranks.chain(borders.map(|(i, at)| Derived::new("border", &format!("R{} to R{}", i + 1, i + 2), "", *at))).collect()
}

/// M10 for each queue length.
pub(super) fn regions_by_queue(cells: &[CellResult]) -> Vec<Derived> {
    let mut queues: Vec<&str> = cells.iter().filter_map(|cell| cell.setting("queue")).collect();
    queues.dedup();
    let of = |queue: &&str| {
        let with = cells.iter().filter(|cell| cell.setting("queue") == Some(queue)).cloned().collect::<Vec<_>>();
        let named = |one: Derived| Derived { of: format!("{} queue={queue}", one.of), ..one };
        regions(&with).into_iter().map(named).collect::<Vec<_>>()
    };
    queues.iter().flat_map(of).collect()
}

fn schemes(cells: &[CellResult]) -> Vec<&str> {
    let mut schemes: Vec<&str> = Vec::new();
    for scheme in cells.iter().filter_map(|cell| cell.setting("controller")) {
        if !schemes.contains(&scheme) {
            schemes.push(scheme);
        }
    }
    schemes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mean;

    fn cell(settings: &[(&str, &str)], id: &str, mean: f64) -> CellResult {
        let settings = settings.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let means = vec![Mean { id: id.to_owned(), unit: String::new(), repetitions: 1, mean, half_width: None }];
        CellResult { cell: String::new(), settings, scenario: String::new(), seeds: vec![1], means, curves: Vec::new() }
    }

    #[test]
    fn regions_are_cut_at_the_widest_gaps_and_a_pair_counts_for_both() {
        let pair = |a, b, m9| cell(&[("first", a), ("second", b)], "M9", m9);
        let cells = [
            pair("x", "x", 0.0),
            pair("x", "y", -0.2),
            pair("y", "x", 0.4),
            pair("y", "y", 0.7),
            pair("x", "z", 0.72),
            pair("z", "x", -0.99),
        ];
        let derived = regions(&cells);
        let of = |id: &str, of: &str| derived.iter().find(|d| d.id == id && d.of == of).map(|d| d.value);
        // x: 1 twice, 2, 3, 4, 5.
        assert_eq!(of("M10", "x"), Some(16.0));
        assert_eq!(of("M10", "y"), Some(2.0 + 3.0 + 4.0 + 4.0));
        assert_eq!(of("M10", "z"), Some(9.0));
        assert!((of("border", "R1 to R2").unwrap() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_smallest_queue_that_is_enough() {
        let of = |queue, used| cell(&[("controller", "bic"), ("queue", queue)], "M6", used);
        let derived = buffer_needed(&[of("40", 0.5), of("1555", 0.99), of("200", 0.91), of("500", 0.9)]);
        assert_eq!(derived, [Derived::new("M7", "bic", "packets", 200.0)]);
    }
}
