//! Cho (2006): parallel and adaptive schemes (`spec: cho §14`).

mod cells;
mod claims;
mod measures;

use crate::{Cell, Document, Experiment, Figure, Plan, Scale, Transport, nothing};

const fn plan(cells: fn(Scale) -> Vec<Cell>, repetitions: u64, figures: &'static [Figure]) -> Plan {
    Plan { cells, repetitions, seed: 1, derive: nothing, figures }
}

const RENO: Transport = Transport {
    recovery: &["tcp-reno"],
    why: "the document's flows are ns-2's Reno and build on it, with a timeout of at least a second: what slow start \
          overshoots costs several halvings or a timeout, and so leaves a low threshold (spec: cho §14.1)",
    is_essential: false,
};
const NEWRENO: Transport = Transport {
    recovery: &["tcp-newreno"],
    why: "the test bed's hosts ran Linux with timestamps and SACK off, and so NewReno (spec: cho §14.1)",
    is_essential: false,
};
const SACK: Transport = Transport {
    recovery: &["tcp-sack"],
    why: "the document's hosts ran Linux with SACK and timestamps, in NS6 ns-2's SACK (spec: cho §14.1)",
    is_essential: false,
};
const QUIC: Transport = Transport {
    recovery: &["quic"],
    why: "it is the specification's own: what a weight is worth where every loss is found and answered once (spec: cho §14.4)",
    is_essential: false,
};

const WINDOW: Figure = Figure::Curves { title: "Congestion windows", kind: "cwnd", y: "packets", each: "scheme start" };
const QUEUE: Figure = Figure::Curves { title: "Queue", kind: "queue", y: "packets", each: "scheme start" };
const RATE: Figure = Figure::Curves { title: "Throughput", kind: "throughput", y: "Mbit/s", each: "scheme start" };

const TRANSFERS: &[Figure] = &[QUEUE, WINDOW];
const OVER_TIME: &[Figure] = &[RATE, WINDOW];

const fn state_variable(title: &'static str, kind: &'static str, y: &'static str) -> Figure {
    Figure::Curves { title, kind, y, each: "start" }
}

/// The competition detector beside them.
const DETECTED: &[Figure] = &[
    RATE,
    WINDOW,
    state_variable("Weight k", "k", "k"),
    state_variable("Weight at the latest knee", "knee_k", "k"),
    state_variable("Window at the latest knee", "knee", "packets"),
    state_variable("The knee it is compared with", "knee_ref", "packets"),
    state_variable("Smoothed round-trip time and the detector's threshold", "delay", "ms"),
];

const fn line(title: &'static str, quantity: &'static str, y: &'static str, x: (&'static str, &'static str)) -> Figure {
    Figure::Across { title, x: x.0, x_label: x.1, quantity, y, by: "scheme" }
}

const fn four(x: (&'static str, &'static str)) -> [Figure; 4] {
    [
        line("Goodput", "goodput", "Mbit/s", x),
        line("Loss", "loss", "percent of packets", x),
        line("One-way delay", "delay", "ms", x),
        line("Jitter", "jitter", "ms", x),
    ]
}

const NUMBER: &[Figure] = &four(("n", "transfers"));
const BUFFER: &[Figure] = &four(("buffer", "buffer, packets"));
const PERIOD: &[Figure] = &[
    line("Goodput, of what the load leaves", "normalised", "share", ("period", "period, s")),
    line("Loss", "loss", "percent of packets", ("period", "period, s")),
    line("One-way delay", "delay", "ms", ("period", "period, s")),
    line("Jitter", "jitter", "ms", ("period", "period, s")),
];

const fn node(
    title: &'static str,
    quantity: &'static str,
    y: &'static str,
    x: (&'static str, &'static str),
    by: &'static str,
) -> Figure {
    Figure::Across { title, x: x.0, x_label: x.1, quantity, y, by }
}

const FLOWS: (&str, &str) = ("n", "flows of Node0");
const WORTH_ONE: &[Figure] = &[
    node("Throughput of Node0", "Node0", "Mbit/s", FLOWS, "start"),
    node("Throughput of Node1", "Node1", "Mbit/s", FLOWS, "start"),
    node("Ratio", "ratio", "Node0 over Node1", FLOWS, "start"),
];
const WEIGHTS: (&str, &str) = ("k", "weight, or number of flows, of Node0");
const WEIGHT: &[Figure] = &[
    node("Throughput of Node0", "Node0", "Mbit/s", WEIGHTS, "what"),
    node("Throughput of Node1", "Node1", "Mbit/s", WEIGHTS, "what"),
    node("Ratio", "ratio", "Node0 over Node1", WEIGHTS, "what"),
];
const fn nodes(of: &'static str) -> Figure {
    Figure::Bars { title: "What either node gets", of, quantities: &["Node0", "Node1"], y: "Mbit/s" }
}

