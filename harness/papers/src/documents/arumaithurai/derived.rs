//! Numbers that follow from several cells.

use crate::{CellResult, Curve, Derived};

/// The candidate of cells with TCP alone.
const NONE: &str = "none";

/// What the document compares schemes by (`spec: arumaithurai §12`, requirement checklist), as far as
/// one flow that one of TCP joins shows it: whether a candidate is submissive, how soon it saturates the
/// link, and how much waits before it takes that for congestion.
pub(super) fn checklist(cells: &[CellResult]) -> Vec<Derived> {
    let of = |cell: &CellResult| -> Vec<Derived> {
        let Some(candidate) = candidate(cell) else { return Vec::new() };
        let saturates =
            cell.value("fills the link after").map(|after| Derived::new("saturates after", &candidate, "s", after));
        let queue = queue_before_tcp(cell).map(|queue| Derived::new("queue before TCP", &candidate, "packets", queue));
        saturates.into_iter().chain(queue).collect()
    };
    submissive(cells).into_iter().chain(cells.iter().flat_map(of)).collect()
}

/// Mean queue in the second half of the time before the flow of TCP has begun.
fn queue_before_tcp(cell: &CellResult) -> Option<f64> {
    let tcp = throughput(cell, "tcp")?;
    let begins = tcp.x.iter().zip(&tcp.y).find(|(_, rate)| **rate > 0.0).map(|(time, _)| *time)?;
    // A second ends with its point.
    let until = begins - tcp.x.first()?;
    let queue = cell.curves.iter().find(|curve| curve.kind == "queue")?;
    let points = queue.x.iter().zip(&queue.y).filter(|(time, _)| **time >= until / 2.0 && **time < until);
    let alone: Vec<f64> = points.map(|(_, packets)| *packets).collect();
    (!alone.is_empty()).then(|| alone.iter().sum::<f64>() / alone.len() as f64)
}

fn throughput<'a>(cell: &'a CellResult, of: &str) -> Option<&'a Curve> {
    cell.curves.iter().find(|curve| curve.kind == "throughput" && curve.of == of)
}

/// The "submissive" index (`spec: arumaithurai §12`): TCP's throughput beside a candidate over that
/// without one, in the same time behind the same queue.
fn submissive(cells: &[CellResult]) -> Vec<Derived> {
    let of = |cell: &CellResult| {
        let candidate = candidate(cell)?;
        let is_alone = |other: &&CellResult| {
            other.setting("candidate") == Some(NONE) && other.setting("queue") == cell.setting("queue")
        };
        let alone = cells.iter().find(is_alone)?.value("tcp").filter(|rate| *rate > 0.0)?;
        Some(Derived::new("submissive index", &candidate, "", cell.value("tcp")? / alone))
    };
    cells.iter().filter_map(of).collect()
}

/// The candidate of a cell, with the queue where cells differ in it; `None` of TCP alone.
fn candidate(cell: &CellResult) -> Option<String> {
    let name = cell.setting("candidate").filter(|name| *name != NONE)?;
    Some(cell.setting("queue").map_or_else(|| name.to_owned(), |queue| format!("{name}, queue {queue}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Quantity, mean_of};

    fn curve(kind: &str, of: &str, y: &[f64]) -> Curve {
        let x = (1..=y.len()).map(|i| i as f64).collect();
        Curve { kind: kind.to_owned(), of: of.to_owned(), x, y: y.to_vec() }
    }

    fn cell(curves: Vec<Curve>) -> CellResult {
        CellResult {
            cell: "candidate=a".to_owned(),
            settings: vec![("candidate".to_owned(), "a".to_owned())],
            scenario: String::new(),
            seeds: vec![1],
            means: Vec::new(),
            curves,
        }
    }

    #[test]
    fn tcp_beside_a_candidate_is_held_against_tcp_alone_behind_the_same_queue() {
        let of = |candidate: &str, queue: Option<&str>, tcp: f64| {
            let mut cell = cell(Vec::new());
            cell.settings = vec![("candidate".to_owned(), candidate.to_owned())];
            cell.settings.extend(queue.map(|queue| ("queue".to_owned(), queue.to_owned())));
            cell.means = mean_of(&[&[Quantity::new("tcp", "Mbit/s", tcp)]]);
            cell
        };
        let long = Some("long");
        let cells = [of("a", None, 40.0), of("none", None, 80.0), of("a", long, 30.0), of("none", long, 40.0)];
        let indices: Vec<(String, f64)> = submissive(&cells).into_iter().map(|one| (one.of, one.value)).collect();
        assert_eq!(indices, [("a".to_owned(), 0.5), ("a, queue long".to_owned(), 0.75)]);
    }

    #[test]
    fn what_waits_before_tcp_is_the_candidate_s_own() {
        let tcp = curve("throughput", "tcp", &[0.0, 0.0, 0.0, 0.0, 5.0, 9.0]);
        // From 2 s to before 4 s.
        let queue = curve("queue", "", &[900.0, 10.0, 20.0, 500.0, 500.0, 500.0]);
        let all = checklist(&[cell(vec![tcp, queue])]);
        assert_eq!((all.len(), all[0].id.as_str(), all[0].value), (1, "queue before TCP", 15.0));
    }
}
