//! What the document says of its schemes, answered by runs (`spec: sharma §2–§9, §13`).

use super::scenario::{ACCESS, RATE, WIRE};
use crate::{CellResult, Claim, Criterion, ExperimentResult, Mutant, Number, Scale, Trial};

/// Window growth by ACKs and by time (`spec: sharma §9`).
const BY_ACKS: [&str; 3] = ["highspeed", "scalable", "bic"];
const BY_TIME: [&str; 2] = ["cubic-2005", "h-tcp"];
/// Schemes that losses drive.
const LOSS_DRIVEN: [&str; 5] = ["highspeed", "scalable", "bic", "cubic-2005", "h-tcp"];
/// Round trips of EV-5's second flow that are shorter than the first's, ms.
const SHORTER: [&str; 6] = ["16", "22", "28", "42", "58", "82"];

/// A tenth of the rate and of the queue.
const TENTH: &[(&str, &str)] =
    &[("rate_mbps = 622", "rate_mbps = 62.2"), ("buffer_packets = 1555", "buffer_packets = 155")];
const TENTH_OF_TWO: &[(&str, &str)] =
    &[("rate_mbps = 622", "rate_mbps = 62.2"), ("buffer_packets = 2519", "buffer_packets = 252")];

/// Scalable's overflows are so far apart, in round trips over the full queue, where the queue never empties. ACKs come
/// at the link's rate, so that a round trip adds `a` of the window. One passes until the first drop is noticed, while the
/// window grows to 1 + a of itself and as much is dropped; another until the last of these drops is; then
/// (1 + a)(1 − b), what is left of the window, until its retransmission is acknowledged. Until then nothing is added, and after it what is missing.
fn scalable_cycle(a: f64, b: f64) -> f64 {
    let left = (1.0 + a) * (1.0 - b);
    2.0 + left + (1.0 - left) / a
}

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "sharma-1",
        experiment: "EV-0a",
        source: "§2, §13.3",
        text: "Standard TCP keeps a slow link busy from a buffer of one bandwidth-delay product, since half of its largest window still fills the path.",
        criterion: |result, c| {
            c.above("use of the link", result.number(&[], "M6")?, 0.99);
            Some(())
        },
        trial: Trial::FULL,
        mutant: Mutant { what: "a tenth of the buffer", replace: &[("buffer_packets = 62", "buffer_packets = 6")] },
        why: None,
    },
    Claim {
        id: "sharma-2",
        experiment: "EV-0b",
        source: "§2, §13.3",
        text: "At 622 Mbit/s recovery takes standard TCP, which grows by a packet a round trip, minutes: no second overflow follows within 150 s.",
        criterion: |result, c| {
            c.below("overflows", result.number(&[], "overflows")?, 1.5);
            c.above("overflows", result.number(&[], "overflows")?, 0.5);
            Some(())
        },
        trial: Trial::FULL.shrunk(&[
            ("duration_s = 150", "duration_s = 40"),
            ("rate_mbps = 622", "rate_mbps = 62.2"),
            ("buffer_packets = 7775", "buffer_packets = 777"),
        ]),
        mutant: Mutant {
            what: "Scalable in place of standard TCP",
            replace: &[("reno:profile=paper", "scalable:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "sharma-3",
        experiment: "EV-1",
        source: "§3–§8",
        text: "Each high-speed scheme keeps the fast path full from a queue of a fifth of its product, where standard TCP's halving would leave it at 87 % over its cycle.",
        criterion: |result, c| {
            for cell in &result.cells {
                c.above(&cell.cell, cell.mean("M6")?, 0.98);
            }
            Some(())
        },
        trial: Trial::FULL.of(&["controller=scalable"]).at(Scale::Part(2)).shrunk(TENTH),
        mutant: Mutant {
            what: "standard TCP in place of Scalable",
            replace: &[("scalable:profile=paper", "reno:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "sharma-4",
        experiment: "EV-1",
        source: "§7",
        text: "FAST fills the link with α packets queued and loses none.",
        criterion: |result, c| {
            let of = |quantity| result.number(&[("controller", "fast")], quantity);
            c.above("use of the link", of("M6")?, 0.99);
            c.near("queue", of("queue")?, 312.0, 0.01);
            c.below("packets lost", of("lost")?, 0.5);
            Some(())
        },
        trial: Trial::FULL.of(&["controller=fast"]).at(Scale::Part(10)),
        mutant: Mutant {
            what: "α of 250 packets", replace: &[("fast:profile=paper", "fast:profile=paper,alpha=250")]
        },
        why: None,
    },
    Claim {
        id: "sharma-5",
        experiment: "EV-1",
        source: "§1.6",
        text: "The first reduction of HighSpeed, Scalable and H-TCP is a halving, whatever their own factor is, and not that of BIC and CUBIC.",
        criterion: |result, c| {
            for (scheme, kept) in
                [("highspeed", 0.5), ("scalable", 0.5), ("h-tcp", 0.5), ("bic", 0.8), ("cubic-2005", 0.8)]
            {
                // Those that were run.
                for cell in result.cells.iter().filter(|cell| cell.setting("controller") == Some(scheme)) {
                    c.near(&format!("first cut of {scheme}"), cell.mean("first cut")?, kept, 0.05);
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["controller=scalable"]).at(Scale::Part(10)).shrunk(TENTH),
        mutant: Mutant {
            what: "no halving first",
            replace: &[("scalable:profile=paper", "scalable:profile=paper,first_halving=off")],
        },
        why: None,
    },
    Claim {
        id: "sharma-6",
        experiment: "EV-1",
        source: "§4",
        text: "Scalable searches hardest: it overflows the queue in the shortest intervals.",
        criterion: |result, c| {
            let ours = result.number(&[("controller", "scalable")], "M4")?;
            for cell in others(result, "scalable").filter(|cell| cell.setting("controller") != Some("fast")) {
                c.less(("between overflows, Scalable", ours), (&cell.cell, cell.mean("M4")?));
            }
            Some(())
        },
        trial: Trial::FULL.of(&["controller=scalable", "controller=h-tcp"]).at(Scale::Part(2)).shrunk(TENTH),
        mutant: Mutant {
            what: "an increase of a thousandth of a packet an ACK",
            replace: &[("scalable:profile=paper", "scalable:profile=paper,a=0.001")],
        },
        why: None,
    },
    Claim {
        id: "sharma-7",
        experiment: "EV-1a",
        source: "§7",
        text: "FAST settles where α over the rate exceeds five times the threshold of its doubling (312, 500), and not below (212) or with more than the queue holds (3000).",
        criterion: |result, c| {
            for cell in &result.cells {
                let lost = cell.mean("lost")?;
                match cell.setting("alpha") {
                    Some("312" | "500") => c.below(&format!("{} lost", cell.cell), lost, 0.5),
                    _ => c.above(&format!("{} lost", cell.cell), lost, 0.5),
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["alpha=212"]).at(Scale::Part(10)),
        mutant: Mutant {
            what: "a threshold of 0.1 ms",
            replace: &[("fast:profile=paper", "fast:profile=paper,mi_threshold=0.1")],
        },
        why: None,
    },
    Claim {
        id: "sharma-8",
        experiment: "EV-2",
        source: "§13.4 M3",
        text: "BIC and CUBIC flatten near the capacity: from nine tenths to the peak takes them longest.",
        criterion: |result, c| {
            let flat = |scheme: &str| -> Option<f64> {
                let cell = result
                    .cells
                    .iter()
                    .find(|cell| cell.setting("controller") == Some(scheme) && cell.setting("lost").is_some())?;
                Some(cell.value("M2")? - cell.value("M3-window")?)
            };
            for steep in ["highspeed", "scalable", "fast", "h-tcp"] {
                for flattening in ["bic", "cubic-2005"] {
                    if let (Some(steep_s), Some(flat_s)) = (flat(steep), flat(flattening)) {
                        c.less((steep, steep_s), (flattening, flat_s));
                    }
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["controller=h-tcp", "controller=bic"]).at(Scale::Part(10)),
        mutant: Mutant {
            what: "BIC that may grow by 1000 packets a round trip",
            replace: &[("bic:profile=paper", "bic:profile=paper,smax=1000")],
        },
        why: Some(
            "after the early loss BIC has not met the capacity, and goes past it in a straight line at its limit of 32 packets a round trip, where HighSpeed adds 26",
        ),
    },
    Claim {
        id: "sharma-9",
        experiment: "EV-3",
        source: "§8, §13.3",
        text: "The more queue, the more of the link is used, with every scheme (where it is not all of it).",
        criterion: |result, c| {
            for scheme in result.values("controller") {
                let cells = result.cells.iter().filter(|cell| cell.setting("controller") == Some(scheme));
                let used: Vec<(String, f64)> =
                    cells.filter_map(|cell| Some((cell.setting("queue")?.to_owned(), cell.value("M6")?))).collect();
                for pair in used.windows(2) {
                    // A full link cannot be fuller.
                    let (less, more) = (pair[0].1.min(0.999), pair[1].1 + 0.0005);
                    c.less((&format!("{scheme} at {}", pair[0].0), less), (&format!("at {}", pair[1].0), more));
                }
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["controller=bic"])
            .at(Scale::Part(2))
            .shrunk(&[("rate_mbps = 622", "rate_mbps = 62.2")]),
        mutant: Mutant {
            what: "a queue of 40 where 1555 are meant",
            replace: &[("buffer_packets = 1555", "buffer_packets = 40")],
        },
        why: None,
    },
    Claim {
        id: "sharma-10",
        experiment: "EV-3",
        source: "§8",
        text: "The larger the buffer, the deeper H-TCP's reduction: four fifths are kept up to a quarter of the product, half of two products.",
        criterion: |result, c| {
            let kept = |queue| result.number(&[("controller", "h-tcp"), ("queue", queue)], "cut");
            c.near("kept at 1555", kept("1555")?, 0.8, 0.05);
            c.less(("kept at 7776", kept("7776")?), ("at 3110", kept("3110")?));
            c.less(("at 3110", kept("3110")?), ("at 1555", kept("1555")?));
            c.are_all(3);
            Some(())
        },
        trial: Trial::FULL
            .of(&["controller=h-tcp,queue=1555", "controller=h-tcp,queue=3110", "controller=h-tcp,queue=7776"])
            .at(Scale::Part(2))
            .shrunk(&[
                ("rate_mbps = 622", "rate_mbps = 62.2"),
                ("buffer_packets = 1555", "buffer_packets = 155"),
                ("buffer_packets = 3110", "buffer_packets = 311"),
                ("buffer_packets = 7776", "buffer_packets = 777"),
            ]),
        mutant: Mutant {
            what: "Scalable in place of H-TCP",
            replace: &[("h-tcp:profile=paper", "scalable:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "sharma-11",
        experiment: "EV-3",
        source: "§7 corner cases",
        text: "FAST with an α that the queue does not hold is in permanent loss: it uses less of the link than with room for α.",
        criterion: |result, c| {
            let used = |queue| result.number(&[("controller", "fast"), ("queue", queue)], "M6");
            for queue in ["40", "100", "200"] {
                c.less((&format!("at {queue}"), used(queue)?), ("at 500", used("500")?.times(0.9)));
            }
            c.above("at 500", used("500")?, 0.99);
            c.are_all(4);
            Some(())
        },
        trial: Trial::FULL
            .of(&[
                "controller=fast,queue=40",
                "controller=fast,queue=100",
                "controller=fast,queue=200",
                "controller=fast,queue=500",
            ])
            .at(Scale::Part(20)),
        mutant: Mutant {
            what: "an α of 30 packets",
            replace: &[("fast:profile=paper", "fast:profile=paper,alpha=30,mi_threshold=0.05")],
        },
        why: None,
    },
    Claim {
        id: "sharma-12",
        experiment: "EV-4",
        source: "§6, §8",
        text: "Growth by time makes CUBIC and H-TCP take less longer over a long path than growth by ACKs makes HighSpeed, Scalable and BIC.",
        criterion: |result, c| {
            for by_time in BY_TIME {
                for by_acks in BY_ACKS {
                    let of = |scheme: &str| result.follows("M8 by M3-window", scheme);
                    if let (Some(less), Some(more)) = (of(by_time), of(by_acks)) {
                        c.less((by_time, less), (by_acks, more));
                    }
                }
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&[
                "controller=h-tcp,rtt=20",
                "controller=h-tcp,rtt=220",
                "controller=bic,rtt=20",
                "controller=bic,rtt=220",
            ])
            .at(Scale::Part(10)),
        mutant: Mutant {
            what: "Scalable, which grows by ACKs, in place of H-TCP",
            replace: &[("h-tcp:profile=paper", "scalable:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "sharma-13",
        experiment: "EV-4",
        source: "§3–§5",
        text: "With growth by ACKs the time to nine tenths rises with the round trip (HighSpeed, Scalable, BIC).",
        criterion: |result, c| {
            for scheme in BY_ACKS {
                let cells = result.cells.iter().filter(|cell| cell.setting("controller") == Some(scheme));
                let times: Vec<(String, Number)> = cells
                    .filter_map(|cell| Some((format!("{} ms", cell.setting("rtt")?), cell.mean("M3-window")?.into())))
                    .collect();
                c.rises(scheme, &times);
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["controller=bic,rtt=20", "controller=bic,rtt=100", "controller=bic,rtt=160"])
            .at(Scale::Part(20)),
        mutant: Mutant {
            what: "a round trip of 322 ms where 20 are meant",
            replace: &[("rtt_ms = 22.", "rtt_ms = 322.")],
        },
        why: None,
    },
    Claim {
        id: "sharma-14",
        experiment: "EV-4",
        source: "§4",
        text: "Scalable's recovery takes the same number of round trips whatever the window: from overflow to overflow 14.51 with the full queue in them, of which 11.62 are growth, at every round trip.",
        criterion: |result, c| {
            for cell in result.cells.iter().filter(|cell| cell.setting("controller") == Some("scalable")) {
                let label: f64 = cell.setting("rtt")?.parse().ok()?;
                // Labels leave out the access links. The queue is a fifth of a product of 1000-byte packets.
                let queue = (RATE * label / 40.0).floor();
                let full = label + 4.0 * ACCESS + 8.0 * WIRE * queue / RATE / 1000.0;
                let trips = Number::from(cell.mean("M4")?).times(1000.0 / full);
                c.near(&format!("at {label} ms, round trips"), trips, scalable_cycle(0.01, 0.125), 0.03);
            }
            Some(())
        },
        trial: Trial::FULL.of(&["controller=scalable,rtt=20", "controller=scalable,rtt=60"]).at(Scale::Part(10)),
        mutant: Mutant {
            what: "a tenth given up where an eighth is meant",
            replace: &[("scalable:profile=paper", "scalable:profile=paper,b=0.1")],
        },
        why: None,
    },
    Claim {
        id: "sharma-15",
        experiment: "EV-5",
        source: "§6, §8",
        text: "Growth by time shares more evenly between unequal round trips than growth by ACKs: CUBIC and H-TCP more than HighSpeed, Scalable and BIC, at each shorter round trip.",
        criterion: |result, c| {
            for rtt in SHORTER {
                for (by_time, by_acks) in BY_TIME.iter().flat_map(|a| BY_ACKS.map(|b| (*a, b))) {
                    uneven(result, c, by_time, by_acks, rtt);
                }
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["controller=cubic-2005,rtt=42", "controller=bic,rtt=42"])
            .at(Scale::Part(2))
            .shrunk(TENTH_OF_TWO),
        mutant: Mutant {
            what: "Scalable in place of CUBIC",
            replace: &[("cubic-2005:profile=paper", "scalable:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "sharma-16",
        experiment: "EV-5",
        source: "§4 invariants",
        text: "Of two equal Scalable flows the first keeps what it has: multiplicative increase and decrease do not converge, and every other scheme is more even.",
        criterion: |result, c| {
            c.above("Scalable", result.number(&[("controller", "scalable"), ("rtt", "162")], "M9")?, 0.9);
            for scheme in ["highspeed", "bic", "cubic-2005", "fast", "h-tcp"] {
                uneven(result, c, scheme, "scalable", "162");
            }
            c.are_all(6);
            Some(())
        },
        trial: Trial::FULL.of(&["controller=scalable,rtt=162"]),
        mutant: Mutant {
            what: "H-TCP in place of Scalable",
            replace: &[("scalable:profile=paper", "h-tcp:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "sharma-17",
        experiment: "EV-5",
        source: "§7 equilibrium",
        text: "A FAST flow that finds another's α packets queued takes them for its path and gets the larger share, at every round trip.",
        criterion: |result, c| {
            for cell in result.cells.iter().filter(|cell| cell.setting("controller") == Some("fast")) {
                c.below(&format!("{} asymmetry", cell.cell), cell.mean("M9")?, 0.0);
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["controller=fast,rtt=82"])
            .at(Scale::Part(4))
            .shrunk(&[("rate_mbps = 622", "rate_mbps = 62.2")]),
        mutant: Mutant {
            what: "H-TCP, which knows no base round trip, in place of FAST",
            replace: &[("fast:profile=paper", "scalable:profile=paper")],
        },
        why: Some(
            "beside 16 ms both have their α queued and share evenly within ten seconds: the second flow has found the round trip of the empty queue",
        ),
    },
    Claim {
        id: "sharma-18",
        experiment: "EV-5r",
        source: "§4, §13.3",
        text: "The Scalable flow with the shorter round trip starves the other when it comes first, too.",
        criterion: |result, c| {
            for rtt in SHORTER {
                if let Some(m9) = result.number(&[("rtt", rtt)], "M9") {
                    c.above(&format!("at {rtt} ms asymmetry"), m9, 0.9);
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["rtt=42"]).at(Scale::Part(4)).shrunk(TENTH_OF_TWO),
        mutant: Mutant {
            what: "H-TCP in place of Scalable",
            replace: &[("scalable:profile=paper", "h-tcp:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "sharma-19",
        experiment: "EV-5",
        source: "§3–§5",
        text: "Growth by ACKs starves the longer flow: the shorter the other's round trip, the less is left (HighSpeed, Scalable, BIC get less than a tenth beside 16 ms).",
        criterion: |result, c| {
            for scheme in BY_ACKS {
                if let Some(m9) = result.number(&[("controller", scheme), ("rtt", "16")], "M9") {
                    c.below(&format!("{scheme} asymmetry"), m9, -0.8);
                }
            }
            c.are_all(3);
            Some(())
        },
        trial: Trial::FULL.of(&["controller=bic,rtt=16"]).at(Scale::Part(4)).shrunk(TENTH_OF_TWO),
        mutant: Mutant { what: "H-TCP in place of BIC", replace: &[("bic:profile=paper", "h-tcp:profile=paper")] },
        why: Some(
            "HighSpeed and BIC leave the longer flow two of 622 Mbit/s, but of two Scalable flows the longer one, which was first, keeps all but five",
        ),
    },
    Claim {
        id: "sharma-20",
        experiment: "EV-6",
        source: "§13.4 M10",
        text: "Scalable shares worst: it collects more points for unevenness than any other scheme.",
        criterion: |result, c| {
            let of = |scheme: &str| result.follows("M10", scheme);
            let scalable = of("scalable")?;
            for scheme in LOSS_DRIVEN.iter().chain(&["fast"]).filter(|scheme| **scheme != "scalable") {
                if let Some(points) = of(scheme) {
                    c.less((scheme, points), ("Scalable", scalable));
                }
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&[
                "first=scalable,second=h-tcp",
                "first=h-tcp,second=scalable",
                "first=scalable,second=scalable",
                "first=h-tcp,second=h-tcp",
                "first=cubic-2005,second=h-tcp",
                "first=h-tcp,second=cubic-2005",
                "first=cubic-2005,second=cubic-2005",
            ])
            .at(Scale::Part(2))
            .shrunk(TENTH),
        mutant: Mutant {
            what: "H-TCP in place of Scalable",
            replace: &[("scalable:profile=paper", "h-tcp:profile=paper")],
        },
        why: None,
    },
];

/// Statements that no run of ours decides.
pub(super) const UNDETERMINED: &[(&str, &str, &str)] = &[(
    "§13.4 M10",
    "The order of all six schemes by points for unevenness.",
    "the borders of the regions are drawn in a figure without numbers; with ours, at the four widest gaps, the page has an order",
)];

fn others<'a>(result: &'a ExperimentResult, scheme: &'a str) -> impl Iterator<Item = &'a CellResult> {
    result.cells.iter().filter(move |cell| cell.setting("controller") != Some(scheme))
}

/// The pair of `even` shares more evenly than that of `odd`, if both were run.
fn uneven(result: &ExperimentResult, c: &mut Criterion, even: &str, odd: &str, rtt: &str) {
    let of = |scheme| result.of(&[("controller", scheme), ("rtt", rtt)], "M9").map(f64::abs);
    if let (Some(less), Some(more)) = (of(even), of(odd)) {
        c.less((&format!("|asymmetry| at {rtt} ms, {even}"), less), (odd, more));
    }
}
