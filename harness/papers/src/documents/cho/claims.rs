//! What the document says of its schemes, answered by runs (`spec: cho §2–§9, §14`).

mod criteria;

use criteria::{
    A_TCP_IS_STANDARD, DCA_C_IS_RENO, DROP_TAIL, EARLY, EQUAL, FAST_YIELDS, FASTS_ALPHA, FIFTH_OF_TB_G, HIGH_SPEED,
    NO_COMPETITOR, NO_GROUP, NO_QUEUE_IS_LONG, SMALL_AND_LARGE, TENTH_OF_NS6, TENTH_OF_NS6_AND_LOAD, TWENTIETH_OF_NS6,
    as_standard, curve, detected, fills, least_in_a_group, leaves_most, model, more, over, uses_more, weights,
    worth_one,
};

use crate::{Claim, Mutant, Number, Scale, Trial};

pub(super) const ALL: &[Claim] = &[
    Claim {
        id: "cho-1",
        experiment: "CH2-B",
        source: "§3, ch. II",
        text: "Transfers that react to delay get the goodput of Reno's with less loss.",
        criterion: |result, c| {
            for scheme in ["DCA-S", "DCA-C"] {
                more(result, c, "goodput", ("scheme", "Reno", 0.99), ("scheme", scheme, 1.0))?;
                more(result, c, "loss", ("scheme", scheme, 1.0), ("scheme", "Reno", 1.0))?;
            }
            Some(())
        },
        trial: Trial::FULL.times(3),
        mutant: DCA_C_IS_RENO,
        why: None,
    },
    Claim {
        id: "cho-2",
        experiment: "CH2-B",
        source: "§3, ch. II",
        text: "Their delay is steadier than Reno's, and the group's (DCA-C) steadier than that of flows that react each for itself (DCA-S).",
        criterion: |result, c| least_in_a_group(result, c, "jitter"),
        trial: Trial::FULL
            .times(60)
            .with("an α of 1/16 for the group", &[("dca-c:profile=paper", "dca-c:profile=paper,alpha=0.0625")]),
        mutant: DCA_C_IS_RENO,
        why: Some(
            "a sign lowers both windows of the group by an eighth, where DCA-S lowers one: the group's queue swings further; with an α of 1/16, with which both give up together what one flow does, the group's jitter is 3.8 ms of DCA-S' 4.8",
        ),
    },
    Claim {
        id: "cho-3",
        experiment: "CH2-B",
        source: "§3, ch. II",
        text: "The group has the shortest delay: DCA-C before DCA-S, DCA-S before Reno.",
        criterion: |result, c| least_in_a_group(result, c, "delay"),
        trial: Trial::FULL.times(10),
        mutant: DCA_C_IS_RENO,
        why: None,
    },
    Claim {
        id: "cho-4",
        experiment: "CH2-C",
        source: "§14.4 CH2-C",
        text: "Beside a source that goes on and off, loss rises with the number of transfers, and Reno's is above DCA-S's, DCA-S's above DCA-C's at each number.",
        criterion: |result, c| {
            for n in result.values("n") {
                let of = |scheme| result.number(&[("n", n), ("scheme", scheme)], "loss");
                c.less((&format!("loss at {n}, DCA-S"), of("DCA-S")?), ("Reno", of("Reno")?));
                c.less((&format!("loss at {n}, DCA-C"), of("DCA-C")?), ("DCA-S", of("DCA-S")?));
            }
            for scheme in ["Reno", "DCA-S", "DCA-C"] {
                c.rises(&format!("loss of {scheme}"), &over(result, "n", &[("scheme", scheme)], "loss"));
            }
            Some(())
        },
        trial: Trial::FULL.of(&["n=6", "n=10"]).times(5),
        mutant: DCA_C_IS_RENO,
        why: None,
    },
    Claim {
        id: "cho-5",
        experiment: "CH2-D",
        source: "§14.4 CH2-D",
        text: "A larger buffer loses less and delays more, with every scheme that fills it (Reno, DCA-S, DCA-C).",
        criterion: |result, c| {
            for scheme in ["Reno", "DCA-S", "DCA-C"] {
                c.falls(&format!("loss of {scheme}"), &over(result, "buffer", &[("scheme", scheme)], "loss"));
                c.rises(&format!("delay of {scheme}"), &over(result, "buffer", &[("scheme", scheme)], "delay"));
            }
            Some(())
        },
        trial: Trial::FULL.of(SMALL_AND_LARGE).times(20).with(
            "a first threshold of 5 packets",
            &[
                ("growth=acks,ssthresh=200", "growth=acks,ssthresh=5"),
                ("dca-s:profile=paper", "dca-s:profile=paper,ssthresh=5"),
                ("dca-c:profile=paper", "dca-c:profile=paper,ssthresh=5"),
            ],
        ),
        mutant: Mutant {
            what: "30 packets where 90 are meant",
            replace: &[("buffer_packets = 90", "buffer_packets = 30")],
        },
        why: Some(
            "slow start loses about as many packets as pipe and buffer hold, the more the larger the buffer is; where flows start with a threshold of 5 packets, loss falls from 30 to 90 packets of buffer with each scheme",
        ),
    },
    Claim {
        id: "cho-6",
        experiment: "CH2-F",
        source: "§14.4 CH2-F",
        text: "Beside web traffic, too, loss rises with the number of transfers and those that react to delay lose less than Reno at each number.",
        criterion: |result, c| {
            for n in result.values("n") {
                let of = |scheme| result.number(&[("n", n), ("scheme", scheme)], "loss");
                for scheme in ["DCA-S", "DCA-C"] {
                    c.less((&format!("loss at {n}, {scheme}"), of(scheme)?), ("Reno", of("Reno")?));
                }
            }
            c.rises("loss of Reno", &over(result, "n", &[("scheme", "Reno")], "loss"));
            Some(())
        },
        trial: Trial::FULL.of(&["n=6", "n=10"]).times(10),
        mutant: DCA_C_IS_RENO,
        why: None,
    },
    Claim {
        id: "cho-7",
        experiment: "CH3-A",
        source: "§4",
        text: "A group worth one takes what one flow takes at 100 Mbit/s, however many flows it has (to a quarter).",
        criterion: worth_one,
        trial: Trial::FULL.of(&["n=5,start=early loss"]).times(10),
        mutant: NO_GROUP,
        why: Some(
            "undisturbed, groups of two flows and more take 1.5 to 1.8 times: NewReno repairs a loss a round trip, a group one with each of its flows; with SACK five take 0.97 ± 0.19. After the early loss, as the document's flows had it (E-9), they take 0.9 to 1.2",
        ),
    },
    Claim {
        id: "cho-8",
        experiment: "CH3-B",
        source: "§4",
        text: "A group worth one takes what one flow takes at 10 Mbit/s, however many flows it has (to a quarter).",
        criterion: worth_one,
        trial: Trial::FULL.of(&["n=4,start=early loss"]).times(10),
        mutant: NO_GROUP,
        why: Some(
            "undisturbed, groups of three flows and more take 1.3 to 1.6 times, where NewReno repairs a loss a round trip with each flow; with SACK eight take 1.25 ± 0.12. After the early loss, as the document's flows had it (E-9), it holds",
        ),
    },
    Claim {
        id: "cho-9",
        experiment: "CH3-C",
        source: "§4",
        text: "Two flows of a group worth one take together what one flow takes (to a quarter).",
        criterion: worth_one,
        trial: Trial::FULL.of(&["start=early loss"]).times(5),
        mutant: NO_GROUP,
        why: None,
    },
    Claim {
        id: "cho-10",
        experiment: "CH3-D",
        source: "§4.7 P7",
        text: "At 100 Mbit/s k plain flows take k times what one takes and a group worth k what the model has, √(k(4k − 1)/3) times (to a quarter).",
        criterion: weights,
        trial: Trial::FULL.of(&["what=TCP-P,k=4,start=early loss"]).times(5),
        mutant: Mutant { what: "a weight of 1", replace: &[("tcp-p:profile=paper,k=4", "tcp-p:profile=paper,k=1")] },
        why: Some(DROP_TAIL),
    },
    Claim {
        id: "cho-11",
        experiment: "CH3-E",
        source: "§4.7 P7",
        text: "At 10 Mbit/s k plain flows take k times what one takes and a group worth k what the model has (to a quarter).",
        criterion: weights,
        trial: Trial::FULL.of(&["what=flows,k=4,start=early loss"]).times(10),
        mutant: Mutant { what: "two flows", replace: &[("count = 4", "count = 2")] },
        why: Some(
            "flows that share a drop-tail queue do not lose at random: from k = 4 on a group takes more than the model, which MOD-1 finds where losses are random",
        ),
    },
    Claim {
        id: "cho-12",
        experiment: "CH3-F",
        source: "§4.7, ch. III",
        text: "What a group takes rises with its weight.",
        criterion: |result, c| {
            c.rises("ratio", &over(result, "k", &[EARLY], "ratio"));
            Some(())
        },
        trial: Trial::FULL.of(&["k=1,start=early loss", "k=3,start=early loss", "k=5,start=early loss"]).times(3),
        mutant: Mutant {
            what: "a weight of 1 where 5 is meant",
            replace: &[("tcp-p:profile=paper,k=5", "tcp-p:profile=paper,k=1")],
        },
        why: Some(
            "ten flows worth ten are ten flows and take ten times; worth nine they take more than that, since flows that share a drop-tail queue do not lose at random",
        ),
    },
    Claim {
        id: "cho-13",
        experiment: "CH3-G",
        source: "§4.7 P7",
        text: "Where packets are lost at random, n flows take n times what one takes (to a quarter).",
        criterion: |result, c| {
            for n in result.values("n") {
                let expected: f64 = n.parse().ok()?;
                let cells = result
                    .cells
                    .iter()
                    .filter(|cell| cell.setting("n") == Some(n) && cell.setting("what") != Some("TCP-P"));
                for cell in cells {
                    c.near(&cell.cell, cell.mean("ratio")?, expected, EQUAL);
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["n=4,start=early loss"]).times(5),
        mutant: Mutant { what: "two flows", replace: &[("count = 4", "count = 2")] },
        why: None,
    },
    Claim {
        id: "cho-14",
        experiment: "CH4-A",
        source: "§9, ch. IV.B",
        text: "Each of the high-speed schemes leaves a standard flow that joins less than a standard flow would.",
        criterion: |result, c| leaves_most(result, c, "SACK"),
        trial: Trial::FULL.of(&["scheme=SACK", "scheme=BIC"]),
        mutant: Mutant {
            what: "standard TCP in place of BIC",
            replace: &[(
                "bic:iw=2,timeout_window=1,timeout_reduces_again=on",
                "reno:iw=2,timeout_window=1,timeout_reduces_again=on",
            )],
        },
        why: Some(FAST_YIELDS),
    },
    Claim {
        id: "cho-15",
        experiment: "CH4-B",
        source: "§5, ch. IV.C",
        text: "One flow of TCP/k takes more the larger k is, and what the model has (to a quarter).",
        criterion: |result, c| {
            let with = [("what", "TCP/k"), EARLY];
            for k in result.values("k").into_iter().filter(|k| *k != "0") {
                if let Some(ratio) = result.number(&[with[0], with[1], ("k", k)], "ratio") {
                    let k: f64 = k.parse().ok()?;
                    c.near(&format!("k = {k}"), ratio, model(k), EQUAL);
                }
            }
            c.rises("ratio", &over(result, "k", &with, "ratio"));
            Some(())
        },
        trial: Trial::FULL.of(&["what=TCP/k,k=2,start=early loss"]).times(30),
        mutant: Mutant { what: "a weight of 1", replace: &[("tcp-k:profile=paper,k=2", "tcp-k:profile=paper,k=1")] },
        why: Some(DROP_TAIL),
    },
    Claim {
        id: "cho-16",
        experiment: "CH4-C",
        source: "§5, ch. IV.C",
        text: "One flow of TCP/4 uses more of a gigabit than standard TCP does.",
        criterion: |result, c| uses_more(result, c, ("SACK", 1.0), "TCP/4"),
        trial: Trial::FULL.of(&["start=early loss"]).at(Scale::Part(4)).shrunk(FIFTH_OF_TB_G),
        mutant: Mutant { what: "a weight of 1", replace: &[("tcp-k:profile=paper,k=4", "tcp-k:profile=paper,k=1")] },
        why: None,
    },
    Claim {
        id: "cho-17",
        experiment: "CH4-D",
        source: "§6",
        text: "The knee, the window at which the queue starts to build, falls when a competitor comes and rises when it has left.",
        criterion: |result, c| {
            let knee = |from, to| curve(result, "knee", from, to);
            c.less(("knee beside another", knee(0.4, 0.65)?), ("alone before", knee(0.1, 0.33)?.times(0.9)));
            c.less(("knee beside another", knee(0.4, 0.65)?), ("alone after", knee(0.8, 1.0)?.times(0.9)));
            Some(())
        },
        trial: Trial::FULL,
        mutant: NO_COMPETITOR,
        why: None,
    },
    Claim {
        id: "cho-18",
        experiment: "CH4-E",
        source: "§7, ch. IV.E",
        text: "Alone on a gigabit A-TCP uses more of it than standard TCP and than TCP/4, whatever it started with.",
        criterion: |result, c| {
            uses_more(result, c, ("SACK", 1.0), "A-TCP")?;
            // A full link cannot be fuller.
            uses_more(result, c, ("TCP/4", 0.99), "A-TCP")
        },
        trial: Trial::FULL.of(&["start=early loss"]).at(Scale::Part(4)).shrunk(FIFTH_OF_TB_G),
        mutant: A_TCP_IS_STANDARD,
        why: None,
    },
    Claim {
        id: "cho-19",
        experiment: "CH4-F",
        source: "§7, ch. IV.E",
        text: "A-TCP's weight grows while there is capacity that nobody takes, at the start and after a standard flow has left, and is about 1 while that flow is there.",
        criterion: detected,
        trial: Trial::FULL,
        mutant: Mutant {
            what: NO_QUEUE_IS_LONG,
            replace: &[("a-tcp:profile=paper", "a-tcp:profile=paper,queue_level=1")],
        },
        why: None,
    },
    Claim {
        id: "cho-20",
        experiment: "CH4-G",
        source: "§7, §14.5",
        text: "At 100 Mbit/s A-TCP leaves a standard flow more than each of the high-speed schemes does.",
        criterion: |result, c| leaves_most(result, c, "A-TCP"),
        trial: Trial::FULL
            .of(&["scheme=A-TCP", "scheme=BIC", "scheme=FAST"])
            .times(3)
            .with(FASTS_ALPHA, &[("alpha=32.51", "alpha=312")]),
        mutant: Mutant {
            what: "BIC in place of A-TCP",
            replace: &[("a-tcp:profile=paper", "bic:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: Some(FAST_YIELDS),
    },
    Claim {
        id: "cho-21",
        experiment: "CH4-G",
        source: "§14.5",
        text: "It is as fair as standard TCP: it leaves a standard flow what another one leaves it (to a quarter).",
        criterion: as_standard,
        trial: Trial::FULL.of(&["scheme=A-TCP", "scheme=SACK"]).times(30),
        mutant: Mutant {
            what: "H-TCP in place of A-TCP",
            replace: &[("a-tcp:profile=paper", "h-tcp:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: None,
    },
    Claim {
        id: "cho-22",
        experiment: "CH4-I",
        source: "§7, §14.5",
        text: "At 10 Mbit/s A-TCP leaves a standard flow more than each of the high-speed schemes does.",
        criterion: |result, c| leaves_most(result, c, "A-TCP"),
        trial: Trial::FULL
            .of(&["scheme=A-TCP", "scheme=BIC", "scheme=FAST", "scheme=STCP"])
            .times(5)
            .with(FASTS_ALPHA, &[("alpha=3.25", "alpha=312")]),
        mutant: Mutant {
            what: "BIC in place of A-TCP",
            replace: &[("a-tcp:profile=paper", "bic:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: Some(FAST_YIELDS),
    },
    Claim {
        id: "cho-23",
        experiment: "CH4-I",
        source: "§7 AT5, §14.5",
        text: "With windows this small it is standard TCP: it leaves a standard flow what another one leaves it (to a quarter).",
        criterion: as_standard,
        trial: Trial::FULL.of(&["scheme=A-TCP", "scheme=SACK"]).times(10),
        mutant: Mutant {
            what: "H-TCP in place of A-TCP",
            replace: &[("a-tcp:profile=paper", "h-tcp:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: None,
    },
    Claim {
        id: "cho-24",
        experiment: "CH4-J",
        source: "§7, §14.4",
        text: "Two A-TCP flows share: the one that joins gets what the other has (to a quarter).",
        criterion: |result, c| {
            c.near("first over second", result.number(&[], "ratio")?, 1.0, EQUAL);
            Some(())
        },
        trial: Trial::FULL.with("a tenth of the rate and of the queue", TENTH_OF_NS6),
        mutant: Mutant {
            what: "Scalable in place of A-TCP",
            replace: &[("a-tcp:profile=paper", "scalable:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: Some(
            "the first gives up a tenth at a loss until two knees differ by a tenth, 120 s after the second has come, and has 550 and 520 Mbit/s until then; from 800 s on they share, 269 and 313; one run",
        ),
    },
    Claim {
        id: "cho-25",
        experiment: "CH4-K",
        source: "§9, §14.4",
        text: "A-TCP and TCP-Africa that start with a standard flow leave it half (to a quarter).",
        criterion: |result, c| {
            for cell in &result.cells {
                let (a, b): (Number, Number) = (cell.mean("Node0")?.into(), cell.mean("Node1")?.into());
                c.near(&cell.cell, b.times(2.0 / (a.value() + b.value())), 1.0, EQUAL);
            }
            Some(())
        },
        trial: Trial::FULL.with("a twentieth of the rate and of the queue", TWENTIETH_OF_NS6),
        mutant: Mutant {
            what: "BIC in its place",
            replace: &[("tcp-africa:profile=paper", "bic:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: Some(
            "TCP-Africa gives up 0.27 of a window of 3000 packets where the other flow halves its own, by which alone it is 1.65 times as fast; A-TCP has weights up to 22 in the first 100 s and 1 from 400 s on, and four runs with other starts do not tell it from a standard flow in its place; on a twentieth of the rate and of the queue, where windows are below two hundred packets, TCP-Africa leaves 0.86 of half and A-TCP 0.95",
        ),
    },
    Claim {
        id: "cho-26",
        experiment: "CH4-L",
        source: "§7, §14.4",
        text: "A-TCP and TCP-Africa that join leave a standard flow more than H-TCP and BIC do.",
        criterion: |result, c| {
            for (adaptive, other) in ["A-TCP", "TCP-Africa"].into_iter().flat_map(|a| ["H-TCP", "BIC"].map(|b| (a, b)))
            {
                let of = |scheme| result.number(&[("scheme", scheme)], "Node1");
                if let (Some(less), Some(most)) = (of(other), of(adaptive)) {
                    c.less((other, less), (adaptive, most));
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["scheme=TCP-Africa", "scheme=BIC"]).at(Scale::Part(4)),
        mutant: Mutant {
            what: "Scalable in place of TCP-Africa",
            replace: &[("tcp-africa:profile=paper", "scalable:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: None,
    },
    Claim {
        id: "cho-27",
        experiment: "CH4-M",
        source: "§7, §14.4",
        text: "A-TCP takes what a flow that is held back elsewhere leaves.",
        criterion: fills,
        trial: Trial::FULL.at(Scale::Part(4)),
        mutant: Mutant {
            what: "standard TCP that leaves slow start at 100 packets",
            replace: &[("a-tcp:profile=paper", "reno:iw=2,ssthresh=100")],
        },
        why: None,
    },
    Claim {
        id: "cho-28",
        experiment: "CH4-N",
        source: "§7, §14.4",
        text: "A-TCP takes what a constant load leaves.",
        criterion: fills,
        trial: Trial::FULL.at(Scale::Part(4)).shrunk(TENTH_OF_NS6_AND_LOAD),
        mutant: Mutant {
            what: "standard TCP that leaves slow start at 100 packets",
            replace: &[("a-tcp:profile=paper", "reno:iw=2,ssthresh=100")],
        },
        why: None,
    },
    Claim {
        id: "cho-29",
        experiment: "CH5-A",
        source: "§8, ch. V",
        text: "Four flows of A-TCP-P use more of a gigabit than four standard flows.",
        criterion: |result, c| uses_more(result, c, ("SACK", 1.0), "A-TCP-P"),
        trial: Trial::FULL
            .of(&["scheme=SACK,start=early loss", "scheme=A-TCP-P,start=early loss"])
            .at(Scale::Part(4))
            .shrunk(FIFTH_OF_TB_G)
            .with("a floor of noise of 10 ms", &[("a-tcp-p:profile=paper", "a-tcp-p:profile=paper,noise_floor=10")]),
        mutant: Mutant {
            what: "standard flows",
            replace: &[(
                "a-tcp-p:profile=paper,noise_floor=10",
                "reno:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks",
            )],
        },
        why: Some(
            "after an early loss the receiver's delay of ACKs is taken for a queue; with a floor of noise of 10 ms the group is ahead",
        ),
    },
    Claim {
        id: "cho-30",
        experiment: "CH5-B",
        source: "§8, ch. V",
        text: "The group's weight grows while there is capacity that nobody takes, at the start and after a standard flow has left, and is about 1 while that flow is there.",
        criterion: detected,
        trial: Trial::FULL
            .with("a floor of noise of 5 ms", &[("a-tcp-p:profile=paper", "a-tcp-p:profile=paper,noise_floor=5")]),
        mutant: Mutant {
            what: NO_QUEUE_IS_LONG,
            replace: &[("a-tcp-p:profile=paper", "a-tcp-p:profile=paper,queue_level=1")],
        },
        why: Some(
            "not after the flow has left: ACKs that wait for a second packet of their flow are taken for a queue a second after each loss, so that no two knees agree; with a floor of noise of 5 ms the weight is up to 12 then",
        ),
    },
    Claim {
        id: "cho-31",
        experiment: "CH5-C",
        source: "§4, §8, §9",
        text: "What CM, TCP-P worth one and A-TCP-P leave a standard flow does not depend on how many flows they have (ten leave what one leaves, to a quarter).",
        criterion: |result, c| {
            for kind in ["CM", "TCP-P/1", "A-TCP-P"] {
                let of = |n| result.number(&[("kind", kind), ("n", n), EARLY], "Node1");
                if let (Some(one), Some(ten)) = (of("1"), of("10")) {
                    c.near(kind, ten, one.value(), EQUAL);
                }
            }
            Some(())
        },
        trial: Trial::FULL.of(&["kind=CM,n=1,start=early loss", "kind=CM,n=10,start=early loss"]).times(10),
        mutant: Mutant {
            what: "no group",
            replace: &[("cm:profile=paper", "reno:iw=2,timeout_window=1,timeout_reduces_again=on,growth=acks")],
        },
        why: Some(
            "from an undisturbed start all three leave what one leaves to a fifth (A-TCP-P 42 and 47 Mbit/s); \
             after the early loss one flow of A-TCP-P takes 59 Mbit/s, where a standard one takes 40, and a group of ten 31",
        ),
    },
    Claim {
        id: "cho-32",
        experiment: "CH5-C",
        source: "§9",
        text: "Standard flows, Fractional, Combined and COCOON leave a standard flow less the more of them there are.",
        criterion: |result, c| {
            for kind in ["SACK", "Fractional", "Combined", "COCOON"] {
                let some = |n: &str| ["1", "4", "10"].contains(&n);
                let left = over(result, "n", &[("kind", kind), EARLY], "Node1");
                let left: Vec<(String, Number)> = left.into_iter().filter(|(n, _)| some(n)).collect();
                c.falls(&format!("left by {kind}"), &left);
            }
            Some(())
        },
        trial: Trial::FULL.of(&["kind=SACK,n=1,start=early loss", "kind=SACK,n=10,start=early loss"]).times(3),
        mutant: Mutant { what: "two flows where ten are meant", replace: &[("count = 10", "count = 1")] },
        why: None,
    },
    Claim {
        id: "cho-33",
        experiment: "CH5-D",
        source: "§8, §9 E-6",
        text: "Five flows of A-TCP-P leave a standard flow more than five flows of any other scheme, five of A-TCP without a group included.",
        criterion: |result, c| {
            let of = |kind: &str| result.number(&[("kind", kind), EARLY], "Node1");
            let others = HIGH_SPEED.into_iter().chain(["SACK", "A-TCP"]);
            c.each_less(others.map(|kind| (kind, of(kind))), ("A-TCP-P", of("A-TCP-P")?));
            Some(())
        },
        trial: Trial::FULL.of(&["kind=A-TCP-P,start=early loss", "kind=A-TCP,start=early loss"]).times(5),
        mutant: Mutant {
            what: "standard flows in place of the group",
            replace: &[("a-tcp-p:profile=paper", "scalable:iw=2,timeout_window=1,timeout_reduces_again=on")],
        },
        why: None,
    },
    Claim {
        id: "cho-34",
        experiment: "MOD-1",
        source: "§4.7 P7, §5 K5",
        text: "On a path that loses at random a weight of k takes √(k(4k − 1)/3) times what one standard flow takes, and k flows take k times that (to a tenth).",
        criterion: |result, c| {
            let one = result.number(&[("how", "flows"), ("k", "1")], "Node0")?;
            for cell in result.cells.iter().filter(|cell| cell.setting("k") != Some("1")) {
                let ratio = Number::from(cell.mean("Node0")?).over(one);
                c.near(&cell.cell, ratio, result.follows("model", &cell.cell)?, 0.1);
            }
            Some(())
        },
        trial: Trial::FULL
            .of(&["how=TCP-P,k=2", "how=flows,k=1"])
            .times(20)
            .with("an ACK for every packet", &[("ack = \"delayed\"\n", ""), ("max_ack_delay_ms = 40\n", "")]),
        mutant: Mutant { what: "a weight of 1", replace: &[("tcp-p:profile=paper,k=2", "tcp-p:profile=paper,k=1")] },
        why: Some(
            "a group worth one or two has three or five packets of each of its ten flows under way, and the ACK of an odd one waits out 40 ms: round trips are 58 and 52 ms of 50, and the group has 0.94 and 0.88 of the model; with an ACK for every packet it has 0.96 of it with both",
        ),
    },
];

/// Statements that no run of ours decides.
pub(super) const UNDETERMINED: &[(&str, &str, &str)] = &[
    (
        "§14.4 CH2-A",
        "How queue and windows look from 14 to 20 s.",
        "a figure of one run, in which nothing is ordered; the page draws it",
    ),
    (
        "§14.4 CH2-E",
        "How schemes compare over the period of the source.",
        "the text names the quantities and no order; the page draws them",
    ),
    (
        "§14.4 CH4-H",
        "How A-TCP looks over time at 10 Mbit/s.",
        "a figure of one run; that it is standard TCP at such windows is cho-23",
    ),
];
