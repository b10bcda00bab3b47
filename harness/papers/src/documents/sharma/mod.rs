//! Sharma (2006): high-speed schemes on one bottleneck (`spec: sharma §13`).

mod cells;
mod claims;
mod derived;
mod measures;
mod scenario;

use crate::{Cell, CellResult, Derived, Document, Experiment, Figure, Plan, Scale, Transport, nothing};

const SEED: u64 = 9999;

const SACK: Transport = Transport {
    recovery: &["tcp-sack"],
    why: "the document's flows are ns-2's Sack1 with timestamps and a timeout of at least a second (spec: sharma §1.3, \
          §13.2, A-31)",
    is_essential: false,
};

const fn plan(cells: fn(Scale) -> Vec<Cell>, figures: &'static [Figure]) -> Plan {
    Plan { cells, repetitions: 1, seed: SEED, derive: nothing, figures }
}

const fn with(plan: Plan, derive: fn(&[CellResult]) -> Vec<Derived>) -> Plan {
    Plan { derive, ..plan }
}

const WINDOW: Figure = Figure::Curves { title: "Congestion window", kind: "cwnd", y: "packets", each: "controller" };
const QUEUE: Figure = Figure::Curves { title: "Queue", kind: "queue", y: "packets", each: "controller" };
const RATE: Figure = Figure::Curves { title: "Throughput", kind: "throughput", y: "Mbit/s", each: "controller" };