const LEFT: &[Figure] = &[nodes("scheme")];
/// After the early loss, which is the first.
const FIVE: &[Figure] = &[nodes("kind")];
const GROUPS: &[Figure] = &[
    node("Throughput of Node0", "Node0", "Mbit/s", FLOWS, "kind"),
    node("Throughput of Node1", "Node1", "Mbit/s", FLOWS, "kind"),
];

/// The document with its experiments and claims.
pub(super) const DOCUMENT: Document = Document {
    name: "cho",
    title: "S. Cho, Congestion control schemes for single and parallel TCP flows in high bandwidth-delay product networks, \
            PhD dissertation, Texas A&M University, 2006",
    guide: &[
        "Chapter II (CH2) puts a few transfers, which react to delay or do not, on a slow link beside loads that come and \
         go, and asks what that does to goodput, loss and the delay of each packet; jitter is the standard deviation of \
         that delay.",
        "Chapters III to V set many flows of one host, Node0, against one standard flow of another, Node1, on a test bed: \
         a group of flows worth k is fair if Node1 gets what it would get beside k standard flows. The test bed's flows left slow \
         start early for reasons unknown; the runs called early loss lose packet 64 of each flow for that, the \
         others do not. Rates count application data.",
        "Losses are found and repaired as the hosts of each chapter did: by Reno, NewReno and SACK. Windows grow by \
         acknowledgements, of which receivers of the test bed send one for two packets.",
    ],
    experiments: &[
        Experiment {
            id: "CH2-A",
            title: "Two flows: queue and windows",
            spec: "cho §14.4; Fig. 3",
            varied: "scheme",
            transport: RENO,
            plan: plan(cells::two_transfers, 1, TRANSFERS),
        },
        Experiment {
            id: "CH2-B",
            title: "Two flows: goodput, loss, delay, fairness",
            spec: "cho §14.4; Table I",
            varied: "scheme; access delay (E-1)",
            transport: RENO,
            plan: plan(cells::two_transfers_jittered, 10, &[]),
        },
        Experiment {
            id: "CH2-C",
            title: "Flows beside a source that goes on and off",
            spec: "cho §14.4; Fig. 4",
            varied: "number of flows: 2 to 10; scheme",
            transport: RENO,
            plan: plan(cells::beside_on_off, 10, NUMBER),
        },
        Experiment {
            id: "CH2-D",
            title: "The same over the buffer",
            spec: "cho §14.4; Fig. 5",
            varied: "buffer: 30 to 90 packets; scheme",
            transport: RENO,
            plan: plan(cells::buffers, 10, BUFFER),
        },
        Experiment {
            id: "CH2-E",
            title: "The same over the period of the source",
            spec: "cho §14.4; Fig. 6",
            varied: "period: 0.05 to 12.8 s; scheme",
            transport: RENO,
            plan: plan(cells::periods, 10, PERIOD),
        },
        Experiment {
            id: "CH2-F",
            title: "Flows beside web traffic",
            spec: "cho §14.4; Fig. 7",
            varied: "number of flows: 2 to 10; scheme",
            transport: RENO,
            plan: plan(cells::beside_web, 10, NUMBER),
        },
        Experiment {
            id: "CH3-A",
            title: "A group worth one flow against one flow, 100 Mbit/s",
            spec: "cho §14.4; Fig. 11a",
            varied: "flows of the group: 1 to 10",
            transport: NEWRENO,
            plan: plan(cells::worth_one_100, 10, WORTH_ONE),
        },
        Experiment {
            id: "CH3-B",
            title: "The same at 10 Mbit/s",
            spec: "cho §14.4; Fig. 11b",
            varied: "flows of the group: 1 to 10",
            transport: NEWRENO,
            plan: plan(cells::worth_one_10, 10, WORTH_ONE),
        },
        Experiment {
            id: "CH3-C",
            title: "Two flows worth one against one: windows",
            spec: "cho §14.4; Fig. 12",
            varied: "nothing",
            transport: NEWRENO,
            plan: plan(cells::two_worth_one, 1, OVER_TIME),
        },
        Experiment {
            id: "CH3-D",
            title: "Flows, or a group worth k, against one flow, 100 Mbit/s",
            spec: "cho §14.4; Fig. 13",
            varied: "N or k: 0 to 10",
            transport: NEWRENO,
            plan: plan(cells::weights_100, 10, WEIGHT),
        },
        Experiment {
            id: "CH3-E",
            title: "The same at 10 Mbit/s",
            spec: "cho §14.4; Fig. 14",
            varied: "N or k: 0 to 10",
            transport: NEWRENO,
            plan: plan(cells::weights_10, 10, WEIGHT),
        },
        Experiment {
            id: "CH3-F",
            title: "What a weight is worth",
            spec: "cho §14.4; Fig. 17",
            varied: "k: 1 to 10",
            transport: NEWRENO,
            plan: Plan { derive: measures::worth, ..plan(cells::weights_only, 10, WEIGHT) },
        },
        Experiment {
            id: "CH3-G",
            title: "Flows against one flow on a lossy path",
            spec: "cho §14.4; Figs. 18, 19",
            varied: "n: 1 to 10; flows or TCP-P",
            transport: NEWRENO,
            plan: plan(cells::lossy, 10, WORTH_ONE),
        },
        Experiment {
            id: "CH4-A",
            title: "A flow that one of TCP joins",
            spec: "cho §14.4; Figs. 21–23",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::joined_100, 1, OVER_TIME),
        },
        Experiment {
            id: "CH4-B",
            title: "k flows, or one worth k, against one flow",
            spec: "cho §14.4; Fig. 25",
            varied: "k: 0 to 10",
            transport: SACK,
            plan: plan(cells::worth_k, 10, WEIGHT),
        },
        Experiment {
            id: "CH4-C",
            title: "One flow, one worth four, on a gigabit",
            spec: "cho §14.4; Fig. 26",
            varied: "scheme; start; queue (E-3)",
            transport: SACK,
            plan: plan(cells::gigabit, 1, OVER_TIME),
        },
        Experiment {
            id: "CH4-D",
            title: "The detector of competition, watching",
            spec: "cho §14.4; Fig. 27",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::watched, 1, DETECTED),
        },
        Experiment {
            id: "CH4-E",
            title: "A-TCP alone on a gigabit",
            spec: "cho §14.4; Figs. 28, 29",
            varied: "start",
            transport: SACK,
            plan: plan(cells::adaptive_gigabit, 1, DETECTED),
        },
        Experiment {
            id: "CH4-F",
            title: "A-TCP that one flow of TCP joins and leaves",
            spec: "cho §14.4; Figs. 31, 32",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::visited_100, 1, DETECTED),
        },
        Experiment {
            id: "CH4-G",
            title: "What is left for TCP, 100 Mbit/s",
            spec: "cho §14.4; Fig. 33",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::left_100, 10, LEFT),
        },
        Experiment {
            id: "CH4-H",
            title: "A-TCP that TCP joins and leaves, 10 Mbit/s",
            spec: "cho §14.4; Fig. 34",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::visited_10, 1, DETECTED),
        },
        Experiment {
            id: "CH4-I",
            title: "What is left for TCP, 10 Mbit/s",
            spec: "cho §14.4; Fig. 35",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::left_10, 10, LEFT),
        },
        Experiment {
            id: "CH4-J",
            title: "Two A-TCP flows",
            spec: "cho §14.4; Fig. 37",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::two_adaptive, 1, OVER_TIME),
        },
        Experiment {
            id: "CH4-K",
            title: "TCP-Africa and A-TCP beside TCP",
            spec: "cho §14.4; Fig. 38",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::together, 1, OVER_TIME),
        },
        Experiment {
            id: "CH4-L",
            title: "TCP that another scheme joins and leaves",
            spec: "cho §14.4; Figs. 39, 40",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::visitors, 1, OVER_TIME),
        },
        Experiment {
            id: "CH4-M",
            title: "A-TCP beside a flow that is held back elsewhere",
            spec: "cho §14.4; Fig. 41",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::held_back, 1, OVER_TIME),
        },
        Experiment {
            id: "CH4-N",
            title: "A-TCP beside a constant load",
            spec: "cho §14.4; Fig. 42",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::beside_udp, 1, OVER_TIME),
        },
        Experiment {
            id: "CH5-A",
            title: "Four flows on a gigabit",
            spec: "cho §14.4; Fig. 44",
            varied: "scheme; start",
            transport: SACK,
            plan: plan(cells::four_gigabit, 1, OVER_TIME),
        },
        Experiment {
            id: "CH5-B",
            title: "Four A-TCP-P flows that TCP joins and leaves",
            spec: "cho §14.4; Figs. 45, 46",
            varied: "nothing",
            transport: SACK,
            plan: plan(cells::visited_group, 1, DETECTED),
        },
        Experiment {
            id: "CH5-C",
            title: "n flows of a group against one flow",
            spec: "cho §14.4; Figs. 47–49",
            varied: "n: 0 to 10; scheme",
            transport: SACK,
            plan: plan(cells::groups, 10, GROUPS),
        },
        Experiment {
            id: "CH5-D",
            title: "Five flows against one",
            spec: "cho §14.4; Fig. 50",
            varied: "scheme",
            transport: SACK,
            plan: plan(cells::five, 10, FIVE),
        },
        Experiment {
            id: "MOD-1",
            title: "Weight on a path that loses at random",
            spec: "cho §14.4; eqs. 3.16, 3.17",
            varied: "k: 1, 2, 4, 8; how",
            transport: QUIC,
            plan: Plan { derive: measures::model_ratios, ..plan(cells::model, 40, &[]) },
        },
    ],
    published: include_str!("../published/cho.toml"),
    claims: claims::ALL,
    undetermined: claims::UNDETERMINED,
};
