//! What the schemes are for (`spec: arumaithurai §3.1, §12`).

use crate::papers::{CellResult, Claim};

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "arumaithurai-1",
        experiment: "S1a",
        text: "TCP gets beside NF-TCP what it gets alone (19 of 20 parts).",
        answer: |result| {
            let index = result.derived.iter().find(|one| one.id == "submissive index" && one.of == "nf-tcp")?.value;
            Some((index > 0.95, format!("{:.1} % of it", 100.0 * index)))
        },
    },
    Claim {
        id: "arumaithurai-2",
        experiment: "S6a",
        text: "NF-TCP flows share a link equally (Jain's index of 0.95).",
        answer: |result| {
            let jain = result.of(&[], "Jain")?;
            Some((jain > 0.95, format!("Jain's index {jain:.3}")))
        },
    },
    Claim {
        id: "arumaithurai-3",
        experiment: "S8",
        text: "Fifty NF-TCP flows leave five of TCP more than fifty flows of LEDBAT or RAPID do.",
        answer: |result| {
            let of = |candidate| result.of(&[("candidate", candidate), ("n", "50")], "tcp");
            let (nf, ledbat, rapid) = (of("nf-tcp")?, of("ledbat")?, of("rapid")?);
            let numbers = format!("NF-TCP {nf:.0}, LEDBAT {ledbat:.0}, RAPID {rapid:.0} Mbit/s");
            Some((nf > ledbat && nf > rapid, numbers))
        },
    },
    Claim {
        id: "arumaithurai-4",
        experiment: "S10",
        text: "LEDBAT, whose target of 100 ms is all the queue there is, does not yield to TCP: it keeps more than a third of what both get.",
        answer: |result| {
            let share = |cell: &CellResult| {
                let (tcp, ledbat) = (cell.value("tcp")?, cell.value("candidate")?);
                Some((ledbat / (ledbat + tcp), cell.cell.clone()))
            };
            let least = result.cells.iter().filter_map(share).min_by(|a, b| a.0.total_cmp(&b.0));
            let (least, cell) = least?;
            Some((least > 1.0 / 3.0, format!("least: {:.0} %, {cell}", 100.0 * least)))
        },
    },
];
