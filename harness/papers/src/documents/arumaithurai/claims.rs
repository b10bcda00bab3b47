//! What the document says of its schemes, answered by runs (`spec: arumaithurai §3, §5, §12`).

use crate::{CellResult, Claim, Criterion, Curve, ExperimentResult, Mutant, Number, Scale, Trial};

/// The others that are meant for the background, and those that share as TCP does.
const OTHERS: [&str; 3] = ["tcp-lp", "ledbat", "rapid"];

/// Routers whose thresholds are the document's shares of their buffer.
const TWO_CLASSES: &str = "kind = \"two-class-red\"";
/// The same before 750 packets, of which 1 % is rounded up.
const ROUNDED: &str = "kind = \"two-class-red\"\nlow_min_th_packets = 8";
const ONE_CLASS: Mutant = Mutant {
    what: "routers that know one class only",
    replace: &[(TWO_CLASSES, "kind = \"two-class-red\"\nlow_min_th_packets = 1133\nlow_max_th_packets = 1250")],
};
const ONE_CLASS_AT_250: Mutant = Mutant {
    what: "routers that know one class only",
    replace: &[(TWO_CLASSES, "kind = \"two-class-red\"\nlow_min_th_packets = 2833\nlow_max_th_packets = 3125")],
};
/// A tenth of the rate and the queue.
const TENTH: &[(&str, &str)] =
    &[("rate_mbps = 600", "rate_mbps = 60"), ("buffer_packets = 7500", "buffer_packets = 750"), (TWO_CLASSES, ROUNDED)];

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "arumaithurai-1",
        experiment: "S1",
        source: "§3.1 I, §12",
        text: "NF-TCP is submissive: beside it TCP gets what it gets alone (19 of 20 parts), and more than beside TCP-LP, LEDBAT or RAPID.",
        criterion: submissive,
        trial: Trial::FULL
            .of(&["candidate=none", "candidate=nf-tcp", "candidate=ledbat"])
            .at(Scale::Part(10))
            .shrunk(TENTH),
        mutant: CLASS_OF_TCP,
        why: None,
    },
    Claim {
        id: "arumaithurai-2",
        experiment: "S1",
        source: "§3.1 III, §12",
        text: "NF-TCP and RAPID saturate the link fast, TCP-LP and LEDBAT do not.",
        criterion: fast,
        trial: Trial::FULL
            .of(&["candidate=none", "candidate=nf-tcp", "candidate=ledbat"])
            .at(Scale::Part(10))
            .shrunk(TENTH),
        mutant: Mutant {
            what: "no estimate of bandwidth",
            replace: &[("\"nf-tcp:profile=paper", "\"nf-tcp-prime:profile=paper,b=0.125")],
        },
        why: None,
    },
    Claim {
        id: "arumaithurai-3",
        experiment: "S1",
        source: "§5.6, §12",
        text: "RAPID is not submissive: it leaves TCP less than any other candidate.",
        criterion: |result, c| {
            let of = |candidate| result.follows("submissive index", candidate);
            let rapid = of("rapid")?;
            for candidate in ["nf-tcp", "tcp-lp", "ledbat"] {
                if let Some(index) = of(candidate) {
                    c.less(("RAPID", rapid), (candidate, index));
                }
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["candidate=none", "candidate=rapid", "candidate=ledbat"])
            .at(Scale::Part(20))
            .shrunk(TENTH),
        mutant: Mutant {
            what: "TCP-LP in place of RAPID",
            replace: &[("rapid:profile=paper", "tcp-lp:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "arumaithurai-4",
        experiment: "S1",
        source: "§5.2, Fig. 5.4",
        text: "LEDBAT's base delay rises while its own queue stands, and with it what it queues.",
        criterion: |result, c| {
            let cell = result.cells.iter().find(|cell| cell.setting("candidate") == Some("ledbat"))?;
            let base = cell.curves.iter().find(|curve| curve.kind == "base_delay_ms")?;
            let most = base.y.iter().copied().fold(f64::MIN, f64::max);
            c.less(("base delay at first, ms", 1.1 * *base.y.first()?), ("at most", most));
            Some(())
        },
        trial: Trial::FULL.of(&["candidate=ledbat"]).at(Scale::Part(3)).shrunk(&[
            ("rate_mbps = 600", "rate_mbps = 20"),
            ("buffer_packets = 7500", "buffer_packets = 1500"),
            (
                TWO_CLASSES,
                "kind = \"two-class-red\"\nmin_th_packets = 1400\nmax_th_packets = 1500\n\
                 low_min_th_packets = 2\nlow_max_th_packets = 125",
            ),
        ]),
        mutant: Mutant {
            what: "a queue shorter than its target",
            replace: &[("buffer_packets = 1500", "buffer_packets = 25")],
        },
        why: None,
    },
    Claim {
        id: "arumaithurai-5",
        experiment: "S1a",
        source: "§3.1 I, §4.1",
        text: "At 100 Mbit/s, too, TCP gets beside NF-TCP what it gets alone (19 of 20 parts).",
        criterion: submissive,
        trial: Trial::FULL.at(Scale::Part(4)),
        mutant: ONE_CLASS,
        why: None,
    },
    Claim {
        id: "arumaithurai-6",
        experiment: "S1a",
        source: "§3.10, I27",
        text: "NF-TCP alone keeps the queue at its lower threshold of 12 packets, and a train of 15 on top at most.",
        criterion: |result, c| {
            c.below("queue before TCP", result.follows("queue before TCP", "nf-tcp")?, 27.0);
            Some(())
        },
        trial: Trial::FULL.at(Scale::Part(2)),
        mutant: ONE_CLASS,
        why: None,
    },
    Claim {
        id: "arumaithurai-7",
        experiment: "S1a",
        source: "§3.10, I26",
        text: "With TCP, NF-TCP adds nothing to the queue: it is not longer than with TCP alone (to a twentieth), nor does it pass TCP's lower threshold.",
        criterion: |result, c| {
            let of = |candidate, quantity| result.number(&[("candidate", candidate)], quantity);
            let (with, without) = (of("nf-tcp", "queue")?, of("none", "queue")?);
            c.less(("queue with NF-TCP", with), ("without, and a twentieth", without.times(1.05)));
            c.below("queue with NF-TCP", with, 1133.0);
            Some(())
        },
        trial: Trial::FULL.at(Scale::Part(2)),
        mutant: ONE_CLASS,
        why: None,
    },
    Claim {
        id: "arumaithurai-8",
        experiment: "S2",
        source: "§3.1, §12",
        text: "With a round trip of 200 ms NF-TCP is still the most submissive.",
        criterion: submissive,
        trial: Trial::FULL
            .of(&["candidate=none", "candidate=nf-tcp", "candidate=ledbat"])
            .at(Scale::Part(20))
            .shrunk(&[("rate_mbps = 600", "rate_mbps = 60"), ("buffer_packets = 15000", "buffer_packets = 1500")]),
        mutant: CLASS_OF_TCP,
        why: None,
    },
    Claim {
        id: "arumaithurai-9",
        experiment: "S3",
        source: "§3.1, §12",
        text: "At 1 Gbit/s NF-TCP is still the most submissive.",
        criterion: submissive,
        trial: Trial::FULL.of(&["candidate=none", "candidate=nf-tcp", "candidate=ledbat"]).at(Scale::Part(20)).shrunk(
            &[
                ("rate_mbps = 1000", "rate_mbps = 60"),
                ("buffer_packets = 12500", "buffer_packets = 750"),
                // Not where thresholds are given, as printed.
                ("kind = \"two-class-red\"\n\n", "kind = \"two-class-red\"\nlow_min_th_packets = 8\n\n"),
            ],
        ),
        mutant: CLASS_OF_TCP,
        why: None,
    },
    Claim {
        id: "arumaithurai-10",
        experiment: "S4",
        source: "§3.8, §12",
        text: "Without its estimate of bandwidth NF-TCP delivers less, with each decrease, and is as submissive.",
        criterion: |result, c| {
            let of = |candidate, quantity| result.number(&[("candidate", candidate)], quantity);
            let (ours, tcp) = (of("nf-tcp", "delivered")?, of("nf-tcp", "tcp")?);
            for prime in ["nf-tcp-prime b=1/2", "nf-tcp-prime b=1/8"] {
                if let (Some(less), Some(beside)) = (of(prime, "delivered"), of(prime, "tcp")) {
                    c.less((&format!("delivered, {prime}"), less), ("NF-TCP", ours));
                    c.near(&format!("TCP beside {prime}"), beside, tcp.value(), 0.05);
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["candidate=nf-tcp-prime b=1/8", "candidate=nf-tcp"]).at(Scale::Part(10)).shrunk(TENTH),
        mutant: Mutant {
            what: "no estimate in NF-TCP either",
            replace: &[("\"nf-tcp:profile=paper", "\"nf-tcp-prime:profile=paper,b=0.5")],
        },
        why: None,
    },
    Claim {
        id: "arumaithurai-11",
        experiment: "S5",
        source: "§12",
        text: "NF-TCP takes what UDP of a random rate leaves: both together use nine tenths of the link, and UDP loses nothing for it.",
        criterion: |result, c| {
            for cell in &result.cells {
                c.above(&format!("{}, use", cell.cell), cell.mean("utilisation")?, 0.9);
                c.below(&format!("{}, UDP lost, %", cell.cell), cell.mean("UDP lost")?, 0.1);
            }
            Some(())
        },
        trial: Trial::FULL.of(&["rate=constant mean"]).at(Scale::Part(5)),
        mutant: Mutant {
            what: "no estimate of bandwidth",
            replace: &[("\"nf-tcp:profile=paper", "\"nf-tcp-prime:profile=paper,b=0.5")],
        },
        why: None,
    },
    Claim {
        id: "arumaithurai-12",
        experiment: "S6a",
        source: "§3.1, I28",
        text: "NF-TCP flows that start together share equally (Jain's index of 0.95).",
        criterion: equal,
        trial: Trial::FULL.at(Scale::Part(10)).shrunk(TENTH),
        mutant: SCALABLE,
        why: None,
    },
    Claim {
        id: "arumaithurai-13",
        experiment: "S6b",
        source: "§3.1, I28",
        text: "NF-TCP flows that start one after another come to share equally (Jain's index of 0.95).",
        criterion: equal,
        trial: Trial::FULL.at(Scale::Part(4)).shrunk(TENTH),
        mutant: SCALABLE,
        why: None,
    },
    Claim {
        id: "arumaithurai-14",
        experiment: "S6c",
        source: "§12 S6c",
        text: "With unequal round trips NF-TCP flows share about as Reno's do (Jain's index not a tenth lower), the shorter the more.",
        criterion: |result, c| {
            let of = |scheme, quantity| result.number(&[("scheme", scheme)], quantity);
            c.less(("Jain, nine tenths of Reno's", of("reno", "Jain")?.times(0.9)), ("NF-TCP", of("nf-tcp", "Jain")?));
            let rtts = ["50 ms", "100 ms", "150 ms", "200 ms", "250 ms"];
            let shares: Option<Vec<(String, Number)>> =
                rtts.iter().map(|rtt| Some(((*rtt).to_owned(), of("nf-tcp", rtt)?))).collect();
            c.falls("share", &shares?);
            Some(())
        },
        trial: Trial::FULL.at(Scale::Part(10)).shrunk(TENTH),
        mutant: SCALABLE,
        why: None,
    },
    Claim {
        id: "arumaithurai-15",
        experiment: "S7",
        source: "§12 S7",
        text: "Over three bottlenecks NF-TCP leaves the long flow of TCP more than TCP-LP, LEDBAT and RAPID do, with each round trip.",
        criterion: |result, c| {
            for rtt in result.values("rtt") {
                let of = |candidate| result.number(&[("candidate", candidate), ("rtt", rtt)], "tcp");
                let others = OTHERS.map(|candidate| (format!("{rtt} ms, {candidate}"), of(candidate)));
                c.each_less(others, ("NF-TCP", of("nf-tcp")?));
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["candidate=nf-tcp,rtt=100", "candidate=ledbat,rtt=100"])
            .at(Scale::Part(20))
            .shrunk(TENTH),
        mutant: CLASS_OF_TCP,
        why: None,
    },
    Claim {
        id: "arumaithurai-16",
        experiment: "S8",
        source: "§12 S8",
        text: "Five flows of TCP get more beside NF-TCP than beside as many flows of TCP-LP, LEDBAT, RAPID or Reno, whatever their number.",
        criterion: |result, c| {
            for n in result.values("n") {
                let of = |candidate| result.number(&[("candidate", candidate), ("n", n)], "tcp");
                let others = OTHERS.into_iter().chain(["reno"]);
                let others = others.map(|candidate| (format!("n = {n}, {candidate}"), of(candidate)));
                c.each_less(others, ("NF-TCP", of("nf-tcp")?));
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["candidate=nf-tcp,n=20", "candidate=ledbat,n=20", "candidate=tcp-lp,n=20"])
            .at(Scale::Part(6)),
        mutant: ONE_CLASS_AT_250,
        why: None,
    },
    Claim {
        id: "arumaithurai-17",
        experiment: "S8",
        source: "§12 S8",
        text: "Beside LEDBAT and Reno they get less the more others there are; beside NF-TCP nine tenths of the link remain theirs, up to two hundred.",
        criterion: |result, c| {
            for candidate in ["ledbat", "reno"] {
                let cells = result.cells.iter().filter(|cell| cell.setting("candidate") == Some(candidate));
                let left: Vec<(String, Number)> =
                    cells.filter_map(|cell| Some((cell.setting("n")?.to_owned(), cell.mean("tcp")?.into()))).collect();
                c.falls(candidate, &left);
            }
            for cell in result.cells.iter().filter(|cell| cell.setting("candidate") == Some("nf-tcp")) {
                c.above(&cell.cell, cell.mean("tcp")?, 225.0);
            }
            Some(())
        },
        trial: Trial::FULL.of(&["candidate=nf-tcp,n=10"]),
        mutant: ONE_CLASS_AT_250,
        why: None,
    },
    Claim {
        id: "arumaithurai-18",
        experiment: "S9",
        source: "§3.1 IV, §12",
        text: "NF-TCP acts within a few round trips: half of what it had is given up within a second (ten round trips) of a burst of TCP.",
        criterion: |result, c| {
            c.below("half is gone after", result.number(&[("candidate", "nf-tcp")], "gives way within")?, 1.0);
            Some(())
        },
        trial: Trial::FULL.of(&["candidate=nf-tcp"]).at(Scale::Part(2)),
        mutant: ONE_CLASS_AT_250,
        why: None,
    },
    Claim {
        id: "arumaithurai-19",
        experiment: "S9",
        source: "§12 S9",
        text: "Between bursts NF-TCP uses what TCP-LP leaves idle: it delivers more, and TCP's aggregate is as large (19 of 20 parts).",
        criterion: |result, c| {
            let of = |candidate, quantity| result.number(&[("candidate", candidate)], quantity);
            c.less(("TCP-LP", of("tcp-lp", "candidate")?), ("NF-TCP", of("nf-tcp", "candidate")?));
            c.less(
                ("TCP beside TCP-LP, 19 of 20 parts", of("tcp-lp", "tcp")?.times(0.95)),
                ("beside NF-TCP", of("nf-tcp", "tcp")?),
            );
            Some(())
        },
        trial: Trial::FULL.at(Scale::Part(4)),
        mutant: Mutant { what: "TCP-LP in its place", replace: &[("nf-tcp:profile=paper", "tcp-lp:profile=paper")] },
        why: None,
    },
    Claim {
        id: "arumaithurai-20",
        experiment: "S10",
        source: "§5.2, §12",
        text: "On slow links LEDBAT yields: at 10 Mbit/s it keeps less than a third of what both get, behind each queue.",
        criterion: |result, c| ledbat_yields(result, c, &[("rate", "10"), ("target", "100")], 1.0 / 3.0),
        trial: Trial::FULL
            .of(&["rate=10,queue=RED,target=100"])
            .at(Scale::Part(4))
            .with("a target of 25 ms", &[("ledbat:profile=paper", "ledbat:profile=paper,target=25")]),
        mutant: Mutant { what: "Reno in place of LEDBAT", replace: &[("ledbat:profile=paper,target=25", "reno:iw=1")] },
        why: Some(
            "its target is the delay of the whole queue, so that it finds no reason to yield before a loss; with 25 ms it yields",
        ),
    },
    Claim {
        id: "arumaithurai-21",
        experiment: "S10",
        source: "§5.2",
        text: "With a target well below the queue (25 ms) LEDBAT yields at every rate: TCP gets four fifths of what both get, behind each queue.",
        criterion: |result, c| ledbat_yields(result, c, &[("target", "25")], 0.2),
        trial: Trial::FULL.of(&["rate=10,queue=RED,target=25"]),
        mutant: Mutant { what: "a target of 100 ms", replace: &[("target=25", "target=100")] },
        why: Some(
            "TCP takes four minutes to fill 200 Mbit/s and longer in proportion for more, and LEDBAT has what it leaves meanwhile",
        ),
    },
    Claim {
        id: "arumaithurai-22",
        experiment: "S11",
        source: "§4.3.2, A1",
        text: "ProECN estimates what is spare, without overshoot: to a quarter at each load.",
        criterion: |result, c| {
            for load in ["0", "25", "50", "75"] {
                let off = result.number(&[], &format!("error at {load} %"))?;
                c.below(&format!("error at {load} %, %"), off.value().abs(), 25.0);
            }
            Some(())
        },
        trial: Trial::FULL.with(
            "trains of 64 probes, their rates a hundredth apart and around the estimate",
            &[("nf-tcp:profile=paper", "nf-tcp:profile=paper,n=64,sf=1.01,alpha=1")],
        ),
        mutant: Mutant { what: "no load", replace: &[("rate_mbps = 150", "rate_mbps = 1")] },
        why: Some(
            "a probe is marked that finds two packets waiting, and a train's rate is nearly threefold by then: the estimate is 2.4 to 2.7 times too high by the rules themselves; with trains of 64 probes, their rates a hundredth apart and around the estimate, it is 18 to 23 % too high",
        ),
    },
    Claim {
        id: "arumaithurai-23",
        experiment: "S11",
        source: "§4.3.2",
        text: "Its estimate falls with the load, and its probes take less than a hundredth of the link.",
        criterion: |result, c| {
            let loads = ["0", "25", "50", "75"];
            let estimates: Option<Vec<(String, Number)>> = loads
                .iter()
                .map(|load| Some((format!("{load} %"), result.number(&[], &format!("estimate at {load} %"))?)))
                .collect();
            c.falls("estimate", &estimates?);
            for load in loads {
                c.below(&format!("probes at {load} %, %"), result.number(&[], &format!("probes at {load} %"))?, 1.0);
            }
            Some(())
        },
        trial: Trial::FULL.at(Scale::Part(4)),
        mutant: Mutant { what: "no load", replace: &[("rate_mbps = 150", "rate_mbps = 1")] },
        why: None,
    },
];

const SCALABLE: Mutant =
    Mutant { what: "Scalable's increase and decrease", replace: &[("nf-tcp:profile=paper", "scalable:iw=1")] };

const CLASS_OF_TCP: Mutant =
    Mutant { what: "RAPID in place of NF-TCP", replace: &[("nf-tcp:profile=paper", "rapid:profile=paper")] };

/// Statements that no run of ours decides.
pub(super) const UNDETERMINED: &[(&str, &str, &str)] = &[
    (
        "§3.10",
        "Robustness rises with the distance between NF-TCP's upper and TCP's lower threshold.",
        "a statement on a fluid model; the document runs one set of thresholds",
    ),
    (
        "§2.2, Tables 2.1–2.10",
        "Westwood, Vegas, Nice and DCTCP are not submissive, or slow to saturate.",
        "the document argues this and runs none of them; the page has a checklist by our runs",
    ),
    ("§12 S5", "How evenly NF-TCP follows UDP over time.", "the rates of UDP are not given"),
];

fn submissive(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    let of = |candidate: &str| result.follows("submissive index", candidate).map(Number::from);
    let ours = of("nf-tcp")?;
    c.above("index of NF-TCP", ours, 0.95);
    c.each_less(OTHERS.map(|candidate| (candidate, of(candidate))), ("NF-TCP", ours));
    Some(())
}

fn fast(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    // What never fills the link before TCP comes does so later.
    let tcp = result.cells.first()?.curves.iter().find(|curve| curve.kind == "throughput" && curve.of == "tcp")?;
    let begins = begin(tcp)?;
    let after = |candidate: &str| {
        let ran = result.cells.iter().any(|cell| cell.setting("candidate") == Some(candidate));
        ran.then(|| result.follows("saturates after", candidate).unwrap_or(begins))
    };
    for (quick, slow) in ["nf-tcp", "rapid"].into_iter().flat_map(|a| ["tcp-lp", "ledbat"].map(|b| (a, b))) {
        if let (Some(less), Some(more)) = (after(quick), after(slow)) {
            c.less((&format!("{quick} after, s"), less), (slow, more));
        }
    }
    Some(())
}

fn begin(curve: &Curve) -> Option<f64> {
    curve.x.iter().zip(&curve.y).find(|(_, rate)| **rate > 0.0).map(|(time, _)| *time)
}

/// LEDBAT keeps less than `most` of what both get, in every cell with these settings.
fn ledbat_yields(result: &ExperimentResult, c: &mut Criterion, settings: &[(&str, &str)], most: f64) -> Option<()> {
    let fits = |cell: &&CellResult| settings.iter().all(|(name, value)| cell.setting(name) == Some(value));
    for cell in result.cells.iter().filter(fits) {
        let (ledbat, tcp): (Number, Number) = (cell.mean("candidate")?.into(), cell.mean("tcp")?.into());
        let share = ledbat.times(1.0 / (ledbat.value() + tcp.value()));
        c.below(&format!("{}, LEDBAT's share", cell.cell), share, most);
    }
    Some(())
}

fn equal(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    c.above("Jain's index", result.number(&[], "Jain")?, 0.95);
    Some(())
}
