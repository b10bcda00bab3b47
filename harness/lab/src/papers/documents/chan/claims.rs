//! Numbers that follow from several cells, and what the schemes are for, answered by runs
//! (`spec: chan §4–§7`).

use crate::papers::{CellResult, Claim, Derived, ExperimentResult};

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "chan-1",
        experiment: "E3.3",
        text: "RoVegas keeps more of the way forth than Vegas while the way back is loaded to half and more.",
        answer: |result| loaded(result, "rovegas"),
    },
    Claim {
        id: "chan-2",
        experiment: "E3.6",
        text: "Vegas flows that join keep ever more packets queued; RoVegas flows keep fewer.",
        answer: |result| {
            let (vegas, rovegas) =
                (result.of(&[("scheme", "vegas")], "queue of 8")?, result.of(&[("scheme", "rovegas")], "queue of 8")?);
            Some((rovegas < vegas, format!("of eight flows {vegas:.1} and {rovegas:.1} packets")))
        },
    },
    Claim {
        id: "chan-3",
        experiment: "E4.2",
        text: "Enhanced Vegas keeps more of the way forth than Vegas while the way back is loaded to half and more.",
        answer: |result| loaded(result, "enhanced-vegas"),
    },
    Claim {
        id: "chan-4",
        experiment: "E5.2",
        text: "Quick Vegas finds its window sooner than Vegas: at the start, when half of the link is taken, when it is given back.",
        answer: |result| {
            let mut holds = true;
            let mut numbers = Vec::new();
            for change in ["new", "halved", "doubled"] {
                let of = |scheme| result.mean_over(&[("scheme", scheme)], &format!("convergence {change}"));
                let (vegas, quick) = (of("vegas")?, of("quick-vegas")?);
                holds &= quick < vegas;
                numbers.push(format!("{change} {vegas:.0} and {quick:.0}"));
            }
            Some((holds, format!("base round trips on average: {}", numbers.join("; "))))
        },
    },
    Claim {
        id: "chan-5",
        experiment: "E6.2",
        text: "RedVegas carries more than Vegas, and Vegas more than Reno, over a link that loses 1 to 5 % at random.",
        answer: |result| {
            let mut holds = true;
            let mut numbers = Vec::new();
            for loss in ["1", "3", "5"] {
                let of = |scheme| result.of(&[("scheme", scheme), ("loss", loss)], "goodput");
                let (reno, vegas, red) = (of("reno")?, of("vegas")?, of("red-vegas")?);
                holds &= reno < vegas && vegas < red;
                numbers.push(format!("{loss} %: {reno:.0}, {vegas:.0}, {red:.0}"));
            }
            Some((holds, format!("Reno, Vegas, RedVegas in Kbit/s at {}", numbers.join("; "))))
        },
    },
];

/// Whether `scheme` gets more than Vegas from half a load on.
fn loaded(result: &ExperimentResult, scheme: &str) -> Option<(bool, String)> {
    let mut holds = true;
    let mut numbers = Vec::new();
    for load in ["0.5", "0.7", "0.9"] {
        let of = |scheme| result.of(&[("scheme", scheme), ("load", load)], "throughput");
        let (vegas, ours) = (of("vegas")?, of(scheme)?);
        holds &= ours > vegas;
        numbers.push(format!("{load}: {vegas:.2} and {ours:.2}"));
    }
    Some((holds, format!("Vegas and {scheme}, Mbit/s, at {}", numbers.join("; "))))
}

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
