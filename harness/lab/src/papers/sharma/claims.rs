//! What the schemes are for (`spec: sharma §2–§8`).

use crate::papers::{Claim, ExperimentResult};

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "sharma-1",
        experiment: "EV-0a",
        text: "Standard TCP keeps a slow link busy from a buffer of one bandwidth-delay product.",
        answer: |result| {
            let used = result.of(&[], "M6")?;
            Some((used > 0.99, format!("{:.2} % of the link", 100.0 * used)))
        },
    },
    Claim {
        id: "sharma-2",
        experiment: "EV-1",
        text: "Each of the six schemes uses nine tenths of the fast link from a fifth of a bandwidth-delay product.",
        answer: |result| {
            let least = result.cells.iter().filter_map(|cell| Some((cell.value("M6")?, &cell.cell)));
            let (used, name) = least.min_by(|a, b| a.0.total_cmp(&b.0))?;
            Some((used > 0.9, format!("least: {name}, {:.1} %", 100.0 * used)))
        },
    },
    Claim {
        id: "sharma-3",
        experiment: "EV-1",
        text: "FAST fills the link with α packets queued and loses none.",
        answer: |result| {
            let of = |quantity| result.of(&[("controller", "fast")], quantity);
            let (used, queue, lost) = (of("M6")?, of("queue")?, of("lost")?);
            let holds = used > 0.99 && (queue - 312.0).abs() < 3.12 && lost == 0.0;
            Some((holds, format!("{:.1} % of the link, {queue:.1} packets queued, {lost} lost", 100.0 * used)))
        },
    },
    Claim {
        id: "sharma-4",
        experiment: "EV-5",
        text: "Growth by time makes CUBIC and H-TCP share more evenly between unequal round trips than Scalable does.",
        answer: |result| {
            let [cubic, h_tcp, scalable] = ["cubic-2005", "h-tcp", "scalable"].map(|name| unevenness(result, name));
            let (cubic, h_tcp, scalable) = (cubic?, h_tcp?, scalable?);
            let numbers = format!("mean |M9|: CUBIC {cubic:.2}, H-TCP {h_tcp:.2}, Scalable {scalable:.2}");
            Some((cubic < scalable && h_tcp < scalable, numbers))
        },
    },
];

/// Mean size of the asymmetry.
fn unevenness(result: &ExperimentResult, controller: &str) -> Option<f64> {
    let cells = result.cells.iter().filter(|cell| cell.setting("controller") == Some(controller));
    let sizes: Vec<f64> = cells.filter_map(|cell| cell.value("M9")).map(f64::abs).collect();
    (!sizes.is_empty()).then(|| sizes.iter().sum::<f64>() / sizes.len() as f64)
}
