//! What the schemes are for (`spec: arumaithurai §3.1, §12`).

use crate::papers::Claim;

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
        text: "LEDBAT yields to TCP behind a drop-tail queue of one bandwidth-delay product at 10 Mbit/s (TCP gets nine tenths).",
        answer: |result| {
            let of = |quantity| result.of(&[("rate", "10"), ("queue", "drop-tail")], quantity);
            let (tcp, ledbat) = (of("tcp")?, of("candidate")?);
            Some((tcp > 9.0 * ledbat, format!("TCP {tcp:.2}, LEDBAT {ledbat:.2} Mbit/s")))
        },
    },
];