/// The document with its experiments and claims.
pub(super) const DOCUMENT: Document = Document {
    name: "sharma",
    title: "P. Sharma, Performance analysis of high-speed transport control protocols, MS thesis, Clemson University, 2006",
    guide: &[
        "One or two endless transfers cross a bottleneck of 622 Mbit/s with a drop-tail queue. There is no other \
         traffic, no marking and no random loss, so everything these figures show is how a scheme searches for the \
         rate, and how it shares it with one competitor.",
        "Packets carry 1000 bytes and are 1050 on the wire, so a path of 100 ms holds 7405 of them; the document \
         reckons with 7775, and so do the thresholds of its metrics. Every packet is acknowledged, an ACK lets at \
         most two packets go, nothing is paced. Data flows one round trip after the start, for which the document's \
         simulator has a handshake.",
        "M1 is the highest throughput within a second, M2 when the window peaks first, M3 when nine tenths are \
         reached (by the window; by the link's use), M4 how long the queue takes to overflow again, M6 the link's use \
         in the second half. M5, M7, M8 and M10 follow from several runs; each is explained where it stands. M9 is the \
         asymmetry of two flows, 1 if the first takes everything and 0 if they share equally.",
    ],
    experiments: &[
        Experiment {
            id: "EV-0a",
            title: "Standard TCP at 5 Mbit/s",
            spec: "sharma §13.3; Fig. 2, App. A",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::slow, &[WINDOW, QUEUE]),
        },
        Experiment {
            id: "EV-0b",
            title: "Standard TCP at 622 Mbit/s",
            spec: "sharma §13.3; Fig. 3, App. B",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::fast, &[WINDOW, QUEUE]),
        },
        Experiment {
            id: "EV-1",
            title: "One flow of each scheme",
            spec: "sharma §13.3; §4.x.3.1, App. C",
            varied: "scheme; CUBIC with both readings of its limit",
            transport: SACK,
            plan: plan(cells::each, &[WINDOW, QUEUE, RATE]),
        },
        Experiment {
            id: "EV-1a",
            title: "FAST with other α",
            spec: "sharma §13.3; Figs. 44–47",
            varied: "α: 212, 312, 500, 3000 packets",
            transport: SACK,
            plan: plan(cells::alpha, &[WINDOW, QUEUE]),
        },
        Experiment {
            id: "EV-1n",
            title: "One flow of each scheme, losses found as ns-2 did",
            spec: "sharma §12 A-17, §13.3",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::duplicates, &[WINDOW, QUEUE]),
        },
        Experiment {
            id: "EV-2",
            title: "A packet is lost early",
            spec: "sharma §13.3; §4.x.3.2, App. D",
            varied: "scheme; whether the 20000th packet is lost",
            transport: SACK,
            plan: with(plan(cells::early_drop, &[WINDOW]), derived::early_drop),
        },
        Experiment {
            id: "EV-3",
            title: "Queue lengths",
            spec: "sharma §13.3; §4.x.3.3, App. E",
            varied: "queue: 40 to 7776 packets; scheme",
            transport: SACK,
            plan: with(
                plan(
                    cells::queues,
                    &[Figure::Across {
                        title: "Link utilisation by queue length",
                        x: "queue",
                        x_label: "queue, packets",
                        quantity: "M6",
                        y: "utilisation",
                        by: "controller",
                    }],
                ),
                derived::buffer_needed,
            ),
        },
        Experiment {
            id: "EV-4",
            title: "Round-trip times",
            spec: "sharma §13.3; §4.x.3.4, App. F",
            varied: "bottleneck delay: 10 to 110 ms; scheme",
            transport: SACK,
            plan: with(
                plan(
                    cells::delays,
                    &[
                        Figure::Across {
                            title: "Time until the window is nine tenths of the path, by round-trip time",
                            x: "rtt",
                            x_label: "round-trip time as the document labels it, ms",
                            quantity: "M3-window",
                            y: "s",
                            by: "controller",
                        },
                        Figure::Across {
                            title: "Link utilisation by round-trip time",
                            x: "rtt",
                            x_label: "round-trip time as the document labels it, ms",
                            quantity: "M6",
                            y: "utilisation",
                            by: "controller",
                        },
                    ],
                ),
                derived::rtt_sensitivity,
            ),
        },
        Experiment {
            id: "EV-5",
            title: "Two flows of one scheme with different round-trip times",
            spec: "sharma §13.3; §4.x.3.5, App. G",
            varied: "access delay of the second flow: 1 to 77 ms; scheme",
            transport: SACK,
            plan: plan(cells::unequal, UNEQUAL),
        },
        Experiment {
            id: "EV-5r",
            title: "Two Scalable flows, the one with the shorter round-trip time first",
            spec: "sharma §13.3; Figs. 23–24, Table 2",
            varied: "access delay of the first flow: 1 to 77 ms",
            transport: SACK,
            plan: plan(cells::unequal_reversed, UNEQUAL),
        },
        Experiment {
            id: "EV-6",
            title: "Two flows of two schemes",
            spec: "sharma §13.3; Ch. 5, App. H",
            varied: "all 36 ordered pairs of schemes",
            transport: SACK,
            plan: with(
                plan(
                    cells::pairs,
                    &[Figure::Curves { title: "Throughput", kind: "throughput", y: "Mbit/s", each: "first" }],
                ),
                derived::regions,
            ),
        },
        Experiment {
            id: "EV-6q",
            title: "Two flows of two schemes, by queue length",
            spec: "sharma §13.3; Ch. 6, which names no lengths",
            varied: "all 36 ordered pairs of schemes; queue: 500, 1555, 7776 packets",
            transport: SACK,
            plan: with(plan(cells::pairs_by_queue, &[]), derived::regions_by_queue),
        },
    ],
    published: include_str!("../published/sharma.toml"),
    claims: claims::ALL,
    undetermined: claims::UNDETERMINED,
};

const UNEQUAL: &[Figure] = &[
    Figure::Across {
        title: "Asymmetry by round-trip time of the flow with the shorter one",
        x: "rtt",
        x_label: "round-trip time, ms; the other flow has 162 ms",
        quantity: "M9",
        y: "asymmetry",
        by: "controller",
    },
    Figure::Across {
        title: "Link utilisation by round-trip time of the flow with the shorter one",
        x: "rtt",
        x_label: "round-trip time, ms; the other flow has 162 ms",
        quantity: "M6",
        y: "utilisation",
        by: "controller",
    },
];
