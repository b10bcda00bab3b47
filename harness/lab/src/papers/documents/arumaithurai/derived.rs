//! Numbers that follow from several cells.

use crate::papers::{CellResult, Curve, Derived};

/// What the document compares schemes by (`spec: arumaithurai §12`, requirement checklist), as far as
/// one flow that one of TCP joins shows it: whether a candidate is submissive, how soon it saturates the
/// link, and how much waits before it takes that for congestion.
pub(super) fn checklist(cells: &[CellResult]) -> Vec<Derived> {
    let of = |cell: &CellResult| -> Vec<Derived> {
        let Some(candidate) = cell.setting("candidate").filter(|name| *name != "none") else { return Vec::new() };
        let saturates =
            cell.value("fills the link after").map(|after| Derived::new("saturates after", candidate, "s", after));
        let queue = queue_before_tcp(cell).map(|queue| Derived::new("queue before TCP", candidate, "packets", queue));
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

/// How soon after a burst of TCP begins a candidate has less than half of what it had in the five
/// seconds before, to a second: the mean over all bursts it had something before.
pub(super) fn gives_way(cells: &[CellResult]) -> Vec<Derived> {
    let of = |cell: &CellResult| {
        let (candidate, tcp) = (throughput(cell, "candidate")?, throughput(cell, "tcp")?);
        let within: Vec<f64> = bursts(&tcp.y).filter_map(|burst| within(&candidate.x, &candidate.y, burst)).collect();
        let mean = within.iter().sum::<f64>() / within.len() as f64;
        let candidate = cell.setting("candidate").filter(|_| !within.is_empty())?;
        Some(Derived::new("gives way within", candidate, "s", mean))
    };
    cells.iter().filter_map(of).collect()
}

/// The points with which something begins after nothing.
fn bursts(rates: &[f64]) -> impl Iterator<Item = usize> {
    (1..rates.len()).filter(|i| rates[*i] > 0.0 && rates[i - 1] == 0.0)
}

/// Seconds before a point that a candidate's rate before a burst is taken from.
const BEFORE: usize = 5;

fn within(x: &[f64], y: &[f64], burst: usize) -> Option<f64> {
    let before = y.get(burst.checked_sub(BEFORE)?..burst)?;
    let usual = before.iter().sum::<f64>() / BEFORE as f64;
    let begun = *x.get(burst - 1)?;
    let yields = x.iter().zip(y).skip(burst).find(|(_, rate)| **rate < usual / 2.0)?;
    (usual > 0.0).then(|| yields.0 - begun)
}

/// The "submissive" index (`spec: arumaithurai §12`): TCP's throughput beside a candidate over that
/// without one, in the same time.
fn submissive(cells: &[CellResult]) -> Vec<Derived> {
    let alone = cells.iter().find(|cell| cell.setting("candidate") == Some("none"));
    let Some(alone) = alone.and_then(|cell| cell.value("tcp")).filter(|rate| *rate > 0.0) else { return Vec::new() };
    let others = cells.iter().filter(|cell| cell.setting("candidate") != Some("none"));
    let of = |cell: &CellResult| {
        Some(Derived::new("submissive index", cell.setting("candidate")?, "", cell.value("tcp")? / alone))
    };
    others.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_candidate_gives_way_when_half_of_what_it_had_is_gone() {
        let mut tcp = vec![0.0; 20];
        let mut candidate = vec![100.0; 20];
        // The first burst is answered in its second second, the next in its first.
        tcp[6..9].fill(50.0);
        candidate[6] = 60.0;
        candidate[7..9].fill(10.0);
        tcp[15..].fill(50.0);
        candidate[15..].fill(0.0);
        let all =
            gives_way(&[cell(vec![curve("throughput", "candidate", &candidate), curve("throughput", "tcp", &tcp)])]);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].of.as_str(), all[0].value), ("a", 1.5));
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
