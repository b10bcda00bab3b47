//! What the document says of its schemes, answered by runs (`spec: chan §3–§7, §11, §12, §14`).

use crate::{CellResult, Claim, Criterion, ExperimentResult, Mutant, Number, Scale, Trial};

const ROVEGAS_IS_VEGAS: Mutant =
    Mutant { what: "no router reports", replace: &[("rovegas:profile=paper", "vegas:profile=paper")] };
/// E3.8's flows one after another, each on a path that is a hop longer: all but the first find a queue at the last hop.
const ONE_AFTER_ANOTHER: &[(&str, &str)] = &[
    ("name = \"S4\"\n", "name = \"S4\"\nstart_s = 30\n"),
    ("name = \"S3\"\n", "name = \"S3\"\nstart_s = 60\n"),
    ("name = \"S2\"\n", "name = \"S2\"\nstart_s = 90\n"),
    ("name = \"S1\"\n", "name = \"S1\"\nstart_s = 120\n"),
];
const ENHANCED_IS_VEGAS: Mutant =
    Mutant { what: "Vegas in its place", replace: &[("enhanced-vegas:profile=paper", "vegas:profile=paper")] };
const QUICK_IS_VEGAS: Mutant = Mutant {
    what: "Vegas in its place",
    replace: &[("quick-vegas:profile=paper", "vegas:profile=paper,alpha=2,beta=4,gamma=1")],
};
const RED_IS_VEGAS: Mutant =
    Mutant { what: "every loss taken for congestion", replace: &[("red-vegas:profile=paper", "vegas:profile=paper")] };

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "chan-1",
        experiment: "E3.1",
        source: "§11.3, P11",
        text: "Vegas carries what a narrow way back lets it: the forward rate over the asymmetry.",
        criterion: |result, c| {
            for cell in result.cells.iter().filter(|cell| cell.setting("scheme") == Some("vegas")) {
                let k: f64 = cell.setting("k")?.parse().ok()?;
                c.near(&cell.cell, cell.mean("throughput")?, 1.6 / k, 0.01);
            }
            Some(())
        },
        trial: Trial::FULL.of(&["scheme=vegas,k=4"]),
        mutant: Mutant {
            what: "a growth that no gate holds",
            replace: &[("vegas:profile=paper", "reno:iw=1,growth=acks")],
        },
        why: None,
    },
    Claim {
        id: "chan-2",
        experiment: "E3.1",
        source: "§11.4, P10",
        text: "RoVegas carries more than Vegas there (than its wider way back accounts for), at most three times as much, and no more than the asymmetry.",
        criterion: |result, c| {
            for k in result.values("k") {
                let gain = result.follows("RoVegas over Vegas", &format!("k={k}"))?;
                let most = k.parse::<f64>().ok()?.min(3.0);
                // Its way back is 1.2 times wider, for its larger ACKs (A7): so much is not its doing.
                c.above(&format!("gain at k = {k}"), gain, 1.2);
                c.below(&format!("gain at k = {k}"), gain, 1.02 * most);
            }
            Some(())
        },
        trial: Trial::FULL.of(&["k=8"]),
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-3",
        experiment: "E3.2",
        source: "§4, §14.2",
        text: "When a load joins on the way back RoVegas keeps more than Vegas.",
        criterion: |result, c| first_of_two(result, c, "rovegas", "throughput beside"),
        trial: Trial::FULL.times(3),
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-4",
        experiment: "E3.3",
        source: "§4, §14.2",
        text: "RoVegas keeps more of the way forth than Vegas at every load of the way back, and its advantage rises with the load.",
        criterion: |result, c| loaded(result, c, "rovegas"),
        trial: Trial::FULL.of(&["load=0.3", "load=0.5", "load=0.7"]).times(3),
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-5",
        experiment: "E3.4",
        source: "§4, §14.2",
        text: "Each further hop with a load on the way back costs both, and Vegas more: RoVegas' advantage rises from hop to hop.",
        criterion: |result, c| {
            let mut gains = Vec::new();
            for part in ["one", "two", "three"] {
                let of = |scheme| result.number(&[("scheme", scheme)], &format!("throughput {part}"));
                let (vegas, rovegas) = (of("vegas")?, of("rovegas")?);
                c.less((&format!("{part} loaded, Vegas"), vegas), ("RoVegas", rovegas));
                gains.push((part.to_owned(), rovegas.times(1.0 / vegas.value())));
            }
            c.rises("gain", &gains);
            Some(())
        },
        trial: Trial::FULL.times(3),
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-6",
        experiment: "E3.5",
        source: "§4, §14.2",
        text: "Over three loaded hops RoVegas keeps more than Vegas at every load, and its advantage rises with the load.",
        criterion: |result, c| loaded(result, c, "rovegas"),
        trial: Trial::FULL.of(&["load=0.3", "load=0.5", "load=0.7"]).times(3),
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-7",
        experiment: "E3.6",
        source: "§11.5, P12",
        text: "Persistent congestion: each Vegas flow that joins lengthens the queue, and eight keep more than 8β.",
        criterion: |result, c| {
            let queue = |n: u32| result.number(&[("scheme", "vegas")], &format!("queue of {n}"));
            let mut all = Vec::new();
            for n in 1..=8u32 {
                let waits = queue(n)?;
                all.push((n.to_string(), waits));
            }
            c.above("queue of 8", queue(8)?, 24.0);
            c.rises("queue", &all);
            Some(())
        },
        trial: Trial::FULL.of(&["scheme=vegas"]),
        mutant: Mutant {
            what: "RoVegas, which knows its path, in place of Vegas",
            replace: &[("\"vegas:profile=paper", "\"rovegas:profile=paper")],
        },
        why: None,
    },
    Claim {
        id: "chan-8",
        experiment: "E3.6",
        source: "P12",
        text: "n RoVegas flows keep at most nβ packets queued (and one each for rounding).",
        criterion: |result, c| {
            for n in 1..=8u32 {
                let waits = result.number(&[("scheme", "rovegas")], &format!("queue of {n}"))?;
                c.below(&format!("queue of {n}"), waits, 4.0 * f64::from(n));
            }
            Some(())
        },
        trial: Trial::FULL.of(&["scheme=rovegas"]),
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-9",
        experiment: "E3.7",
        source: "§14.2 E3.7",
        text: "Of five flows that join one after another RoVegas' share more evenly than Vegas', with each α and β and with rounding and without.",
        criterion: fairer,
        trial: Trial::FULL,
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-10",
        experiment: "E3.7",
        source: "§14.2 E3.7, A3",
        text: "RoVegas with α = β shares more evenly than with α < β.",
        criterion: one_target,
        trial: Trial::FULL.of(&["scheme=rovegas,rounding=none"]),
        mutant: Mutant { what: "α and β two apart", replace: &[("alpha=2,beta=2", "alpha=1,beta=5")] },
        why: None,
    },
    Claim {
        id: "chan-11",
        experiment: "E3.8",
        source: "§14.2 E3.8",
        text: "Over paths of one to five hops RoVegas' flows share more evenly than Vegas', with each α and β and with rounding and without.",
        criterion: fairer,
        // With α < β both leave flows unequal between the two.
        trial: Trial::FULL.of(&["alpha=2"]).times(3).with("flows that start one after another", ONE_AFTER_ANOTHER),
        mutant: ROVEGAS_IS_VEGAS,
        why: Some(
            "all five start on empty queues, so that Vegas' base is right, and no ACK waits: what the routers report is what Vegas measures",
        ),
    },
    Claim {
        id: "chan-12",
        experiment: "E3.8",
        source: "§14.2 E3.8, A3",
        text: "There, too, RoVegas with α = β shares more evenly than with α < β.",
        criterion: one_target,
        trial: Trial::FULL.of(&["scheme=rovegas,rounding=none"]).times(3),
        mutant: Mutant { what: "α and β two apart", replace: &[("alpha=2,beta=2", "alpha=1,beta=5")] },
        why: None,
    },
    Claim {
        id: "chan-13",
        experiment: "E3.9",
        source: "§4.8, §14.2",
        text: "RoVegas keeps more than Vegas when one router of four reports, too.",
        criterion: |result, c| first_of_two(result, c, "rovegas", "throughput"),
        trial: Trial::FULL.times(10),
        mutant: ROVEGAS_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-14",
        experiment: "E4.1",
        source: "§5, §14.2",
        text: "When a load joins on the way back Enhanced Vegas keeps more than Vegas.",
        criterion: |result, c| first_of_two(result, c, "enhanced-vegas", "throughput beside"),
        trial: Trial::FULL.times(3),
        mutant: ENHANCED_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-15",
        experiment: "E4.2",
        source: "§5, §14.2",
        text: "Enhanced Vegas keeps more of the way forth than Vegas at every load of the way back, and its advantage rises with the load.",
        criterion: |result, c| loaded(result, c, "enhanced-vegas"),
        trial: Trial::FULL.of(&["load=0.3", "load=0.5", "load=0.7"]).times(3),
        mutant: ENHANCED_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-16",
        experiment: "E5.1",
        source: "§6, §14.2",
        text: "At 50 Mbit/s Quick Vegas finds its window sooner than Vegas: at the start, when half of the link is taken, and when it is given back.",
        criterion: sooner,
        trial: Trial::FULL,
        mutant: QUICK_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-17",
        experiment: "E5.2",
        source: "§6, §14.2",
        text: "Quick Vegas does so at every bandwidth-delay product.",
        criterion: sooner,
        trial: Trial::FULL.of(&["bdp=31.25", "bdp=125"]),
        mutant: QUICK_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-18",
        experiment: "E5.2",
        source: "§6, §11.6",
        text: "Vegas' times rise with the product, as a packet a round trip must, and the larger the product, the larger Quick Vegas' advantage after a change.",
        criterion: |result, c| {
            for change in ["new", "halved", "doubled"] {
                let times = over(result, "bdp", &[("scheme", "vegas")], &format!("convergence {change}"));
                c.rises(&format!("Vegas, {change}"), &times);
            }
            for change in ["halved", "doubled"] {
                let gain = |bdp: &str| {
                    let of = |scheme| result.of(&[("scheme", scheme), ("bdp", bdp)], &format!("convergence {change}"));
                    Some(of("vegas")? / of("quick-vegas")?)
                };
                let (bdps, first) = (result.values("bdp"), result.values("bdp").first().copied()?);
                c.less((&format!("gain, {change}, at {first}"), gain(first)?), ("at the largest", gain(bdps.last()?)?));
            }
            Some(())
        },
        trial: Trial::FULL.of(&["bdp=31.25", "bdp=125", "bdp=375"]),
        mutant: QUICK_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-19",
        experiment: "E5.3",
        source: "§6, §14.2",
        text: "Of sixty flows on a gigabit Quick Vegas' use at least as much of it as Vegas' in every stretch, and more at the start.",
        criterion: |result, c| {
            let of = |scheme, part: &str| result.number(&[("scheme", scheme)], &format!("utilisation {part} s"));
            c.less(("0–25 s, Vegas", of("vegas", "0–25")?), ("Quick Vegas", of("quick-vegas", "0–25")?));
            for part in ["25–55", "55–300", "300–310", "310–400", "400–420", "420–435", "435–500"] {
                // A full link cannot be fuller.
                c.less(
                    (&format!("{part} s, Vegas"), of("vegas", part)?.times(0.99)),
                    ("Quick Vegas", of("quick-vegas", part)?),
                );
            }
            Some(())
        },
        trial: Trial::FULL.of(&["scheme=vegas", "scheme=quick-vegas"]).at(Scale::Part(10)),
        mutant: QUICK_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-20",
        experiment: "E5.3",
        source: "§6, §14.2",
        text: "Vegas and Quick Vegas keep a shorter queue than NewReno, and share more evenly in every hundred seconds.",
        criterion: |result, c| {
            let of = |scheme, quantity: &str| result.number(&[("scheme", scheme)], quantity);
            for scheme in ["vegas", "quick-vegas"] {
                c.less((&format!("queue, {scheme}"), of(scheme, "queue")?), ("NewReno", of("newreno", "queue")?));
                for part in ["0–100", "100–200", "200–300", "300–400", "400–500"] {
                    let quantity = format!("Jain {part} s");
                    c.less(
                        (&format!("{quantity}, NewReno"), of("newreno", &quantity)?),
                        (scheme, of(scheme, &quantity)?),
                    );
                }
            }
            Some(())
        },
        trial: Trial::FULL.at(Scale::Part(50)),
        mutant: Mutant {
            what: "NewReno in place of Vegas",
            replace: &[(
                "vegas:profile=paper,alpha=2,beta=4,gamma=1",
                "reno:iw=1,timeout_window=1,timeout_reduces_again=on,growth=acks",
            )],
        },
        why: None,
    },
    Claim {
        id: "chan-21",
        experiment: "E6.1",
        source: "§14.2 E6.1",
        text: "Beside a bursty load Reno is nowhere ahead of Vegas.",
        criterion: |result, c| {
            for load in result.values("load") {
                let of = |scheme| result.number(&[("scheme", scheme), ("load", load)], "goodput");
                c.less((&format!("at {load}, Reno"), of("reno")?.times(0.99)), ("Vegas", of("vegas")?));
            }
            Some(())
        },
        trial: Trial::FULL.of(&["load=0.3,scheme=reno", "load=0.3,scheme=vegas"]).at(Scale::Part(4)),
        mutant: Mutant {
            what: "a load in step with the flow: no random time before a packet is sent",
            replace: &[("send_jitter_us = 5000", "send_jitter_us = 0")],
        },
        why: None,
    },
    Claim {
        id: "chan-22",
        experiment: "E6.1",
        source: "P17",
        text: "Without random loss RedVegas is Vegas (to a twentieth).",
        criterion: |result, c| {
            for load in result.values("load") {
                let of = |scheme| result.number(&[("scheme", scheme), ("load", load)], "goodput");
                if let (Some(vegas), Some(red)) = (of("vegas"), of("red-vegas")) {
                    c.near(&format!("RedVegas at {load}"), red, vegas.value(), 0.05);
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["load=0.7,scheme=vegas", "load=0.7,scheme=red-vegas"]).at(Scale::Part(4)),
        mutant: Mutant { what: "a link that loses 3 %", replace: &[("loss_percent = 0\n", "loss_percent = 3\n")] },
        why: None,
    },
    Claim {
        id: "chan-23",
        experiment: "E6.2",
        source: "§7, §14.2",
        text: "Over a link that loses at random RedVegas carries more than Vegas and Vegas more than Reno, at every loss rate; all carry less the more it loses.",
        criterion: |result, c| {
            over_losses(result, c);
            for scheme in ["reno", "vegas", "red-vegas"] {
                c.falls(scheme, &over(result, "loss", &[("scheme", scheme)], "goodput"));
            }
            Some(())
        },
        trial: Trial::FULL.of(&["loss=1", "loss=5"]).at(Scale::Part(10)).times(3),
        mutant: RED_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-24",
        experiment: "E6.2",
        source: "§7, §14.2",
        text: "RedVegas' advantage over Vegas first rises with the loss rate and then falls: timeouts decide at the highest.",
        criterion: |result, c| {
            let gain = |loss: &str| {
                let of = |scheme| result.number(&[("scheme", scheme), ("loss", loss)], "goodput");
                Some(of("red-vegas")?.times(1.0 / of("vegas")?.value()))
            };
            c.less(("gain at 1 %", gain("1")?), ("at 4 %", gain("4")?));
            c.less(("gain at 15 %", gain("15")?), ("at 4 %", gain("4")?));
            Some(())
        },
        trial: Trial::FULL.of(&["loss=1", "loss=4", "loss=15"]).at(Scale::Part(4)).times(3),
        mutant: RED_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-25",
        experiment: "E6.3",
        source: "§7, §14.2",
        text: "With half a load besides, RedVegas carries more than Vegas and Vegas more than Reno at every loss rate.",
        criterion: |result, c| {
            over_losses(result, c);
            Some(())
        },
        trial: Trial::FULL.of(&["loss=3"]).at(Scale::Part(2)).times(5),
        mutant: RED_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-26",
        experiment: "E6.4",
        source: "§7, §14.2",
        text: "At 5 % loss RedVegas carries more than Vegas and Vegas more than Reno at every load, and all carry less the higher it is.",
        criterion: |result, c| {
            for load in result.values("load") {
                ordered(result, c, ("load", load));
            }
            for scheme in ["reno", "vegas", "red-vegas"] {
                c.falls(scheme, &over(result, "load", &[("scheme", scheme)], "goodput"));
            }
            Some(())
        },
        trial: Trial::FULL.of(&["load=0.1", "load=0.5"]).at(Scale::Part(4)).times(3),
        mutant: RED_IS_VEGAS,
        why: None,
    },
    Claim {
        id: "chan-27",
        experiment: "E6.5",
        source: "§7, A9",
        text: "RedVegas errs on the safe side: of what it takes for random, more is random than of what it takes for congestion is congestion, and nineteen of twenty are.",
        criterion: |result, c| {
            for cell in result.cells.iter().filter(|cell| cell.setting("load") != Some("0")) {
                let random = cell.mean("right about random")?;
                c.above(&format!("{}, right about random", cell.cell), random, 95.0);
                // A handful of losses in all runs together has no share.
                let taken = cell.mean("taken for congestion")?;
                if taken.mean * taken.repetitions as f64 >= 10.0 {
                    let congestion = 100.0 * cell.value("of these congestion")? / taken.mean;
                    c.less((&format!("{}, right about congestion", cell.cell), congestion), ("about random", random));
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["loss=5,load=0.8"]).times(3),
        mutant: Mutant {
            what: "the router that drops marks nothing, the one behind it does",
            replace: &[("ci_marking = true\n", ""), ("name = \"air\"\n", "name = \"air\"\nci_marking = true\n")],
        },
        why: None,
    },
    Claim {
        id: "chan-28",
        experiment: "E3.2r",
        source: "§4.5 B3, A6",
        text: "RoVegas that takes the latest time without queues for its base follows a rerouting: on the longer path it carries what it carried before (to a tenth).",
        criterion: |result, c| {
            let of = |part: &str| result.number(&[("base", "latest")], &format!("throughput {part}"));
            let before = of("before")?;
            c.near("on the longer path", of("longer")?, before.value(), 0.1);
            c.near("on the shorter one again", of("again")?, before.value(), 0.1);
            Some(())
        },
        trial: Trial::FULL.of(&["base=latest"]).times(3),
        mutant: Mutant {
            what: "the least time ever for its base",
            replace: &[("base_policy=latest", "base_policy=min")],
        },
        why: None,
    },
];

/// Statements that no run of ours decides.
pub(super) const UNDETERMINED: &[(&str, &str, &str)] = &[
    ("§9", "How DUAL, CARD and Tri-S compare with Vegas.", "the document outlines them and runs none"),
    (
        "§8.5, A18",
        "How results depend on the length of bursts.",
        "the document gives neither packet size nor lengths; ours are the specification's",
    ),
];

/// A quantity over the values of a setting, among cells with `fixed`.
fn over(result: &ExperimentResult, setting: &str, fixed: &[(&str, &str)], quantity: &str) -> Vec<(String, Number)> {
    let fits = |cell: &&CellResult| fixed.iter().all(|(name, value)| cell.setting(name) == Some(value));
    let of = |cell: &CellResult| Some((cell.setting(setting)?.to_owned(), cell.mean(quantity)?.into()));
    result.cells.iter().filter(fits).filter_map(of).collect()
}

fn first_of_two(result: &ExperimentResult, c: &mut Criterion, scheme: &str, quantity: &str) -> Option<()> {
    let of = |scheme| result.number(&[("scheme", scheme)], quantity);
    c.less((&format!("{quantity}, Vegas"), of("vegas")?), (scheme, of(scheme)?));
    Some(())
}

/// Whether `scheme` gets more than Vegas at each load, and the more the higher it is.
fn loaded(result: &ExperimentResult, c: &mut Criterion, scheme: &str) -> Option<()> {
    let mut gains = Vec::new();
    for load in result.values("load").into_iter().filter(|load| *load != "0") {
        let of = |scheme| result.number(&[("scheme", scheme), ("load", load)], "throughput");
        let (vegas, ours) = (of("vegas")?, of(scheme)?);
        c.less((&format!("at {load}, Vegas"), vegas), (scheme, ours));
        gains.push((load.to_owned(), ours.times(1.0 / vegas.value())));
    }
    c.rises("gain", &gains);
    Some(())
}

/// The settings of a pair of cells that differ in one.
fn variants(result: &ExperimentResult) -> Vec<(&str, &str)> {
    let mut all = Vec::new();
    for cell in &result.cells {
        let variant = (cell.setting("alpha").unwrap_or_default(), cell.setting("rounding").unwrap_or_default());
        if !all.contains(&variant) {
            all.push(variant);
        }
    }
    all
}

fn fairer(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    for (alpha, rounding) in variants(result) {
        let of = |scheme| result.number(&[("scheme", scheme), ("alpha", alpha), ("rounding", rounding)], "Jain");
        c.less((&format!("Jain, α = {alpha}, rounding {rounding}, Vegas"), of("vegas")?), ("RoVegas", of("rovegas")?));
    }
    Some(())
}

fn one_target(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    for rounding in result.values("rounding") {
        let of = |alpha| result.number(&[("scheme", "rovegas"), ("alpha", alpha), ("rounding", rounding)], "Jain");
        c.less((&format!("Jain, rounding {rounding}, α < β"), of("1")?), ("α = β", of("2")?));
    }
    Some(())
}

fn sooner(result: &ExperimentResult, c: &mut Criterion) -> Option<()> {
    let products = result.values("bdp");
    let products = if products.is_empty() { vec![None] } else { products.into_iter().map(Some).collect() };
    for (bdp, change) in products.iter().flat_map(|bdp| ["new", "halved", "doubled"].map(|change| (*bdp, change))) {
        let of = |scheme| {
            let settings: Vec<(&str, &str)> =
                [("scheme", scheme)].into_iter().chain(bdp.map(|bdp| ("bdp", bdp))).collect();
            result.number(&settings, &format!("convergence {change}"))
        };
        let at = bdp.map_or_else(String::new, |bdp| format!(" at {bdp}"));
        c.less((&format!("{change}{at}, Quick Vegas"), of("quick-vegas")?), ("Vegas", of("vegas")?));
    }
    Some(())
}

/// Reno, Vegas and RedVegas in this order.
fn ordered(result: &ExperimentResult, c: &mut Criterion, (setting, value): (&str, &str)) {
    let of = |scheme| result.number(&[("scheme", scheme), (setting, value)], "goodput");
    let at = format!("{setting} {value}");
    if let (Some(reno), Some(vegas), Some(red)) = (of("reno"), of("vegas"), of("red-vegas")) {
        c.less((&format!("{at}, Reno"), reno), ("Vegas", vegas));
        c.less((&format!("{at}, Vegas"), vegas), ("RedVegas", red));
    }
}

fn over_losses(result: &ExperimentResult, c: &mut Criterion) {
    for loss in result.values("loss").into_iter().filter(|loss| *loss != "0") {
        ordered(result, c, ("loss", loss));
    }
}
